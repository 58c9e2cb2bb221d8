"""What a failure cost the flows of a run: against the same run without it, flow by flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.data.censored import Censored
from optcp.data.table import PICOSECONDS_A_SECOND as PS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from optcp.scenarios.run import Run

LONG, SHORT = "long", "short"
"""The groups of flows of a world."""
UNCOVERED_MS = 15.0
"""Routers that detect a failure in 10 ms and have a backup are faster, and those that must converge slower."""
AFTER_S = 1.0
"""Short flows count that are under way while a path is cut or so long afterwards."""


@dataclass(frozen=True)
class Cost:
    """What one failure cost.

    Attributes
    ----------
    lost_mb
        In-order bytes that were missing by the end of the run, in MB, by group of flows.
    lost_hit_mb, lost_bystanders_mb
        The same of flows whose path the failure lay on, and of the others.
    lost_uncovered_mb
        Of those that were hit: of flows whose path was cut for longer than routers take that have a backup.
    outages
        Of each long flow that was hit: the longest time without new in-order bytes, less the usual one, in ms; cut of
        flows that were silent at the end.
    network_ms
        Of each of these flows: how long its path, or that of its ACKs, led nowhere.
    flows
        All long flows.
    inflation
        Of each short flow that was under way: its completion time over that without the failure; cut of flows that had
        not ended. Left out are flows that had not ended without the failure.
    carried_mb
        What flows got in the run without the failure, in MB.
    hit_timeouts
        How many long flows that were hit had a timer expire.
    longer
        The same ratio of long flows that were hit and have a size.
    timeouts, needless, looped
        Expiries of timers and segments that came twice, of all flows; packets that routers sent to and fro.
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
    needless: int
    looped: int

    @property
    def total_mb(self) -> float:
        """What all flows lost."""
        return sum(self.lost_mb.values())

    @property
    def outage_ms(self) -> NDArray[np.float64]:
        """The outages, up to the end of the run of flows that were silent then."""
        return self.outages.at_least

    @property
    def censored(self) -> int:
        """How many of the long flows that were hit were silent at the end."""
        return self.outages.cut

    @property
    def longer_pct(self) -> tuple[float, float]:
        """How much longer flows of ``longer`` took on average, in per cent, and a lower bound; NaN without any."""
        mean, at_least = self.longer.mean()
        return 100 * (mean - 1), 100 * (at_least - 1)


@dataclass(frozen=True)
class Flows:
    """What became of the flows of a run.

    Attributes
    ----------
    names
        In the order of the rows of the other attributes.
    long
        Which are long flows.
    bytes
        In-order bytes from the instant on from which outages count.
    gap_ms
        The longest time without any, less the usual one.
    ended
        Whether that was over before the end of the run.
    """

    names: list[str]
    long: NDArray[np.bool_]
    bytes: NDArray[np.float64]
    gap_ms: NDArray[np.float64]
    ended: NDArray[np.bool_]
    timeouts: NDArray[np.int64]
    needless: int

    @classmethod
    def of(cls, run: Run) -> Flows:
        """Read them."""
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
    """The path of a flow before anything fails: its nodes, and the ports that its data take."""

    nodes: tuple[str, ...]
    ports: frozenset[str]


def routes(run: Run) -> dict[str, Route]:
    """The path of each flow of a run, by the flow's name."""
    arrived = run.arrived
    found: dict[str, Route] = {}
    for entry in run.scenario["flows"]:
        ways = [Route(tuple(way["path"]), frozenset(way["ports"])) for way in entry["routes"]]
        if entry["group"] in arrived:
            places = arrived[entry["group"]]
            found.update({f"{entry['group']}/{number}": ways[place] for number, place in enumerate(places)})
        else:
            named = zip(entry["routes"], ways, strict=True)
            found.update({name: way for written, way in named for name in written["flows"]})
    return found


def cut_ms(run: Run) -> dict[str, float]:
    """How long each flow's path, or that of its ACKs, led nowhere: whichever was longer; of those that were cut."""
    found: dict[tuple[str, bool], float] = {}
    for one in run.cuts:
        key = one["flow"], one["ack"]
        found[key] = found.get(key, 0.0) + (one["until_ps"] - one["from_ps"]) / PS * 1000
    longest: dict[str, float] = {}
    for (flow, _), much in found.items():
        longest[flow] = max(longest.get(flow, 0.0), much)
    return longest


def cost(run: Run, twin: Run, ports: frozenset[str], nodes: frozenset[str]) -> Cost:
    """Compare a run with its twin without the failure.

    Parameters
    ----------
    ports, nodes
        What fails: ports of links, in both directions, and nodes. Flows from or to a node that fails are left out.
    """
    after, before = Flows.of(run), Flows.of(twin)
    ways = routes(twin)
    gone = {name for name, way in ways.items() if not nodes.isdisjoint((*way.nodes[:2], *way.nodes[-2:]))}
    bytes_before = dict(zip(before.names, before.bytes.tolist(), strict=True))
    kept = np.array([name in bytes_before and name not in gone for name in after.names], dtype=bool)
    on_it = {name for name, way in ways.items() if not (ports.isdisjoint(way.ports) and nodes.isdisjoint(way.nodes))}
    hit = np.array([name in on_it for name in after.names], dtype=bool)
    was = np.array([bytes_before.get(name, 0.0) for name in after.names])
    lost_mb = np.where(kept, was - after.bytes, 0.0) / 1e6
    cut = cut_ms(run)
    cuts_ms = np.array([cut.get(name, 0.0) for name in after.names])
    counted = kept & after.long & hit
    return Cost(
        lost_mb={name: float(lost_mb[after.long == (name == LONG)].sum()) for name in (LONG, SHORT)},
        lost_hit_mb=float(lost_mb[hit].sum()),
        lost_bystanders_mb=float(lost_mb[~hit].sum()),
        lost_uncovered_mb=float(lost_mb[hit & (cuts_ms > UNCOVERED_MS)].sum()),
        outages=Censored(after.gap_ms[counted], after.ended[counted]),
        network_ms=cuts_ms[counted],
        flows=int((after.long & kept).sum()),
        inflation=inflation(run, twin, gone, max(cut.values(), default=0.0) / 1000),
        carried_mb=float(was[kept].sum()) / 1e6,
        hit_timeouts=int((after.timeouts[counted] > 0).sum()),
        longer=_longer(run, twin, {name for name, one in zip(after.names, counted, strict=True) if one}),
        timeouts=int(after.timeouts.sum() - before.timeouts.sum()),
        needless=after.needless - before.needless,
        looped=run.drops.get("ttl-expired", 0),
    )


def inflation(run: Run, twin: Run, left_out: set[str], cut_s: float) -> Censored:
    """Completion times over those without the failure, of short flows under way while a path was cut or soon after.

    The end of the run cuts the ratio of a flow that has not ended. A flow that has not ended without the failure has no
    ratio, whatever becomes of it, and is left out.
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
    """Return name, start and end of each flow, and whether it ended; a flow that did not has the end of the run."""
    ends = run["ends"]
    start, end = (ends[key].astype(np.float64) / PS for key in ("start_ps", "time_ps"))
    ended = ends["finished"].astype(bool)
    return list(zip(ends["flow"].tolist(), start.tolist(), end.tolist(), ended.tolist(), strict=True))
