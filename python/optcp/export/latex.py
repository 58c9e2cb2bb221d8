"""Export of the rows of exhibits as LaTeX tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.common import terminal
from optcp.common.files import write_text
from optcp.export.tabular import refuse
from optcp.papers import show
from optcp.papers.results import exhibits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from optcp.export import Chosen
    from optcp.papers.model import Result

ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def files(directory: Path, chosen: Chosen) -> Iterator[tuple[Path, str]]:
    """Write the rows of each exhibit as a LaTeX table (package booktabs) next to its result."""
    refuse(chosen)
    for path, result in exhibits(directory).items():
        if result.rows:
            target = path.with_suffix(".tex")
            write_text(target, latex(result))
            yield target, ""


def latex(result: Result) -> str:
    """Return the table of an exhibit: keys, metric, published and simulated value, interval, runs, verdict."""
    keys = list(dict.fromkeys(name for row in result.rows for name in row.key))
    head = [*keys, "metric", "published", "simulated", "95 % interval", "n", "verdict"]
    lines = [
        "% Needs \\usepackage{booktabs}.",
        f"% {_line(result.title)}; {_line(show.size_text(result))}; optcp {_line(result.provenance['version'])}",
        f"\\begin{{tabular}}{{{'r' * len(keys)}lrrrrl}}",
        r"\toprule",
        _row(head),
        r"\midrule",
    ]
    lines += [
        _row(
            [
                *(str(row.key.get(name, "")) for name in keys),
                row.metric,
                terminal.number(row.paper),
                show.measured(row),
                terminal.interval(*row.ci95),
                str(row.n),
                row.verdict,
            ]
        )
        for row in result.rows
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _line(text: str) -> str:
    """Return a text on one line, because line breaks end comments and empty lines break tables."""
    return " ".join(text.split())


def _row(cells: Sequence[str]) -> str:
    row = " & ".join("".join(ESCAPES.get(letter, letter) for letter in _line(cell)) for cell in cells)
    # Behind the end of a row, LaTeX takes these for its argument.
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"
