"""Recovery of a flow from an outage by ACK clock, probe or RTO, compared with closed forms."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from optcp import stats
from optcp.outage.study import SENDERS
from optcp.papers.assume import Assumed, positive_int
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Axes, Cells, Grid, Key, Options, Part, Row, Series, Settings, Size, StudyResult, judge, row
from optcp.stats import exact
from optcp_papers.outage import law, path
from optcp_papers.outage.paper import PAPER, not_run, scenario

RTT_MS = 40
PLACE = "middle"
OUTAGES_MS = (5, 10, 15, 20, 30, 50, 80, 120, 200, 300, 600, 1500, 3000, 5000)
RTTS_MS = (10, 20, 40, 80)
FINE_MS = tuple(range(10, 401, 5))
COAST_RTTS_MS = (20, 40, 80)
COAST_STEP = 0.05
COAST_RTTS = tuple(round(0.3 + COAST_STEP * step, 2) for step in range(48))
"""Outages in RTTs."""
COAST_SEEDS, QUICK_COAST_SEEDS = 20, 2
CLOCKS = (0.5, 0.9, 1.1, 1.5)
"""Outages as multiples of the round trip from the far end to the failure."""
SPREAD_S = (0.8, 60.0)
STRATA = 400
PHASES = 64
"""Number of clock phases over which the closed form of the mean stretch is averaged."""
TOLERANCE = 0.02
"""Maximum relative error of a time against its closed form."""
SAID_MS = 50
NEAR_MS = 10
SPARE_RTTS = (0.8, 1.5)
"""Claimed range, in RTTs, by which BBR tolerates longer outages than CUBIC."""
STRETCHES = (1.44, 1.46)
MOST_STRETCH = 2.2

ASSUMED = (Assumed("rate_mbps", 20, positive_int),)
NOTES = [
    "One flow limited by a host of `rate_mbps`, with a receive window of what the path holds (BBR: none), and a "
    "failure of the link in the middle, in both directions. Times count from the failure. `resume_ms` is the time of "
    "the segment that ends the stall, a probe or a retransmission by RTO; there is none if ACKs continued. "
    "`repair_ms` is the time of the first retransmission that an ACK requested.",
    "`predicted_*` are the closed forms of docs/details/outage.md for the sender's own smoothed RTT and the time of "
    "its last transmission. `off_pct` is the relative error of the time of the resumption or, with an ACK clock, of "
    "the repair.",
    f"`outage_ms` is the longest time without new in-order bytes minus the usual one. Its jumps over outages of "
    f"{FINE_MS[0]} to {FINE_MS[-1]} ms are the thresholds.",
]


def strata() -> list[float]:
    """Return outages from strata of equal width on a logarithmic scale, one random value in each."""
    low, high = np.log(SPREAD_S)
    drawn = np.random.Generator(np.random.PCG64(1)).random(STRATA)
    return [round(float(item), 4) for item in np.exp(low + (high - low) * (np.arange(STRATA) + drawn) / STRATA)]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids of the cases, fine lengths by RTT, the reach of the ACK clock, and outages of seconds."""
    rate_bps = 1e6 * float(chosen["rate_mbps"])

    def make_grid(name: str, rtt_ms: float, axes: Axes, place: str = PLACE) -> Grid:
        settings = path.settings(path.way(rtt_ms, place, rate_bps))
        return options.grid(scenario("path"), settings, axes, f"outage staircase, {name}")

    def places() -> dict[str, Settings]:
        keys = ("parameters.near", "parameters.far")
        return {name: _only(path.settings(path.way(RTT_MS, name, rate_bps)), keys) for name in path.PLACES}

    def outages(lengths_s: Mapping[str, float], more_s: float = 1.0) -> dict[str, dict[str, str]]:
        return {name: path.lasting(length_s, more_s) for name, length_s in lengths_s.items()}

    senders = {name: path.sender(name) for name in SENDERS}
    both = {name: senders[name] for name in ("cubic", "bbr")}
    found = {
        "cases": make_grid(
            "cases", RTT_MS, {"sender": senders, "place": places(), "outage_ms": outages(in_ms(OUTAGES_MS))}
        ),
        "stretch": make_grid(
            "stretch", RTT_MS, {"sender": senders, "outage_s": outages({f"{s:g}": s for s in strata()}, 0.2)}
        ),
    }
    for rtt_ms in RTTS_MS:
        cubic = {"sender": {"cubic": senders["cubic"]}, "outage_ms": outages(in_ms(FINE_MS))}
        found[f"fine, {rtt_ms} ms"] = make_grid(f"lengths at {rtt_ms} ms", rtt_ms, cubic)
    for rtt_ms in COAST_RTTS_MS:
        start = {"parameters.start": f"uniform(0 s, {rtt_ms} ms)"}
        lengths = outages({f"{rtts:g}": rtts * rtt_ms / 1000 for rtts in COAST_RTTS})
        axes = {"sender": {name: {**of, **start} for name, of in both.items()}, "outage_rtts": lengths}
        found[f"coast, {rtt_ms} ms"] = make_grid(f"clock at {rtt_ms} ms", rtt_ms, axes)
    for place in path.PLACES:
        farther_s = reach_s(path.way(RTT_MS, place, rate_bps))
        at_once = {name: {**senders[name], "tcp.sender.ack": "every-packet"} for name in ("newreno", "cubic")}
        axes = {"sender": at_once, "outage_clocks": outages({f"{times:g}": times * farther_s for times in CLOCKS})}
        found[f"clock, {place}"] = make_grid(f"clock, {place}", RTT_MS, axes, place)
    return found


def in_ms(lengths_ms: tuple[int, ...]) -> dict[str, float]:
    """Return lengths in seconds, by their names in ms."""
    return {str(length): length / 1000 for length in lengths_ms}


def reach_s(way: law.Way) -> float:
    """Return the longest outage over which ACKs continue: the round trip from the far end to the failing link."""
    return 2 * max(way.near_s + way.spacing_s / 2, way.far_s)


def _only(settings: Settings, keys: tuple[str, ...]) -> Settings:
    return {key: settings[key] for key in keys}


def seeds(grid: str, size: Size) -> int:
    """Return one seed, but more for BBR, whose phase is random; quick runs skip the largest grids."""
    if grid.startswith("coast"):
        return size.of(COAST_SEEDS, QUICK_COAST_SEEDS) if not size.is_quick or "40" in grid else 0
    return 0 if size.is_quick and (grid == "stretch" or (grid.startswith("fine") and "40" not in grid)) else 1


class Runs:
    """Behaviour of the senders of a grid, by combination.

    Parameters
    ----------
    done
        Finished runs, over ``sender``, ``place`` if it varies, and the length of the outage.
    way
        Path of the flow.
    unit_s
        Unit of the length axis, in seconds.
    """

    def __init__(self, done: StudyResult, way: law.Way, unit_s: float) -> None:
        self.done, self.way, self.unit_s = done, way, unit_s

    def __iter__(self) -> Iterator[Back]:
        grid = self.done.grid
        for seed in self.done.seeds:
            for branch in grid.branches:
                at = dict(zip((axis.name for axis in grid.axes), grid.written(branch), strict=True))
                way = self.way
                if "place" in at:
                    way = path.way(1000 * (way.rtt_s - way.spacing_s), at["place"], way.rate_bps)
                outage_s = float(list(at.values())[-1]) * self.unit_s
                run = self.done.run(branch, seed)
                seen = path.seen(run, way, outage_s)
                timers = path.timers(at["sender"], seen).expiring_at(seen.resume_s)
                yield Back(
                    at,
                    way,
                    outage_s,
                    timers,
                    law.wait(way, timers, seen.last_sent_s, law.Outage.of_link(way, outage_s)),
                    seen,
                    path.gap_s(run),
                )


@dataclass(frozen=True)
class Back:
    """Recovery of one flow.

    Attributes
    ----------
    at
        Value of the combination on each axis.
    way, outage_s, timers
        Path, length of the outage, and the sender's timers.
    law, seen
        Closed form, and observed behaviour.
    gap_s
        Longest time without new in-order bytes, minus the usual one.
    """

    at: dict[str, str]
    way: law.Way
    outage_s: float
    timers: law.Timers
    law: law.Wait
    seen: path.Seen
    gap_s: float

    @property
    def case(self) -> str:
        """Event that starts the recovery, by the closed form."""
        return self.law.case if self.law.case in ("probe", "timeout") else "clock"

    @property
    def off(self) -> float:
        """Relative error of the closed form: of the repair with an ACK clock, else of the resumption."""
        if self.case == "clock":
            return self.seen.repair_s / self.law.repair_s - 1
        return self.seen.resume_s / self.law.resume_s - 1

    @property
    def stretch(self) -> float:
        """Resumption time over outage."""
        return self.seen.resume_s / self.outage_s


def find(found: Found) -> Findings:
    """Return each case with its closed form, the thresholds, the reach of ACK clocks, and the stretch of outages."""
    rate_bps = 1e6 * found.number("rate_mbps")
    done = {name: item for name, item in found.done.items() if item.seeds}
    middle = path.way(RTT_MS, PLACE, rate_bps)
    cases = list(Runs(done["cases"], middle, 1e-3))
    shown = [case_row for back in cases for case_row in case_rows(back)]
    long = list(Runs(done["stretch"], middle, 1.0)) if "stretch" in done else []
    claims: dict[str, list[Part] | dict[str, list[Part]]] = {"outage-staircase": climbs([*cases, *long])}
    series: list[Series] = []

    clocks = [
        back
        for place in path.PLACES
        for way in [path.way(RTT_MS, place, rate_bps)]
        for back in Runs(done[f"clock, {place}"], way, reach_s(way))
    ]
    claims["outage-near-and-far-clock"] = [clocked(back) for back in clocks]

    jumps: dict[int, list[float]] = {}
    for rtt_ms in RTTS_MS:
        if name := next((item for item in done if item == f"fine, {rtt_ms} ms"), None):
            way = path.way(rtt_ms, PLACE, rate_bps)
            backs = list(Runs(done[name], way, 1e-3))
            jumps[rtt_ms] = thresholds_ms(backs)
            more, curve = threshold_rows(rtt_ms, backs, jumps[rtt_ms])
            shown += more
            series.append(curve)
    claims["outage-50-is-no-threshold"] = no_threshold(jumps, rate_bps)

    reaches = {
        rtt: done[name].once(Reach(rtt, rate_bps)) for rtt in COAST_RTTS_MS if (name := f"coast, {rtt} ms") in done
    }
    for rtt_ms, reach in reaches.items():
        shown += rows({"reach_rtts": reach.mean()}, key={"rtt_ms": rtt_ms})
        shown += rows(
            {"spare_rtts": (reach.at(sender="bbr") - reach.at(sender="cubic")).mean()}, key={"rtt_ms": rtt_ms}
        )
    claims["outage-bbr-coasts"] = coasts(reaches)

    if long:
        shown += stretch_rows(long)
        claims["outage-waits-as-long-again"] = {name: as_long_again(name, long) for name in SENDERS}
    else:
        claims["outage-waits-as-long-again"] = [not_run("long outages")]
    return Findings(shown, claims, series, NOTES)


def case_rows(back: Back) -> list[Row]:
    """Return the rows of a case, without metrics that it does not have."""
    key: Key = {"sender": back.at["sender"], "place": back.at["place"], "outage_ms": int(back.at["outage_ms"])}
    metrics: dict[str, float] = {"timeouts": back.seen.timeouts, "predicted_timeouts": back.law.timeouts}
    if back.case != "clock":
        metrics |= {"resume_ms": 1000 * back.seen.resume_s, "predicted_resume_ms": 1000 * back.law.resume_s}
    metrics |= {"repair_ms": 1000 * back.seen.repair_s, "predicted_repair_ms": 1000 * back.law.repair_s}
    metrics |= {"off_pct": 100 * back.off, "outage_ms": 1000 * back.gap_s}
    return [row(key, metric, None, exact(value), "") for metric, value in metrics.items()]


def climbs(backs: list[Back]) -> list[Part]:
    """Judge: number and times of RTOs match the prediction, and are equal for all congestion controls."""
    parts = []
    for name in SENDERS:
        own = [back for back in backs if back.at["sender"] == name and back.case == "timeout"]
        alike = sum(back.case == back.seen.case and back.law.timeouts == back.seen.timeouts for back in own)
        parts.append(judge.exact_part(f"{name}: RTOs as predicted in {alike} of {len(own)}", alike == len(own)))
        worst = max(abs(back.off) for back in own)
        parts.append(judge.exact_part(f"{name}: times within {100 * worst:.2f} %", worst <= TOLERANCE))
    cubic = {tuple(list(back.at.items())[1:]): back for back in backs if back.at["sender"] == "cubic"}
    apart = [
        abs(back.seen.resume_s - other.seen.resume_s - (back.seen.last_sent_s - other.seen.last_sent_s))
        / other.seen.resume_s
        for back in backs
        if back.at["sender"] == "bbr" and back.case == "timeout"
        for other in [cubic[tuple(list(back.at.items())[1:])]]
        if other.case == "timeout" and other.law.timeouts == back.law.timeouts
    ]
    parts.append(judge.exact_part(f"bbr and cubic differ by at most {100 * max(apart):.2f} %", max(apart) <= TOLERANCE))
    return parts


def clocked(back: Back) -> Part:
    """Judge: ACKs continue if the outage is shorter than the reach."""
    below = float(back.at["outage_clocks"]) < 1
    where = "near" if back.way.near_s < back.way.far_s else "far" if back.way.near_s > back.way.far_s else "middle"
    text = f"{back.at['sender']}, {where}, {back.at['outage_clocks']} of the reach: {back.seen.case}"
    return judge.exact_part(text, (back.seen.case == "clock") == below)


def thresholds_ms(backs: list[Back]) -> list[float]:
    """Return the outage lengths at which the stall jumps by half an RTT."""
    pairs = itertools.pairwise(backs)
    return [
        1000 * (item.outage_s + two.outage_s) / 2 for item, two in pairs if two.gap_s - item.gap_s > two.way.rtt_s / 2
    ]


def threshold_rows(rtt_ms: int, backs: list[Back], jumps_ms: list[float]) -> tuple[list[Row], Series]:
    """Return the thresholds of an RTT as rows, and the curve that contains them."""
    way, timers = backs[0].way, backs[0].timers
    known = {f"predicted_{name}_ms": 1000 * at_s for name, at_s in steps_s(way, timers.srtt_s).items()}
    shown = [row({"rtt_ms": rtt_ms}, metric, None, exact(value), "") for metric, value in known.items()]
    shown += [
        row({"rtt_ms": rtt_ms, "threshold": place}, "threshold_ms", None, exact(at), "")
        for place, at in enumerate(jumps_ms, 1)
    ]
    x, y = [back.outage_s for back in backs], [round(back.gap_s, 6) for back in backs]
    return shown, Series("flow stall", {"rtt_ms": rtt_ms}, "path outage", "s", "flow stall", "s", x, y)


def steps_s(way: law.Way, srtt_s: float) -> dict[str, float]:
    """Return the thresholds of the closed forms: the ends of the ACK clock, of the probe, and of the first RTO."""
    probe_s = way.near_s + way.to_failure_s + 2 * srtt_s
    return {"clock": reach_s(way), "probe": probe_s, "timeout": probe_s + srtt_s + 0.2}


def no_threshold(jumps: Mapping[int, list[float]], rate_bps: float) -> list[Part]:
    """Judge: every threshold is one of the closed forms, and at most one RTT has a threshold at 50 ms."""
    parts, at_said = [], 0
    for rtt_ms, found in jumps.items():
        way = path.way(rtt_ms, PLACE, rate_bps)
        known = [1000 * steps_ for steps_ in steps_s(way, way.rtt_s).values()]
        strange = [at for at in found if min(abs(at - item) for item in known) > NEAR_MS]
        at_said += any(abs(at - SAID_MS) <= NEAR_MS for at in found)
        where = ", ".join(f"{at:g}" for at in found)
        text = f"RTT of {rtt_ms} ms: thresholds at {where} ms, predicted {', '.join(f'{item:.0f}' for item in known)}"
        parts.append(judge.exact_part(text, not strange))
    parts.append(judge.exact_part(f"thresholds within {NEAR_MS} ms of {SAID_MS} at {at_said} RTTs", at_said <= 1))
    return [*parts, *([not_run("other round trips")] if len(jumps) < len(RTTS_MS) else [])]


@dataclass(frozen=True)
class Reach:
    """Longest outage in RTTs after which the first ACK arrives within one RTT of the repair, by sender."""

    rtt_ms: int
    rate_bps: float

    def __call__(self, done: StudyResult) -> Cells:
        """Return the reach in a study's runs."""
        way = path.way(self.rtt_ms, PLACE, self.rate_bps)
        sender, lengths = done.axes
        found = np.zeros((len(done.seeds), len(sender), len(lengths)), dtype=bool)
        for at, back in enumerate(Runs(done, way, self.rtt_ms / 1000)):
            silent = back.seen.first_ack_s - back.outage_s > way.rtt_s + 2 * way.spacing_s
            found[np.unravel_index(at, found.shape)] = not silent
        # Count only up to the first length that is too long.
        carried = np.cumprod(found, axis=-1).sum(axis=-1)
        reached = np.concatenate([[COAST_RTTS[0] - COAST_STEP], COAST_RTTS])[carried]
        return Cells(reached, (sender,), done.seeds, "reach_rtts", "")


def coasts(reaches: Mapping[int, Cells]) -> list[Part]:
    """Judge: BBR's reach minus CUBIC's, in RTTs, lies between the two bounds."""
    parts = []
    for rtt_ms, reach in reaches.items():
        spare = reach.at(sender="bbr") - reach.at(sender="cubic")
        name = f"RTT of {rtt_ms} ms"
        bounds: tuple[tuple[float, judge.Side], ...] = ((SPARE_RTTS[0], "above"), (SPARE_RTTS[1], "below"))
        for bound, side in bounds:
            parts.append(judge.difference_part(f"{name}, spare minus {bound}", spare - bound, side, ""))
    return [*parts, *([not_run("other RTTs")] if len(reaches) < len(COAST_RTTS_MS) else [])]


def stretch_rows(backs: list[Back]) -> list[Row]:
    """Return the mean and maximum stretch of each sender."""
    shown = []
    for name in SENDERS:
        own = [back for back in backs if back.at["sender"] == name]
        mean = stats.mean([back.stretch for back in own])
        shown.append(row({"sender": name}, "mean_stretch", None, mean, ""))
        for metric, value in {
            "predicted_mean_stretch": predicted_stretch(own[0]),
            "greatest_stretch": max(back.stretch for back in own),
            "farthest_off_pct": max(100 * abs(back.off) for back in own),
        }.items():
            shown.append(row({"sender": name}, metric, None, exact(value), ""))
    return shown


def predicted_stretch(back: Back) -> float:
    """Return the mean stretch of a sender by the closed form."""
    return float(np.mean([_stretch_of(back, timers) for timers in back.timers.phases(PHASES)]))


def _stretch_of(back: Back, timers: law.Timers) -> float:
    last_s = back.seen.last_sent_s
    expiries = timers.expiries_s(timers.probe_s(last_s) if timers.modern else last_s)
    return law.mean_stretch(expiries, back.way.to_failure_s, *SPREAD_S)


def as_long_again(name: str, backs: list[Back]) -> list[Part]:
    """Judge a sender's stretch: the mean matches the closed form, and no outage exceeds the bounds."""
    own = [back for back in backs if back.at["sender"] == name]
    mean, known = float(np.mean([back.stretch for back in own])), predicted_stretch(own[0])
    beyond = sum(back.stretch > law.step_bound(back.seen.timeouts - 1) for back in own)
    later = [back.stretch for back in own if back.seen.timeouts > 1]
    low, high = STRETCHES
    return [
        judge.exact_part(f"mean {mean:.3f}, closed form {known:.3f}", abs(mean / known - 1) <= 0.03),
        judge.exact_part(f"mean between {low} and {high} within 3 %", 0.97 * low <= mean <= 1.03 * high),
        judge.exact_part(f"{beyond} of {len(own)} beyond their step's bound", beyond == 0),
        judge.exact_part(f"maximum from the second timeout on {max(later):.2f}", max(later) <= MOST_STRETCH),
    ]


STAIRCASE = Exhibit(
    "outage/staircase",
    "When a flow comes back from an outage",
    "docs/details/outage.md, the law of one flow",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
