"""The committed baseline of verdicts: ``--check`` compares with it, ``--write-baseline`` renews it.

Form: exhibit id, then size name, then ``rows`` (row name to verdict) and ``claims`` (id to judgement).
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcp.files import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.papers.model import Result

Baseline = dict[str, dict[str, dict[str, dict[str, Any]]]]


def path() -> Path:
    """Where the baseline lies in the source tree."""
    return Path(str(resources.files("optcp.papers.data"))) / "baseline.json"


def read(file: Path) -> Baseline:
    """Read a baseline; an absent file is an empty one."""
    if not file.is_file():
        return {}
    baseline: Baseline = json.loads(file.read_text(encoding="utf-8"))
    return baseline


def entry(result: Result) -> dict[str, dict[str, Any]]:
    """What the baseline holds of a result."""
    return {
        "rows": {row.name: row.verdict for row in result.rows},
        "claims": {claim.id: claim.holds for claim in result.claims},
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
    lines = []
    for kind in ("rows", "claims"):
        for name in [*known[kind], *(name for name in now[kind] if name not in known[kind])]:
            before, after = (side[kind].get(name, "absent") for side in (known, now))
            if before != after:
                lines.append(f"{result.exhibit}, {name}: {_word(before)} in the baseline, now {_word(after)}")
    return lines


def renew(file: Path, results: Sequence[Result]) -> None:
    """Put the verdicts of these results into the baseline and leave all others as they are."""
    baseline = read(file)
    for result in results:
        baseline.setdefault(result.exhibit, {})[str(result.size["name"])] = entry(result)
    write_text(file, json.dumps(baseline, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
