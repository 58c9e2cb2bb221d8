"""Availability of a flow over a year of link failures, for the network and for TCP."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from optcp.outage import resampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optcp.outage.durations import LogNormal
    from optcp.outage.resampled import Resampled
    from optcp.outage.study import Costs

YEAR_MS = 365.25 * 86_400_000


@dataclass(frozen=True)
class Year:
    """Mean downtime of a flow over a year of link failures: time without a path and without goodput."""

    network_ms: Resampled
    tcp_ms: Resampled
    is_cut: bool = False
    """Whether the end of a run censors outages: then ``tcp_ms`` is a lower bound, ``nines_tcp`` an upper one."""

    @property
    def nines_net(self) -> Resampled:
        """Availability of the network in nines."""
        return nines(self.network_ms)

    @property
    def nines_tcp(self) -> Resampled:
        """Availability for TCP in nines."""
        return nines(self.tcp_ms)


def nines(silent_ms: Resampled) -> Resampled:
    """Convert downtime to nines: -log10 of its share of the year; NaN without downtime."""
    samples = np.where(silent_ms.samples > 0, silent_ms.samples, np.nan)
    estimate = -math.log10(silent_ms.estimate / YEAR_MS) if silent_ms.estimate > 0 else math.nan
    return replace(silent_ms, estimate=estimate, samples=-np.log10(samples / YEAR_MS))


def year(costs: Costs, at: tuple[str, ...], cuts_a_1000_km: float, durations: LogNormal | None = None) -> Year:
    """Compute the downtime of a year from the outages that each failure caused.

    An outage that lasts to the end of the run counts up to there: :attr:`Year.is_cut`. With a distribution of
    durations, a repair ends the outage of the network. TCP's stalls are from the runs, whose failures last.
    """
    a_year = cuts_a_1000_km / 1000 * float(costs.weights.sum())
    broken_ms = [one.network_ms for one in costs.cells[at]]
    if durations is not None:
        broken_ms = [1000 * durations.broken_s(one / 1000) for one in broken_ms]
    network, tcp = (
        _downtime(costs, at, of).times(a_year) for of in (broken_ms, [one.outage_ms for one in costs.cells[at]])
    )
    return Year(network, tcp, any(one.censored for one in costs.cells[at]))


def unprotected_ms(costs: Costs, at: tuple[str, ...], cuts_a_1000_km: float, durations: LogNormal) -> Resampled:
    """Compute the network's downtime of a year if each affected flow waits for the repair."""
    a_year = cuts_a_1000_km / 1000 * float(costs.weights.sum())
    broken_ms = [np.full(one.network_ms.size, 1000 * durations.mean_s) for one in costs.cells[at]]
    return _downtime(costs, at, broken_ms).times(a_year)


def _downtime(costs: Costs, at: tuple[str, ...], silent_ms: list[NDArray[np.float64]]) -> Resampled:
    """Return the mean downtime of a flow per failure, from the downtimes of affected flows."""
    flows = costs.cells[at][0].flows
    return resampled.mean([float(one.sum()) / flows for one in silent_ms], costs.weights)
