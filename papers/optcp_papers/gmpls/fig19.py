"""Figure 19: the schemes compared by goodput after the switch-over and after the switch-back."""

import math
from dataclasses import replace

from optcp import stats
from optcp.papers.kit import Cells, Exhibit, Findings, Found, Part, Row, judge, row, rows
from optcp_papers.gmpls.paper import LOST_NOTE
from optcp_papers.gmpls.section8 import (
    DELTA_MS,
    LOCAL,
    LOCAL_BACKUP,
    LOOPBACK,
    MECHANISMS,
    PATH,
    PATH_BACKUP,
    SCENARIOS,
    SETUP,
    SWITCH_BACK_S,
    SWITCH_OVER_S,
    VARIANT,
    WORKING_LINKS,
    goodput,
)

WINDOWS = {"switchover": SWITCH_OVER_S, "switchback": SWITCH_BACK_S}
PAIRS = ((LOCAL, PATH), (LOCAL, LOOPBACK), (LOCAL, VARIANT), (LOOPBACK, PATH), (VARIANT, PATH), (VARIANT, LOOPBACK))
SLIGHTLY_POINTS = 2.0
UNDER_D = SCENARIOS[:3]
HOLM_FIRST = 0.05
"""Holm compares the smallest of m p-values with this over m."""
LOOPED_LINKS = 4
"""Links that loops use in the reverse direction: L1->L0 and L2->L1 for data, L1->L2 and L2->L3 for ACKs."""


def find(found: Found) -> Findings:
    """Rows by (scenario, mechanism) at both switch delays, differences by pair, and what the backups reserve."""
    by_delta = {delta: in_windows(found, delta) for delta in DELTA_MS}
    first, second = by_delta.values()
    backbone_bps = found.number("backbone_bps")
    reserved = reserved_mbps(backbone_bps)
    return Findings(
        [
            *compared(first, "pct"),
            *differences(first),
            *compared(second, f"{DELTA_MS[1]}ms_pct"),
            *(
                row({"mechanism": name}, "reserved_mbps", None, stats.exact(rate), "")
                for name, rate in reserved.items()
            ),
        ],
        {
            id_: {f"delta = {delta} ms": judged(pct[window]) for delta, pct in by_delta.items()}
            for id_, (judged, window) in CLAIMS.items()
        },
        notes=[LOST_NOTE, beside_reserved(first["switchover"], backbone_bps)],
    )


def in_windows(found: Found, delta_ms: int) -> dict[str, Cells]:
    """Goodput of (5 s, 7.5 s] and (10 s, 11.5 s] in per cent of the access bandwidth, by scenario and scheme."""
    shared = goodput(found, delta_ms)
    return {name: shared.access_pct(window) for name, window in WINDOWS.items()}


def reserved_mbps(backbone_bps: float) -> dict[str, float]:
    """Spare capacity in Mb/s that a scheme reserves against the failure of any one link of the working path.

    The backbone's rate for every directed link of every backup. Local protection needs a backup like the one of L1-L2
    for each link; the others have one.
    """
    directed = {name: 2 * (len(PATH_BACKUP) - 1) for name in MECHANISMS}
    directed[LOCAL] = WORKING_LINKS * 2 * (len(LOCAL_BACKUP) - 1)
    return {name: links * backbone_bps / 1e6 for name, links in directed.items()}


def compared(pct: dict[str, Cells], unit: str) -> list[Row]:
    """A row a (scenario, mechanism) and window."""
    return rows({f"{name}_{unit}": cells.mean() for name, cells in pct.items()})


def differences(pct: dict[str, Cells]) -> list[Row]:
    """A row a window, scenario and pair of schemes."""
    return [
        one
        for name, cells in pct.items()
        for scenario in SCENARIOS
        for first, second in PAIRS
        for one in rows(
            {f"{name}_points": gap(cells, scenario, first, second).mean()},
            key={"scenario": scenario, "mechanism": f"{first} minus {second}"},
        )
    ]


def gap(pct: Cells, scenario: str, one: str, other: str) -> Cells:
    """By how much a scheme has more goodput than another."""
    return pct.at(scenario=scenario, mechanism=one) - pct.at(scenario=scenario, mechanism=other)


def beside_reserved(pct: Cells, backbone_bps: float) -> str:
    """Say what capacity the schemes reserve, beside the goodput of the switch-over."""
    reserved, mean = reserved_mbps(backbone_bps), pct.mean_over("scenario")
    beside = ", ".join(
        f"{name} {rate:g} Mb/s ({mean.at(mechanism=name).values.mean():.1f} %)" for name, rate in reserved.items()
    )
    return (
        f"Spare capacity that a scheme reserves against the failure of any one link of L0-L1-L2-L3, with its goodput "
        f"of the switch-over, mean over the scenarios, in brackets: {beside}. Counted are the backbone's rate for each "
        f"directed link of each backup: three local backups like {'-'.join(LOCAL_BACKUP)}, or one "
        f"{'-'.join(PATH_BACKUP)}. A loop also travels on the working path against its direction: where that capacity "
        f"is not free, it is {LOOPED_LINKS * backbone_bps / 1e6:g} Mb/s more for loopback and loopbackvar."
    )


def minus(pct: Cells, scenario: str, one: str, other: str) -> Part:
    """Judge: one scheme has more goodput than another."""
    first, second = (pct.at(scenario=scenario, mechanism=mechanism) for mechanism in (one, other))
    return judge.paired_part(f"{scenario}, {one} minus {other}", first, second, "above", "points")


def local_is_best(pct: Cells) -> list[Part]:
    """Judge: at switch-over local beats every other scheme in every scenario."""
    return [minus(pct, scenario, LOCAL, other) for scenario in SCENARIOS for other in (PATH, LOOPBACK, VARIANT)]


def loopback_slightly_better(pct: Cells) -> list[Part]:
    """Judge: loop-back differs from path protection by less than 2 points; its sign is stated beside."""
    parts = []
    for scenario in SCENARIOS:
        loopback, path = (pct.at(scenario=scenario, mechanism=mechanism) for mechanism in (LOOPBACK, PATH))
        test = stats.paired(loopback, path)
        sign = "undecided" if test.p >= 0.05 else "above" if test.interval.estimate > 0 else "below"
        part = judge.equivalence_part(f"{scenario}, loopback minus path", loopback - path, SLIGHTLY_POINTS, "points")
        parts.append(replace(part, text=f"{part.text} (sign: {sign}, p = {test.p:.2g})"))
    return parts


def variant_between(pct: Cells) -> list[Part]:
    """Judge: in A, B and C the variant ranks below local and above loop-back."""
    pairs = ((VARIANT, LOOPBACK), (LOCAL, VARIANT))
    return [minus(pct, scenario, one, other) for scenario in UNDER_D for one, other in pairs]


def switch_back_ranking(pct: Cells) -> list[Part]:
    """Judge: at switch-back local is best, and path and the variant are better than loop-back."""
    pairs = ((LOCAL, PATH), (LOCAL, LOOPBACK), (LOCAL, VARIANT), (PATH, LOOPBACK), (VARIANT, LOOPBACK))
    cells = [(scenario, one, other) for scenario in SCENARIOS for one, other in pairs]
    parts = [minus(pct, *cell) for cell in cells]
    sure = stats.holm([part.p for part in parts if part.p is not None])
    for number, cell in enumerate(cells):
        if not sure[number] and len(pct.seeds) > 1:
            needed = stats.runs_to_decide(gap(pct, *cell), HOLM_FIRST / len(cells))
            count = f"about {math.ceil(needed):d}" if math.isfinite(needed) else "no number of"
            parts[number] = replace(parts[number], text=f"{parts[number].text} ({count} seeds would decide)")
    return parts


CLAIMS = {
    "local-wins-switch-over": (local_is_best, "switchover"),
    "loop-back-slightly-better": (loopback_slightly_better, "switchover"),
    "variant-between": (variant_between, "switchover"),
    "switch-back-order": (switch_back_ranking, "switchback"),
}
"""Each statement's judge, and the window that it is about."""

FIG19 = Exhibit("gmpls/fig19", "Protection schemes compared", "section 8.2 and 8.3, Fig. 19", SETUP, find)
