"""Times and sizes in files with flows."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

from optcp.common import rows

LATEST_PS = 2**63 - 1
"""Maximum time, as of a run: 106 days."""
MOST_DIGITS = 18
"""Maximum number of digits of a whole number."""
PICOSECOND = Decimal(1)


def picoseconds(text: str, unit_ps: int, where: str, unit: str) -> int:
    """Return a time, rounded to picoseconds.

    Parameters
    ----------
    text
        The number as written.
    unit_ps
        Unit in picoseconds.
    where
        Place, for messages.
    unit
        Name of the unit, for messages.

    Raises
    ------
    ValueError
        If the text is not a time from zero on, or too late.
    """
    if not rows.is_number(text):
        raise ValueError(f"{where}: expected a time in {unit} such as `0.25`, found `{rows.short(text)}`")
    time = Decimal(text) * unit_ps
    if not 0 <= time <= LATEST_PS:
        raise ValueError(f"{where}: expected a time from 0 to 106 days, found `{rows.short(text)}` {unit}")
    return int(time.quantize(PICOSECOND, ROUND_HALF_EVEN))


def whole(text: str, where: str) -> int:
    """Return a whole number.

    Raises
    ------
    ValueError
        If the text is no whole number, or has more than 18 digits.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise ValueError(f"{where}: expected a whole number, found `{rows.short(text)}`")
    return int(text)
