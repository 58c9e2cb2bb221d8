"""Trace plot of completion times: cumulative distribution of the flows of each group.

# Model

The product-limit estimator, as for the quantiles of the metrics. Unfinished flows count as slower than observed. Flows
whose sender gave up count as slower than all others.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from optcp.common.plurals import count_noun
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.plots.trace.frame import line
from optcp.plots.trace.intervals import COLOURS
from optcp.stats.quantiles import product_limit

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from optcp.data.table import Table
    from optcp.plots.trace.frame import Frame


def distribution(frame: Frame, table: Table, groups: list[str], figure: Figure) -> None:
    """Draw one curve per group, of the flows that start within the time axis."""
    panel = figure.subplots()
    handles: list[Artist] = []
    for colour, group in zip(cycle(COLOURS), groups, strict=False):
        rows = table.where(group=group)
        start_s = rows.numbers("start_ps") / PICOSECONDS_A_SECOND
        times_s, shares = cumulative(rows.rows((start_s >= frame.start_s) & (start_s <= frame.end_s)))
        if len(times_s):
            panel.step(times_s, shares, where="post", color=colour, linewidth=1.1)
        handles.append(line(colour, f"{group} ({count_noun(len(rows), 'flow')})"))
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.set_ylim(0, 1.02)
    panel.set_xlabel("completion time (s)")
    panel.set_ylabel("share of flows")
    figure.suptitle(frame.title("Completion times"), x=0.01, ha="left", fontsize=9.5, fontweight="bold")
    figure.legend(handles=handles, loc="outside lower left", ncols=frame.legend_columns(handles))


def cumulative(rows: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return completion times in s in ascending order, and the share of flows that take no longer.

    Parameters
    ----------
    rows
        Rows of an observation of kind ``completions``.
    """
    lasted_s = (rows.numbers("time_ps") - rows.numbers("start_ps")) / PICOSECONDS_A_SECOND
    finished, aborted = (rows.numbers(name).astype(bool) for name in ("finished", "aborted"))
    times_s = np.where(finished, lasted_s, np.inf)
    shares = product_limit(times_s, np.where(aborted, np.inf, lasted_s))
    order = np.argsort(times_s, kind="stable")[: int(finished.sum())]
    return times_s[order], np.cumsum(shares[order])
