"""Sequence numbers over time (sent, acknowledged and lost), for one source of each class."""

import numpy as np

from optcp.papers.kit import Exhibit, Findings, Found, Key, Part, Row, Series, judge, rows
from optcp_papers.slides import sources
from optcp_papers.slides.first import CLASSES, DELTA_MS, FAILURE_S, OVERFLOWS, SEEDS_NOTE, SETUP, World, world
from optcp_papers.slides.sources import Packets, Senders

SHOWN_S = (9.9, 13.0)
SHOWN_MS = (0, 50)
KINDS = ("ack", "sent", "resent", "data lost", "ACK lost")


def find(found: Found) -> Findings:
    """Return the traces of one run, and recoveries, RTOs and overflows of all runs."""
    measured = world(found)
    segment_bytes = measured.scale.segment_bytes
    runs = dict(zip(DELTA_MS, found.only.runs(found.only.seeds[0]), strict=True))
    packets = {delta: sources.packets(runs[delta]) for delta in SHOWN_MS}
    senders = {delta: sources.senders(runs[delta], segment_bytes) for delta in SHOWN_MS}
    switched, fixed = (packets[50].flows_of(name) for name in CLASSES)
    # Switched source that shows the slides' case: the first with an RTO with 50 ms.
    shown = next((flow for flow in switched if senders[50].timed_out(flow, FAILURE_S, FAILURE_S + 2)), switched[0])
    # Fixed source that shows the slides' case: the first that loses packets in the first second with 0 ms.
    at_once = packets[0]
    soon = at_once.dropped & (at_once.time_s > FAILURE_S) & (at_once.time_s <= FAILURE_S + 1)
    hit = next((flow for flow in fixed if flow in at_once.flow[soon]), fixed[0])
    series = [
        curve
        for delta in SHOWN_MS
        for flow in (shown, hit)
        for curve in trace(
            packets[delta], senders[delta], flow, {"delta_ms": delta, "flow": packets[delta].flows[flow]}
        )
    ]
    note = (
        f"Seed {runs[0].seed}; the switched source is the first with an RTO in (10 s, 12 s] with 50 ms "
        f"(else the first), the fixed one the first that loses packets in (10 s, 11 s] with 0 ms. Sequence "
        f"numbers count from the last segment acknowledged {FAILURE_S - SHOWN_S[0]:.1f} s before the failure."
    )
    claims = {
        "recovery-or-slow-start": recovery_or_timeout(measured),
        "who-loses-when": distribution_of_losses(measured),
    }
    return Findings(all_rows(measured), claims, series, [note, SEEDS_NOTE])


def trace(packets: Packets, senders: Senders, flow: int, key: Key) -> list[Series]:
    """Return the events of a flow in the shown time: sends and losses by segment, ACKs by the next expected segment."""
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
    result = []
    for kind in KINDS:
        which = kinds[kind] & shown
        x, y = packets.time_s[which].round(6).tolist(), (packets.seq[which].astype(np.int64) - base).tolist()
        result.append(Series(kind, key, "time", "s", "sequence number", "segments", x, [float(value) for value in y]))
    fired = [item for item in senders.timer_fired_s(flow).tolist() if start_s < item <= end_s]
    # An RTO retransmits the oldest segment without an ACK.
    oldest = [float(packets.seq[acked & (packets.time_s <= item)].max(initial=0)) - base for item in fired]
    return [*result, Series("timeout", key, "time", "s", "sequence number", "segments", fired, oldest)]


def all_rows(measured: World) -> list[Row]:
    """Return the results of the sources by delay, with overflows only if any run has one."""
    metrics = {
        "switched_sources_timed_out": measured.timed_out.mean(),
        "back_at_rate_s": measured.back_s.mean(),
        "longest_first_recovery_s": measured.longest_recovery_s.mean(),
        "dead_link_drops": measured.dead_link_drops.total("group").mean(),
    }
    for overflow in OVERFLOWS:
        metrics[f"lost_per_source_{overflow}_overflow"] = measured.lost_per_source.at(overflow=overflow).mean()
    return [row for row in rows(metrics) if row.n]


def recovery_or_timeout(measured: World) -> list[Part]:
    """Judge: at 0 ms one retransmission per RTT; at 50 ms more RTOs and an earlier recovery of the rate."""
    longest_s = measured.scale.longest_round_trip_s
    most = int(measured.retransmissions_per_rtt.at(delta_ms=0).values.max())
    recovery_s = measured.longest_recovery_s.at(delta_ms=0).values
    long = int((recovery_s > 3 * longest_s).sum())
    timed_out, back_s = (
        [cells.at(delta_ms=delta) for delta in (0, 50)] for cells in (measured.timed_out, measured.back_s)
    )
    return [
        judge.exact_part(f"0 ms: at most {most} retransmission(s) within an RTT of first recoveries", most == 1),
        judge.exact_part(
            f"0 ms: first recoveries longer than three RTTs of {1000 * longest_s:.0f} ms in {long} "
            f"of {recovery_s.size} runs, the longest {recovery_s.max():.2f} s",
            long > 0,
        ),
        judge.paired_part(
            f"switched sources with an RTO in (10 s, 12 s], {timed_out[1].values.mean():.2f} at 50 ms against "
            f"{timed_out[0].values.mean():.2f} at 0 ms",
            timed_out[1],
            timed_out[0],
            "above",
            "sources",
        ),
        judge.paired_part(
            f"until a switched source is back at its rate, {back_s[1].values.mean():.2f} s at 50 ms against "
            f"{back_s[0].values.mean():.2f} s at 0 ms",
            back_s[1],
            back_s[0],
            "below",
            "s",
        ),
    ]


def distribution_of_losses(measured: World) -> list[Part]:
    """Judge: the failure only costs switched packets, the first overflow affects both classes, later ones cost less."""
    lost = int(measured.dead_link_drops.at(delta_ms=0, group="fixed").values.sum())
    both = measured.both_classes.at(delta_ms=0).values
    per_source = measured.lost_per_source.at(delta_ms=0).values
    first, second = per_source[~np.isnan(per_source).any(axis=1)].T
    parts = [
        judge.exact_part(f"{lost} packets of fixed flows lost on the dead link, all runs together", lost == 0),
        judge.share_part("runs whose first overflow affects both classes", int(both.sum()), both.size, 0.9),
    ]
    if not second.size:
        return [*parts, Part("no run has a second overflow", "undecided")]
    title = f"packets lost per affected source, second overflow ({second.mean():.2f}) minus first"
    return [*parts, judge.paired_part(title, second, first, "below", "packets")]


TRACES = Exhibit(
    "slides/traces",
    "Packet traces around the failure, 0 and 50 ms",
    "slides, more detailed analysis",
    SETUP,
    find,
)
