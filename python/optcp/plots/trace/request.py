"""What is to be drawn, checked against what a run observed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from optcp.errors import InputError, nearest

UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}


@dataclass(frozen=True)
class Request:
    """A user's choice; empty and None choose everything.

    Attributes
    ----------
    kinds, flows, ports
        Names.
    start_s, end_s
        Ends of the time axis in seconds.
    """

    kinds: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    start_s: float | None = None
    end_s: float | None = None

    def window(self, stop_s: float) -> tuple[float, float]:
        """Ends of the time axis of a run that ends at ``stop_s``.

        Raises
        ------
        InputError
            If nothing of the run lies between them.
        """
        start = 0.0 if self.start_s is None else self.start_s
        end = stop_s if self.end_s is None else min(self.end_s, stop_s)
        if start >= end:
            raise InputError(f"--from {start:g} s --to {end:g} s: no time of the run, which ends at {stop_s:g} s")
        return start, end


def seconds(text: str | None, option: str) -> float | None:
    """Read a time: a number of seconds, or one with the unit s, ms or us.

    Raises
    ------
    InputError
        If it is anything else; ``option`` begins the message.
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
    """Those of the known names that were asked for, all if none was.

    A name may also be the part before a slash: the group ``a`` stands for ``a/S0/0`` and so on.

    Raises
    ------
    InputError
        If a name is not known.
    """
    for name in asked:
        if not any(means(name, one) for one in known):
            names = {part for one in known for part in (one, one.partition("/")[0])}
            raise InputError(f"{option} {name}: the run observed no such {option.strip('-')}; {nearest(name, names)}")
    return [one for one in known if not asked or any(means(name, one) for name in asked)]


def means(name: str, one: str) -> bool:
    """Whether a name that a user wrote stands for this one."""
    return one == name or one.startswith(f"{name}/")
