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
"""Holm's level of the smallest of m p-values, times m."""
LOOPED_LINKS = 4
"""Number of links that loops use in the reverse direction: L1->L0, L2->L1 (data), L1->L2, L2->L3 (ACKs)."""


def find(found: Found) -> Findings:
    """Return rows by (scenario, mechanism) at both switch delays, differences by pair, and the reserved capacity."""
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
    """Return goodput of (5 s, 7.5 s] and (10 s, 11.5 s] in % of the access bandwidth, by scenario and scheme."""
    shared = goodput(found, delta_ms)
    return {name: shared.access_pct(window) for name, window in WINDOWS.items()}


def reserved_mbps(backbone_bps: float) -> dict[str, float]:
    """Return the capacity in Mb/s that each scheme reserves against the failure of any link of the working path.

    Every directed link of every backup counts with the backbone rate. Local protection needs one backup per link, such
    as
    the backup of L1-L2; the other schemes need one backup.
    """
    directed = {name: 2 * (len(PATH_BACKUP) - 1) for name in MECHANISMS}
    directed[LOCAL] = WORKING_LINKS * 2 * (len(LOCAL_BACKUP) - 1)
    return {name: links * backbone_bps / 1e6 for name, links in directed.items()}


def compared(pct: dict[str, Cells], unit: str) -> list[Row]:
    """Return one row per (scenario, mechanism) and window."""
    return rows({f"{name}_{unit}": cells.mean() for name, cells in pct.items()})


def differences(pct: dict[str, Cells]) -> list[Row]:
    """Return one row per window, scenario and pair of schemes."""
    return [
        item
        for name, cells in pct.items()
        for scenario in SCENARIOS
        for first, second in PAIRS
        for item in rows(
            {f"{name}_points": gap(cells, scenario, first, second).mean()},
            key={"scenario": scenario, "mechanism": f"{first} minus {second}"},
        )
    ]


def gap(pct: Cells, scenario: str, one: str, other: str) -> Cells:
    """Return the goodput of one scheme minus the goodput of another."""
    return pct.at(scenario=scenario, mechanism=one) - pct.at(scenario=scenario, mechanism=other)


def beside_reserved(pct: Cells, backbone_bps: float) -> str:
    """Describe the capacity that the schemes reserve, with their goodput at the switchover."""
    reserved, mean = reserved_mbps(backbone_bps), pct.mean_over("scenario")
    beside = ", ".join(
        f"{name} {rate:g} Mb/s ({mean.at(mechanism=name).values.mean():.1f} %)" for name, rate in reserved.items()
    )
    return (
        f"Spare capacity that a scheme reserves against the failure of any link of L0-L1-L2-L3, with its mean goodput "
        f"at switchover over the scenarios: {beside}. Each directed link of each backup counts with the backbone "
        f"rate: three local backups like {'-'.join(LOCAL_BACKUP)}, or one "
        f"{'-'.join(PATH_BACKUP)}. A loop also uses the working path in the reverse direction. If that capacity is "
        f"not free, loopback and loopbackvar need {LOOPED_LINKS * backbone_bps / 1e6:g} Mb/s more."
    )


def minus(pct: Cells, scenario: str, one: str, other: str) -> Part:
    """Judge: one scheme has more goodput than another."""
    first, second = (pct.at(scenario=scenario, mechanism=mechanism) for mechanism in (one, other))
    return judge.paired_part(f"{scenario}, {one} minus {other}", first, second, "above", "points")


def local_is_best(pct: Cells) -> list[Part]:
    """Judge: at switchover local is better than every other scheme in every scenario."""
    return [minus(pct, scenario, LOCAL, other) for scenario in SCENARIOS for other in (PATH, LOOPBACK, VARIANT)]


def loopback_slightly_better(pct: Cells) -> list[Part]:
    """Judge: loop-back differs from path protection by less than 2 points; the evidence states the sign."""
    parts = []
    for scenario in SCENARIOS:
        loopback, path = (pct.at(scenario=scenario, mechanism=mechanism) for mechanism in (LOOPBACK, PATH))
        test = stats.paired(loopback, path)
        sign = "undecided" if test.p >= 0.05 else "above" if test.interval.estimate > 0 else "below"
        part = judge.equivalence_part(f"{scenario}, loopback minus path", loopback - path, SLIGHTLY_POINTS, "points")
        parts.append(replace(part, text=f"{part.text} (sign: {sign}, p = {test.p:.2g})"))
    return parts


def variant_between(pct: Cells) -> list[Part]:
    """Judge: in A, B and C the variant is worse than local and better than loop-back."""
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
"""Judge of each claim, and the window it uses."""

FIG19 = Exhibit("gmpls/fig19", "Protection schemes compared", "section 8.2 and 8.3, Fig. 19", SETUP, find)
