"""Terminal output of ``optcp run``: plan of a study, and metrics with 95 % intervals over seeds."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from optcp.common.plurals import count_noun
from optcp.common.terminal import rate_text, show_table
from optcp.data.labelled import censored
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.study.cluster import workers
from optcp.study.remote import tasks_of
from optcp.study.routing import repairs, show_coverage
from optcp.study.single import missing
from optcp.study.slowest import show_slowest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from rich.console import Console

    from optcp.data.axes import Axis
    from optcp.stats import Interval
    from optcp.study.done import StudyResult
    from optcp.study.pool import Jobs
    from optcp.study.single import Estimate
    from optcp.study.store import Store
    from optcp.study.study import Study

MOST = 12
"""Maximum number of rows per metric and parameter combination, and of combinations in a plan; files have all."""
MOST_LINES = 120
"""Maximum number of lines of a terminal table; files have all."""
LATE = 0.05
"""Share of the run after which a group counts as starting late, so that its active time is shown."""
COMPLETIONS = ("completion_mean_s", "completion_p50_s", "completion_p95_s", "completion_p99_s")
OPERATIONS = ("operation_mean_s", "operation_p50_s", "operation_p95_s", "operation_p99_s")
ALL = "all"
"""Label of the sum over all fibres."""


def _share(value: float) -> str:
    return f"{value:.3%}"


def _seconds(value: float) -> str:
    return f"{value:.4g} s"


TEXTS: dict[str, Callable[[float], str]] = {
    "goodput_bps": rate_text,
    "active_goodput_bps": rate_text,
    "active_from_s": _seconds,
    "active_to_s": _seconds,
    "completion_mean_s": _seconds,
    "completion_p50_s": _seconds,
    "completion_p95_s": _seconds,
    "completion_p99_s": _seconds,
    **dict.fromkeys(OPERATIONS, _seconds),
    "outage_p50_s": _seconds,
    "outage_longest_s": _seconds,
    "hit_flows": "{:.1f}".format,
    "queue_mean_packets": "{:.1f}".format,
    "queue_max_packets": "{:.1f}".format,
    "sojourn_mean_s": _seconds,
    "sojourn_longest_s": _seconds,
    "drop_share": _share,
    "burst_loss": _share,
    "drops": "{:.1f}".format,
    "bursts": "{:.1f}".format,
    "marked": "{:.1f}".format,
}
"""Number format by metric; the default is three decimals."""


def value_text(name: str, value: float) -> str:
    """Return a value of a metric as text, "-" if undefined."""
    return TEXTS.get(name, "{:.3f}".format)(value) if math.isfinite(value) else "-"


def with_interval(name: str, one: Interval | None) -> list[str]:
    """Return the texts of an estimate, its interval ("-" for a single run) and its number of runs."""
    if one is None or not one.n:
        return ["-", "-", "0"]
    whole = math.isfinite(one.low) and math.isfinite(one.high)
    ends = f"[{value_text(name, one.low)}, {value_text(name, one.high)}]" if whole else "-"
    return [censored(one.estimate, one.at_least, functools.partial(value_text, name)), ends, str(one.n)]


def show_plan(console: Console, study: Study, store: Store, estimate: Estimate | None, where: Jobs) -> None:
    """Print what a run would do, its estimated time and its disk space."""
    threads = where if isinstance(where, int) else max(1, workers(where)[1])
    grid = study.grid
    runs, left = len(grid.branches) * len(study.seeds), missing(study, store)
    kept = f" ({runs - left} stored already)" if left < runs else ""
    counts = f"parameter combinations: {len(grid.branches)}, seeds: {len(study.seeds)}, runs: {runs}{kept}"
    console.print(f"{counts}, directory: {store.root}", soft_wrap=True)
    for branch in grid.branches[:MOST]:
        key = ", ".join(f"{name} = {value}" for name, value in branch.key.items())
        console.print(f"  {key or 'as written'}", soft_wrap=True)
    if len(grid.branches) > MOST:
        console.print(f"  and {len(grid.branches) - MOST} more")
    if estimate is None:
        console.print("all runs are stored already")
        return
    console.print(f"tables: {', '.join(('scalars', 'runs', *grid.branches[0].observe))}", soft_wrap=True)
    if not estimate.runs:
        least = estimate.limit_s * math.ceil(left / threads)
        console.print(
            f"more than {estimate.limit_s:g} s per run, more than {least:.0f} s in total with {threads} at a time"
        )
        return
    # A run is not divided between threads.
    in_all = estimate.seconds * math.ceil(left / threads)
    console.print(
        f"estimate from {count_noun(estimate.runs, 'run')}: {estimate.seconds:.2g} s per run, {in_all:.2g} s in total "
        f"with {threads} at a time, {estimate.bytes / 1e6:.2g} MB on disk",
        soft_wrap=True,
    )
    if not isinstance(where, int):
        tasks = tasks_of(estimate.blocks, left * estimate.seconds, estimate.bytes)
        console.print(
            f"sent to workers: {count_noun(estimate.blocks, 'block')} of runs in about {count_noun(tasks, 'task')}, "
            f"{left * estimate.seconds / tasks:.2g} s and {estimate.bytes / tasks / 1e6:.2g} MB each",
            soft_wrap=True,
        )


def show_done(console: Console, done: StudyResult) -> None:
    """Print the metrics of each parameter combination: means over seeds with 95 % intervals."""
    shown = _Shown(console, done)
    if not shown.metrics(f"goodput ({shown.part})", "goodput_bps"):
        console.print("the scenario does not observe goodput")
    shown.active()
    shown.durations("completion times, from the start to the last in-order byte", "flows", COMPLETIONS)
    show_slowest(console, done)
    shown.durations("durations of operations", "operations", OPERATIONS)
    shown.metrics("affected flows (copies excluded)", "hit_flows", zeros=False)
    shown.metrics("stall of affected flows", "outage_p50_s", "outage_longest_s")
    shown.metrics(f"link utilisation ({shown.part})", "utilisation")
    shown.metrics(f"queue length ({shown.part})", "queue_mean_packets", "queue_max_packets")
    shown.metrics("queueing delay", "sojourn_mean_s", "sojourn_longest_s")
    shown.metrics("blocked bursts", "burst_loss", "bursts", "wavelength_utilisation")
    shown.metrics("Hurst parameter of packets sent per interval", "hurst")
    shown.spare()
    repairing = [branch.scenario for branch in done.grid.branches if repairs(branch.scenario.settings())]
    if coverage := [one for scenario in repairing if (one := scenario.coverage())]:
        show_coverage(console, coverage)
    if (done.metrics["dropped"].values > 0).any():
        shown.metrics("packet loss (copies excluded)", "drop_share")
        shown.metrics("packets dropped per run", "drops", zeros=False)
    else:
        console.print("no packet was dropped")
    shown.metrics("packets marked per run", "marked", zeros=False)
    show_where(console, done)


def show_where(console: Console, done: StudyResult) -> None:
    """Print the number of runs and their directory."""
    runs = count_noun(len(done.grid.branches) * len(done.seeds), "run")
    console.print(f"{runs} stored in {done.store.root}", soft_wrap=True)


@dataclass
class _Lines:
    """Table that keeps only its first ``MOST_LINES`` lines and counts all."""

    table: Table
    count: int = 0

    def add_row(self, *texts: str) -> None:
        """Count a line; add it to the table below the limit."""
        self.count += 1
        if self.count <= MOST_LINES:
            self.table.add_row(*texts)


class _Shown:
    """Printer of the metric tables of a study."""

    def __init__(self, console: Console, done: StudyResult) -> None:
        self._console, self._done = console, done
        shape = tuple(len(axis) for axis in done.axes)
        values = [[axis.shown[i] for axis, i in zip(done.axes, at, strict=True)] for at in np.ndindex(*shape)]
        # Without a sweep there are no parameter columns.
        self._keys = values if len(values) > 1 else [[]]

    @property
    def part(self) -> str:
        """Return the period that metrics cover, as text."""
        window = self._done.grid.branches[0].resolved.get("measure")
        if window is None:
            return "whole run"
        after, until = (f"{window[key] / PICOSECONDS_A_SECOND:g} s" for key in ("after_ps", "until_ps"))
        return f"{after} to {until}"

    @functools.cache  # noqa: B019 - the object lives only while it prints
    def _means(self, name: str) -> dict[str, list[Interval]]:
        """Return the estimates of a metric by label (group, port, reason), one per parameter combination."""
        cells = self._done.metrics.get(name)
        if cells is None:
            return {}
        of = cells.axes[len(self._done.axes) :]
        found = [interval for _, interval in cells.mean()]
        names = of[0].shown if of else ("",)
        return {each: found[place :: len(names)] for place, each in enumerate(names)}

    def _table(self, left: Sequence[str], right: Sequence[str]) -> _Lines:
        axes = [axis.name for axis in self._done.axes] if len(self._keys) > 1 else []
        table = Table(box=None, pad_edge=False)
        for name in axes:
            table.add_column(name, justify="right")
        for name in left:
            table.add_column(name)
        for name in right:
            table.add_column(name, justify="right", no_wrap=True)
        return _Lines(table)

    def _print(self, title: str, lines: _Lines, label: str = "", count: int = 0) -> bool:
        if lines.count:
            self._console.print(title, style="bold")
            show_table(self._console, lines.table)
            where = self._done.store.root / "scalars"
            if lines.count > MOST_LINES:
                self._console.print(f"first {MOST_LINES} of {lines.count} lines; {where} has all", soft_wrap=True)
            if count > MOST:
                self._console.print(f"the {MOST} largest of {count} {label}s; {where} has all", soft_wrap=True)
        return lines.count > 0

    def _chosen(self, name: str) -> list[str]:
        """Return the labels to show: ``ALL`` and those with the largest estimates."""
        means = self._means(name)

        def largest_estimate(label: str) -> float:
            return math.inf if label == ALL else max((one.estimate for one in means[label] if one.n), default=-math.inf)

        largest = sorted(means, key=largest_estimate, reverse=True)[:MOST]
        return [label for label in means if label in largest]

    def metrics(self, title: str, name: str, *more: str, zeros: bool = True) -> bool:
        """Print a metric by label with its interval, and ``more`` metrics in further columns."""
        axis = next((axis.name for axis in self._extra(name)), "")
        heads = [name, "95 % interval", "n"]
        for other in more:
            heads += [other, "95 % interval"]
        table = self._table([axis] if axis else [], heads)
        for cell, key in enumerate(self._keys):
            for label in self._chosen(name):
                mean = self._means(name)[label][cell]
                if not zeros and not mean.estimate > 0:
                    continue
                texts = with_interval(name, mean)
                for other in more:
                    texts += with_interval(other, self._means(other)[label][cell])[:2]
                table.add_row(*key, *([label] if axis else []), *texts)
        return self._print(title, table, axis, len(self._means(name)))

    def _extra(self, name: str) -> Sequence[Axis]:
        cells = self._done.metrics.get(name)
        return cells.axes[len(self._done.axes) :] if cells is not None else ()

    def active(self) -> None:
        """Print goodput during the active time of groups that are not active for the whole run."""
        name, window = "active_goodput_bps", ("active_from_s", "active_to_s")
        if window[0] not in self._done.metrics:
            return
        part = self._part()
        groups = [label for label in self._chosen(name) if part[label].any()]
        table = self._table(["group"], [name, "95 % interval", "n", *window])
        for cell, key in enumerate(self._keys):
            for group in groups:
                ends = [value_text(one, self._means(one)[group][cell].estimate) for one in window]
                table.add_row(*key, group, *with_interval(name, self._means(name)[group][cell]), *ends)
        self._print("goodput during the active time of a group", table)

    def _part(self) -> dict[str, NDArray[np.bool_]]:
        """Return, by group, the parameter combinations in which it is active for a part of the run only."""
        done = self._done
        start, end = (done.metrics[name] for name in ("active_from_s", "active_to_s"))
        groups = start.axes[-1].values
        stop_s = np.array([branch.resolved["stop_ps"] / 1e12 for branch in done.grid.branches])[:, np.newaxis]
        shape = (len(done.seeds), len(stop_s), len(groups))
        part = (start.values.reshape(shape) > LATE * stop_s) | (end.values.reshape(shape) < stop_s)
        return {group: np.asarray(part[:, :, place].any(axis=0)) for place, group in enumerate(groups)}

    def durations(self, title: str, what: str, metrics: Sequence[str]) -> None:
        """Print durations: means over seeds of the mean and the quantiles of each run."""
        name = f"completed_{what}"
        if name not in self._done.metrics:
            return
        counted = [name, f"unfinished_{what}"]
        aborted = self._done.metrics.get(f"aborted_{what}")
        if aborted is not None and np.nansum(aborted.values):
            counted.append(f"aborted_{what}")
        table = self._table(["group"], [*counted, "", "time", "95 % interval", "n"])
        groups = self._chosen(name)
        for (cell, key), group in itertools.product(enumerate(self._keys), groups):
            counts = (self._means(one)[group][cell].estimate for one in counted)
            beside = [f"{count:.1f}" for count in counts]
            for metric in metrics:
                one = self._means(metric).get(group, [None] * len(self._keys))[cell]
                table.add_row(*key, group, *beside, metric, *with_interval(metric, one))
                if one is None or not one.n:
                    break
        self._print(title, table, "group", len(groups))

    def spare(self) -> None:
        """Print the spare capacity; combinations that differ only in failures share a line."""
        found = [tuple(one.items()) for branch in self._done.grid.branches for one in branch.scenario.spare()]
        table = Table(box=None, pad_edge=False)
        for name in ("protected", "scheme", "capacity"):
            table.add_column(name)
        for name in ("working links", "spare links", "working rate", "spare rate", "spare-to-working ratio"):
            table.add_column(name, justify="right", no_wrap=True)
        lines = _Lines(table)
        for need in map(dict, dict.fromkeys(found)):
            links = (str(need["working_links"]), str(need["spare_links"]))
            rates = (rate_text(need["working_bps"]), rate_text(need["spare_bps"]))
            ratio = f"{need['spare_bps'] / need['working_bps']:.2f}"
            who = need["flows"] or "all routed"
            lines.add_row(who, need["scheme"], need["capacity"], *links, *rates, ratio)
        self._print("spare capacity (both directions)", lines)
