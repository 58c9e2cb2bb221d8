"""Share of flows that still use failed paths after some RTOs, compared with closed forms."""

from collections.abc import Callable
from dataclasses import dataclass

from optcp import stats
from optcp.papers.kit import (
    Axis,
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Key,
    Options,
    Part,
    Run,
    Settings,
    Setup,
    equivalence_part,
    row,
    rows,
    runs_of,
)
from optcp.stats import exact
from optcp_papers.prr.law import stuck_both_ways, stuck_one_way
from optcp_papers.prr.paper import PAPER, scenario

SEEDS, QUICK_SEEDS = 40, 6
FAILED = {"1/4": 1, "1/2": 2, "3/4": 3}
"""Number of failed paths of four, by their share."""


@dataclass(frozen=True)
class Way:
    """Failed direction, and the rule of repathing.

    Attributes
    ----------
    settings
        Settings of the scenario.
    law
        Closed form: share of flows with at least k RTOs, from the share of failed paths and k.
    """

    settings: Settings
    law: Callable[[float, int], float]


def stuck_until_first(p: float, k: int) -> float:
    """Return the share of stuck flows if the receiver draws at the first duplicate."""
    return stuck_both_ways(p, k, draws_at=2)


WAYS = {
    "data": Way({"parameters.direction": "forward"}, stuck_one_way),
    "data and acks": Way({"parameters.direction": "both"}, stuck_both_ways),
    "data and acks, first duplicate": Way(
        {"parameters.direction": "both", "tcp.host.repath": "rto-first"}, stuck_until_first
    ),
    "syn": Way({"parameters.direction": "forward", "tcp.host.handshake": True}, stuck_one_way),
}
TIMES = (1, 2, 3, 4)
RARE = 0.05
"""Smaller shares are shown but not judged."""
MARGIN_PCT = 2.0
NOTES = [
    "Flows of one segment start after one, two or three of four paths began to drop everything. `stuck_pct` is the "
    "share with at least k RTOs, `expected_pct` the closed form, and `off_pct` the relative difference. Each seed has "
    "10,000 flows.",
]


def grids(_: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grid over failed directions and paths."""
    axes = {
        "fails": {name: way.settings for name, way in WAYS.items()},
        "paths": {
            share: {
                "failures": [
                    {"link": (f"S{at}", "B"), "direction": "$direction", "at": "0.5 s"} for at in range(1, count + 1)
                ]
            }
            for share, count in FAILED.items()
        },
    }
    return {"stuck": options.grid(scenario("stuck"), {}, axes, "prr stuck")}


def shares(run: Run) -> list[float]:
    """Return the shares of flows with at least 1, 2, 3 and 4 RTOs, in per cent."""
    timeouts = run["stalls"]["timeouts"]
    return [100 * float((timeouts >= k).mean()) for k in TIMES]


def find(found: Found) -> Findings:
    """Return the shares, and compare them with the closed forms."""
    measured = found.only.each(shares, Axis("k", tuple(map(str, TIMES)))).named("stuck_pct", "%")
    shown = []
    judged: dict[str, list[Part]] = {}
    for name, way in WAYS.items():
        parts = judged[name] = []
        for paths, count in FAILED.items():
            for k in TIMES:
                expected = way.law(count / 4, k)
                stuck = measured.at(fails=name, paths=paths, k=str(k))
                off = 100 * (stuck.values / (100 * expected) - 1)
                key: Key = {"fails": name, "paths": paths, "k": k}
                shown += rows({"stuck_pct": stuck.mean()}, key=key)
                shown.append(row(key, "expected_pct", None, exact(100 * expected), ""))
                shown.append(row(key, "off_pct", None, stats.mean(off), ""))
                if expected >= RARE:
                    parts.append(equivalence_part(f"p = {paths}, k = {k}", off, MARGIN_PCT, "%"))
    claims = {"prr-stuck-one-way": judged["data"], "prr-stuck-both-ways": judged["data and acks"]}
    return Findings(shown, claims, [], NOTES)


STUCK = Exhibit(
    "prr/stuck",
    "Flows that still use failed paths after k timeouts",
    "docs/details/prr.md, stuck flows",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS)),
    find,
)
