"""Attributes of nodes and links in files without fixed units: names, lengths, places, rates, delays and costs.

# Model

A name such as ``capacity_gbps`` or a value such as ``10 Gbps`` states the unit. ``LinkSpeedRaw`` is in bit/s and
``LinkSpeed`` in the unit ``LinkSpeedUnits``, as in the Topology Zoo. Lengths without a unit are in km. Rates and delays
without a unit are not used, unless the scenario states a unit.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.common import rows
from optcp.errors import InputError, closest
from optcp.topology import units

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from decimal import Decimal

    from optcp.topology.model import Both, Link, Network, Position

LENGTHS = ("dist", "linklength", "length", "distance")
"""Lower-case attributes with the length of a link, in order of precedence."""

UNITS_KM = {"km": 1.0, "m": 0.001, "mi": 1.609344}
"""Units of a length, in km."""

LENGTH_NAME = re.compile(rf"({'|'.join(LENGTHS)})(?:[ _]?\(?({'|'.join(UNITS_KM)})\)?)?", re.IGNORECASE)
NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?"
LENGTH = re.compile(rf"({NUMBER})\s*({'|'.join(UNITS_KM)})?")
DEGREES = re.compile(rf"[-+]?(?:{NUMBER})")

LONGITUDES = ("longitude", "lon", "lng")
LATITUDES = ("latitude", "lat")
"""Lower-case attributes with the coordinates of a node, in degrees."""

LABELS = ("name", "label")
"""Attributes with the name of a node."""

RATES = frozenset(
    f"{prefix}{word}{suffix}"
    for prefix in ("", "link", "edge", "max")
    for word in ("speed", "rate", "capacity", "bandwidth", "bw", "datarate", "bitrate")
    for suffix in ("", "raw", "bps", "kbps", "mbps", "gbps", "tbps")
)
"""Attributes with the rate of a link, in lower case without separators."""

MOST_KM = 1e6
"""Maximum length of a link: 25 times the circumference of the earth."""

SPEED, SPEED_UNITS = "linkspeed", "linkspeedunits"
"""Attributes of the Topology Zoo: a number, and its unit such as ``G``."""

RAW_SPEED = "linkspeedraw"
"""Attribute of the Topology Zoo, in bit/s."""

DELAYS = frozenset(("delay", "latency", "propagation_delay"))
COSTS = ("cost", "metric", "igp_metric", "ospf_cost")
LOSSES = ("loss", "loss_ratio", "packet_loss")
RISKS = ("risks", "srlg", "srlgs")
NAMES = ("id", "name", "label", "linklabel", "key", "source", "target")
"""Lower-case attributes with a meaning, in order of precedence."""


def label(place: str, node: Any, attributes: Mapping[str, Any]) -> str:  # noqa: ANN401 - identifiers are of any type
    """Return the name of a node in the file, or an empty text.

    Raises
    ------
    InputError
        If it has several names.
    """
    found = next((attributes[key] for key in LABELS if attributes.get(key)), "")
    if isinstance(found, list | dict):
        raise InputError(f"{place}node {rows.short(node)} has several names: expected one text")
    return str(found)


def length_km(place: str, link: str, attributes: Mapping[str, Any]) -> float | None:
    """Return the length of a link from its attributes, or None.

    Raises
    ------
    InputError
        If the attribute is not a length.
    """
    known: dict[str, tuple[str, str]] = {}
    for name in attributes:
        if attributes[name] is not None and (match := LENGTH_NAME.fullmatch(name)):
            known.setdefault(match[1].lower(), (name, (match[2] or "km").lower()))
    chosen = next((known[word] for word in LENGTHS if word in known), None)
    if chosen is None:
        return None
    name, unit = chosen
    written = attributes[name]
    match = LENGTH.fullmatch(text(written))
    length = float(match[1]) * UNITS_KM[match[2] or unit] if match else math.nan
    if not length < math.inf:
        comma = "; the decimal sign is a point, and thousands have none" if "," in str(written) else ""
        raise InputError(
            f"{place}the link {rows.short(link)} has `{rows.short(name)}` = `{rows.short(written)}`: "
            f"expected a length such as `12.5` (in km), `12.5 km`, `800 m` or `7 mi`{comma}"
        )
    if length > MOST_KM:
        raise InputError(f"{place}the link {rows.short(link)} is {length:g} km long; at most are {MOST_KM:g} km")
    return length


def position(place: str, node: str, attributes: dict[str, Any]) -> Position | None:
    """Return longitude and latitude of a node in degrees, or None.

    Raises
    ------
    InputError
        If one of them is missing, or an attribute is not a number of degrees.
    """
    pair = attributes.get("pos")
    if isinstance(pair, list | tuple) and len(pair) == 2:
        found = _number(pair[0]), _number(pair[1])
        if math.isfinite(found[0]) and abs(found[1]) <= 90:
            return found  # TopoHub: degrees, but a place in a drawing of generated networks
    by_word = {name.lower(): name for name in reversed(attributes) if attributes[name] is not None}
    longitude = next((by_word[word] for word in LONGITUDES if word in by_word), None)
    latitude = next((by_word[word] for word in LATITUDES if word in by_word), None)
    if longitude is None and latitude is None:
        return None
    if longitude is None or latitude is None:
        raise InputError(f"{place}node `{node}` has `{longitude or latitude}` alone: expected longitude and latitude")
    return (
        _degrees(place, node, longitude, attributes[longitude], 360),
        _degrees(place, node, latitude, attributes[latitude], 90),
    )


def _degrees(place: str, node: str, name: str, written: object, most: int) -> float:
    value = _number(written)
    if not -most <= value <= most:
        raise InputError(
            f"{place}node `{rows.short(node)}` has `{rows.short(name)}` = `{rows.short(written)}`: "
            f"expected degrees from -{most} to {most}"
        )
    return value


def _number(written: object) -> float:
    number = text(written)
    return float(number) if DEGREES.fullmatch(number) else math.nan


def text(written: object) -> str:
    """Return a number or text as text; empty for other values."""
    return str(written).strip() if isinstance(written, int | float | str) and not isinstance(written, bool) else ""


def great_circle_mm(places: tuple[Position | None, Position | None]) -> int | None:
    """Return the distance of two places in mm, in whole metres, or None if one is unknown."""
    a, b = places
    return None if a is None or b is None else round(round(_core.great_circle_km(a, b), 3) * 1e6)


def with_distances(network: Network) -> Network:
    """Return a network in which links without a length have the great-circle distance of their ends."""
    links, measured = [], 0
    for link in network.links:
        a, b = (network.nodes[end].place for end in link.ends)
        length = great_circle_mm((a, b)) if link.length_mm is None else None
        measured += length is not None
        links.append(link if length is None else replace(link, length_mm=length))
    if not measured:
        return network
    count = f"{measured} of {len(links)} links" if measured < len(links) else "all links"
    assumed = f"{count} have the great-circle distance of their ends as length"
    return replace(network, links=tuple(links)).noted(assumed=(assumed,))


def is_rate(name: str) -> bool:
    """Return whether an attribute looks like the rate of a link."""
    return re.sub("[^a-z]", "", name.lower()) in RATES


def looks_like_rates(attributes: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of attributes that look like the rate of a link, in the order of the file."""
    return tuple(name for name in dict.fromkeys(name for one in attributes for name in one) if is_rate(name))


def rate_bps(attributes: Mapping[str, Any]) -> int | None:
    """Return the rate of a link if its attributes state the unit."""
    by_word = {name.lower(): value for name, value in attributes.items() if value is not None}
    if RAW_SPEED in by_word:
        return _positive(units.quantity("rate", by_word[RAW_SPEED], "bps"))
    if SPEED in by_word and text(by_word.get(SPEED_UNITS, "")):
        unit = text(by_word[SPEED_UNITS])
        return _positive(units.quantity("rate", by_word[SPEED], unit if "p" in unit.lower() else f"{unit}bps"))
    for name, value in attributes.items():
        if is_rate(name) and (found := _positive(_with_unit("rate", name, value))) is not None:
            return found
    return None


def delay_ps(attributes: Mapping[str, Any]) -> int | None:
    """Return the propagation delay of a link if its attributes state the unit."""
    for name, value in attributes.items():
        if units.split_name(name, "delay")[0] in DELAYS and (found := _with_unit("delay", name, value)) is not None:
            return found
    return None


def cost(attributes: Mapping[str, Any]) -> Decimal | None:
    """Return the routing cost of a link."""
    value = units.decimal(_first(attributes, COSTS))
    return value if value is not None and value >= 0 else None


def loss(attributes: Mapping[str, Any]) -> Decimal | None:
    """Return the loss ratio of a link; ``2 %`` is 0.02."""
    written = text(_first(attributes, LOSSES) or "")
    percent = written.endswith("%")
    value = units.decimal(written.removesuffix("%").strip())
    if value is None:
        return None
    value = value / 100 if percent else value
    return value if 0 <= value <= 1 else None


def risks(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the shared risks of a link; semicolons or commas separate names."""
    written = _first(attributes, RISKS)
    parts = written if isinstance(written, list | tuple) else re.split("[;,]", text(written if written else ""))
    return tuple(dict.fromkeys(name for part in parts if (name := text(part))))


def name(attributes: Mapping[str, Any]) -> str:
    """Return the name of a link, empty without one."""
    return text(next((attributes[key] for key in ("name", "label", "LinkLabel") if attributes.get(key)), ""))


def _first(attributes: Mapping[str, Any], words: Sequence[str]) -> Any:  # noqa: ANN401 - values of any type
    by_word = {name.lower(): value for name, value in attributes.items() if value is not None}
    return next((by_word[word] for word in words if word in by_word), None)


def _positive(value: int | None) -> int | None:
    return value or None


def _with_unit(dimension: str, name: str, value: object) -> int | None:
    """Return a value in base units if its name or text states the unit."""
    return units.quantity(dimension, text(value), units.split_name(name, dimension)[1] or None)


KNOWN = frozenset(
    (*LENGTHS, *LONGITUDES, *LATITUDES, *NAMES, *DELAYS, *COSTS, *LOSSES, *RISKS, SPEED, SPEED_UNITS, RAW_SPEED)
)


def unused(attributes: Iterable[Mapping[str, Any]], known: Iterable[str] = KNOWN) -> list[str]:
    """Return the names of attributes without a meaning, in the order of the file."""
    names = dict.fromkeys(name for one in attributes for name in one)
    words = set(known)

    def is_used(name: str) -> bool:
        plain = {units.split_name(name, dimension)[0] for dimension in units.DIMENSIONS}
        return bool(plain & words) or name.lower() in words or LENGTH_NAME.fullmatch(name) is not None

    return [name for name in names if not is_used(name)]


def column(file: str, links: Sequence[Link], key: str, wanted: str, names: Sequence[str]) -> list[Both[str]]:
    """Return the values of an attribute of all links, as texts with units.

    Parameters
    ----------
    key
        "rate", "delay", "cost" or "loss".
    wanted
        Name of the attribute, and a unit after a space if neither the name nor the values state one.
    names
        Names of the links, for messages.

    Raises
    ------
    InputError
        If no link has the attribute, or a value cannot be read.
    """
    known = dict.fromkeys(name for link in links for one in (link.attributes, link.back or {}) for name in one)
    name, unit = wanted, ""
    if name not in known:
        name, _, unit = (part.strip() for part in wanted.rpartition(" "))
    if name not in known:
        name, unit = next(((one, "") for one in known if one.lower() == wanted.lower()), (name or wanted, unit))
    if name not in known:
        shown = name if closest(name, known) else wanted
        close = closest(shown, known)
        there = ", ".join(f"`{rows.short(one)}`" for one in list(known)[:MOST_LISTED]) or "none"
        suggestion = f"did you mean `{close}`?" if close else f"attributes of links: {there}"
        raise InputError(f"`{file}`: no link has an attribute `{rows.short(shown)}`; {suggestion}")
    if unit and key in units.DIMENSIONS and units.factor(key, unit) is None:
        raise InputError(f"`{file}`: `{unit}` is not a unit of a {key}{units.nearest_unit(key, unit)}")
    return [
        (
            _column_value(file, key, (name, unit), link.attributes, shown),
            _column_value(file, key, (name, unit), link.attributes if link.back is None else link.back, shown),
        )
        for link, shown in zip(links, names, strict=True)
    ]


MOST_LISTED = 12
"""Maximum number of attribute names in a message."""


def _column_value(file: str, key: str, wanted: tuple[str, str], attributes: Mapping[str, Any], link: str) -> str | None:
    name, unit = wanted
    written = attributes.get(name)
    if written is None or text(written) == "":
        return None
    if key not in units.DIMENSIONS:
        number = units.decimal(text(written))
        if number is not None and number >= 0:
            return units.plain(number)
        expected = "a number of zero or more"
    else:
        stated = unit or units.split_name(name, key)[1] or ("bps" if name.lower() == RAW_SPEED else "")
        value = units.quantity(key, text(written), stated or None)
        if value is not None and (value > 0 or key == "delay"):
            return f"{value} {'ps' if key == 'delay' else 'bps'}"
        expected = f"a {key} such as `{units.EXAMPLES[key]}`"
        if not stated and units.decimal(text(written)) is not None:
            example = units.EXAMPLES[key].split()[1]
            expected = f'a unit; write `{key} = "attribute:{name} {example}"`'
    raise InputError(
        f"`{file}`: the link {rows.short(link)} has `{rows.short(name)}` = `{rows.short(written)}`: expected {expected}"
    )
