"""Beyond the paper: suppression at the receiver against what senders can do about reordering by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers.assume import built_in
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.das.paper import PAPER, events, scenario
from optcp.papers.model import Series
from optcp.papers.verdict import row
from optcp.papers.windows import bytes_between
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.model import Key, Row
    from optcp.study import Done

RUNS = 10
QUICK_RUNS = 2
_SACK = {"tcp.all.profile": "rfc", "tcp.all.recovery": "sack"}
_STAMPS = {"tcp.all.timestamps": "true"}
SENDERS: dict[str, dict[str, str]] = {
    "NewReno": {"tcp.all.profile": "rfc"},
    "SACK": _SACK,
    "SACK, DSACK undo": {**_SACK, "tcp.all.dsack_undo": "true"},
    "SACK, timestamp undo": {**_SACK, **_STAMPS, "tcp.all.timestamp_undo": "true"},
    "SACK, F-RTO": {**_SACK, "tcp.all.frto": "true"},
    "SACK, RACK": {**_SACK, "tcp.all.loss_detection": "rack"},
    "linux-6": {"tcp.all.profile": "linux-6"},
}
RECEIVERS = ("plain", "das", "das-bounded")
SUPPRESSED = ("NewReno", "SACK", "linux-6")
"""Senders that are also run with the suppressing receivers."""
DIFFERENCES_MS = (1, 5, 20, 60)
DURATIONS_S = (0.2, 2.0)
QUICK_DURATION_S = 2.0
FAILURE_S = 5.0
AFTER_S = 2.0
INTERVAL_S = 0.1


def _ways() -> list[tuple[str, str]]:
    """Every (sender, receiver), sender by sender."""
    return [
        (sender, receiver) for sender in SENDERS for receiver in (RECEIVERS if sender in SUPPRESSED else RECEIVERS[:1])
    ]


def _study(duration_s: float) -> str:
    return f"failure of {duration_s:g} s"


@exhibit
class Repairs(Exhibit):
    """What a repair costs: goodput, false retransmits and timeouts, by sender, receiver, path and failure."""

    id = "das/repairs"
    title = "Suppression against undo, F-RTO and RACK: what the return to a shorter path costs"
    paper = PAPER
    where = "beyond the paper"
    paper_runs = None
    assumed = (
        built_in("bottleneck_bps", "20000000"),
        built_in("window_segments", "80"),
        built_in("mss_bytes", "1460"),
        built_in("starts", "uniform(0 s, 0.1 s)"),
        built_in("failure_at_s", "5"),
    )

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One study a duration of the failure; branches are the paths' difference, sender and receiver."""
        del chosen
        found = {}
        for duration_s in DURATIONS_S:
            cells = [
                {
                    "parameters.works_at": f"{FAILURE_S + duration_s:g} s",
                    "stop": f"{FAILURE_S + duration_s + AFTER_S:g} s",
                    "parameters.difference": f"{difference} ms",
                    **SENDERS[sender],
                    "tcp.all.duplicate_acks": "every" if receiver == "plain" else receiver,
                }
                for difference in DIFFERENCES_MS
                for sender, receiver in _ways()
            ]
            found[_study(duration_s)] = Grid.of_cells(
                scenario("repairs"),
                cells,
                title=f"das repairs, {_study(duration_s)}",
                digest=options.digest,
                fork=options.fork,
            )
        return found

    def seeds(self, study: str, size: Size) -> int:
        """As many as are worth it; a quick look takes one duration."""
        if size.is_quick and study != _study(QUICK_DURATION_S):
            return 0
        return size.of(RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows a (sender, receiver, difference, duration), and curves over the difference."""
        del chosen
        rows: list[Row] = []
        series: list[Series] = []
        for duration_s in DURATIONS_S:
            study = done[_study(duration_s)]
            if not study.seeds:
                continue
            measured = study.once(measure)
            for i, difference in enumerate(DIFFERENCES_MS):
                for j, (sender, receiver) in enumerate(_ways()):
                    key: Key = {
                        "sender": sender,
                        "receiver": receiver,
                        "difference_ms": difference,
                        "failure_s": duration_s,
                    }
                    rows += _rows(key, measured, i, j)
            series += _curves(duration_s, rows)
        note = (
            f"Goodput is that of the {AFTER_S:g} s after the repair. `gain_pct` is against the same sender with the "
            "plain receiver, or against SACK alone where a sender is a variant of it, paired by seed. Nothing is lost "
            "in any run, so that every recovery, timeout and retransmission is needless. The model has no sender that "
            "raises its threshold of three duplicates (RFC 4653, or Linux's estimate of reordering)."
        )
        return Evaluation(rows, [], series, [note])


@dataclass(frozen=True)
class Measured:
    """A study's runs, each array float64[seeds, differences, ways].

    Attributes
    ----------
    mbps
        Goodput after the repair.
    recoveries, timeouts, resent
        How many there were from the repair on.
    """

    mbps: NDArray[np.float64]
    recoveries: NDArray[np.float64]
    timeouts: NDArray[np.float64]
    resent: NDArray[np.float64]


def measure(done: Done) -> Measured:
    """Reduce the finished runs of a study."""
    first = done.grid.branches[0].key
    repair_s = float(first["parameters.works_at"].removesuffix(" s"))
    table = []
    for _, runs in done:
        of_seed = []
        for run in runs:
            if run.drops:
                raise ValueError(f"the study is one without losses, and there are {run.drops}")
            goodput = run.series["goodput"]["bytes"][0].astype(np.int64)
            payload = int(bytes_between(goodput, INTERVAL_S, repair_s, repair_s + AFTER_S))
            counts = [events(run, event, repair_s).size for event in ("recovery", "timeout", "resent")]
            of_seed.append([payload * 8 / AFTER_S / 1e6, *counts])
        table.append(of_seed)
    values = np.array(table, dtype=np.float64).reshape(len(table), len(DIFFERENCES_MS), len(_ways()), 4)
    return Measured(*np.moveaxis(values, 3, 0))


def _base(way: int) -> int:
    """The variant that a gain is against: the sender, or SACK for its variants, with the plain receiver."""
    sender = _ways()[way][0]
    return _ways().index((sender if sender in SUPPRESSED else "SACK", "plain"))


def _rows(key: Key, measured: Measured, i: int, j: int) -> list[Row]:
    mbps = measured.mbps[:, i, j]
    hit = int(((measured.recoveries[:, i, j] + measured.timeouts[:, i, j]) > 0).sum())
    base = measured.mbps[:, i, _base(j)]
    gain = 100 * (mbps / base - 1)
    rows = [
        row(key, "goodput_mbps", None, stats.mean(mbps), ""),
        row(key, "false_retransmit_share_pct", None, stats.wilson(hit, mbps.size).times(100), ""),
    ]
    if _base(j) != j:
        rows.append(row(key, "gain_pct", None, stats.mean(gain), ""))
    if measured.resent[:, i, j].any():
        rows.append(row(key, "resent_segments", None, stats.mean(measured.resent[:, i, j]), ""))
    if measured.timeouts[:, i, j].any():
        rows.append(row(key, "timeouts", None, stats.mean(measured.timeouts[:, i, j]), ""))
    return rows


def _curves(duration_s: float, rows: list[Row]) -> list[Series]:
    """Goodput after the repair over the difference of the paths."""
    found = []
    for sender, receiver in _ways():
        chosen = [
            one
            for one in rows
            if one.metric == "goodput_mbps"
            and one.measured is not None
            and (one.key["sender"], one.key["receiver"], one.key["failure_s"]) == (sender, receiver, duration_s)
        ]
        key: Key = {"sender": sender, "receiver": receiver, "failure_s": duration_s}
        x = [float(one.key["difference_ms"]) for one in chosen]
        y = [one.value for one in chosen]
        found.append(Series("goodput", key, "how much longer the backup is", "ms", "goodput", "Mb/s", x, y))
    return found
