"""How many threads the machine has room for."""

from __future__ import annotations

import os


def processors() -> int:
    """How many processors may be used: a container or a batch system may allow fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
