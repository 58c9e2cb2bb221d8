"""Graphs 8 and 9: reTCP, which ACKs notify of the circuit, on static queues and on a growing one."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import (
    Assumed,
    Cells,
    Choices,
    Grid,
    Options,
    Part,
    Plausible,
    StudyResult,
    judge,
    not_negative,
    tables,
)
from optcp.stats import resampling
from optcp_papers.rdcn.measured import circuit_util_pct, latencies_us
from optcp_papers.rdcn.resize import ratio, ratio_part
from optcp_papers.rdcn.voq import GRID as CUBIC
from optcp_papers.rdcn.voq import PACKETS, above, below, trend
from optcp_papers.rdcn.voq import grids as cubic_grids
from optcp_papers.rdcn.world import ASSUMED, MARK_ENDS, PAPER, grid, seeds, sender, week

LEADS_US = tuple(range(0, 301, 50))
SHORT_US, CUBIC_LEAD_US = 150, 1800
"""Lead with which reTCP should achieve what CUBIC needs the other lead for."""
FREE_US, COSTLY_US = (50, 100), (150, 200, 250, 300)
"""Leads that should not increase tail latency, and leads that should."""
MEAN_POINTS, MOST_POINTS = 8, 12
LATENCY_MARGIN = 0.05
STATIC = "static"
SHOWN = ("circuit_util_pct", "p50_all_us", "p99_all_us")


def _listed(read: Callable[[str], str]) -> Callable[[str], str]:
    """Return a parser of one or several interpretations; each has its own runs."""
    return lambda text: ", ".join(dict.fromkeys(read(item.strip()) for item in text.split(",")))


def _end(text: str) -> str:
    if text not in MARK_ENDS:
        raise ValueError(f"expected {' or '.join(MARK_ENDS)}, or both with a comma between")
    return text


STATIC_LEAD = Assumed(
    "static_lead_us",
    "600, 0",
    _listed(lambda text: f"{not_negative(text):g}"),
    plausible=Plausible(
        Choices(("600", "0")),
        "lead of the marks before the day if the queue is static: the emulator's default, or none",
    ),
)
MARK_END = Assumed(
    "mark_end",
    ", ".join(MARK_ENDS),
    _listed(_end),
    plausible=Plausible(Choices(MARK_ENDS), "the emulator's next update of the circuits, or the end of the day"),
)


def readings(chosen: Chosen, name: str) -> list[str]:
    """Return all chosen interpretations of an unstated parameter."""
    return str(chosen[name]).split(", ")


def static_grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return reTCP over queue sizes and leads of the marks, and CUBIC over queue sizes."""
    leads = readings(chosen, STATIC_LEAD.name)
    axes = {
        "voq": {str(packet): {"parameters.voq": f"{packet} packets"} for packet in PACKETS},
        STATIC_LEAD.name: {lead: {**sender("retcp"), **week(chosen, mark_us=float(lead)).settings} for lead in leads},
    }
    return {"retcp": grid("reTCP, voq", axes, chosen, options), **cubic_grids(chosen, options)}


def resized_grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return reTCP over leads, one grid per end of the marks, and the two cases of CUBIC for comparison."""
    result = {}
    for end in readings(chosen, MARK_END.name):
        leads = {str(item): week(chosen, resize_us=item, mark_us=item, mark_end=end).settings for item in LEADS_US}
        axes = {"tcp": {"retcp": sender("retcp")}, "resize_us": leads}
        result[end] = grid(f"reTCP, resize, mark's end {end}", axes, chosen, options)
    cubic = {STATIC: week(chosen).settings, str(CUBIC_LEAD_US): week(chosen, resize_us=CUBIC_LEAD_US).settings}
    return {**result, CUBIC: grid("CUBIC beside reTCP", {"resize_us": cubic}, chosen, options)}


def measured(done: StudyResult) -> dict[str, Cells]:
    """Return the metrics of the tables and claims."""
    times = done.once(latencies_us)
    return {"circuit_util_pct": done.once(circuit_util_pct), **{name: times[name] for name in SHOWN[1:]}}


def find_static(found: Found) -> Findings:
    """Return utilisation and transit times by queue size and lead of the marks, and reTCP's gain over CUBIC."""
    of_retcp, cubic = measured(found.done["retcp"]), found.done[CUBIC].once(circuit_util_pct)
    more = of_retcp["circuit_util_pct"] - cubic
    metrics = {**{name: cells.mean() for name, cells in of_retcp.items()}, "more_than_cubic_points": more.mean()}
    leads = readings(found.chosen, STATIC_LEAD.name)
    return Findings(
        rows(metrics),
        {
            "rdcn-retcp-alone-is-little": {
                f"mark {lead} us ahead": little(more.at(static_lead_us=lead)) for lead in leads
            }
        },
        notes=[
            "On these queues the lead of the marks decides everything. The emulator's experiment does not set it, so "
            "its default of 600 us applies. `more_than_cubic_points` is paired by seed."
        ],
    )


def little(more: Cells) -> list[Part]:
    """Judge: 0 to 8 points more than CUBIC on average over the queue sizes, and never more than 12."""
    mean = more.mean_over("voq")
    parts = [
        above("mean over the sizes", mean, "points"),
        below(f"mean over the sizes, below {MEAN_POINTS}", mean - MEAN_POINTS, "points"),
    ]
    parts += [
        below(f"{packet} packets, below {MOST_POINTS}", more.at(voq=packet) - MOST_POINTS, "points")
        for packet in PACKETS
    ]
    return parts


def find_resized(found: Found) -> Findings:
    """Return utilisation and transit times by lead and end of the marks, with CUBIC's two cases."""
    ends = readings(found.chosen, MARK_END.name)
    of_retcp = {end: {name: item.at(tcp="retcp") for name, item in measured(found.done[end]).items()} for end in ends}
    cubic = measured(found.done[CUBIC])
    shown = [
        row
        for end in ends
        for row in rows({name: cells.mean() for name, cells in of_retcp[end].items()}, key={"mark_end": end})
    ]
    judges: dict[str, Callable[[dict[str, Cells]], list[Part]]] = {
        "rdcn-retcp-needs-short-lead": lambda retcp: short_lead(retcp, cubic),
        "rdcn-retcp-short-lead-tail": lambda retcp: short_tail(retcp["p99_all_us"]),
        "rdcn-headline-util": lambda retcp: headline_util(retcp, cubic),
        "rdcn-headline-latency": lambda retcp: headline_latency(retcp, cubic),
    }
    claims = {id_: {end: judged(of_retcp[end]) for end in ends} for id_, judged in judges.items()}
    return Findings(shown, claims, notes=[over_median(of_retcp, cubic)])


def short_lead(retcp: dict[str, Cells], cubic: dict[str, Cells]) -> list[Part]:
    """Judge: 150 us is within 4 points of CUBIC with 1800 us."""
    name = "circuit_util_pct"
    gap = retcp[name].at(resize_us=SHORT_US) - cubic[name].at(resize_us=str(CUBIC_LEAD_US))
    return [judge.equivalence_part(f"{SHORT_US} us minus CUBIC's {CUBIC_LEAD_US} us", gap.values, 4, "points")]


def short_tail(tails: Cells) -> list[Part]:
    """Judge: leads up to 100 us are within 3 us of no lead; the tail rises from 150 us on, which exceeds no lead."""
    none = tails.at(resize_us=0)
    parts = [
        judge.equivalence_part(f"{item} us minus 0 us", (tails.at(resize_us=item) - none).values, 3, "us")
        for item in FREE_US
    ]
    parts += trend("tail", tails.part(resize_us=[str(item) for item in COSTLY_US]), "up", "us")
    return [*parts, above(f"{COSTLY_US[0]} us minus 0 us", tails.at(resize_us=COSTLY_US[0]) - none, "us")]


def headline_util(retcp: dict[str, Cells], cubic: dict[str, Cells]) -> list[Part]:
    """Judge the ratio 1.91 of the abstract."""
    printed = tables("rdcn")["abstract"]["util_ratio_retcp_resize150_to_cubic_static16"]
    pair = _pair(retcp, "circuit_util_pct", cubic, "circuit_util_pct")
    return [ratio_part("circuit_util_pct, reTCP over CUBIC", *pair, printed)]


def headline_latency(retcp: dict[str, Cells], cubic: dict[str, Cells]) -> list[Part]:
    """Judge the ratio 1.20 of the abstract by its wording: tail over tail."""
    printed = tables("rdcn")["abstract"]["latency_ratio_retcp_resize150_to_cubic_static16"]
    pair = _pair(retcp, "p99_all_us", cubic, "p99_all_us")
    estimate, drawn = ratio(*pair)
    bounds = (printed - LATENCY_MARGIN, printed + LATENCY_MARGIN)
    return [judge.within_part("p99_all_us, reTCP over CUBIC", drawn, estimate, len(pair[0]), bounds, 1, "")]


def over_median(of_retcp: dict[str, dict[str, Cells]], cubic: dict[str, Cells]) -> str:
    """Describe the authors' calculation of 1.20: a tail over a median."""
    shown = []
    for end, retcp in of_retcp.items():
        pair = _pair(retcp, "p99_all_us", cubic, "p50_all_us")
        estimate, drawn = ratio(*pair)
        shown.append(f"{judge.span(resampling.percentile(drawn, estimate, len(pair[0])), '')} ({end})")
    return (
        "The published 1.20 is reTCP's 99th percentile at 150 us over CUBIC's median at 16 packets, here "
        f"{', '.join(shown)}. The abstract's wording is a tail over a tail."
    )


def _pair(
    first: dict[str, Cells], of_first: str, second: dict[str, Cells], of_second: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values by seed of reTCP with the short lead, and of CUBIC on the small queue."""
    return first[of_first].at(resize_us=SHORT_US).values, second[of_second].at(resize_us=STATIC).values


RETCP_VOQ = Exhibit(
    "rdcn/retcp-voq",
    "reTCP on queues that do not change",
    "graphs 8-2 to 8-4",
    Setup(PAPER, 1, static_grids, seeds, (*ASSUMED, STATIC_LEAD)),
    find_static,
)
RETCP_RESIZE = Exhibit(
    "rdcn/retcp-resize",
    "reTCP and a queue that becomes large ahead of its day",
    "graphs 9-2 to 9-4",
    Setup(PAPER, 1, resized_grids, seeds, (*ASSUMED, MARK_END)),
    find_resized,
)
