"""Satellites of two-line elements (TLEs) or orbit mean-elements messages (OMMs), where SGP-4 has them.

# Model

Each satellite by SGP-4 from its own epoch on, in the coordinates that SGP-4 gives: true equator, mean equinox
(TEME). Ground stations turn by Greenwich's mean sidereal angle. Time zero is the epoch of the first one.

# References

Vallado and others, "Revisiting Spacetrack Report #3", AIAA 2006-6753, as implemented by the package ``sgp4``, with the
constants of WGS72. The form of files: the same report, ``tles.txt`` of Hypatia (snkas/hypatia at 0ac531c), and
:mod:`optcp.constellation.omm`.

# Choices

Links between satellites are read from a file, or form the *+grid* of the planes that the first line of Hypatia's files
states. Without either, satellites have no links, and a path uses one satellite. ``elevation_deg`` and ``gsl_km`` limit
the reach of a ground station: by default, to satellites from 10 degrees over the horizon.

# Limitations

UT1 is taken for UTC, which it is within 0.9 s: 0.4 km at the equator. No motion of the pole. SGP-4 is good to a
kilometre or so at its epoch and drifts by one to three a day.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common.files import read_lines
from optcp.common.plurals import count_noun
from optcp.constellation import omm, orbits, shells
from optcp.constellation.paths import plus_grid
from optcp.data.labelled import optional
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

WHOLE = "(?:[0-9]{3}| [0-9]{2}|  [0-9])"
ANGLE = rf"{WHOLE}\.[0-9]{{4}}"
DRAG = r"[-+ ]\.[0-9]{8} [-+ ][0-9]{5}[-+][0-9] [-+ ][0-9]{5}[-+][0-9]"
LINES = (
    re.compile(rf"1 ([ 0-9A-Z]{{5}})[ -~]{{11}}[0-9]{{2}}{WHOLE}\.[0-9]{{8}} {DRAG} [ -~]{{6}}[0-9]"),
    re.compile(
        rf"2 ([ 0-9A-Z]{{5}}) {ANGLE} {ANGLE} [0-9]{{7}} {ANGLE} {ANGLE} [ 0-9][0-9]\.[0-9]{{8}}[ 0-9]{{5}}[0-9]"
    ),
)
"""Both lines of a TLE, column by column."""
MOST_SATELLITES = 50_000
"""A file has no more: it is more than there are in orbit."""


@dataclass(frozen=True, eq=False)
class Tles:
    """Satellites of two-line elements or OMMs.

    Parameters
    ----------
    name
        Name of the constellation.
    records
        SGP-4 elements of each satellite.
    isls
        Numbers of the two satellites of each link, shape (links, 2), the smaller one first.
    gsl_km
        Maximum length of a link between a satellite and the ground.
    elevation_deg
        Minimum elevation of a satellite over the horizon of a ground station.

    Raises
    ------
    InputError
        If a value is impossible.
    """

    name: str
    records: tuple[Any, ...]
    isls: NDArray[np.int64]
    gsl_km: float = math.inf
    elevation_deg: float = 10.0

    def __post_init__(self) -> None:
        shells.check(self)

    @property
    def size(self) -> int:
        """How many satellites there are."""
        return len(self.records)

    @property
    def epoch(self) -> tuple[float, float]:
        """Julian day of time zero: integer part and fraction."""
        return self.records[0].jdsatepoch, self.records[0].jdsatepochF

    @property
    def greenwich_deg(self) -> float:
        """Angle of Greenwich at time zero."""
        return orbits.greenwich_deg(sum(self.epoch))

    @property
    def summary(self) -> str:
        """Its parameters in a line."""
        from sgp4.conveniences import sat_epoch_datetime

        begins = f"{sat_epoch_datetime(self.records[0]):%Y-%m-%d %H:%M:%S} UTC"
        reach = shells.reach(self.gsl_km, self.elevation_deg)
        return f"{count_noun(self.size, 'satellite')}, {count_noun(len(self.isls), 'ISL')}, time zero {begins}; {reach}"

    def positions(self, seconds: ArrayLike, which: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return where satellites are.

        Parameters
        ----------
        seconds
            When, from time zero, shape (...).
        which
            Numbers of satellites, shape (n,); all by default.

        Returns
        -------
        numpy.ndarray
            Positions in km, shape (..., n, 3).

        Raises
        ------
        InputError
            If SGP-4 has none, as of a satellite that has come down by then.
        """
        from sgp4.api import SGP4_ERRORS, SatrecArray

        when = np.asarray(seconds, dtype=float)
        numbers = np.arange(self.size) if which is None else np.asarray(which)
        chosen = self._all if which is None else SatrecArray([self.records[number] for number in numbers])
        day, more = self.epoch
        failed, places, _ = chosen.sgp4(np.full(when.size, day), more + when.ravel() / orbits.SECONDS_A_DAY)
        if failed.any():
            satellite, time = np.argwhere(failed)[0]
            raise InputError(
                f"{self.name}: satellite {numbers[satellite]} at {when.ravel()[time]:g} s: "
                f"{SGP4_ERRORS[int(failed[satellite, time])]}"
            )
        return np.asarray(np.moveaxis(places, 0, 1).reshape(*when.shape, len(numbers), 3))

    @functools.cached_property
    def _all(self) -> Any:  # noqa: ANN401 - sgp4 has no types
        from sgp4.api import SatrecArray

        return SatrecArray(self.records)

    def changed(self, settings: Mapping[str, str]) -> Tles:
        """Return the satellites with another reach; see :func:`optcp.constellation.shells.changed`."""
        return shells.changed(self, settings)


def tles(file: Path, isls: Path | None = None) -> Tles:
    """Read a file of two-line elements or OMMs.

    Parameters
    ----------
    file
        Two lines a satellite, or three with its name before. The first line may hold how many planes there are, and
        how many satellites in each, as Hypatia's has them. Or OMMs as JSON, XML or CSV.
    isls
        A file of links: two numbers of satellites a line, from 0 on. In place of the *+grid*.

    Raises
    ------
    InputError
        If a file cannot be read, or holds something else, and the message names file and line; or without the package
        ``sgp4``.
    """
    optional("sgp4")
    lines = read_lines(file)
    planes = re.fullmatch(r"\s*([0-9]{1,6})\s+([0-9]{1,6})\s*", lines[0]) if lines else None
    read = omm.records(file, lines) if omm.is_omm(lines) else _records(file, lines, 1 if planes else 0)
    records = tuple(itertools.islice(read, MOST_SATELLITES + 1))
    if not records:
        raise InputError(f"{file}: expected two-line elements or OMMs of satellites")
    if len(records) > MOST_SATELLITES:
        raise InputError(f"{file}: at most are {MOST_SATELLITES} satellites")
    name = re.sub(r"[^\w.+-]", "-", file.name)
    found = Tles(name, records, np.empty((0, 2), dtype=np.int64))
    if planes and math.prod(map(int, planes.groups())) != found.size:
        raise InputError(f"{file}, line 1: {planes[1]} planes of {planes[2]} satellites, and there are {found.size}")
    if isls is not None:
        return dataclasses.replace(found, isls=links(isls, found.size))
    return dataclasses.replace(found, isls=plus_grid(int(planes[1]), int(planes[2]))) if planes else found


def _records(file: Path, lines: list[str], first: int) -> Iterator[Any]:
    """Yield the SGP-4 elements of each satellite of a file, from a line on."""
    from sgp4.api import SGP4_ERRORS, WGS72, Satrec

    one: str | None = None
    number = ""
    for at, line in enumerate(lines[first:], first + 1):
        text = line.rstrip()
        expected = LINES[one is not None]
        if one is None and text[:2] == "2 ":
            raise InputError(f"{file}, line {at}: line 2 of a TLE without line 1")
        if one is None and text[:2] != "1 ":
            continue  # a name
        match = expected.fullmatch(text)
        if match is None:
            raise InputError(f"{file}, line {at}: expected line {1 + (one is not None)} of a TLE, of 69 columns")
        if sum(int(digit) if digit.isdigit() else digit == "-" for digit in text[:68]) % 10 != int(text[68]):
            raise InputError(f"{file}, line {at}: the last digit is not the checksum of the line")
        if one is None:
            one, number = text, match[1]
            continue
        if match[1] != number:
            raise InputError(f"{file}, line {at}: this is of satellite {match[1]}, the line before of {number}")
        record = Satrec.twoline2rv(one, text, WGS72)
        if record.error:
            raise InputError(f"{file}, line {at}: {SGP4_ERRORS[record.error]}")
        one = None
        yield record
    if one is not None:
        raise InputError(f"{file}: it ends after line 1 of a TLE")


def links(file: Path, size: int) -> NDArray[np.int64]:
    """Read links between satellites.

    Parameters
    ----------
    file
        Two numbers of satellites per line, counted from 0; text after a ``#`` is a comment.
    size
        Number of satellites.

    Returns
    -------
    numpy.ndarray
        Numbers, shape (links, 2), the smaller one first, in order.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is no link; the message names file and line.
    """
    found = []
    for at, line in enumerate(read_lines(file), 1):
        numbers = line.partition("#")[0].split()
        if not numbers:
            continue
        if len(numbers) != 2 or not all(re.fullmatch("[0-9]{1,9}", number) for number in numbers):
            raise InputError(f"{file}, line {at}: expected the numbers of two satellites")
        pair = sorted(map(int, numbers))
        if pair[0] == pair[1] or pair[1] >= size:
            raise InputError(f"{file}, line {at}: expected two of the satellites from 0 to {size - 1}")
        found.append(pair)
    return np.unique(np.array(found, dtype=np.int64).reshape(-1, 2), axis=0)
