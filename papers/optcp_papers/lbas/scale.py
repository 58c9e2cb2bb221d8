"""Effect of scaling: the first combination of the paper at several scales."""

from typing import NamedTuple

from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Key, Options, Row, Settings, row
from optcp_papers.lbas import outcome, smaller
from optcp_papers.lbas.long_runs import not_committed, stored
from optcp_papers.lbas.outcome import Measured
from optcp_papers.lbas.paper import CELLS, DEFAULTS, Cell
from optcp_papers.lbas.steady import steady

NOTE = (
    "`inet-2011`, b_D = 2. `share_segments` is a flow's share of the bandwidth-delay product. `drops_over_law` is the "
    "ratio of drops to the square-root law at the same throughput and queue: the number of losses per halving of a "
    "flow's window. 10000 Mb/s are long runs that are stored with the project."
)


class Scale(NamedTuple):
    """Network with b_D = 2 and buffers of C RTT / 10.

    Attributes
    ----------
    rate_mbps, flows
        Rate of a lightpath, and number of flows per lightpath.
    seconds
        Length of a run; its first tenth is warm-up.
    """

    rate_mbps: int
    flows: int
    seconds: int

    @property
    def name(self) -> str:
        """Name of the study."""
        return f"{self.rate_mbps} Mb/s, {self.flows} flows"

    @property
    def buffer_bytes(self) -> int:
        """C RTT / 10 with an RTT of 100 ms, in bytes."""
        return self.rate_mbps * 1250

    def key(self, anycast: bool) -> Key:
        """Return the key of the rows."""
        products = self.rate_mbps * 1e6 * 0.1 / (8 * 1500)
        return {
            "rate_mbps": self.rate_mbps,
            "flows_per_lightpath": self.flows,
            "share_segments": round(products / self.flows),
            "anycast": "yes" if anycast else "no",
        }


SCALES = (Scale(100, 10, 60), Scale(400, 10, 240), Scale(400, 40, 60), Scale(1000, 100, 60))
"""Scales: the copy, a four times larger window, and four and ten times the flows with the window of the copy."""
QUICK_SCALES = SCALES[:1]
PAPER_SCALE = Scale(10_000, 100, 600)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per scale, with and without anycast switching."""

    def make_grid(scale: Scale) -> Grid:
        buffer, warm_up = f"{scale.buffer_bytes} B", scale.seconds // 10

        def settings(anycast: str) -> Settings:
            network = {"parameters.rate": f"{scale.rate_mbps} Mbps", "parameters.buffer": buffer}
            return {**smaller.network(2, scale.flows, anycast), **network, "parameters.far_buffer": buffer}

        length = {
            "stop": f"{scale.seconds} s",
            "parameters.warm_up": f"{warm_up} s",
            "parameters.batch": f"{scale.seconds - warm_up} s",
        }
        return smaller.grid(f"lbas, {scale.name}", {"anycast": ("yes", "no")}, settings, chosen, options, length)

    return {scale.name: make_grid(scale) for scale in (QUICK_SCALES if options.size.is_quick else SCALES)}


def find(found: Found) -> Findings:
    """Return rows by scale; the last is the paper's scale, if its runs are stored for these settings."""
    rows: list[Row] = []
    for scale in (scale for scale in SCALES if scale.name in found.done):
        cells = (Cell(2, scale.flows, anycast) for anycast in (True, False))
        runs = found.done[scale.name].once(outcome.of_study)
        rows += rows_of(scale, Measured(dict(zip(cells, runs, strict=True))))
    if found.changed:
        return Findings(rows, notes=[NOTE, "Stored long runs are omitted, because they have other settings."])
    kept = stored(DEFAULTS, CELLS[:2])
    rows += rows_of(PAPER_SCALE, kept.measured)
    return Findings(rows, notes=[NOTE, *not_committed(kept.origin)], kept=kept.origin)


def rows_of(scale: Scale, measured: Measured) -> list[Row]:
    """Return the rows of the simulated combinations of a scale."""
    rows = []
    for cell in measured.cells:
        # With few seeds batches are used, as in the tables.
        if alone := measured.together([cell]):
            counted = {metric: alone.values(metric)[0] for metric in smaller.COUNTED}
            shares = smaller.shares(counted, scale.rate_mbps, scale.buffer_bytes / 1e6)
            each = zip(1000 * counted["throughput_gbps"], counted["queue_mb"], strict=True)
            law_mbps = [steady(mbps, scale.flows, queue_mb, scale.rate_mbps).law_mbps for mbps, queue_mb in each]
            shares["drops_over_law"] = counted["drop_mbps"] / law_mbps
            key = scale.key(cell.anycast)
            rows += [row(key, metric, None, alone.mean(values), "") for metric, values in shares.items()]
    return rows


SCALE = Exhibit(
    "lbas/scale",
    "The first cell of the paper at several scales",
    "beyond the paper",
    smaller.setup(grids, runs=4),
    find,
)
