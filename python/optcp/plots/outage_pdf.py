"""Two-page summary of an outage study as PDF: findings, mechanisms, worst failures and demands, and assumptions."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from matplotlib.transforms import Bbox

from optcp import _core
from optcp.common.files import replacing
from optcp.plots.outage import panels
from optcp.plots.svg import canvas, plain_powers

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from optcp.outage.result import Result, TextTable
    from optcp.stats import Interval

NAME = "outage.pdf"
A4 = (8.27, 11.69)
"""Width and height of a page in inches."""
LEFT, RIGHT = 0.08, 0.94
LETTERS = 105
"""Letters in a line of 9 points."""
LINE = 0.0155
"""Height of such a line, as a share of the page."""
ROW = 0.0172
MOST_ROWS = 10
"""Maximum number of rows of a table."""


def write(target: Path, result: Result, command: str) -> None:
    """Write the summary; equal results give equal bytes.

    Parameters
    ----------
    command
        Command that reproduces the study.
    """
    from matplotlib.backends.backend_pdf import PdfPages

    title = f"Cost of failures on {result.asked.network.title}"
    stamp = {"Title": title, "Creator": f"OpTCP {_core.version()}", "CreationDate": None, "Producer": None}
    with replacing(target) as file, PdfPages(file, metadata=stamp) as pages:
        for draw in (_first, _second):
            with canvas(*A4) as figure:
                figure.set_layout_engine("none")
                draw(figure, result, title, command)
                plain_powers(figure)
                pages.savefig(figure)


def findings(result: Result) -> list[str]:
    """Return sentences with the main results."""
    first = result.asked.mechanisms[0]
    texts = {
        "lost_mb": ("The mean loss of data per failure", "MB"),
        "outage_p50_ms": ("The median stall of an affected long flow", "ms"),
    }
    found = []
    for metric, (name, unit) in texts.items():
        known = {mechanism: metrics[metric] for mechanism, metrics in result.values.items() if metric in metrics}
        if first in known:
            least = min(known, key=lambda mechanism: known[mechanism].estimate)
            best = "" if least == first else f" The lowest is {_value(known[least], unit)}, with {least}."
            found.append(f"{name} is {_value(known[first], unit)} with {first}.{best}")
    worst = result.worst()[0]
    found.append(f"The worst failure with {first} is {worst}. It costs {result.lost_mb(first)[worst]:.3g} MB.")
    return found


def _value(one: Interval, unit: str) -> str:
    if math.isinf(one.estimate):
        return f"more than {one.at_least:.3g} {unit}"
    ends = f" ({one.low:.3g} to {one.high:.3g})" if math.isfinite(one.low) and math.isfinite(one.high) else ""
    return f"{one.estimate:.3g} {unit}{ends}"


def _first(figure: Figure, result: Result, title: str, command: str) -> None:
    asked = result.asked
    figure.text(LEFT, 0.945, title, fontsize=17, fontweight="bold")
    about = (
        f"{len(asked.events)} failures ({asked.failures}), one at a time. Long flows use {asked.sender}. "
        f"Demands: {asked.demands}. Routing: {asked.routing}."
    )
    top = _paragraph(figure, 0.915, about)
    for sentence in findings(result):
        top = _paragraph(figure, top - 0.006, f"•  {sentence}")
    _paragraph(figure, top - 0.006, "Values in parentheses are 95 % intervals over failures.", colour="0.4")
    height = 0.07 + 0.022 * len(result.values)
    bottom = top - 0.06 - height
    axes = [figure.add_axes((left, bottom, 0.32, height)) for left in (LEFT + 0.13, LEFT + 0.53)]
    panels(axes, result.values)
    # The margin holds one of two layers in a line.
    axes[0].set_yticklabels([name.replace("+optical", "\n+optical") for name in result.values])
    axes[1].set_yticklabels([])
    top = bottom - 0.06
    top = _table(figure, top, result.tables()[0])
    figure.text(LEFT, top, "Assumptions", fontsize=12, fontweight="bold")
    top -= 0.022
    for kind, default in (("Set", False), ("Defaults", True)):
        names = [f"{one['name']} = {one['value']}" for one in asked.listed() if one["default"] == default]
        top = _paragraph(figure, top, f"{kind}: {', '.join(names) or 'none'}.")
    top = _paragraph(figure, top, "The page index.html explains each assumption.")
    _paragraph(figure, top - 0.008, f"Reproduce: {command}", colour="0.4")
    _footer(figure, 1)


def _second(figure: Figure, result: Result, _: str, __: str) -> None:
    top = 0.955
    for table in result.tables()[1:]:
        top = _table(figure, top, table)
    for warning in result.asked.exclusions():
        top = _paragraph(figure, top, warning.message)
    _footer(figure, 2)


def _paragraph(figure: Figure, top: float, text: str, colour: str = "black") -> float:
    """Write a text in lines from the left margin; return the height below it."""
    for line in textwrap.wrap(text, LETTERS):
        figure.text(LEFT, top, line, fontsize=9, color=colour)
        top -= LINE
    return top


def _table(figure: Figure, top: float, table: TextTable) -> float:
    """Draw a table with a title; return the height below it."""
    rows = table.rows[:MOST_ROWS]
    figure.text(LEFT, top, table.title, fontsize=12, fontweight="bold")
    heads = [textwrap.fill(head, 12) for head in table.heads]
    lines = max(head.count("\n") for head in heads) + 1
    height = ROW * len(rows) + 0.0135 * lines + 0.008
    axes: Axes = figure.add_axes((LEFT, top - 0.014 - height, RIGHT - LEFT, height))
    axes.axis("off")
    widths = [max(map(len, [*head.split("\n"), *(row[at] for row in rows)])) for at, head in enumerate(heads)]
    drawn: Any = axes.table(
        [heads, *rows],
        cellLoc="right",
        colWidths=[(width + 2) / (sum(widths) + 2 * len(widths)) for width in widths],
        bbox=Bbox.unit(),
        edges="B",
    )
    drawn.auto_set_font_size(False)
    for (row, column), cell in drawn.get_celld().items():
        cell.set_fontsize(7.5)
        cell.set_linewidth(0.3)
        cell.PAD = 0.02
        if row == 0:
            cell.set_text_props(fontweight="bold")
            cell.set_height((0.0135 * lines + 0.008) / height)
        else:
            cell.set_height(ROW / height)
        if column == 0:
            cell.set_text_props(ha="left")
    return _paragraph(figure, top - 0.014 - height - 0.016, table.note.replace("`", ""), colour="0.4") - 0.02


def _footer(figure: Figure, page: int) -> None:
    figure.text(LEFT, 0.03, f"OpTCP {_core.version()}", fontsize=8, color="0.4")
    figure.text(RIGHT, 0.03, f"{page} / 2", fontsize=8, color="0.4", ha="right")
