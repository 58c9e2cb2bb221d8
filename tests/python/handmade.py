"""Finished studies made by hand: :class:`optcp.study.done.StudyResult` over tables that a test writes."""

from types import SimpleNamespace

import numpy as np

from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.data.table import Table
from optcp.study.done import StudyResult
from optcp.study.grid import Grid


def cells(values, **axes):
    """Labelled values, shape (seeds, length of each axis), seeds from 1 on; each axis by its name and values."""
    named = tuple(Axis(name, tuple(map(str, shown))) for name, shown in axes.items())
    return Cells(values, named, tuple(range(1, 1 + len(values))))


def table(observation):
    """Columns of a test as a table: arrays by name, and texts as codes with the list of them under the plural's name.

    With ``interval_s`` the only list names the rows of every array.
    """
    lists = {name: list(value) for name, value in observation.items() if isinstance(value, (list, tuple))}
    arrays = {name: value for name, value in observation.items() if isinstance(value, np.ndarray)}
    if "interval_s" in observation:
        ((row, names),) = lists.items()
        length = next(iter(arrays.values())).shape[-1]
        ends = np.round(np.arange(1, length + 1) * observation["interval_s"] * 1e12)
        first = {"time_ps": np.tile(ends, len(names)).astype(np.int64), row[:-1]: np.repeat(range(len(names)), length)}
        arrays = first | {name: value.reshape(-1) for name, value in arrays.items()}
    columns = {}
    for name, values in arrays.items():
        if f"{name}s" in lists:
            texts = lists[f"{name}s"]
            codes = np.minimum(values, len(texts)).astype(np.uint32)
            columns[name] = codes, texts + [""] * bool((codes == len(texts)).any())
        else:
            columns[name] = values.astype(np.int64) if values.dtype.kind == "u" else values
    return Table(columns, observation.get("interval_s"))


class Made(dict):
    """A finished run: a table by the name of its observation."""


def run(observations, **more):
    """A finished run with such observations (:func:`table`) and attributes."""
    made = Made((name, table(one)) for name, one in observations.items())
    vars(made).update(more)
    return made


class HandMade(StudyResult):
    """Observations by name (:func:`table`), of every seed and cell."""

    def __init__(self, axes, seeds):
        """``axes``: name to values as written; ``seeds``: for each a list of runs, one a cell, of observations."""
        named = tuple(Axis(name, tuple(map(str, values))) for name, values in axes.items())
        names = tuple(seeds[0][0])
        branches = tuple(SimpleNamespace(id=str(at), key={}, observe=names) for at in range(len(seeds[0])))
        super().__init__(Grid("by hand", branches, named=named), tuple(range(1, 1 + len(seeds))), None)
        object.__setattr__(self, "_made", seeds)

    def run(self, branch, seed):
        return run(self._made[seed - 1][int(branch.id)], seed=seed)

    def digests(self, name):
        """A text of its own for each run: no two are equal."""
        return [f"{name} {place}" for place in range(self.places)]

    def rows(self, name, columns=None):
        tables = [table(one[name]) for seed in self._made for one in seed]
        lengths = [len(one) for one in tables]
        columns = {"seed": np.repeat(np.arange(len(tables)), lengths)}
        for column, first in tables[0].columns.items():
            values = np.concatenate([one[column] for one in tables])
            if isinstance(first, tuple):
                texts = list(dict.fromkeys(values.tolist()))
                columns[column] = np.array([texts.index(text) for text in values], dtype=np.uint32), texts
            else:
                columns[column] = values
        return Table(columns, tables[0].interval_s), np.repeat(np.arange(len(tables)), lengths)


def of_goodput(axes, totals):
    """A study of the gmpls paper in which switched flows bring so many bytes in (5 s, 5.5 s], and nothing else happens.

    ``totals``: shape (seeds, cells).
    """

    def observed(total):
        goodput = np.zeros((2, 13), dtype="u8")
        goodput[0, 10] = total
        none = np.zeros(0, dtype="u4")
        return {
            "goodput": {"interval_s": 0.5, "groups": ["switched", "fixed"], "bytes": goodput},
            "load": {"interval_s": 0.5, "ports": ["L1->L2", "L2->L1"], "bytes": np.zeros((2, 13), dtype="u8")},
            "drops": {"ports": [], "groups": [], "time_ps": none.astype("u8"), "port": none, "group": none},
        }

    return HandMade(axes, [[observed(total) for total in seed] for seed in totals])
