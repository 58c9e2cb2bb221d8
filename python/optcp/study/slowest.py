"""Table of the slowest flows of a run in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from optcp.common.terminal import show_table, size_text
from optcp.data.table import PICOSECONDS_A_SECOND

if TYPE_CHECKING:
    from rich.console import Console

    from optcp.study.done import StudyResult

SLOWEST = 10
"""Number of flows that each run stores."""


def show_slowest(console: Console, done: StudyResult) -> None:
    """Print the slowest flows of the first seed, if the study has one combination and the run stores as many.

    There is no column for the group: the name of a flow begins with it.
    """
    if len(done.grid.branches) > 1:
        return
    seed = done.seeds[0]
    slowest = done.run(done.grid.branches[0], seed).slowest
    if len(slowest) < SLOWEST:
        return
    table = Table(box=None, pad_edge=False)
    for name in ("flow", "from", "to"):
        table.add_column(name)
    for name in ("size", "start", "time", "retransmissions", "RTOs"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state")
    for row in slowest:
        start_s, end_s = (row[name] / PICOSECONDS_A_SECOND for name in ("start_ps", "time_ps"))
        state = "aborted" if row["aborted"] else "finished" if row["finished"] else "unfinished"
        table.add_row(
            *(str(row[name]) for name in ("flow", "from", "to")),
            size_text(int(row["bytes"])),
            f"{start_s:.4g} s",
            f"{'' if row['finished'] else '> '}{end_s - start_s:.4g} s",
            *(str(row[name]) for name in ("retransmissions", "rtos")),
            state,
        )
    console.print(f"the {SLOWEST} slowest flows of seed {seed}", style="bold")
    show_table(console, table)
