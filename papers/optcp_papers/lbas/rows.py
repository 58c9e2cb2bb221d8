"""Rows and curves of values with and without anycast switching, paired by seed."""

from collections.abc import Callable, Mapping, Sequence

from optcp.data.labelled import cells_of
from optcp.papers.kit import Cells, Key, Row, Series, curves_over, key_value, rows
from optcp.papers.over import Axis

DIFFERENCE = "with minus without"


def both_modes(metrics: Mapping[str, Cells], key: Callable[[Key], Key] = dict) -> list[Row]:
    """Return rows with and without anycast switching, and of the paired difference, by place.

    Parameters
    ----------
    metrics
        Values by metric, over ``anycast`` and other axes.
    key
        Function from the values of the other axes to the first part of the rows' keys, before ``anycast``.
    """
    others = [axis for axis in next(iter(metrics.values())).axes if axis.name != "anycast"]
    result = []
    for at, where in cells_of(others):
        here = {name: cells.at(**where) for name, cells in metrics.items()}
        change = {_difference(name): cells.at(anycast="yes") - cells.at(anycast="no") for name, cells in here.items()}
        place = key({axis.name: key_value(axis, i) for axis, i in zip(others, at, strict=True)})
        result += rows({name: cells.mean() for name, cells in here.items()}, key=place)
        result += rows({name: cells.mean() for name, cells in change.items()}, key={**place, "anycast": DIFFERENCE})
    return result


def _difference(metric: str) -> str:
    """Return the metric of a difference: a difference of percentages is in points."""
    return f"{metric.removesuffix('_pct')}_points" if metric.endswith("_pct") else metric


def curves(rows: Sequence[Row], metric: str, axis: str, labels: tuple[str, str], unit: tuple[str, str]) -> list[Series]:
    """Return one curve of a metric over an axis for all rows that only differ in this axis.

    Parameters
    ----------
    labels, unit
        Labels and units of x and y.
    """
    shown = (row for row in rows if row.metric == metric and row.key["anycast"] != DIFFERENCE)
    return curves_over(shown, axis, Axis(labels[0], unit[0]), Axis(labels[1], unit[1]))
