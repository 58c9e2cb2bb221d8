"""Clock of the operating system, which can stand still while programs compute."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
STOPPED_CLOCK = "time-travel-clock"
"""Clock that moves only while all programs wait."""
START_NS, NEAR_NS = 10_000_000_000, 1000
"""A run begins at a multiple of this time of the clock; and how long before a wait ends.

Initial sequence numbers then do not depend on what happened before, such as the search for a file.
"""
SET_TIMER_SLACK, USUAL = 29, 0


def stops_clock() -> bool:
    """Return whether this is a kernel in whose time computing takes no time."""
    try:
        return CLOCK.read_text(encoding="ascii").strip() == STOPPED_CLOCK
    except OSError:
        return False


def wait_for_start() -> None:
    """In such a kernel, wait until the clock has a multiple of :data:`START_NS`."""
    if not stops_clock():
        return
    at_ns = -(-time.monotonic_ns() // START_NS) * START_NS
    libc = ctypes.CDLL(None)
    libc.prctl(SET_TIMER_SLACK, 1)
    time.sleep(max(at_ns - time.monotonic_ns() - NEAR_NS, 0) / 1e9)
    libc.prctl(SET_TIMER_SLACK, USUAL)
    while time.monotonic_ns() < at_ns:
        pass
