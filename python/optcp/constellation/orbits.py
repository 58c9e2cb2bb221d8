"""Positions of satellites and ground stations: circular orbits, rotating earth.

# Model

Satellites move on circles, and stations are on the ellipsoid. Positions are in km in an inertial frame. Times are in
seconds since 2000-01-01 00:00 UT, unless stated otherwise.

# References

WGS72, as used by SGP-4; the positions of Hypatia's generator (snkas/hypatia at 0ac531c, satgenpy). Greenwich mean
sidereal time: IAU 1982, as in J. Meeus, "Astronomical Algorithms" (1991), formula 11.4.

# Choices

The shell (:class:`optcp.constellation.Shell`) and the place on the ground.

# Limitations

No precession of the orbital planes (J2) and none of the short-period terms of SGP-4. Positions differ from SGP-4 by
some km, and the times at which satellites rise and set by at most 2 s within 200 s.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from optcp.constellation.shells import Shell

GRAVITY = 398_600.8
"""Gravitational parameter of the earth in km^3/s^2 (WGS72)."""
EARTH_KM = 6378.135
"""Equatorial radius of the earth (WGS72)."""
FLATTENING = 1 / 298.26
"""Flattening of the earth (WGS72)."""
TURN = 7.29211585e-5
"""Angular velocity of the earth in radians per second."""
GREENWICH_DEG = 99.967795
"""Sidereal angle of Greenwich at 2000-01-01 00:00 UT: ``greenwich_deg(2451544.5)``."""
J2000 = 2_451_545.0
"""The Julian day of 2000-01-01 12:00."""
CENTURY_DAYS = 36_525
ATMOSPHERE_KM = 80.0
"""Minimum height of links between satellites."""
SECONDS_A_DAY = 86_400.0
LIGHT_KM_S = 299_792.458
"""Speed of light in vacuum."""


def positions(shell: Shell, seconds: ArrayLike, which: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return the positions of satellites.

    Parameters
    ----------
    shell
        Shell of the satellites.
    seconds
        Times, shape (...).
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
    """Return the distance from positions, shape (..., 3), to the tangent point on the atmosphere, shape (...)."""
    squared: NDArray[np.float64] = np.sum(places**2, axis=-1) - (EARTH_KM + ATMOSPHERE_KM) ** 2
    return np.sqrt(np.maximum(0.0, squared))


def ground(
    latitude_deg: float,
    longitude_deg: float,
    seconds: ArrayLike,
    greenwich_deg: float = GREENWICH_DEG,
    height_km: float = 0.0,
) -> NDArray[np.float64]:
    """Return the position of a place on the ground.

    Parameters
    ----------
    latitude_deg, longitude_deg
        Geodetic latitude, and longitude to the east.
    seconds
        Times, shape (...).
    greenwich_deg
        Sidereal angle of Greenwich at time zero.
    height_km
        Height above the ellipsoid.

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
    """Return the unit vector that points up at a place, shape (..., 3)."""
    latitude = math.radians(latitude_deg)
    turned = math.radians(longitude_deg + greenwich_deg) + TURN * np.asarray(seconds, dtype=float)
    height = np.full_like(turned, math.sin(latitude))
    return np.stack([math.cos(latitude) * np.cos(turned), math.cos(latitude) * np.sin(turned), height], axis=-1)


def geodetic(
    places: NDArray[np.float64], seconds: ArrayLike, greenwich_deg: float = GREENWICH_DEG
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the geodetic coordinates of positions.

    Parameters
    ----------
    places
        Positions in km in the inertial frame, shape (..., 3).
    seconds
        Times, shape (...).
    greenwich_deg
        Sidereal angle of Greenwich at time zero.

    Returns
    -------
    tuple of numpy.ndarray
        Geodetic latitude, longitude to the east from -180 to 180 (both in degrees) and height in km, shape (...).
        The error of latitudes is at most 1e-6 degrees (B. R. Bowring, Survey Review 23, 1976).
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
