"""Metrics of a run: utilisation of the circuit, and transit times of packets through the switch."""

import numpy as np

from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.papers.kit import Cells, Run, StudyResult
from optcp_papers.rdcn.world import DAY_US, DAYS, DILATION, NIGHT_US

CIRCUIT_BPS = 80e9 / DILATION
WIRE_BYTES = 9000
"""Size of a full segment, of which 8948 bytes are payload."""
PAYLOAD_SHARE = 8948 / WIRE_BYTES
PS_A_US = 1e6 * DILATION
CLASSES = {"all": "voq:tor2->tor3", "circuit": "circuit:tor2->tor3", "packet": "tor2->core"}
"""Port that measures the transit times of a class of packets."""


def circuit_util_pct(done: StudyResult) -> Cells:
    """Return payload over the circuit, relative to the capacity of its days (the paper's definition: no clipping)."""
    return utilisation(done, DAY_US / (DAYS * (DAY_US + NIGHT_US)))


def utilisation(done: StudyResult, share: float) -> Cells:
    """Return the utilisation if the data have the circuit for this share of the time."""
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
    """Return the payload of the carried bytes, in % of the capacity of days of ``days_s`` in total."""
    return 100 * 8 * PAYLOAD_SHARE * carried_bytes / (CIRCUIT_BPS * days_s)


def latencies_us(done: StudyResult) -> dict[str, Cells]:
    """Return median and 99th percentile of the transit time, by class; published values are rounded down to 1 us."""
    found = {}
    for name, port in CLASSES.items():
        for quantile in ("p50", "p99"):

            def of(run: Run, port: str = port, quantile: str = quantile) -> float:
                transit = run["transit"].where(port=port)
                time_ps = float(transit[f"{quantile}_ps"][0])
                return time_ps / PS_A_US if transit["packets"][0] else np.nan

            found[f"{quantile}_{name}_us"] = done.each(of, name=f"{quantile}_{name}_us", unit="us")
    return found
