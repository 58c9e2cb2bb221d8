"""The law of the switchover out of sample: links of germany50 whose traffic is moved to a detour."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.outage import resampled
from optcp.outage.resampled import Resampled
from optcp.papers.kit import (
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Key,
    Options,
    Row,
    Run,
    Setup,
    StudyResult,
    row,
    runs_of,
)
from optcp_papers.buffers.cells import AT_S
from optcp_papers.buffers.law import ROUND_TRIPS
from optcp_papers.buffers.network import STOP_S, Hop, Merge, World, world
from optcp_papers.buffers.paper import ASSUMED, PAPER, TCP, not_run
from optcp_papers.buffers.switchover import LEAST_BDP, RESIDUAL_PCT
from optcp_papers.outage.population import side

SEEDS, QUICK_SEEDS, QUICK_EVERY = 3, 1, 5
NOTES = [
    "A command moves the traffic of one link of germany50 to the shortest detour. `overload` is the offered load "
    "of the link with the longest predicted queue, `buffer_bdp` its maximum queue in the first ten RTTs, in rate "
    "times mean RTT, and `law_bdp` the law. Intervals of `residual_pct` and `mean_off_pct` are over links.",
]


def chosen_links(of: World, quick: bool) -> list[Hop]:
    """Return the links whose switchover is predicted to need a buffer."""
    links = [hop for hop in of.links if law_bdp(of, of.merge(*hop, "cubic"), "cubic") >= LEAST_BDP]
    return links[::QUICK_EVERY] if quick else links


def law_bdp(of: World, merge: Merge, tcp: str) -> float:
    """Return the predicted buffer in BDP."""
    return 8 * of.law_bytes(merge, tcp) / (of.rates_bps[merge.hop] * merge.rtt_s)


def grids(_: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid over links per congestion control."""
    of = world()
    links = {f"{a}-{b}": of.switched(a, b) for a, b in chosen_links(of, options.size.is_quick)}
    return {
        tcp: options.grid(of.scenario, settings, {"link": links}, f"buffers on germany50, {tcp}")
        for tcp, settings in TCP.items()
    }


def peak_bdp(run: Run, merge: Merge) -> float:
    """Return the maximum queue of a port in the first RTTs after the switchover, in BDP."""
    table = run["ports"]
    ends_s = min(AT_S + ROUND_TRIPS * merge.rtt_s, STOP_S)
    here = np.asarray(table["port"]) == "->".join(merge.hop)
    seen = here & (table["time_ps"] <= ends_s * PS)
    # Sojourn times of a drop-tail queue give its length on arrival.
    return float(table["longest_ps"][seen].max()) / PS / merge.rtt_s


@dataclass(frozen=True)
class Compared:
    """Queues of one congestion control compared with the two models.

    Attributes
    ----------
    law_off, fluid_off
        Relative difference per switchover, in %.
    alone
        Whether no flow of the link crosses another overloaded link, per switchover.
    """

    law_off: NDArray[np.float64]
    fluid_off: NDArray[np.float64]
    alone: NDArray[np.bool_]

    def rows(self, tcp: str) -> list[Row]:
        """Return the mean differences, over all links and over those that are overloaded alone."""
        result = []
        for which, rows in {"all": np.ones_like(self.alone), "alone": self.alone}.items():
            for model, off in {"law": self.law_off[rows], "fluid": self.fluid_off[rows]}.items():
                key: Key = {"tcp": tcp, "links": which, "model": model}
                if off.size:
                    result.append(row(key, "residual_pct", None, mean(np.abs(off)).interval, ""))
                    result.append(row(key, "mean_off_pct", None, mean(off).interval, ""))
        return result


def mean(values: NDArray[np.float64]) -> Resampled:
    """Return the mean over switchovers, with resamples of switchovers."""
    return resampled.mean(values, np.ones(values.size))


def compare(of: World, tcp: str, done: StudyResult) -> tuple[list[Row], Compared]:
    """Return the rows of one congestion control, and its differences from the models."""
    shown, found = [], []
    for at, name in enumerate(done.grid.axes[0].values):
        a, b = next(hop for hop in of.links if "-".join(hop) == name)
        merge = of.merge(a, b, tcp)
        rate = of.rates_bps[merge.hop]
        bdp = rate * merge.rtt_s / 8
        law, fluid = of.law_bytes(merge, tcp) / bdp, of.fluid_bytes(merge, tcp) / bdp
        seeds = np.array([peak_bdp(done.run(done.grid.branches[at], seed), merge) for seed in done.seeds])
        key: Key = {"tcp": tcp, "link": name}
        shown.append(row(key, "buffer_bdp", None, stats.mean(seeds), ""))
        offered = sum(flow.count * flow.rate_bps for flow in merge.flows) / rate
        for metric, value in {"law_bdp": law, "fluid_bdp": fluid, "overload": offered}.items():
            shown.append(row(key, metric, None, stats.exact(value), ""))
        found.append((100 * (seeds.mean() / law - 1), 100 * (seeds.mean() / fluid - 1), merge.alone))
    law_off, fluid_off, alone = (np.array(values) for values in zip(*found, strict=True))
    return shown, Compared(law_off, fluid_off, alone)


def find(found: Found) -> Findings:
    """Return the queues of the merges, and compare them with the law."""
    of = world()
    shown: list[Row] = []
    claims = {}
    for tcp, done in found.done.items():
        listed, compared = compare(of, tcp, done)
        shown += [*listed, *compared.rows(tcp)]
        residual = mean(np.abs(compared.law_off))
        claims[tcp] = [side("residual, minus 15 %", residual - RESIDUAL_PCT, "below", "points")]
        if compared.law_off.size < len(chosen_links(of, quick=False)):
            claims[tcp].append(not_run("other links"))
    return Findings(shown, {"buffers-law-germany50": claims}, [], NOTES)


GERMANY50 = Exhibit(
    "buffers/germany50",
    "The law of the switchover on germany50",
    "docs/details/buffers.md, germany50",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED),
    find,
)
