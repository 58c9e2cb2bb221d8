"""Links between satellites and to the ground at one instant, and shortest paths over them.

Models
    *+grid*: each satellite has inter-satellite links (ISLs) to both neighbours in its plane and to the satellite beside
    it in both neighbouring planes, all the time; a star has none over its seam. A ground station has a
    ground-satellite link (GSL) to every satellite in its reach. A path is the shortest in metres, and ground stations
    never relay.
Source
    Hypatia (S. Kassing et al., IMC 2020), ``plus_grid`` ISLs and ``free_one_only_over_isls``, snkas/hypatia at 0ac531c.
Choices
    ``gsl_km`` and ``elevation_deg`` of the shell say what is in reach, ``isl_km`` which ISLs there are.
Limits
    A link exists as soon as both ends are where they must be: no time to point, no number of antennas, no weather.
    Links between planes of a star work near the poles too, where those of Iridium are off.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.constellation import orbits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from optcp.constellation.shells import Shell
    from optcp.constellation.stations import Station


@functools.lru_cache(maxsize=8)
def isls(shell: Shell) -> NDArray[np.int64]:
    """Return the links between satellites.

    Returns
    -------
    numpy.ndarray
        Numbers of two satellites each, shape (links, 2), the smaller one first, in order.
    """
    number = np.arange(shell.size).reshape(shell.planes, shell.satellites)
    pairs = [np.stack([number, np.roll(number, -1, axis=1)], axis=-1).reshape(-1, 2)]
    if shell.planes > 1:
        pairs.append(np.stack([number[:-1], number[1:]], axis=-1).reshape(-1, 2))
        if not shell.seam:
            # Of Walker's phases the plane behind the last one is the first, further on by as many satellites.
            beside = np.roll(number[0], -round(shell.phasing or 0))
            pairs.append(np.stack([number[-1], beside], axis=-1))
    both = np.sort(np.concatenate(pairs), axis=1)
    return np.unique(both[both[:, 0] != both[:, 1]], axis=0)


def distances(shell: Shell, stations: Station, seconds: float, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far satellites at ``places``, shape (n, 3), are from a station in km; infinity out of its reach."""
    away = places - stations.position(seconds)
    far = np.linalg.norm(away, axis=-1)
    high = away @ stations.up(seconds)
    seen = (far <= shell.gsl_km) & (high >= far * np.sin(np.radians(shell.elevation_deg)))
    return np.where(seen, far, np.inf)


@dataclass(frozen=True)
class Seen:
    """What a ground station sees, the nearest first.

    Attributes
    ----------
    satellites
        Their numbers, shape (n,).
    range_km
        How far they are.
    elevation_deg
        How high over the horizon.
    """

    satellites: NDArray[np.int64]
    range_km: NDArray[np.float64]
    elevation_deg: NDArray[np.float64]


class Snapshot:
    """A shell at one instant.

    Parameters
    ----------
    shell
        Which.
    seconds
        When, from 2000-01-01 00:00 UT.

    Attributes
    ----------
    positions
        Of satellites in km, shape (satellites, 3), in coordinates that do not turn with the earth.
    isls
        Numbers of the two satellites of each link, shape (links, 2): those that are short enough.
    isl_km
        How long they are, shape (links,).

    Examples
    --------
    >>> from optcp.constellation import shell, station
    >>> now = Snapshot(shell("kuiper-630"), 0.0)
    >>> now.path(station("Manila"), station("Dalian"))
    (184, 183, 217)
    """

    def __init__(self, shell: Shell, seconds: float) -> None:
        self.shell, self.seconds = shell, seconds
        self.positions = orbits.positions(shell, seconds)
        pairs = isls(shell)
        lengths = np.linalg.norm(self.positions[pairs[:, 0]] - self.positions[pairs[:, 1]], axis=-1)
        there = lengths <= shell.isl_km
        self.isls, self.isl_km = pairs[there], lengths[there]

    def seen(self, station: Station) -> Seen:
        """Which satellites are in the reach of a ground station."""
        far = distances(self.shell, station, self.seconds, self.positions)
        order = np.argsort(far, kind="stable")[: np.count_nonzero(np.isfinite(far))]
        away = self.positions[order] - station.position(self.seconds)
        high = away @ station.up(self.seconds) / far[order]
        return Seen(order, far[order], np.degrees(np.arcsin(np.clip(high, -1, 1))))

    def path(self, start: Station, end: Station) -> tuple[int, ...]:
        """Return the satellites of the shortest path between two stations; none where there is no path."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        size = self.shell.size
        begins = distances(self.shell, start, self.seconds, self.positions)
        ends = distances(self.shell, end, self.seconds, self.positions)
        first, last = np.flatnonzero(np.isfinite(begins)), np.flatnonzero(np.isfinite(ends))
        if not (len(first) and len(last)):
            return ()
        a, b = self.isls.T
        # Links of stations have one direction each, so that no path leads through one.
        source = np.concatenate([a, b, np.full_like(first, size), last])
        target = np.concatenate([b, a, first, np.full_like(last, size + 1)])
        weights = np.concatenate([self.isl_km, self.isl_km, begins[first], ends[last]])
        graph = csr_array((weights, (source, target)), shape=(size + 2, size + 2))
        far, before = dijkstra(graph, indices=size, return_predecessors=True)
        if not np.isfinite(far[size + 1]):
            return ()
        found: list[int] = []
        at = int(before[size + 1])
        while at != size:
            found.append(at)
            at = int(before[at])
        return tuple(reversed(found))


def length_km(
    shell: Shell, start: Station, end: Station, satellites: Sequence[int], seconds: ArrayLike
) -> NDArray[np.float64]:
    """Return how long a path is, whether or not its links exist then.

    Parameters
    ----------
    shell, start, end
        Between which stations.
    satellites
        Those of the path, one at least.
    seconds
        When, shape (...).

    Returns
    -------
    numpy.ndarray
        In km, shape (...).
    """
    places = orbits.positions(shell, seconds, satellites)
    ends = [one.position(seconds)[..., None, :] for one in (start, end)]
    points = np.concatenate([ends[0], places, ends[1]], axis=-2)
    total = np.linalg.norm(np.diff(points, axis=-2), axis=-1).sum(axis=-1)
    return np.asarray(total, dtype=np.float64)
