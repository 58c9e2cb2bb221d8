"""Published form of the stored long runs: the files in ``results/lbas``, and tables of ``docs/details/lbas.md``.

``make tables`` writes them from the results of the experiments. ``tests/python/test_lbas_published.py`` fails if
they differ from the runs.
"""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optcp.common import stored
from optcp.common.files import json_text, write_text
from optcp.papers.assume import Value
from optcp.papers.judge import word
from optcp.papers.model import Claim, Result, Row
from optcp_papers.lbas import table1, table2, table3, trends
from optcp_papers.lbas.outcome import Measured
from optcp_papers.lbas.paper import BUNDLING_DEGREES, CELLS, FLOWS, READINGS, directory, length, reading

METRICS = {
    table1.TABLE1.id: table1.METRIC,
    table2.TABLE2.id: table2.METRIC,
    table3.TABLE3.id: table3.METRIC,
}
"""Experiments, and the published quantity of each."""
PRINTED = {table.METRIC: table.PRINTED[table.METRIC] for table in (table1, table2, table3)}
"""Tables of ``tables.toml`` by metric."""
TRENDS = trends.TRENDS.id
RESULTS = Path("results", "lbas")
PAGE = Path("docs", "details", "lbas.md")
KEY = ("profile", "bundling_degree", "flows_per_lightpath", "anycast")
MODES = ("no", "yes")
NAMES = tuple(reading(values) for values in READINGS)
VALUES = (
    "| profile | b_D | flows | throughput, Gb/s | printed | drops, Mb/s | printed | queue, MB | printed |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)
VERDICTS = f"| statement | {' | '.join(NAMES)} |\n|---|---|---|---|\n"
CHANGES = f"| trend (pairs) | change of | printed | {' | '.join(NAMES)} |\n|---|---|---|---|---|---|\n"
QUANTITIES = {
    "utilisation_points": "utilisation, points",
    "drop_change_pct": "drops, %",
    "queue_points": "queue, points of the buffer",
}


def files(found: Sequence[Result]) -> dict[Path, str]:
    """Return one file per interpretation and table, in the form of a result that contains this interpretation only."""
    texts = {}
    for chosen in READINGS:
        for result in found:
            place = RESULTS / directory(chosen).name / f"{result.exhibit.rpartition('/')[2]}.json"
            texts[place] = json_text(_reading_json(result, chosen))
    return texts


def page(text: str, found: Sequence[Result], of_trends: Result) -> str:
    """Return the page with tables and CPU hours from the results.

    Raises
    ------
    ValueError
        If the page lacks the place for them.
    """
    kept = found[0].provenance["kept"]
    hours = sum(item["cpu_seconds"] for item in kept) / 3600
    text = _replaced(text, "The long runs took ", " CPU hours", f"{hours:.1f}")
    text = _replaced(text, VALUES, "\n\n", "\n".join(_values(found)))
    text = _replaced(text, VERDICTS, "\n\n", "\n".join(_verdicts(found)))
    return _replaced(text, CHANGES, "\n\n", "\n".join(_changes(of_trends)))


def _replaced(text: str, before: str, behind: str, new: str) -> str:
    """Replace the text between the first ``before`` and the next ``behind``."""
    start = text.index(before) + len(before)
    return text[:start] + new + text[text.index(behind, start) :]


def _values(found: Sequence[Result]) -> Iterator[str]:
    """Yield the lines of the table: both modes with their published values, if both have been run."""
    rows = {
        (result.exhibit, *(row.key[name] for name in KEY)): row
        for result in found
        for row in result.rows
        if row.metric == METRICS[result.exhibit]
    }
    for name in NAMES:
        for degree in BUNDLING_DEGREES:
            for flows in FLOWS:
                places = [(exhibit, name, degree, flows) for exhibit in METRICS]
                if all((*place, mode) in rows for place in places for mode in MODES):
                    cells = (_cells([rows[*place, mode] for mode in MODES]) for place in places)
                    yield f"| {name} | {degree} | {flows} | {' | '.join(cells)} |"


def _cells(both: Sequence[Row]) -> str:
    measured = " → ".join(_with_half_width(row) for row in both)
    return f"{measured} | {' → '.join(f'{row.paper:.2f}' for row in both)}"


def _with_half_width(row: Row) -> str:
    low, high = _ends(row)
    return f"{row.value:.2f} ± {(high - low) / 2:.2f}"


def _ends(row: Row) -> tuple[float, float]:
    low, high = (math.nan if end is None else end for end in row.ci95)
    return low, high


def _verdicts(found: Sequence[Result]) -> Iterator[str]:
    """Yield one line per claim with its verdicts, without claims that do not depend on the interpretation."""
    for result in found:
        for claim in result.claims:
            if len(claim.readings) < len(READINGS):
                continue
            words = (word(claim.readings[name]) for name in NAMES)
            yield f"| {claim.text} | {' | '.join(words)} |"


def _changes(result: Result) -> Iterator[str]:
    """Yield lines with the effect of a trend on a quantity, over the simulated pairs, and as published."""
    network = trends.OF_PAPER
    rows = {
        (row.key["trend"], row.metric, row.key["profile"]): row
        for row in result.rows
        if row.key["network"] == network.name
    }
    for trend, pairs in trends.trends(network, _print()).items():
        numbers = ", ".join(f"{rows[trend, 'pairs', name].value:.0f}" for name in NAMES)
        in_print = trends.changes(network, pairs)
        for metric, quantity in QUANTITIES.items():
            cells = (_with_interval(rows[trend, metric, name]) for name in NAMES)
            yield f"| {trend} ({numbers}) | {quantity} | {in_print[metric][0]:+.1f} | {' | '.join(cells)} |"


def _print() -> Measured:
    """Return the paper's tables in the form of simulated outcomes."""
    return Measured(
        {cell: {1: {metric: np.array([cell.printed(table)]) for metric, table in PRINTED.items()}} for cell in CELLS}
    )


def _with_interval(row: Row) -> str:
    low, high = _ends(row)
    return f"{row.value:+.1f} [{low:+.1f}, {high:+.1f}]"


def _reading_json(result: Result, chosen: Mapping[str, Value]) -> dict[str, Any]:
    name = reading(chosen)
    kept = [item for item in result.provenance["kept"] if item["reading"] == name]
    return {
        "exhibit": result.exhibit,
        "title": result.title,
        "source": result.source,
        "assumed": dict(chosen),
        "length": length(chosen),
        "rows": [row.record() for row in result.rows if row.key["profile"] == name],
        "claims": [_claim(claim, name) for claim in result.claims if name in claim.readings],
        "notes": [note for note in result.notes if note.startswith(f"{name}: ")],
        "cpu_hours": round(sum(item["cpu_seconds"] for item in kept) / 3600, 2),
        "kept": kept,
    }


def _claim(claim: Claim, name: str) -> dict[str, Any]:
    evidence = [line for line in claim.evidence.split("\n") if line.startswith(f"[{name}: ")]
    return {
        "id": claim.id,
        "text": claim.text,
        "where": claim.where,
        "holds": claim.readings[name],
        "evidence": "\n".join(evidence),
    }


def main(made: Path) -> None:
    """Write all files below the current directory, from results of the default size below ``made``."""
    *found, of_trends = (stored.load(made / f"{exhibit}.json", Result.from_json) for exhibit in (*METRICS, TRENDS))
    for place, text in files(found).items():
        write_text(place, text)
    write_text(PAGE, page(PAGE.read_text(encoding="utf-8"), found, of_trends))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
