"""Findings of papers as sentences, computed from their claims and rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.common.plurals import count_noun
from optcp.papers.judge import word
from optcp.report.sentences import significant
from optcp.report.words import listed, readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optcp.papers.model import Claim, Result, Row

HOLDS = {"true": "holds", "false": "does not hold", "undecided": "undecided", "depends": "depends"}
"""Text of each verdict; "depends" means on the interpretation of an unstated parameter."""
COMPARED = {"match": "they match", "near": "they are near", "differs": "they differ"}
"""Text of each decided verdict on a published value."""
MARKS = {"true": "✓", "false": "✗", "depends": "±", "undecided": "?", "plain": "·"}


@dataclass(frozen=True)
class Finding:
    """Finding of one experiment.

    Attributes
    ----------
    tone, word
        Colour class and text of its label.
    text, more
        Sentence, and additional explanation.
    result
        Result of the experiment.
    place
        Id of the claim; empty for a finding on the whole experiment.
    """

    tone: str
    word: str
    text: str
    more: str
    result: Result
    place: str = ""


@dataclass(frozen=True)
class Paper:
    """Results and findings of one paper.

    Attributes
    ----------
    shown, folded
        Findings that differ from the paper, and all others.
    """

    name: str
    citation: str
    results: Sequence[Result]
    shown: list[Finding]
    folded: list[Finding]

    @property
    def title(self) -> str:
        """Citation without the authors."""
        return self.citation.partition(": ")[2] or self.citation

    def sentences(self, summary: str) -> str:
        """Return the sentences on the main finding and the numbers of verdicts that are not in the summary."""
        counts = counted([tone(claim) for claim in claims(self.results)], printed(self.results))
        return " ".join(one for one in (lead(self.results), counts) if one not in summary)

    def exhibits(self) -> str:
        """Return the number of experiments as text."""
        return count_noun(len(self.results), "experiment")


def papers(results: Sequence[Result]) -> list[Paper]:
    """Group results by paper, in their order."""
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
    text = f"{len(differing)} of {count_noun(len(rows), 'published value')} {verb}."
    whys = " ".join(dict.fromkeys(row.why for row in differing if row.why))
    return Finding("differs", "differs", text, whys, result)


def tone(claim: Claim) -> str:
    """Return the verdict on a claim as a key of ``HOLDS``."""
    return "depends" if claim.disagrees else word(claim.holds)


def claims(results: Iterable[Result]) -> list[Claim]:
    """Return the claims of all results."""
    return [claim for result in results for claim in result.claims]


def printed(results: Iterable[Result]) -> list[Row]:
    """Return the rows with a published value."""
    return [row for result in results for row in result.rows if row.paper is not None]


def lead(results: Iterable[Result]) -> str:
    """Return a sentence on the first decided comparison with a published value, or on the first decided claim."""
    results = list(results)
    for result in results:
        for row in result.rows:
            if row.paper is not None and row.measured is not None and row.verdict in COMPARED:
                keys = ", ".join(f"{readable(name)} = {value}" for name, value in row.key.items())
                return (
                    f"In {result.exhibit}, {readable(row.metric)}{f' at {keys}' if keys else ''} is "
                    f"{significant(row.measured)}; the published value is {significant(row.paper)} "
                    f"({COMPARED[row.verdict]})."
                )
    for result in results:
        for claim in result.claims:
            if tone(claim) in ("true", "false"):
                return f"{result.exhibit}: “{claim.text}” {HOLDS[tone(claim)]}."
    return ""


def counted(tones: Sequence[str], rows: Sequence[Row]) -> str:
    """Return a sentence with the numbers of verdicts on claims and on published values."""
    verdicts: list[str] = [row.verdict for row in rows]
    forms = {
        "true": ("holds", "hold"), "false": ("does not hold", "do not hold"),
        "depends": ("depends on an unstated parameter", "depend on an unstated parameter"),
        "undecided": ("is undecided", "are undecided"),
    }  # fmt: skip
    parts = [count_noun(count, *form) for name, form in forms.items() if (count := tones.count(name))]
    text = f"Of {count_noun(len(tones), 'statement')} {listed(parts)}" if parts else "There are no statements to judge"
    forms = {
        "match": ("matches", "match"), "near": ("is near", "are near"), "differs": ("differs", "differ"),
        "undecided": ("is undecided", "are undecided"),
    }  # fmt: skip
    parts = [count_noun(count, *form) for name, form in forms.items() if (count := verdicts.count(name))]
    return f"{text}; of {count_noun(len(rows), 'published value')} {listed(parts)}." if parts else f"{text}."


def overall(result: Result) -> str:
    """Return the verdict on a whole experiment; contradictions of the paper take precedence."""
    tones = {tone(claim) for claim in result.claims}
    verdicts = {row.verdict for row in result.rows if row.paper is not None}
    if "false" in tones or "differs" in verdicts:
        return "false"
    if "depends" in tones:
        return "depends"
    if "undecided" in tones | verdicts:
        return "undecided"
    return "true" if tones | verdicts else "plain"
