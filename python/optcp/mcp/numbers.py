"""Estimates as JSON values: each with unit, n, interval and digest of its runs."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.errors import InputError, nearest
from optcp.mcp.parts import plain, without_empty
from optcp.outage.metrics import RATIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from optcp.data.axes import Axis
    from optcp.scenarios.warned import ScenarioWarning
    from optcp.stats import Interval
    from optcp.study.done import StudyResult

MOST_DIGESTS = 10
"""Maximum number of runs whose digests are listed."""
SHORT = 16
"""Number of hexadecimal digits of the digest of a single number; the digest of a study is complete."""


def digest_of(digests: Sequence[str]) -> str:
    """Return the digest of several runs: their common digest if they are equal, else the SHA-256 of their lines.

    >>> digest_of(["a", "a"]), digest_of(["a", "b"])[:8]
    ('a', '7e18f737')
    """
    return digests[0] if len(set(digests)) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


class Digests:
    """Digests of the runs of a study, ``metrics_sha256``.

    Parameters
    ----------
    done
        The study.
    """

    def __init__(self, done: StudyResult) -> None:
        self._axes = done.axes
        shape = (*(len(axis) for axis in done.axes), len(done.seeds))
        self._all = np.array(done.digests("metrics_sha256"), dtype=object).reshape(shape)
        self._seeds = done.seeds

    def at(self, cell: Mapping[str, str]) -> str:
        """Return the digest of the runs of a parameter combination, in the order of the seeds."""
        place = tuple(axis.index(cell[axis.name]) for axis in self._axes)
        return digest_of(self._all[place].tolist())[:SHORT]

    def every(self) -> str:
        """Return the digest of all runs."""
        return digest_of(self._all.ravel().tolist())

    def single(self) -> list[str]:
        """Return the digests of the single runs, complete."""
        return [str(one) for one in self._all.ravel()]

    def listed(self) -> list[dict[str, Any]]:
        """Return the digest of each run, of the first ones if there are many."""
        found = []
        for place in list(np.ndindex(*self._all.shape))[:MOST_DIGESTS]:
            cell = {axis.name: axis.values[i] for axis, i in zip(self._axes, place[:-1], strict=True)}
            found.append({"cell": cell, "seed": self._seeds[place[-1]], "digest": self._all[place][:SHORT]})
        return found


def estimates(done: StudyResult, names: Iterable[str], where: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """Return the means of metrics over the seeds.

    Parameters
    ----------
    names
        Metrics of the study.
    where
        Values that a mean must have on its axes, by axis.
    """
    digests = Digests(done)
    studied = {axis.name for axis in done.axes}
    several = {name: done.metric(name) for name in names}
    _check(where or {}, [axis for cells in several.values() for axis in cells.axes])
    found = []
    for name, cells in several.items():
        for cell, interval in cells.mean():
            if interval.n and all(cell.get(axis, value) == value for axis, value in (where or {}).items()):
                of_runs = digests.at({axis: value for axis, value in cell.items() if axis in studied})
                found.append(number(name, cells.unit, cell, interval, of_runs))
    return found


def _check(where: Mapping[str, str], axes: Iterable[Axis]) -> None:
    """Raise an error for an axis or a value that no metric has."""
    known: dict[str, set[str]] = {}
    for axis in axes:
        known.setdefault(axis.name, set()).update(axis.values)
    for name, value in where.items():
        if name not in known:
            raise InputError(f"where {name}={value}: no metric has this axis; {nearest(name, known)}")
        if value not in known[name]:
            raise InputError(f"where {name}={value}: no such value; {nearest(value, known[name])}")


def number(metric: str, unit: str, cell: Mapping[str, str], one: Interval, digest: str) -> dict[str, Any]:
    """Return one estimate."""
    ends = known(one.low) is not None and known(one.high) is not None and one.n > 1 and not one.repeated
    found = {
        "metric": metric,
        "cell": dict(cell),
        "value": plain(float(one.estimate)),
        "at_least": None if one.at_least is None or known(one.estimate) is not None else plain(float(one.at_least)),
        "unit": unit or RATIO,
        "n": one.n,
        "low": plain(float(one.low)) if ends else None,
        "high": plain(float(one.high)) if ends else None,
        "digest": digest,
        "note": _note(one, ends=ends),
    }
    return without_empty(found, "at_least", "note")


def known(value: float) -> float | None:
    """Return a finite value, or None: JSON has no infinite numbers."""
    return float(value) if math.isfinite(value) else None


def _note(one: Interval, *, ends: bool) -> str:
    notes = []
    if known(one.estimate) is None and one.at_least is not None:
        notes.append("lower bound only: not everything had ended at the end of the run")
    if one.repeated:
        notes.append("all seeds gave the same run, so n = 1 without interval")
    elif one.n == 1:
        notes.append("single run: no interval")
    elif not ends:
        notes.append("no interval" if notes else "no interval: all runs have this value")
    return "; ".join(notes)


def warnings(found: Iterable[ScenarioWarning]) -> list[dict[str, str]]:
    """Return warnings without duplicates."""
    return [without_empty(one._asdict(), "place") for one in dict.fromkeys(found)]
