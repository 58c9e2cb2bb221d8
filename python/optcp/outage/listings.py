"""Complete tables of an outage study as CSV and sheets: mechanisms, failures, demands, links and loads."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp.outage import capacity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from optcp.outage.demands import DemandCost, Pair
    from optcp.outage.network import Network
    from optcp.outage.result import Result

MS_A_SECOND = 1000


@dataclass(frozen=True)
class Listing:
    """A complete table.

    Attributes
    ----------
    name
        Name of the file or sheet.
    heads
        Names of columns, with units.
    rows
        Values; None where undefined.
    """

    name: str
    heads: list[str]
    rows: list[list[Any]]

    @classmethod
    def of(cls, name: str, rows: Iterable[dict[str, Any]]) -> Listing:
        """Create a table from rows with equal keys."""
        rows = list(rows)
        heads = list(dict.fromkeys(itertools.chain.from_iterable(rows)))
        return cls(name, heads, [[_plain(row.get(head)) for head in heads] for row in rows])

    @classmethod
    def by_time(cls, of_times: Mapping[str, Listing]) -> Listing:
        """Join the tables of several times of day, with their time in the first column."""
        rows = (
            {"time": time, **dict(zip(one.heads, row, strict=True))}
            for time, one in of_times.items()
            for row in one.rows
        )
        return cls.of(next(iter(of_times.values())).name, rows)


@dataclass(frozen=True)
class Suffering:
    """Costs of all failures to one demand under one mechanism.

    Attributes
    ----------
    pair
        Nodes of the demand.
    mbps
        Volume in Mb/s.
    worst
        Failure with the largest loss of data; None if the runs have no flow of the demand.
    lost_mb
        Data lost in this failure, in MB; None without flows.
    longest_ms
        Longest stall of a long flow in any failure, in ms; None without long flows.
    ended
        Whether all stalls ended before the end of the runs. Otherwise they are lower bounds.
    seconds_a_year
        Expected stall time of a long flow in a year of single failures, in s. It is None without long flows, and for
        failures of other kinds than links and fibres.
    """

    pair: Pair
    mbps: float
    worst: str | None
    lost_mb: float | None
    longest_ms: float | None
    ended: bool
    seconds_a_year: float | None

    def document(self, network: Network) -> dict[str, Any]:
        """Return the costs as JSON values."""
        return {**vars(self), "pair": list(map(network.own_names.node, self.pair))}


def listings(result: Result) -> list[Listing]:
    """Return all tables of a result; loads only exist for failures of single links and fibres."""
    found = [
        Listing.of("mechanisms", _mechanisms(result)),
        Listing.of("failures", (result.cost_of(name, at) for name, at in _cells(result))),
        Listing.of("demands", _demands(result)),
        Listing.of("links", _links(result)),
    ]
    if result.asked.network.layers:
        found.append(Listing.of("fibres", _fibres(result)))
    return [*found, Listing.of("loads", _loads(result))] if result.loads else found


def suffering(result: Result, mechanism: str) -> list[Suffering]:
    """Return the costs to each demand under a mechanism, largest loss in a failure first."""
    asked, costs = result.asked, result.costs
    mbps = capacity.volumes(asked.network, asked.assumed.world)
    happened: dict[Pair, list[tuple[int, DemandCost]]] = {pair: [] for pair in mbps}
    for at, one in enumerate(costs.cells[mechanism,]):
        for pair, cost in one.demands.items():
            if pair in happened:
                happened[pair].append((at, cost))
    repeated = len(costs.events) // len(asked.events)
    cuts_a_year = [asked.assumed.cuts_a_1000_km / 1000 * event.km / repeated for event in costs.events]
    found = []
    for pair, of_pair in happened.items():
        if not of_pair:
            found.append(Suffering(pair, mbps[pair], None, None, None, ended=True, seconds_a_year=None))
            continue
        at, worst = max(of_pair, key=lambda one: one[1].lost_mb)
        has_long = any(cost.long_flows for _, cost in of_pair)
        silent_ms = sum(cuts_a_year[at] * cost.stalls_ms / max(cost.long_flows, 1) for at, cost in of_pair)
        found.append(
            Suffering(
                pair,
                mbps[pair],
                costs.events[at].name,
                worst.lost_mb,
                max(cost.longest_ms for _, cost in of_pair) if has_long else None,
                all(cost.ended for _, cost in of_pair),
                silent_ms / MS_A_SECOND if has_long and asked.single else None,
            )
        )
    return sorted(found, key=lambda one: -math.inf if one.lost_mb is None else one.lost_mb, reverse=True)


def _cells(result: Result) -> Iterator[tuple[str, int]]:
    return itertools.product(result.asked.mechanisms, range(len(result.asked.events)))


def _mechanisms(result: Result) -> Iterator[dict[str, Any]]:
    for mechanism, values in result.values.items():
        row: dict[str, Any] = {"mechanism": mechanism}
        for metric in values:
            written = result.value_of(mechanism, metric)
            row |= {metric: written["value"], f"{metric} low": written["ci95"][0], f"{metric} high": written["ci95"][1]}
            row |= {f"{metric} {bound}": written[bound] for bound in ("at_least", "at_most") if bound in written}
        yield row


def _demands(result: Result) -> Iterator[dict[str, Any]]:
    for mechanism in result.asked.mechanisms:
        for one in result.demands[mechanism]:
            yield demand_row(mechanism, one, result.asked.network)


def demand_row(mechanism: str, one: Suffering, network: Network) -> dict[str, Any]:
    """Return the costs to a demand by column."""
    a, b = map(network.own_names.node, one.pair)
    return {
        "mechanism": mechanism,
        "from": a,
        "to": b,
        "volume (Mb/s)": one.mbps,
        "worst failure": one.worst,
        "data lost in it (MB)": one.lost_mb,
        "longest stall (ms)": one.longest_ms,
        "stalls ended": one.ended,
        "stall time (s a year)": one.seconds_a_year,
    }


def _links(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the load of each link direction before failures and in the worst failure, by kind of backup path."""
    asked = result.asked
    network, assumed = asked.network, asked.assumed.world
    loads = result.loads
    working = next(iter(loads.values())).working if loads else capacity.working(network, assumed)
    rate = capacity.rate_of(network, assumed)
    own, shown = network.own_names.node, network.shown_links
    for name, (a, b, _, km) in zip(network.link_names(), network.links, strict=True):
        for hop in ((a, b), (b, a)):
            row = {
                "link": shown[name],
                "from": own(hop[0]),
                "to": own(hop[1]),
                "length (km)": km,
                "rate (Mb/s)": rate(hop),
                "load (Mb/s)": working.get(hop, 0.0),
                "utilisation": working.get(hop, 0.0) / rate(hop),
            }
            for kind, of_kind in loads.items():
                most, failure = max((after.get(hop, 0.0), name) for name, after in of_kind.after.items())
                row |= {
                    f"highest load, {kind} (Mb/s)": most,
                    f"utilisation, {kind}": most / rate(hop),
                    f"failure, {kind}": failure,
                }
            yield row


def _fibres(result: Result) -> Iterator[dict[str, Any]]:
    """Yield each fibre with the links over it."""
    network = result.asked.network
    for at, one in enumerate(network.layers.fibres if network.layers else ()):
        links = network.layers.links_over([at]) if network.layers else ()
        yield {
            "fibre": one.shown,
            "from": one.ends[0],
            "to": one.ends[1],
            "length (km)": one.km,
            "duct": one.duct or None,
            "wavelengths": one.wavelengths,
            "links": "; ".join(network.shown_links[name] for name in links),
        }


def _loads(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the load of each link direction before and after each failure that changes it, by kind of backup path."""
    network = result.asked.network
    own, shown = network.own_names.node, network.shown_links
    rate = capacity.rate_of(network, result.asked.assumed.world)
    directions = [
        (name, hop)
        for name, (a, b, *_) in zip(network.link_names(), network.links, strict=True)
        for hop in ((a, b), (b, a))
    ]
    links_of = {one.name: one.links for one in result.asked.events}
    for kind, loads in result.loads.items():
        for failure, after in loads.after.items():
            for name, hop in directions:
                before, load = loads.working.get(hop, 0.0), after.get(hop, 0.0)
                if name not in links_of[failure] and not math.isclose(before, load, abs_tol=1e-9):
                    yield {
                        "kind": kind,
                        "failure": failure,
                        "link": shown[name],
                        "from": own(hop[0]),
                        "to": own(hop[1]),
                        "load before (Mb/s)": before,
                        "load after (Mb/s)": load,
                        "utilisation after": load / rate(hop),
                    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - values of cells
    return None if isinstance(value, float) and not math.isfinite(value) else value
