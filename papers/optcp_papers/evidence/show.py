"""Results of experiments as tables on the terminal."""

from __future__ import annotations

import itertools

from rich.console import Console
from rich.table import Table
from rich.text import Text

from optcp.common.terminal import show_table
from optcp_papers.evidence import outside, page
from optcp_papers.evidence.base import Result


def show_evidence(console: Console, result: Result) -> None:
    """Print the result of an experiment with the external figures."""
    console.print()
    console.print(Text(f"{result.experiment}  {result.title}", style="bold"))
    headings = page.columns(result)
    # Print one table per variant: a column for it would leave too little space for the others.
    shown = [index for index, heading in enumerate(headings) if heading != "variant"]
    for variant, rows in itertools.groupby(result.rows, lambda row: row.key.get("variant")):
        if variant is not None:
            console.print(Text(variant, style="bold"))
        table = Table(box=None, pad_edge=False, header_style="bold")
        for index in shown:
            names = headings[index] in result.rows[0].key
            table.add_column(headings[index], justify="left" if names else "right", no_wrap=names)
        for row in rows:
            cells = page.line(result, row)
            table.add_row(*(Text(cells[index]) for index in shown))
        show_table(console, table)
    for source in page.sources(result):
        console.print(Text(f"{source}: {outside.sources()[source]}", style="dim"))
