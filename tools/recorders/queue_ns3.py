"""Record queue disciplines of ns-3.37, into ``queue_ns3.json``; not part of the program.

The recorder needs Debian's packages ``ns3``, ``libns3-dev`` and ``g++``, and no privileges: ``python queue_ns3.py``,
four minutes. It builds and runs ``queue_ns3.cc``. All results are deterministic.

``cbr``: a discipline, a link of 10 Mb/s that takes a packet whenever the previous one has been sent, and unresponsive
sources. Three packets arrive at time 0, then one per ``every_ns`` from ``first_ns`` on. These are the set-ups of
``queue_linux.py``, in which four arrive at time 0 because the first leaves immediately; its packet n + 1 is n here.
``parameters`` holds every attribute of the discipline. Stored values of a set-up:

* ``sent``, ``left``: packets of each source that arrived and that left the queue.
* ``lost``, ``marked``: their numbers, each as the difference from the previous one (the first from -1), of the first
  1000 (200 for PIE); ``lost_in_all``, and ``reasons`` of drops.
* ``lost_at_ms``: times of the first 200 drops of CoDel; ``count``: its count after each of them.
* ``sojourn_ms``: quantiles 0.05, 0.25, 0.5, 0.75, 0.95, 1 of the time in the queue, by source.
* ``pie``: queue delay in ms and probability at each update (from 0, every ``Tupdate``); the first 200, then every
  tenth. Each probability follows from the previous one and two delays, independent of intermediate drops.
* ``queue_packets``: length every 100 ms.

``red`` has the arrivals of ``queue_ns2.json`` (same names) at RED, all ECT(0). Its columns have one value per arrival:
``queue`` (waiting packets), ``ave``, ``prob``, ``max_p`` if it changes, and ``did``. ``prob`` includes the count, and
is 0 or unchanged while RED does not need it. ``did`` is as in ``queue_ns2.py``, with ``M`` for a mark because the
average is above the upper threshold.

``dctcp`` has greedy flows of DCTCP over a bottleneck whose queue marks packets that find at least ``threshold_packets``
waiting. Packets have 1500 bytes on the wire, and links from senders are ten times as fast. The values are for the time
after ``warm_s``:

* ``queue_packets``: quantiles 0, 0.05, 0.25, 0.5, 0.75, 0.95, 1, and mean;
* ``series``: the first 500 samples, every ``sample_us``;
* ``period_us``: the period at the maximum of the autocorrelation;
* ``swing_packets``: mean of maximum minus minimum length in a period;
* ``alpha`` and ``cwnd``: segments; minimum, mean and maximum of the first flow;
* ``marks_per_packet`` and ``goodput_mbps``.

``formula`` is from Alizadeh and others, 2010, section 3.3, with all flows synchronised and C in packets per second:

* amplitude A = sqrt(2 N (C RTT + K)) / 2, with the queue from K + N - A to K + N;
* period sqrt(2 (C RTT + K) / N) / 2 round trips;
* alpha = sqrt(2 N / (C RTT + K)).

The queue of ns-3 excludes two packets: the one in transmission and one in its device.

The records show deviations of ns-3 from the texts. CoDel calculates 1 / sqrt(count) by one step of Newton's method per
update (like Linux, packet by packet). The second and the third drop are therefore 50 ms apart instead of 71 ms. PIE
keeps its probability at 0 until the burst allowance of 150 ms is used up. CoDel with marking falls behind its own law.
In ``codel-ecn 1.5`` marks are at least one packet late from the third on, whereas Linux marks when CoDel would drop.

``codel_text`` has the numbers of packets that the pseudocode of RFC 8289 drops in the set-ups ``codel``, and the
differences. It uses a square root instead of one step of Newton's method (:func:`codel_of_the_rfc`).
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import subprocess
import tempfile
from collections import deque
from pathlib import Path
from typing import Any

from records import RECORDS

HERE = Path(__file__).resolve()
OUT = RECORDS / "queue_ns3.json"
FIRST_NS, FRAME, PACKET_NS = 350_000, 1500, 1_200_000
MOST = {"CoDelQueueDisc": 1000, "FqCoDelQueueDisc": 1000}
"""Number of stored packet numbers; 200 for random disciplines."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1)
LIBRARIES = ("core", "network", "internet", "traffic-control", "point-to-point", "applications")


def load(times: float, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of a source
    """Return a source of full packets with ``times`` the rate of the link."""
    return {"first_ns": FIRST_NS, "every_ns": round(PACKET_NS / times), "bytes": FRAME, "ect": 0} | more


def several(*sources: dict[str, Any]) -> list[dict[str, Any]]:
    """Return sources that never send at the same time."""
    return [source | {"first_ns": FIRST_NS + 10_000 * number} for number, source in enumerate(sources)]


CBR: dict[str, dict[str, Any]] = {}
for factor in (1.2, 1.5, 2.0):
    for name, kind, values in (
        ("codel", "CoDelQueueDisc", "MaxSize=1000p"),
        ("codel-10-50", "CoDelQueueDisc", "MaxSize=2000p,Target=10ms,Interval=50ms"),
        ("pie", "PieQueueDisc", "MaxSize=1000p"),
    ):
        CBR[f"{name} {factor}"] = {"type": kind, "set": values, "sources": [load(factor)], "seconds": 10}
CBR |= {
    "codel-ecn 1.5": CBR["codel 1.5"] | {"set": "MaxSize=1000p,UseEcn=true", "sources": [load(1.5, ect=2)]},
    "pie-20 1.5": CBR["pie 1.5"] | {"set": "MaxSize=500p,QueueDelayReference=20ms,Tupdate=30ms,A=0.125,B=1.25"},
    "pie-rate 1.5": CBR["pie 1.5"] | {"set": "MaxSize=1000p,UseDequeueRateEstimator=true"},
    "pie-derandomised 1.5": CBR["pie 1.5"] | {"set": "MaxSize=1000p,UseDerandomization=true"},
    "pie-ecn 1.05": CBR["pie 1.5"] | {"set": "MaxSize=1000p,UseEcn=true", "sources": [load(1.05, ect=2)]},
    "codel 1.2 then 0.5 then 1.2": {
        "type": "CoDelQueueDisc",
        "set": "MaxSize=1000p",
        "sources": several(load(1.2, until_s=4), load(0.5, from_s=4, until_s=4.3), load(1.2, from_s=4.3, until_s=8)),
        "seconds": 8,
    },
    "fq-codel three and a sparse one": {
        "type": "FqCoDelQueueDisc",
        "set": "MaxSize=10240p,Quantum=1500",
        "sources": several(load(1.0), load(0.6), load(0.2), load(1, every_ns=20_000_000, bytes=200)),
        "seconds": 10,
    },
    "fq-codel-small three and a sparse one": {
        "type": "FqCoDelQueueDisc",
        "set": "MaxSize=200p,Quantum=300,Interval=50ms,UseEcn=false",
        "sources": several(load(1.0), load(0.6, bytes=750), load(0.2), load(1, every_ns=20_000_000, bytes=200)),
        "seconds": 10,
    },
}
RED_BASE = "MeanPktSize=1000,MaxSize=60p,MinTh=5,MaxTh=15,QW=0.02,LInterm=10,LinkDelay=0s,UseEcn=false"
RED = {
    "classic": ("equal", "10Mbps", "Gentle=false,Wait=false"),
    "wait": ("equal", "10Mbps", "Gentle=false,Wait=true"),
    "gentle": ("equal", "10Mbps", "Gentle=true,Wait=true"),
    "ecn": ("equal", "10Mbps", "Gentle=true,Wait=true,UseEcn=true,UseHardDrop=false"),
    "adaptive": ("slow", "1Mbps", "Gentle=true,Wait=true,LInterm=20,AdaptMaxP=true,Bottom=0.01"),
    "automatic": ("slow", "1Mbps", "Gentle=true,ARED=true,MinTh=0,MaxTh=0,QW=0,TargetDelay=50ms"),
}
DCTCP = {
    f"{speed} x{flows}": {
        "flows": flows,
        "bps": bps,
        "rtt_us": rtt,
        "threshold_packets": 40,
        "seconds": 3000 * rtt * 1e-6,
        "sample_us": rtt / 40,
        "warm_s": 1000 * rtt * 1e-6,
    }
    for speed, bps, rtt in (("10G 100us", 10e9, 100), ("100M 10ms", 100e6, 10_000))
    for flows in (1, 2, 10, 40)
}


def run(program: Path, *words: str | float, standard_input: str = "") -> list[list[str]]:
    """Return the output of the program as words."""
    command = [str(program), *map(str, words)]
    done = subprocess.run(command, input=standard_input, check=True, capture_output=True, text=True)  # noqa: S603
    return [line.split(" ") for line in done.stdout.splitlines()]


def differences(numbers: list[int]) -> list[int]:
    """Return the differences of consecutive numbers, the first one from -1."""
    return [now - then for then, now in zip([-1, *numbers], numbers, strict=False)]


def quantiles(values: list[float], parts: tuple[float, ...] = QUANTILES, digits: int = 4) -> list[float]:
    """Return the stored quantiles."""
    values = sorted(values)
    return [round(values[min(len(values) - 1, int(part * len(values)))], digits) for part in parts] if values else []


def most(kind: str) -> int:
    """Return the number of stored packet numbers."""
    return MOST.get(kind, 200)


def cbr(program: Path, world: dict[str, Any]) -> dict[str, Any]:
    """Run a discipline with unresponsive sources."""
    words = []
    for source in world["sources"]:
        words.append(",".join(str(source[key]) for key in ("first_ns", "every_ns", "bytes", "ect")))
        if "until_s" in source:
            words[-1] += f",{source.get('from_s', 0)},{source['until_s']}"
    found: dict[str, list[list[str]]] = {}
    for kind, *rest in run(program, "cbr", world["type"], world["set"], world["seconds"], *words):
        found.setdefault(kind, []).append(rest)
    source_of = {int(number): int(source) for number, _, source in found["a"]}
    arrived = {int(number): int(at) for number, at, _ in found["a"]}
    sojourn: list[list[float]] = [[] for _ in words]
    for number, at in found["q"]:
        sojourn[source_of[int(number)]].append((int(at) - arrived[int(number)]) / 1e6)
    drops = found.get("d", [])
    reasons: dict[str, int] = {}
    for _, _, *reason in drops:
        reasons[" ".join(reason)] = reasons.get(" ".join(reason), 0) + 1
    record = world | {
        "parameters": {name: " ".join(value) for name, *value in found["attribute"]},
        "sent": [sum(it == number for it in source_of.values()) for number in range(len(words))],
        "left": [len(it) for it in sojourn],
        "lost": differences(sorted(int(number) for number, *_ in drops))[: most(world["type"])],
        "lost_in_all": len(drops),
        "reasons": reasons,
        "marked": differences(sorted(int(number) for number, _ in found.get("m", [])))[: most(world["type"])],
        "sojourn_ms": [quantiles(it) for it in sojourn],
        "queue_packets": [int(length) for _, length in found["s"]],
    }
    if "c" in found:
        record["lost_at_ms"] = [round(int(at) / 1e6, 2) for _, at, *_ in drops[:200]]
        record["count"] = [int(count) for _, count in found["c"][:200]]
    if "p" in found:
        rows = [[round(int(delay) / 1e6, 6), float(f"{float(chance):.10g}")] for _, chance, delay in found["p"]]
        record["pie"] = rows[:200] + rows[200 : int(world["seconds"] * 1000 / 15) : 10]
    return record


def red(program: Path, name: str, arrivals: dict[str, list[list[int]]]) -> dict[str, Any]:
    """Run RED with the arrivals of ns-2."""
    listed, rate, values = RED[name]
    settings = f"{RED_BASE},{values},LinkBandwidth={rate}"
    text = "".join(f"{at} {size}\n" for at, size in arrivals[listed])
    lines = run(program, "red", settings, float(rate.removesuffix("Mbps")) * 1e6, standard_input=text)
    rows = [line for line in lines if line[0] != "attribute"]
    letters = {"-": ".", "Unforced_drop": "e", "Forced_drop": "f", "Unforced_mark": "m", "Forced_mark": "M"}
    record = {
        "arrivals": listed,
        "parameters": {line[1]: " ".join(line[2:]) for line in lines if line[0] == "attribute"},
        "did": "".join(letters.get(row[4], "f") for row in rows),
        "queue": [int(row[0]) for row in rows],
        "ave": [float(f"{float(row[1]):.10g}") for row in rows],
        "prob": [float(f"{float(row[2]):.10g}") for row in rows],
    }
    if len({row[3] for row in rows}) > 1:
        record["max_p"] = [float(f"{float(row[3]):.10g}") for row in rows]
    return record


def formula(world: dict[str, Any]) -> dict[str, float]:
    """Return queue and oscillation by Alizadeh et al. 2010."""
    pipe = world["bps"] / 8 / FRAME * world["rtt_us"] * 1e-6 + world["threshold_packets"]
    swing = math.sqrt(2 * world["flows"] * pipe) / 2
    most = world["threshold_packets"] + world["flows"]
    return {
        "greatest_packets": most,
        "least_packets": round(most - swing, 3),
        "swing_packets": round(swing, 3),
        "period_round_trips": round(math.sqrt(2 * pipe / world["flows"]) / 2, 3),
        "alpha": round(math.sqrt(2 / (pipe / world["flows"])), 4),
    }


def period(series: list[int], least: int) -> int:
    """Return the period in samples: the maximum of the autocorrelation after it first falls below 0."""
    mean = statistics.mean(series)
    wave = [value - mean for value in series]
    power = sum(value * value for value in wave)
    result, best, below = 0, 0.0, False
    for lag in range(least, len(series) // 4):
        alike = sum(a * b for a, b in zip(wave, wave[lag:], strict=False)) / power
        below = below or alike < 0
        if below and alike > best:
            result, best = lag, alike
    return result


def spread(values: list[float]) -> list[float]:
    """Return minimum, mean and maximum."""
    return [round(it, 5) for it in (min(values), statistics.mean(values), max(values))]


def dctcp(program: Path, world: dict[str, Any]) -> dict[str, Any]:
    """Run flows of DCTCP over a queue that marks above a threshold."""
    words = [world[key] for key in ("flows", "bps", "rtt_us", "threshold_packets", "seconds", "sample_us", "warm_s")]
    lines = run(program, "dctcp", *words)
    series = [int(line[1]) for line in lines if line[0] == "s"]
    windows = [(float(line[1]), float(line[2])) for line in lines if line[0] == "w"]
    received, marks, drops, seconds = (float(word) for word in lines[-1][1:])
    lag = period(series[:4000], 20)
    waves = [series[at : at + lag] for at in range(0, len(series) - lag, lag)] if lag else []
    return world | {
        "formula": formula(world),
        "queue_packets": [*quantiles(list(series), (0, *QUANTILES)), round(statistics.mean(series), 3)],
        "period_us": lag * world["sample_us"],
        "swing_packets": round(statistics.mean(max(wave) - min(wave) for wave in waves), 3) if waves else None,
        "alpha": spread([alpha for _, alpha in windows]),
        "cwnd": spread([window for window, _ in windows]),
        "marks_per_packet": round(marks / (received / 1448), 6),
        "drops": int(drops),
        "goodput_mbps": round(received * 8e-6 / seconds, 4),
        "series": series[:500],
    }


def codel_of_the_rfc(  # noqa: PLR0915 - in the order of the text
    factor: float, target_ms: float, interval_ms: float, limit: int, seconds: float
) -> list[int]:
    """Return the numbers of packets that RFC 8289's pseudocode (section 5) drops, with an exact square root."""
    target, interval = target_ms * 1e6, interval_ms * 1e6
    every = round(PACKET_NS / factor)
    plan = [0, 0, 0, *range(FIRST_NS, int(seconds * 1e9), every)]
    coming = deque(enumerate(plan))
    waiting: deque[tuple[int, int]] = deque()
    dropped: list[int] = []
    first_above = drop_next = 0.0
    count = last_count = 0
    dropping = False

    def take(now: int) -> tuple[int, bool]:
        nonlocal first_above
        if not waiting:
            first_above = 0
            return -1, False
        number, at = waiting.popleft()
        # The text uses "bytes <= maxpacket" of the waiting packets.
        if now - at < target or len(waiting) * FRAME <= FRAME:
            first_above = 0
            return number, False
        if not first_above:
            first_above = now + interval
            return number, False
        return number, now >= first_above

    now = 0
    while coming or waiting:
        while coming and coming[0][1] <= now:
            if len(waiting) >= limit:
                dropped.append(coming.popleft()[0])
            else:
                waiting.append(coming.popleft())
        number, ok = take(now)
        if number < 0:
            dropping = False
            if coming:
                now = coming[0][1]
            continue
        if dropping:
            if not ok:
                dropping = False
            while dropping and now >= drop_next:
                dropped.append(number)
                count += 1
                number, ok = take(now)
                if not ok:
                    dropping = False
                else:
                    drop_next += interval / math.sqrt(count)
        elif ok:
            dropped.append(number)
            number, ok = take(now)
            dropping = True
            delta = count - last_count
            count = delta if delta > 1 and now - drop_next < 16 * interval else 1
            drop_next = now + interval / math.sqrt(count)
            last_count = count
        now += PACKET_NS
    return sorted(dropped)


def main() -> None:
    """Record all set-ups and write them."""
    arrivals = json.loads((RECORDS / "queue_ns2.json").read_text(encoding="utf-8"))["arrivals"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "queue_ns3"
        build = ["g++", "-std=c++17", "-O1", "-o", str(program), str(HERE.with_suffix(".cc"))]
        subprocess.run([*build, *(f"-lns3-{name}" for name in LIBRARIES)], check=True)  # noqa: S603 - the file beside
        constant = {}
        for name, world in CBR.items():
            constant[name] = cbr(program, world)
            print(name, constant[name]["left"], constant[name]["reasons"], constant[name]["sojourn_ms"])  # noqa: T201
        reds = {name: red(program, name, arrivals) for name in RED}
        flows = {}
        for name, world in DCTCP.items():
            flows[name] = dctcp(program, world)
            print(name, {key: it for key, it in flows[name].items() if key != "series"})  # noqa: T201
    text: dict[str, Any] = {}
    for name, target, interval, limit in (("codel", 5, 100, 1000), ("codel-10-50", 10, 50, 2000)):
        for factor in (1.2, 1.5, 2.0):
            drops = codel_of_the_rfc(factor, target, interval, limit, 10)
            theirs = list(itertools.accumulate(constant[f"{name} {factor}"]["lost"], initial=-1))[1:]
            text[f"{name} {factor}"] = {
                "lost": differences(drops)[:200],
                "lost_in_all": len(drops),
                "ns3_lost_in_all": constant[f"{name} {factor}"]["lost_in_all"],
                "alike_at_first": next((k for k, (a, b) in enumerate(zip(drops, theirs, strict=False)) if a != b), -1),
            }
            print(name, factor, list(text[f"{name} {factor}"].items())[1:])  # noqa: T201
    out = '{"made_by": "ns-3.37 (Debian 3.37-2), queue_ns3.py"'
    for key, rows in (("cbr", constant), ("red", reds), ("dctcp", flows), ("codel_text", text)):
        lines = [f'"{name}": {json.dumps(row, separators=(",", ":"))}' for name, row in rows.items()]
        out += f',\n"{key}": {{\n' + ",\n".join(lines) + "\n}"
    OUT.write_text(out + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
