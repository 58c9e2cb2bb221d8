"""Buffer for a switchover by load, switched share, delay step, congestion control and queue discipline."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.outage import resampled
from optcp.outage.resampled import Resampled
from optcp.papers.kit import (
    Cells,
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Key,
    Options,
    Part,
    Row,
    Run,
    Setup,
    row,
    runs_of,
)
from optcp_papers.buffers.cells import (
    AQMS,
    BDP_PACKETS,
    LOADS,
    SHARES,
    STEPS,
    TRIGGERS,
    Cell,
    at_protection,
    loads,
    shares,
    steps,
)
from optcp_papers.buffers.paper import ASSUMED, PAPER, TCP, not_run, scenario
from optcp_papers.outage.population import inside, side

SEEDS, QUICK_SEEDS = 5, 2
QUICK_LOADS, QUICK_SHARES, QUICK_STEPS = ("0.6",), ("0.5", "0.8"), ("1", "1.47")
LEAST_BDP = 0.1
"""Smaller predictions are shown but not judged: single packets decide there."""
RESIDUAL_PCT, CODEL_PCT = 15.0, 10.0
NOTES = [
    "Flows of a working path are switched to a protection link with its own `load`; their rate is `switched`, "
    "both over the rate of the link. `rtt` is the RTT of the protection path (40 ms) over the one of the working "
    "path. `buffer_bdp` is the smallest buffer that drops nothing in the first ten RTTs, `law_bdp` the law, and "
    "`off_pct` the relative difference. `residual_pct` is the mean of its absolute value over cells of 0.1 BDP "
    "or more.",
]


def grids(_: Chosen, options: Options) -> dict[str, Grid]:
    """Return two grids per congestion control: without and with AQM."""
    quick = options.size.is_quick
    own = loads(QUICK_LOADS if quick else LOADS)
    switched = shares(QUICK_SHARES if quick else SHARES)
    axes = {
        "trigger": TRIGGERS,
        "load": own,
        "switched": switched,
        "rtt": steps(QUICK_STEPS if quick else tuple(STEPS)),
    }
    result = {}
    for tcp, settings in TCP.items():
        result[tcp] = options.grid(scenario("switchover"), settings, axes, f"buffers, {tcp}")
        managed = {"aqm": AQMS, "load": own, "switched": switched}
        result[f"{tcp} aqm"] = options.grid(scenario("switchover"), settings, managed, f"buffers, {tcp}, AQM")
    return result


def peak_bdp(run: Run) -> float:
    """Return the maximum queue of the protection link after the switchover, in BDP."""
    table = run["queue"]
    return float(table["max_packets"][at_protection(table)].max()) / BDP_PACKETS


@dataclass(frozen=True)
class Buffers:
    """Buffers of one congestion control.

    Attributes
    ----------
    tcp
        Congestion control.
    simulated
        Mean over seeds, by cell and queue discipline.
    """

    tcp: str
    simulated: dict[tuple[Cell, str], float] = field(default_factory=dict)

    def law_bdp(self, cell: Cell) -> float:
        """Return the predicted buffer in BDP."""
        return cell.law_packets(self.tcp) / BDP_PACKETS

    def fluid_bdp(self, cell: Cell) -> float:
        """Return the buffer by the fluid model in BDP."""
        return cell.fluid_packets(self.tcp) / BDP_PACKETS

    def pick(self, failed: bool, step: float | None = None, least: float | None = LEAST_BDP) -> list[Cell]:
        """Return cells without AQM, by cause and delay step.

        Parameters
        ----------
        least
            Minimum prediction in BDP; None for all cells that overload the link.
        """
        return [
            cell
            for cell, aqm in self.simulated
            if aqm == "drop-tail" and cell.failed == failed and (step is None or cell.step == step)
            and (cell.overloads if least is None else self.law_bdp(cell) >= least)
        ]  # fmt: skip

    def mean(self, cells: list[Cell], values: NDArray[np.float64]) -> Resampled:
        """Return the mean over cells, with resamples of cells."""
        return resampled.mean(values, np.ones(len(cells)))

    def off(self, cells: list[Cell], fluid: bool = False) -> NDArray[np.float64]:
        """Return the relative difference from the law or from the fluid model, in %."""
        model = self.fluid_bdp if fluid else self.law_bdp
        return np.array([100 * (self.simulated[cell, "drop-tail"] / model(cell) - 1) for cell in cells])

    def residual_pct(self, cells: list[Cell], fluid: bool = False) -> Resampled:
        """Return the mean absolute difference from the law or from the fluid model."""
        return self.mean(cells, np.abs(self.off(cells, fluid)))

    def change_pct(self, pairs: list[tuple[Cell, Cell]], aqm: str = "drop-tail") -> Resampled:
        """Return the mean relative change from the first to the second cell of each pair, in %."""
        ratios = [self.simulated[to, aqm] / self.simulated[of, "drop-tail"] for of, to in pairs]
        return self.mean([of for of, _ in pairs], 100 * (np.array(ratios) - 1))


def buffers(found: Found, tcp: str) -> tuple[Buffers, list[Row]]:
    """Return the buffers of a congestion control, and their rows."""
    result, shown = Buffers(tcp), []
    for cell, aqm, seeds in (*_plain(found, tcp), *_managed(found, tcp)):
        result.simulated[cell, aqm] = float(seeds.values.mean())
        key = {
            "tcp": tcp, "trigger": "failure" if cell.failed else "command", "aqm": aqm, "load": cell.load,
            "switched": cell.share, "rtt": cell.step,
        }  # fmt: skip
        law = result.law_bdp(cell)
        shown.append(row(key, "buffer_bdp", None, seeds.mean().interval(), ""))
        shown.append(row(key, "law_bdp", None, stats.exact(law), ""))
        if law >= LEAST_BDP and aqm == "drop-tail" and not cell.failed:
            shown.append(row(key, "fluid_bdp", None, stats.exact(result.fluid_bdp(cell)), ""))
        if law >= LEAST_BDP and aqm == "drop-tail":
            shown.append(row(key, "off_pct", None, (100 * (seeds / law - 1.0)).mean().interval(), ""))
    return result, shown


def _plain(found: Found, tcp: str) -> Iterator[tuple[Cell, str, Cells]]:
    peaks = found.done[tcp].each(peak_bdp)
    for trigger, load, share, step in itertools.product(*(axis.values for axis in peaks.axes)):
        cell = Cell(float(load), float(share), float(step), trigger == "failure")
        yield cell, "drop-tail", peaks.at(trigger=trigger, load=load, switched=share, rtt=step)


def _managed(found: Found, tcp: str) -> Iterator[tuple[Cell, str, Cells]]:
    peaks = found.done[f"{tcp} aqm"].each(peak_bdp)
    for aqm, load, share in itertools.product(*(axis.values for axis in peaks.axes)):
        yield Cell(float(load), float(share)), aqm, peaks.at(aqm=aqm, load=load, switched=share)


def find(found: Found) -> Findings:
    """Return buffers by cell, and judge the claims about them."""
    shown: list[Row] = []
    claims: dict[str, dict[str, list[Part]]] = {}
    every = len(TRIGGERS) * len(LOADS) * len(SHARES) * len(STEPS)
    rest = [] if len(found.done["cubic"].grid.branches) == every else [not_run("other cells")]
    for tcp in TCP:
        of, listed = buffers(found, tcp)
        shown += [*listed, *_summary(of)]
        for id_, judge in JUDGES.items():
            claims.setdefault(id_, {})[tcp] = [*judge(of), *rest]
    return Findings(shown, claims, [], NOTES)


def _summary(of: Buffers) -> list[Row]:
    result = []
    for failed, trigger in ((False, "command"), (True, "failure")):
        cells = of.pick(failed)
        if cells:
            key: Key = {"tcp": of.tcp, "trigger": trigger}
            result.append(row(key, "residual_pct", None, of.residual_pct(cells).interval, ""))
            result.append(row(key, "mean_off_pct", None, of.mean(cells, of.off(cells)).interval, ""))
    for name, value in {
        "fluid_residual_pct": of.residual_pct(of.pick(False), fluid=True),
        "fluid_mean_off_pct": of.mean(of.pick(False), of.off(of.pick(False), fluid=True)),
        "failure_pct": of.change_pct(_failures(of)),
        "hollow_core_pct": of.change_pct(_hollow_core(of)),
        **{f"{aqm}_pct": of.change_pct(_alike(of), aqm) for aqm in AQMS},
    }.items():
        result.append(row({"tcp": of.tcp}, name, None, value.interval, ""))
    return result


def _failures(of: Buffers) -> list[tuple[Cell, Cell]]:
    return [(cell, Cell(cell.load, cell.share, cell.step, True)) for cell in of.pick(False)]


def _hollow_core(of: Buffers) -> list[tuple[Cell, Cell]]:
    return [(cell, Cell(cell.load, cell.share, 1.47)) for cell in of.pick(False, 1.0, None)]


def _alike(of: Buffers) -> list[tuple[Cell, Cell]]:
    return [(cell, cell) for cell in of.pick(False, 1.0)]


def law_holds(of: Buffers) -> list[Part]:
    """Judge: the mean absolute difference from the law is below 15 %."""
    return [side("residual, minus 15 %", of.residual_pct(of.pick(False)) - RESIDUAL_PCT, "below", "points")]


def codel(of: Buffers) -> list[Part]:
    """Judge: CoDel changes the buffer by less than 10 %."""
    return [inside("CoDel", of.change_pct(_alike(of), "codel"), CODEL_PCT, "%")]


def failure(of: Buffers) -> list[Part]:
    """Judge: a failure needs less buffer than a command."""
    return [side("failure over command, minus 1", of.change_pct(_failures(of)), "below", "%")]


def steady_rule(of: Buffers) -> list[Part]:
    """Judge: the buffer of a switchover that overloads the link is below BDP / sqrt(n)."""
    cells = of.pick(False, None, None)
    above = [of.simulated[cell, "drop-tail"] - cell.rule_packets / BDP_PACKETS for cell in cells]
    return [side("buffer minus the rule", of.mean(cells, np.array(above)), "below", "BDP")]


def hollow_core(of: Buffers) -> list[Part]:
    """Judge: a working path with a shorter RTT needs less buffer."""
    return [side("RTT x 1.47 over equal RTTs, minus 1", of.change_pct(_hollow_core(of)), "below", "%")]


JUDGES = {
    "buffers-law": law_holds,
    "buffers-codel-changes-nothing": codel,
    "buffers-failure-needs-less": failure,
    "buffers-steady-rule-suffices": steady_rule,
    "buffers-hollow-core": hollow_core,
}

SWITCHOVER = Exhibit(
    "buffers/switchover",
    "Buffer for a switchover by load, switched share, delay step and TCP",
    "docs/details/buffers.md, switchover",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED),
    find,
)
