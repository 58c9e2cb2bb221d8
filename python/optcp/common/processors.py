"""Number of available processors, and limits of threads per run."""

from __future__ import annotations

import os

from optcp.errors import InputError


def processors() -> int:
    """Return the number of usable processors, which containers and batch systems may limit."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_threads(threads: int, engine: str) -> None:
    """Check the number of threads of one run.

    Raises
    ------
    InputError
        If it exceeds the number of processors, or the engine supports only one thread.
    """
    if not 1 <= threads <= processors():
        given = threads if threads.bit_length() <= 64 else "a larger number"
        raise InputError(f"threads: expected 1 to {processors()} (number of processors), got {given}")
    if threads > 1 and engine == "reference":
        raise InputError(f"threads: the reference engine supports 1 thread, got {threads}")
