"""How far the work is, on the terminal: a bar with the time left, or plain lines where there is no terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from optcp.common.plurals import count_noun

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console
    from rich.progress import TaskID

LINE_EVERY_S = 5.0


class Bar:
    """A live bar with ETA (a terminal)."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: RichProgress | None = None
        self._task: TaskID | None = None
        self._total = self._done = 0

    def start(self, total: int, kept: int) -> None:
        """Show the bar; runs that were stored before count neither as work nor in the ETA."""
        if kept:
            self._console.print(
                f"{kept} of {count_noun(total, 'run was', 'runs were')} finished before and reused", highlight=False
            )
        if kept == total:
            return
        self._progress = RichProgress(
            TextColumn("running"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("runs, left:"),
            TimeRemainingColumn(),
            TextColumn("so far:"),
            TimeElapsedColumn(),
            console=self._console,
        )
        self._total, self._done = total - kept, 0
        self._task = self._progress.add_task("runs", total=self._total)
        self._progress.start()

    def advance(self, runs: int) -> None:
        """Move the bar."""
        self._done += runs
        self.simulated(0.0)

    def simulated(self, share: float) -> None:
        """Move the bar to the simulated share, if it is above the share of finished runs."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=max(self._done, share * self._total))

    def stop(self) -> None:
        """Stop the bar at its current position."""
        if self._progress is not None:
            self._progress.stop()


class Lines:
    """A line every few seconds (a pipe, a log file)."""

    def __init__(self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._total = self._done = 0
        self._began = self._said = 0.0

    def start(self, total: int, kept: int) -> None:
        """Say how much there is to do."""
        self._total, self._done = total - kept, 0
        self._began = self._said = self._clock()
        reused = f", {kept} finished before and reused" if kept else ""
        self._write(f"{count_noun(total, 'run')}{reused}")

    def advance(self, runs: int) -> None:
        """Say how far the work is and how long it will take, now and then."""
        self._done += runs
        if self._clock() - self._said >= LINE_EVERY_S or self._done == self._total:
            self._say(self._done / self._total)

    def simulated(self, share: float) -> None:
        """Say how far runs are that take long, now and then."""
        if share > self._done / self._total and self._clock() - self._said >= LINE_EVERY_S:
            self._say(share, f" ({share:.0%} of the simulated time)")

    def _say(self, share: float, remark: str = "") -> None:
        self._said = self._clock()
        left = (self._said - self._began) * (1 - share) / share
        self._write(f"{self._done}/{count_noun(self._total, 'run')}{remark}, {left:.0f} s left")

    def stop(self) -> None:
        """Nothing to clear away."""


class Counted:
    """Counts the runs that are made, beside showing how far they are."""

    def __init__(self, shown: Bar | Lines) -> None:
        self._shown = shown
        self.runs = 0

    def start(self, total: int, kept: int) -> None:
        """Pass it on."""
        self._shown.start(total, kept)

    def advance(self, runs: int) -> None:
        """Count, and pass it on."""
        self.runs += runs
        self._shown.advance(runs)

    def simulated(self, share: float) -> None:
        """Pass it on."""
        self._shown.simulated(share)

    def stop(self) -> None:
        """Pass it on."""
        self._shown.stop()


def for_console(console: Console) -> Bar | Lines:
    """The form that suits where the console writes to."""
    return Bar(console) if console.is_terminal else Lines(lambda line: console.print(line, highlight=False))


class Silent:
    """Nothing: where nobody looks."""

    def start(self, total: int, kept: int) -> None:
        """Say nothing."""

    def advance(self, runs: int) -> None:
        """Say nothing."""

    def simulated(self, share: float) -> None:
        """Say nothing."""

    def stop(self) -> None:
        """Say nothing."""


def on_terminal() -> Bar | Silent:
    """A bar where messages go to a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else Silent()
