"""Changes of the path between two ground stations: RTTs, handovers, outages.

# Model

The path is found anew every step and holds until the next one; its length changes all the time.

# References

Hypatia (S. Kassing et al., IMC 2020), whose step is 100 ms.

# Limitations

The RTT belongs to an empty network: twice the propagation delay of the path at that time.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from optcp.constellation import orbits
from optcp.constellation.paths import Snapshot, length_km
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from optcp.constellation.paths import Constellation
    from optcp.constellation.stations import Station

MOST_STEPS = 200_000
"""Of a series: it takes a millisecond or so for each."""
LEAST_STEP_S = 0.001
LATEST_S = 1e10
"""Three hundred years: later, times have too few digits."""


@dataclass(frozen=True)
class Stretch:
    """A time for which the path does not change.

    Attributes
    ----------
    start_s, end_s
        From when until when.
    satellites
        Those of the path, from the first station on; none in an outage.
    rtt_ms
        Round trip at ``start_s``; NaN in an outage.
    before_ms
        Round trip over the path before at ``start_s``; NaN without one.
    change
        Relation to the previous path: ``longer``, ``shorter``, ``outage``, ``back`` after an outage, or ``first``.
    """

    start_s: float
    end_s: float
    satellites: tuple[int, ...]
    rtt_ms: float
    before_ms: float
    change: str

    @classmethod
    def of(
        cls, start_s: float, end_s: float, satellites: tuple[int, ...], rtt_ms: float, before_ms: float, later: bool
    ) -> Stretch:
        """Say what the change is; ``later`` if it is not the first stretch."""
        if not satellites:
            change = "outage"
        elif np.isnan(before_ms):
            change = "back" if later else "first"
        else:
            change = "longer" if rtt_ms > before_ms else "shorter"
        return cls(start_s, end_s, satellites, rtt_ms, before_ms, change)


class Paths(Protocol):
    """Properties of a series that scenarios and figures need."""

    @property
    def names(self) -> tuple[str, str]:
        """Both ends."""

    @property
    def over(self) -> str:
        """Whose satellites."""

    @property
    def seconds(self) -> NDArray[np.float64]:
        """When each path begins, shape (steps,)."""

    @property
    def end_s(self) -> float:
        """When the last step ends."""

    @property
    def rtt_ms(self) -> NDArray[np.float64]:
        """Round trips, shape (steps,); NaN in an outage."""

    @property
    def paths(self) -> list[tuple[int, ...]]:
        """Satellites of each path; none in an outage."""

    def delay_s(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Propagation delay at some times, NaN in an outage."""

    def stretches(self) -> list[Stretch]:
        """Times for which the path does not change, in order."""


@dataclass(frozen=True)
class Series:
    """Paths between two ground stations, step by step.

    Attributes
    ----------
    shell, start, end
        Between which stations.
    seconds
        When each path begins, shape (steps,), at equal distances.
    step_s
        How far apart they are.
    paths
        Satellites of each path; none in an outage.
    """

    shell: Constellation
    start: Station
    end: Station
    seconds: NDArray[np.float64]
    step_s: float
    paths: list[tuple[int, ...]]

    @property
    def names(self) -> tuple[str, str]:
        """Both ends."""
        return self.start.name, self.end.name

    @property
    def over(self) -> str:
        """Name of the satellites."""
        return self.shell.name

    @property
    def end_s(self) -> float:
        """When the last step ends."""
        return round(float(self.seconds[-1]) + self.step_s, 9)

    @property
    def rtt_ms(self) -> NDArray[np.float64]:
        """Round trips at the beginning of each step, shape (steps,); NaN in an outage."""
        return 2e3 * self.delay_s(self.seconds)

    def delay_s(self, seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Propagation delay from one station to the other at some times of the series, NaN in an outage."""
        found = np.full(len(seconds), np.nan)
        for one in self._runs():
            inside = (seconds >= self.seconds[one.start]) & (seconds < self._until(one.stop))
            if self.paths[one.start] and inside.any():
                km = length_km(self.shell, self.start, self.end, self.paths[one.start], seconds[inside])
                found[inside] = km / orbits.LIGHT_KM_S
        return found

    def stretches(self) -> list[Stretch]:
        """Times for which the path does not change, in order."""
        found: list[Stretch] = []
        before: tuple[int, ...] = ()
        for one in self._runs():
            path, at = self.paths[one.start], float(self.seconds[one.start])
            rtt_ms, before_ms = self._rtt(path, at), self._rtt(before, at)
            found.append(Stretch.of(at, self._until(one.stop), path, rtt_ms, before_ms, bool(found)))
            before = path
        return found

    def outages(self) -> list[tuple[float, float]]:
        """Return the outages as (start, end), in s."""
        return [(one.start_s, one.end_s) for one in self.stretches() if not one.satellites]

    def _rtt(self, path: tuple[int, ...], at: float) -> float:
        if not path:
            return float("nan")
        return 2e3 * float(length_km(self.shell, self.start, self.end, path, at)) / orbits.LIGHT_KM_S

    def _until(self, step: int) -> float:
        return float(self.seconds[step]) if step < len(self.seconds) else self.end_s

    def _runs(self) -> Iterator[range]:
        """Steps in a row with one path."""
        at = 0
        for _, same in itertools.groupby(self.paths):
            steps = len(list(same))
            yield range(at, at + steps)
            at += steps


def apart(start: Station, end: Station) -> None:
    """Refuse a path from a station to itself."""
    if (start.latitude_deg, start.longitude_deg) == (end.latitude_deg, end.longitude_deg):
        raise InputError(f"{start.name} is both ends of the path; expected two places")


def steps(length_s: float, step_s: float, first_s: float) -> NDArray[np.float64]:
    """Return the times at which paths are recomputed, from ``first_s`` on.

    Raises
    ------
    InputError
        If the steps are too short or too many, or the times impossible.
    """
    if not (step_s >= LEAST_STEP_S and length_s >= step_s):
        raise InputError(f"expected a step of {1000 * LEAST_STEP_S:g} ms or more, and a length of a step or more")
    if not 0 <= first_s <= LATEST_S:
        raise InputError(f"expected a beginning from 0 to {LATEST_S:g} s after time zero")
    count = round(length_s / step_s)
    if count > MOST_STEPS:
        raise InputError(f"{length_s:g} s in steps of {step_s:g} s are {count} steps; at most are {MOST_STEPS}")
    return np.round(first_s + step_s * np.arange(count), 9)


def series(
    shell: Constellation, start: Station, end: Station, length_s: float, step_s: float = 0.1, first_s: float = 0.0
) -> Series:
    """Find the path between two ground stations every step.

    Parameters
    ----------
    shell
        The satellites.
    start, end
        The stations.
    length_s
        For how long, a step at least.
    step_s
        How often the path is found anew.
    first_s
        When the series begins, from time zero: 2000-01-01 00:00 UT for a shell.

    Raises
    ------
    InputError
        If the stations are one, the steps too short or too many, or the times impossible.

    Examples
    --------
    >>> from optcp.constellation import shell, station
    >>> found = series(shell("kuiper-630"), station("Manila"), station("Dalian"), length_s=30.0)
    >>> [(one.start_s, one.change, len(one.satellites)) for one in found.stretches()]
    [(0.0, 'first', 3), (19.9, 'shorter', 2), (28.0, 'longer', 4)]
    """
    apart(start, end)
    seconds = steps(length_s, step_s, first_s)
    return Series(shell, start, end, seconds, step_s, [Snapshot(shell, float(at)).path(start, end) for at in seconds])
