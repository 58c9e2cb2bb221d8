"""Sequence number over time: what was sent, acknowledged and lost, for a source of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.model import Series
from optcp.papers.slides import claims, first, sources
from optcp.papers.slides.first import CLASSES, DELTA_MS, FAILURE_S
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.model import Key, Row
    from optcp.papers.slides.sources import Packets, Senders
    from optcp.study import Done

SHOWN_S = (9.9, 13.0)
SHOWN_MS = (0, 50)
KINDS = ("ack", "sent", "resent", "data lost", "ACK lost")


@exhibit
class Traces(first.First):
    """The traces of one run, and what all runs' traces say of recoveries, time-outs and overflows."""

    id = "slides/traces"
    title = "Packet traces around the failure, 0 and 50 ms"
    where = "slides, more detailed analysis"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """One series a (delay, source, kind of event)."""
        measured = first.measure(chosen, done)
        context = claims.Context(measured, float(chosen["backbone_bps"]), float(chosen["access_share"]))
        runs = dict(zip(DELTA_MS, self.example(done), strict=True))
        traces = {delta: sources.packets(runs[delta]) for delta in SHOWN_MS}
        switched, fixed = (traces[50].flows_of(name) for name in CLASSES)
        timed = sources.senders(runs[50], measured.scale.segment_bytes)
        # The switched source that shows what the slides tell: the first that times out with 50 ms.
        shown = next((flow for flow in switched if timed.timed_out(flow, FAILURE_S, FAILURE_S + 2)), switched[0])
        # The fixed source that shows it: the first that loses packets in the first second with 0 ms.
        soon = traces[0].dropped & (traces[0].time_s > FAILURE_S) & (traces[0].time_s <= FAILURE_S + 1)
        hit = next((flow for flow in fixed if flow in traces[0].flow[soon]), fixed[0])
        series = [
            curve
            for delta, packets in traces.items()
            for flow in (shown, hit)
            for curve in trace(
                packets,
                sources.senders(runs[delta], measured.scale.segment_bytes),
                flow,
                {"delta_ms": delta, "flow": packets.flows[flow]},
            )
        ]
        judged = claims.judge_all(self.id, context, str(chosen["profile"]))
        note = (
            f"Seed {runs[0].seed}; of the switched sources the first that times out in (10 s, 12 s] with 50 ms "
            f"(else the first), of the fixed ones the first that loses packets in (10 s, 11 s] with 0 ms. Sequence "
            f"numbers count from the last segment acknowledged {FAILURE_S - SHOWN_S[0]:.1f} s before the failure."
        )
        return Evaluation(_rows(measured), judged, series, [note, first.SEEDS_NOTE])


def trace(packets: Packets, senders: Senders, flow: int, key: Key) -> list[Series]:
    """Every event of a flow in the shown time: sends and losses by segment, ACKs by the next segment wanted."""
    start_s, end_s = SHOWN_S
    mine = packets.flow == flow
    acked = mine & (packets.event == "acked")
    base = int(packets.seq[acked & (packets.time_s <= start_s)].max(initial=0))
    lost = mine & packets.dropped
    kinds = {
        "sent": mine & (packets.event == "sent"),
        "resent": mine & (packets.event == "resent"),
        "ack": acked,
        "data lost": lost & ~packets.ack,
        "ACK lost": lost & packets.ack,
    }
    shown = (packets.time_s > start_s) & (packets.time_s <= end_s)
    found = []
    for kind in KINDS:
        which = kinds[kind] & shown
        x, y = packets.time_s[which].round(6).tolist(), (packets.seq[which].astype(np.int64) - base).tolist()
        found.append(Series(kind, key, "time", "s", "sequence number", "segments", x, [float(value) for value in y]))
    fired = [one for one in senders.timer_fired_s(flow).tolist() if start_s < one <= end_s]
    # A timer that fires sends the oldest segment without an ACK again.
    oldest = [float(packets.seq[acked & (packets.time_s <= one)].max(initial=0)) - base for one in fired]
    return [*found, Series("timeout", key, "time", "s", "sequence number", "segments", fired, oldest)]


def _rows(measured: first.Measured) -> list[Row]:
    rows = []
    for index, delta in enumerate(DELTA_MS):
        key: Key = {"delta_ms": delta}
        of_delay = {
            "switched_sources_timed_out": measured.timed_out[:, index],
            "back_at_rate_s": measured.back_s[:, index],
            "longest_first_recovery_s": measured.longest_recovery_s[:, index],
            "dead_link_drops": measured.dead_link_drops[:, index].sum(axis=-1),
        }
        overflows = [cells[index] for cells in measured.clusters]
        for number, name in enumerate(("first", "second")):
            lost = [one.lost_per_source[number] for one in overflows if len(one.lost_per_source) > number]
            if lost:
                of_delay[f"lost_per_source_{name}_overflow"] = np.array(lost)
        rows += [row(key, metric, None, stats.mean(values), "") for metric, values in of_delay.items()]
    return rows
