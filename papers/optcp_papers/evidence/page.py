"""Detailed page of evidence, rendered from stored results and the table of mechanisms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from optcp.common import stored
from optcp_papers.evidence import EXPERIMENTS, mechanisms, outside, public
from optcp_papers.evidence.base import Compared, Result, Row

FOLDER = "evidence"
"""Directory of stored results next to the page."""
QUANTITY = "quantity"
"""Part of a key that makes columns instead of rows."""
TABLE = "rows"
"""Part of a key that splits such a table into several."""
HEADINGS = {"world": "set-up"}
"""Headings of parts of a key, where they differ."""

HEAD = """\
# TCP: evidence in detail

Every comparison of the TCP model with a source outside of this project. [The summary](tcp-evidence.md) has the counts
and the largest differences. Values that the project derived itself from an RFC, a paper or the behaviour of Linux are
listed separately. They only show that the model follows the authors' interpretation of these sources. The page
[TCP](../reference/tcp.md) describes each mechanism.
"""
MADE = """\
`optcp evidence --write-page docs/details/tcp-evidence.md` (`make evidence`) generates this page and the summary from
the results in [`evidence`](evidence) and from `papers/optcp_papers/evidence/data/mechanisms.toml`; do not edit them.
"""


def read_results(folder: Path) -> list[Result]:
    """Read all stored results of a directory, in the order of the page."""
    paths = [folder / f"{experiment.name}.json" for experiment in EXPERIMENTS]
    # No checksum is needed, because these results are under version control.
    return [stored.load(path, Result.from_json, seal=False) for path in paths if path.is_file()]


def render(results: Sequence[Result]) -> str:
    """Render the page."""
    parts = [HEAD, _counts(results), MADE, *_mechanisms(results), _rule(), _public()]
    return "\n".join([*parts, *(_section(result) for result in results)])


def columns(result: Result) -> list[str]:
    """Return the headings of a result's table."""
    keys = list(dict.fromkeys(name for row in result.rows for name in row.key))
    interval = [result.interval] if any(row.ci95 for row in result.rows) else []
    return [*_headings(keys), result.value, *interval, result.unit_n, *sources(result)]


def sources(result: Result) -> list[str]:
    """Return the external sources of a result, in the order of their first row."""
    return list(dict.fromkeys(item.source for row in result.rows for item in row.outside))


def line(result: Result, row: Row) -> list[str]:
    """Return the cells of a row, one per heading."""
    cells = [row.key.get(name, "") for name in dict.fromkeys(name for each in result.rows for name in each.key)]
    cells.append(f"{row.value:.{result.digits}f}")
    if any(each.ci95 for each in result.rows):
        low, high = row.ci95 or (None, None)
        cells.append("-" if low is None or high is None else f"{low:.{result.digits}f} to {high:.{result.digits}f}")
    cells.append(str(row.n))
    beside = {item.source: item for item in row.outside}
    return cells + [_beside(beside.get(source)) for source in sources(result)]


def _headings(keys: Sequence[str]) -> list[str]:
    return [HEADINGS.get(key, key) for key in keys]


def _beside(one: Compared | None) -> str:
    return "none" if one is None else f"{one.text}: {one.verdict}{', wide' if one.sharp is False else ''}"


def table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Render a table in Markdown."""

    def row(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"

    return row(headings) + "|" + "---|" * len(headings) + "\n" + "".join(row(cells) for cells in lines)


def _folded(result: Result) -> str:
    """Render the tables of a result with several quantities per case: one line per case, one column per quantity."""
    tables = dict.fromkeys(row.key.get(TABLE, "") for row in result.rows)
    cut = {name: [row for row in result.rows if row.key.get(TABLE, "") == name] for name in tables}
    return "\n".join((f"`{name}`:\n\n" if name else "") + _lines(rows, result) for name, rows in cut.items())


def _lines(rows: Sequence[Row], result: Result) -> str:
    quantities = list(dict.fromkeys(row.key[QUANTITY] for row in rows))
    keys = [name for name in dict.fromkeys(name for row in rows for name in row.key) if name not in {QUANTITY, TABLE}]
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        case = tuple(row.key.get(name, "") for name in keys)
        beside = "".join(f" ({_missed(row.value, item)})" for item in row.outside)
        lines.setdefault(case, {})[row.key[QUANTITY]] = f"{row.value:.{_digits(row, result)}f}{beside}"
    cells = [[*case, *(of.get(name, "") for name in quantities)] for case, of in lines.items()]
    return table([*_headings(keys), *quantities], cells)


def _missed(value: float, one: Compared) -> str:
    """Return the external figure, and the distance from it."""
    gap = outside.gap(value, one.text)
    share = f", {100 * gap:+.1f} %" if gap is not None and one.verdict != "agrees" else ""
    return f"{one.text}{share}: {one.verdict}"


def _digits(row: Row, result: Result) -> int:
    """Return the number of decimals of the external figure."""
    of = [len(item.text.split()[0].partition(".")[2]) for item in row.outside]
    return of[0] if of else result.digits


def _counts(results: Sequence[Result]) -> str:
    """Render the first lines: amount of each kind of evidence."""
    shown = mechanisms.shown(results)
    standing = Counter(mechanisms.standing(shown).values())
    lines = [
        f"Mechanisms: {standing.total()}, of which {standing['outside']} have external evidence, "
        f"{standing['here']} only values that the project derived itself, and {standing['none']} none yet.",
        f"Rows of evidence: {sum(not item.worked_here for item in shown)} external, "
        f"{sum(item.worked_here for item in shown)} derived by the project.",
    ]
    for here, whose in ((False, "from outside"), (True, "that the project derived")):
        listed = [
            item
            for result in results
            for row in result.rows
            for item in row.outside
            if item.sharp is not None and (item.source in outside.worked_here()) == here
        ]
        lines.append(f"Comparisons with figures {whose}: {len(listed)}; {mechanisms.by_sharpness(listed)}.")
    suites = sum((public.count(suite) for suite in public.suites()), Counter[str]())
    lines.append(
        f"Public packetdrill scripts: {suites.total()}, of which {suites['ok'] + suites['failed']} only need "
        f"simulated features, and {suites['ok']} of these pass."
    )
    return "".join(f"* {line}\n" for line in lines)


def _mechanisms(results: Sequence[Result]) -> list[str]:
    """Render one table per kind of evidence, and the mechanisms without evidence."""
    lines = mechanisms.shown(results)
    standing = mechanisms.standing(lines)
    headings = ["family", "mechanism", "evidence", "result", "source"]

    def cells(one: mechanisms.Shown) -> list[str]:
        name = f"`{one.mechanism.name}`"
        if standing[one.mechanism.key] == "here":
            name += ", nothing else"
        return [f"`{one.mechanism.family}`", name, one.evidence.kind, one.figure, one.evidence.source]

    tables = [table(headings, [cells(item) for item in lines if item.worked_here == here]) for here in (False, True)]
    none = ", ".join(f"`{family}` `{name}`" for (family, name), found in standing.items() if found == "none")
    return [
        f"## Mechanisms: from outside\n\n{tables[0]}",
        "## Mechanisms: worked out by the project\n\nA mechanism with the remark `nothing else` has no "
        f"external evidence.\n\n{tables[1]}",
        f"## Mechanisms: nothing yet\n\n{none}.\n",
    ]


def _public() -> str:
    """Render the public scripts: counts, failures, and reasons for refusal."""
    suites = public.suites()
    counts = [
        [suite.name, f"`{suite.repository}`", suite.commit, f"`{suite.folder}`", str(len(suite.scripts))]
        + [str(public.count(suite)[verdict]) for verdict in ("ok", "failed", "refused")]
        for suite in suites
    ]
    headings = ["suite", "repository", "version", "folder", "scripts", "ok", "failed", "refused"]
    failed = [
        [suite.name, f"`{script.path}`", str(script.line), f"`{script.reason}`"]
        for suite in suites
        for script in suite.scripts
        if script.verdict == "failed"
    ]
    reasons = Counter(f"{script.reason}" for suite in suites for script in suite.scripts if script.verdict == "refused")
    refused = [[str(scripts), reason] for reason, scripts in reasons.most_common()]
    return (
        f"## {public.TITLE}\n\n{public.ABOUT}\n\n{table(headings, counts)}\n"
        f"Failed:\n\n{table(['suite', 'script', 'line', 'what failed'], failed)}\n"
        f"Refused:\n\n{table(['scripts', 'reason'], refused)}\n"
        f"Version {', '.join(dict.fromkeys(suite.version for suite in suites))}.\n"
    )


def _rule() -> str:
    here = outside.worked_here()
    listed = ["".join(f"* **{name}**: {what}\n" for name, what in outside.sources().items() if (name in here) == own)
              for own in (False, True)]  # fmt: skip
    return (
        f"## How figures are compared\n\n{outside.RULE}\n\nExternal sources:\n\n{listed[0]}\n"
        f"Sources derived by the project; their columns are in italics:\n\n{listed[1]}"
    )


def _section(result: Result) -> str:
    about = "".join(f"{paragraph}\n\n" for paragraph in result.about)
    headings = [f"*{name}*" if name in outside.worked_here() else name for name in columns(result)]
    folded = any(QUANTITY in row.key for row in result.rows)
    rows = _folded(result) if folded else table(headings, [line(result, row) for row in result.rows])
    return f"## {result.title}\n\n{about}{rows}\n{_provenance(result.provenance)}\n"


def _provenance(provenance: Mapping[str, Any]) -> str:
    if "cells" not in provenance:
        return f"Version {provenance['version']}; cases `{provenance['cases_sha256'][:12]}`."
    first = min(cell["seeds"][0] for cell in provenance["cells"])
    last = max(cell["seeds"][1] for cell in provenance["cells"])
    return f"Version {provenance['version']}; seeds {first} to {last}; digest `{provenance['metrics_sha256'][:12]}`."
