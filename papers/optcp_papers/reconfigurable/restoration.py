"""WAN restoration: a cut, fast reroute, early restoration of part of the capacity, and a rate step."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from optcp.outage.world import MSS_SHARE
from optcp.papers.assume import Assumed, built_in, overrides, positive
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Parts, Setup, behind, key_value, rows, runs_of
from optcp.papers.judge import Part, difference_part
from optcp.papers.kit import Axis, Cells, Grid, Options, Row, Run, Series, Settings, StudyResult, curves_over, judge
from optcp.papers.over import Axis as Label
from optcp_papers.outage.paper import not_run
from optcp_papers.reconfigurable.paper import PAPER, SENDERS, scenario, sender
from optcp_papers.reconfigurable.phases import A_SECOND, EVENTS, GROUPS, MEASURED, Timeline, goodput, in_time, measured

SEEDS, QUICK_SEEDS = 10, 1
QUICK_SENDERS = ("cubic",)
CUT_S, PHASE_S = 4.0, 8.0
"""Time of the cut, and duration of each later phase."""
SHARES = ("0.25", "0.5", "1")
HALF, ALL, QUARTER = "0.5", "1", "0.25"
NEVER, EARLY, AT, LATE = "never", "2", "8", "30"
"""Time of the partial restoration after the cut, in s."""
FULL_GBPS = 200.0
SCALE_CUT_S, SCALE_PHASE_S = 1.5, 1.5
SCALE_EVENTS = ("cut", "return")
ALIKE = 0.25
SCALE_SENDER = "cubic"
SHOWN_S = 0.2
"""Interval of the curves over time, in s."""

ASSUMED = (
    Assumed("scaled_by", 100.0, positive),
    Assumed("buffer_ms", 10.0, positive),
    Assumed("mark_ms", 1.0, positive),
    Assumed("gap_ms", 35.0, positive),
    Assumed("detection_ms", 10.0, positive, "routing.detection"),
    Assumed("way_ms", 1.853, positive, "parameters.way"),
    Assumed("jitter_us", 50.0, positive, "parameters.jitter"),
    built_in("link_gbps", f"{FULL_GBPS:g}, divided by scaled_by"),
    built_in("hosts", "1 to 5 ms from their city, links twice as fast as the network's, which hold all that waits"),
    built_in("long_flows", "the six largest demands over Essen-Dortmund, and over Koeln-Koblenz of the others"),
    built_in("convergence", "2 ms a hop, SPF 20 ms, tables within 20 to 200 ms, then all together"),
)
"""Assumptions; times of the network are not scaled."""
NOTES = [
    f"The link is cut {CUT_S:g} s after the start. At `return`, {AT} s later, a `share` of its rate is restored. At "
    f"`step`, {PHASE_S:g} s after that, a gap occurs and then half of this rate remains. `hit_pct` and `own_pct` "
    "are the goodput of flows that cross the link, and of flows that already used the detour, from the event to the "
    "next one, in % of a link's payload.",
    "`lost_ms` is the shortfall of all flows in that time against a fluid that fills every link immediately, in ms of "
    "a link's rate. After the cut the fluid has one link for all flows, then a link and the share, then a link and "
    "half the share; the gap is no loss. It is negative if flows get more: until FIBs are updated, fast reroute sends "
    "packets from Essen to Hannover, Hamburg and Berlin over Oldenburg, which has free capacity.",
    "`back_s` is the start of the first half second in which all have 90 % of the fluid's rates (the length of a "
    "phase, a lower bound, if there is none): after the cut all flows together, then both groups.",
    "`timeouts`, `resent`, `needless` (segments that the receiver got again) and `overtaken` (that arrived "
    "after a later one) are of all flows from the event to the next one.",
    f"`gained_mb` is the gain of all flows in the {PHASE_S:g} s after the return over runs without it, `hit_gained_mb` "
    "the gain of the returning flows, and `gained_pct` the gain of all relative to a fluid's. "
    f"`earlier_mb_a_s` is the gain per second if half of the capacity returns at {EARLY} s instead of {AT} s.",
    "Prague uses queues that mark packets above `mark_ms`; the others' queues drop packets that do not fit.",
    "Routers do not react to the gap, because it is announced to them.",
    f"With `gbps`: one seed of {SCALE_SENDER} at {FULL_GBPS:g} Gb/s and at the scaled rate, with half of the "
    f"capacity restored, a cut at {SCALE_CUT_S:g} s and phases of {SCALE_PHASE_S:g} s.",
]


def link_bps(chosen: Chosen) -> float:
    """Return the link rate."""
    return FULL_GBPS * 1e9 / float(chosen["scaled_by"])


def timeline(chosen: Chosen, at: str) -> Timeline:
    """Return the times of the events for a restoration ``at``; only the default has a step."""
    gap_s = float(chosen["gap_ms"]) / 1000
    if at == AT:
        works_s = CUT_S + float(AT)
        return Timeline(CUT_S, works_s, works_s + PHASE_S, works_s + 2 * PHASE_S, gap_s)
    end_s = CUT_S + float(AT if at == EARLY else LATE) + PHASE_S
    return Timeline(CUT_S, end_s if at == NEVER else CUT_S + float(at), end_s, end_s, gap_s)


def scale_timeline() -> Timeline:
    """Return the times of the events in the runs that compare rates, without a step."""
    works_s = SCALE_CUT_S + SCALE_PHASE_S
    return Timeline(SCALE_CUT_S, works_s, works_s + SCALE_PHASE_S, works_s + SCALE_PHASE_S, 0.0)


def links(chosen: Chosen, name: str, bps: float) -> Settings:
    """Return the rate of links, and their queues as a sender needs them."""
    bytes_a_ms = bps / 8000
    queue: str | Settings = f"{bytes_a_ms * float(chosen['buffer_ms']):.0f} B"
    if SENDERS[name].get("ecn"):
        threshold = bytes_a_ms * float(chosen["mark_ms"])
        queue = {"kind": "step", "limit": queue, "threshold": f"{threshold:.0f} B"}
    return {"parameters.rate": f"{bps:.0f} bps", "parameters.queue": queue}


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids over shares with a step, over restoration times without one, and over both rates."""
    settings = overrides(ASSUMED, chosen)
    quick = options.size.is_quick
    bps = link_bps(chosen)
    of = {name: {**sender(name), **links(chosen, name, bps)} for name in (QUICK_SENDERS if quick else SENDERS)}
    steps = {
        "sender": of,
        "share": {share: {"parameters.share": share, **timeline(chosen, AT).settings} for share in SHARES},
    }
    times = {"sender": of, "restored_at_s": {at: timeline(chosen, at).settings for at in (NEVER, EARLY, LATE)}}
    rates = {
        "gbps": {
            f"{rate / 1e9:g}": {**sender(SCALE_SENDER), **links(chosen, SCALE_SENDER, rate)}
            for rate in (bps, FULL_GBPS * 1e9)
        },
        "share": {HALF: scale_timeline().settings},
    }
    result = {"steps": (steps, "shares"), "times": (times, "instants"), "rates": (rates, "rates")}
    if quick:
        del result["rates"]
    return {
        name: options.grid(scenario("restoration"), settings, axes, f"reconfigurable restoration, {title}")
        for name, (axes, title) in result.items()
    }


WINDOWS = {at: (CUT_S + float(at), CUT_S + float(at) + PHASE_S) for at in (EARLY, AT, LATE)}
WINDOWS["both"] = (CUT_S, CUT_S + float(AT) + PHASE_S)
"""Time windows: after each return, and from the cut to the end of runs with an early restoration."""


def carried_mb(done: StudyResult) -> Cells:
    """Return the bytes in each of :data:`WINDOWS`, of all and of returning flows; NaN if a run ends before."""

    def of(run: Run) -> NDArray[np.float64]:
        got = goodput(run)
        lasts_s = got["all"].size / A_SECOND
        return np.array(
            [
                [in_time(got[name], window).sum() / 1e6 if window[1] <= lasts_s else np.nan for name in ("all", "hit")]
                for window in WINDOWS.values()
            ]
        )

    return done.each(of, Axis("window", tuple(WINDOWS)), Axis("flows", ("all", "hit")))


def gained(found: Found) -> dict[str, Cells]:
    """Return the gain of flows in the phase after a return over runs without it, by time of the return."""
    shares, instants = carried_mb(found.done["steps"]), carried_mb(found.done["times"])
    never = instants.at(restored_at_s=NEVER)
    return {
        AT: shares.at(window=AT) - never.at(window=AT),
        **{at: instants.at(restored_at_s=at, window=at) - never.at(window=at) for at in (EARLY, LATE)},
        "both": (instants.at(restored_at_s=EARLY) - shares.at(share=HALF)).at(window="both"),
    }


def find(found: Found) -> Findings:
    """Return the behaviour of each TCP after the events, and the value of an early restoration."""
    bps = link_bps(found.chosen)
    seen = measured(found.done["steps"], timeline(found.chosen, AT), lambda _: bps)
    gains = gained(found)
    found_rows = [*event_rows(seen, EVENTS), *gain_rows(gains, bps)]
    scale = None
    if "rates" in found.done:
        scale = measured(found.done["rates"], scale_timeline(), lambda at: 1e9 * float(at["gbps"]))
        found_rows += event_rows(scale, SCALE_EVENTS)
    judged = claims(seen, gains, 10 * float(found.chosen["gap_ms"]))
    judged["reconfigurable-scaling-is-free"] = [not_run("200 Gb/s")] if scale is None else alike(scale)
    return Findings(found_rows, judged, over_time(found.done["steps"]), NOTES)


def event_rows(seen: Cells, events: Sequence[str]) -> list[Row]:
    """Return a row per combination, event and defined metric; up to the return all shares are equal."""
    result: list[Row] = []
    for event in events:
        here = seen.at(event=event)
        if event in ("before", "cut"):
            here = here.at(share=HALF)
        mean = {name: here.at(metric=name).mean() for name in MEASURED}
        result += [row for row in rows(mean, key=behind({"event": event})) if row.measured is not None]
    return result


def gain_rows(gains: Mapping[str, Cells], bps: float) -> list[Row]:
    """Return the value of an early restoration."""
    whole_mb = bps * MSS_SHARE / 8 * PHASE_S / 1e6
    result: list[Row] = []
    for share, at in [*((share, AT) for share in SHARES), (HALF, EARLY), (HALF, LATE)]:
        cells = gains[at].at(share=share) if at == AT else gains[at]
        every = cells.at(flows="all")
        metrics = {
            "gained_mb": every.mean(),
            "gained_pct": (every * (100 / (float(share) * whole_mb))).mean(),
            "hit_gained_mb": cells.at(flows="hit").mean(),
        }
        result += rows(metrics, key=behind({"share": key_value(Axis("share", (share,)), 0), "restored_at_s": int(at)}))
    earlier = gains["both"].at(flows="all") * (1 / (float(AT) - float(EARLY)))
    return [*result, *rows({"earlier_mb_a_s": earlier.mean()})]


def claims(seen: Cells, gains: Mapping[str, Cells], gaps_ms: float) -> dict[str, Parts | Mapping[str, Parts]]:
    """Return all claims by sender, except the one about scaling."""
    of: dict[str, dict[str, Parts]] = {}
    for name in seen.axis("sender").values:
        mine, gain = seen.at(sender=name), gains[AT].at(sender=name)
        cut, back, step = (mine.at(event=event) for event in ("cut", "return", "step"))
        every, hit = (gain.at(flows=flows) for flows in ("all", "hit"))
        lost = cut.at(share=HALF, metric="lost_ms"), step.at(share=HALF, metric="lost_ms")
        late = {share: back.at(share=share, metric="back_s") for share in SHARES}
        timeouts = {share: back.at(share=share, metric="timeouts").values for share in SHARES}
        found: dict[str, list[Part]] = {
            "reconfigurable-fast-reroute-is-cheap": [
                difference_part("lost_ms of the cut minus 100", lost[0] - 100, "below", "ms")
            ],
            "reconfigurable-back-in-two-seconds": [
                difference_part(f"share {share}, back_s minus 2", item - 2, "below", "s")
                for share, item in late.items()
            ],
            "reconfigurable-half-is-worth-half": [
                difference_part(
                    "a half minus half of all", every.at(share=HALF) - every.at(share=ALL) / 2, "above", "MB"
                )
            ],
            "reconfigurable-quarter-hurts-who-returns": [
                difference_part("flows that return", hit.at(share=QUARTER), "below", "MB"),
                difference_part("all flows", every.at(share=QUARTER), "above", "MB"),
            ],
            "reconfigurable-return-without-timeouts": [
                judge.exact_part(f"share {share}: {item.sum():.0f} timeouts in {item.size} runs", bool(item.sum() == 0))
                for share, item in timeouts.items()
            ],
            "reconfigurable-step-is-cheap": [
                difference_part(f"lost_ms of the step minus {gaps_ms:g}", lost[1] - gaps_ms, "below", "ms")
            ],
        }
        for id_, parts in found.items():
            of.setdefault(id_, {})[name] = parts
    return {**of, "reconfigurable-bbr-before-cubic": sooner(seen)}


def sooner(seen: Cells) -> list[Part]:
    """Judge: BBRv3 recovers sooner than CUBIC."""
    if "bbr3" not in seen.axis("sender").values:
        return [not_run("other senders")]
    back = seen.at(event="return", metric="back_s")
    between = back.at(sender="bbr3") - back.at(sender="cubic")
    return [
        difference_part(f"share {share}, BBRv3 minus CUBIC", between.at(share=share), "below", "s") for share in SHARES
    ]


def alike(scale: Cells) -> list[Part]:
    """Judge: the losses at the two rates differ by at most a quarter of the loss at the scaled rate."""
    scaled, full = scale.axis("gbps").values
    parts = []
    for event in SCALE_EVENTS:
        lost = scale.at(share=HALF, event=event, metric="lost_ms")
        one, two = (float(lost.at(gbps=at).values.item()) for at in (scaled, full))
        text = f"{event}: {two:.1f} ms at {full} Gb/s, {one:.1f} at {scaled}"
        parts.append(judge.exact_part(text, abs(two - one) <= ALIKE * abs(one)))
    return parts


def over_time(done: StudyResult) -> list[Series]:
    """Return the goodput around the events with half of the capacity restored, by sender and group."""
    steps = round(SHOWN_S * A_SECOND)
    first_s = CUT_S - 1

    def of(run: Run) -> NDArray[np.float64]:
        got = goodput(run)
        shown = [in_time(got[name], (first_s, first_s + 3 * PHASE_S + 1)).reshape(-1, steps) for name in GROUPS]
        gbps: NDArray[np.float64] = np.array(shown).sum(axis=2) * (8 / SHOWN_S / 1e9)
        return gbps

    ends = [f"{first_s - CUT_S + SHOWN_S * (at + 1):g}" for at in range(round((3 * PHASE_S + 1) / SHOWN_S))]
    curves = done.each(of, Axis("flows", GROUPS), Axis("since_cut_s", tuple(ends))).at(share=HALF)
    return curves_over(
        rows({"gbps": curves.mean()}), "since_cut_s", Label("time since the cut", "s"), Label("goodput", "Gb/s")
    )


RESTORATION = Exhibit(
    "reconfigurable/restoration",
    "A cut on germany50, a part of the capacity back, and a rate that steps down",
    "docs/details/reconfigurable.md, restoration",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS, {"rates": 1}), ASSUMED),
    find,
)
