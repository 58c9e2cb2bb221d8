"""Rows and curves of what is measured with anycast switching and without, seed by seed."""

from collections.abc import Callable, Mapping, Sequence

from optcp.data.labelled import cells_of
from optcp.papers.kit import Cells, Key, Row, Series, curves_over, key_value, rows
from optcp.papers.over import Axis

DIFFERENCE = "with minus without"


def both_modes(metrics: Mapping[str, Cells], key: Callable[[Key], Key] = dict) -> list[Row]:
    """Rows with anycast switching and without, and of the difference, paired by seed; place by place.

    Parameters
    ----------
    metrics
        By name, over ``anycast`` and other axes.
    key
        From a place's values on the other axes to what its rows' keys have in front of ``anycast``.
    """
    others = [axis for axis in next(iter(metrics.values())).axes if axis.name != "anycast"]
    found = []
    for at, where in cells_of(others):
        here = {name: cells.at(**where) for name, cells in metrics.items()}
        change = {_difference(name): cells.at(anycast="yes") - cells.at(anycast="no") for name, cells in here.items()}
        place = key({axis.name: key_value(axis, i) for axis, i in zip(others, at, strict=True)})
        found += rows({name: cells.mean() for name, cells in here.items()}, key=place)
        found += rows({name: cells.mean() for name, cells in change.items()}, key={**place, "anycast": DIFFERENCE})
    return found


def _difference(metric: str) -> str:
    """A difference of percentages is in points."""
    return f"{metric.removesuffix('_pct')}_points" if metric.endswith("_pct") else metric


def curves(rows: Sequence[Row], metric: str, axis: str, labels: tuple[str, str], unit: tuple[str, str]) -> list[Series]:
    """One curve of a metric over an axis for all rows that differ in the axis alone.

    Parameters
    ----------
    labels, unit
        Of x and of y.
    """
    shown = (one for one in rows if one.metric == metric and one.key["anycast"] != DIFFERENCE)
    return curves_over(shown, axis, Axis(labels[0], unit[0]), Axis(labels[1], unit[1]))
