"""Result of a sensitivity study, and its JSON form (``DIR/sensitivity/<paper>/<exhibit>.json``)."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import numpy as np

from optcp import _core
from optcp.common import stored
from optcp.common.files import json_text
from optcp.papers.assume import Value  # noqa: TC001 - results are read by their hints
from optcp.papers.model import finite
from optcp.papers.sensitivity import compatible
from optcp.papers.sensitivity.contrast import pooled
from optcp.papers.sensitivity.indices import effects
from optcp.papers.sensitivity.slices import slices
from optcp.papers.sensitivity.survival import survival

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.papers.sensitivity.answer import SettingResult
    from optcp.papers.sensitivity.confirm import Again, Confirmed
    from optcp.papers.sensitivity.study import Finished
    from optcp.stats import Interval

Bounds = tuple[float | None, float | None, float | None]
"""Estimate, and ends of its 95 % interval."""
BEST = 5
"""Number of listed best settings."""


@dataclass(frozen=True)
class Effect:
    """Main and total effect of a parameter, as shares of variance; ``response`` is "" for the mean over all."""

    response: str
    parameter: str
    main: Bounds
    total: Bounds


@dataclass(frozen=True)
class Response:
    """Variation of one response over the parameter space.

    Attributes
    ----------
    name, paper
        Key and metric; published value, or None.
    mean, deviation, low, high
        Mean, standard deviation, minimum and maximum over A and B.
    above, below
        Number of points of A and B whose 95 % interval over seeds lies above or below zero.
    seeds_share
        Mean squared standard error over seeds, as a share of the variance over the space. It is an upper bound of the
        variance due to seeds, because common seeds cancel in part.
    slices
        Mean response with interval, by parameter and part of its range; None without points.
    """

    name: str
    paper: float | None
    mean: float
    deviation: float
    low: float
    high: float
    above: int
    below: int
    seeds_share: float
    slices: dict[str, list[tuple[str, Bounds | None]]]


class Design(TypedDict):
    """Size of a study."""

    samples: int
    points: int
    settings: int
    seeds: int
    runs: int


class Range(TypedDict):
    """Parameter of the space."""

    range: str
    reason: str
    default: Any


class Fit(TypedDict):
    """Agreement of a setting with the published values."""

    misfit: float | None
    worst: str
    within: int


class Best(Fit):
    """Setting with a small misfit."""

    setting: dict[str, Any]


class Repeated(TypedDict):
    """Re-run setting."""

    setting: dict[str, Any]
    first: float | None
    again: Fit | None
    seeds: int
    compatible: bool
    values: NotRequired[dict[str, dict[str, Any]]]


class Share(TypedDict):
    """Part of the range of a parameter in the profile."""

    part: str
    settings: int
    misfit: float | None
    share: Bounds


class Print(TypedDict):
    """Comparison with the published values."""

    values: int
    bound: float
    share: Bounds
    compatible: int
    best: list[Best]
    profile: dict[str, list[Share]]
    confirmed: list[Repeated]


class Contrast(TypedDict):
    """Conclusion of the paper as a difference."""

    name: str
    mean: Bounds
    above: int
    below: int
    undecided: int
    positive: Bounds


class Provenance(TypedDict):
    """Versions of the programs, and digest of the runs."""

    version: str
    git: str
    metrics_sha256: NotRequired[str]


class Statement(TypedDict):
    """Statement of the paper over the parameter space."""

    text: str
    word: str
    share: NotRequired[Bounds]
    holds: int
    fails: int
    undecided: int


class LeftOut(TypedDict):
    """Setting that could not be evaluated."""

    setting: dict[str, Any]
    why: str


@dataclass(frozen=True)
class Result:
    """Result of a sensitivity study.

    Attributes
    ----------
    exhibit, title
        Id and title of the exhibit.
    design
        ``samples`` (N), ``points`` (N (k + 2)), ``settings`` (different ones), ``seeds``, ``runs``.
    space
        Parameter to ``range``, ``reason`` and ``default``.
    fixed
        ``--set``.
    ranking
        Effects averaged over all responses, largest total effect first.
    effects, responses
        Effects and variation of each response that varies.
    print
        Number of ``values``, ``bound`` of the misfit, compatible ``share`` of the space, and number of ``compatible``
        settings. ``best`` has the best settings with their misfit, ``profile`` is by parameter, and ``confirmed`` has
        the re-run compatible settings. None without published values.
    contrasts
        Conclusions of the paper as differences: ``mean`` over A and B, and share of ``positive`` points. ``above``,
        ``below`` and ``undecided`` count the points by significance against zero.
    claims
        Statements with the number of points of A and B at which they hold.
    left_out
        Settings that could not be evaluated.
    settings, values
        Columns of parameters and responses of every setting; None if not evaluated.
    provenance
        ``version``, ``git``, ``metrics_sha256``.
    """

    exhibit: str
    title: str
    design: Design
    space: dict[str, Range]
    fixed: dict[str, str]
    ranking: list[Effect]
    effects: list[Effect]
    responses: list[Response]
    print: Print | None
    contrasts: list[Contrast]
    claims: list[Statement]
    left_out: list[LeftOut]
    settings: dict[str, list[Value]]
    values: dict[str, list[float | None]]
    provenance: Provenance

    def to_json(self) -> str:
        """Return the JSON text; equal results give equal bytes."""
        return json_text(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read :meth:`to_json` back.

        Raises
        ------
        ValueError
            If the text is not a result.
        """
        result = stored.one(cls, stored.table(text))
        _check_parameters(result)
        return result


def _check_parameters(result: Result) -> None:
    """Check that entries by parameter cover all parameters of the space."""
    if {one.parameter for one in result.ranking} != set(result.space):
        raise ValueError("`ranking` is not of the parameters of `space`")
    by_parameter: list[tuple[str, Mapping[str, Any]]] = [
        (f"responses[{index}].slices", one.slices) for index, one in enumerate(result.responses)
    ]
    if result.print is not None:
        by_parameter.append(("print.profile", result.print["profile"]))
        for kind in ("best", "confirmed"):
            by_parameter += [
                (f"print.{kind}[{index}].setting", one["setting"]) for index, one in enumerate(result.print[kind])
            ]
    for place, entries in by_parameter:
        stored.need(entries, result.space, f"{place}.")
    if not all(any(one[name] for name in ("above", "below", "undecided")) for one in result.contrasts):
        raise ValueError("`contrasts` has one that is of no points")


def result(finished: Finished, confirmed: Confirmed | None = None) -> Result:
    """Analyse a finished study, with its re-run settings."""
    request, settings = finished.request, finished.design.settings
    there = [answer for answer in finished.answers if answer is not None]
    found_at = {name: {answer.rows[name].measured for answer in there} for name in there[0].rows}
    # A response that is undefined at any setting has no effects.
    names = [name for name, values in found_at.items() if len(values) > 1 and None not in values]
    measured = np.array([_measured(answer, names) for answer in finished.answers])
    # Use each point of A and B once; replacements of unevaluated points are only for the effects.
    points = np.concatenate([finished.design.a, finished.design.b])
    uniform = points[[finished.answers[point] is not None for point in points]]
    found = effects(measured[finished.a].T, measured[finished.b].T, np.moveaxis(measured[finished.ab], 2, 1))
    everything = range(len(names))
    of_all = [
        Effect("", name, *(_bounds(one) for one in found.over(everything, index)))
        for index, name in enumerate(request.space.names)
    ]
    evaluated = [answer for index in uniform if (answer := finished.answers[index]) is not None]
    version, _, git = _core.version().partition("+")
    return Result(
        exhibit=request.exhibit.id,
        title=request.exhibit.title,
        design={
            "samples": finished.design.samples,
            "points": finished.design.samples * (len(request.space) + 2),
            "settings": len(settings),
            "seeds": request.seeds,
            "runs": finished.runs + (confirmed.runs if confirmed else 0),
        },
        space={
            one.name: {"range": str(one.range), "reason": one.plausible.reason, "default": one.parameter.default}
            for one in request.space
        },
        fixed=dict(request.settings),
        ranking=sorted(of_all, key=lambda one: -(one.total[0] or 0.0)),
        effects=[
            Effect(name, parameter, *(_bounds(one) for one in found.interval(row, column)))
            for row, name in enumerate(names)
            for column, parameter in enumerate(request.space.names)
        ],
        responses=[
            _response(finished, name, measured[:, column], uniform, evaluated) for column, name in enumerate(names)
        ],
        print=_print(finished, uniform, confirmed),
        contrasts=_contrasts(evaluated),
        claims=[
            {
                "text": one.text,
                "holds": one.holds,
                "fails": one.fails,
                "undecided": one.undecided,
                "share": _bounds(one.share),
                "word": one.word,
            }
            for text in there[0].claims
            for one in [survival(text, [answer.claims[text] for answer in evaluated])]
        ],
        left_out=[{"setting": setting, "why": why} for setting, why in finished.left_out],
        settings={name: [setting[name] for setting in settings] for name in request.space.names},
        values={name: [finite(one) for one in measured[:, column]] for column, name in enumerate(names)},
        provenance={
            "version": version,
            "git": git or "unknown",
            "metrics_sha256": _digest([*finished.metrics_sha256, *(confirmed.metrics_sha256 if confirmed else [])]),
        },
    )


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def _measured(answer: SettingResult | None, names: list[str]) -> list[float]:
    return [answer.rows[name].value if answer else float("nan") for name in names]


def _bounds(one: Interval) -> Bounds:
    return finite(one.estimate), finite(one.low), finite(one.high)


def _response(
    finished: Finished,
    name: str,
    values: NDArray[np.float64],
    uniform: NDArray[np.int64],
    evaluated: list[SettingResult],
) -> Response:
    space, settings = finished.request.space, finished.design.settings
    here = values[uniform]
    ends = np.array([_ends(one, name) for one in evaluated])
    # Values of a single run, or without finite bounds, have no interval at a setting.
    known = ends[np.isfinite(ends).all(axis=1)]
    errors = (known[:, 1] - known[:, 0]) / 2 / compatible.NORMAL_95
    variance = float(here.var())
    return Response(
        name=name,
        paper=evaluated[0].rows[name].paper,
        mean=round(float(here.mean()), 4),
        deviation=round(float(here.std()), 4),
        low=round(float(here.min()), 4),
        high=round(float(here.max()), 4),
        above=int(np.sum(ends[:, 0] > 0)),
        below=int(np.sum(ends[:, 1] < 0)),
        seeds_share=round(float(np.mean(np.square(errors))) / variance, 4) if variance and errors.size else 0.0,
        slices={
            parameter: [(part, _bounds(mean) if mean else None) for part, mean in parts]
            for parameter, parts in slices(space, settings, uniform, values).items()
        },
    )


def _ends(answer: SettingResult, name: str) -> tuple[float, float]:
    low, high = answer.rows[name].ci95
    return -np.inf if low is None else low, np.inf if high is None else high


def _contrasts(answers: list[SettingResult]) -> list[Contrast]:
    """Pool the contrasts of all settings."""
    found = {name: pooled([answer.contrasts[name] for answer in answers]) for name in answers[0].contrasts}
    return [
        {
            "name": name,
            "mean": _bounds(one.mean),
            "above": one.above,
            "below": one.below,
            "undecided": one.undecided,
            "positive": _bounds(one.positive),
        }
        for name, one in found.items()
    ]


def _print(finished: Finished, uniform: NDArray[np.int64], confirmed: Confirmed | None) -> Print | None:
    fits = compatible.fits(finished.answers, finished.request.exhibit.paper_runs)
    if not fits:
        return None
    settings = finished.design.settings
    nearest = next(iter(fits.values()))
    return {
        "values": nearest.values,
        "bound": round(compatible.bound(nearest.values), 4),
        "share": _bounds(compatible.share([fits[int(one)].compatible for one in uniform])),
        "compatible": sum(one.compatible for one in fits.values()),
        "best": [{"setting": settings[index], **_fit(one)} for index, one in itertools.islice(fits.items(), BEST)],
        "profile": {
            parameter: [
                {"part": one.name, "settings": one.settings, "misfit": finite(one.misfit), "share": _bounds(one.share)}
                for one in parts
            ]
            for parameter, parts in compatible.profile(finished.request.space, settings, fits, uniform).items()
        },
        "confirmed": [_again(one, confirmed.paper_runs) for one in confirmed.settings] if confirmed else [],
    }


def _fit(one: compatible.Fit) -> Fit:
    return {"misfit": finite(one.misfit), "worst": one.worst, "within": one.within}


def _again(one: Again, paper_runs: int) -> Repeated:
    return {
        "setting": one.setting,
        "first": finite(one.first.misfit),
        "again": _fit(one.fit) if one.fit else None,
        "seeds": one.seeds,
        "compatible": one.seeds == paper_runs and one.fit is not None and one.fit.compatible,
        "values": {
            name: {"paper": row.paper, "measured": row.measured, "ci95": row.ci95, "n": row.n}
            for name, row in one.rows.items()
        },
    }
