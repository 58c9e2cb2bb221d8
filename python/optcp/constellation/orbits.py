"""Where satellites and ground stations are: circular orbits over an earth that turns.

# Model

Satellites on circles, stations on the ellipsoid, both in coordinates that do not turn, in km; time is in seconds
from time zero, which is 2000-01-01 00:00 UT where nothing else is said.

# References

WGS72, as SGP-4 has it; the positions of Hypatia's generator (snkas/hypatia at 0ac531c, satgenpy). Greenwich mean
sidereal time: IAU 1982, as in J. Meeus, "Astronomical Algorithms" (1991), formula 11.4.

# Choices

A shell (:class:`optcp.constellation.Shell`), a place on the ground.

# Limitations

No drift of planes by the earth's shape (J2), and none of SGP-4's short periods: some km, and within 200 s at most
2 s of when a satellite rises or sets.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from optcp.constellation.shells import Shell

GRAVITY = 398_600.8
"""Of the earth: gravitational parameter in km^3/s^2 (WGS72)."""
EARTH_KM = 6378.135
"""Radius of the equator (WGS72)."""
FLATTENING = 1 / 298.26
"""Of the earth (WGS72)."""
TURN = 7.29211585e-5
"""Radians that the earth turns in a second."""
GREENWICH_DEG = 99.967795
"""Angle of Greenwich at 2000-01-01 00:00 UT: ``greenwich_deg(2451544.5)``."""
J2000 = 2_451_545.0
"""The Julian day of 2000-01-01 12:00."""
CENTURY_DAYS = 36_525
ATMOSPHERE_KM = 80.0
"""How far up it disturbs light: links between satellites do not dip below."""
SECONDS_A_DAY = 86_400.0
LIGHT_KM_S = 299_792.458
"""Speed of light in vacuum."""


def positions(shell: Shell, seconds: ArrayLike, which: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return where satellites are.

    Parameters
    ----------
    shell
        Whose satellites.
    seconds
        When, shape (...).
    which
        Numbers of satellites, shape (n,); all by default.

    Returns
    -------
    numpy.ndarray
        Positions in km, shape (..., n, 3).
    """
    number = np.arange(shell.size) if which is None else np.asarray(which)
    plane, place = np.divmod(number, shell.satellites)
    node = np.radians(shell.spread_deg / shell.planes) * plane
    spacing = 2 * math.pi / shell.satellites
    ahead = plane % 2 / 2 if shell.phasing is None else shell.phasing / shell.planes * plane
    angle = spacing * (place + ahead) + shell.motion * np.asarray(seconds, dtype=float)[..., None]
    tilt = math.radians(shell.inclination_deg)
    along, across = np.cos(angle), np.sin(angle)
    x = along * np.cos(node) - across * math.cos(tilt) * np.sin(node)
    y = along * np.sin(node) + across * math.cos(tilt) * np.cos(node)
    return shell.radius_km * np.stack([x, y, across * math.sin(tilt)], axis=-1)


def greenwich_deg(julian_day: float) -> float:
    """Return the mean sidereal angle of Greenwich, from 0 to 360 degrees, at a Julian day of UT1."""
    days = julian_day - J2000
    centuries = days / CENTURY_DAYS
    bent = 0.000387933 * centuries**2 - centuries**3 / 38_710_000
    return (280.46061837 + 360.98564736629 * days + bent) % 360


def horizon_km(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far it is from places, shape (..., 3), to where light grazes the atmosphere, shape (...)."""
    squared: NDArray[np.float64] = np.sum(places**2, axis=-1) - (EARTH_KM + ATMOSPHERE_KM) ** 2
    return np.sqrt(np.maximum(0.0, squared))


def ground(
    latitude_deg: float,
    longitude_deg: float,
    seconds: ArrayLike,
    greenwich_deg: float = GREENWICH_DEG,
    height_km: float = 0.0,
) -> NDArray[np.float64]:
    """Return where a place is.

    Parameters
    ----------
    latitude_deg, longitude_deg
        Geodetic latitude, and longitude to the east.
    seconds
        When, shape (...).
    greenwich_deg
        Angle of Greenwich at time zero.
    height_km
        Over the ellipsoid.

    Returns
    -------
    numpy.ndarray
        Positions in km, shape (..., 3).
    """
    latitude = math.radians(latitude_deg)
    squared = 2 * FLATTENING - FLATTENING**2
    radius = EARTH_KM / math.sqrt(1 - squared * math.sin(latitude) ** 2)
    turned = math.radians(longitude_deg + greenwich_deg) + TURN * np.asarray(seconds, dtype=float)
    level = (radius + height_km) * math.cos(latitude)
    height = np.full_like(turned, (radius * (1 - squared) + height_km) * math.sin(latitude))
    return np.stack([level * np.cos(turned), level * np.sin(turned), height], axis=-1)


def up(
    latitude_deg: float, longitude_deg: float, seconds: ArrayLike, greenwich_deg: float = GREENWICH_DEG
) -> NDArray[np.float64]:
    """Return the direction away from the ground at a place, of length 1, shape (..., 3)."""
    latitude = math.radians(latitude_deg)
    turned = math.radians(longitude_deg + greenwich_deg) + TURN * np.asarray(seconds, dtype=float)
    height = np.full_like(turned, math.sin(latitude))
    return np.stack([math.cos(latitude) * np.cos(turned), math.cos(latitude) * np.sin(turned), height], axis=-1)


def geodetic(
    places: NDArray[np.float64], seconds: ArrayLike, greenwich_deg: float = GREENWICH_DEG
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return over which place of the ellipsoid something is, and how high.

    Parameters
    ----------
    places
        In km, shape (..., 3), in coordinates that do not turn.
    seconds
        When, shape (...).
    greenwich_deg
        Angle of Greenwich at time zero.

    Returns
    -------
    tuple of numpy.ndarray
        Geodetic latitude, longitude to the east from -180 to 180 (both in degrees) and height in km, shape (...).
        Latitudes are 1e-6 degrees off at most (B. R. Bowring, Survey Review 23, 1976).
    """
    x, y, z = np.moveaxis(places, -1, 0)
    longitude = np.degrees(np.arctan2(y, x)) - greenwich_deg - np.degrees(TURN * np.asarray(seconds, dtype=float))
    squared, polar_km = 2 * FLATTENING - FLATTENING**2, EARTH_KM * (1 - FLATTENING)
    away = np.hypot(x, y)
    reduced = np.arctan2(z * EARTH_KM, away * polar_km)
    beyond = squared / (1 - squared) * polar_km
    latitude = np.arctan2(z + beyond * np.sin(reduced) ** 3, away - squared * EARTH_KM * np.cos(reduced) ** 3)
    radius = EARTH_KM / np.sqrt(1 - squared * np.sin(latitude) ** 2)
    height = away * np.cos(latitude) + z * np.sin(latitude) - EARTH_KM**2 / radius
    return np.degrees(latitude), (longitude + 180) % 360 - 180, height
