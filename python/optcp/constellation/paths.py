"""Links between satellites and to the ground at one time, and shortest paths over them.

# Model

*+grid*: each satellite has permanent inter-satellite links (ISLs) to both neighbours in its plane. It has one more to
the corresponding satellite in both adjacent planes; a star has none over its seam. A ground station has a
ground-satellite link (GSL) to every satellite in reach. A path is the shortest in metres, without ground stations as
relays.

# References

Hypatia (S. Kassing et al., IMC 2020), ``plus_grid`` ISLs and ``free_one_only_over_isls``, snkas/hypatia at 0ac531c.

# Choices

``gsl_km`` and ``elevation_deg`` of the satellites say what is in reach. ISLs that would dip into the atmosphere,
below 80 km, are not there.

# Limitations

A link exists as soon as both ends are in range: pointing times, the number of antennas and weather are not modelled.
Links between planes of a star also work near the poles, where Iridium switches them off.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from optcp.constellation import orbits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from optcp.constellation.stations import Station


class Constellation(Protocol):
    """Interface of :class:`optcp.constellation.Shell` and :class:`optcp.constellation.Tles`."""

    @property
    def name(self) -> str:
        """Name."""

    @property
    def summary(self) -> str:
        """Parameters on one line."""

    @property
    def size(self) -> int:
        """Number of satellites."""

    @property
    def gsl_km(self) -> float:
        """Maximum length of a ground-satellite link, in km."""

    @property
    def elevation_deg(self) -> float:
        """Minimum elevation of a satellite above the horizon of a ground station, in degrees."""

    @property
    def greenwich_deg(self) -> float:
        """Angle of Greenwich at time zero, in degrees."""

    @property
    def isls(self) -> NDArray[np.int64]:
        """Satellite numbers of each link, shape (links, 2), including links that are currently too long."""

    def positions(self, seconds: ArrayLike, which: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return positions in km, shape (..., n, 3), of satellites ``which``, shape (n,), or of all."""


@functools.lru_cache(maxsize=8)
def plus_grid(planes: int, satellites: int, seam: bool = False, shift: int = 0) -> NDArray[np.int64]:
    """Return the links between satellites of a *+grid*.

    Parameters
    ----------
    planes, satellites
        Number of planes, and of satellites per plane.
    seam
        Whether there is no link between the last plane and the first.
    shift
        Number of satellites by which the first plane is ahead of the position of a plane after the last one.

    Returns
    -------
    numpy.ndarray
        Numbers of two satellites each, shape (links, 2), the smaller one first, in order.
    """
    number = np.arange(planes * satellites).reshape(planes, satellites)
    pairs = [np.stack([number, np.roll(number, -1, axis=1)], axis=-1).reshape(-1, 2)]
    if planes > 1:
        pairs.append(np.stack([number[:-1], number[1:]], axis=-1).reshape(-1, 2))
        if not seam:
            pairs.append(np.stack([number[-1], np.roll(number[0], -shift)], axis=-1))
    both = np.sort(np.concatenate(pairs), axis=1)
    return np.unique(both[both[:, 0] != both[:, 1]], axis=0)


def distances(
    shell: Constellation, stations: Station, seconds: float, places: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the distances in km of satellites at ``places``, shape (n, 3), from a station; infinite out of reach."""
    away = places - stations.position(seconds, shell.greenwich_deg)
    far = np.linalg.norm(away, axis=-1)
    high = away @ stations.up(seconds, shell.greenwich_deg)
    seen = (far <= shell.gsl_km) & (high >= far * np.sin(np.radians(shell.elevation_deg)))
    return np.where(seen, far, np.inf)


@dataclass(frozen=True)
class Seen:
    """Satellites in reach of a ground station, nearest first.

    Attributes
    ----------
    satellites
        Satellite numbers, shape (n,).
    range_km
        Distances in km.
    elevation_deg
        How high over the horizon.
    """

    satellites: NDArray[np.int64]
    range_km: NDArray[np.float64]
    elevation_deg: NDArray[np.float64]


class Snapshot:
    """Constellation at one time.

    Parameters
    ----------
    shell
        Constellation.
    seconds
        Time in s after time zero: 2000-01-01 00:00 UT for a shell.

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

    def __init__(self, shell: Constellation, seconds: float) -> None:
        self.shell, self.seconds = shell, seconds
        self.positions = shell.positions(seconds)
        pairs = shell.isls
        lengths = np.linalg.norm(self.positions[pairs[:, 0]] - self.positions[pairs[:, 1]], axis=-1)
        there = lengths <= orbits.horizon_km(self.positions)[pairs].sum(axis=-1)
        self.isls, self.isl_km = pairs[there], lengths[there]

    def seen(self, station: Station) -> Seen:
        """Return the satellites in reach of a ground station."""
        far = distances(self.shell, station, self.seconds, self.positions)
        order = np.argsort(far, kind="stable")[: np.count_nonzero(np.isfinite(far))]
        away = self.positions[order] - station.position(self.seconds, self.shell.greenwich_deg)
        high = away @ station.up(self.seconds, self.shell.greenwich_deg) / far[order]
        return Seen(order, far[order], np.degrees(np.arcsin(np.clip(high, -1, 1))))

    def path(self, start: Station, end: Station) -> tuple[int, ...]:
        """Return the satellites of the shortest path between two stations; empty without a path."""
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
    shell: Constellation, start: Station, end: Station, satellites: Sequence[int], seconds: ArrayLike
) -> NDArray[np.float64]:
    """Return the length of a path, whether or not its links exist at that time.

    Parameters
    ----------
    shell, start, end
        Constellation, and stations at both ends.
    satellites
        Satellites of the path, at least one.
    seconds
        When, shape (...).

    Returns
    -------
    numpy.ndarray
        In km, shape (...).
    """
    places = shell.positions(seconds, satellites)
    ends = [one.position(seconds, shell.greenwich_deg)[..., None, :] for one in (start, end)]
    points = np.concatenate([ends[0], places, ends[1]], axis=-2)
    total = np.linalg.norm(np.diff(points, axis=-2), axis=-1).sum(axis=-1)
    return np.asarray(total, dtype=np.float64)
