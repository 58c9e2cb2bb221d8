"""Baseline of verdicts and digests: ``--check`` compares with it, ``--write-baseline`` updates it.

The baseline of a paper is ``baseline.csv`` in its package, with one line per verdict: exhibit, size, kind (``value`` or
``claim``), name and verdict. Values that the paper does not publish have no verdict; one line per exhibit and size
(``unpublished``) holds their number. The line ``digest`` holds ``metrics_sha256`` of all runs.
It is the same on each machine. Sizes that were last run before digests were stored have none.
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
"""Verdicts by kind and name."""
Baseline = dict[str, dict[str, Verdicts]]
"""Verdicts by exhibit and name of the size."""

NAME = "baseline.csv"
HEAD = ("exhibit", "size", "kind", "name", "verdict")
VALUE, CLAIM, UNPUBLISHED, DIGEST = "value", "claim", "unpublished", "digest"
NAMES = {UNPUBLISHED: "unpublished values", DIGEST: "metrics_sha256"}


def place(paper: str) -> Path:
    """Return the baseline file of a paper."""
    return registry.folder(paper) / NAME


def stored() -> Baseline:
    """Read the baselines of all papers."""
    return read(*map(place, registry.papers()))


def read(*files: Path) -> Baseline:
    """Read baseline files; missing files count as empty."""
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
        (DIGEST, ""): result.provenance["metrics_sha256"],
    }


def missing(baseline: Baseline, exhibits: Sequence[str], size: str) -> list[str]:
    """Exhibits without an entry in the baseline at this size."""
    return [exhibit for exhibit in exhibits if size not in baseline.get(exhibit, {})]


def changes(baseline: Baseline, result: Result) -> list[str]:
    """List differences from the baseline, one line each; empty if the baseline has no entry for the result."""
    known = baseline.get(result.exhibit, {}).get(str(result.size["name"]))
    if known is None:
        return []
    now = entry(result)
    if (DIGEST, "") not in known:
        del now[DIGEST, ""]
    return [
        f"{result.exhibit}, {of[1] or NAMES[of[0]]}: {known.get(of, 'absent')} in the baseline, "
        f"now {now.get(of, 'absent')}"
        for of in dict.fromkeys((*known, *now))
        if known.get(of) != now.get(of)
    ]


def renew(results: Sequence[Result]) -> None:
    """Update the baselines with the verdicts of these results; other entries stay unchanged."""
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
