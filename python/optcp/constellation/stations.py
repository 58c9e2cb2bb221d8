"""Ground stations, given by the name of a city or by coordinates.

# References

The 100 largest cities, as estimated for 2025 (United Nations, World Urbanization Prospects), with the coordinates of
Hypatia (snkas/hypatia at 0ac531c).
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from optcp.constellation import orbits
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Station:
    """A ground station.

    Parameters
    ----------
    name
        Name of the station.
    latitude_deg, longitude_deg
        Geodetic latitude to the north, longitude to the east.
    height_km
        Height above the ellipsoid.

    Raises
    ------
    InputError
        If a coordinate is out of range.
    """

    name: str
    latitude_deg: float
    longitude_deg: float
    height_km: float = 0.0

    def __post_init__(self) -> None:
        if not -90 <= self.latitude_deg <= 90:
            raise InputError(f"{self.name}: expected a latitude from -90 to 90 degrees")
        if not -180 <= self.longitude_deg <= 360:
            raise InputError(f"{self.name}: expected a longitude from -180 to 360 degrees")
        if not -1 <= self.height_km <= 100:
            raise InputError(f"{self.name}: expected a height from -1 to 100 km")

    def position(self, seconds: ArrayLike, greenwich_deg: float = orbits.GREENWICH_DEG) -> NDArray[np.float64]:
        """Position in km, shape (..., 3), at times of shape (...); ``greenwich_deg`` is the angle at time zero."""
        return orbits.ground(self.latitude_deg, self.longitude_deg, seconds, greenwich_deg, self.height_km)

    def up(self, seconds: ArrayLike, greenwich_deg: float = orbits.GREENWICH_DEG) -> NDArray[np.float64]:
        """Unit vector that points up, shape (..., 3)."""
        return orbits.up(self.latitude_deg, self.longitude_deg, seconds, greenwich_deg)


@functools.cache
def cities() -> dict[str, Station]:
    """Return the known cities by name."""
    text = (resources.files("optcp.constellation") / "cities.csv").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, latitude, longitude = line.split(",")
            found[name] = Station(name, float(latitude), float(longitude))
    return found


def permutation(count: int, seed: int) -> list[tuple[Station, Station]]:
    """Draw a random permutation traffic matrix of the first ``count`` cities, without fixed points.

    Raises
    ------
    InputError
        If ``count`` is less than two or exceeds the number of cities.
    """
    known = list(cities().values())
    if not 2 <= count <= len(known):
        raise InputError(f"{count} cities: expected from 2 to {len(known)}")
    draw = np.random.default_rng(seed)
    order = draw.permutation(count)
    while (order == np.arange(count)).any():
        order = draw.permutation(count)
    return [(known[place], known[to]) for place, to in enumerate(order)]


def _plain(name: str) -> str:
    """Reduce a name to lower-case letters without accents."""
    return re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", name).casefold().replace("st.", "saint"))


def station(text: str) -> Station:
    """Return a ground station by the name of a city, or by ``latitude,longitude``.

    Parameters
    ----------
    text
        Such as ``Manila``, ``St. Petersburg`` or ``14.6,120.98``. Case, accents and spaces do not matter.

    Raises
    ------
    InputError
        If the city is unknown (the message suggests a similar name), or a coordinate is out of range.

    Examples
    --------
    >>> station("rio de janeiro").latitude_deg
    -22.90278
    """
    if re.fullmatch(r"[-+0-9.eE\s]+,[-+0-9.eE\s]+", text):
        try:
            latitude, longitude = (float(part) for part in text.split(","))
        except ValueError:
            latitude = math.nan
        if math.isnan(latitude):
            raise InputError(f"{text!r}: expected latitude,longitude in degrees, such as 14.6,120.98")
        return Station(f"{latitude:g},{longitude:g}", latitude, longitude)
    known = {_plain(name): one for name, one in cities().items()}
    if _plain(text) not in known:
        raise InputError(f"there is no city {text!r}; {nearest(text, cities())}; or give latitude,longitude")
    return known[_plain(text)]
