"""Stalls of the sessions that a failure affects, by case and repathing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.outage import resampled
from optcp.outage.resampled import Resampled
from optcp.papers.kit import Run, StudyResult
from optcp.stats.quantiles import sample_quantile
from optcp_papers.prr.cases import CASES, LENGTHS
from optcp_papers.prr.world import FAILS_S, World

KINDS = ("rpc", "long", "video")
AFFECTED_MS = 1000.0
"""A session is affected if it stalls for this long where nobody repairs."""
At = tuple[str, str]
"""Case and repathing."""


@dataclass(frozen=True)
class Stalls:
    """Effect of one failure.

    Attributes
    ----------
    ms
        Stall of each affected session in ms, by kind. Sessions that are stalled at the end of the run count up to it.
    mb
        In-order bytes of affected long flows after the failure, in MB.
    """

    ms: Mapping[str, NDArray[np.float64]]
    mb: float


@dataclass(frozen=True)
class Costs:
    """Effects of all failures of a network, or of several.

    Attributes
    ----------
    weights
        Weight of each failure in means: the length of the adjacency.
    cells
        Effect of each failure, by case and repathing.
    """

    weights: NDArray[np.float64]
    cells: Mapping[At, list[Stalls]]

    def per_failure(self, at: At, value: Callable[[Stalls], float]) -> Resampled:
        """Return the weighted mean of a number per failure."""
        return resampled.mean([value(one) for one in self.cells[at]], self.weights)

    def total_s(self, at: At, kind: str = "rpc") -> Resampled:
        """Return the sum of stalls per failure, in s."""
        return self.per_failure(at, lambda one: float(one.ms[kind].sum()) / 1000)

    def affected(self, at: At, kind: str) -> Resampled:
        """Return the number of affected sessions per failure."""
        return self.per_failure(at, lambda one: float(one.ms[kind].size))

    def mean_ms(self, at: At, kind: str) -> Resampled:
        """Return the mean stall of affected sessions, in ms."""
        return (self.total_s(at, kind) / self.affected(at, kind)).times(1000)

    def longer_pct(self, at: At, kind: str, than_ms: float) -> Resampled:
        """Return the share of affected sessions that stall for longer."""
        return (
            self.per_failure(at, lambda one: float((one.ms[kind] > than_ms).sum())) / self.affected(at, kind)
        ).times(100)

    def reduction_pct(self, case: str, kind: str = "rpc") -> Resampled:
        """Return the share of the summed stalls that repathing removes."""
        none, rto = (self.total_s((case, repath), kind) for repath in ("none", "rto"))
        return ((none - rto) / none).times(100)


def together(every: Iterable[Costs]) -> Costs:
    """Return the failures of several networks as one sample; each network has the same weight."""
    parts = list(every)
    weights = np.concatenate([part.weights / part.weights.sum() for part in parts])
    cells = {at: [one for part in parts for one in part.cells[at]] for at in parts[0].cells}
    return Costs(weights, cells)


@dataclass(frozen=True)
class CostsOf:
    """Function that evaluates every run of a study.

    Attributes
    ----------
    world
        Its scenario.
    """

    world: World

    def __call__(self, done: StudyResult) -> Costs:
        """Return the effect of each failure by case and repathing."""
        case, repath, failure = done.grid.axes
        branches = iter(done.grid.branches)
        seen: dict[At, list[dict[str, NDArray[np.float64]]]] = {}
        for at in ((of, how) for of in case.values for how in repath.values):
            failures = [next(branches) for _ in failure.values]
            seen[at] = [_sessions(done.run(branch, seed)) for seed in done.seeds for branch in failures]
        cells = {}
        for at, runs in seen.items():
            references = seen[(CASES | LENGTHS)[at[0]].reference, "none"]
            cells[at] = [_stalls(run, reference) for run, reference in zip(runs, references, strict=True)]
        km = {f"{a}-{b}": km for _, a, b, km in self.world.links}
        return Costs(np.array([km[name] or 1.0 for _ in done.seeds for name in failure.values]), cells)


def _stalls(run: Mapping[str, NDArray[np.float64]], reference: Mapping[str, NDArray[np.float64]]) -> Stalls:
    hit = {kind: reference[kind] >= AFFECTED_MS for kind in KINDS}
    return Stalls({kind: run[kind][hit[kind]] for kind in KINDS}, float(run["mb"][hit["long"]].sum()))


def _sessions(run: Run) -> dict[str, NDArray[np.float64]]:
    """Return the stall of every session by kind, and the bytes of long flows in MB."""
    seen = run["outages"]
    gap_ms = (seen["gap_ps"].astype(np.float64) - seen["usual_gap_ps"].astype(np.float64)) * 1000 / PS
    return {
        "long": np.maximum(gap_ms, 0.0),
        "mb": seen["bytes"].astype(np.float64) / 1e6,
        **{kind: _of_operations(run, kind) for kind in ("rpc", "video")},
    }


def _of_operations(run: Run, kind: str) -> NDArray[np.float64]:
    """Return the stall of each session of an application, in ms.

    For RPCs, this is the longest operation minus the median of those that ended before the failure. For video, it is
    the sum of the pauses after the failure.
    """
    table = run["operations"]
    begin_s, end_s = (table[name].astype(np.float64) / PS for name in ("start_ps", "time_ps"))
    took_ms = 1000 * (end_s - begin_s)
    numbers = table["number"]
    result = []
    for rows in _by_session(table["group"].tolist(), kind):
        after = rows[end_s[rows] > FAILS_S]
        if kind == "rpc":
            before = rows[end_s[rows] <= FAILS_S]
            result.append(took_ms[after].max(initial=0.0) - sample_quantile(took_ms[before], 0.5))
        else:
            result.append(took_ms[after[numbers[after] > 0]].sum())
    return np.maximum(np.array(result, dtype=np.float64), 0.0)


def _by_session(groups: list[str], kind: str) -> list[NDArray[np.int64]]:
    """Return the rows of each session of a kind, in the order of their numbers."""
    places: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        if group.startswith(kind):
            places.setdefault(group, []).append(at)
    return [np.array(places[name]) for name in sorted(places, key=lambda name: int(name.removeprefix(kind)))]
