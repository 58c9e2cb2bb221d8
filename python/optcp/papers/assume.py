"""Unstated parameters of papers, which ``--set`` can change and every result states."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.errors import InputError
from optcp.papers.plausible import Choices, Plausible, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from optcp.scenarios.scenario import Settings

Value = str | int | float

AS_PROFILE = "profile"
"""Value of a TCP option that follows the profile."""
UNITS = {
    "us": "us", "ms": "ms", "s": "s", "bps": "bps", "mbps": "Mbps", "gbps": "Gbps", "bytes": "B", "packets": "packets",
    "segments": "segments",
}  # fmt: skip
"""Units of scenarios, by suffix of the name."""


@dataclass(frozen=True)
class Assumed:
    """Unstated parameter of a paper.

    Attributes
    ----------
    name
        Name in ``--set`` and results; the suffix is its unit.
    default
        Value that independent re-simulation suggests.
    read
        Function from the text of ``--set`` to a value; raises ValueError with the expectation.
    sets
        Key path or paths of the scenario that receive the value, in the unit of the suffix; or a function from the
        value to settings. Empty if the value only affects grids.
    plausible
        Plausible range for ``optcp sensitivity``, or None.
    """

    name: str
    default: Value
    read: Callable[[str], Value]
    sets: str | tuple[str, ...] | Callable[[Value], Settings] = ()
    plausible: Plausible | None = None

    def settings(self, value: Value) -> Settings:
        """Return the settings of the scenario for a value."""
        if callable(self.sets):
            return self.sets(value)
        keys = (self.sets,) if isinstance(self.sets, str) else self.sets
        return {} if value == AS_PROFILE else dict.fromkeys(keys, self._with_unit(value))

    def _with_unit(self, value: Value) -> Value:
        unit = UNITS.get(self.name.rpartition("_")[2])
        if unit is None or isinstance(value, str):
            return value
        return f"{value:g} {unit}" if isinstance(value, float) else f"{value} {unit}"


def values(assumed: Sequence[Assumed], settings: Mapping[str, str]) -> dict[str, Value]:
    """Return the values of all parameters after ``--set``, ignoring parameters of other exhibits.

    Raises
    ------
    InputError
        If a value cannot be read.
    """
    result: dict[str, Value] = {}
    for parameter in assumed:
        result[parameter.name] = parameter.default
        if parameter.name in settings:
            text = settings[parameter.name]
            try:
                result[parameter.name] = parameter.read(text)
            except ValueError as error:
                raise InputError(f"--set {parameter.name}={text}: {error}") from error
    return result


@contextlib.contextmanager
def named(settings: Mapping[str, str], varied: Mapping[str, Value] | None = None) -> Iterator[None]:
    """Context that names ``--set`` and ``varied`` values in errors of invalid scenarios.

    Raises
    ------
    InputError
        Instead of ``ScenarioError``, whose keys and values the user did not type.
    """
    try:
        yield
    except _core.ScenarioError as error:
        if not settings and not varied:
            raise
        typed = " ".join(f"--set {name}={text}" for name, text in settings.items())
        if varied:
            typed += " with " * bool(typed) + ", ".join(f"{name} = {value}" for name, value in varied.items())
        raise InputError(f"{typed}: invalid scenario\n{error}") from error


def overrides(assumed: Sequence[Assumed], chosen: Mapping[str, Value]) -> dict[str, Any]:
    """Return the settings of the scenario for the chosen values."""
    return {key: value for parameter in assumed for key, value in parameter.settings(chosen[parameter.name]).items()}


def built_in(name: str, value: str) -> Assumed:
    """Return an assumption that results state but ``--set`` cannot change."""

    def read(text: str) -> str:
        if text != value:
            raise ValueError(f"cannot be changed; the experiment requires {value!r}")
        return text

    return Assumed(name, value, read)


def ns2_world(access_share: float, link_delay_ms: float) -> tuple[Assumed, ...]:
    """Return the unstated network and TCP parameters of the ns-2 studies of 2001.

    Parameters
    ----------
    access_share
        Rate of the access links as a share of the backbone's, 0 to 1.
    link_delay_ms
        Propagation delay of links without a given delay.
    """
    return (
        Assumed(
            "backbone_bps",
            10_000_000,
            positive_int,
            "parameters.backbone",
            Plausible(
                Span(4e6, 40e6, log=True, whole=True),
                "rates are only given relative to the backbone; beyond the ends a few flows, or none, fill the link",
            ),
        ),
        Assumed(
            "access_share",
            access_share,
            share,
            "parameters.access_share",
            Plausible(Span(0.6, 1.0), "stated, but not of which access links; from the 60 % of section 5.2 up"),
        ),
        Assumed(
            "queue_packets",
            50,
            positive_int,
            "parameters.queue",
            Plausible(
                Span(15, 200, log=True, whole=True),
                "ns-2's default is 50; a third of it to four times as much",
            ),
        ),
        Assumed("link_delay_ms", link_delay_ms, not_negative, "parameters.link_delay"),
        Assumed(
            "packet_bytes",
            1000,
            positive_int,
            "tcp.all.mss",
            Plausible(Choices((512, 1000, 1460)), "ns-2's default, and the two usual segments of the Internet of 2001"),
        ),
        Assumed(
            # ns-2 starts with ssthresh at its window limit, so the two are one choice.
            "window_packets",
            30,
            positive_int,
            ("tcp.all.window_limit", "tcp.all.initial_ssthresh"),
            Plausible(Span(20, 100, log=True, whole=True), "ns-2's default is 20, the authors' slides have 30"),
        ),
        Assumed("profile", "ns2-2001", str, "tcp.all.profile"),
    )


def ns2_sender() -> tuple[Assumed, ...]:
    """Return the unstated NewReno parameters of the ns-2 studies of 2001; defaults follow the profile."""
    return (
        Assumed(
            "tick_ms",
            AS_PROFILE,
            _or_profile(positive),
            "tcp.all.tick",
            Plausible(Choices((10, 100, 500)), "ns-2's clock of later years, of 2001, and that of BSD"),
        ),
        Assumed(
            "min_rto_ms",
            AS_PROFILE,
            _or_profile(positive),
            "tcp.all.min_rto",
            Plausible(Span(200, 1000, log=True), "ns-2's default of 0.2 s to the 1 s of RFC 2988"),
        ),
        Assumed(
            "partial_ack",
            AS_PROFILE,
            str,
            "tcp.all.partial_ack",
            Plausible(Choices(("reset", "deflate", "keep")), "readings of RFC 2582 that NewReno programs of 2001 had"),
        ),
    )


def start_spread(first_s: float, spread_ms: int, plausible: Plausible) -> Assumed:
    """Return the parameter for the period after ``first_s`` over which flow starts are uniformly distributed."""

    def settings(value: Value) -> Settings:
        return {"parameters.start": f"uniform({first_s:g} s, {first_s + float(value) / 1000:g} s)"}

    return Assumed("start_spread_ms", spread_ms, positive, settings, plausible)


def _or_profile(read: Callable[[str], Value]) -> Callable[[str], Value]:
    return lambda text: text if text == AS_PROFILE else read(text)


def positive_int(text: str) -> int:
    """Return a positive integer, also from a text such as ``2e7``."""
    number = _number(text)
    if number < 1 or number != int(number):
        raise ValueError("expected a positive whole number")
    return int(number)


def positive(text: str) -> float:
    """Return a positive number."""
    number = _number(text)
    if number <= 0:
        raise ValueError("expected a positive number")
    return number


def not_negative(text: str) -> float:
    """Return a number of zero or more."""
    number = _number(text)
    if number < 0:
        raise ValueError("expected zero or a positive number")
    return number


def share(text: str) -> float:
    """Return a share above 0 and at most 1."""
    number = _number(text)
    if not 0 < number <= 1:
        raise ValueError("expected a share above 0 and at most 1, for example 0.9")
    return number


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError("expected a number without unit (the name contains the unit)") from None
    if not math.isfinite(number):
        raise ValueError("expected a finite number")
    return number
