"""Numbers with units in topology files: rates, lengths and delays."""

from __future__ import annotations

import re
from decimal import Decimal

from optcp.errors import closest

NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?")
MOST_DIGITS = 60
"""Maximum number of characters of a number."""

RATE_UNITS = {
    unit: Decimal(10) ** power
    for power, prefixes in ((0, ("",)), (3, ("k", "K")), (6, ("M",)), (9, ("G",)), (12, ("T",)))
    for prefix in prefixes
    for unit in (f"{prefix}bps", f"{prefix}bit/s", f"{prefix}b/s")
}
"""Units of a rate, in bit/s."""

DELAY_UNITS = {"s": 10**12, "ms": 10**9, "us": 10**6, "µs": 10**6, "ns": 10**3, "ps": 1}
"""Units of a delay, in ps."""

LENGTH_UNITS = {"km": 10**6, "m": 10**3, "mi": 1_609_344}
"""Units of a length, in mm."""

DIMENSIONS: dict[str, dict[str, Decimal]] = {
    "rate": RATE_UNITS,
    "delay": {unit: Decimal(factor) for unit, factor in DELAY_UNITS.items()},
    "length": {unit: Decimal(factor) for unit, factor in LENGTH_UNITS.items()},
}
"""Units by dimension; the base units are bit/s, ps and mm."""

EXAMPLES = {"rate": "10 Gbps", "delay": "5 ms", "length": "120 km"}
MOST = {"rate": 10**18, "delay": 10**18, "length": 10**12}
"""Maximum values, in base units."""


def decimal(written: object) -> Decimal | None:
    """Return a number of a file, or None."""
    if isinstance(written, bool):
        return None
    text = str(written).strip() if isinstance(written, int | float | str | Decimal) else ""
    return Decimal(text) if len(text) <= MOST_DIGITS and NUMBER.fullmatch(text) else None


def factor(dimension: str, unit: str) -> Decimal | None:
    """Return a unit in base units, or None; case matters only where it distinguishes units."""
    units = DIMENSIONS[dimension]
    if unit in units:
        return units[unit]
    lower = {name.lower(): value for name, value in units.items()}
    return lower.get(unit.lower())


def quantity(dimension: str, written: object, unit: str | None = None) -> int | None:
    """Return a value in base units, or None if it is no such value.

    Parameters
    ----------
    unit
        Unit of values without a unit.
    """
    text = str(written).strip()
    match = NUMBER.match(text)
    if isinstance(written, bool) or match is None:
        return None
    number, own = decimal(match[0]), text[match.end() :].strip()
    scale = factor(dimension, own or unit or "")
    if number is None or scale is None:
        return None
    value = round(number * scale)
    return value if 0 <= value <= MOST[dimension] else None


def nearest_unit(dimension: str, unit: str) -> str:
    """Return the end of a message about an unknown unit."""
    close = closest(unit, DIMENSIONS[dimension])
    return f"; did you mean `{close}`?" if close else f"; expected a unit such as in `{EXAMPLES[dimension]}`"


HEADING = re.compile(r"(.*?)\s*(?:\(([^()]*)\)|\[([^\[\]]*)\])?")
"""Name and unit of a column: ``rate (Gbps)``."""


def heading(text: str) -> tuple[str, str]:
    """Return the name of a column in lower case, and its unit."""
    match = HEADING.fullmatch(text.strip())
    if match is None:
        return text.strip().lower(), ""
    return match[1].strip().lower(), (match[2] or match[3] or "").strip()


def split_name(name: str, dimension: str) -> tuple[str, str]:
    """Return an attribute name without its unit, and the unit: ``capacity_gbps``, ``delay (ms)``."""
    word, unit = heading(name)
    if unit:
        return word, unit
    for separator in ("_", " ", "-", "."):
        head, found, tail = name.rpartition(separator)
        if found and factor(dimension, tail) is not None:
            return head.lower(), tail
    if dimension == "rate":
        for tail in ("kbps", "mbps", "gbps", "tbps", "bps"):
            if name.lower().endswith(tail) and len(name) > len(tail):
                return name[: -len(tail)].lower(), tail
    return name.lower(), ""


def plain(number: Decimal) -> str:
    """Return a number without an exponent and without trailing zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def rate_text(bps: int) -> str:
    """Return a rate in the largest unit in which it has at most three decimals."""
    for unit in ("Tbps", "Gbps", "Mbps", "kbps"):
        value = Decimal(bps) / RATE_UNITS[unit]
        if value >= 1 and value == round(value, 3):
            return f"{plain(value)} {unit}"
    return f"{bps} bps"
