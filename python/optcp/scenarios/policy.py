"""Protection policies in Python: reactions to detected failures of a live run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from optcp.scenarios.live import LiveRun


class Policy(Protocol):
    """Reaction to failures. The methods may call all methods that change the run, such as ``run.schedule``."""

    def on_failure(self, run: LiveRun, ports: tuple[str, ...]) -> None:
        """React to the detection of a failure of these ports."""

    def on_repair(self, run: LiveRun, ports: tuple[str, ...]) -> None:
        """React to the detection of a repair of these ports."""


class Report(NamedTuple):
    """Detection of a failure or a repair."""

    at_ps: int
    is_repair: bool
    ports: tuple[str, ...]


def reports(failed: Iterable[tuple[str, int, int | None]], detection_ps: int) -> list[Report]:
    """Return the detections of failures and repairs, in order of time.

    A failure that is repaired before its detection is not reported, and nor is its repair.

    Parameters
    ----------
    failed
        Port, time of the failure and time of the repair, in ps; no repair is ``None``.
    detection_ps
        Time from a failure or repair to its detection, in ps.
    """
    ports: dict[tuple[int, bool], list[str]] = {}
    for port, failure_ps, repair_ps in failed:
        if repair_ps is not None and repair_ps <= failure_ps + detection_ps:
            continue
        ports.setdefault((failure_ps + detection_ps, False), []).append(port)
        if repair_ps is not None:
            ports.setdefault((repair_ps + detection_ps, True), []).append(port)
    return [Report(at_ps, is_repair, tuple(names)) for (at_ps, is_repair), names in sorted(ports.items())]
