"""Cost of a failure to each demand: the flows from one node of the network to another."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Pair = tuple[str, str]
"""Nodes of a demand."""


@dataclass(frozen=True)
class DemandCost:
    """Cost of one failure to the flows of one demand.

    Attributes
    ----------
    lost_mb
        In-order bytes missing at the end of the run, in MB, of long and short flows.
    long_flows
        Number of long flows.
    stalls_ms
        Sum of the stalls of affected long flows, in ms.
    longest_ms
        Longest of these stalls.
    ended
        Whether all these stalls ended before the end of the run. Otherwise the stalls are lower bounds.
    """

    lost_mb: float
    long_flows: int
    stalls_ms: float
    longest_ms: float
    ended: bool


def by_demand(
    pairs: Sequence[Pair],
    lost_mb: NDArray[np.float64],
    long: NDArray[np.bool_],
    affected: NDArray[np.bool_],
    stall_ms: NDArray[np.float64],
    ended: NDArray[np.bool_],
) -> dict[Pair, DemandCost]:
    """Return the cost of a failure to each demand.

    Parameters
    ----------
    pairs
        Demand of each flow.
    lost_mb, long, affected, stall_ms, ended : arrays of shape (flows,)
        Lost data. Whether a flow is long. Whether it is a long flow whose path includes the failure. Its stall. Whether
        the stall ended before the end of the run.
    """
    places: dict[Pair, list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        places[pair].append(place)
    found = {}
    for pair, of_pair in places.items():
        at = np.array(of_pair)
        hit = at[affected[at]]
        found[pair] = DemandCost(
            lost_mb=float(lost_mb[at].sum()),
            long_flows=int(long[at].sum()),
            stalls_ms=float(stall_ms[hit].sum()),
            longest_ms=float(stall_ms[hit].max(initial=0.0)),
            ended=bool(ended[hit].all()),
        )
    return found
