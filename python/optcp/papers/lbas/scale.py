"""What the smaller copy of the network preserves and loses: the paper's first cell at several scales."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from optcp import stats
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.lbas import outcome, smaller
from optcp.papers.lbas.long_runs import by_cell, kept_runs, not_committed, provenance_of
from optcp.papers.lbas.outcome import Measured
from optcp.papers.lbas.paper import CELLS, DEFAULTS, Cell
from optcp.papers.lbas.rows import columns
from optcp.papers.lbas.smaller import Smaller
from optcp.papers.lbas.steady import steady
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.base import Options
    from optcp.papers.model import Key, Row
    from optcp.study import Done, Grid

RUNS = 4


class Scale(NamedTuple):
    """A network with b_D = 2 and buffers of C RTT / 10.

    Attributes
    ----------
    rate_mbps, flows
        Of a lightpath.
    seconds
        How long a run is; its first tenth is left out.
    """

    rate_mbps: int
    flows: int
    seconds: int

    @property
    def name(self) -> str:
        """Of its study."""
        return f"{self.rate_mbps} Mb/s, {self.flows} flows"

    @property
    def buffer_bytes(self) -> int:
        """C RTT / 10 with 100 ms."""
        return self.rate_mbps * 1250

    def key(self, anycast: bool) -> Key:
        """Of its rows."""
        products = self.rate_mbps * 1e6 * 0.1 / (8 * 1500)
        return {
            "rate_mbps": self.rate_mbps,
            "flows_per_lightpath": self.flows,
            "share_segments": round(products / self.flows),
            "anycast": "yes" if anycast else "no",
        }


SCALES = (Scale(100, 10, 60), Scale(400, 10, 240), Scale(400, 40, 60), Scale(1000, 100, 60))
"""The copy; four times the window; four and ten times the flows with the window of the copy."""
QUICK_SCALES = SCALES[:1]
PAPER_SCALE = Scale(10_000, 100, 600)


@exhibit
class ScaleOfCopy(Smaller):
    """Shares by rate and flows, with the stored runs of the paper's own cell."""

    id = "lbas/scale"
    title = "The first cell of the paper at several scales"
    runs = RUNS

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """A study a scale, with anycast switching and without."""
        found = {}
        for one in QUICK_SCALES if smaller.is_quick(options) else SCALES:
            network = {
                "parameters.rate": f"{one.rate_mbps} Mbps",
                "parameters.buffer": f"{one.buffer_bytes} B",
                "parameters.far_buffer": f"{one.buffer_bytes} B",
            }
            cells = [{**dict(Cell(2, one.flows, anycast).overrides()), **network} for anycast in (True, False)]
            warm_up = one.seconds // 10
            length = {
                "stop": f"{one.seconds} s",
                "parameters.warm_up": f"{warm_up} s",
                "parameters.batch": f"{one.seconds - warm_up} s",
            }
            found[one.name] = smaller.study(f"lbas, {one.name}", cells, chosen, options, length)
        return found

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows by scale; the last is the paper's, where its cell is stored for these settings."""
        rows: list[Row] = []
        for one in SCALES:
            if one.name not in done:
                continue
            for place, anycast in enumerate((True, False)):
                found = [outcome.batches(runs[place]) for _, runs in done[one.name]]
                rows += _rows(one, anycast, dict(enumerate(found)))
        if self.changed(chosen):
            return Evaluation(rows, [], [], [NOTE, "Stored long runs are left out: they are not of these settings."])
        runs = [(cell, content) for cell, content in kept_runs(DEFAULTS) if cell in CELLS[:2]]
        for cell, batches in by_cell(runs).items():
            rows += _rows(PAPER_SCALE, cell.anycast, batches)
        kept = provenance_of("inet-2011", runs)
        return Evaluation(rows, [], [], [NOTE, *not_committed(kept)], kept)


NOTE = (
    "`inet-2011`, b_D = 2. `share_segments` is a flow's share of the bandwidth-delay product. `drops_over_law` is what "
    "is dropped over what the square-root law gives at the same throughput and queue: how many losses a flow has for "
    "each halving. 10000 Mb/s are long runs that are stored with the project."
)


def _rows(one: Scale, anycast: bool, seeds: Mapping[int, outcome.Batches]) -> list[Row]:
    metrics = ("throughput_gbps", "drop_mbps", "queue_mb")
    cell = Cell(2, one.flows, anycast)
    measured = Measured({cell: seeds})
    # Batches where there are few seeds, as in the tables.
    taken, drops, queue = (measured.values(metric, [cell])[0] for metric in metrics)
    shares = columns(
        [
            {
                **smaller.shares(
                    {
                        name: values[place : place + 1]
                        for name, values in zip(metrics, (taken, drops, queue), strict=True)
                    },
                    one.rate_mbps,
                    one.buffer_bytes / 1e6,
                ),
                "drops_over_law": float(
                    drops[place] / steady(1000 * taken[place], one.flows, queue[place], one.rate_mbps).law_mbps
                ),
            }
            for place in range(taken.size)
        ]
    )
    batches = measured.batched([cell])
    return [
        row(one.key(anycast), metric, None, replace(stats.mean(values, batches=batches), n=len(seeds)), "")
        for metric, values in shares.items()
    ]
