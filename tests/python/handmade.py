"""Finished studies made by hand: :class:`optcp.study.done.Done` over tables that a test writes."""

from types import SimpleNamespace

import numpy as np

from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.data.table import Table
from optcp.study.done import Done
from optcp.study.grid import Grid


def cells(values, **axes):
    """Labelled values, shape (seeds, length of each axis), seeds from 1 on; each axis by its name and values."""
    named = tuple(Axis(name, tuple(map(str, shown))) for name, shown in axes.items())
    return Cells(values, named, tuple(range(1, 1 + len(values))))


class HandMade(Done):
    """Observations by name in the form of ``optcp._core.Run.series``, of every seed and cell."""

    def __init__(self, axes, seeds):
        """``axes``: name to values as written; ``seeds``: for each a list of runs, one a cell, of series by name."""
        named = tuple(Axis(name, tuple(map(str, values))) for name, values in axes.items())
        names = tuple(seeds[0][0])
        branches = tuple(SimpleNamespace(id=str(at), key={}, observe=names) for at in range(len(seeds[0])))
        super().__init__(Grid("by hand", branches, named=named), tuple(range(1, 1 + len(seeds))), None)
        object.__setattr__(self, "_made", seeds)

    def run(self, branch, seed):
        return SimpleNamespace(seed=seed, series=self._made[seed - 1][int(branch.id)])

    def digests(self, name):
        """A text of its own for each run: no two are equal."""
        return [f"{name} {place}" for place in range(self.places)]

    def rows(self, table, columns=None):
        runs = [run[table] for seed in self._made for run in seed]
        parts = [_columns(one) for one in runs]
        lengths = [len(next(iter(part.values()))) for part in parts]
        columns = {"seed": np.repeat(np.arange(len(runs)), lengths)}
        for name in parts[0]:
            values = [part[name] for part in parts]
            if any(isinstance(value, list) for value in values):
                flat = [text for value in values for text in value]
                texts = list(dict.fromkeys(flat))
                columns[name] = (np.array([texts.index(text) for text in flat], dtype=np.uint32), texts)
            else:
                columns[name] = np.concatenate(values)
        return Table(columns, runs[0].get("interval_s")), np.repeat(np.arange(len(runs)), lengths)


def _columns(series):
    lists = {name: value for name, value in series.items() if isinstance(value, list)}
    arrays = {name: value for name, value in series.items() if isinstance(value, np.ndarray)}
    if "interval_s" in series:
        ((row, names),) = lists.items()
        length = next(iter(arrays.values())).shape[-1]
        ends = np.round(np.arange(1, length + 1) * series["interval_s"] * 1e12).astype(np.uint64)
        first = {"time_ps": np.tile(ends, len(names)), row[:-1]: [name for name in names for _ in range(length)]}
        return first | {name: value.reshape(-1) for name, value in arrays.items()}
    return {
        name: [lists[f"{name}s"][code] for code in value] if f"{name}s" in lists else value
        for name, value in arrays.items()
    }


def of_goodput(axes, totals):
    """A study of the gmpls paper in which switched flows bring so many bytes in (5 s, 5.5 s], and nothing else happens.

    ``totals``: shape (seeds, cells).
    """

    def run(total):
        goodput = np.zeros((2, 13), dtype="u8")
        goodput[0, 10] = total
        none = np.zeros(0, dtype="u4")
        return {
            "goodput": {"interval_s": 0.5, "groups": ["switched", "fixed"], "bytes": goodput},
            "load": {"interval_s": 0.5, "ports": ["L1->L2", "L2->L1"], "bytes": np.zeros((2, 13), dtype="u8")},
            "drops": {"ports": [], "groups": [], "time_ps": none.astype("u8"), "port": none, "group": none},
        }

    return HandMade(axes, [[run(total) for total in seed] for seed in totals])
