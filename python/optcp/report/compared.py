"""Findings of a study as sentences: its largest differences, or its values if there is nothing to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp.common.plurals import count_noun
from optcp.common.terminal import p_text
from optcp.data.labelled import censored, prefixed, words
from optcp.report.sentences import changed, significant
from optcp.report.words import capital, listed
from optcp.stats.sequential import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from optcp.data.cells import Cells
    from optcp.data.compare import Compared

MOST = 8
"""Maximum number of sentences."""
MOST_VALUES = 4
"""Maximum number of groups, ports or reasons per sentence."""


def differences(rows: Iterable[Compared], reference: Mapping[str, str]) -> tuple[str, list[tuple[str, str]]]:
    """Describe the significant differences of a comparison.

    Returns
    -------
    summary
        The largest relative difference of the first metric, and the number of significant differences.
    findings
        Name and sentence of the other metrics, each with its largest relative difference.
    """
    rows = list(rows)
    known = [row for row in rows if np.isfinite(row.p)]
    significant_rows = [row for row in known if row.p < LEVEL]
    largest: dict[str, Compared] = {}
    for row in significant_rows:
        if np.isfinite(row.relative_pct):
            before = largest.get(row.metric)
            if before is None or abs(row.relative_pct) > abs(before.relative_pct):
                largest[row.metric] = row
    where = _named(reference)
    cut = list(dict.fromkeys(words(row.metric, row.unit) for row in rows if row.censored))
    if not known and cut:
        return f"Only lower bounds are known for {listed(cut)}, so there are no differences from {where}.", []
    if not known:
        return (
            "One run per parameter combination gives no intervals. More runs show which differences from "
            f"{where} are significant.",
            [],
        )
    sentences = [(name, _sentence(row, reference)) for name, row in list(largest.items())[:MOST]]
    texts = [capital(sentences[0][1])] if sentences else []
    texts.append(
        f"{len(significant_rows)} of {count_noun(len(known), 'difference')} from {where}, paired by seed, "
        f"{'is' if len(significant_rows) == 1 else 'are'} significant (p < {LEVEL}, not corrected for multiple "
        "comparisons)."
    )
    if cut:
        texts.append(f"For {listed(cut)}, some means have only a lower bound and no difference.")
    if sentences[1:]:
        texts.append("Largest relative difference of each other metric:")
    return " ".join(texts), sentences[1:]


def _sentence(row: Compared, reference: Mapping[str, str]) -> str:
    factor, unit = prefixed(max(abs(row.value), abs(row.reference)), row.unit)
    value, before = (f"{significant(each / factor)} {unit}".strip() for each in (row.value, row.reference))
    label = ", ".join(text for name, text in row.cell.items() if name not in reference)
    where = _named({name: text for name, text in row.cell.items() if name in reference})
    p = p_text(row.p)
    return (
        f"{changed(row.metric, row.relative_pct, label)} at {where}: {value} instead of {before} "
        f"(n = {row.n}, p {p if p.startswith('<') else f'= {p}'})."
    )


def values(metrics: Mapping[str, Cells]) -> list[tuple[str, str]]:
    """Return the name and a sentence with the values of each metric, for a study of one parameter combination."""
    found = []
    for name, cells in metrics.items():
        means = cells.mean()
        known = [(cell, one) for cell, one in means if one.n]
        if not known:
            continue
        factor, unit = prefixed(means.largest, cells.unit)

        def shown(value: float, factor: float = factor) -> str:
            return significant(value / factor)

        own = [axis.name for axis in cells.axes if len(axis) > 1]
        parts = []
        for cell, one in known[:MOST_VALUES]:
            label = ", ".join(cell[axis] for axis in own)
            text = f"{censored(one.estimate, one.at_least, shown)} {unit}".strip()
            parts.append(f"{text} ({label})" if label else text)
        left = len(known) - len(parts)
        found.append((name, f"{words(name, cells.unit)}: {listed([*parts, *([f'{left} more'] if left else [])])}."))
    return found[:MOST]


def _named(cell: Mapping[str, str]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} = {value}" for name, value in cell.items())
