"""Times of arguments: texts with a unit, or numbers of seconds."""

from __future__ import annotations

from optcp import _core
from optcp.common import arguments
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.errors import InputError

Instant = str | float
"""Time with its unit, or number of seconds."""
LAST_PS = 2**64 - 1
"""Maximum time in tables, in ps."""


def seconds(instant: Instant) -> float:
    """Return a time in s.

    Raises
    ------
    InputError
        If it is invalid.
    """
    if not isinstance(instant, str):
        return arguments.number(instant, "time", "a time, for example '5 s', or a number of seconds")
    read = _core.quantity(arguments.text(instant, "time"))
    if read is None or read[1] != "s":
        raise InputError(f"{arguments.shown(instant)} is not a time; expected for example '5 s' or '50 ms'")
    return read[0]


def picoseconds(instant: Instant) -> int:
    """Return a time in ps."""
    found = round(seconds(instant) * PICOSECONDS_A_SECOND)
    if not 0 <= found <= LAST_PS:
        raise InputError(
            f"{arguments.shown(instant)}: expected a time from 0 s to {LAST_PS / PICOSECONDS_A_SECOND:.0f} s"
        )
    return found


def exact(time_ps: int) -> str:
    """Return a time in ps as exact text in seconds.

    >>> exact(1_500_000_000_000), exact(1)
    ('1.5 s', '0.000000000001 s')
    """
    whole, rest = divmod(time_ps, 10**12)
    return f"{whole}.{rest:012d}".rstrip("0").rstrip(".") + " s"
