"""Notebook widget of a live run: picture of the network, plot over time, and controls.

The module needs anywidget: ``pip install 'optcp[widget]'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.data.labelled import optional
from optcp.widget.session import Session

if TYPE_CHECKING:
    from optcp.data.times import Instant
    from optcp.scenarios.live import LiveRun

__all__ = ["Session", "show"]


def show(run: LiveRun, *, interval: Instant | None = None) -> Session:
    """Display a live run in a notebook.

    Links are coloured by utilisation. A click on a link cuts or repairs it. A fork continues together with the run
    from which it was made, and the plot compares them. A notebook without a kernel shows the last picture.

    Parameters
    ----------
    run
        Run to display; the widget advances and changes it.
    interval
        Simulated time per value of the plot and per step; by default 1/200 of the run.

    Returns
    -------
    Session
        Runs of the widget.

    Raises
    ------
    InputError
        If anywidget is not installed, the network cannot be drawn, or an argument is invalid.
    """
    optional("anywidget")
    from optcp.widget.view import display

    session = Session(run, interval)
    display(session)
    return session
