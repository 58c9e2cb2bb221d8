"""What a command asks of a study, checked by its names alone: before runs are made, and before stored ones are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import _core
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.study.grid import Grid

# fmt: off
OBSERVED = {
    "goodput": ("goodput_bps", "active_goodput_bps", "active_from_s", "active_to_s"),
    "load": ("utilisation",),
    "completions": (
        "completion_mean_s", "completion_p50_s", "completion_p95_s", "completion_p99_s", "completed_flows",
        "unfinished_flows",
    ),
    "outages": ("outage_p50_s", "outage_longest_s", "hit_flows"),
    "datagrams": ("hurst", "hurst_error"),
    "fibres": ("bursts", "burst_loss", "wavelength_utilisation"),
    "sojourn": ("sojourn_mean_s", "sojourn_longest_s"),
    "queue": ("queue_mean_packets", "queue_max_packets"),
}
# fmt: on
"""Metrics that come of a kind of observation; all others are of every run, as far as they are defined there."""


def check_metric(name: str, option: str) -> None:
    """Make sure that there is a metric of this name.

    Raises
    ------
    InputError
        If there is none; the message names the nearest.
    """
    known = [one["name"] for one in _core.metrics()]
    if name not in known:
        raise InputError(f"{option} {name}: there is no such metric; {nearest(name, known)}")


def check_observed(grid: Grid, name: str, option: str) -> None:
    """Make sure that runs of a grid can have a metric.

    Raises
    ------
    InputError
        If there is none of this name, or no cell observes what it comes of.
    """
    check_metric(name, option)
    kind = next((kind for kind, metrics in OBSERVED.items() if name in metrics), None)
    observed = (one["kind"] for branch in grid.branches for one in branch.resolved["observe"])
    if kind is not None and kind not in observed:
        raise InputError(f"{option} {name}: the scenario has no [[observe]] of kind `{kind}`, from which it comes")


def check_values(grid: Grid, option: str, values: Mapping[str, str]) -> None:
    """Make sure that a grid has axes of these names with these values; of others only metrics know the values.

    Raises
    ------
    InputError
        If there is no such axis or value; the message names the nearest.
    """
    axes = {axis.name: axis for axis in grid.axes}
    for name, value in values.items():
        check_axes(grid, option, (name,))
        if name in axes:
            axes[name].index(value)


def check_axes(grid: Grid, option: str, names: Sequence[str]) -> None:
    """Make sure that the metrics of a grid can have axes of these names.

    Raises
    ------
    InputError
        If not; the message names the nearest.
    """
    known = [axis.name for axis in grid.axes] + sorted({one["of"] for one in _core.metrics() if one["of"]})
    for name in names:
        if name not in (*known, "cell"):
            raise InputError(f"{option} {name}: the study has no such axis; {nearest(name, known)}")
