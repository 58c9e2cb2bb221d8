"""Selection of trace plots, checked against the observations of a run."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from optcp.scenarios.run import Run

SLOWEST = "slowest"
"""Name of the slowest flow of finite size in a request."""
UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}


@dataclass(frozen=True)
class Request:
    """Selection of the user; empty and None select everything.

    Attributes
    ----------
    kinds, flows, ports
        Names of kinds, flows (or groups) and ports.
    start_s, end_s
        Ends of the time axis in seconds.
    """

    kinds: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    start_s: float | None = None
    end_s: float | None = None

    def window(self, stop_s: float) -> tuple[float, float]:
        """Return the ends of the time axis, in s, for a run that ends at ``stop_s``.

        Raises
        ------
        InputError
            If the interval is empty or after the end of the run.
        """
        start = 0.0 if self.start_s is None else self.start_s
        end = stop_s if self.end_s is None else min(self.end_s, stop_s)
        if start >= end:
            raise InputError(f"--from {start:g} s --to {end:g} s: empty interval; the run ends at {stop_s:g} s")
        return start, end


def seconds(text: str | None, option: str) -> float | None:
    """Return a time in s; the text is a number of seconds or has the unit s, ms or us.

    Raises
    ------
    InputError
        If the text has another form; the message starts with ``option``.
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*([0-9.eE+-]+?)\s*([a-zµ]*)\s*", text)
    try:
        value = float(found[1]) * UNITS[found[2]] if found else math.nan
    except (ValueError, KeyError):
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"{option} {text}: expected a time such as 4.9, 4.9s or 4900ms")
    return value


def chosen(option: str, asked: tuple[str, ...], known: list[str]) -> list[str]:
    """Return the known names that are requested, or all without a request.

    A name can be a group: ``a`` selects ``a/S0/0`` and so on.

    Raises
    ------
    InputError
        If a name is not known.
    """
    for name in asked:
        if not any(means(name, one) for one in known):
            names = {part for one in known for part in (one, one.partition("/")[0])}
            names |= {SLOWEST} if option == "--flow" else set()
            raise InputError(
                f"{option} {name}: the run did not observe this {option.strip('-')}; {nearest(name, names)}"
            )
    return [one for one in known if not asked or any(means(name, one) for name in asked)]


def with_slowest(run: Run, request: Request) -> Request:
    """Return the request with the name of the run's slowest flow for ``slowest``, unless a group has this name.

    Raises
    ------
    InputError
        If no flow has a finite size.
    """
    if SLOWEST not in request.flows or any(group["group"] == SLOWEST for group in run.scenario["flows"]):
        return request
    if not len(run.slowest):
        raise InputError(f"--flow {SLOWEST}: no flow of this run has a finite size and has started")
    name = str(run.slowest["flow"][0])
    return replace(request, flows=tuple(name if one == SLOWEST else one for one in request.flows))


def means(name: str, one: str) -> bool:
    """Whether a requested name selects this name."""
    return one == name or one.startswith(f"{name}/")
