"""Stalls of sessions after the failure of one of two parallel links, or of their duct, over four networks."""

import functools
from collections.abc import Iterable

from optcp.outage.resampled import Resampled
from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Key, Options, Part, Row, Setup, Size, row
from optcp_papers.outage.population import inside, side
from optcp_papers.prr.cases import CASES, DUCT_RESTORED, DUCT_TI_LFA, FORWARD, MECHANISMS, NOTHING, REPATH, axes
from optcp_papers.prr.paper import ASSUMED, PAPER, not_run, sessions
from optcp_papers.prr.stalls import KINDS, Costs, CostsOf, together
from optcp_papers.prr.world import NETWORKS, QUICK_NETWORK, Sessions, world

QUICK_EVERY = 2
EVERY = {"germany50": 2}
"""Step between the adjacencies that fail, where not every one does."""
QUICK_CASES = (NOTHING, "restoration, 2 s", "ti-lfa, 50 ms", "ti-lfa, 10 ms", DUCT_RESTORED, FORWARD, "1 %")
SHOWN = (*MECHANISMS, DUCT_RESTORED, DUCT_TI_LFA)
LONG_MS, PAUSE_MS = 1000.0, 100.0
NOTES = [
    "One of two parallel links fails in each adjacency except bridges, for 5 s (germany50: in every second). "
    "`duct`: both fail. Affected sessions stall for a second or more if neither hosts nor the network repair (`duct`: "
    "with restoration). `stall_ms` is their mean stall, and `stalls_s` the sum of their stalls per failure. `long_pct` "
    "of them stall for more than 1 s (video: 100 ms). `removed_pct` is the share of `stalls_s` that repathing removes. "
    "Intervals are over failures, which are weighted by length.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per network over cases, repathing and failures."""
    return _grids(sessions(chosen), options)


@functools.cache
def _grids(of: Sessions, options: Options) -> dict[str, Grid]:
    """Return the grids; cached, because several experiments share them."""
    quick = options.size.is_quick
    cases = {name: CASES[name] for name in (QUICK_CASES if quick else CASES)}
    result = {}
    for name in (QUICK_NETWORK,) if quick else NETWORKS:
        made = world(name, of)
        every = QUICK_EVERY if quick else EVERY.get(name, 1)
        result[name] = options.grid(made.core, {}, axes(cases, made, every), f"prr on {name}")
    return result


def seeds(_: str, size: Size) -> int:
    """Return one seed, because the failures are the sample."""
    return size.seeds or 1


SETUP = Setup(PAPER, None, grids, seeds, ASSUMED)


def every_cost(found: Found) -> dict[str, Costs]:
    """Return the costs by network."""
    of = sessions(found.chosen)
    return {name: done.once(CostsOf(world(name, of))) for name, done in found.done.items()}


def missing(by_network: dict[str, Costs]) -> list[Part]:
    """Return a placeholder for the networks that quick runs omit."""
    return [not_run("other networks")] if len(by_network) < len(NETWORKS) else []


def rows_of(costs: Costs, key: Key, names: Iterable[str], axis: str = "case") -> list[Row]:
    """Return the rows of some cases, with the case as ``axis`` of their keys."""
    result = []

    def add(at: Key, metric: str, value: Resampled) -> None:
        if value.n and value.estimate == value.estimate:
            result.append(row({**key, **at}, metric, None, value.interval, ""))

    for case in (name for name in names if (name, "none") in costs.cells):
        for kind in KINDS:
            for repath in REPATH:
                at: Key = {axis: case, "kind": kind, "repath": repath}
                add(at, "stall_ms", costs.mean_ms((case, repath), kind))
                add(at, "stalls_s", costs.total_s((case, repath), kind))
                above_ms = PAUSE_MS if kind == "video" else LONG_MS
                add(at, "long_pct", costs.longer_pct((case, repath), kind, above_ms))
            add({axis: case, "kind": kind}, "removed_pct", costs.reduction_pct(case, kind))
    return result


def find(found: Found) -> Findings:
    """Return stalls by mechanism and repathing, and judge the claims about clean failures."""
    by_network = every_cost(found)
    shown = [item for name, costs in by_network.items() for item in rows_of(costs, {"network": name}, SHOWN)]
    rest = missing(by_network)
    claims = {
        id_: {name: [*judge(costs), *rest] for name, costs in by_network.items()}
        for id_, judge in {
            "prr-50ms-worth-nothing": worth_nothing,
            "prr-outruns-restoration": outruns,
            "prr-fast-protection-unchanged": unchanged,
            "prr-duct-needs-network": needs_network,
        }.items()
    }
    claims["prr-video-plays-on"] = {"all networks": [*plays_on(together(by_network.values())), *rest]}
    return Findings(shown, claims, [], NOTES)


def worth_nothing(costs: Costs) -> list[Part]:
    """Judge: hosts alone stall RPCs for less than 50 ms longer than TI-LFA with 50 ms detection."""
    apart = costs.mean_ms((NOTHING, "rto"), "rpc") - costs.mean_ms(("ti-lfa, 50 ms", "none"), "rpc")
    return [side("hosts alone minus TI-LFA, minus 50 ms", apart - 50.0, "below", "ms")]


def outruns(costs: Costs) -> list[Part]:
    """Judge: repathing removes at least 63 % of the stalls under restoration."""
    return [side("removed, minus 63 %", costs.reduction_pct("restoration, 2 s") - 63.0, "above", "points")]


def unchanged(costs: Costs) -> list[Part]:
    """Judge: with TI-LFA and 10 ms detection, repathing changes no stall."""
    case = "ti-lfa, 10 ms"
    return [
        inside(kind, costs.mean_ms((case, "rto"), kind) - costs.mean_ms((case, "none"), kind), 5, "ms")
        for kind in ("rpc", "long")
    ]


def needs_network(costs: Costs) -> list[Part]:
    """Judge: repathing removes nothing if both parallel links fail."""
    return [inside("removed", costs.reduction_pct(DUCT_RESTORED), 5, "%")]


def plays_on(costs: Costs) -> list[Part]:
    """Judge: if nobody else repairs, video pauses without repathing, and not with it."""
    paused = {repath: costs.longer_pct((NOTHING, repath), "video", PAUSE_MS) for repath in REPATH}
    return [
        side("paused with repathing, minus 5 %", paused["rto"] - 5.0, "below", "points"),
        side("paused without, minus 50 %", paused["none"] - 50.0, "above", "points"),
    ]


LINKS = Exhibit(
    "prr/links",
    "Stalls by mechanism, with and without repathing",
    "docs/details/prr.md, every link",
    SETUP,
    find,
)
