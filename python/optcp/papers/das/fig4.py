"""Figure 4: the gain in goodput over the number of measured connections, on both interpretations of the '#' network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.assume import Assumed, overrides, positive_int
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.das.paper import PAPER, RECEIVER_AXIS, WORLD, events, payload_bytes, scenario
from optcp.papers.over import Axis, curves_over
from optcp.papers.verdict import row
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.papers.model import Key, Row, Series
    from optcp.study import Done

CONNECTIONS = range(1, 11)
QUICK_CONNECTIONS = (1, 10)
PAPER_RUNS = 15
QUICK_RUNS = 3
TOPOLOGIES: dict[str, list[tuple[str, str]]] = {
    "square": [],
    "diagonal": [("parameters.diagonal_cost", "1"), ("parameters.repair", "lfa")],
}
"""A plain '#', with the backup A-B-D-C in a tunnel; and one with the diagonal B-C, whose backup is A-B-C."""
COMPARED = ("every", "das")


@dataclass(frozen=True)
class Measured:
    """The runs of a topology by n, each array with one row a run and a column for plain and das.

    Attributes
    ----------
    payload
        In-order bytes of the measured connections.
    recoveries
        Recoveries and timeouts of the measured connections a connection, over the run.
    """

    payload: dict[int, NDArray[np.float64]]
    recoveries: dict[int, NDArray[np.float64]]

    def gain_pct(self, n: int) -> NDArray[np.float64]:
        """The gain of DAS, one a run."""
        payload = self.payload[n]
        gain: NDArray[np.float64] = 100 * (payload[:, 1] / payload[:, 0] - 1)
        return gain

    def suffering_pct(self, n: int) -> NDArray[np.float64]:
        """Fewer recoveries a connection with DAS than without, in per cent: false ones, one a run."""
        share: NDArray[np.float64] = 100 * (self.recoveries[n][:, 0] - self.recoveries[n][:, 1])
        return share


def _name(topology: str, n: int) -> str:
    return f"{topology}, n = {n}"


@exhibit
class Fig4(Exhibit):
    """n measured flows beside three times ten others; a failure of two seconds at a random time."""

    id = "das/fig4"
    title = "Gain in goodput over the number of observed connections"
    paper = PAPER
    where = "section III, Figs. 3 and 4"
    paper_runs = PAPER_RUNS
    assumed = (
        *WORLD,
        Assumed("background_flows", 10, positive_int, lambda value: [("parameters.background", str(value))]),
    )

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One study a (topology, n); the branches are the receivers."""
        common = overrides(self.assumed, chosen)
        return {
            _name(topology, n): Grid.grid(
                scenario("fig4"),
                [*common, *settings, ("parameters.flows", str(n))],
                [(RECEIVER_AXIS, COMPARED)],
                title=f"das fig4, {_name(topology, n)}",
                digest=options.digest,
                fork=options.fork,
            )
            for topology, settings in TOPOLOGIES.items()
            for n in CONNECTIONS
        }

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 15 runs; a quick look takes n = 1 and n = 10 only."""
        if size.is_quick and int(study.rpartition(" ")[2]) not in QUICK_CONNECTIONS:
            return 0
        return size.of(PAPER_RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """The gain and the share of connections that suffer, by topology and n."""
        del chosen
        measured = {topology: measure(topology, done) for topology in TOPOLOGIES}
        rows: list[Row] = []
        series: list[Series] = []
        for topology, one in measured.items():
            for n in one.payload:
                key: Key = {"n": n, "topology": topology}
                rows.append(row(key, "gain_pct", None, stats.mean(one.gain_pct(n)), ""))
                rows.append(row(key, "false_recoveries_pct", None, stats.mean(one.suffering_pct(n)), ""))
            for metric in ("gain_pct", "false_recoveries_pct"):
                series += _curves(topology, rows, metric)
        judged = judge.judge_all(
            self.id,
            {"gain-falls-with-connections": falls_with_n},
            measured,
        )
        note = (
            "`false_recoveries_pct` is how many more recoveries and timeouts a connection has with the plain receiver "
            "than with DAS, in per cent: overtaking after the repair is the only cause, since no queue overflows."
        )
        return Evaluation(rows, judged, series, [note])


def measure(topology: str, done: Mapping[str, Done]) -> Measured:
    """Reduce the finished runs of a topology, without the n that were not run."""
    found = Measured({}, {})
    for n in CONNECTIONS:
        study = done[_name(topology, n)]
        if study.seeds:
            found.payload[n], found.recoveries[n] = study.once(_both)
            found.recoveries[n] = found.recoveries[n] / n
    return found


def _both(done: Done) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = np.array(
        [
            [(payload_bytes(run), events(run, "recovery").size + events(run, "timeout").size) for run in runs]
            for _, runs in done
        ],
        dtype=np.float64,
    )
    return table[..., 0], table[..., 1]


def _curves(topology: str, rows: list[Row], metric: str) -> list[Series]:
    chosen = (one for one in rows if one.metric == metric and one.key["topology"] == topology)
    label = {"gain_pct": "gain in goodput", "false_recoveries_pct": "false recoveries a connection"}[metric]
    return curves_over(chosen, "n", Axis("measured connections, n", ""), Axis(label, "%"))


def falls_with_n(measured: Measured) -> list[Part]:
    """Judge: a gain at n = 1; gain and share of connections that suffer fall with n."""
    steps = [f"n = {n}" for n in measured.payload]
    first = measured.gain_pct(1)
    gains = [measured.gain_pct(n) for n in measured.payload]
    shares = [measured.suffering_pct(n) for n in measured.payload]
    return [
        judge.paired_part("gain at n = 1", first, np.zeros_like(first), "above", "%"),
        *judge.trend_parts("gain", steps, gains, "down", "points"),
        *judge.trend_parts("false recoveries", steps, shares, "down", "points"),
    ]
