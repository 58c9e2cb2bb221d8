"""When a flow comes back from an outage: the clock, the probe, and the staircase of its timer, beside closed forms."""

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
"""Outages in round trips."""
COAST_SEEDS, QUICK_COAST_SEEDS = 20, 2
CLOCKS = (0.5, 0.9, 1.1, 1.5)
"""Outages as multiples of the round trip from the farther end to the failure."""
SPREAD_S = (0.8, 60.0)
STRATA = 400
TOLERANCE = 0.02
"""How far an instant may lie from its closed form."""
SAID_MS = 50
NEAR_MS = 10
SPARE_RTTS = (0.8, 1.5)
"""How much longer outages than CUBIC's BBR is said to coast over."""
STRETCHES = (1.44, 1.46)
MOST_STRETCH = 2.2

ASSUMED = (Assumed("rate_mbps", 20, positive_int),)
NOTES = [
    "One flow that a host of so many Mb/s limits, a receiver's window of what the path holds (BBR: none), and a "
    "failure of the link in the middle, in both directions. Instants are from the failure on. `resume_ms` is when "
    "the segment is sent that ends the silence, a probe or what a timeout sends again; where ACKs went on there "
    "is none. `repair_ms` is when the first segment is sent again for which an ACK had asked.",
    "`predicted_*` are the closed forms of the study's page, given the sender's own smoothed round trip and the "
    "instant of its last transmission. `off_pct` is how far the instant (of the resumption, or with a clock of "
    "the repair) lies from it.",
    f"`outage_ms` is the longest time without new in-order bytes less the usual one; its jumps over outages of "
    f"{FINE_MS[0]} to {FINE_MS[-1]} ms are the thresholds.",
]


def strata() -> list[float]:
    """Outages of equal shares of the logarithm, each drawn in its stratum."""
    low, high = np.log(SPREAD_S)
    drawn = np.random.Generator(np.random.PCG64(1)).random(STRATA)
    return [round(float(one), 4) for one in np.exp(low + (high - low) * (np.arange(STRATA) + drawn) / STRATA)]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """The cases, the fine lengths at each round trip, how far the clock reaches, and lengths of a second and more."""
    rate_bps = 1e6 * float(chosen["rate_mbps"])

    def one(name: str, rtt_ms: float, axes: Axes, place: str = PLACE) -> Grid:
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
        "cases": one("cases", RTT_MS, {"sender": senders, "place": places(), "outage_ms": outages(in_ms(OUTAGES_MS))}),
        "stretch": one(
            "stretch", RTT_MS, {"sender": senders, "outage_s": outages({f"{s:g}": s for s in strata()}, 0.2)}
        ),
    }
    for rtt_ms in RTTS_MS:
        cubic = {"sender": {"cubic": senders["cubic"]}, "outage_ms": outages(in_ms(FINE_MS))}
        found[f"fine, {rtt_ms} ms"] = one(f"lengths at {rtt_ms} ms", rtt_ms, cubic)
    for rtt_ms in COAST_RTTS_MS:
        start = {"parameters.start": f"uniform(0 s, {rtt_ms} ms)"}
        lengths = outages({f"{rtts:g}": rtts * rtt_ms / 1000 for rtts in COAST_RTTS})
        axes = {"sender": {name: {**of, **start} for name, of in both.items()}, "outage_rtts": lengths}
        found[f"coast, {rtt_ms} ms"] = one(f"clock at {rtt_ms} ms", rtt_ms, axes)
    for place in path.PLACES:
        farther_s = reach_s(path.way(RTT_MS, place, rate_bps))
        at_once = {name: {**senders[name], "tcp.sender.ack": "every-packet"} for name in ("newreno", "cubic")}
        axes = {"sender": at_once, "outage_clocks": outages({f"{times:g}": times * farther_s for times in CLOCKS})}
        found[f"clock, {place}"] = one(f"clock, {place}", RTT_MS, axes, place)
    return found


def in_ms(lengths_ms: tuple[int, ...]) -> dict[str, float]:
    """Lengths in seconds by what they are called."""
    return {str(length): length / 1000 for length in lengths_ms}


def reach_s(way: law.Way) -> float:
    """The longest outage over which ACKs go on: the round trip from the farther end to the link that fails."""
    return 2 * max(way.near_s + way.spacing_s / 2, way.far_s)


def _only(settings: Settings, keys: tuple[str, ...]) -> Settings:
    return {key: settings[key] for key in keys}


def seeds(grid: str, size: Size) -> int:
    """One, but for BBR, whose phase is drawn; a quick look leaves the largest out."""
    if grid.startswith("coast"):
        return size.of(COAST_SEEDS, QUICK_COAST_SEEDS) if not size.is_quick or "40" in grid else 0
    return 0 if size.is_quick and (grid == "stretch" or (grid.startswith("fine") and "40" not in grid)) else 1


class Runs:
    """What the senders of a grid did, cell by cell.

    Parameters
    ----------
    done
        Finished runs, over ``sender``, ``place`` where it varies, and the length of the outage.
    way
        The path.
    unit_s
        What the length's axis counts, in seconds.
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
                timers = path.timers(at["sender"], seen)
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
    """How a flow came back.

    Attributes
    ----------
    at
        The cell: its value on each axis.
    way, outage_s, timers
        The path, how long it did not work, and the sender's timers.
    law, seen
        What the closed form says, and what the sender did.
    gap_s
        The longest time without new in-order bytes, less the usual one.
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
        """What brings it back, by the closed form."""
        return self.law.case if self.law.case in ("probe", "timeout") else "clock"

    @property
    def off(self) -> float:
        """How far its instant lies from the closed form, as a share: the repair with a clock, else the resumption."""
        if self.case == "clock":
            return self.seen.repair_s / self.law.repair_s - 1
        return self.seen.resume_s / self.law.resume_s - 1

    @property
    def stretch(self) -> float:
        """The resumption over the outage."""
        return self.seen.resume_s / self.outage_s


def find(found: Found) -> Findings:
    """Each case beside its closed form, the thresholds, how far clocks reach, and the stretch of long outages."""
    rate_bps = 1e6 * found.number("rate_mbps")
    done = {name: one for name, one in found.done.items() if one.seeds}
    middle = path.way(RTT_MS, PLACE, rate_bps)
    cases = list(Runs(done["cases"], middle, 1e-3))
    shown = [one for back in cases for one in of_case(back)]
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
        if name := next((one for one in done if one == f"fine, {rtt_ms} ms"), None):
            way = path.way(rtt_ms, PLACE, rate_bps)
            backs = list(Runs(done[name], way, 1e-3))
            jumps[rtt_ms] = thresholds_ms(backs)
            more, curve = of_lengths(rtt_ms, backs, jumps[rtt_ms])
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
        shown += of_stretch(long)
        claims["outage-waits-as-long-again"] = {name: as_long_again(name, long) for name in SENDERS}
    else:
        claims["outage-waits-as-long-again"] = [not_run("long outages")]
    return Findings(shown, claims, series, NOTES)


def of_case(back: Back) -> list[Row]:
    """The rows of a case: what there is of each."""
    key: Key = {"sender": back.at["sender"], "place": back.at["place"], "outage_ms": int(back.at["outage_ms"])}
    metrics: dict[str, float] = {"timeouts": back.seen.timeouts, "predicted_timeouts": back.law.timeouts}
    if back.case != "clock":
        metrics |= {"resume_ms": 1000 * back.seen.resume_s, "predicted_resume_ms": 1000 * back.law.resume_s}
    metrics |= {"repair_ms": 1000 * back.seen.repair_s, "predicted_repair_ms": 1000 * back.law.repair_s}
    metrics |= {"off_pct": 100 * back.off, "outage_ms": 1000 * back.gap_s}
    return [row(key, metric, None, exact(value), "") for metric, value in metrics.items()]


def climbs(backs: list[Back]) -> list[Part]:
    """Judge: timeouts as many as predicted, at instants as predicted, and the same with every congestion control."""
    parts = []
    for name in SENDERS:
        own = [back for back in backs if back.at["sender"] == name and back.case == "timeout"]
        alike = sum(back.case == back.seen.case and back.law.timeouts == back.seen.timeouts for back in own)
        parts.append(judge.exact_part(f"{name}: timeouts as predicted in {alike} of {len(own)}", alike == len(own)))
        worst = max(abs(back.off) for back in own)
        parts.append(judge.exact_part(f"{name}: instants within {100 * worst:.2f} %", worst <= TOLERANCE))
    cubic = {tuple(list(back.at.items())[1:]): back for back in backs if back.at["sender"] == "cubic"}
    apart = [
        abs(back.seen.resume_s - other.seen.resume_s - (back.seen.last_sent_s - other.seen.last_sent_s))
        / other.seen.resume_s
        for back in backs
        if back.at["sender"] == "bbr" and back.case == "timeout"
        for other in [cubic[tuple(list(back.at.items())[1:])]]
        if other.case == "timeout" and other.law.timeouts == back.law.timeouts
    ]
    parts.append(judge.exact_part(f"bbr and cubic {100 * max(apart):.2f} % apart at most", max(apart) <= TOLERANCE))
    return parts


def clocked(back: Back) -> Part:
    """Judge: whether ACKs go on, as the length says."""
    below = float(back.at["outage_clocks"]) < 1
    where = "near" if back.way.near_s < back.way.far_s else "far" if back.way.near_s > back.way.far_s else "middle"
    text = f"{back.at['sender']}, {where}, {back.at['outage_clocks']} of the reach: {back.seen.case}"
    return judge.exact_part(text, (back.seen.case == "clock") == below)


def thresholds_ms(backs: list[Back]) -> list[float]:
    """The lengths of outage behind which it costs half a round trip more at once."""
    pairs = itertools.pairwise(backs)
    return [1000 * (one.outage_s + two.outage_s) / 2 for one, two in pairs if two.gap_s - one.gap_s > two.way.rtt_s / 2]


def of_lengths(rtt_ms: int, backs: list[Back], jumps_ms: list[float]) -> tuple[list[Row], Series]:
    """The thresholds of a round trip as rows, and the curve that has them."""
    way, timers = backs[0].way, backs[0].timers
    known = {f"predicted_{name}_ms": 1000 * at_s for name, at_s in steps_s(way, timers.srtt_s).items()}
    shown = [row({"rtt_ms": rtt_ms}, metric, None, exact(value), "") for metric, value in known.items()]
    shown += [
        row({"rtt_ms": rtt_ms, "threshold": place}, "threshold_ms", None, exact(at), "")
        for place, at in enumerate(jumps_ms, 1)
    ]
    x, y = [back.outage_s for back in backs], [round(back.gap_s, 6) for back in backs]
    return shown, Series(
        "outage of the flow", {"rtt_ms": rtt_ms}, "outage of the path", "s", "outage of the flow", "s", x, y
    )


def steps_s(way: law.Way, srtt_s: float) -> dict[str, float]:
    """Where the closed forms have thresholds: the end of the clock, of the probe, and of the first timeout."""
    probe_s = way.near_s + way.to_failure_s + 2 * srtt_s
    return {"clock": reach_s(way), "probe": probe_s, "timeout": probe_s + srtt_s + 0.2}


def no_threshold(jumps: Mapping[int, list[float]], rate_bps: float) -> list[Part]:
    """Judge: every threshold is one of the transfer, and none of them is at 50 ms at more than one round trip."""
    parts, at_said = [], 0
    for rtt_ms, found in jumps.items():
        way = path.way(rtt_ms, PLACE, rate_bps)
        known = [1000 * one for one in steps_s(way, way.rtt_s).values()]
        strange = [at for at in found if min(abs(at - one) for one in known) > NEAR_MS]
        at_said += any(abs(at - SAID_MS) <= NEAR_MS for at in found)
        where = ", ".join(f"{at:g}" for at in found)
        text = (
            f"round trip of {rtt_ms} ms: thresholds at {where} ms, predicted {', '.join(f'{one:.0f}' for one in known)}"
        )
        parts.append(judge.exact_part(text, not strange))
    parts.append(
        judge.exact_part(f"thresholds within {NEAR_MS} ms of {SAID_MS} at {at_said} round trips", at_said <= 1)
    )
    return [*parts, *([not_run("other round trips")] if len(jumps) < len(RTTS_MS) else [])]


@dataclass(frozen=True)
class Reach:
    """The longest outage in round trips over which the first ACK comes within a round trip of the repair, by sender."""

    rtt_ms: int
    rate_bps: float

    def __call__(self, done: StudyResult) -> Cells:
        """Of a study's runs."""
        way = path.way(self.rtt_ms, PLACE, self.rate_bps)
        sender, lengths = done.axes
        found = np.zeros((len(done.seeds), len(sender), len(lengths)), dtype=bool)
        for at, back in enumerate(Runs(done, way, self.rtt_ms / 1000)):
            silent = back.seen.first_ack_s - back.outage_s > way.rtt_s + 2 * way.spacing_s
            found[np.unravel_index(at, found.shape)] = not silent
        # Up to the first length that is too long.
        carried = np.cumprod(found, axis=-1).sum(axis=-1)
        reached = np.concatenate([[COAST_RTTS[0] - COAST_STEP], COAST_RTTS])[carried]
        return Cells(reached, (sender,), done.seeds, "reach_rtts", "")


def coasts(reaches: Mapping[int, Cells]) -> list[Part]:
    """Judge: BBR's reach less CUBIC's, in round trips, lies between the two bounds."""
    parts = []
    for rtt_ms, reach in reaches.items():
        spare = reach.at(sender="bbr") - reach.at(sender="cubic")
        name = f"round trip of {rtt_ms} ms"
        bounds: tuple[tuple[float, judge.Side], ...] = ((SPARE_RTTS[0], "above"), (SPARE_RTTS[1], "below"))
        for bound, side in bounds:
            parts.append(judge.difference_part(f"{name}, spare less {bound}", spare - bound, side, ""))
    return [*parts, *([not_run("other round trips")] if len(reaches) < len(COAST_RTTS_MS) else [])]


def of_stretch(backs: list[Back]) -> list[Row]:
    """The mean and greatest stretch of each sender."""
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
    """The closed form of a sender's mean stretch."""
    first_s = back.seen.last_sent_s + (2 * back.timers.srtt_s if back.timers.modern else 0)
    expiries = law.expiries_s(first_s, back.timers.rto_s, back.timers.longest_s)
    return law.mean_stretch(expiries, back.way.to_failure_s, *SPREAD_S)


def as_long_again(name: str, backs: list[Back]) -> list[Part]:
    """Judge a sender's stretch: the mean is the closed form's, and no outage is stretched beyond the bounds."""
    own = [back for back in backs if back.at["sender"] == name]
    mean, known = float(np.mean([back.stretch for back in own])), predicted_stretch(own[0])
    beyond = sum(back.stretch > law.step_bound(back.seen.timeouts - 1) for back in own)
    later = [back.stretch for back in own if back.seen.timeouts > 1]
    low, high = STRETCHES
    return [
        judge.exact_part(f"mean {mean:.3f}, closed form {known:.3f}", abs(mean / known - 1) <= 0.03),
        judge.exact_part(f"mean between {low} and {high} within 3 %", 0.97 * low <= mean <= 1.03 * high),
        judge.exact_part(f"{beyond} of {len(own)} beyond their step's bound", beyond == 0),
        judge.exact_part(f"greatest from the second timeout on {max(later):.2f}", max(later) <= MOST_STRETCH),
    ]


STAIRCASE = Exhibit(
    "outage/staircase",
    "When a flow comes back from an outage",
    "docs/details/outage.md, the law of one flow",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
