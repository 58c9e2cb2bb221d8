"""Satellite shells: known shells by name, and their parameters.

# Model

A Walker constellation: circular orbits of equal altitude and inclination, in planes with equally spaced ascending
nodes. In a *delta*, the nodes cover the whole equator. In a *star*, they cover half of it, so satellites of the last
and first plane move in opposite directions. There are no links over this *seam*.

# References

J. G. Walker, "Satellite constellations", Journal of the British Interplanetary Society 37 (1984); the numbers of
each shell come from its ``source``.

# Limitations

Planned shells, not the satellites that are in orbit: none is missing, spare or out of its place.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from optcp.constellation import orbits
from optcp.constellation.orbits import EARTH_KM, GRAVITY, GREENWICH_DEG, SECONDS_A_DAY
from optcp.constellation.paths import plus_grid
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

MOST_SATELLITES = 10_000
"""Maximum number of satellites; the largest filed shell has about 7 500."""


@dataclass(frozen=True)
class Shell:
    """Satellites in circular orbits of equal altitude.

    Parameters
    ----------
    name
        Name.
    planes
        Number of orbital planes.
    satellites
        How many satellites in each plane, equally far apart. Number ``satellites * p + j`` is satellite j of plane p.
    inclination_deg
        Angle of the planes to the equator.
    revs_a_day
        Orbits in 86 400 s.
    spread_deg
        Over how much of the equator the ascending nodes are spread: 360 in a delta, 180 or a little more in a star.
    phasing
        Lead of the satellites of a plane over the plane before, in ``360 / (planes * satellites)`` degrees: F of
        Walker. None: every second plane is half a distance ahead.
    seam
        Whether there is no link between the last plane and the first.
    gsl_km
        The longest link between a satellite and the ground.
    elevation_deg
        The least elevation of a satellite over the horizon of a ground station.
    source
        Where the numbers are from.

    Raises
    ------
    InputError
        If a value is impossible.
    """

    name: str
    planes: int
    satellites: int
    inclination_deg: float
    revs_a_day: float
    spread_deg: float = 360.0
    phasing: float | None = None
    seam: bool = False
    gsl_km: float = math.inf
    elevation_deg: float = 0.0
    source: str = ""

    def __post_init__(self) -> None:
        check(self)
        if self.planes * self.satellites > MOST_SATELLITES:
            raise InputError(f"{self.planes} planes of {self.satellites} satellites: at most are {MOST_SATELLITES}")
        if not 160 <= self.altitude_km <= 40_000:
            raise InputError(f"revs_a_day = {self.revs_a_day:g}: expected an orbit from 160 to 40000 km above ground")
        if self.phasing is not None and not abs(self.phasing) <= MOST_SATELLITES:
            raise InputError(f"phasing = {self.phasing:g}: expected a number of satellites, or `half`")

    @property
    def size(self) -> int:
        """Number of satellites."""
        return self.planes * self.satellites

    @property
    def radius_km(self) -> float:
        """Radius of the orbits in km, from Kepler's third law."""
        return float((GRAVITY / self.motion**2) ** (1 / 3))

    @property
    def altitude_km(self) -> float:
        """Altitude of the orbits above the equator, in km."""
        return self.radius_km - EARTH_KM

    @property
    def motion(self) -> float:
        """Angular speed in rad/s."""
        return self.revs_a_day * 2 * math.pi / SECONDS_A_DAY

    @property
    def period_s(self) -> float:
        """Orbital period in s."""
        return SECONDS_A_DAY / self.revs_a_day

    @property
    def summary(self) -> str:
        """Parameters on one line."""
        phasing = "half" if self.phasing is None else f"{self.phasing:g}"
        return (
            f"{self.planes} planes of {self.satellites} satellites, {self.inclination_deg:g} deg, "
            f"{self.altitude_km:.0f} km, {self.period_s / 60:.1f} min an orbit; nodes over {self.spread_deg:g} deg"
            f"{' and a seam' if self.seam else ''}, phasing {phasing}, {reach(self.gsl_km, self.elevation_deg)}"
        )

    @property
    def greenwich_deg(self) -> float:
        """Angle of Greenwich at time zero (2000-01-01 00:00 UT), in degrees."""
        return GREENWICH_DEG

    @property
    def isls(self) -> NDArray[np.int64]:
        """Satellite numbers of each link of the *+grid*, shape (links, 2), the smaller one first."""
        # With Walker phasing, the plane after the last one is the first plane, shifted by this number of satellites.
        return plus_grid(self.planes, self.satellites, self.seam, round(self.phasing or 0))

    def positions(self, seconds: ArrayLike, which: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return positions as :func:`optcp.constellation.orbits.positions`."""
        return orbits.positions(self, seconds, which)

    def changed(self, settings: Mapping[str, str]) -> Shell:
        """Return the shell with values of a command line; see :func:`changed`."""
        return changed(self, settings)


Satellites = TypeVar("Satellites")

BOUNDS = {
    "planes": (1, MOST_SATELLITES, "a whole number from 1"),
    "satellites": (1, MOST_SATELLITES, "a whole number from 1"),
    "inclination_deg": (0, 180, "degrees from 0 to 180"),
    "revs_a_day": (0.01, 20, "an orbit from 160 to 40000 km above ground"),
    "spread_deg": (1, 360, "degrees from 1 to 360"),
    "elevation_deg": (0, 90, "degrees from 0 to 90"),
    "gsl_km": (1, math.inf, "km from 1"),
}
"""Minimum, maximum and expected value (as text) of parameters."""


def check(one: object) -> None:
    """Check the values with bounds.

    Raises
    ------
    InputError
        If a value is out of bounds.
    """
    for name, (least, most, expected) in BOUNDS.items():
        value = getattr(one, name, least)
        if not least <= value <= most:
            raise InputError(f"{name} = {value:g}: expected {expected}")


def changed(one: Satellites, settings: Mapping[str, str]) -> Satellites:
    """Return satellites with values of a command line.

    Parameters
    ----------
    one
        A dataclass.
    settings
        Values by parameter name; ``altitude_km`` replaces ``revs_a_day``. Setting ``elevation_deg`` or ``gsl_km``
        replaces both.

    Raises
    ------
    InputError
        If there is no such name, or a value is impossible.
    """
    made: dict[str, object] = {}
    known = [name for name in SETTINGS if hasattr(one, name)]
    for name, text in settings.items():
        if name not in known:
            raise InputError(f"--set {name}={text}: unknown parameter; {nearest(name, known)}")
        if name == "altitude_km" and "revs_a_day" in settings:
            raise InputError("altitude_km and revs_a_day determine each other; set only one")
        made.update(_read(name, text))
    if not made:
        return one
    if "elevation_deg" in made or "gsl_km" in made:
        made = {"elevation_deg": 0.0, "gsl_km": math.inf, **made}
    try:
        return dataclasses.replace(one, **made)  # type: ignore[type-var]
    except InputError as error:
        raise InputError(f"--set: {error}") from None


SETTINGS = {
    "planes": int,
    "satellites": int,
    "inclination_deg": float,
    "revs_a_day": float,
    "altitude_km": float,
    "spread_deg": float,
    "phasing": float,
    "seam": bool,
    "gsl_km": float,
    "elevation_deg": float,
}
"""Parameters of a shell that can be set, by name."""


def _read(name: str, text: str) -> dict[str, object]:
    kind = SETTINGS[name]
    if kind is bool:
        if text not in ("true", "false"):
            raise InputError(f"--set {name}={text}: expected true or false")
        return {name: text == "true"}
    if name == "phasing" and text == "half":
        return {name: None}
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"--set {name}={text}: expected a {'whole ' if kind is int else ''}number")
    if name == "altitude_km":
        if value <= -EARTH_KM:
            raise InputError(f"--set {name}={text}: expected km from 160 to 40000")
        return {"revs_a_day": revs_a_day(value)}
    return {name: value}


def reach(gsl_km: float, elevation_deg: float) -> str:
    """Say which satellites a ground station reaches."""
    near = [f"GSLs up to {gsl_km:.0f} km"] if gsl_km < math.inf else []
    high = [f"from {elevation_deg:g} deg over the horizon"] if elevation_deg or not near else []
    return " ".join(near + high)


def revs_a_day(altitude_km: float) -> float:
    """Return how many orbits a satellite makes in a day, whose height over the equator is given."""
    return math.sqrt(GRAVITY / (EARTH_KM + altitude_km) ** 3) * SECONDS_A_DAY / (2 * math.pi)


HYPATIA = "Hypatia (IMC 2020), snkas/hypatia at 0ac531c, paper/satellite_networks_state"
"""Where phases, orbits a day and lengths of links are from."""

SHELLS = {
    one.name: one
    for one in (
        Shell(
            "kuiper-630",
            planes=34,
            satellites=34,
            inclination_deg=51.9,
            revs_a_day=14.80,
            gsl_km=1260.0,
            source=f"FCC SAT-LOA-20190704-00057; {HYPATIA}: 630 km / sin 30 deg",
        ),
        Shell(
            "starlink-550",
            planes=72,
            satellites=22,
            inclination_deg=53.0,
            revs_a_day=revs_a_day(550.0),
            gsl_km=math.hypot(550.0, 940.7),
            source=f"FCC SAT-MOD-20190830-00087, SAT-MOD-20181108-00083 (cone of 940.7 km); {HYPATIA}, but for its "
            "15.19 orbits a day, which are those of 509 km",
        ),
        # Hypatia's slant range over a flat earth, 1015 km / sin 10 deg = 5845 km, reaches below the horizon.
        Shell(
            "telesat-1015",
            planes=27,
            satellites=13,
            inclination_deg=98.98,
            revs_a_day=13.66,
            elevation_deg=10.0,
            source=f"FCC SAT-MPL-20200526-00053; {HYPATIA}, but for the elevation, which is exact here",
        ),
        Shell(
            "iridium",
            planes=6,
            satellites=11,
            inclination_deg=86.4,
            revs_a_day=revs_a_day(780.0),
            spread_deg=6 * 31.6,
            seam=True,
            elevation_deg=8.2,
            source="S. R. Pratt et al., An operational and performance overview of the IRIDIUM low earth orbit "
            "satellite system, IEEE Communications Surveys 2(2), 1999: planes 31.6 deg apart, 22 deg at the seam",
        ),
    )
}
"""The shells that have a name."""


def shell(name: str) -> Shell:
    """Return a shell by its name.

    Raises
    ------
    InputError
        If the name is unknown; the message suggests the nearest.

    Examples
    --------
    >>> kuiper = shell("kuiper-630")
    >>> kuiper.size, round(kuiper.altitude_km), round(kuiper.period_s)
    (1156, 629, 5838)
    """
    if name not in SHELLS:
        raise InputError(f"unknown shell {name!r}; {nearest(name, SHELLS)}")
    return SHELLS[name]
