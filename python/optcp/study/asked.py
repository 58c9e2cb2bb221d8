"""Checks of the metrics and parameters that a command names, before runs are simulated or read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from optcp.study.grid import Grid

# fmt: off
OBSERVED = {
    "goodput": ("goodput_bps", "active_goodput_bps", "active_from_s", "active_to_s"),
    "load": ("utilisation",),
    "completions": (
        "completion_mean_s", "completion_p50_s", "completion_p95_s", "completion_p99_s", "completed_flows",
        "unfinished_flows", "aborted_flows",
    ),
    "operations": (
        "operation_mean_s", "operation_p50_s", "operation_p95_s", "operation_p99_s", "completed_operations",
        "unfinished_operations",
    ),
    "outages": ("outage_p50_s", "outage_longest_s", "hit_flows"),
    "datagrams": ("hurst", "hurst_error"),
    "fibres": ("bursts", "burst_loss", "wavelength_utilisation"),
    "sojourn": ("sojourn_mean_s", "sojourn_longest_s"),
    "queue": ("queue_mean_packets", "queue_max_packets"),
}
# fmt: on
"""Metrics by the observation kind that they need; every run has all other metrics."""


def _has_finite_flows(resolved: Mapping[str, Any]) -> bool:
    flows = [*resolved["flows"], *resolved.get("connections", ())]
    return any(one.get("size_segments") is not None or "arrivals_per_s" in one for one in flows)


UNOBSERVED: dict[str | None, Callable[[Mapping[str, Any]], bool]] = {
    "completions": _has_finite_flows,
    "operations": lambda resolved: bool(resolved.get("applications")),
}
"""Whether runs of a scenario have the metrics of a kind without observation."""


def check_metric(name: str, option: str) -> None:
    """Raise an error if there is no metric of this name.

    Raises
    ------
    InputError
        If not; the message names the nearest.
    """
    known = [one["name"] for one in _core.metrics()]
    if name not in known:
        raise InputError(f"{option} {name}: unknown metric; {nearest(name, known)}")


def check_observed(grid: Grid, name: str, option: str) -> None:
    """Raise an error if the runs of a grid cannot have a metric.

    Raises
    ------
    InputError
        If the metric is unknown, or no parameter combination has the observation that it needs.
    """
    check_metric(name, option)
    kind = next((kind for kind, metrics in OBSERVED.items() if name in metrics), None)
    resolved = [branch.resolved for branch in grid.branches]
    observed = {one["kind"] for each in resolved for one in each["observe"]}
    if kind in UNOBSERVED and any(map(UNOBSERVED[kind], resolved)):
        return
    if kind is not None and kind not in observed:
        raise InputError(f"{option} {name}: this metric needs an [[observe]] entry of kind `{kind}`")


def check_values(grid: Grid, option: str, values: Mapping[str, str]) -> None:
    """Raise an error if a grid lacks one of these axes or values.

    Values of other axes, such as groups, are known to metrics only and not checked.

    Raises
    ------
    InputError
        If not; the message names the nearest.
    """
    axes = {axis.name: axis for axis in grid.axes}
    for name, value in values.items():
        check_axes(grid, option, (name,))
        if name in axes:
            axes[name].index(value)


def check_axes(grid: Grid, option: str, names: Sequence[str]) -> None:
    """Raise an error if no metric of a grid can have one of these axes.

    Raises
    ------
    InputError
        If not; the message names the nearest.
    """
    known = [axis.name for axis in grid.axes] + sorted({one["of"] for one in _core.metrics() if one["of"]})
    for name in names:
        if name not in (*known, "cell"):
            raise InputError(f"{option} {name}: the study does not sweep this parameter; {nearest(name, known)}")
