"""Positions of the nodes of a scenario over time, used only for figures: ``places.csv`` next to a scenario.

# References

Positions of :mod:`optcp.constellation.orbits`, converted to geodetic latitude, longitude and height.

# Limitations

Between two rows, a satellite moves along the great circle. With one row per minute, the error for the named shells is
at most 0.004 degrees and 20 m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.common.files import read_rows
from optcp.constellation import orbits
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from optcp.constellation.paths import Constellation
    from optcp.constellation.stations import Station

HEADER = "at (s), node, latitude (deg), longitude (deg), height (km)"
EVERY_S = 60.0
"""Interval between the rows of a satellite."""
BOUNDS = ((0.0, 1e9, "a time in s"), (-90.0, 90.0, "a latitude from -90 to 90 degrees"),
          (-180.0, 360.0, "a longitude from -180 to 360 degrees"), (-10.0, 1e6, "a height in km"))  # fmt: skip
"""Minimum, maximum and description of each number in a row."""


@dataclass(frozen=True)
class Track:
    """Position of one node over time.

    Attributes
    ----------
    seconds
        Time of each row, ascending, shape (rows,). Before the first and after the last row, the node does not move.
    latitude_deg, longitude_deg, height_km
        Geodetic latitude, longitude to the east, and height at these times, shape (rows,).
    """

    seconds: NDArray[np.float64]
    latitude_deg: NDArray[np.float64]
    longitude_deg: NDArray[np.float64]
    height_km: NDArray[np.float64]

    @property
    def still(self) -> bool:
        """Whether the node never moves."""
        return len(self.seconds) == 1

    def at(self, seconds: float) -> NDArray[np.float64]:
        """Position relative to the rotating earth (a sphere), in earth radii, shape (3,)."""
        latitude, longitude = np.radians(self.latitude_deg), np.radians(self.longitude_deg)
        level = np.cos(latitude)
        rows = np.stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)])
        found = np.array([np.interp(seconds, self.seconds, row) for row in rows])
        height = np.interp(seconds, self.seconds, self.height_km)
        return np.asarray(found / (np.linalg.norm(found) or 1.0) * (1 + height / orbits.EARTH_KM), dtype=np.float64)


def places(
    ends: Mapping[str, Station], shell: Constellation, satellites: Iterable[int], seconds: NDArray[np.float64]
) -> dict[str, Track]:
    """Return the positions of ground stations and satellites.

    Parameters
    ----------
    ends
        Ground stations by the names of their nodes; the ends of the path come first.
    shell, satellites
        Numbers of its satellites; the node of satellite 184 is ``S184``.
    seconds
        Times since 2000-01-01 00:00 UT, shape (rows,). Returned times are relative to the first of them.

    Examples
    --------
    >>> from optcp.constellation import shell, station
    >>> found = places({"Manila": station("Manila")}, shell("kuiper-630"), [184], np.array([0.0, 60.0]))
    >>> round(float(found["S184"].height_km[0])), found["Manila"].still
    (630, True)
    """
    zero = np.zeros(1)
    found = {
        name: Track(zero, np.array([one.latitude_deg]), np.array([one.longitude_deg]), zero)
        for name, one in ends.items()
    }
    for number in satellites:
        there = shell.positions(seconds, [number])[:, 0]
        found[f"S{number}"] = Track(seconds - seconds[0], *orbits.geodetic(there, seconds, shell.greenwich_deg))
    return found


def times(first_s: float, end_s: float) -> NDArray[np.float64]:
    """Times of the rows of a satellite: every :data:`EVERY_S` seconds, and at the end."""
    return np.append(np.arange(first_s, end_s, EVERY_S), end_s)


def written(found: Mapping[str, Track]) -> str:
    """Return the contents of ``places.csv``."""
    rows = [HEADER]
    for name, one in found.items():
        columns = (one.seconds, one.latitude_deg, one.longitude_deg, one.height_km)
        rows += [
            f"{at:.9g}, {name}, {lat:.4f}, {lon:.4f}, {high:.1f}" for at, lat, lon, high in zip(*columns, strict=True)
        ]
    return "\n".join([*rows, ""])


def read(file: Path) -> dict[str, Track]:
    """Read ``places.csv``.

    Raises
    ------
    InputError
        If the file has another format; the message names file and line.
    """
    columns = HEADER.split(", ")
    rows = read_rows(file)
    number, heading = next(rows, (1, []))
    if heading != columns:
        raise InputError(f"{file}, line {number}: expected `{HEADER}`")
    found: dict[str, list[list[float]]] = {}
    for number, fields in rows:
        where = f"{file}, line {number}"
        if len(fields) != len(columns) or not fields[1]:
            raise InputError(f"{where}: expected `{HEADER}`")
        of = found.setdefault(fields.pop(1), [])
        of.append([_number(text, bound, where) for text, bound in zip(fields, BOUNDS, strict=True)])
        if len(of) > 1 and of[-1][0] <= of[-2][0]:
            raise InputError(f"{where}: expected a later time than in the previous row of this node")
    return {name: Track(*np.array(of).T) for name, of in found.items()}


def _number(text: str, bound: tuple[float, float, str], where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not bound[0] <= value <= bound[1]:
        raise InputError(f"{where}: {text!r}: expected {bound[2]}")
    return value
