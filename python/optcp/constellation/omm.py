"""Satellites of orbit mean-elements messages (OMMs): JSON, XML or CSV.

# Model

The elements of a TLE under names, without its columns: numbers of satellites have up to nine digits. SGP-4 and the
coordinates are as for TLEs.

# References

CCSDS 502.0-B-3, section 4 (keywords, XML). CSV and JSON have the same keywords, as CelesTrak writes them.

# Limitations

The theory must be SGP4, around the Earth, in TEME and UTC. Covariances, manoeuvres and user-defined parameters are
ignored.
"""

from __future__ import annotations

import csv
import json
import math
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, NoReturn

from optcp.errors import InputError
from optcp.topology.base import Source, children, tag, xml_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from xml.etree import ElementTree as ET

FIXED = {
    "CENTER_NAME": ("EARTH",),
    "REF_FRAME": ("TEME",),
    "TIME_SYSTEM": ("UTC",),
    "MEAN_ELEMENT_THEORY": ("SGP4", "SGP/SGP4"),
}
"""Values that these keywords have, if they are present."""
RANGES = {
    "MEAN_MOTION": (0.0, 20.0),
    "ECCENTRICITY": (0.0, 1.0),
    "INCLINATION": (0.0, 180.0),
    "RA_OF_ASC_NODE": (-360.0, 360.0),
    "ARG_OF_PERICENTER": (-360.0, 360.0),
    "MEAN_ANOMALY": (-360.0, 360.0),
    "BSTAR": (-1e3, 1e3),
    "MEAN_MOTION_DOT": (-1e3, 1e3),
    "MEAN_MOTION_DDOT": (-1e3, 1e3),
}
"""Keywords of numbers, each with its minimum and maximum. Angles are in degrees, and times in days."""
OPTIONAL = ("BSTAR", "MEAN_MOTION_DOT", "MEAN_MOTION_DDOT")
"""Numbers that are zero without their keyword."""
LONGEST_NUMBER = 339_999
"""Maximum number of a satellite in ``sgp4``, which does not compute with it."""
TIME = re.compile(r"[0-9]{4}-(?:[0-9]{2}-[0-9]{2}|[0-9]{3})T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,12})?Z?")


def is_omm(lines: list[str]) -> bool:
    """Return whether the lines of a file hold OMMs, by the first character or the keywords of a CSV file."""
    first = next((line.strip() for line in lines if line.strip()), "")
    return first[:1] in set("[{<") or {"EPOCH", "MEAN_MOTION"} <= {name.strip() for name in first.split(",")}


def records(file: Path, lines: list[str]) -> Iterator[Any]:
    """Yield the SGP-4 elements of each satellite of a file.

    Raises
    ------
    InputError
        If a message is invalid; the error names file and satellite.
    """
    text = "\n".join(lines)
    read = {"<": _xml, "[": _json, "{": _json}.get(text.lstrip()[:1], _csv)
    for number, fields in enumerate(read(file, text), 1):
        name = str(fields.get("OBJECT_NAME", "")).strip()
        yield _record(fields, f"{file}, satellite {number}{f' ({name[:40]})' if name else ''}")


def _json(file: Path, text: str) -> Iterator[Mapping[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: no JSON: {error}") from None
    for number, one in enumerate(found if isinstance(found, list) else [found], 1):
        if not isinstance(one, dict):
            raise InputError(f"{file}, satellite {number}: expected a message as a JSON object")
        yield one


def _csv(file: Path, text: str) -> Iterator[Mapping[str, Any]]:
    try:
        rows = [row for row in csv.reader(text.splitlines(), strict=True) if row]
    except csv.Error as error:
        raise InputError(f"{file}: no CSV: {error}") from None
    names = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(names):
            raise InputError(f"{file}, satellite {number}: expected {len(names)} values, and there are {len(row)}")
        yield dict(zip(names, row, strict=True))


def _xml(file: Path, text: str) -> Iterator[Mapping[str, Any]]:
    root = xml_root(Source(str(file), text.encode()))
    for message in [root] if tag(root) == "omm" else children(root, "omm"):
        for body in children(message, "body"):
            for segment in children(body, "segment"):
                yield {tag(leaf): leaf.text or "" for leaf in _leaves(segment)}


def _leaves(segment: ET.Element) -> Iterator[ET.Element]:
    """Yield the keywords of a segment, from its metadata, elements and TLE parameters."""
    for part in children(segment, "metadata"):
        yield from part
    for data in children(segment, "data"):
        for part in data:
            if tag(part) in {"meanElements", "tleParameters"}:
                yield from part


def _record(fields: Mapping[str, Any], where: str) -> Any:  # noqa: ANN401 - sgp4 has no types
    """Return the SGP-4 elements of a message."""
    from sgp4.api import SGP4_ERRORS, WGS72, Satrec

    def wrong(what: str) -> NoReturn:
        raise InputError(f"{where}: {what}")

    for key, values in FIXED.items():
        given = str(fields.get(key) or values[0]).strip()
        if given.upper() not in values:
            wrong(f"`{key}` is `{given[:40]}`, and must be `{values[0]}`")
    number = {key: _number(fields, key, where) for key in RANGES}
    if number["MEAN_MOTION"] == 0 or number["ECCENTRICITY"] == 1:
        wrong("expected an elliptic orbit with a mean motion above zero")
    catalogue = str(fields.get("NORAD_CAT_ID") or 0).strip()
    if not re.fullmatch("[0-9]{1,9}", catalogue):
        wrong(f"`NORAD_CAT_ID` is `{catalogue[:40]}`, and must be a number of up to nine digits")
    radians = {key: math.radians(number[key]) for key in ("INCLINATION", "RA_OF_ASC_NODE", "ARG_OF_PERICENTER")}
    per_minute = 2 * math.pi / 1440
    record = Satrec()
    record.sgp4init(
        WGS72,
        "i",
        int(catalogue) if int(catalogue) <= LONGEST_NUMBER else 0,
        _days(str(fields.get("EPOCH", "")).strip(), where),
        number["BSTAR"],
        # Halves and sixths of the derivatives, as in TLEs.
        number["MEAN_MOTION_DOT"] * per_minute / 1440,
        number["MEAN_MOTION_DDOT"] * per_minute / 1440**2,
        number["ECCENTRICITY"],
        radians["ARG_OF_PERICENTER"],
        radians["INCLINATION"],
        math.radians(number["MEAN_ANOMALY"]),
        number["MEAN_MOTION"] * per_minute,
        radians["RA_OF_ASC_NODE"],
    )
    if record.error:
        wrong(SGP4_ERRORS[record.error])
    return record


def _number(fields: Mapping[str, Any], key: str, where: str) -> float:
    """Return the value of a keyword within its range."""
    given = fields.get(key)
    if given is None or given == "":
        if key in OPTIONAL:
            return 0.0
        raise InputError(f"{where}: `{key}` is missing")
    least, most = RANGES[key]
    try:
        value = float(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else math.nan
    except (ValueError, OverflowError):
        value = math.nan
    if not least <= value <= most:
        raise InputError(f"{where}: `{key}` is `{str(given)[:40]}`, and must be a number from {least:g} to {most:g}")
    return value


def _days(epoch: str, where: str) -> float:
    """Return the days from the beginning of 31 December 1949, in which ``sgp4`` counts, to an epoch."""
    if not TIME.fullmatch(epoch):
        raise InputError(f"{where}: `EPOCH` is `{epoch[:40]}`, and must be a time such as `2026-03-07T10:34:41.426`")
    whole, _, fraction = epoch.removesuffix("Z").partition(".")
    form = "%Y-%m-%dT%H:%M:%S" if whole.count("-") == 2 else "%Y-%jT%H:%M:%S"
    try:
        passed = datetime.strptime(whole, form) - datetime(1949, 12, 31)  # noqa: DTZ001, DTZ007 - UTC throughout
    except ValueError:
        raise InputError(f"{where}: `EPOCH` is `{epoch}`, which is no time") from None
    return passed.days + (passed.seconds + float(f"0.{fraction or 0}")) / 86_400
