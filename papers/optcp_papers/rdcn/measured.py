"""What is measured of a run: how well the circuit is used, and how long packets take through the switch."""

import numpy as np

from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.papers.kit import Cells, Run, StudyResult
from optcp_papers.rdcn.world import DAY_US, DAYS, DILATION, NIGHT_US

CIRCUIT_BPS = 80e9 / DILATION
WIRE_BYTES = 9000
"""Of a full segment; 8948 of them are payload."""
PAYLOAD_SHARE = 8948 / WIRE_BYTES
PS_A_US = 1e6 * DILATION
CLASSES = {"all": "voq:tor2->tor3", "circuit": "circuit:tor2->tor3", "packet": "tor2->core"}
"""The port whose times are those of a class of packets."""


def circuit_util_pct(done: StudyResult) -> Cells:
    """Payload over the circuit, over what its days carry (the paper's definition: nothing is cut off)."""
    return utilisation(done, DAY_US / (DAYS * (DAY_US + NIGHT_US)))


def utilisation(done: StudyResult, share: float) -> Cells:
    """The same where the data have the circuit for such a share of the time."""
    branches = done.grid.branches
    stops_s = [branch.resolved["stop_ps"] / PS for branch in branches]

    def of(run: Run, stop_s: float) -> float:
        carried = run["load"].where(port=CLASSES["circuit"])["bytes"]
        return circuit_pct(float(carried.sum()), share * stop_s)

    found = [
        [of(done.run(branch, seed), stop_s) for branch, stop_s in zip(branches, stops_s, strict=True)]
        for seed in done.seeds
    ]
    return done.cells(np.array(found), name="circuit_util_pct", unit="%")


def circuit_pct(carried_bytes: float, days_s: float) -> float:
    """Payload of what was carried over what days of so many seconds, together, could carry."""
    return 100 * 8 * PAYLOAD_SHARE * carried_bytes / (CIRCUIT_BPS * days_s)


def latencies_us(done: StudyResult) -> dict[str, Cells]:
    """Median and 99th percentile of the time through the switch, by class; printed values are rounded down to 1 us."""
    found = {}
    for name, port in CLASSES.items():
        for quantile in ("p50", "p99"):

            def of(run: Run, port: str = port, quantile: str = quantile) -> float:
                transit = run["transit"].where(port=port)
                time_ps = float(transit[f"{quantile}_ps"][0])
                return time_ps / PS_A_US if transit["packets"][0] else np.nan

            found[f"{quantile}_{name}_us"] = done.each(of, name=f"{quantile}_{name}_us", unit="us")
    return found
