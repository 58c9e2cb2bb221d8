"""Table 8: when each scheme switches, how much longer its path is, and how much it loses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.gmpls import section6, section8
from optcp.papers.gmpls.paper import FAILURE_S, PAPER_RUNS, PS, REPAIR_S
from optcp.papers.gmpls.probes import ONE_PACKET, one_way_ps, shortest_round_trips_ps
from optcp.papers.gmpls.section8 import (
    DELTA_MS,
    LOCAL,
    LOCAL_BACKUP,
    LOOPBACK,
    MECHANISMS,
    PATH,
    PATH_BACKUP,
    SCENARIOS,
    WORKING_LINKS,
    Delays,
    Section8,
    Switch,
)
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.gmpls.section8 import Context
    from optcp.papers.judge import Part
    from optcp.papers.model import Row
    from optcp.study import Done, Grid

PROBES = "probes"
ROUND_TRIPS = {"section 8": 216.0, "section 6": float(section6.MEAN_RTT_MS)}
"""The mean propagation round trips that the paper states, milliseconds."""
ROUND_TRIPS_UNTIL_S = 3.0
BEFORE_S, DURING_S, AFTER_S = (2.0, 4.5), (7.0, 9.5), (10.7, 11.2)
ACCESS_LINKS = 3
LOST_MARGIN_PCT = 10.0
DIRECTIONS = ("data", "acks")
MS_PS = PS // 1000

ROUTE_LINKS = {
    "local": WORKING_LINKS + len(LOCAL_BACKUP) - 2,
    "path": len(PATH_BACKUP) - 1,
    "loopback": len(PATH_BACKUP) + 1,
    "loopbackvar": len(PATH_BACKUP) - 1,
}
"""Backbone links on the path that is left after the switch; a loop traverses one link more, there and back."""
WHY = "Table 8 is arithmetic: this would be an error of the simulation or of its topology."


@exhibit
class Table8(Section8):
    """Switch delays from the list of switches, changes of RTT from probes, and packets lost on the dead link."""

    id = "gmpls/table8"
    title = "What the schemes differ in"
    where = "section 8, Tables 7 and 8"

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The shared study; a probe by scenario and scheme; probes of all sources in the worlds of sections 6 and 8."""
        cells = [(scenario, mechanism, DELTA_MS[0]) for scenario in SCENARIOS for mechanism in MECHANISMS]
        alone = [*ONE_PACKET, ("parameters.sources", "1")]
        short = [*ONE_PACKET, ("stop", f"{ROUND_TRIPS_UNTIL_S:g} s")]
        one = [(SCENARIOS[0], MECHANISMS[LOCAL], DELTA_MS[0])]
        return {
            **super().studies(chosen, options),
            PROBES: section8.study(chosen, options, "gmpls table 8, probes", cells, alone),
            "section 8": section8.study(
                chosen, options, "gmpls table 8, round trips", one, [*short, ("failures", "[]"), ("protection", "[]")]
            ),
            "section 6": section6.study(
                chosen,
                options,
                "gmpls table 8, round trips of section 6",
                [(1, 5)],
                [*short, ("failures", "[]"), ("protection", "[]")],
            ),
        }

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 150, fewer for a quick look; one for the probes, which nothing random reaches."""
        return 1 if study == PROBES else super().seeds(study, size)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Rows by (scenario, mechanism), and the mean round trips."""
        told = Told(
            self.context(chosen, done),
            done[PROBES].once(measure_probes),
            {world: done[world].once(measure_round_trips) for world in ROUND_TRIPS},
            float(chosen["link_delay_ms"]),
        )
        return Evaluation(_rows(told), judge.judge_all(self.id, JUDGES, {str(chosen["profile"]): told}), [], [])


@dataclass(frozen=True)
class Told:
    """What the judgements need.

    Attributes
    ----------
    context
        The shared study.
    probes
        By (scenario, mechanism): delays before, during and after the outage, each of data and of ACKs, as sets of
        picoseconds.
    round_trips
        By world: the mean over the sources of the shortest round trip, picoseconds, float64[seeds].
    link_delay_ms
        Of the links whose delay is not stated.
    """

    context: Context
    probes: Mapping[tuple[str, str], list[tuple[set[int], set[int]]]]
    round_trips: Mapping[str, NDArray[np.float64]]
    link_delay_ms: float

    def transmission_ps(self, packets: str, links: int) -> int:
        """Transmission times of a packet over so many backbone links, rounded up as the simulator does."""
        context = self.context
        size = context.packet_bytes if packets == "data" else context.measured.ack_bytes
        return links * _transmission_ps(size, context.backbone_bps)

    def extra_ps(self, scenario: str, mechanism: str) -> tuple[list[int], bool]:
        """By how much the propagation of data and of ACKs is longer during the outage; whether each has one value.

        Also whether all is as before after the repair.
        """
        before, during, after = self.probes[scenario, mechanism]
        exact = before == after and all(len(delays) == 1 for phase in (before, during) for delays in phase)
        more = ROUTE_LINKS[mechanism] - WORKING_LINKS
        longer = [max(during[i]) - max(before[i]) for i in range(len(DIRECTIONS))]
        extra = [time - self.transmission_ps(packets, more) for time, packets in zip(longer, DIRECTIONS, strict=True)]
        return extra, exact

    def propagation_ms(self, world: str) -> NDArray[np.float64]:
        """Mean propagation round trip, float64[seeds]: the shortest round trips without transmissions."""
        context = self.context
        sizes = (context.packet_bytes, context.measured.ack_bytes)
        off = sum(
            ACCESS_LINKS * _transmission_ps(size, context.access_bps)
            + WORKING_LINKS * _transmission_ps(size, context.backbone_bps)
            for size in sizes
        )
        return (self.round_trips[world] - off) / MS_PS


def _transmission_ps(size: float, rate_bps: float) -> int:
    return int(-(-8 * int(size) * PS // int(rate_bps)))


def measure_probes(done: Done) -> dict[tuple[str, str], list[tuple[set[int], set[int]]]]:
    """One-way delays before, during and after the outage, by (scenario, mechanism)."""
    cells = [(scenario, mechanism) for scenario in SCENARIOS for mechanism in MECHANISMS]
    ((_, runs),) = list(done)
    return {
        one: [one_way_ps(run, *window) for window in (BEFORE_S, DURING_S, AFTER_S)]
        for one, run in zip(cells, runs, strict=True)
    }


def measure_round_trips(done: Done) -> NDArray[np.float64]:
    """The mean over the sources of their shortest round trips, picoseconds, float64[seeds]."""
    return np.array([shortest_round_trips_ps(run).mean() for _, (run,) in done])


def expected_switches(scenario: str, mechanism: str, delta_ms: int) -> list[Switch]:
    """What section 8.1 says of instants, per node and direction, in order of time and node."""
    delays = Delays.of(scenario)
    found = []
    beside = [("L1", "data", 0), ("L2", "acks", 0)]
    ends = [("L0", "data", delays.a), ("L3", "acks", delays.c)]
    acting = {"local": beside, "loopback": beside, "path": ends, "loopbackvar": beside + ends}[mechanism]
    for node, packets, news_ms in acting:
        for to, at_ms in (("backup", 1000 * FAILURE_S + delta_ms), ("working", 1000 * REPAIR_S)):
            found.append(Switch(node, packets, to, round(at_ms + news_ms) * MS_PS))
    return sorted(found, key=lambda one: (one.at_ps, one.node, one.packets))


def expected_extra_ms(scenario: str, mechanism: str) -> list[int]:
    """Table 8's third column by direction: how much longer the path of data and of ACKs is."""
    delays = Delays.of(scenario)
    return {
        "local": [delays.d_l, delays.d_l],
        "path": [delays.d_p, delays.d_p],
        "loopback": [delays.d_p + 2 * delays.a, delays.d_p + 2 * delays.c],
        "loopbackvar": [delays.d_p, delays.d_p],
    }[mechanism]


def expected_lost(told: Told, scenario: int, mechanism: int) -> NDArray[np.float64]:
    """Arrival rate times the time that the dead link still gets packets, data and ACKs, float64[seeds, 2]."""
    context, delays = told.context, Delays.of(SCENARIOS[scenario])
    rates = context.measured.arriving_bytes[:, scenario] / (context.packet_bytes, context.measured.ack_bytes)
    more = np.array([2 * delays.a, 2 * delays.c]) if mechanism == PATH else np.zeros(2)
    result: NDArray[np.float64] = rates * (DELTA_MS[context.delta] + delays.b + more) / 1000
    return result


def _rows(told: Told) -> list[Row]:
    measured = told.context.measured
    rows = []
    for i, scenario in enumerate(SCENARIOS):
        for j, mechanism in enumerate(MECHANISMS):
            key = section8.key(i, j)
            delays = Delays.of(scenario)
            to_backup = [one for one in measured.switches[scenario, mechanism] if one.to == "backup"]
            first = {packets: min(one.at_ps for one in to_backup if one.packets == packets) for packets in DIRECTIONS}
            extra, _ = told.extra_ps(scenario, mechanism)
            in_table = mechanism != "loopbackvar"
            printed_delay = DELTA_MS[told.context.delta] + (delays.a if mechanism == "path" else 0)
            values = {
                "switch_delay_ms": (first["data"] - FAILURE_S * PS, printed_delay if in_table else None),
                "ack_switch_delay_ms": (first["acks"] - FAILURE_S * PS, None),
                "delta_rtt_ms": (sum(extra), sum(expected_extra_ms(scenario, mechanism)) if in_table else None),
                "data_extra_ms": (extra[0], None),
                "ack_extra_ms": (extra[1], None),
            }
            rows += [
                row(key, metric, paper, stats.exact(value / MS_PS), WHY) for metric, (value, paper) in values.items()
            ]
            lost = measured.lost[:, i, told.context.delta, j]
            rows += [
                row(key, metric, None, stats.mean(lost[:, position]), "")
                for position, metric in enumerate(("lost_data", "lost_acks"))
            ]
    means = {world: stats.mean(told.propagation_ms(world)) for world in ROUND_TRIPS}
    return rows + [row({"world": world}, "mean_rtt_ms", None, mean, "") for world, mean in means.items()]


def as_table_8_says(told: Told) -> list[Part]:
    """Judge: switch delays and changes of RTT are those of Table 8, and the mean round trips the stated ones."""
    measured, delta_ms = told.context.measured, DELTA_MS[told.context.delta]
    parts = []
    for scenario in SCENARIOS:
        for mechanism in MECHANISMS[:-1]:
            switches = measured.switches[scenario, mechanism]
            extra, one_value = told.extra_ps(scenario, mechanism)
            instants = ", ".join(
                f"{one.node} {one.packets} to {one.to} at {one.at_ps / MS_PS:g} ms" for one in switches
            )
            longer = f"data {extra[0] / MS_PS:g} ms and ACKs {extra[1] / MS_PS:g} ms longer"
            after = "as before" if one_value else "not as before"
            text = f"{scenario}, {mechanism}: {instants}; {longer}, {after} after the repair"
            holds = (
                one_value
                and switches == expected_switches(scenario, mechanism, delta_ms)
                and extra == [ms * MS_PS for ms in expected_extra_ms(scenario, mechanism)]
            )
            parts.append(judge.exact_part(text, holds))
    for world, stated in ROUND_TRIPS.items():
        mean = told.propagation_ms(world)
        test = judge.paired_part(
            f"{world}, mean propagation round trip {mean.mean():.2f} ms, minus {stated:g} ms",
            mean,
            np.full_like(mean, stated),
            "above",
            "ms",
        )
        # The stated value lies within the interval; that is agreement only with as many runs as the paper had.
        parts.append(replace(test, holds=False, default=True if mean.size >= PAPER_RUNS else "undecided"))
    return parts


def signalling_loses_more(told: Told) -> list[Part]:
    """Judge: path protection loses more on the dead link than schemes beside the failure, by the notification delay."""
    context = told.context
    lost = context.measured.lost[:, :, context.delta]
    parts = []
    for i, scenario in enumerate(SCENARIOS):
        for position, packets in enumerate(DIRECTIONS):
            parts += [
                judge.paired_part(
                    f"{scenario}, {packets}, path minus {MECHANISMS[other]}",
                    lost[:, i, PATH, position],
                    lost[:, i, other, position],
                    "above",
                    "packets",
                )
                for other in (LOCAL, LOOPBACK)
            ]
            parts += [
                judge.equivalence_part(
                    f"{scenario}, {packets}, {MECHANISMS[j]} against arrivals",
                    100 * (lost[:, i, j, position] / expected_lost(told, i, j)[:, position] - 1),
                    LOST_MARGIN_PCT,
                    "%",
                )
                for j in (LOCAL, PATH, LOOPBACK)
            ]
    return parts


JUDGES = {"scheme-parameters": as_table_8_says, "signalling-loses-more": signalling_loses_more}
