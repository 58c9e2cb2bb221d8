"""What came out, in sentences: of papers from their claims and rows, computed and never written by hand."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.common.plurals import count_noun
from optcp.papers.judge import word
from optcp.report.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optcp.papers.model import Claim, Result, Row

HOLDS = {"true": "holds", "false": "does not hold", "undecided": "undecided", "depends": "depends"}
"""How a judgement reads; "depends": on the interpretation of an unstated parameter."""
MARKS = {"true": "✓", "false": "✗", "depends": "±", "undecided": "?", "plain": "·"}


@dataclass(frozen=True)
class Finding:
    """A sentence.

    Attributes
    ----------
    tone, word
        How it is shown, and what its chip says.
    text, more
        What is found, and what else is known.
    result
        The exhibit.
    place
        The id of the claim; empty for what the whole exhibit says.
    """

    tone: str
    word: str
    text: str
    more: str
    result: Result
    place: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper's exhibits and what came out of them.

    Attributes
    ----------
    shown, folded
        Findings: those that differ from the paper, and the rest.
    """

    name: str
    citation: str
    results: Sequence[Result]
    shown: list[Finding]
    folded: list[Finding]

    @property
    def title(self) -> str:
        """The citation without its authors."""
        return self.citation.partition(": ")[2] or self.citation

    @property
    def sentence(self) -> str:
        """Its claims and values in numbers."""
        return counted([tone(claim) for claim in claims(self.results)], printed(self.results))

    def exhibits(self) -> str:
        """How many there are."""
        return count_noun(len(self.results), "exhibit")


def papers(results: Sequence[Result]) -> list[Paper]:
    """The papers of results, in their order."""
    by_name: dict[str, list[Result]] = {}
    for result in results:
        by_name.setdefault(result.exhibit.partition("/")[0], []).append(result)
    return [_paper(name, of_paper) for name, of_paper in by_name.items()]


def _paper(name: str, results: Sequence[Result]) -> Paper:
    found: dict[str, list[Finding]] = {name: [] for name in HOLDS}
    for result in results:
        for claim in result.claims:
            found[tone(claim)].append(
                Finding(tone(claim), HOLDS[tone(claim)], claim.text, _depends(claim), result, claim.id)
            )
    differing = [one for result in results if (one := _differs(result))]
    kinds = itertools.zip_longest(found["false"], differing, found["depends"])
    shown = [one for turn in kinds for one in turn if one is not None]
    return Paper(name, results[0].source["paper"], results, shown, [*found["true"], *found["undecided"]])


def _depends(claim: Claim) -> str:
    if not claim.disagrees:
        return ""
    names = {holds: [name for name, one in claim.readings.items() if one is holds] for holds in (True, False)}
    return f"holds with {listed(names[True])}, not with {listed(names[False])}"


def _differs(result: Result) -> Finding | None:
    rows = [row for row in result.rows if row.paper is not None]
    differing = [row for row in rows if row.verdict == "differs"]
    if not differing:
        return None
    verb = "differs" if len(differing) == 1 else "differ"
    text = f"{len(differing)} of {count_noun(len(rows), 'printed value')} {verb}."
    whys = " ".join(dict.fromkeys(row.why for row in differing if row.why))
    return Finding("differs", "differs", text, whys, result)


def tone(claim: Claim) -> str:
    """How a claim came out."""
    return "depends" if claim.disagrees else word(claim.holds)


def claims(results: Iterable[Result]) -> list[Claim]:
    """All claims."""
    return [claim for result in results for claim in result.claims]


def printed(results: Iterable[Result]) -> list[Row]:
    """All rows with a printed value."""
    return [row for result in results for row in result.rows if row.paper is not None]


def counted(tones: Sequence[str], rows: Sequence[Row]) -> str:
    """Say in a sentence how many claims hold, and how many values match."""
    verdicts: list[str] = [row.verdict for row in rows]
    forms = {
        "true": ("holds", "hold"), "false": ("does not hold", "do not hold"),
        "depends": ("depends on what the paper leaves open", "depend on what the paper leaves open"),
        "undecided": ("is undecided", "are undecided"),
    }  # fmt: skip
    parts = [count_noun(count, *form) for name, form in forms.items() if (count := tones.count(name))]
    text = f"Of {count_noun(len(tones), 'statement')} {listed(parts)}" if parts else "No statement is judged"
    forms = {
        "match": ("matches", "match"), "near": ("is near", "are near"), "differs": ("differs", "differ"),
        "undecided": ("is undecided", "are undecided"),
    }  # fmt: skip
    parts = [count_noun(count, *form) for name, form in forms.items() if (count := verdicts.count(name))]
    return f"{text}; of {count_noun(len(rows), 'printed value')} {listed(parts)}." if parts else f"{text}."


def overall(result: Result) -> str:
    """An exhibit's tone: what is against the paper first."""
    tones = {tone(claim) for claim in result.claims}
    verdicts = {row.verdict for row in result.rows if row.paper is not None}
    if "false" in tones or "differs" in verdicts:
        return "false"
    if "depends" in tones:
        return "depends"
    if "undecided" in tones | verdicts:
        return "undecided"
    return "true" if tones | verdicts else "plain"
