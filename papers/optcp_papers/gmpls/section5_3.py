"""Section 5.3: optical protection with reserved capacity, for which a faster switchover is always better."""

import functools
from dataclasses import dataclass
from pathlib import Path

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, defined, rows, runs_of
from optcp.papers.kit import Cells, Grid, Options, Part, Row, StudyResult, judge, overrides, tables
from optcp_papers.gmpls.paper import FAILURE_S, PAPER, SOURCES, WHY_CHANGED, WINDOW_S
from optcp_papers.gmpls.section5 import ASSUMED, READINGS_NOTE

PAPER_RUNS = 140
DELTA_MS = (0, 5, 10, 20, 30, 40, 50, 250, 500, 1000)
LATE = DELTA_MS.index(10)
QUICK_SEEDS = 10
SAME_PCT = 0.5

SCENARIOS = Path(__file__).with_name("scenarios")
REPAIRS = {delta: {"parameters.repair": f"{round(1000 * FAILURE_S) + delta} ms"} for delta in DELTA_MS}
RESERVED = {0: "reserved, 0 ms", 50: "reserved, 50 ms"}
"""Name of each backup with reserved capacity, by its switch delay in ms."""
BACKUPS = {
    "no failure": {"failures": [], "parameters.switch_delay": "0 ms"},
    "electrical": {"parameters.switch_delay": "0 ms"},
} | {
    name: {"parameters.switch_delay": f"{delta} ms", "protection.0.capacity": "reserved"}
    for delta, name in RESERVED.items()
}
OBSERVE = [{"name": "goodput", "kind": "goodput", "interval": "100 ms"}]
WHY_SHARE = (
    "With the stated 100 flows, 5 ms cost 0.5 % of the goodput on average, so details decide more runs than in the "
    "paper. With 10 flows, which the spread of Table 3 suggests, they decide fewer."
)


def link_down(reading: str) -> str:
    """Return the name of the grid of a link that is down for delta."""
    return f"link down for delta, {reading}"


def reserved(reading: str) -> str:
    """Return the name of the grid of section 5's network with several kinds of backups."""
    return f"reserved backup beside fixed flows, {reading}"


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return, per number of flows, the grids of a link down for delta and of section 5 with a reserved backup."""
    result = {}
    for reading in readings(chosen):
        per_source = int(reading.partition("+")[0]) // SOURCES
        settings = {**overrides(ASSUMED, chosen), "parameters.flows_per_source": per_source}
        settings |= {"observe": OBSERVE, "stop": f"{WINDOW_S[1]} s"}
        for name, scenario, axes in (
            (link_down(reading), "gmpls-section5-optical.toml", {"delta_ms": REPAIRS}),
            (reserved(reading), "gmpls-section5.toml", {"backup": BACKUPS}),
        ):
            result[name] = options.grid(SCENARIOS / scenario, settings, axes, f"gmpls section 5.3, {name}")
    return result


def readings(chosen: Chosen) -> list[str]:
    """Return the interpretations of the number of flows."""
    return str(chosen["flows"]).split(", ")


@dataclass(frozen=True)
class World:
    """Bytes in (5 s, 6.5 s] under one interpretation of the number of flows.

    Attributes
    ----------
    good
        Bytes with the link down for ``delta_ms``.
    beside
        Bytes in section 5's network, over ``backup`` and ``group``.
    """

    good: Cells
    beside: Cells

    @functools.cached_property
    def gain_pct(self) -> Cells:
        """Goodput gain Good(delta) / Good(0) - 1, in %."""
        ratio = self.good / self.good.at(delta_ms=0)
        return 100 * (
            defined(ratio, "a run without any goodput in (5 s, 6.5 s] at delta = 0: f(delta) has no meaning") - 1
        )

    @property
    def best(self) -> Cells:
        """Share of each seed for which a delta has the most goodput (ties are split)."""
        return self.good.wins("delta_ms")

    @property
    def fixed_change_pct(self) -> Cells:
        """Change of the fixed flows' goodput with each backup against no failure, in %."""
        fixed = self.beside.at(group="fixed")
        return 100 * (fixed / fixed.at(backup="no failure") - 1)


def worlds(found: Found) -> dict[str, World]:
    """Return the results of each interpretation of the flow count."""

    def make_world(reading: str) -> World:
        good = found.done[link_down(reading)].once(in_window)
        return World(good.total("group"), found.done[reserved(reading)].once(in_window))

    return {reading: make_world(reading) for reading in readings(found.chosen)}


def in_window(done: StudyResult) -> Cells:
    """Return the bytes in equation 5's window, by class."""
    return done["goodput"].between(*WINDOW_S)


def find(found: Found) -> Findings:
    """Return two rows per (interpretation, delay), and the effect of the reserved backup on fixed and all flows."""
    shown = worlds(found)
    return Findings(
        [row for reading, world in shown.items() for row in compared(reading, world, changed=found.changed)],
        {id_: {reading: judged(world) for reading, world in shown.items()} for id_, judged in CLAIMS.items()},
        notes=[READINGS_NOTE],
    )


def compared(reading: str, world: World, *, changed: bool) -> list[Row]:
    """Return the rows of an interpretation."""
    printed = tables("gmpls")["section5_3"]
    # "In the remaining cases 5 ms was the best", so no other delay ever was.
    best = {0: printed["best_delta_0ms_pct"], 5: printed["best_delta_5ms_pct"]}
    by_delta = rows(
        {"rel_goodput_pct": world.gain_pct.mean(), "best_pct": world.best.share().times(100)},
        {"best_pct": [best.get(delta, 0.0) for delta in DELTA_MS]},
        WHY_CHANGED if changed else WHY_SHARE,
        {"flows": reading},
    )
    for delta, name in RESERVED.items():
        change = world.fixed_change_pct.at(backup=name)
        by_delta += rows({"fixed_change_pct": change.mean()}, key={"flows": reading, "delta_ms": delta})
    total = world.beside.total("group")
    against = 100 * (total.at(backup=RESERVED[0]) / total.at(backup="electrical") - 1)
    return by_delta + rows({"optical_vs_electrical_pct": against.mean()}, key={"flows": reading, "delta_ms": 0})


def faster_is_better(world: World) -> list[Part]:
    """Judge: with reserved optical capacity, a faster switchover is better."""
    names = [f"{delta} ms" for delta in DELTA_MS]
    return judge.trend_parts("goodput against 0 ms, delta", names, list(world.gain_pct.values.T), "down", "points")


def at_once_is_best(world: World) -> list[Part]:
    """Judge: delta = 0 is best in 94 % of the runs, 5 ms in the others, a longer delay never."""
    n, printed = len(world.best.seeds), tables("gmpls")["section5_3"]

    def share(delta: int) -> Part:
        wins = world.best.at(delta_ms=delta).values.sum()
        return judge.printed_share_part(
            f"best, {delta} ms", float(wins), n, printed[f"best_delta_{delta}ms_pct"], PAPER_RUNS
        )

    late = int((world.best.values[:, LATE:] > 0).any(axis=1).sum())
    text = f"runs in which 10 ms or more is best, alone or tied: {late} of {n}"
    return [share(0), share(5), judge.exact_part(text, late == 0)]


def third_flows_left_alone(world: World) -> list[Part]:
    """Judge: a reserved backup does not affect the fixed flows, and is better for all than electrical switching."""
    parts = [
        judge.equivalence_part(
            f"delta = {delta} ms: fixed goodput with a reserved backup against no failure",
            world.fixed_change_pct.at(backup=name),
            SAME_PCT,
            "%",
        )
        for delta, name in RESERVED.items()
    ]
    total_kb = world.beside.total("group") / 1000
    name = "delta = 0: total goodput, optical minus electrical"
    optical, electrical = total_kb.at(backup=RESERVED[0]), total_kb.at(backup="electrical")
    return [*parts, judge.paired_part(name, optical, electrical, "above", "kB")]


CLAIMS = {
    "faster-is-better": faster_is_better,
    "immediate-is-best": at_once_is_best,
    "fixed-flows-unharmed": third_flows_left_alone,
}

SECTION5_3 = Exhibit(
    "gmpls/section5.3",
    "Optical protection: goodput by switch delay with reserved capacity",
    "section 5.3",
    Setup(PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, QUICK_SEEDS), ASSUMED),
    find,
)
