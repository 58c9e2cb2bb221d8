"""Table 8: switchover time of each scheme, additional delay of its path, and packets lost."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from optcp import stats
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, rows
from optcp.papers.kit import Cells, Grid, Key, Options, Part, Row, StudyResult, judge, row, runs_of
from optcp_papers.gmpls import section6, section8
from optcp_papers.gmpls.paper import FAILURE_S, PAPER_RUNS, PS, REPAIR_S
from optcp_papers.gmpls.probes import ONE_PACKET, one_way_ps, shortest_round_trips_ps
from optcp_papers.gmpls.section8 import (
    DELTA_MS,
    GRID,
    LOCAL,
    LOCAL_BACKUP,
    LOOPBACK,
    MECHANISMS,
    PATH,
    PATH_BACKUP,
    SCENARIOS,
    VARIANT,
    WORKING_LINKS,
    Delays,
)

PROBES = "probes"
ROUND_TRIPS = {"section 8": 216.0, "section 6": float(section6.MEAN_RTT_MS)}
"""Published mean propagation RTTs, in ms."""
ROUND_TRIPS_UNTIL_S = 3.0
BEFORE_S, DURING_S, AFTER_S = (2.0, 4.5), (7.0, 9.5), (10.7, 11.2)
ACCESS_LINKS = 3
LOST_MARGIN_PCT = 10.0
DIRECTIONS = ("data", "acks")
DEAD_LINK = {"data": "L1->L2", "acks": "L2->L1"}
DELTA = DELTA_MS[0]
MS_PS = PS // 1000

ROUTE_LINKS = {
    LOCAL: WORKING_LINKS + len(LOCAL_BACKUP) - 2,
    PATH: len(PATH_BACKUP) - 1,
    LOOPBACK: len(PATH_BACKUP) + 1,
    VARIANT: len(PATH_BACKUP) - 1,
}
"""Number of backbone links on the path after the switchover. A loop adds one link, traversed in both directions."""
WHY = "Table 8 is arithmetic, so a difference is an error of the simulation or of its topology."

Phases = list[tuple[set[int], set[int]]]
"""Delays before, during and after the outage, of data and of ACKs, as sets in ps."""


@dataclass(frozen=True)
class Switch:
    """Switchover of one node.

    Attributes
    ----------
    node, packets
        Name of the node, and "data" or "acks".
    to
        "backup" or "working".
    at_ps
        Time of the switchover, in ps.
    """

    node: str
    packets: str
    to: str
    at_ps: int


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the shared grid, probes by scenario and scheme, and probes of all sources of sections 6 and 8."""
    alone = {**ONE_PACKET, "parameters.sources": 1}
    whole = {**ONE_PACKET, "stop": f"{ROUND_TRIPS_UNTIL_S:g} s", "failures": [], "protection": []}
    return {
        **section8.grids(chosen, options),
        PROBES: section8.grid(chosen, options, "gmpls table 8, probes", alone, delta_ms=[DELTA]),
        "section 8": section8.grid(
            chosen,
            options,
            "gmpls table 8, round trips",
            whole,
            scenarios=SCENARIOS[:1],
            delta_ms=[DELTA],
            mechanisms=[LOCAL],
        ),
        "section 6": section6.grid(chosen, options, "gmpls table 8, round trips of section 6", [1], [5], whole),
    }


@dataclass(frozen=True)
class Measured:
    """Results that the table and its judgements need, with a switch delay of 5 ms.

    Attributes
    ----------
    lost
        Number of packets lost at and on the dead link L1-L2, by direction, over ``scenario`` and ``mechanism``.
        Packets dropped by queues are excluded.
    arriving_bytes
        Bytes that the link carried in (4 s, 5 s], by direction, over ``scenario``.
    switches
        Switchovers by (scenario, mechanism).
    probes
        One-way delays by (scenario, mechanism).
    round_trips_ps
        Mean over the sources of the shortest RTT, by network, in ps.
    packet_bytes
        Packet size by direction, in bytes.
    access_bps, backbone_bps
        Link rates, in bit/s.
    """

    lost: Mapping[str, Cells]
    arriving_bytes: Mapping[str, Cells]
    switches: Mapping[tuple[str, str], list[Switch]]
    probes: Mapping[tuple[str, str], Phases]
    round_trips_ps: Mapping[str, Cells]
    packet_bytes: Mapping[str, float]
    access_bps: float
    backbone_bps: float

    @classmethod
    def of(cls, found: Found) -> Measured:
        """Evaluate the runs."""
        done, backbone_bps = found.done[GRID], found.number("backbone_bps")
        return cls(
            lost=count_lost(done),
            arriving_bytes=count_arriving(done),
            switches=switches(done),
            probes=probes(found.done[PROBES]),
            round_trips_ps={world: mean_round_trip_ps(found.done[world]) for world in ROUND_TRIPS},
            packet_bytes={
                "data": found.number("packet_bytes"),
                "acks": float(done.grid.branches[0].resolved["tcp"]["all"]["ack_size_bytes"]),
            },
            access_bps=found.number("access_share") * backbone_bps,
            backbone_bps=backbone_bps,
        )

    def extra_ps(self, scenario: str, mechanism: str) -> tuple[list[int], bool]:
        """Return the additional propagation delay of data and of ACKs during the outage, and whether it is exact.

        It is exact if every delay has one value and the delays after the repair equal the delays before the failure.
        """
        before, during, after = self.probes[scenario, mechanism]
        exact = before == after and all(len(delays) == 1 for phase in (before, during) for delays in phase)
        extra_links = ROUTE_LINKS[mechanism] - WORKING_LINKS
        extra = [
            max(longer) - max(normal) - extra_links * transmission_ps(self.packet_bytes[packets], self.backbone_bps)
            for packets, normal, longer in zip(DIRECTIONS, before, during, strict=True)
        ]
        return extra, exact

    def propagation_ms(self, world: str) -> Cells:
        """Return the mean propagation RTT: the shortest RTTs without transmission times, in ms."""
        off = sum(
            ACCESS_LINKS * transmission_ps(size, self.access_bps)
            + WORKING_LINKS * transmission_ps(size, self.backbone_bps)
            for size in self.packet_bytes.values()
        )
        return (self.round_trips_ps[world] - off) / MS_PS


def transmission_ps(size: float, rate_bps: float) -> int:
    """Return the transmission time of a packet in ps, rounded up like in the simulator."""
    return int(-(-8 * int(size) * PS // int(rate_bps)))


def count_lost(done: StudyResult) -> dict[str, Cells]:
    """Count the lost packets, by direction (:attr:`Measured.lost`)."""
    drops, ports = done["drops"], tuple(DEAD_LINK.values())

    def select(packets: str) -> Cells:
        lost = drops.count(port=ports, reason=lambda reason: reason != "queue-full", ack=packets == "acks")
        return lost.at(delta_ms=DELTA)

    return {packets: select(packets) for packets in DIRECTIONS}


def count_arriving(done: StudyResult) -> dict[str, Cells]:
    """Count the arriving bytes, by direction (:attr:`Measured.arriving_bytes`). Schemes only differ after 5 s."""
    bytes_ = done["load"].between(FAILURE_S - 1, FAILURE_S).at(delta_ms=DELTA, mechanism=LOCAL)
    return {packets: bytes_.at(port=port) for packets, port in DEAD_LINK.items()}


def switches(done: StudyResult) -> dict[tuple[str, str], list[Switch]]:
    """Return the distinct switchovers by (scenario, mechanism), in order of time and node."""
    table, run = done.rows("switches")
    columns = [table[name].tolist() for name in ("node", "packets", "to", "time_ps")]
    cells = list(itertools.product(SCENARIOS, DELTA_MS, MECHANISMS))
    of_run: list[set[Switch]] = [set() for _ in range(len(done.seeds) * len(cells))]
    for at, *item in set(zip(run.tolist(), *columns, strict=True)):
        of_run[at].add(Switch(*item))
    if of_run != of_run[: len(cells)] * len(done.seeds):
        raise RuntimeError("runs of one scenario switch at different times")
    return {
        (scenario, mechanism): ordered(found)
        for (scenario, delta, mechanism), found in zip(cells, of_run, strict=False)
        if delta == DELTA
    }


def ordered(switches: Iterable[Switch]) -> list[Switch]:
    """Sort switchovers by time and node."""
    return sorted(switches, key=lambda switch: (switch.at_ps, switch.node, switch.packets))


def probes(done: StudyResult) -> dict[tuple[str, str], Phases]:
    """Return the one-way delays before, during and after the outage, by (scenario, mechanism)."""
    (seed,) = done.seeds
    runs = (done.run(branch, seed) for branch in done.grid.branches)
    return {
        cell: [one_way_ps(run, *window) for window in (BEFORE_S, DURING_S, AFTER_S)]
        for cell, run in zip(itertools.product(SCENARIOS, MECHANISMS), runs, strict=True)
    }


def mean_round_trip_ps(done: StudyResult) -> Cells:
    """Return the mean over the sources of their shortest RTTs, of a grid with one combination."""
    shortest = done.each(lambda run: shortest_round_trips_ps(run).mean())
    return shortest.total(*(axis.name for axis in shortest.axes))


def expected_switches(scenario: str, mechanism: str, delta_ms: int) -> list[Switch]:
    """Return the switchovers by section 8.1, per node and direction, in order of time and node."""
    delays = Delays.of(scenario)
    result = []
    adjacent = [("L1", "data", 0), ("L2", "acks", 0)]
    ends = [("L0", "data", delays.a), ("L3", "acks", delays.c)]
    acting = {LOCAL: adjacent, LOOPBACK: adjacent, PATH: ends, VARIANT: adjacent + ends}[mechanism]
    for node, packets, notification_ms in acting:
        for to, at_ms in (("backup", 1000 * FAILURE_S + delta_ms), ("working", 1000 * REPAIR_S)):
            result.append(Switch(node, packets, to, round(at_ms + notification_ms) * MS_PS))
    return ordered(result)


def expected_extra_ms(scenario: str, mechanism: str) -> list[int]:
    """Return the third column of Table 8: additional delay of data and of ACKs, in ms."""
    delays = Delays.of(scenario)
    return {
        LOCAL: [delays.d_l, delays.d_l],
        PATH: [delays.d_p, delays.d_p],
        LOOPBACK: [delays.d_p + 2 * delays.a, delays.d_p + 2 * delays.c],
        VARIANT: [delays.d_p, delays.d_p],
    }[mechanism]


def expected_lost(measured: Measured, scenario: str, mechanism: str, packets: str) -> Cells:
    """Return arrival rate times the time for which the dead link still receives packets."""
    delays = Delays.of(scenario)
    rate = measured.arriving_bytes[packets].at(scenario=scenario) / measured.packet_bytes[packets]
    notification_ms = 2 * (delays.a if packets == "data" else delays.c) if mechanism == PATH else 0
    return rate * (DELTA + delays.b + notification_ms) / 1000


def find(found: Found) -> Findings:
    """Return switch delays from the list of switchovers, RTT changes from probes, and packets lost on the dead link."""
    measured, profile = Measured.of(found), str(found.chosen["profile"])
    claims = {id_: {profile: judged(measured)} for id_, judged in CLAIMS.items()}
    by_cell = [
        row for scenario in SCENARIOS for mechanism in MECHANISMS for row in compared(measured, scenario, mechanism)
    ]
    means = [
        row
        for world in ROUND_TRIPS
        for row in rows({"mean_rtt_ms": measured.propagation_ms(world).mean()}, key={"world": world})
    ]
    return Findings(by_cell + means, claims)


def compared(measured: Measured, scenario: str, mechanism: str) -> list[Row]:
    """Return the rows of a scenario and scheme."""
    key: Key = {"scenario": scenario, "mechanism": mechanism}
    delays, in_table = Delays.of(scenario), mechanism != VARIANT
    to_backup = [switch for switch in measured.switches[scenario, mechanism] if switch.to == "backup"]
    first = {packets: min(item.at_ps for item in to_backup if item.packets == packets) for packets in DIRECTIONS}
    extra, _ = measured.extra_ps(scenario, mechanism)
    printed_delay = DELTA + (delays.a if mechanism == PATH else 0)
    values = {
        "switch_delay_ms": (first["data"] - FAILURE_S * PS, printed_delay if in_table else None),
        "ack_switch_delay_ms": (first["acks"] - FAILURE_S * PS, None),
        "delta_rtt_ms": (sum(extra), sum(expected_extra_ms(scenario, mechanism)) if in_table else None),
        "data_extra_ms": (extra[0], None),
        "ack_extra_ms": (extra[1], None),
    }
    result = [row(key, metric, paper, stats.exact(value / MS_PS), WHY) for metric, (value, paper) in values.items()]
    lost = {
        f"lost_{packets}": cells.at(scenario=scenario, mechanism=mechanism).mean()
        for packets, cells in measured.lost.items()
    }
    return result + rows(lost, key=key)


def as_table_8_says(measured: Measured) -> list[Part]:
    """Judge: switch delays and RTT changes match Table 8, and the mean RTTs match the stated ones."""
    parts = []
    for scenario in SCENARIOS:
        for mechanism in MECHANISMS[:-1]:
            switched = measured.switches[scenario, mechanism]
            extra, one_value = measured.extra_ps(scenario, mechanism)
            times = ", ".join(
                f"{item.node} {item.packets} to {item.to} at {item.at_ps / MS_PS:g} ms" for item in switched
            )
            longer = f"data {extra[0] / MS_PS:g} ms and ACKs {extra[1] / MS_PS:g} ms longer"
            after = "as before" if one_value else "not as before"
            text = f"{scenario}, {mechanism}: {times}; {longer}, {after} after the repair"
            holds = (
                one_value
                and switched == expected_switches(scenario, mechanism, DELTA)
                and extra == [ms * MS_PS for ms in expected_extra_ms(scenario, mechanism)]
            )
            parts.append(judge.exact_part(text, holds))
    for world, stated in ROUND_TRIPS.items():
        mean = measured.propagation_ms(world).values
        test = judge.paired_part(
            f"{world}, mean propagation RTT {mean.mean():.2f} ms, minus {stated:g} ms",
            mean,
            np.full_like(mean, stated),
            "above",
            "ms",
        )
        # A test that does not reject the stated value is agreement only with as many runs as the paper.
        parts.append(replace(test, holds=False, default=True if mean.size >= PAPER_RUNS else "undecided"))
    return parts


def signalling_loses_more(measured: Measured) -> list[Part]:
    """Judge: path protection loses more on the dead link than the local schemes, by the notification delay."""
    parts = []
    for scenario in SCENARIOS:
        for packets in DIRECTIONS:
            lost = {name: measured.lost[packets].at(scenario=scenario, mechanism=name) for name in MECHANISMS}
            parts += [
                judge.paired_part(
                    f"{scenario}, {packets}, path minus {other}", lost[PATH], lost[other], "above", "packets"
                )
                for other in (LOCAL, LOOPBACK)
            ]
            parts += [
                judge.equivalence_part(
                    f"{scenario}, {packets}, {mechanism} against arrivals",
                    100 * (lost[mechanism] / expected_lost(measured, scenario, mechanism, packets) - 1),
                    LOST_MARGIN_PCT,
                    "%",
                )
                for mechanism in (LOCAL, PATH, LOOPBACK)
            ]
    return parts


CLAIMS = {"scheme-parameters": as_table_8_says, "signalling-loses-more": signalling_loses_more}

TABLE8 = Exhibit(
    "gmpls/table8",
    "Differences between the schemes",
    "section 8, Tables 7 and 8",
    replace(section8.SETUP, grids=grids, seeds=runs_of(PAPER_RUNS, section8.QUICK_SEEDS, {PROBES: 1})),
    find,
)
