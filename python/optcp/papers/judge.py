"""Statistical verdicts on the statements of a paper, by the rules that ``how`` names in its ``claims.toml``.

A statement is judged per TCP profile and per interpretation of an unstated parameter, as true, false or "undecided".

PAIRED
    Difference per seed with common random numbers; mean and 95 % t interval over seeds. True if it is significantly on
    the stated side, false if significantly on the other, else undecided. The p-value is the larger one of Student's t
    and the sign-flip test, so five seeds or fewer decide nothing.
EQUIV m
    True if the PAIRED difference lies significantly within +-m, false if significantly outside, else undecided. The
    tests use the 90 % and the 95 % interval of the difference, and sign-flip tests.
TREND
    Along an ordered axis: last against first by PAIRED on the stated side, and no neighbouring pair by PAIRED on the
    other side.
SHARE
    Per cent of seeds with exact 95 % interval; "better" and "worse" are strict, "best" splits ties. A published share
    is tested by Fisher's exact test at 5 % with the number of runs of the paper. It has an error too (about +-8 points
    at 150 runs).
CURVE
    Mean over seeds of goodput in 100 ms intervals, in per cent of the last second before the event. ``dip`` is 100
    minus the lowest interval in the first second after it. ``settle`` is the time from the event to the first of five
    intervals in a row at or above 90. Intervals by bootstrap over seeds, 1000 resamples, expanded percentiles, from six
    seeds on.
EXACT
    Equality on a deterministic run; times within one packet transmission.

A claim has one or more parts. Parts with a p-value are corrected together by Holm at 5 %; a part whose test does not
reject is undecided. One false part makes the claim false; otherwise, one undecided part makes it undecided.

If seeds are added in stages (:mod:`optcp.stats.sequential`), each interim look has its own level (:func:`at_level`).
The verdict of a look is the verdict at 5 %, or undecided if the test at the level of the look differs.
"""

from __future__ import annotations

import contextlib
import math
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from optcp import stats
from optcp.errors import nearest
from optcp.papers.model import Claim, Holds
from optcp.papers.printed import statements_of
from optcp.stats import resampling
from optcp.stats.sequential import LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from optcp.papers.printed import Statement
    from optcp.stats import Comparison, Interval

Side = Literal["above", "below"]
Context = TypeVar("Context")

TREND_RESAMPLES = 10_000
"""Number of resamples. The minimum p-value is 2 / (resamples + 1): with 1000, no part of 25 could pass Holm."""

_level = ContextVar("level", default=LEVEL)


@contextlib.contextmanager
def at_level(level: float) -> Iterator[None]:
    """Context in which tests use this level (at most 5 %) instead of 5 %."""
    before = _level.set(level)
    try:
        yield
    finally:
        _level.reset(before)


def verdict_at_look(answer: Callable[[float], bool]) -> Holds:
    """Return the verdict at the level of this look, or undecided if it differs from the verdict at 5 %.

    Parameters
    ----------
    answer
        Function that returns the verdict at a level.
    """
    found = answer(_level.get())
    return found if found == answer(LEVEL) else "undecided"


@dataclass(frozen=True)
class Part:
    """Comparison that is part of a claim.

    Attributes
    ----------
    text
        Description with the numbers.
    holds
        Direction of the numbers, independent of significance; "undecided" without a direction.
    p
        Two-sided p-value, or None for an exact statement.
    default
        Verdict if the test does not reject.
    not_run
        Whether the runs of this comparison are missing.
    """

    text: str
    holds: Holds
    p: float | None = None
    default: Holds = "undecided"
    not_run: bool = False


def number(value: float, digits: int = 2) -> str:
    """Return a number with its sign, or "unbounded" for an infinity."""
    return f"{value:+.{digits}f}" if math.isfinite(value) else "unbounded"


def span(interval: Interval, unit: str, digits: int = 2, *, batches: bool = False) -> str:
    """Return an estimate as text, with its interval and n (runs, or batches of a run)."""
    low, high = number(interval.low, digits), number(interval.high, digits)
    n = f"n = {interval.n} batches" if batches else f"n = {interval.n}"
    return f"{number(interval.estimate, digits)} {unit} [{low}, {high}], {n}".replace("  ", " ")


def side_part(name: str, test: Comparison, side: Side, unit: str, *, batches: bool = False) -> Part:
    """Return the part for a difference that should lie above or below zero."""
    estimate = test.interval.estimate
    holds: Holds = "undecided" if estimate == 0 else (estimate > 0) == (side == "above")
    return Part(f"{name}: {span(test.interval, unit, batches=batches)}", holds, test.p)


def paired_part(
    name: str, first: ArrayLike, second: ArrayLike, side: Side, unit: str, *, batches: bool = False
) -> Part:
    """Return a PAIRED part: ``first - second``, per seed or per batch of a run, lies above or below zero."""
    return side_part(name, stats.paired(first, second, batches=batches), side, unit, batches=batches)


def difference_part(name: str, difference: ArrayLike, side: Side, unit: str) -> Part:
    """Return a PAIRED part: differences per seed lie above or below zero."""
    return paired_part(name, difference, np.zeros(np.shape(difference)), side, unit)


def equivalence_part(name: str, difference: ArrayLike, margin: float, unit: str, *, batches: bool = False) -> Part:
    """Return an EQUIV part: the difference lies within ``+-margin``."""
    outcome = stats.equivalent(difference, margin, batches=batches)
    shown = span(outcome.interval, unit, batches=batches)
    return Part(f"{name}: {shown}, margin {margin:g}", outcome.inside, outcome.p)


def trend(
    name: str,
    steps: Sequence[str],
    compare: Callable[[int, int], Comparison],
    side: Literal["up", "down"],
    unit: str,
    *,
    batches: bool = False,
) -> list[Part]:
    """Return TREND parts along an ordered axis, with ``compare(later, earlier)`` for its steps.

    The difference of last and first step lies on the stated side, and no neighbouring pair on the other side.
    """
    towards: Side = "above" if side == "up" else "below"

    def part(later: int, earlier: int) -> Part:
        text = f"{name}, {steps[later]} minus {steps[earlier]}"
        return side_part(text, compare(later, earlier), towards, unit, batches=batches)

    # A neighbouring pair can only contradict the trend, so it holds by default.
    pairs = [replace(part(index, index - 1), default=True) for index in range(1, len(steps))]
    return [part(len(steps) - 1, 0), *pairs]


def trend_parts(
    name: str,
    steps: Sequence[str],
    values: Sequence[ArrayLike],
    side: Literal["up", "down"],
    unit: str,
    *,
    batches: bool = False,
) -> list[Part]:
    """Return TREND parts for values per seed along an ordered axis; see :func:`trend`.

    Parameters
    ----------
    steps
        Names of the axis values.
    values
        One array of values per seed for each step.
    batches
        Whether the values are batch means of one run.
    """

    def compare(later: int, earlier: int) -> Comparison:
        return stats.paired(values[later], values[earlier], batches=batches)

    return trend(name, steps, compare, side, unit, batches=batches)


def bootstrap_trend_parts(
    name: str,
    steps: Sequence[str],
    curves: Sequence[NDArray[np.float64]],
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    side: Literal["up", "down"],
    unit: str,
) -> list[Part]:
    """Return TREND parts for a statistic of the mean curve, bootstrapped over the common seeds of all steps.

    Parameters
    ----------
    curves
        One array of curves per seed for each step, shape (runs, points).
    statistic
        See :func:`optcp.stats.resampling.bootstrap`.
    """
    found = [resampling.bootstrap(one, statistic, TREND_RESAMPLES) for one in curves]

    def compare(later: int, earlier: int) -> Comparison:
        (above, first), (below, second) = found[later], found[earlier]
        return resampling.bootstrap_difference(first, second, above - below, curves[0].shape[0])

    return trend(name, steps, compare, side, unit)


def share_part(name: str, successes: float, n: int, above: float) -> Part:
    """Return a SHARE part: the share of runs lies above a fixed one (0 to 1)."""
    test = stats.share_against(successes, n, above)
    share = stats.share(successes, n).times(100)
    text = f"{name}: {share.estimate:.1f} % [{share.low:.1f}, {share.high:.1f}], n = {n}"
    holds: Holds = "undecided" if test.interval.estimate == 0 else test.interval.estimate > 0
    return Part(text, holds, test.p)


def printed_share_part(name: str, successes: float, n: int, printed_pct: float, printed_n: int) -> Part:
    """Return a SHARE part: a test does not distinguish the share from a published one.

    The part is undecided if the test has fewer runs than the paper.
    """
    test = stats.two_shares(successes, n, printed_pct / 100, printed_n)
    measured = 100 * successes / n
    text = f"{name}: {measured:.1f} % against {printed_pct:.2f} % printed (p = {test.p:.2g}, n = {n} and {printed_n})"
    return Part(text, False, test.p, default=True if n >= printed_n else "undecided")


def bootstrap_part(
    name: str, samples: NDArray[np.float64], estimate: float, n: int, at_least: float, unit: str
) -> Part:
    """Return the part for a bootstrapped statistic that should be at least a threshold."""
    interval = resampling.percentile(samples, estimate, n)
    p = resampling.bootstrap_p(samples, at_least, n)
    return Part(f"{name}: {span(interval, unit)}", bool(estimate >= at_least), p)


def within_part(
    name: str,
    samples: NDArray[np.float64],
    estimate: float,
    n: int,
    bounds: tuple[float, float],
    tails: Literal[1, 2],
    unit: str,
) -> Part:
    """Return the part for a statistic between two bounds (:func:`optcp.stats.resampling.bootstrap_within`)."""
    outcome = resampling.bootstrap_within(samples, estimate, n, *bounds, tails)
    text = f"{name}: {span(outcome.interval, unit)}, bounds {bounds[0]:g} and {bounds[1]:g}"
    return Part(text, outcome.inside, outcome.p)


def exact_part(name: str, holds: bool) -> Part:
    """Return an EXACT part, which is true or false."""
    return Part(name, holds)


def combine(parts: Sequence[Part]) -> tuple[Holds, str]:
    """Return the verdict on a claim from its parts, with the evidence.

    Returns
    -------
    holds
        True, False or "undecided".
    evidence
        Each part with its own verdict.
    """
    tested = [part.p for part in parts if part.p is not None]
    at_look, at_once = (iter(stats.holm(tested, level)) for level in (_level.get(), LEVEL))
    judged: list[Holds] = []
    for part in parts:
        sure, nearly = (True, True) if part.p is None else (next(at_look), next(at_once))
        judged.append(part.holds if sure else "undecided" if nearly else part.default)
    holds: Holds = False if False in judged else "undecided" if "undecided" in judged else True
    evidence = "; ".join(f"{part.text} -> {word(one)}" for part, one in zip(parts, judged, strict=True))
    return holds, evidence


def word(holds: Holds) -> str:
    """Return a verdict as a word."""
    return "undecided" if holds == "undecided" else "true" if holds else "false"


def claim(statement: Statement, by_reading: Mapping[str, Sequence[Part]]) -> Claim:
    """Return the verdict on a statement under every interpretation of an unstated parameter.

    If the interpretations disagree, the claim is undecided. An interpretation that is undecided only for missing runs
    is ignored if another one has all of its runs.
    """
    readings = {reading: combine(parts) for reading, parts in by_reading.items()}
    whole = any(not _lacks_runs(parts) for parts in by_reading.values())
    left_out = {
        reading
        for reading, parts in by_reading.items()
        if whole and _lacks_runs(parts) and combine([part for part in parts if not part.not_run])[0] is True
    }
    evidence = [
        f"[{reading}: {word(holds)}{', for want of runs: does not count' if reading in left_out else ''}] {text}"
        for reading, (holds, text) in readings.items()
    ]
    answers = {holds for reading, (holds, _) in readings.items() if reading not in left_out}
    holds = answers.pop() if len(answers) == 1 else "undecided"
    judged = {reading: holds for reading, (holds, _) in readings.items()}
    return Claim(statement.id, statement.text, statement.where, holds, "\n".join(evidence), judged)


def _lacks_runs(parts: Sequence[Part]) -> bool:
    return any(part.not_run for part in parts)


def judge_each(exhibit: str, judges: Mapping[str, Mapping[str, Sequence[Part]]]) -> list[Claim]:
    """Return the verdicts on all statements about an exhibit, each under its own interpretations.

    Parameters
    ----------
    judges
        Parts by claim id and interpretation.

    Raises
    ------
    LookupError
        If a claim has no parts, or parts have no claim.
    """
    statements = statements_of(exhibit)
    ids = [statement.id for statement in statements]
    for one in judges:
        if one not in ids:
            raise LookupError(f"{exhibit}: no claim {one!r}: {nearest(one, ids)}")
    for one in ids:
        if one not in judges:
            raise LookupError(f"{exhibit}: nothing judges claim {one!r}: {nearest(one, judges)}")
    return [claim(statement, judges[statement.id]) for statement in statements]


def judge_all(
    exhibit: str, judges: Mapping[str, Callable[[Context], list[Part]]], contexts: Mapping[str, Context]
) -> list[Claim]:
    """Judge every statement about an exhibit under each interpretation.

    Parameters
    ----------
    judges
        Claim id to the function that judges it.
    contexts
        Arguments of the functions, by interpretation.

    Raises
    ------
    LookupError
        If a claim has no function, or a function no claim.
    """
    parts = {one: {name: function(context) for name, context in contexts.items()} for one, function in judges.items()}
    return judge_each(exhibit, parts)
