"""How many threads the machine has room for, and one run."""

from __future__ import annotations

import os

from optcp.errors import InputError


def processors() -> int:
    """How many processors may be used: a container or a batch system may allow fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_threads(threads: int, engine: str) -> None:
    """Check a number of threads of one run.

    Raises
    ------
    InputError
        If there are not so many processors, or the engine knows one thread.
    """
    if not 1 <= threads <= processors():
        given = threads if threads.bit_length() <= 64 else "a larger number"
        raise InputError(f"threads are 1 to {processors()} here, the number of processors; {given} was given")
    if threads > 1 and engine == "reference":
        raise InputError(f"the reference engine has one thread; {threads} was given")
