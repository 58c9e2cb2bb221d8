"""Queue disciplines, against records of ns-2, ns-3 and Linux in the same worlds, and against closed forms."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.axes import Axis
from optcp.evidence import outside
from optcp.evidence import queue_worlds as worlds
from optcp.evidence.base import Experiment, Figures, Found, Runs, Studies
from optcp.study import Study

if TYPE_CHECKING:
    from optcp.run import OneRun
    from optcp.scenario import Scenario

NS2, NS3, LINUX = "ns-2.35, queues", "ns-3.37, queues", "Linux 6.1, queues"
TEXT, FORMULA, SHARES = "RFC 8289, worked", "Alizadeh et al. 2010, worked", "max-min fairness, worked"
PACKET_MS = 1.2
"""1500 bytes at 10 Mb/s."""
FIRST = 200
"""Of so many lost packets the numbers are compared."""
DETERMINISTIC, RANDOM = 2, 10
"""Runs of a world: two alike, or enough for an interval."""
TCP_SEEDS, NS2_SEEDS = 5, 20
LOST, SAME, MARKED = "lost", "same of first lost", "marked"
MEDIAN, LATE, LATENESS = "median wait (ms)", "95 % wait (ms)", "drop behind law (ms)"
GOODPUT, QUEUE, LEAST, MOST = "goodput (Mb/s)", "mean queue", "5 % queue", "95 % queue"
SIGNALS, JAIN, SHARE = "drops and marks", "Jain index", "share"
DROPPED, MARKS, USE = "drops a packet", "marks a packet", "utilisation"
PEAK, SWING, PERIOD = "peak queue", "swing", "period (RTT)"
DIGITS = {
    LOST: 0, SAME: 0, MARKED: 0, MEDIAN: 1, LATE: 1, LATENESS: 1, GOODPUT: 2, QUEUE: 1, LEAST: 1, MOST: 1, SIGNALS: 0,
    JAIN: 3, SHARE: 3, DROPPED: 4, MARKS: 4, USE: 4, PEAK: 1, SWING: 1, PERIOD: 1,
}  # fmt: skip
"""Decimals of each figure, by its name."""

Name = tuple[str, str]
"""A case and a quantity."""
Measured = Mapping[Name, float]


@dataclass(frozen=True)
class Tolerance:
    """By how much a figure may miss, as a share and in units of the quantity."""

    share: float = 0.0
    units: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Family:
    """Rows of one kind, which have one tolerance; ``why`` is its reason."""

    name: str
    tolerance: Tolerance
    why: str


_PACKET = {MEDIAN: PACKET_MS, LATE: PACKET_MS}
EXACT = Family("exact", Tolerance(), "nothing is random and the law is the same: no drop may be another one")
CONTROLLED = Family(
    "control law",
    Tolerance(0.05, _PACKET),
    "5 %, a wait also 1.2 ms, the time of one packet: nothing is random, but the programs round the law in their own ways",
)
DRAWN = Family(
    "drawn",
    Tolerance(0.05, _PACKET),
    "5 %, a wait also 1.2 ms: drops are drawn, and thousands of them were averaged",
)
INTERVALS = Family("intervals", Tolerance(), "the 95 % intervals of 20 runs on both sides, and nothing else")
LOOP = Family(
    "TCP",
    Tolerance(0.10, {SIGNALS: 1.0, QUEUE: 0.5}),
    "10 %, drops and marks of 15 s also one event, a queue also half a packet: a closed loop of two programs' TCP",
)
WAVES = Family(
    "DCTCP", Tolerance(0.10, {QUEUE: 1.0, LEAST: 1.0, MOST: 1.0}), "10 %, lengths also one packet: a closed loop, and whole packets"
)
CLOSED = Family(
    "closed form",
    Tolerance(0.25, {PEAK: 2.0}),
    "a quarter, and two packets for the peak, as in `crates/tcp/tests/step_marking.rs`: the formula knows no whole segments",
)
FAIR = Family("fair share", Tolerance(0.01), "1 %: round robin by bytes is off by one packet a flow")
FAMILIES = (EXACT, CONTROLLED, DRAWN, INTERVALS, LOOP, WAVES, CLOSED, FAIR)


@dataclass(frozen=True)
class World:
    """A recorded world, or one that a closed form is for."""

    family: Family
    source: str
    name: str
    scenario: Callable[[], Scenario]
    seeds: int
    measure: Callable[[OneRun], Measured]
    theirs: Mapping[Name, tuple[float, float]]
    """The range of each figure."""

    def figures(self, run: OneRun) -> list[float]:
        """Ours, in the order of theirs."""
        ours = self.measure(run)
        return [ours.get(name, np.nan) for name in self.theirs]


@functools.cache
def every() -> Mapping[str, World]:
    """Every world by a name of its own."""
    listed = [*_laws(), *_constant_ns3(), *_constant_linux(), *_fair(), *_red(), *_dctcp(), *_tcp()]
    return {f"{one.source}: {one.name}": one for one in listed}


def _alike(values: Mapping[Name, float]) -> dict[Name, tuple[float, float]]:
    return {name: (value, value) for name, value in values.items()}


def _range(rows: Iterable[Measured]) -> dict[Name, tuple[float, float]]:
    """From the least to the greatest of some runs; what is zero in all of them is left out."""
    listed = list(rows)
    found = {name: [row[name] for row in listed] for name in listed[0]}
    return {name: (min(values), max(values)) for name, values in found.items() if any(values)}


def lost(run: OneRun) -> tuple[list[int], list[float]]:
    """Numbers of lost packets, counted as they came, and instants of drops by the law in ms."""
    packets = run["packets"]
    sent, dropped = packets["event"] == "sent", packets["event"] == "dropped"
    number = {one: place for place, one in enumerate(zip(packets["flow"][sent], packets["seq"][sent], strict=True))}
    numbers = sorted(number[one] for one in zip(packets["flow"][dropped], packets["seq"][dropped], strict=True))
    by_law = dropped & (packets["reason"] == "aqm")
    return numbers, (packets["time_ps"][by_law] / 1e9).tolist()


def same(numbers: list[int], differences: list[int], first: int) -> int:
    """How many of the first lost packets are those of a record, which has differences."""
    theirs = list(itertools.accumulate(differences, initial=-1))[1:]
    return sum(ours + first == other for ours, other in zip(numbers[:FIRST], theirs[:FIRST], strict=False))


def waits(run: OneRun, source: int) -> list[float]:
    """How long packets of a source waited in the queue, in ms; the burst belongs to the first one."""
    packets = run["packets"]
    groups = {f"source{source}/S", *(f"burst{number}/S" for number in range(3) if not source)}
    mine = np.isin(packets["flow"], list(groups))
    came, left = mine & (packets["event"] == "queued"), mine & (packets["event"] == "transmitted")
    since = dict(
        zip(zip(packets["flow"][came], packets["seq"][came], strict=True), packets["time_ps"][came], strict=True)
    )
    size_ps = int(packets["bytes"][left][0]) * 800_000
    names = zip(packets["flow"][left], packets["seq"][left], packets["time_ps"][left], strict=True)
    return [(int(at) - size_ps - int(since[flow, seq])) / 1e9 for flow, seq, at in names]


def _quantile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def unresponsive(run: OneRun, sources: int) -> dict[Name, float]:
    """Packets lost and marked, and how long they waited, by source where there are several."""
    numbers, _ = lost(run)
    marked = run["ports"]["marked"] if "marked" in run["ports"].columns else [0]
    found: dict[Name, float] = {("", LOST): len(numbers), ("", MARKED): int(np.sum(marked))}
    for source in range(sources):
        case = f"source {source + 1}" if sources > 1 else ""
        values = waits(run, source)
        found[case, MEDIAN], found[case, LATE] = _quantile(values, 0.5), _quantile(values, 0.95)
    return found


def _record(lost_in_all: float, marked: float, sojourn_ms: list[list[float]]) -> dict[Name, float]:
    """The same of a record."""
    found: dict[Name, float] = {("", LOST): lost_in_all, ("", MARKED): marked}
    for source, (_, _, median, _, late, _) in enumerate(sojourn_ms):
        case = f"source {source + 1}" if len(sojourn_ms) > 1 else ""
        found[case, MEDIAN], found[case, LATE] = median, late
    return found


def _laws() -> Iterable[World]:
    """CoDel's pseudocode, and the distances of its drops."""
    record = worlds.recorded("ns3")
    for name, text in record["codel_text"].items():
        world = record["cbr"][name]
        queue = worlds.NS3[name.split(" ")[0]]
        interval_ms = 50 if "10-50" in name else 100

        def measure(run: OneRun, text: Any = text, interval_ms: int = interval_ms) -> Measured:  # noqa: ANN401 - JSON
            numbers, at_ms = lost(run)
            law = itertools.accumulate((interval_ms / np.sqrt(count) for count in range(1, 100)), initial=at_ms[0])
            behind = [at - due for at, due in zip(at_ms, law, strict=False)]
            # The instant that is furthest outside of one packet's sending time.
            furthest = max(behind, key=lambda value: abs(value - PACKET_MS / 2))
            return {
                ("", LOST): len(numbers),
                ("", SAME): same(numbers, text["lost"], 0),
                ("", LATENESS): furthest,
            }

        theirs = _alike({("", LOST): text["lost_in_all"], ("", SAME): FIRST})
        theirs["", LATENESS] = (0, PACKET_MS)
        scenario = functools.partial(worlds.constant, queue, world["sources"], world["seconds"])
        yield World(EXACT, TEXT, name, scenario, DETERMINISTIC, measure, theirs)


def _kind(queue: Mapping[str, Any]) -> tuple[Family, int]:
    """How a world with this discipline is compared, and how often it is run."""
    if queue["kind"] in {"drop-tail", "head-drop"}:
        return EXACT, DETERMINISTIC
    # A hash leads flows to queues.
    return (DRAWN, RANDOM) if queue["kind"] in {"red", "pie", "dualpi2"} else (CONTROLLED, RANDOM)


def _constant_ns3() -> Iterable[World]:
    """Sources that do not respond, in ns-3."""
    for name, world in worlds.recorded("ns3")["cbr"].items():
        if queue := worlds.discipline(name, worlds.NS3):
            family, seeds = _kind(queue)
            measure = functools.partial(unresponsive, sources=len(world["sources"]))
            # No more numbers are kept than these: then it is not known how many there were.
            marked = len(world["marked"]) if len(world["marked"]) not in {FIRST, 1000} else 0
            theirs = _range([_record(world["lost_in_all"], marked, world["sojourn_ms"])])
            scenario = functools.partial(worlds.constant, queue, world["sources"], world["seconds"])
            yield World(family, NS3, name, scenario, seeds, measure, theirs)


def _constant_linux() -> Iterable[World]:
    """Sources that do not respond, in Linux."""
    for name, world in worlds.recorded("linux")["udp"].items():
        if not (queue := worlds.discipline(world["discipline"], worlds.LINUX)):
            continue
        family, seeds = _kind(queue)
        first = world["runs"][0]
        runs = [first if run.get("same_as_first") else run for run in world["runs"]]

        def measure(run: OneRun, world: Any = world, family: Family = family) -> Measured:  # noqa: ANN401 - JSON
            found = unresponsive(run, len(world["sources"]))
            if family is EXACT:
                found["", SAME] = same(lost(run)[0], world["runs"][0]["lost"], 1)
            return found

        theirs = _range(_record(run["lost_in_all"], run["marked_in_all"], run["sojourn_ms"]) for run in runs)
        if family is EXACT:
            theirs = {("", LOST): theirs["", LOST], ("", SAME): (FIRST, FIRST)}
        seconds = max(source["until_s"] for source in world["sources"])
        scenario = functools.partial(worlds.constant, queue, world["sources"], seconds)
        yield World(family, LINUX, name, scenario, seeds, measure, theirs)


def _fair() -> Iterable[World]:
    """Two sources that want more than their share get what two others leave, each half of it."""
    for name, world in worlds.recorded("linux")["udp"].items():
        if world["discipline"].startswith("fq-codel"):
            wanted = [one["bytes"] * 8e9 / one["every_ns"] / 1e7 for one in world["sources"]]
            theirs = {(f"source {n + 1}", SHARE): (one, one) for n, one in enumerate(max_min(wanted))}
            measure = functools.partial(shares, sources=len(wanted))
            scenario = functools.partial(worlds.constant, worlds.LINUX[world["discipline"]], world["sources"], 6)
            yield World(FAIR, SHARES, name, scenario, RANDOM, measure, theirs)


def max_min(wanted: list[float]) -> list[float]:
    """What each of some gets of one, by max-min fairness."""
    left, found = 1.0, [0.0] * len(wanted)
    for place, number in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        found[number] = min(wanted[number], left / (len(wanted) - place))
        left -= found[number]
    return found


def shares(run: OneRun, sources: int) -> Measured:
    """The part of the link that each source has from 1 s to 6 s."""
    packets = run["packets"]
    chosen = (packets["event"] == "transmitted") & (packets["time_ps"] > 1e12) & (packets["time_ps"] <= 6e12)
    flows, sizes = packets["flow"][chosen], packets["bytes"][chosen]
    return {(f"source {n + 1}", SHARE): sizes[flows == f"source{n}/S"].sum() * 8 / 5e7 for n in range(sources)}


def greedy(run: OneRun, rate_mbps: float) -> dict[Name, float]:
    """What flows and the link did after the warm-up."""
    ports, goodput = run["ports"], run["goodput"]
    row = {name: ports[name][ports["port"] == "L->R"][0] for name in ports.columns if name not in {"time_ps", "port"}}
    late = goodput["time_ps"] > goodput["time_ps"][0]
    groups = sorted(set(goodput["group"].tolist()))
    sums = np.array([goodput["bytes"][late & (goodput["group"] == group)].sum() for group in groups], float)
    span_s = float(ports["time_ps"][0] - goodput["time_ps"][0]) / 1e12
    marked = row.get("marked", 0)
    size = row["bytes"] / row["packets"]
    arrived = row["packets"] + row["dropped"]
    return {
        ("", GOODPUT): sums.sum() * 8e-6 / span_s,
        ("", QUEUE): row["mean_bytes"] / size,
        ("", SIGNALS): row["dropped"] + marked,
        ("", JAIN): sums.sum() ** 2 / len(sums) / np.square(sums).sum(),
        ("", DROPPED): row["dropped"] / arrived,
        ("", MARKS): marked / arrived,
        ("", USE): row["bytes"] * 8e-6 / span_s / rate_mbps,
    }


def _red() -> Iterable[World]:
    """TCP over RED in ns-2; its queue lacks the packet in transmission."""
    names = {
        QUEUE: "mean_queue_packets", DROPPED: "early_drops_per_arrival", MARKS: "marks_per_arrival",
        USE: "utilisation", GOODPUT: "goodput_mbps", JAIN: "jain_index",
    }  # fmt: skip
    for name, world in worlds.recorded("ns2")["flows"].items():

        def measure(run: OneRun) -> Measured:
            found = greedy(run, 10)
            return found | {("", QUEUE): found["", QUEUE] - found["", USE]}

        both = {("", one): world[key] for one, key in names.items()}
        theirs = {one: (mean - half, mean + half) for one, (mean, half) in both.items() if mean}
        yield World(INTERVALS, NS2, name, functools.partial(worlds.ns2_flows, world), NS2_SEEDS, measure, theirs)


def period(series: Any) -> int:  # noqa: ANN401 - numpy's array
    """Samples from one wave to the next: the highest peak of the autocorrelation after it was below 0."""
    wave = series - series.mean()
    alike = np.array([wave[: len(wave) - lag] @ wave[lag:] for lag in range(20, len(wave) // 4)])
    below = np.flatnonzero(alike < 0)
    return 20 + int(below[0] + np.argmax(alike[below[0] :])) if len(below) else 0


def waves(run: OneRun, rtt_us: float, sample_us: float, lacks: int, *, warm_s: float) -> dict[Name, float]:
    """Length of the queue, but for packets that the record lacks, and how it goes up and down."""
    queue = run["queue"]
    late = (queue["port"] == "L->R") & (queue["time_ps"] > warm_s * 1e12)
    series = np.maximum(queue["mean_packets"][late] - lacks, 0)
    found = {("", LEAST): np.quantile(series, 0.05), ("", MOST): np.quantile(series, 0.95), ("", QUEUE): series.mean()}
    if lag := period(series[:4000]):
        cut = series[: len(series) // lag * lag].reshape(-1, lag)
        found["", PEAK] = cut.max(axis=1).mean()
        found["", SWING] = np.ptp(cut, axis=1).mean()
        found["", PERIOD] = lag * sample_us / rtt_us
    return found


def _dctcp() -> Iterable[World]:
    """DCTCP over a threshold: the paper's formula, ns-3 and Linux."""
    for name, world in worlds.recorded("ns3")["dctcp"].items():
        scenario = functools.partial(worlds.ns3_dctcp, world)
        kept = {"rtt_us": world["rtt_us"], "sample_us": world["sample_us"], "warm_s": world["warm_s"]}
        least, late, mean = (world["queue_packets"][place] for place in (1, 5, 7))
        theirs = {("", LEAST): least, ("", MOST): late, ("", QUEUE): mean}
        few = world["flows"] <= 2  # noqa: PLR2004 - more flows are out of step, and have no wave
        if few:
            theirs |= {("", SWING): world["swing_packets"], ("", PERIOD): world["period_us"] / world["rtt_us"]}

        def measure(run: OneRun, world: Any = world, kept: Any = kept) -> Measured:  # noqa: ANN401 - JSON
            rate = world["bps"] / 1e6
            return greedy(run, rate) | waves(run, lacks=2, **kept)

        theirs["", MARKS] = world["marks_per_packet"]
        yield World(WAVES, NS3, name, scenario, TCP_SEEDS, measure, _alike(theirs))
        given = world["formula"]
        form = {PEAK: given["greatest_packets"], SWING: given["swing_packets"], PERIOD: given["period_round_trips"]}
        # The threshold of the paper is one of the whole queue.
        paper = functools.partial(waves, lacks=1, **kept)
        yield World(CLOSED, FORMULA, name, scenario, TCP_SEEDS, paper, _alike({("", k): v for k, v in form.items()}))
    for name, world in worlds.recorded("linux")["tcp"].items():
        if world["discipline"].startswith("step"):
            runs = [world["runs"][0] if run.get("same_as_first") else run for run in world["runs"]]
            rows = [
                {
                    ("", GOODPUT): sum(run["goodput_mbps"]),
                    ("", QUEUE): run["queue_packets"][6],
                    ("", LEAST): run["queue_packets"][0],
                    ("", MOST): run["queue_packets"][4],
                    ("", SIGNALS): run["marks_per_s"] * (world["stop_s"] - 5),
                }
                for run in runs
            ]

            def linux(run: OneRun) -> Measured:
                return greedy(run, 100) | waves(run, rtt_us=10_000, sample_us=2000, lacks=0, warm_s=5)

            scenario = functools.partial(worlds.linux_flows, world, worlds.LINUX[world["discipline"]])
            yield World(WAVES, LINUX, name, scenario, TCP_SEEDS, linux, _range(rows))


def _tcp() -> Iterable[World]:
    """Reno and CUBIC of Linux over its disciplines."""
    for name, world in worlds.recorded("linux")["tcp"].items():
        if "dctcp" in world["controls"]:
            continue
        span_s = world["stop_s"] - 5
        runs = [world["runs"][0] if run.get("same_as_first") else run for run in world["runs"]]
        rows = []
        for run in runs:
            each = np.array(run["goodput_mbps"])
            row = {
                ("", GOODPUT): float(each.sum()),
                ("", QUEUE): run["queue_packets"][6],
                ("", SIGNALS): (run["drops_per_s"] + run.get("marks_per_s", 0)) * span_s,
            }
            if len(each) > 1:
                row["", JAIN] = float(each.sum() ** 2 / len(each) / np.square(each).sum())
            rows.append(row)
        measure = functools.partial(greedy, rate_mbps=world["rate_mbps"])
        scenario = functools.partial(worlds.linux_flows, world, worlds.LINUX[world["discipline"]])
        yield World(LOOP, LINUX, name, scenario, TCP_SEEDS, measure, _range(rows))


def beside(world: World, key: Mapping[str, str], low: float, high: float) -> outside.Figure:
    """The recorded range as it is shown, and as the family's tolerance widens it."""
    digits = DIGITS[key["quantity"]]
    texts = [f"{value:.{digits}f}" for value in (low, high)]
    ends = [outside.printed_range(text) for text in texts]
    least, most = min(low, ends[0][0]), max(high, ends[1][1])
    units = (world.family.tolerance.units or {}).get(key["quantity"], 0.0)
    share = world.family.tolerance.share
    least -= max(share * abs(low), units)
    most += max(share * abs(high), units)
    text = texts[0] if texts[0] == texts[1] else " to ".join(texts)
    return outside.Figure(world.source, "queues", key, text, least, most)


def studies(seeds: int | None) -> Studies:
    """One for each world; the title tells them apart in stored results."""
    return {
        name: Study(world.scenario(), {"world": {name: {"title": name}}}, seeds=seeds or world.seeds, title=name)
        for name, world in every().items()
    }


def find(done: Found) -> Figures:
    """Each figure of each world."""
    for name, runs in done.items():
        world = every()[name]
        names = list(world.theirs)
        for at, ours in runs.each(world.figures, Axis("figure", tuple(map(str, range(len(names)))))).mean():
            case, quantity = names[int(at["figure"])]
            if ours.n:
                place = {"world": ", ".join(filter(None, (world.name, case)))}
                key = {"rows": world.family.name, "beside": world.source, **place, "quantity": quantity}
                yield key, ours, beside(world, key, *world.theirs[case, quantity])


QUEUES = Experiment(
    name="queues",
    title="Queue disciplines",
    value="ours",
    digits=2,
    source=Runs("queue_ns2.json, queue_ns3.json, queue_linux.json", studies, find),
    about=("x",),
)
