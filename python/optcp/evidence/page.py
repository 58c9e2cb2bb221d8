"""The page of evidence: one function makes it from stored results and the table of mechanisms."""

from __future__ import annotations

import functools
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from optcp import stored
from optcp.evidence import EXPERIMENTS, outside
from optcp.evidence.base import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from optcp.evidence.base import Compared, Row

MECHANISMS = outside.DATA / "mechanisms.toml"
FOLDER = "evidence"
"""Where stored results are, beside the page."""
NONE_YET = "none yet"

HEAD = """\
# TCP: evidence from outside

What speaks for each part of the model of TCP that this project did not think up itself: runs of other programs, vectors
worked from an RFC, laws from papers. A mechanism without such evidence says so. What each mechanism is stands on the
page [TCP](tcp.md).

This page is made by `optcp evidence --write-page docs/tcp-evidence.md` (`make evidence`) from the results in
[`evidence`](evidence) and from the table `python/optcp/evidence/data/mechanisms.toml`; do not edit it. Nothing in the
model is tuned to a figure on it.
"""


@dataclass(frozen=True)
class Evidence:
    """One thing that speaks for a mechanism.

    Attributes
    ----------
    kind
        What sort of thing: recorded cases, packetdrill scripts, vectors, closed form, long runs.
    source
        Where the expected figures come from.
    result, key
        The stored result whose rows with this key are the evidence; or
    test
        the test that checks it, as ``file::name``; or
    scripts
        the packetdrill scripts that check it, as ``behaviour/situation``; or
    page
        the page that shows it.
    """

    kind: str
    source: str
    result: str | None = None
    key: dict[str, str] = field(default_factory=dict)
    test: str | None = None
    scripts: list[str] = field(default_factory=list)
    page: str | None = None


@dataclass(frozen=True)
class Mechanism:
    """A member of a family of choices, or a mechanism without a family, with what speaks for it."""

    family: str
    name: str
    evidence: list[Evidence] = field(default_factory=list)


@functools.cache
def mechanisms() -> tuple[Mechanism, ...]:
    """Read the table, in its order."""
    listed = tomllib.loads(MECHANISMS.read_text(encoding="utf-8"))["mechanisms"]
    return tuple(stored.one(Mechanism, one) for one in listed)


def read_results(folder: Path) -> list[Result]:
    """Every stored result in a directory, in the order of the page."""
    paths = [folder / f"{one.name}.json" for one in EXPERIMENTS]
    # Version control shows changes: these results stand beside the page.
    return [stored.load(path, Result.from_json, seal=False) for path in paths if path.is_file()]


def render(results: Sequence[Result]) -> str:
    """Write the page."""
    parts = [HEAD, _mechanisms(results), _rule()]
    parts += [_section(result) for result in results]
    return "\n".join(parts)


def columns(result: Result) -> list[str]:
    """The headings of a result's table."""
    keys = list(dict.fromkeys(name for row in result.rows for name in row.key))
    interval = ["95 % interval"] if any(row.ci95 for row in result.rows) else []
    return [*keys, result.value, *interval, result.unit_n, *sources(result)]


def sources(result: Result) -> list[str]:
    """The outside sources that a result is compared with, in the order of their first row."""
    return list(dict.fromkeys(one.source for row in result.rows for one in row.outside))


def line(result: Result, row: Row) -> list[str]:
    """The cells of a row, as many as there are headings."""
    cells = [row.key.get(name, "") for name in dict.fromkeys(name for each in result.rows for name in each.key)]
    cells.append(f"{row.value:.{result.digits}f}")
    if any(each.ci95 for each in result.rows):
        low, high = row.ci95 or (None, None)
        cells.append("-" if low is None or high is None else f"{low:.{result.digits}f} to {high:.{result.digits}f}")
    cells.append(str(row.n))
    beside = {one.source: one for one in row.outside}
    return cells + [_beside(beside.get(source)) for source in sources(result)]


def _beside(one: Compared | None) -> str:
    return "none" if one is None else f"{one.text}: {one.verdict}"


def _table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |\n"

    return row(headings) + "|" + "---|" * len(headings) + "\n" + "".join(row(cells) for cells in lines)


def _mechanisms(results: Sequence[Result]) -> str:
    by_name = {result.experiment: result for result in results}
    lines = []
    for one in mechanisms():
        shown = [[each.kind, _figure(each, by_name), each.source] for each in one.evidence] or [[NONE_YET, "", ""]]
        lines += [[f"`{one.family}`", f"`{one.name}`", *each] for each in shown]
    return "## Mechanisms\n\n" + _table(["family", "mechanism", "evidence", "what it says", "source"], lines)


def matching(evidence: Evidence, result: Result) -> list[Row]:
    """The rows of a result that a piece of evidence is about."""
    return [row for row in result.rows if evidence.key.items() <= row.key.items()]


def _figure(evidence: Evidence, results: Mapping[str, Result]) -> str:
    if evidence.test is not None:
        file, _, name = evidence.test.partition("::")
        return f"test `{name}` in `{file}`"
    if evidence.scripts:
        return _scripts(evidence.scripts, results.get("packetdrill"))
    if evidence.page is not None:
        return f"[{evidence.page}]({evidence.page})"
    result = results.get(evidence.result or "")
    if result is None:
        return "not run"
    link = f"[{result.title}](#{_anchor(result.title)})"
    rows = matching(evidence, result)
    if not any(row.ci95 for row in rows):
        return f"{link}: {sum(round(row.value) for row in rows)} of {sum(row.n for row in rows)} agree"
    counts = Counter(one.verdict for row in rows for one in row.outside)
    judged = ", ".join(
        f"{counts[verdict]} {verdict}" for verdict in ("agrees", "near", "differs", "undecided") if counts[verdict]
    )
    return f"{link}: {judged or 'nothing outside'}"


def _scripts(scripts: Sequence[str], result: Result | None) -> str:
    if result is None:
        return "not run"
    passed = sum(script not in result.provenance["failed"] for script in scripts)
    listed = ", ".join(f"`{script}`" for script in scripts)
    return f"[{result.title}](#{_anchor(result.title)}): {passed} of {len(scripts)} pass: {listed}"


def _anchor(title: str) -> str:
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def _rule() -> str:
    listed = "".join(f"* **{name}**: {what}\n" for name, what in outside.sources().items())
    return f"## How figures are compared\n\n{outside.RULE}\n\nSources:\n\n{listed}"


def _section(result: Result) -> str:
    about = "".join(f"{paragraph}\n\n" for paragraph in result.about)
    table = _table(columns(result), [line(result, row) for row in result.rows])
    return f"## {result.title}\n\n{about}{table}\n{_provenance(result.provenance)}\n"


def _provenance(provenance: Mapping[str, Any]) -> str:
    if "cells" not in provenance:
        return f"Version {provenance['version']}; cases `{provenance['cases_sha256'][:12]}`."
    first = min(cell["seeds"][0] for cell in provenance["cells"])
    last = max(cell["seeds"][1] for cell in provenance["cells"])
    return f"Version {provenance['version']}; seeds {first} to {last}; digest `{provenance['metrics_sha256'][:12]}`."
