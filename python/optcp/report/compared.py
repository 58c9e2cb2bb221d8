"""What came out of a study, in sentences: its largest differences, or its values where there is nothing to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp.common.plurals import count_noun
from optcp.common.terminal import digits, p_text
from optcp.data.labelled import censored, prefixed, words
from optcp.report.words import listed
from optcp.stats.sequential import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from optcp.data.cells import Cells
    from optcp.data.compare import Compared

MOST = 8
"""Sentences."""
MOST_VALUES = 4
"""Groups, ports or reasons in one."""
NAMES = {
    "drop_share": "share of packets lost, copies aside,",
    "hit_flows": "number of flows that lost packets to a failure, copies aside,",
}
"""Metrics whose own name would leave open what is counted."""


def differences(rows: Iterable[Compared], reference: Mapping[str, str]) -> tuple[str, list[tuple[str, str]]]:
    """How many differences are significant, and of each metric the largest one: its name and a sentence."""
    rows = list(rows)
    known = [row for row in rows if np.isfinite(row.p)]
    off = [row for row in known if row.p < LEVEL]
    largest: dict[str, Compared] = {}
    for row in off:
        if np.isfinite(row.relative_pct):
            before = largest.get(row.metric)
            if before is None or abs(row.relative_pct) > abs(before.relative_pct):
                largest[row.metric] = row
    at = _named(reference)
    cut = list(dict.fromkeys(words(row.metric, row.unit) for row in rows if row.censored))
    if not known and cut:
        return f"The end of the run cuts {listed(cut)}: there is no difference of means from {at}.", []
    if not known:
        return f"One run per cell has no interval: more runs say which differences from {at} are more than chance.", []
    text = (
        f"Of {count_noun(len(known), 'difference')} from {at}, paired by seed, {len(off)} "
        f"{'has' if len(off) == 1 else 'have'} p < {LEVEL}."
    )
    if cut:
        text += f" The end of the run cuts {listed(cut)}, so means of these have a lower bound and no difference."
    text += " The largest one of each metric, in per cent:" if largest else ""
    return text, [(name, _sentence(row, reference)) for name, row in list(largest.items())[:MOST]]


def _sentence(row: Compared, reference: Mapping[str, str]) -> str:
    factor, unit = prefixed(max(abs(row.value), abs(row.reference)), row.unit)
    beside = max(abs(row.value), abs(row.reference)) / factor
    here, there = (f"{digits(value / factor, beside)} {unit}".strip() for value in (row.value, row.reference))
    of = ", ".join(value for name, value in row.cell.items() if name not in reference)
    change = f"{digits(abs(row.relative_pct), 100)} % {'more' if row.difference > 0 else 'less'}"
    where = {name: value for name, value in row.cell.items() if name in reference}
    return (
        f"{_name(row)}{f' of {of}' if of else ''} is {change} at {_named(where)}: "
        f"{here} against {there} (n = {row.n}, p {p if (p := p_text(row.p)).startswith('<') else f'= {p}'})."
    )


def _name(row: Compared) -> str:
    return NAMES.get(row.metric, words(row.metric, row.unit))


def values(metrics: Mapping[str, Cells]) -> list[tuple[str, str]]:
    """Of a study of one world each metric's values."""
    found = []
    for name, cells in metrics.items():
        means = cells.mean()
        known = [(cell, one) for cell, one in means if one.n]
        if not known:
            continue
        largest = means.largest
        factor, unit = prefixed(largest, cells.unit)

        def shown(value: float, factor: float = factor, largest: float = largest) -> str:
            return digits(value / factor, largest / factor)

        own = [axis.name for axis in cells.axes if len(axis) > 1]
        parts = []
        for cell, one in known[:MOST_VALUES]:
            of = ", ".join(cell[axis] for axis in own)
            text = f"{censored(one.estimate, one.at_least, shown)} {unit}".strip()
            parts.append(f"{text} ({of})" if of else text)
        left = len(known) - len(parts)
        found.append((name, f"{words(name, cells.unit)}: {listed([*parts, *([f'{left} more'] if left else [])])}."))
    return found[:MOST]


def _named(cell: Mapping[str, str]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} = {value}" for name, value in cell.items())
