"""Parameter combinations of a switchover onto one link, with their predicted buffers."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.data.table import Table
from optcp.papers.kit import Settings
from optcp_papers.buffers.fluid import fluid_bytes
from optcp_papers.buffers.law import PACKET_BYTES, Flows, switchover_bytes
from optcp_papers.buffers.paper import ACCESS_MBPS

CAPACITY_MBPS, RTT_S = 200, 0.04
BDP_PACKETS = CAPACITY_MBPS * 1e6 * RTT_S / (8 * PACKET_BYTES)
AT_S, ENDS_S = 9.0, 9.4
"""Time of the switchover, and of ten RTTs after it. BBR first probes for its minimum RTT after ten seconds."""
HEAD_END_S = 0.066
"""Time from a failure to the switchover at the head end: detection, and a message over the protection link."""
FULL = CAPACITY_MBPS // ACCESS_MBPS
LOADS = ("0.3", "0.6", "0.9")
SHARES = ("0.2", "0.5", "0.8")
STEPS = {"0.5": "18 ms", "1": "8 ms", "1.47": "4802721088 ps", "2": "3 ms"}
"""Delay of each link of the working path, by RTT of the protection path over the one of the working path."""
TRIGGERS: dict[str, Settings] = {
    "command": {},
    "failure": {"protection.0.commands": [], "parameters.fails": f"{AT_S - HEAD_END_S:g} s"},
}
AQMS: dict[str, Settings] = {
    kind: {"links.3.queue": {"kind": kind, "limit": "unlimited"}} for kind in ("codel", "fq-codel")
}


def loads(names: tuple[str, ...] = LOADS) -> dict[str, Settings]:
    """Return the axis ``load``: flows of the protection link, by their load."""
    return {name: {"parameters.own": round(float(name) * FULL)} for name in names}


def shares(names: tuple[str, ...] = SHARES) -> dict[str, Settings]:
    """Return the axis ``switched``: flows of the working path, by their share of the protection link."""
    return {name: {"parameters.switched": round(float(name) * FULL)} for name in names}


def steps(names: tuple[str, ...] = tuple(STEPS)) -> dict[str, Settings]:
    """Return the axis ``rtt``: delays of the working path."""
    return {
        name: {
            "parameters.working_delay": STEPS[name],
            "parameters.working_rtt": f"{RTT_S / float(name) * 1e12:.0f} ps",
        }
        for name in names
    }


@dataclass(frozen=True)
class Cell:
    """One combination.

    Attributes
    ----------
    load, share
        Rates of own and of switched flows, over the rate of the protection link.
    step
        RTT of the protection path over the one of the working path.
    failed
        Whether a failure causes the switchover.
    """

    load: float
    share: float
    step: float = 1.0
    failed: bool = False

    @property
    def overloads(self) -> bool:
        """Whether the flows exceed the protection link."""
        return self.load + self.share > 1 + 1e-9

    @property
    def rule_packets(self) -> float:
        """Buffer by the rule of 2004, in packets."""
        return BDP_PACKETS / math.sqrt(round((self.load + self.share) * FULL))

    @property
    def flows(self) -> tuple[Flows, Flows]:
        """Own and switched flows after the switchover."""
        rate = ACCESS_MBPS * 1e6
        own = Flows(round(self.load * FULL), rate, RTT_S, RTT_S)
        return own, Flows(round(self.share * FULL), rate, RTT_S / self.step, RTT_S, self.failed)

    def law_packets(self, tcp: str) -> float:
        """Return the predicted buffer, in packets."""
        return switchover_bytes(tcp, self.flows, CAPACITY_MBPS * 1e6, RTT_S) / PACKET_BYTES

    def fluid_packets(self, tcp: str) -> float:
        """Return the buffer by the fluid model, in packets."""
        return fluid_bytes(tcp, self.flows, CAPACITY_MBPS * 1e6, RTT_S) / PACKET_BYTES


def after(table: Table) -> NDArray[np.bool_]:
    """Return the rows of the first ten RTTs after the switchover."""
    rows: NDArray[np.bool_] = (table["time_ps"] > AT_S * PS) & (table["time_ps"] <= ENDS_S * PS)
    return rows


def at_protection(table: Table) -> NDArray[np.bool_]:
    """Return the rows of the protection link in these RTTs."""
    rows: NDArray[np.bool_] = after(table) & (np.asarray(table["port"]) == "A->B")
    return rows
