"""The baseline of verdicts: ``--check`` compares with it, ``--write-baseline`` renews it.

Each paper's baseline is ``baseline.csv`` beside its code, a CSV file with one line per verdict: exhibit, size, kind
(``value`` or ``claim``), name and verdict. Values that no paper has published have no verdict; one line per exhibit and
size (``unpublished``) holds their number.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from optcp.common.files import write_text
from optcp.common.spreadsheet import lines
from optcp.papers import registry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from optcp.papers.model import Result

Verdicts = dict[tuple[str, str], str]
"""The verdict of each kind and name."""
Baseline = dict[str, dict[str, Verdicts]]
"""By exhibit and name of the size."""

NAME = "baseline.csv"
HEAD = ("exhibit", "size", "kind", "name", "verdict")
VALUE, CLAIM, UNPUBLISHED = "value", "claim", "unpublished"


def place(paper: str) -> Path:
    """Return the file of a paper's baseline."""
    return registry.folder(paper) / NAME


def stored() -> Baseline:
    """Read the baselines of all papers."""
    return read(*map(place, registry.papers()))


def read(*files: Path) -> Baseline:
    """Read baselines; an absent file is an empty one."""
    baseline: Baseline = {}
    for file in files:
        if file.is_file():
            with file.open(encoding="utf-8", newline="") as text:
                for exhibit, size, kind, name, verdict in list(csv.reader(text))[1:]:
                    baseline.setdefault(exhibit, {}).setdefault(size, {})[kind, name] = verdict
    return baseline


def entry(result: Result) -> Verdicts:
    """Return the verdicts of a result."""
    unpublished = {row.name for row in result.rows if row.verdict == "claim-only"}
    return {
        **{(VALUE, row.name): row.verdict for row in result.rows if row.verdict != "claim-only"},
        **{(CLAIM, claim.id): str(claim.holds).lower() for claim in result.claims},
        (UNPUBLISHED, ""): str(len(unpublished)),
    }


def missing(baseline: Baseline, exhibits: Sequence[str], size: str) -> list[str]:
    """The exhibits of which the baseline holds nothing at this size."""
    return [exhibit for exhibit in exhibits if size not in baseline.get(exhibit, {})]


def changes(baseline: Baseline, result: Result) -> list[str]:
    """Say, one line each, what differs from the baseline; nothing where it holds nothing of this result."""
    known = baseline.get(result.exhibit, {}).get(str(result.size["name"]))
    if known is None:
        return []
    now = entry(result)
    return [
        f"{result.exhibit}, {of[1] or 'unpublished values'}: {known.get(of, 'absent')} in the baseline, "
        f"now {now.get(of, 'absent')}"
        for of in dict.fromkeys((*known, *now))
        if known.get(of) != now.get(of)
    ]


def renew(results: Sequence[Result]) -> None:
    """Put the verdicts of these results into the baselines of their papers and leave all others as they are."""
    for paper in dict.fromkeys(result.exhibit.partition("/")[0] for result in results):
        baseline = read(place(paper))
        for result in results:
            if result.exhibit.partition("/")[0] == paper:
                baseline.setdefault(result.exhibit, {})[str(result.size["name"])] = entry(result)
        rows = [
            (exhibit, size, *of, verdict)
            for exhibit, sizes in baseline.items()
            for size, verdicts in sizes.items()
            for of, verdict in verdicts.items()
        ]
        write_text(place(paper), lines([HEAD, *sorted(rows)]))
