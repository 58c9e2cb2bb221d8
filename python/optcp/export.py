"""Results in other forms (``optcp export``)."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from optcp.files import write_text
from optcp.study import saved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

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
}


def csv_files(directory: Path) -> Iterator[Path]:
    """Write each Parquet file of a run, or of every run in a directory, as CSV beside it.

    The columns are the same, with a head line; truth values are 0 and 1.

    Yields
    ------
    Path
        Each file once it is there.

    Raises
    ------
    optcp.errors.InputError
        If there is no run.
    """
    for run in saved.find(directory):
        for path in sorted(run.directory.glob("*.parquet")):
            target = path.with_suffix(".csv")
            write_text(target, _csv(saved.read_table(path)))
            yield target


def _csv(table: saved.Table) -> str:
    columns = [
        table.texts(name)
        if isinstance(values, tuple)
        else (values.astype(int) if values.dtype == bool else values).tolist()
        for name, values in table.columns.items()
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def latex_files(directory: Path) -> Iterator[Path]:
    """Write the rows of each exhibit's result in a directory as a LaTeX table (package booktabs) beside it.

    Yields
    ------
    Path
        Each file once it is there.

    Raises
    ------
    optcp.errors.InputError
        If there are no exhibits' results.
    """
    from optcp.report.build import load_results

    for result in load_results(directory):
        if result.rows:
            target = directory / f"{result.exhibit}.tex"
            write_text(target, latex(result))
            yield target


def latex(result: Result) -> str:
    """Make the table of an exhibit: keys, metric, printed and measured value, interval, number of runs, verdict."""
    from optcp import tables

    keys = list(dict.fromkeys(name for row in result.rows for name in row.key))
    head = [*keys, "metric", "printed", "measured", "95 % interval", "n", "verdict"]
    lines = [
        "% Needs \\usepackage{booktabs}.",
        f"% {result.title}; {tables.size_text(result)}; optcp {result.provenance['version']}",
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
                tables.number(row.paper),
                tables.number(row.measured),
                tables.interval(*row.ci95),
                str(row.n),
                row.verdict,
            ]
        )
        for row in result.rows
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join("".join(ESCAPES.get(letter, letter) for letter in cell) for cell in cells) + r" \\"
