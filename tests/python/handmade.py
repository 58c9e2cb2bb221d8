"""Finished studies made by hand: :class:`optcp.study.done.StudyResult` with tables that a test writes."""

from types import SimpleNamespace

import numpy as np

from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.data.table import Table
from optcp.study.done import StudyResult
from optcp.study.grid import Grid


def cells(values, **axes):
    """Return labelled values, shape (seeds, length of each axis), with seeds from 1 and axes by name and values."""
    named = tuple(Axis(name, tuple(map(str, shown))) for name, shown in axes.items())
    return Cells(values, named, tuple(range(1, 1 + len(values))))


def table(observation):
    """Return columns as a table: arrays by name; texts as codes with their list under the plural of the name.

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
    """Finished run: tables by the name of their observation."""


def run(observations, **more):
    """Return a finished run with these observations (:func:`table`) and attributes."""
    made = Made((name, table(item)) for name, item in observations.items())
    vars(made).update(more)
    return made


class HandMade(StudyResult):
    """Study with observations by name (:func:`table`) for every seed and combination."""

    def __init__(self, axes, seeds):
        """``axes``: values as written, by name; ``seeds``: per seed a list of runs, one per combination."""
        named = tuple(Axis(name, tuple(map(str, values))) for name, values in axes.items())
        names = tuple(seeds[0][0])
        branches = tuple(SimpleNamespace(id=str(at), key={}, observe=names) for at in range(len(seeds[0])))
        super().__init__(Grid("by hand", branches, named=named), tuple(range(1, 1 + len(seeds))), None)
        object.__setattr__(self, "_made", seeds)

    def run(self, branch, seed):
        return run(self._made[seed - 1][int(branch.id)], seed=seed)

    def digests(self, name):
        """Return a unique text for each run."""
        return [f"{name} {place}" for place in range(self.places)]

    def rows(self, name, columns=None):
        tables = [table(item[name]) for seed in self._made for item in seed]
        lengths = [len(item) for item in tables]
        columns = {"seed": np.repeat(np.arange(len(tables)), lengths)}
        for column, first in tables[0].columns.items():
            values = np.concatenate([item[column] for item in tables])
            if isinstance(first, tuple):
                texts = list(dict.fromkeys(values.tolist()))
                columns[column] = np.array([texts.index(text) for text in values], dtype=np.uint32), texts
            else:
                columns[column] = values
        return Table(columns, tables[0].interval_s), np.repeat(np.arange(len(tables)), lengths)


def of_goodput(axes, totals):
    """Return a study of the gmpls paper with these bytes of switched flows in (5 s, 5.5 s], and no other events.

    ``totals``: shape (seeds, combinations).
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
