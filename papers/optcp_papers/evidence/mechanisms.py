"""Evidence for each TCP mechanism: the first part of the page."""

from __future__ import annotations

import functools
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from optcp.common import stored
from optcp_papers.evidence import outside, public
from optcp_papers.evidence.base import Compared, Result, Row

TABLE = outside.DATA / "mechanisms.toml"
VERDICTS = {"agrees": "agree", "near": "near", "differs": "differ", "undecided": "undecided"}


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence for a mechanism.

    Attributes
    ----------
    kind
        Kind of evidence: recorded cases, packetdrill scripts, vectors, closed form, long runs.
    source
        Origin of the expected figures.
    result, key
        Stored result, and key of its rows that are the evidence.
    test
        Or: test that checks it, as ``file::name``.
    scripts
        Or: packetdrill scripts that check it, as ``behaviour/situation``.
    public
        Or: public scripts that can be run, as patterns of ``suite/path``.
    page
        Or: page that shows it.
    """

    kind: str
    source: str
    result: str | None = None
    key: dict[str, str] = field(default_factory=dict)
    test: str | None = None
    scripts: list[str] = field(default_factory=list)
    public: list[str] = field(default_factory=list)
    page: str | None = None


@dataclass(frozen=True)
class Mechanism:
    """Option of a family, or a mechanism without a family, with its evidence."""

    family: str
    name: str
    evidence: list[Evidence] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str]:
        """Family and name."""
        return self.family, self.name


@dataclass(frozen=True)
class Shown:
    """Line of the page: text of a piece of evidence, and whether its expected values were derived in this project."""

    mechanism: Mechanism
    evidence: Evidence
    figure: str
    worked_here: bool


@functools.cache
def mechanisms() -> tuple[Mechanism, ...]:
    """Read the table, in its order."""
    return tuple(stored.one(Mechanism, item) for item in _table()["mechanisms"])


@functools.cache
def _table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def matching(evidence: Evidence, result: Result) -> list[Row]:
    """Return the rows of a result that a piece of evidence refers to."""
    return [row for row in result.rows if evidence.key.items() <= row.key.items()]


def shown(results: Sequence[Result]) -> list[Shown]:
    """Return all lines. A stored result with figures of both kinds of sources has two."""
    by_name = {result.experiment: result for result in results}
    return [
        Shown(mechanism, each, *figure)
        for mechanism in mechanisms()
        for each in mechanism.evidence
        for figure in figures(each, by_name)
    ]


def standing(lines: Sequence[Shown]) -> dict[tuple[str, str], Literal["outside", "here", "none"]]:
    """Return the best evidence for each mechanism: external, else derived in this project, else none."""
    result: dict[tuple[str, str], Literal["outside", "here", "none"]] = {
        mechanism.key: "none" for mechanism in mechanisms()
    }
    result |= {line.mechanism.key: "here" for line in lines}
    return result | {line.mechanism.key: "outside" for line in lines if not line.worked_here}


def figures(evidence: Evidence, results: Mapping[str, Result]) -> list[tuple[str, bool]]:
    """Return the texts of a piece of evidence, and whether its expected values were derived in this project."""
    if evidence.result is not None:
        return _of_result(evidence, results.get(evidence.result))
    if evidence.scripts:
        figure = _scripts(evidence.scripts, results.get("packetdrill"))
    elif evidence.public:
        figure = public.passed(evidence.public)
    elif evidence.page is not None:
        figure = f"[{evidence.page}]({evidence.page})"
    else:
        file, _, name = (evidence.test or "").partition("::")
        figure = f"test `{name}` in `{file}`"
    return [(figure, evidence.kind in _table()["worked_here"])]


def _of_result(evidence: Evidence, result: Result | None) -> list[tuple[str, bool]]:
    if result is None:
        return [("not run", False)]
    link = f"[{result.title}](#{anchor(result.title)})"
    rows = matching(evidence, result)
    found = []
    for here in (False, True):
        compared = [item for row in rows for item in row.outside if (item.source in outside.worked_here()) == here]
        if compared and not any(row.ci95 for row in rows):
            agree, cases = sum(round(row.value) for row in rows), sum(row.n for row in rows)
            found.append((f"{link}: {agree} of {cases} agree", here))
        elif compared:
            found.append((f"{link}: {by_sharpness(compared)}", here))
    return found


def by_sharpness(compared: Iterable[Compared]) -> str:
    """Count verdicts, sharp comparisons first."""
    parts = []
    listed = list(compared)
    for sharp, name in ((True, "sharp"), (False, "wide")):
        counts = Counter(item.verdict for item in listed if item.sharp == sharp)
        words = ", ".join(f"{counts[verdict]} {word}" for verdict, word in VERDICTS.items() if counts[verdict])
        parts += [f"{name}: {words}"] if words else []
    return "; ".join(parts)


def _scripts(scripts: Sequence[str], result: Result | None) -> str:
    if result is None:
        return "not run"
    passed = sum(script not in result.provenance["failed"] for script in scripts)
    listed = ", ".join(f"`{script}`" for script in scripts)
    return f"[{result.title}](#{anchor(result.title)}): {passed} of {len(scripts)} pass: {listed}"


def anchor(title: str) -> str:
    """Return the link anchor of the section with this title."""
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c in "-_")
