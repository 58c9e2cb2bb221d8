"""Memory check of a study: a sweep that does not fit into memory is refused before it starts.

The need is estimated twice. Before the first cell is made, the lower bound is the number of cells times the size of the
smallest possible cell (``CELL``). After the first ``SAMPLE`` cells, the estimate is the number of the rest times the
mean growth of the process per cell.

Available memory is the minimum of three values:

- the memory that the system reports (``MemAvailable`` of Linux; elsewhere all memory);
- the memory that is free in the control groups of the process;
- the memory that is free under its address space limit.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from optcp.errors import InputError

CELL = 2_000
"""Bytes of a cell whose scenario is not resolved yet."""
RUN = 1_000
"""Bytes of a run in the index of its study."""
SAMPLE = 64
"""Number of cells after which the need is estimated from their size."""
CGROUPS = Path("/sys/fs/cgroup")


def available() -> int | None:
    """Bytes of memory that this process can still allocate; None if unknown."""
    found = [_of_system(), *_of_groups(), _of_limit()]
    return min((one for one in found if one is not None), default=None)


def _of_system() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _of_groups() -> list[int]:
    """Bytes left in each control group (version 2) of the process."""
    found = []
    with contextlib.suppress(OSError):
        own = CGROUPS / Path("/proc/self/cgroup").read_text().strip().rpartition("::")[2].lstrip("/")
        for group in (own, *own.parents):
            with contextlib.suppress(OSError, ValueError):
                limit, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
                found.append(limit - used + _cache(group))
            if group == CGROUPS:
                break
    return found


def _cache(group: Path) -> int:
    """Bytes of the page cache of a group: counted as used, but freed on demand."""
    lines = (group / "memory.stat").read_text().splitlines()
    return sum(int(value) for name, _, value in (line.partition(" ") for line in lines) if name.endswith("active_file"))


def _of_limit() -> int | None:
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit - _pages(0)


def _pages(which: int) -> int:
    """Bytes of this process: address space (0) or resident memory (1)."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[which]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def check_count(count: int, each: float, what: str, how: str = "at least") -> None:
    """Check that ``count`` cells or runs of ``each`` bytes fit into memory.

    Raises
    ------
    InputError
        If they do not.
    """
    there = available()
    if there is not None and count * each > there:
        raise InputError(
            f"{count} {what} need {how} {count * each / 1e9:.3g} GB of memory, and {there / 1e9:.3g} GB are "
            "available; take fewer values or seeds"
        )


class Growth:
    """Measures the growth of the process while the first cells are made.

    Parameters
    ----------
    count
        Number of all cells.
    what
        Noun for them in messages.
    """

    def __init__(self, count: int, what: str) -> None:
        self._count, self._what = count, what
        self._before = 0

    def check(self, made: int) -> None:
        """After ``SAMPLE`` cells, check that the rest fits.

        Raises
        ------
        InputError
            If they do not fit.
        """
        if self._count <= SAMPLE:
            return
        if made == 1:
            self._before = _pages(1)
        elif made == SAMPLE:
            each = max(0, _pages(1) - self._before) / (SAMPLE - 1)
            check_count(self._count - made, each, self._what, f"about (as the first {SAMPLE} do)")
