"""Comparison of stated figures with measurements: tables, and measured processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    import resource
    from collections.abc import Sequence


@dataclass(frozen=True)
class Claim:
    """A claim and its measurement.

    Attributes
    ----------
    what
        The quantity, with its unit.
    stated
        The value that the documentation states.
    measured
        The value measured now; empty if it could not be measured.
    """

    what: str
    stated: str
    measured: str


@dataclass(frozen=True)
class Process:
    """Resources of a process that has ended.

    Attributes
    ----------
    wall_s, cpu_s
        Elapsed time, and user and system time, in seconds.
    memory_mb
        Peak of the resident memory in 10^6 bytes.
    output
        Its standard output.
    """

    wall_s: float
    cpu_s: float
    memory_mb: float
    output: str


def show(title: str, claims: Sequence[Claim], *notes: str) -> None:
    """Print the claims as a table, and notes below it."""
    table = Table("claim", "stated", "measured", title=title, title_justify="left")
    for claim in claims:
        table.add_row(claim.what, claim.stated, claim.measured or "not measured")
    console = Console(highlight=False, width=max(100, Console().width))
    console.print(table)
    for note in notes:
        console.print(note)


def run(*command: str) -> Process:
    """Run a command to its end.

    Raises
    ------
    subprocess.CalledProcessError
        If it fails.
    """
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:  # noqa: S603 - commands of these scripts
        output = child.stdout.read() if child.stdout else ""
        _, status, used = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command, output)
    return Process(wall_s, used.ru_utime + used.ru_stime, peak_mb(used), output)


def peak_mb(used: resource.struct_rusage) -> float:
    """Return the peak of the resident memory in 10^6 bytes."""
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
