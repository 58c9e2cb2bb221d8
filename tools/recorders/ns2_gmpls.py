"""Run ns-2 on scenarios of the GMPLS paper with the random draws of OpTCP, and compare the two by seed.

    - ``python ns2_gmpls.py run`` needs ns-2.35 (``ns``) and the package xxhash, and writes ns2-gmpls.json in about an
    hour.
    - ``python ns2_gmpls.py table`` compares OpTCP with ns-2 for the same draws.
    - ``python ns2_gmpls.py choices`` tests other possible causes of ns-2's values in ns2.toml, in OpTCP only.
    - ``python ns2_gmpls.py against`` compares all values of ns2.toml with OpTCP without and with a SYN.

The draws are recomputed here from the names of their streams: delays, start times and clock phases of flows.
"""

from __future__ import annotations

import functools
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import distributions

from optcp import Scenario, _core, stats
from optcp_papers.gmpls import section6
from optcp_papers.gmpls.paper import ns2

HERE = Path(__file__).parent
TCL, RUNS = HERE / "ns2-gmpls.tcl", HERE / "ns2-gmpls.json"
SCENARIOS = Path(section6.__file__).parent / "scenarios"
MS = 10**9
QUEUE = 50
OBSERVED = (("S", "A"), ("A", "L0"), ("F", "C"), ("C", "L4"), ("L5", "L6"))
"""Links whose queues fill; the first two are in section 6."""


class World(NamedTuple):
    """One scenario of both programs.

    Attributes
    ----------
    section
        Section of the paper, 5 or 6.
    d_ms, delta_ms
        Parameters of the section; section 5 has no d.
    syn
        Whether a connection starts with a SYN of 40 bytes.
    host_bps, access_bps
        Rates of the hosts' links and of the other access links. If they are equal and a packet takes whole
        milliseconds, events have equal times.
    """

    section: int
    d_ms: int
    delta_ms: int
    syn: bool
    host_bps: int
    access_bps: int

    def settings(self) -> list[tuple[str, str]]:
        """Return OpTCP's settings of this scenario."""
        hosts = range(1 if self.section == 6 else 2)
        return [
            *(section6.backup(self.d_ms).items() if self.section == 6 else ()),
            ("parameters.switch_delay", f"{self.delta_ms} ms"),
            ("parameters.access_share", f"{self.access_bps / 1e7:.7f}"),
            *((f"links.{i}.rate", f"{self.host_bps} bps") for i in hosts),
            ("tcp.all.handshake", str(self.syn).lower()),
            ("stop", "6.6 s"),
        ]

    def optcp(self, seed: int, settings: Sequence[tuple[str, str]] = ()) -> int:
        """Return goodput in (5 s, 6.5 s] in kB; ``settings`` override the settings of the scenario."""
        path = SCENARIOS / f"gmpls-section{self.section}.toml"
        scenario = _core.Scenario.load(str(path), [*self.settings(), *settings])
        goodput = Scenario(scenario).run(seed)["goodput"]
        return int(goodput["bytes"][(goodput.seconds > 5.0) & (goodput.seconds <= 6.5)].sum()) // 1000

    def has_tie(self, seed: int) -> bool:
        """Return whether, in OpTCP, a packet takes the last place of a queue at the time at which it becomes free.

        OpTCP always accepts it. In ns-2 the rounding of times decides the order, and it may drop the packet.
        """
        text = (SCENARIOS / f"gmpls-section{self.section}.toml").read_text(encoding="utf-8")
        links = OBSERVED[: 2 if self.section == 6 else len(OBSERVED)]
        observe = f'[[observe]]\nname = "packets"\nkind = "packets"\nlinks = {json.dumps(links)}\n'
        text = text[: text.index("[[observe]]")] + observe
        world = Scenario(_core.Scenario.parse(text, f"section {self.section}", self.settings()))
        packets = world.run(seed)["packets"]
        for port in packets.distinct("port"):
            seen = packets.where(port=port)
            queued, sent = (seen.is_("event", name) for name in ("queued", "transmitted"))
            length = np.cumsum(queued.astype(int) - sent)
            left = np.isin(seen["time_ps"], seen["time_ps"][sent])
            if np.any(queued & (length == QUEUE) & left):
                return True
        return False

    def ns2(self, seed: int) -> int:
        """Return the same of ns-2, which counts the 40 bytes of a SYN; the division removes them."""
        values = (self.section, self.d_ms / 1000, self.delta_ms / 1000, int(self.syn), self.host_bps, self.access_bps)
        command = ["ns", str(TCL), *map(str, values)]
        text = draws(self.section, seed)
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)  # noqa: S603 - our own file
        return int(done.stdout) // 1000


def draws(section: int, seed: int) -> str:
    """Return delays, start times and clocks in the format of the Tcl script."""
    groups = (("switched", "S", "A"), ("fixed", "F", "C"))[: 1 if section == 6 else 2]
    hosts = [(group, f"{letter}{i}", near) for group, letter, near in groups for i in range(10)]
    flows = [f"flows/{group}/{host}/{i}" for group, host, _ in hosts for i in range(10)]
    delays = [10 * MS + below(seed, f"links/{host}-{near}/delay", 90 * MS + 1) for _, host, near in hosts]
    starts = [500 * MS + below(seed, f"{flow}/start", 500 * MS + 1) for flow in flows]
    clocks = clock_seeds([below(seed, f"{flow}/clock", 100 * MS) / (100 * MS) for flow in flows])
    return "\n".join(" ".join(line) for line in (map(seconds, delays), map(seconds, starts), map(str, clocks))) + "\n"


def seconds(ps: int) -> str:
    """Convert picoseconds to seconds, exactly."""
    return f"{ps // 10**12}.{ps % 10**12:012d}"


def below(seed: int, name: str, bound: int) -> int:
    """Return OpTCP's first draw of a stream (crates/des/src/stream.rs): xoshiro256++ on XXH3 of the name."""
    xxhash = importlib.import_module("xxhash")  # only `run` needs it

    def half(key: int) -> bytes:
        return int(xxhash.xxh3_128_intdigest(name.encode(), seed=key)).to_bytes(16, "little")

    every = 2**64 - 1
    state = half(seed) + half(seed ^ every)
    first, last = (int.from_bytes(state[i : i + 8], "little") for i in (0, 24))
    both = (first + last) & every
    drawn = ((both << 23 | both >> 41) + first) & every
    return drawn * bound >> 64


def clock_seeds(wanted: list[float]) -> list[int]:
    """Return seeds of ns-2's generator (MRG32k3a) whose first number is within 5e-6 of a wanted one (0.5 us)."""
    seeds = np.arange(1, 300_001, dtype=np.int64)
    m1, m2 = 4294967087, 4294944443
    first = ((1403580 - 810728) * seeds % m1 - (527612 - 1370589) * seeds % m2) % m1 / (m1 + 1)
    order = np.argsort(first)
    places = np.searchsorted(first[order], wanted).clip(1, len(order) - 1)
    near = order[np.stack([places - 1, places])]
    best = np.argmin(np.abs(first[near] - wanted), axis=0)
    return [int(seed) for seed in seeds[near[best, np.arange(len(wanted))]]]


ALIKE = {5: (9_000_000, 9_000_000), 6: (8_000_000, 8_000_000)}
"""The paper's rates of hosts' links and other access links."""
UNLIKE = {5: (9_001_317, 8_997_713), 6: (8_001_317, 7_997_713)}
"""Rates that differ by 0.03 %: transmission times of the two never coincide, nor divide a tick of 100 ms."""
D_MS, DELTA_6_MS, DELTA_5_MS = (1, 50, 100), (5, 50), (0, 50, 250, 500, 1000)


def worlds() -> Iterator[tuple[World, int]]:
    """Yield the scenarios to run, with the number of seeds from 1."""
    for delta in DELTA_6_MS:
        for syn in (True, False):
            for d in D_MS:
                yield World(6, d, delta, syn, *ALIKE[6]), 150
    for syn in (True, False):
        for d in D_MS:
            yield World(6, d, DELTA_6_MS[0], syn, *UNLIKE[6]), 25
    for delta in DELTA_5_MS:
        yield World(5, 0, delta, False, *UNLIKE[5]), 10
    for delta in DELTA_5_MS:
        yield World(5, 0, delta, False, *ALIKE[5]), 50


def recorded() -> dict[World, list[int]]:
    """Return the recorded results of ns-2, by seed from 1."""
    if not RUNS.exists():
        return {}
    listed = json.loads(RUNS.read_text(encoding="utf-8"))["worlds"]
    return {World(*entry["world"]): entry["kilobytes"] for entry in listed}


def run() -> None:
    """Run the missing scenarios, and store the results after each scenario."""
    found = recorded()
    for world, seeds in worlds():
        if len(found.get(world, [])) < seeds:
            found[world] = [world.ns2(seed) for seed in range(1, seeds + 1)]
            lines = [f"  {json.dumps({'world': world, 'kilobytes': values})}" for world, values in found.items()]
            made_by = json.dumps("ns-2.35 (Debian), ns2_gmpls.py; a world is " + ", ".join(World._fields))
            text = f'{{\n "made_by": {made_by},\n "worlds": [\n' + ",\n".join(lines) + "\n ]\n}\n"
            RUNS.write_text(text, encoding="utf-8")


def table() -> Iterator[str]:
    """Yield lines that compare OpTCP's and ns-2's goodput relative to the first d or delta, in points."""
    theirs = {world: np.array(values) for world, values in recorded().items()}
    ours = {world: np.array([world.optcp(seed + 1) for seed in range(len(values))]) for world, values in theirs.items()}
    yield "| world | rates | SYN | n | OpTCP | ns-2 | OpTCP - ns-2 | equal runs without a tie | with ties |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for world, values in theirs.items():
        first = world._replace(d_ms=1) if world.section == 6 else world._replace(delta_ms=0)
        if first != world:
            mine, other = gain_pct(ours, world, first), gain_pct(theirs, world, first)
            equal, tie = ours[world] == values, np.array([world.has_tie(seed + 1) for seed in range(len(values))])
            shares = [f"{np.sum(equal & which)} of {np.sum(which)}" for which in (~tie, tie)]
            texts = *_texts(world), str(len(values)), *map(_interval, (mine, other, mine - other)), *shares
            yield f"| {' | '.join(texts)} |"


def gain_pct(side: dict[World, NDArray[np.int64]], world: World, first: World) -> NDArray[np.float64]:
    """Return the goodput of a scenario relative to the first one, by seed, in %."""
    result: NDArray[np.float64] = 100 * (side[world] / side[first] - 1)
    return result


def _texts(world: World) -> tuple[str, str, str]:
    d = f"d = {world.d_ms} ms, " if world.section == 6 else ""
    rates = "alike" if world.host_bps == world.access_bps else "unlike"
    return f"section {world.section}, {d}δ = {world.delta_ms} ms", rates, "yes" if world.syn else "no"


def _interval(values: NDArray[np.float64]) -> str:
    mean = stats.mean(values)
    return f"{mean.estimate:+.2f} [{mean.low:+.2f}, {mean.high:+.2f}]"


CHOICES: dict[str, tuple[tuple[str, str], ...]] = {
    "a SYN before the data": (("tcp.all.handshake", "true"),),
    "initial window 2": (("tcp.all.initial_window", "2"),),
    "both": (("tcp.all.handshake", "true"), ("tcp.all.initial_window", "2")),
    "cwnd halved to the byte (`precisionReduce_`)": (("tcp.all.halving", "whole-ssthresh"),),
    "initial timeout 3 s": (("tcp.all.initial_rto", "3 s"),),
    "partial window deflation": (("tcp.all.partial_ack", "deflate"),),
    "impatient timer": (("tcp.all.newreno_timer", "impatient"),),
    "limited transmit": (("tcp.all.limited_transmit", "true"),),
    "first segments as since 2006 (`bugfix_ss_`)": (("tcp.all.first_loss", "ns2"),),
    "back-off up to 64 s": (("tcp.all.backoff", "to-maximum"),),
    "window 20": (("tcp.all.window_limit", "20"), ("tcp.all.initial_ssthresh", "20")),
    "delayed ACKs": (("tcp.all.ack", "delayed"), ("tcp.all.ack_delay", "100 ms")),
    "40 bytes of header more": (("tcp.all.header", "40 B"),),
    "queues of 49": (("parameters.queue", "49 packets"),),
    "hosts keep a packet up to 1 ns": (("links.0.jitter", "1 ns"),),
    "hosts keep a packet up to 1 ms": (("links.0.jitter", "1 ms"),),
    "access 0.03 % slower": (("parameters.access_share", "0.7997713"),),
    "that, and hosts 0.05 % faster": (("parameters.access_share", "0.7997713"), ("links.0.rate", "8001317 bps")),
}
"""Other possible settings of the recorded runs of ``ns2.toml``, as OpTCP's settings."""


def choices() -> Iterator[str]:
    """Yield table lines with the change of f at delta = 50 ms by each choice, in points."""
    found = {(name, d): _relative(settings, d, 50, 400) for name, settings in _every_choice() for d in D_MS[1:]}
    yield from ("| choice | d = 50 ms | d = 100 ms |", "|---|---|---|")
    for name in CHOICES:
        yield f"| {name} | {' | '.join(_interval(found[name, d] - found['', d]) for d in D_MS[1:])} |"


def _every_choice() -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    yield "", ()
    yield from CHOICES.items()


def against() -> Iterator[str]:
    """Yield the distance of OpTCP with and without a SYN from all 25 values of ``ns2.toml`` (Hotelling's test)."""
    recorded_pct = np.array(ns2()["table5"]["rel_goodput_pct"]).ravel()
    seeds, cells, of_ns2 = 600, recorded_pct.size, 150
    for name in ("", "a SYN before the data"):
        settings = dict(_every_choice())[name]
        pairs = [(d, delta) for d in section6.D_MS[1:] for delta in section6.DELTA_MS]
        f = np.array([_relative(settings, d, delta, seeds) for d, delta in pairs])
        apart = f.mean(axis=1) - recorded_pct
        t2 = float(apart @ np.linalg.solve(np.cov(f) * (1 / seeds + 1 / of_ns2), apart))
        p = float(distributions.f.sf(t2 * (seeds - cells) / (cells * (seeds - 1)), cells, seeds - cells))
        rms, largest = np.sqrt((apart**2).mean()), np.abs(apart).max()
        yield f"{name or 'as it is'}: {rms:.2f} points rms, largest {largest:.2f}, T2 = {t2:.1f}, p = {p:.2g}"
        yield from (" | ".join(f"{value:+.2f}" for value in row) for row in f.mean(axis=1).reshape(5, 5))


def _relative(settings: tuple[tuple[str, str], ...], d_ms: int, delta_ms: int, seeds: int) -> NDArray[np.float64]:
    """Return the goodput of section 6 relative to d = 1 ms, by seed, in %."""
    long, short = (_good(settings, World(6, d, delta_ms, False, *ALIKE[6]), seeds) for d in (d_ms, 1))
    result: NDArray[np.float64] = 100 * (long / short - 1)
    return result


@functools.cache
def _good(settings: tuple[tuple[str, str], ...], world: World, seeds: int) -> NDArray[np.int64]:
    return np.array([world.optcp(seed + 1, settings) for seed in range(seeds)])


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        run()
    else:
        lines = {"table": table, "choices": choices, "against": against}[sys.argv[1]]()
        sys.stdout.writelines(f"{line}\n" for line in lines)
