"""The committed baseline of verdicts: ``--check`` compares with it, ``--write-baseline`` renews it.

A CSV file with one line per verdict: exhibit, size, kind (``value`` or ``claim``), name and verdict. Values that no
paper has published have no verdict; one line per exhibit and size (``unpublished``) holds their number.
"""

from __future__ import annotations

import csv
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from optcp.files import write_text
from optcp.spreadsheet import lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.papers.model import Result

Verdicts = dict[tuple[str, str], str]
"""The verdict of each kind and name."""
Baseline = dict[str, dict[str, Verdicts]]
"""By exhibit and name of the size."""

HEAD = ("exhibit", "size", "kind", "name", "verdict")
VALUE, CLAIM, UNPUBLISHED = "value", "claim", "unpublished"


def path() -> Path:
    """Where the baseline lies in the source tree."""
    return Path(str(resources.files("optcp.papers.data"))) / "baseline.csv"


def read(file: Path) -> Baseline:
    """Read a baseline; an absent file is an empty one."""
    baseline: Baseline = {}
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


def renew(file: Path, results: Sequence[Result]) -> None:
    """Put the verdicts of these results into the baseline and leave all others as they are."""
    baseline = read(file)
    for result in results:
        baseline.setdefault(result.exhibit, {})[str(result.size["name"])] = entry(result)
    rows = [
        (exhibit, size, *of, verdict)
        for exhibit, sizes in baseline.items()
        for size, verdicts in sizes.items()
        for of, verdict in verdicts.items()
    ]
    write_text(file, lines([HEAD, *sorted(rows)]))
