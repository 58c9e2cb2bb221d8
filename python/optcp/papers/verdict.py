"""Verdict on the agreement of a simulated and a published value."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING

from optcp.papers import registry
from optcp.papers.model import Row, Verdict, finite
from optcp.papers.printed import read

if TYPE_CHECKING:
    from optcp.papers.model import Key
    from optcp.stats import Interval


@functools.cache
def tolerances() -> dict[str, float]:
    """Return the tolerances of metrics with published values, from ``tolerances.toml``.

    Other papers may have their own file with further metrics.
    """
    own = [read(registry.folder(paper), "tolerances.toml") for paper in registry.papers()]
    entries = functools.reduce(lambda known, more: more | known, own, read(Path(__file__).parent, "tolerances.toml"))
    return {metric: entry["tolerance"] for metric, entry in entries.items()}


def verdict(measured: float, half_width: float, printed: float | None, tolerance: float | None) -> Verdict:
    """Compare a simulated value with a published one.

    Parameters
    ----------
    measured, half_width
        Simulated value and half of its 95 % interval.
    printed
        Published value, or None.
    tolerance
        Tolerance T of the metric; required with a published value.

    Returns
    -------
    str
        ``claim-only`` without a published value. ``undecided`` if the half-width exceeds T. ``match`` if the values
        differ by at most T. ``near`` if they have the same sign and differ by at most 2 T (zero has either sign).
        Otherwise ``differs``.
    """
    if printed is None:
        return "claim-only"
    if tolerance is None:
        raise ValueError("a metric with published values needs a tolerance")
    if half_width > tolerance or math.isnan(measured):
        return "undecided"
    gap = abs(measured - printed)
    if gap <= tolerance:
        return "match"
    if gap <= 2 * tolerance and measured * printed >= 0:
        return "near"
    return "differs"


def row(key: Key, metric: str, printed: float | None, interval: Interval, why: str) -> Row:
    """Return a row with its verdict.

    Parameters
    ----------
    interval
        Simulated value, in the unit of the metric.
    why
        Known reason of a difference; stored only if the verdict is ``differs``.

    Raises
    ------
    ValueError
        If the verdict is ``differs`` without a reason, or a metric with a published value has no tolerance.
    """
    outcome = verdict(interval.estimate, interval.half_width, printed, tolerances().get(metric))
    if outcome == "differs" and not why:
        raise ValueError(f"{metric} of {key} differs from the published value; give a reason in `why`")
    return Row(
        key=key,
        metric=metric,
        paper=printed,
        measured=finite(interval.estimate),
        ci95=(finite(interval.low), finite(interval.high)),
        n=interval.n,
        verdict=outcome,
        why=why if outcome == "differs" else "",
        at_least=None if interval.at_least is None or math.isfinite(interval.estimate) else finite(interval.at_least),
    )
