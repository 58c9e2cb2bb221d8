"""Figure 19: the schemes compared by goodput after the switch-over and after the switch-back."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls import section8
from optcp.papers.gmpls.section6 import LOST_NOTE
from optcp.papers.gmpls.section8 import (
    DELTA_MS,
    LOCAL,
    LOCAL_BACKUP,
    LOOPBACK,
    MECHANISMS,
    PATH,
    PATH_BACKUP,
    SCENARIOS,
    SWITCH_BACK_S,
    SWITCH_OVER_S,
    VARIANT,
    WORKING_LINKS,
    Section8,
)
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.gmpls.section8 import Context
    from optcp.papers.judge import Part
    from optcp.papers.model import Key, Row
    from optcp.study import Done

WINDOWS = {"switchover": SWITCH_OVER_S, "switchback": SWITCH_BACK_S}
PAIRS = ((LOCAL, PATH), (LOCAL, LOOPBACK), (LOCAL, VARIANT), (LOOPBACK, PATH), (VARIANT, PATH), (VARIANT, LOOPBACK))
SLIGHTLY_POINTS = 2.0
UNDER_D = SCENARIOS[:3]
HOLM_FIRST = 0.05
"""Holm compares the smallest of m p-values with this over m."""
LOOPED_LINKS = 4
"""Links that loops use in the reverse direction: L1->L0 and L2->L1 for data, L1->L2 and L2->L3 for ACKs."""


@exhibit
class Fig19(Section8):
    """Goodput of (5 s, 7.5 s] and (10 s, 11.5 s] in per cent of the access bandwidth, and paired differences."""

    id = "gmpls/fig19"
    title = "Protection schemes compared"
    where = "section 8.2 and 8.3, Fig. 19"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows by (scenario, mechanism) at both switch delays, differences by pair, and what the backups reserve."""
        contexts = {f"delta = {delta} ms": self.context(chosen, done, i) for i, delta in enumerate(DELTA_MS)}
        first, second = contexts.values()
        rows = [*_rows(first, "pct"), *_differences(first), *_rows(second, f"{DELTA_MS[1]}ms_pct")]
        reserved = reserved_mbps(first.backbone_bps)
        rows += [
            row({"mechanism": name}, "reserved_mbps", None, stats.exact(rate), "") for name, rate in reserved.items()
        ]
        return Evaluation(rows, judge.judge_all(self.id, JUDGES, contexts), [], [LOST_NOTE, *_notes(first)])


def reserved_mbps(backbone_bps: float) -> dict[str, float]:
    """Spare capacity in Mb/s that a scheme reserves against the failure of any one link of the working path.

    The backbone's rate for every directed link of every backup. Local protection needs a backup like the one of L1-L2
    for each link; the others have one.
    """
    directed = {name: 2 * (len(PATH_BACKUP) - 1) for name in MECHANISMS}
    directed["local"] = WORKING_LINKS * 2 * (len(LOCAL_BACKUP) - 1)
    return {name: links * backbone_bps / 1e6 for name, links in directed.items()}


def _rows(context: Context, unit: str) -> list[Row]:
    pct = {name: context.access_pct(window) for name, window in WINDOWS.items()}
    return [
        row(section8.key(i, j), f"{name}_{unit}", None, stats.mean(pct[name][:, i, j]), "")
        for i in range(len(SCENARIOS))
        for j in range(len(MECHANISMS))
        for name in WINDOWS
    ]


def _differences(context: Context) -> list[Row]:
    rows = []
    for name, window in WINDOWS.items():
        pct = context.access_pct(window)
        for i, scenario in enumerate(SCENARIOS):
            for one, other in PAIRS:
                key: Key = {"scenario": scenario, "mechanism": f"{MECHANISMS[one]} minus {MECHANISMS[other]}"}
                gap = stats.paired(pct[:, i, one], pct[:, i, other])
                rows.append(row(key, f"{name}_points", None, gap.interval, ""))
    return rows


def _notes(context: Context) -> list[str]:
    reserved = reserved_mbps(context.backbone_bps)
    goodput = context.access_pct(SWITCH_OVER_S).mean(axis=(0, 1))
    beside = ", ".join(f"{name} {reserved[name]:g} Mb/s ({goodput[j]:.1f} %)" for j, name in enumerate(MECHANISMS))
    return [
        f"Spare capacity that a scheme reserves against the failure of any one link of L0-L1-L2-L3, with its goodput "
        f"of the switch-over, mean over the scenarios, in brackets: {beside}. Counted are the backbone's rate for each "
        f"directed link of each backup: three local backups like {'-'.join(LOCAL_BACKUP)}, or one "
        f"{'-'.join(PATH_BACKUP)}. A loop also travels on the working path against its direction: where that capacity "
        f"is not free, it is {LOOPED_LINKS * context.backbone_bps / 1e6:g} Mb/s more for loopback and loopbackvar."
    ]


def _minus(pct: NDArray[np.float64], i: int, one: int, other: int) -> Part:
    name = f"{SCENARIOS[i]}, {MECHANISMS[one]} minus {MECHANISMS[other]}"
    return judge.paired_part(name, pct[:, i, one], pct[:, i, other], "above", "points")


def local_is_best(context: Context) -> list[Part]:
    """Judge: at switch-over local beats every other scheme in every scenario."""
    pct = context.access_pct(SWITCH_OVER_S)
    return [_minus(pct, i, LOCAL, other) for i in range(len(SCENARIOS)) for other in (PATH, LOOPBACK, VARIANT)]


def loopback_slightly_better(context: Context) -> list[Part]:
    """Judge: loop-back differs from path protection by less than 2 points; its sign is stated beside."""
    pct = context.access_pct(SWITCH_OVER_S)
    parts = []
    for i, scenario in enumerate(SCENARIOS):
        test = stats.paired(pct[:, i, LOOPBACK], pct[:, i, PATH])
        sign = "undecided" if test.p >= 0.05 else "above" if test.interval.estimate > 0 else "below"
        part = judge.equivalence_part(
            f"{scenario}, loopback minus path", pct[:, i, LOOPBACK] - pct[:, i, PATH], SLIGHTLY_POINTS, "points"
        )
        parts.append(replace(part, text=f"{part.text} (sign: {sign}, p = {test.p:.2g})"))
    return parts


def variant_between(context: Context) -> list[Part]:
    """Judge: in A, B and C the variant ranks below local and above loop-back."""
    pct = context.access_pct(SWITCH_OVER_S)
    return [
        _minus(pct, SCENARIOS.index(scenario), one, other)
        for scenario in UNDER_D
        for one, other in ((VARIANT, LOOPBACK), (LOCAL, VARIANT))
    ]


def switch_back_ranking(context: Context) -> list[Part]:
    """Judge: at switch-back local is best, and path and the variant are better than loop-back."""
    pct = context.access_pct(SWITCH_BACK_S)
    cells = [
        (i, one, other)
        for i in range(len(SCENARIOS))
        for one, other in ((LOCAL, PATH), (LOCAL, LOOPBACK), (LOCAL, VARIANT), (PATH, LOOPBACK), (VARIANT, LOOPBACK))
    ]
    parts = [_minus(pct, *cell) for cell in cells]
    sure = stats.holm([part.p for part in parts if part.p is not None])
    for number, (i, one, other) in enumerate(cells):
        if not sure[number] and context.measured.seeds > 1:
            needed = stats.runs_to_decide(pct[:, i, one] - pct[:, i, other], HOLM_FIRST / len(cells))
            count = f"about {math.ceil(needed):d}" if math.isfinite(needed) else "no number of"
            parts[number] = replace(parts[number], text=f"{parts[number].text} ({count} seeds would decide)")
    return parts


JUDGES = {
    "local-wins-switch-over": local_is_best,
    "loop-back-slightly-better": loopback_slightly_better,
    "variant-between": variant_between,
    "switch-back-order": switch_back_ranking,
}
