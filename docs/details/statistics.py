"""Simulate what intervals cover and how often tests err, and write the tables of docs/details/statistics.md.

``python docs/details/statistics.py`` writes the page. With ``--check`` it compares the page with a new simulation.
Draws are seeded, so the tables are the same every time.
"""

from __future__ import annotations

import functools
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import special
from scipy import stats as known

from optcp import stats
from optcp.papers.sensitivity.design import places
from optcp.papers.sensitivity.indices import effects
from optcp.stats import resampling
from optcp.stats.quantiles import pooled_quantile, quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PAGE = Path(__file__).parent / "statistics.md"
SIZES = (2, 5, 10, 40)


@dataclass(frozen=True)
class Law:
    """A distribution of which everything is known."""

    name: str
    draw: Callable[[np.random.Generator, int], Array]
    mean: float
    deviation: float
    quantile: Callable[[float], float]


def _lognormal(sigma: float) -> Law:
    variance = (math.exp(sigma**2) - 1) * math.exp(sigma**2)
    return Law(
        f"lognormal, sigma {sigma:g}",
        lambda rng, n: rng.lognormal(0, sigma, n),
        math.exp(sigma**2 / 2),
        math.sqrt(variance),
        lambda q: math.exp(sigma * float(special.ndtri(q))),
    )


LAWS = (
    Law("normal", lambda rng, n: rng.normal(5, 1, n), 5, 1, lambda q: 5 + float(special.ndtri(q))),
    Law("exponential", lambda rng, n: rng.exponential(1, n), 1, 1, lambda q: -math.log(1 - q)),
    _lognormal(0.5),
    _lognormal(1),
    Law(
        "Poisson, mean 2",
        lambda rng, n: rng.poisson(2, n).astype(float),
        2,
        math.sqrt(2),
        lambda q: float(known.poisson.ppf(q, 2)),
    ),
    Law(
        "Poisson, mean 0.3",
        lambda rng, n: rng.poisson(0.3, n).astype(float),
        0.3,
        math.sqrt(0.3),
        lambda q: float(known.poisson.ppf(q, 0.3)),
    ),
    Law("0 or 1, half each", lambda rng, n: rng.integers(0, 2, n).astype(float), 0.5, 0.5, lambda q: float(q > 0.5)),
)
"""Of the values of runs."""


def symmetric(law: Law) -> Callable[[np.random.Generator, int], Array]:
    """Differences of two runs of a law: no effect."""
    return lambda rng, n: law.draw(rng, n) - law.draw(rng, n)


DIFFERENCES: dict[str, Callable[[np.random.Generator, int], Array]] = {law.name: symmetric(law) for law in LAWS} | {
    "-1, 0 or 1, a third each": lambda rng, n: rng.integers(-1, 2, n).astype(float),
    "the same, with small noise": lambda rng, n: rng.integers(-1, 2, n) + rng.normal(0, 1e-6, n),
    "-1 or 1, with small noise": lambda rng, n: rng.choice([-1.0, 1.0], n) + rng.normal(0, 1e-6, n),
    "0 in 9 of 10, else -1 or 1": lambda rng, n: rng.choice([-1.0, 0, 1], n, p=[0.05, 0.9, 0.05]),
}
"""Without an effect."""


def covered(one: stats.Interval, truth: float) -> tuple[bool, bool]:
    """Whether an interval holds the truth, and whether both of its ends are finite."""
    slack = 1e-9 * max(1.0, abs(truth))
    return one.low - slack <= truth <= one.high + slack, math.isfinite(one.low) and math.isfinite(one.high)


def shown(cases: list[tuple[bool, bool]]) -> str:
    """The share of intervals that hold the truth, in per cent, and of how many there is an interval at all."""
    holds, finite = np.mean(np.array(cases, dtype=float), axis=0)
    if finite == 0:
        return "none"
    return f"{100 * holds:.1f}" + (f" ({100 * finite:.0f})" if finite < 0.995 else "")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def by_law(name: str, times: int, interval: Callable[[Array, Law], tuple[stats.Interval, float]]) -> str:
    """Coverage of an interval of one value per run, by distribution and number of runs."""
    rows = []
    for law in LAWS:
        row = [law.name]
        for n in SIZES:
            rng = np.random.default_rng(n)
            row.append(shown([covered(*interval(law.draw(rng, n), law)) for _ in range(times)]))
        rows.append(row)
    return table([name, *(f"n = {n}" for n in SIZES)], rows)


def means(times: int) -> str:
    """Mean over runs."""
    return by_law("mean", times, lambda values, law: (stats.mean(values), law.mean))


def bounded(times: int) -> str:
    """Mean over runs of a quantity that has bounds: shares of 0 to 1."""
    rows = []
    for a, b in ((1.0, 9.0), (0.5, 0.5), (0.2, 9.8)):
        row = [f"beta({a:g}, {b:g}), mean {a / (a + b):g}"]
        for n in SIZES:
            rng = np.random.default_rng(n)
            draws = [stats.mean(rng.beta(a, b, n)).within(0, 1) for _ in range(times)]
            row.append(shown([covered(one, a / (a + b)) for one in draws]))
        rows.append(row)
    return table(["mean of shares", *(f"n = {n}" for n in SIZES)], rows)


def medians(times: int) -> str:
    """Median of one value per run."""
    return by_law("median over runs", times, lambda values, law: (quantile(values, 0.5), law.quantile(0.5)))


def tails(times: int) -> str:
    """Quantile 0.9 of one value per run."""
    rows = []
    for law in LAWS:
        row = [law.name]
        for n in (5, 36, 40, 100):
            rng = np.random.default_rng(n)
            row.append(shown([covered(quantile(law.draw(rng, n), 0.9), law.quantile(0.9)) for _ in range(times)]))
        rows.append(row)
    return table(["quantile 0.9 over runs", "n = 5", "n = 36", "n = 40", "n = 100"], rows)


def deviations(times: int) -> str:
    """Standard deviation over runs."""
    return by_law("standard deviation", times, lambda values, law: (stats.deviation(values), law.deviation))


def ratios(times: int) -> str:
    """Ratio of two means by the bootstrap: a statistic of the mean curve."""
    sizes = (5, 6, 10, 40)
    rows = []
    for law in LAWS[:5]:
        row = [law.name]
        for n in sizes:
            rng = np.random.default_rng(n)
            cases = []
            for _ in range(times):
                curves = np.column_stack([law.draw(rng, n) + 5, law.draw(rng, n) + 10])
                estimate, samples = resampling.bootstrap(curves, lambda mean: mean[:, 0] / mean[:, 1])
                cases.append(covered(resampling.percentile(samples, estimate, n), (law.mean + 5) / (law.mean + 10)))
            row.append(shown(cases))
        rows.append(row)
    return table(["ratio of means (bootstrap)", *(f"n = {n}" for n in sizes)], rows)


FLOWS = 100
"""Mean number of flows per run."""


def _flows(rng: np.random.Generator, spread: float, whole: bool) -> Array:
    """Completion times of a run's flows; each run has a random factor."""
    times = rng.lognormal(0, spread) * rng.lognormal(0, 1, max(1, rng.poisson(FLOWS)))
    return np.ceil(times) if whole else times


@functools.cache
def _true_flows(spread: float, whole: bool) -> Array:
    rng = np.random.default_rng(1)
    return np.sort(np.concatenate([_flows(rng, spread, whole) for _ in range(20_000)]))


def pooled(times: int) -> str:
    """Quantile of the flows of all runs."""
    rows = []
    kinds = [("independent flows", 0.0, False), ("runs differ", 0.3, False), ("runs differ much", 0.7, False)]
    for name, spread, whole in [*kinds, ("runs differ, whole numbers", 0.3, True)]:
        every = _true_flows(spread, whole)
        for q in (0.5, 0.95, 0.99):
            truth = float(every[math.ceil(q * every.size) - 1])
            row = [f"{name}, {q:g}"]
            for n in SIZES:
                rng = np.random.default_rng(n)
                runs = [[_flows(rng, spread, whole) for _ in range(n)] for _ in range(times)]
                row.append(shown([covered(pooled_quantile(one, q), truth) for one in runs]))
            rows.append(row)
    return table(["quantile of all flows", *(f"n = {n}" for n in SIZES)], rows)


def binomial(n: int, share: float) -> Array:
    """Probabilities of 0 to n."""
    return np.asarray(known.binom.pmf(np.arange(n + 1), n, share))


def shares() -> str:
    """Share of runs: computed, not simulated."""
    rows = []
    for share in (0.02, 0.1, 0.3, 0.5):
        row = [f"{share:g}"]
        for n in SIZES:
            holds = [covered(stats.share(count, n), share)[0] for count in range(n + 1)]
            row.append(f"{100 * float(binomial(n, share) @ holds):.1f}")
        rows.append(row)
    return table(["share of runs", *(f"n = {n}" for n in SIZES)], rows)


def errors(times: int) -> str:
    """How often tests of differences without an effect reject at 5 %."""
    rows = []
    for name, draw in DIFFERENCES.items():
        row = [name]
        for n in SIZES:
            rng = np.random.default_rng(n)
            wrong = [stats.paired(draw(rng, n), np.zeros(n)).p < 0.05 for _ in range(times)]
            row.append(f"{100 * float(np.mean(wrong)):.1f}")
        rows.append(row)
    return table(["paired test", *(f"n = {n}" for n in SIZES)], rows)


def equivalences(times: int) -> str:
    """How often a difference at the margin is said to lie within it, or outside of it."""
    rows = []
    for name, draw in DIFFERENCES.items():
        row = [name]
        for n in SIZES:
            rng = np.random.default_rng(n)
            found = [stats.equivalent(1 + draw(rng, n), 1.0) for _ in range(times)]
            inside = float(np.mean([one.inside and one.p < 0.05 for one in found]))
            outside = float(np.mean([not one.inside and one.p < 0.05 for one in found]))
            row.append(f"{100 * inside:.1f} / {100 * outside:.1f}")
        rows.append(row)
    return table(["equivalence, inside / outside", *(f"n = {n}" for n in SIZES)], rows)


def exact_errors() -> str:
    """How often tests of shares reject where there is nothing to find: computed, not simulated."""
    rows = []
    for share in (0.05, 0.1, 0.3, 0.5):
        against, two = [f"share against {share:g}"], [f"two shares of {share:g}, the other of 150 runs"]
        same = [f"McNemar, {share:g} of the seeds differ"]
        for n in SIZES:
            chance, other = binomial(n, share), binomial(150, share)
            against.append(percent(chance @ [stats.share_against(one, n, share).p < 0.05 for one in range(n + 1)]))
            rejects = [[stats.two_shares(a, n, b / 150, 150).p < 0.05 for b in range(151)] for a in range(n + 1)]
            two.append(percent(chance @ np.array(rejects) @ other))
            same.append(percent(chance @ [_mcnemar_error(many, n) for many in range(n + 1)]))
        rows += [against, two, same]
    return table(["test of shares", *(f"n = {n}" for n in SIZES)], rows)


def _mcnemar_error(differ: int, n: int) -> float:
    """Of so many seeds that differ, each in either direction alike, how often the test rejects."""
    seeds = np.arange(n)
    rejects = [stats.mcnemar(seeds < gain, (seeds >= gain) & (seeds < differ)).p < 0.05 for gain in range(differ + 1)]
    return float(binomial(differ, 0.5) @ rejects)


def percent(share: float) -> str:
    """A share in per cent."""
    return f"{100 * float(share):.1f}"


def ishigami(u: Array) -> Array:
    """T. Ishigami, T. Homma 1990, with a = 7 and b = 0.1, on the unit cube."""
    x = math.pi * (2 * u - 1)
    found: Array = np.sin(x[..., 0]) + 7 * np.sin(x[..., 1]) ** 2 + 0.1 * x[..., 2] ** 4 * np.sin(x[..., 0])
    return found


def sobol_g(u: Array) -> Array:
    """Sobol's g function with a = 0, 1, 4.5 and 9."""
    found: Array = np.prod((np.abs(4 * u - 2) + G) / (1 + G), axis=-1)
    return found


G = np.array([0, 1, 4.5, 9])


def _known_effects() -> dict[str, tuple[Callable[[Array], Array], Array, Array]]:
    first, second, joint = 0.5 * (1 + 0.1 * math.pi**4 / 5) ** 2, 49 / 8, 0.01 * math.pi**8 * (1 / 18 - 1 / 50)
    of = np.array([first, second, 0]), np.array([first + joint, second, joint])
    variances = 1 / (3 * (1 + G) ** 2)
    product = float(np.prod(1 + variances))
    return {
        "Ishigami": (ishigami, of[0] / (first + second + joint), of[1] / (first + second + joint)),
        "Sobol g": (sobol_g, variances / (product - 1), variances * product / (1 + variances) / (product - 1)),
    }


def indices(times: int) -> str:
    """Main and total effects of a sensitivity study."""
    sizes = (16, 32, 64, 128)
    rows = []
    for name, (function, main, total) in _known_effects().items():
        row = [name]
        for samples in sizes:
            cases: list[list[tuple[bool, bool]]] = [[], []]
            for seed in range(times):
                y = function(places(main.size, samples, seed=1000 + seed))
                found = effects(y[0][None], y[1][None], y[2:, None], resamples=400)
                for parameter in range(main.size):
                    for into, one, truth in zip(cases, found.interval(0, parameter), (main, total), strict=True):
                        into.append(covered(one, float(truth[parameter])))
            row.append(" / ".join(shown(one) for one in cases))
        rows.append(row)
    return table(["main / total effects", *(f"N = {samples}" for samples in sizes)], rows)


def sections() -> dict[str, Callable[[], str]]:
    """The tables by their name in the page."""
    return {
        "means": lambda: means(4000),
        "bounded": lambda: bounded(4000),
        "medians": lambda: medians(4000),
        "tails": lambda: tails(4000),
        "pooled": lambda: pooled(500),
        "shares": shares,
        "deviations": lambda: deviations(4000),
        "ratios": lambda: ratios(1000),
        "indices": lambda: indices(60),
        "errors": lambda: errors(4000),
        "equivalences": lambda: equivalences(2000),
        "exact": exact_errors,
    }


def page(text: str, names: list[str] | None = None) -> str:
    """Put new tables into the text of the page: the tables of some names, or all."""
    for name, made in sections().items():
        if names is None or name in names:
            begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
            before, _, rest = text.partition(begin)
            _, _, after = rest.partition(end)
            text = f"{before}{begin}{made()}{end}{after}"
    return text


if __name__ == "__main__":
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if new == old else f"{PAGE.name} differs from a simulation: run `python docs/details/statistics.py`")
    PAGE.write_text(new, encoding="utf-8")
