"""Warnings about probable mistakes in a scenario, and about the runs of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optcp import _core
    from optcp.study.done import StudyResult
    from optcp.study.grid import Grid

FEW_SEEDS = 6
"""Minimum number of seeds for a paired p-value below 0.05 and for the interval of a median."""
RANDOM = (
    'start times (`start = "uniform(0 s, 1 s)"`), losses (`[[losses]]`), `jitter` of links, failures with `mtbf`, or '
    "`pairs` with `count`"
)
"""Examples of random quantities of a scenario."""

LONGEST = 200
"""Maximum length of a message that `optcp run` prints."""


class ScenarioWarning(NamedTuple):
    """Warning about a probable mistake.

    Attributes
    ----------
    name
        Name, as used by ``silence`` in scenarios.
    message
        Message.
    place
        Position such as "ring.toml:12", or the setting; empty without a position.
    """

    name: str
    message: str
    place: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message} [{self.name}]" if self.place else f"{self.message} [{self.name}]"


def of_world(core: _core.Scenario) -> tuple[ScenarioWarning, ...]:
    """Return the warnings of a scenario that it does not silence."""
    return tuple(ScenarioWarning(*one) for one in core.warnings)


def of_cells(cells: Sequence[_core.Scenario]) -> tuple[ScenarioWarning, ...]:
    """Return the warnings of all parameter combinations, once per position."""
    found: dict[tuple[str, str], list[ScenarioWarning]] = {}
    for cell in cells:
        for one in of_world(cell):
            found.setdefault((one.name, one.place), []).append(one)
    summed = []
    for same in found.values():
        first = same[0]
        others = f" (and {len(same) - 1} more of {len(cells)} parameter combinations)" if len(same) > 1 else ""
        summed.append(first._replace(message=first.message + others))
    return tuple(summed)


CENSORED = {
    ("completion_mean_s", "completion_p50_s", "completion_p95_s", "completion_p99_s"): "completion times",
    ("operation_mean_s", "operation_p50_s", "operation_p95_s", "operation_p99_s"): "operations",
    ("outage_p50_s", "outage_longest_s"): "stalls",
}
"""Metrics that can be censored by the end of a run."""


def of_done(done: StudyResult) -> tuple[ScenarioWarning, ...]:
    """Return the warnings about finished runs: number of seeds, identical runs and censored metrics."""
    return (*of_seeds(done), *unfinished(done))


def of_seeds(done: StudyResult) -> tuple[ScenarioWarning, ...]:
    """Return the warnings about the seeds of finished runs.

    More seeds are advised only if the runs vary: otherwise they would give the same run again.
    """
    varying = int((~done.repeated).sum())
    return (*(few(done.grid, len(done.seeds)) if varying else ()), *identical(done))


def few(grid: Grid, seeds: int) -> tuple[ScenarioWarning, ...]:
    """Return the warning about a small number of seeds, which holds unless all of them give the same run."""
    if not 1 < seeds < FEW_SEEDS or grid.branches[0].silences("few-seeds"):
        return ()
    message = (
        f"only {seeds} seeds: intervals are wide, those of skewed values cover less than 95 %, and no difference "
        "can be significant; use `--runs 10` or more"
    )
    return (ScenarioWarning("few-seeds", message, ""),)


def identical(done: StudyResult) -> tuple[ScenarioWarning, ...]:
    """Return the warning about parameter combinations whose seeds gave identical runs."""
    count, cells = int(done.repeated.sum()), done.repeated.size
    if not count or done.grid.branches[0].silences("identical-runs"):
        return ()
    where = ""
    if count < cells:
        first = done.grid.branches[int(done.repeated.ravel().argmax())]
        named = ", ".join(f"{name} = {value}" for name, value in first.key.items())
        where = f"in {count} of {cells} parameter combinations (first: {named}), "
    message = (
        f"{where}all {len(done.seeds)} seeds gave the same run, because nothing in the scenario is random: n = 1, "
        f"without intervals and p-values, and more seeds change nothing; add a random quantity, for example {RANDOM}"
    )
    return (ScenarioWarning("identical-runs", message, ""),)


def unfinished(done: StudyResult) -> tuple[ScenarioWarning, ...]:
    """Return the warnings about metrics that are censored by the end of the run.

    Each group is named once, with the parameter combination with the most unfinished flows.
    """
    import numpy as np

    if done.grid.branches[0].silences("unfinished"):
        return ()
    found = []
    for names, what in CENSORED.items():
        cut = [
            done.metrics[name] for name in names if name in done.metrics and np.isinf(done.metrics[name].values).any()
        ]
        if not cut:
            continue
        for at, group in enumerate(cut[0].axes[-1].shown):
            mine = [cells for cells in cut if np.isinf(cells.values[..., at]).any()]
            if mine:
                found.append(
                    ScenarioWarning("unfinished", _unfinished(done, group, what, [cells.name for cells in mine]), "")
                )
    return tuple(found)


def _unfinished(done: StudyResult, group: str, what: str, names: Sequence[str]) -> str:
    if what == "stalls":
        return (
            f"{what} of group {group} had not ended at the end of the run: {', '.join(names)} {_have(names)} a lower "
            "bound only; set a later `stop`"
        )
    counted = "operations" if what == "operations" else "flows"
    ended, left = (
        done.metrics[name].at(group=group).values.mean(axis=0).ravel()
        for name in (f"completed_{counted}", f"unfinished_{counted}")
    )
    worst = int((left / (ended + left)).argmax())
    branch = done.grid.branches[done.grid.firsts[worst]]
    cell = ", ".join(f"{name} = {value}" for name, value in branch.key.items())
    stop_s = branch.resolved["stop_ps"] / 1e12
    aborted = done.metrics.get("aborted_flows")
    if aborted is not None and aborted.at(group=group).values.mean(axis=0).ravel()[worst] == left[worst]:
        share = f"{100 * left[worst] / (ended[worst] + left[worst]):.3g} %"
        return (
            f"the senders of {share} of the flows of group {group} gave up{f' ({cell})' if cell else ''}: "
            f"{', '.join(names)} {_have(names)} a lower bound only; raise `retries` or `user_timeout`, or report "
            "`aborted_flows`"
        )
    return (
        f"{100 * left[worst] / (ended[worst] + left[worst]):.3g} % of the {counted} of group {group} had not ended at "
        f"{stop_s:.3g} s{f' ({cell})' if cell else ''}: {', '.join(names)} {_have(names)} a lower bound only; "
        f'set a later `stop`, for example "{10 * stop_s:.3g} s" with `end_with_flows = true`'
    )


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def show(warnings: Iterable[ScenarioWarning], *, whole: bool = False) -> None:
    """Print warnings to standard error, one per line; long messages are shortened unless ``whole``."""
    import click

    for one in warnings:
        if not whole and len(one.message) > LONGEST:
            one = one._replace(message=one.message[:LONGEST] + "... (`optcp validate` prints the full text)")  # noqa: PLW2901
        click.echo(f"{click.style('warning', fg='yellow', bold=True)}: {one}", err=True)
