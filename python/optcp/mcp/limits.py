"""Limits of one tool call: CPU time, memory and disk space."""

from __future__ import annotations

from dataclasses import dataclass

from optcp.common.processors import processors

MB = 1_000_000
MOST_THREADS = 4
"""Maximum number of runs at the same time: each thread reserves memory, which counts."""
WAITING = 10
"""Ratio of the longest duration of a call to its CPU time: a call may wait, but not forever."""


@dataclass(frozen=True)
class Limits:
    """Maximum resources of one tool call.

    Attributes
    ----------
    cpu_s
        CPU time of all threads, in s.
    memory_mb
        Address space, in MB.
    disk_mb
        Growth of the directory, in MB.
    """

    cpu_s: int = 120
    memory_mb: int = 2048
    disk_mb: int = 256

    @property
    def wall_s(self) -> float:
        """Longest duration of a call, in s."""
        return float(WAITING * self.cpu_s)

    def apply(self) -> None:
        """Limit the current process. A file can be as large as all files together may grow."""
        import resource

        for kind, amount in (
            (resource.RLIMIT_CPU, self.cpu_s),
            (resource.RLIMIT_AS, self.memory_mb * MB),
            (resource.RLIMIT_FSIZE, self.disk_mb * MB),
            (resource.RLIMIT_CORE, 0),
        ):
            hard = resource.getrlimit(kind)[1]
            least = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
            # The kernel sends SIGXCPU at the soft limit and SIGKILL at the hard one.
            last = least + 5 if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else least
            resource.setrlimit(kind, (least, last))


def threads() -> int:
    """Return the number of runs at the same time in a call."""
    return min(processors(), MOST_THREADS)
