"""Cost of a failure to the flows of a run, relative to the same run without the failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.data.censored import Censored
from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.outage.demands import by_demand

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from optcp.outage.demands import DemandCost, Pair
    from optcp.scenarios.run import Run

LONG, SHORT = "long", "short"
"""Flow groups of outage scenarios."""
UNCOVERED_MS = 15.0
"""Path outage in ms that separates routers with a backup (10 ms detection) from routers that must converge."""
AFTER_S = 1.0
"""Time after a path outage, in s, in which active short flows still count."""


@dataclass(frozen=True)
class Cost:
    """Cost of one failure, as differences from the run without it.

    Attributes
    ----------
    lost_mb
        In-order bytes missing at the end of the run, in MB, by flow group.
    lost_hit_mb, lost_bystanders_mb
        Part of affected flows, whose path includes the failure, and of other flows.
    lost_uncovered_mb
        Part of ``lost_hit_mb`` of flows with a path outage of more than ``UNCOVERED_MS``.
    outages
        Stall of each affected long flow: longest time without new in-order bytes, minus the usual one, in ms. It is
        censored if the flow was stalled at the end of the run.
    network_ms : array of shape (affected long flows,)
        Time for which the data path or the ACK path was broken, whichever was longer, in ms.
    flows
        Number of long flows.
    inflation
        Completion time of each active short flow, relative to the run without the failure; censored if unfinished.
        Flows that do not finish without the failure are excluded.
    carried_mb
        In-order bytes delivered without the failure, in MB.
    hit_timeouts
        Number of affected long flows with an RTO.
    longer
        The ratio of ``inflation`` for affected long flows of finite size.
    timeouts, spurious
        Additional RTOs and segments received twice, over all flows.
    looped
        Number of packets dropped because their time to live expired.
    demands
        Cost to each demand, by its nodes. Demands of excluded flows are omitted.
    """

    lost_mb: Mapping[str, float]
    lost_hit_mb: float
    lost_bystanders_mb: float
    lost_uncovered_mb: float
    outages: Censored
    network_ms: NDArray[np.float64]
    flows: int
    inflation: Censored
    carried_mb: float
    hit_timeouts: int
    longer: Censored
    timeouts: int
    spurious: int
    looped: int
    demands: Mapping[Pair, DemandCost]

    @property
    def total_mb(self) -> float:
        """Data lost by all flows, in MB."""
        return sum(self.lost_mb.values())

    @property
    def outage_ms(self) -> NDArray[np.float64]:
        """Stalls in ms, up to the end of the run for flows that were stalled then."""
        return self.outages.at_least

    @property
    def censored(self) -> int:
        """Number of affected long flows that were stalled at the end of the run."""
        return self.outages.cut

    @property
    def longer_pct(self) -> tuple[float, float]:
        """Mean increase of ``longer`` in per cent, and its lower bound; NaN without flows."""
        mean, at_least = self.longer.mean()
        return 100 * (mean - 1), 100 * (at_least - 1)


@dataclass(frozen=True)
class Flows:
    """Transfer results of the flows of a run.

    Attributes
    ----------
    names
        Names of flows, in the order of the other attributes.
    long
        Whether a flow is long.
    bytes
        In-order bytes from the time at which the observation of stalls starts.
    gap_ms
        Longest time without new bytes, minus the usual one, in ms.
    ended
        Whether this gap ended before the end of the run.
    timeouts
        Number of RTOs.
    spurious
        Number of segments received twice, over all flows.
    """

    names: list[str]
    long: NDArray[np.bool_]
    bytes: NDArray[np.float64]
    gap_ms: NDArray[np.float64]
    ended: NDArray[np.bool_]
    timeouts: NDArray[np.int64]
    spurious: int

    @classmethod
    def of(cls, run: Run) -> Flows:
        """Read the observation of a run."""
        seen = run["outages"]
        gap = seen["gap_ps"].astype(np.float64) - seen["usual_gap_ps"].astype(np.float64)
        return cls(
            seen["flow"].tolist(),
            seen["group"] == LONG,
            seen["bytes"].astype(np.float64),
            np.maximum(gap, 0) / PS * 1000,
            seen["ended"].astype(bool),
            seen["timeouts"].astype(np.int64),
            int(seen["needless"].sum()),
        )


@dataclass(frozen=True)
class Route:
    """Path of a flow before failures: nodes, and ports that its data traverse."""

    nodes: tuple[str, ...]
    ports: frozenset[str]

    @property
    def ends(self) -> Pair:
        """Nodes of the network at the ends of the path, next to the hosts."""
        return self.nodes[1], self.nodes[-2]


def routes(run: Run) -> dict[str, Route]:
    """Return the path of each flow of a run, by name."""
    arrived = run.arrived
    found: dict[str, Route] = {}
    for entry in run.scenario["flows"]:
        paths = [Route(tuple(one["path"]), frozenset(one["ports"])) for one in entry["routes"]]
        if entry["group"] in arrived:
            places = arrived[entry["group"]]
            found.update({f"{entry['group']}/{number}": paths[place] for number, place in enumerate(places)})
        else:
            named = zip(entry["routes"], paths, strict=True)
            found.update({name: path for written, path in named for name in written["flows"]})
    return found


def cut_ms(run: Run) -> dict[str, float]:
    """Return the path outage of each interrupted flow in ms, of data or ACKs, whichever is longer."""
    found: dict[tuple[str, bool], float] = {}
    for one in run.cuts:
        key = one["flow"], one["ack"]
        found[key] = found.get(key, 0.0) + (one["until_ps"] - one["from_ps"]) / PS * 1000
    longest: dict[str, float] = {}
    for (flow, _), duration in found.items():
        longest[flow] = max(longest.get(flow, 0.0), duration)
    return longest


def cost(run: Run, twin: Run, ports: frozenset[str], nodes: frozenset[str]) -> Cost:
    """Compare a run with its twin without the failure.

    Parameters
    ----------
    ports, nodes
        Failing ports of links, in both directions, and failing nodes. Flows from or to a failing node are excluded.
    """
    after, before = Flows.of(run), Flows.of(twin)
    paths = routes(twin)
    excluded = {name for name, path in paths.items() if not nodes.isdisjoint((*path.nodes[:2], *path.nodes[-2:]))}
    bytes_before = dict(zip(before.names, before.bytes.tolist(), strict=True))
    kept = np.array([name in bytes_before and name not in excluded for name in after.names], dtype=bool)
    cut = cut_ms(run)
    if (twin.scenario.get("routing") or {}).get("ecmp"):
        # Each flow has the path of its hash, so that a failure affects those whose path breaks.
        affected = set(cut)
    else:
        affected = {
            name for name, path in paths.items() if not (ports.isdisjoint(path.ports) and nodes.isdisjoint(path.nodes))
        }
    hit = np.array([name in affected for name in after.names], dtype=bool)
    was = np.array([bytes_before.get(name, 0.0) for name in after.names])
    lost_mb = np.where(kept, was - after.bytes, 0.0) / 1e6
    cuts_ms = np.array([cut.get(name, 0.0) for name in after.names])
    counted = kept & after.long & hit
    ends = [paths[name].ends for name, one in zip(after.names, kept, strict=True) if one]
    of_kept = (lost_mb, after.long, counted, after.gap_ms, after.ended)
    return Cost(
        lost_mb={name: float(lost_mb[after.long == (name == LONG)].sum()) for name in (LONG, SHORT)},
        lost_hit_mb=float(lost_mb[hit].sum()),
        lost_bystanders_mb=float(lost_mb[~hit].sum()),
        lost_uncovered_mb=float(lost_mb[hit & (cuts_ms > UNCOVERED_MS)].sum()),
        outages=Censored(after.gap_ms[counted], after.ended[counted]),
        network_ms=cuts_ms[counted],
        flows=int((after.long & kept).sum()),
        inflation=inflation(run, twin, excluded, max(cut.values(), default=0.0) / 1000),
        carried_mb=float(was[kept].sum()) / 1e6,
        hit_timeouts=int((after.timeouts[counted] > 0).sum()),
        longer=_longer(run, twin, {name for name, one in zip(after.names, counted, strict=True) if one}),
        timeouts=int(after.timeouts.sum() - before.timeouts.sum()),
        spurious=after.spurious - before.spurious,
        looped=run.drops.get("ttl-expired", 0),
        demands=by_demand(ends, *(values[kept] for values in of_kept)),
    )


def inflation(run: Run, twin: Run, left_out: set[str], cut_s: float) -> Censored:
    """Return relative completion times of short flows that were active during a path outage or ``AFTER_S`` later.

    The ratio of an unfinished flow is censored. Flows that do not finish without the failure are excluded.
    """
    failed_s = min((one["from_ps"] for one in run.cuts), default=None)
    if failed_s is None:
        return _observed([])
    begin_s, end_s = failed_s / PS, failed_s / PS + cut_s + AFTER_S
    took = {name: (start, end) for name, start, end, ended in _completions(twin) if ended}
    return _observed(
        ((end - start) / (took[name][1] - start), ended)
        for name, start, end, ended in _completions(run)
        if name in took and name not in left_out and start < end_s and took[name][1] > begin_s
    )


def _longer(run: Run, twin: Run, names: set[str]) -> Censored:
    took = {name: end - start for name, start, end, ended in _completions(twin) if ended}
    return _observed(
        ((end - start) / took[name], ended)
        for name, start, end, ended in _completions(run)
        if name in names and name in took
    )


def _observed(found: Iterable[tuple[float, bool]]) -> Censored:
    pairs = list(found)
    at_least, known = np.array([value for value, _ in pairs]), np.array([known for _, known in pairs], dtype=bool)
    return Censored(at_least, known, informative=True)


def _completions(run: Run) -> list[tuple[str, float, float, bool]]:
    """Return name, start, end and completion of each flow; others end with the run, or when the sender gives up."""
    ends = run["ends"]
    start, end = (ends[key].astype(np.float64) / PS for key in ("start_ps", "time_ps"))
    ended = ends["finished"].astype(bool)
    return list(zip(ends["flow"].tolist(), start.tolist(), end.tolist(), ended.tolist(), strict=True))
