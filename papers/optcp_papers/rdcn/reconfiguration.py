"""Graphs 1 and 2: effect of the reconfiguration time, with days nine times as long."""

from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Options, Setup, rows
from optcp_papers.rdcn.measured import latencies_us, utilisation
from optcp_papers.rdcn.voq import above
from optcp_papers.rdcn.world import ASSUMED, DAYS, PAPER, grid, lasting, length_us, seeds, week

NIGHTS_US = (1000, 20, 1)
DAY_NIGHTS = 9
SHARE = DAY_NIGHTS / (DAY_NIGHTS + 1) / DAYS
MORE_POINTS = 20


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid over nights; all runs are equally long."""
    long_us = length_us(chosen, options)
    axes = {
        "night_us": {
            str(night): {**week(chosen, night_us=night, day_us=DAY_NIGHTS * night).settings, **lasting(long_us)}
            for night in NIGHTS_US
        }
    }
    return {"reconfiguration": grid("reconfiguration", axes, chosen, options)}


def find(found: Found) -> Findings:
    """Return utilisation and tail latencies by night."""
    done = found.only
    util, times = utilisation(done, SHARE), done.once(latencies_us)
    gain = util.at(night_us=1000) - util.at(night_us=20) - MORE_POINTS
    return Findings(
        rows({"circuit_util_pct": util.mean(), "p99_all_us": times["p99_all_us"].mean()}),
        {"rdcn-slow-technology-is-fine": [above(f"1000 us minus 20 us, above {MORE_POINTS}", gain, "points")]},
    )


RECONFIGURATION = Exhibit(
    "rdcn/reconfiguration",
    "How long a reconfiguration takes",
    "graphs 1 and 2",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
"""Experiment without published values."""
