"""Record RED of ns-2.35, into ``queue_ns2.json``; not part of the program.

The recorder (``python queue_ns2.py``) needs Debian's package ``ns2``, a C compiler, and three minutes.
ns-2 is a simulator and gives equal numbers each time. The recorder runs ``queue_ns2.tcl``. Traces of ns-2 have six
digits. A library of this file, loaded before the C library, makes it print fifteen, of which eleven are stored.

``law``: one RED queue before one link, and a list of arrivals; state of ns-2 after each of them. ``arrivals`` are named
lists of [time in ns, bytes]. A set-up has its list, the link's rate and every non-default variable of the queue;
``defaults`` has the defaults. Then follow columns with one value per arrival:

* ``queue``: packets that wait at the arrival, without the arriving one and the one in transmission; in bytes if
  ``queue_in_bytes_`` is true. It is the input of the average.
* ``ave``: average after this arrival, in packets, or in bytes if ``queue_in_bytes_`` is true (ns-2 then multiplies
  the thresholds by ``mean_pktsize_``).
* ``prob1``: probability without the count of arrivals since the last drop. It keeps its value while RED does not
  need one.
* ``max_p``: ``cur_max_p_``, the maximum probability at ``maxthresh_``; only for set-ups in which it changes.
* ``did``: one letter per arrival: ``.`` is enqueued, ``m`` marked and enqueued, ``e`` dropped early, ``f`` dropped
  because the average is at the upper threshold or the queue is full.

``draws`` are the random numbers of RED in order; it draws one at each arrival for which a probability matters.
:func:`check` recalculates the whole record from the arrivals and these draws, and stops at any different decision or
average. Its code documents this file's understanding of RED in ns-2. After an idle time the average decays as if
packets of ``mean_pktsize_`` had found the queue empty. The first packet with the average above the lower threshold is
never dropped. With at most one waiting packet, nothing is dropped early. With ``use_mark_p_`` (the default), a packet
above the upper threshold counts as an early drop with probability 1 and needs a draw. The count in bytes mode is an
integer number of mean packets. When adaptive RED changes the maximum probability, the part above ``maxthresh_``
(gentle) keeps the initial one.

``flows``: senders share a link of 10 Mb/s; 20 seeds. They are greedy and use TCP with SACK and 1000 bytes per segment.
RTTs without the queue go from 44 ms to 104 ms in even steps. Each figure from 20 s to 120 s has its mean over seeds and
the half width of its 95 % interval.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from records import RECORDS

HERE = Path(__file__).resolve()
SCRIPT = HERE.with_suffix(".tcl")
OUT = RECORDS / "queue_ns2.json"
DIGITS = r"""
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#define FORMAT (strcmp(format, "%g") ? format : "%.15g")
#define PRINT(call) va_list rest; va_start(rest, format); int n = call; va_end(rest); return n
int snprintf(char *to, size_t size, const char *format, ...) { PRINT(vsnprintf(to, size, FORMAT, rest)); }
int sprintf(char *to, const char *format, ...) { PRINT(vsprintf(to, FORMAT, rest)); }
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...) {
  (void)flag; (void)room; PRINT(vsnprintf(to, size, FORMAT, rest));
}
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...) {
  (void)flag; (void)room; PRINT(vsprintf(to, FORMAT, rest));
}
"""
ASKED = (
    *("thresh_", "maxthresh_", "mean_pktsize_", "q_weight_", "wait_", "linterm_", "gentle_", "adaptive_", "alpha_"),
    *("beta_", "interval_", "top_", "bottom_", "targetdelay_", "bytes_", "queue_in_bytes_", "setbit_", "use_mark_p_"),
    *("mark_p_", "limit_", "cautious_", "drop_tail_", "idle_pktsize_", "feng_adaptive_", "ns1_compat_"),
)
"""Variables whose defaults are stored."""
BASE = {
    "bytes_": "false",
    "queue_in_bytes_": "false",
    "mean_pktsize_": "1000",
    "thresh_": "5",
    "maxthresh_": "15",
    "q_weight_": "0.02",
    "linterm_": "10",
    "wait_": "true",
    "gentle_": "false",
    "limit_": "60",
}
FAST, SLOW = 10_000_000, 1_000_000
LAW: dict[str, dict[str, Any]] = {
    "classic": {"arrivals": "equal", "set": {"wait_": "false"}},
    "wait": {"arrivals": "equal", "set": {}},
    "small-weight": {"arrivals": "equal", "set": {"q_weight_": "0.002", "thresh_": "2", "maxthresh_": "8"}},
    "gentle": {"arrivals": "equal", "set": {"gentle_": "true"}},
    "gentle-steep": {
        "arrivals": "equal",
        "set": {"gentle_": "true", "thresh_": "3", "maxthresh_": "6", "linterm_": "5"},
    },
    "full": {"arrivals": "equal", "set": {"gentle_": "true", "linterm_": "100", "limit_": "18", "maxthresh_": "30"}},
    "bytes": {"arrivals": "mixed", "set": {"bytes_": "true", "queue_in_bytes_": "true", "wait_": "false"}},
    "bytes-wait-gentle": {
        "arrivals": "mixed",
        "set": {"bytes_": "true", "queue_in_bytes_": "true", "gentle_": "true", "mean_pktsize_": "500"},
    },
    "bytes-queue-in-packets": {"arrivals": "mixed", "set": {"bytes_": "true", "wait_": "false"}},
    "ecn": {"arrivals": "equal", "set": {"setbit_": "true", "use_mark_p_": "false", "gentle_": "true"}},
    "ecn-mark-p": {"arrivals": "equal", "set": {"setbit_": "true", "gentle_": "true"}},
    "adaptive": {
        "arrivals": "slow",
        "rate_bps": SLOW,
        "set": {"gentle_": "true", "adaptive_": "1", "bottom_": "0.01", "linterm_": "20"},
    },
    "automatic": {
        "arrivals": "slow",
        "rate_bps": SLOW,
        "set": {
            "gentle_": "true",
            "adaptive_": "1",
            "thresh_": "0",
            "maxthresh_": "0",
            "q_weight_": "0",
            "targetdelay_": "0.05",
        },
    },
}
FLOWS: dict[str, dict[str, Any]] = {
    "drop-10": {"flows": 10, "set": {}},
    "drop-30": {"flows": 30, "set": {}},
    "ecn-10": {"flows": 10, "set": {"setbit_": "true", "use_mark_p_": "false", "tcp:ecn_": "1"}},
    "ecn-30": {"flows": 30, "set": {"setbit_": "true", "use_mark_p_": "false", "tcp:ecn_": "1"}},
    "classic-10": {"flows": 10, "set": {"gentle_": "false", "wait_": "false"}},
    "adaptive-30": {"flows": 30, "set": {"adaptive_": "1", "bottom_": "0.01"}},
}
FLOWS_BASE = BASE | {
    "q_weight_": "0.002",
    "thresh_": "10",
    "maxthresh_": "30",
    "gentle_": "true",
    "limit_": "100",
    "tcp:ecn_": "0",
}
SEEDS = range(1, 21)
DRAWS, TAKEN = 702, 2
"""Number of stored random numbers, and number that a new simulation with a link consumes."""
T_19 = 2.093
"""Student's t for 95 % and 20 values."""


def arrivals() -> dict[str, list[list[int]]]:
    """Return named lists of arrivals: [nanoseconds, bytes]."""
    # Each phase: number of packets, load relative to the link's rate, and idle time after it in ns.
    phases = [
        (120, 1.4, 0),
        (60, 0.7, 0),
        (20, 0.3, 4_000_000),
        (80, 1.8, 60_000_000),
        (60, 1.2, 0),
        (30, 2.5, 0),
        (30, 0.5, 0),
    ]
    done = {}
    for name, sizes, rate, stretched in (
        ("equal", [1000], FAST, 1),
        ("mixed", [40, 500, 1000, 1500], FAST, 1),
        ("slow", [1000], SLOW, 1.5),
    ):
        draw = random.Random(name)  # noqa: S311 - not for secrets
        rows, at = [], 100_000_000.0
        for how_many, load, silence in phases:
            for _ in range(round(how_many * stretched)):
                at += draw.expovariate(1) * statistics.mean(sizes) * 8e9 / rate / load
                rows.append([round(at), draw.choice(sizes)])
            at += silence
        done[name] = [rows[0], *(now for last, now in itertools.pairwise(rows) if now[0] > last[0])]
    return done


def ns2(*words: str | int, place: Path) -> list[str]:
    """Return the output of ns-2."""
    environment = os.environ | {"LD_PRELOAD": str(place / "digits.so")}
    command = ["ns", str(SCRIPT), *map(str, words)]
    done = subprocess.run(command, env=environment, cwd=place, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout.splitlines()


def set_words(values: dict[str, str]) -> list[str]:
    """Return settings in the format of the script."""
    return [f"{name}={value}" for name, value in values.items()]


def law(name: str, listed: list[list[int]], place: Path) -> dict[str, Any]:
    """Return RED's decisions at each arrival of one set-up."""
    world = LAW[name]
    rate, values = world.get("rate_bps", FAST), BASE | world["set"]
    (place / "arrivals").write_text("".join(f"{at} {size}\n" for at, size in listed), encoding="ascii")
    lines = ns2("law", rate, "arrivals", *set_words(values), place=place)
    states = [[float(word) for word in line.split()] for line in lines]
    marked = set()
    for line in (place / "law.tr").read_text(encoding="ascii").splitlines():
        words = line.split()
        if words[0] == "-" and "E" in words[6]:
            marked.add(int(words[10]))
    did, early, full = "", 0.0, 0.0
    for number, row in enumerate(states):
        did += "e" if row[5] > early else "f" if row[6] > full else "m" if number in marked else "."
        early, full = row[5], row[6]
    record = {"rate_bps": rate, "arrivals": world["arrivals"], "set": values, "did": did}
    record["queue"] = [int(row[2]) for row in states]
    record["ave"] = [short(row[1]) for row in states]
    record["prob1"] = [short(row[3]) for row in states]
    if "adaptive_" in values:
        record["max_p"] = [short(row[4]) for row in states]
    return record


def short(value: float) -> float:
    """Round to the compared number of digits."""
    return float(f"{value:.11g}")


def interval(values: list[float]) -> list[float]:
    """Return the mean, and the half width of the 95 % interval."""
    half = T_19 * statistics.stdev(values) / math.sqrt(len(values))
    return [float(f"{it:.6g}") for it in (statistics.mean(values), half)]


def flows(name: str, place: Path) -> dict[str, Any]:
    """Return the figures of one set-up with TCP flows."""
    world = FLOWS[name]
    values = FLOWS_BASE | world["set"]
    figures: dict[str, list[float]] = {}
    for seed in SEEDS:
        (line,) = ns2("flows", world["flows"], seed, *set_words(values), place=place)
        arrived, early, full, marks, cuts, integral, left, *acked = [float(word) for word in line.split()]
        for key, value in (
            ("early_drops_per_arrival", early / arrived),
            ("forced_drops_per_arrival", full / arrived),
            ("marks_per_arrival", marks / arrived),
            ("mean_queue_packets", integral / 100),
            ("utilisation", left * 8 / 100 / 10e6),
            ("goodput_mbps", sum(acked) * 8e-3 / 100),
            ("ecn_cuts_per_s", cuts / 100),
            ("jain_index", sum(acked) ** 2 / len(acked) / sum(it * it for it in acked)),
        ):
            figures.setdefault(key, []).append(value)
    return {"flows": world["flows"], "set": values} | {key: interval(it) for key, it in figures.items()}


class Red:
    """RED of ns-2.35, reimplemented to verify the interpretation of the records."""

    def __init__(self, values: dict[str, str], rate: int) -> None:
        self.on = {key: value == "true" for key, value in values.items()}
        self.number = {key: float(value) for key, value in values.items() if value not in {"true", "false"}}
        self.mean = self.number["mean_pktsize_"]
        self.packets_per_s = rate / 8 / self.mean
        self.weight, low, high = (self.number[key] for key in ("q_weight_", "thresh_", "maxthresh_"))
        self.adaptive = bool(self.number.get("adaptive_"))
        delay = self.number.get("targetdelay_", 0.005)
        if not self.weight:
            self.weight = 1 - math.exp(-1 / self.packets_per_s)
        if not low:
            low = max(5.0, delay * self.packets_per_s / 2)
        if not high:
            high = 3 * low
        scale = self.mean if self.on["queue_in_bytes_"] else 1
        self.low, self.high = low * scale, high * scale
        self.max_p = self.first_max_p = 1 / self.number["linterm_"]
        self.ave, self.prob1, self.count, self.count_bytes, self.armed = 0.0, 0.0, 0, 0, False
        self.last_set = 0.0

    def average(self, at: float, queue: int, idle_since: float | None) -> None:
        """Update the average with an arrival, and with as many empty ones as fit into an idle time."""
        missed = int(self.packets_per_s * (at - idle_since)) if idle_since is not None else 0
        self.ave = self.ave * (1 - self.weight) ** (missed + 1) + self.weight * queue
        if self.adaptive and at > self.last_set + self.number.get("interval_", 0.5):
            part = 0.4 * (self.high - self.low)
            if self.ave < self.low + part and self.max_p > self.number.get("bottom_", 0):
                self.max_p *= self.number.get("beta_", 0.9)
                self.last_set = at
            elif self.ave > self.high - part and self.max_p < self.number.get("top_", 0.5):
                self.max_p += min(self.number.get("alpha_", 0.01), self.max_p / 4)
                self.last_set = at

    def base(self) -> float:
        """Return the probability before the count."""
        if self.on["gentle_"] and self.ave >= self.high:
            # ns-2 does not update this part when adaptive RED changes the maximum probability.
            return min(1.0, self.first_max_p + (1 - self.first_max_p) * (self.ave - self.high) / self.high)
        if self.ave >= self.high:
            return 1.0
        return min(1.0, max(0.0, self.max_p * (self.ave - self.low) / (self.high - self.low)))

    def counted(self, size: int) -> float:
        """Return the probability with the count of arrivals since the last drop."""
        count = float(self.count_bytes // int(self.mean)) if self.on["bytes_"] else float(self.count)
        share = count * self.prob1
        if self.on["wait_"]:
            result = 0.0 if share < 1 else self.prob1 / (2 - share) if share < 2 else 1.0
        else:
            result = self.prob1 / (1 - share) if share < 1 else 1.0
        if self.on["bytes_"] and result < 1:
            result *= size / self.mean
        return min(1.0, result)

    def decide(self, queue: int, size: int, draws: list[float]) -> str:
        """Return the decision for a packet: one letter of ``did``."""
        self.count += 1
        self.count_bytes += size
        did = "."
        if self.ave >= self.low and queue > 1:
            most = 2 * self.high if self.on["gentle_"] else self.high
            if self.ave >= most and not self.on.get("use_mark_p_", True):
                did = "f"
            elif not self.armed:
                self.count, self.count_bytes, self.armed = 1, size, True
            else:
                self.prob1 = self.base()
                if draws.pop(0) <= self.counted(size):
                    self.count = self.count_bytes = 0
                    marks = self.on.get("setbit_") and (not self.on.get("use_mark_p_", True) or self.prob1 < 0.1)
                    did = "m" if marks else "e"
        else:
            self.armed = False
        limit = self.number["limit_"] * (self.mean if self.on["queue_in_bytes_"] else 1)
        if queue >= limit:
            did = "f"
        if did == "f":
            self.count = self.count_bytes = 0
        return did


def near(value: float, other: float) -> bool:
    """Return whether two numbers are equal except for rounding."""
    return abs(value - other) <= 1e-9 * max(1, abs(other))


def check(name: str, record: dict[str, Any], listed: list[list[int]], draws: list[float]) -> None:
    """Recalculate a record: queue from the link's rate, averages, probabilities and decisions."""
    red, left = Red(record["set"], record["rate_bps"]), list(draws)
    begun: list[tuple[float, int]] = []
    free, idle_since = 0.0, 0.0
    idle: float | None = 0.0
    for number, (at_ns, size) in enumerate(listed):
        at = at_ns * 1e-9
        # A packet waits until its transmission starts. The queue becomes idle when the last transmission ends.
        waiting = [item for item in begun if item[0] > at + 1e-12]
        if number and not waiting and free <= at and idle is None:
            idle = idle_since
        queue = sum(item[1] for item in waiting) if red.on["queue_in_bytes_"] else len(waiting)
        red.average(at, queue, idle)
        idle = None
        did = red.decide(queue, size, left)
        found = (queue, did, red.ave, red.prob1)
        recorded = (record["queue"][number], record["did"][number], record["ave"][number], record["prob1"][number])
        same = found[:2] == recorded[:2] and near(found[2], recorded[2]) and near(found[3], recorded[3])
        if "max_p" in record:
            same = same and near(red.max_p, record["max_p"][number])
        if not same:
            raise SystemExit(f"{name}, arrival {number}: ns-2 recorded {recorded}, worked out {found}")
        if did in ".m":
            start = max(free, at)
            free = start + size * 8 / record["rate_bps"]
            begun.append((start, size))
            idle_since = free


def main() -> None:
    """Record all set-ups, check the records, and write them."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "digits.c").write_text(DIGITS, encoding="ascii")
        build = ["cc", "-O1", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", "-fno-builtin", "-o", "digits.so", "digits.c"]
        subprocess.run(build, cwd=place, check=True)  # noqa: S603 - what stands above
        draws = [short(float(line)) for line in ns2("draws", DRAWS, place=place)][TAKEN:]
        listed = arrivals()
        laws = {}
        for name, world in LAW.items():
            laws[name] = law(name, listed[world["arrivals"]], place)
            print(name, {it: laws[name]["did"].count(it) for it in ".mef"}, max(laws[name]["ave"]))  # noqa: T201
            check(name, laws[name], listed[world["arrivals"]], draws)
        measured = {name: flows(name, place) for name in FLOWS}
        defaults = dict(line.split() for line in ns2("defaults", *ASKED, place=place))
    head = {"made_by": "ns-2.35 (Debian 2.35+dfsg-5), queue_ns2.py", "defaults": defaults, "draws": draws}
    text = json.dumps(head, separators=(",", ":"))[:-1]
    for key, rows in (("arrivals", listed), ("law", laws), ("flows", measured)):
        lines = [f'"{name}": {json.dumps(row, separators=(",", ":"))}' for name, row in rows.items()]
        text += f',\n"{key}": {{\n' + ",\n".join(lines) + "\n}"
    OUT.write_text(text + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
