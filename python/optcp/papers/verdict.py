"""The one rule by which a measured and a printed value agree."""

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
    """Return the tolerance of every metric that is compared with a printed value, from ``tolerances.toml``.

    A paper from elsewhere may have one of its own, for other metrics.
    """
    own = [read(registry.folder(paper), "tolerances.toml") for paper in registry.papers()]
    entries = functools.reduce(lambda known, more: more | known, own, read(Path(__file__).parent, "tolerances.toml"))
    return {metric: entry["tolerance"] for metric, entry in entries.items()}


def verdict(measured: float, half_width: float, printed: float | None, tolerance: float | None) -> Verdict:
    """Compare a measured value with a printed one.

    Parameters
    ----------
    measured, half_width
        The value and half of its 95 % interval.
    printed
        The printed value, or None where nothing is printed.
    tolerance
        T of the metric; needed where something is printed.

    Returns
    -------
    str
        ``claim-only`` where nothing is printed; ``undecided`` if the half-width exceeds T; ``match`` if the values
        differ by at most T; ``near`` if they have the same sign and differ by at most 2 T (zero has either sign);
        else ``differs``.
    """
    if printed is None:
        return "claim-only"
    if tolerance is None:
        raise ValueError("a metric with printed values needs a tolerance")
    if half_width > tolerance or math.isnan(measured):
        return "undecided"
    gap = abs(measured - printed)
    if gap <= tolerance:
        return "match"
    if gap <= 2 * tolerance and measured * printed >= 0:
        return "near"
    return "differs"


def row(key: Key, metric: str, printed: float | None, interval: Interval, why: str) -> Row:
    """Make a result row with its verdict.

    Parameters
    ----------
    interval
        The measured value, in the metric's unit.
    why
        What is known about a difference between measured and printed; retained only where the verdict is ``differs``.

    Raises
    ------
    ValueError
        If the verdict is ``differs`` and no reason is given, or a printed metric has no tolerance.
    """
    told = verdict(interval.estimate, interval.half_width, printed, tolerances().get(metric))
    if told == "differs" and not why:
        raise ValueError(f"{metric} of {key} differs from the printed value: say why")
    return Row(
        key=key,
        metric=metric,
        paper=printed,
        measured=finite(interval.estimate),
        ci95=(finite(interval.low), finite(interval.high)),
        n=interval.n,
        verdict=told,
        why=why if told == "differs" else "",
        at_least=None if interval.at_least is None or math.isfinite(interval.estimate) else finite(interval.at_least),
    )
