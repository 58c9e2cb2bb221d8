"""Bandwidth, queues and congestion windows over time, for the three delays of the slides."""

import itertools

import numpy as np

from optcp.papers.kit import Cells, Exhibit, Findings, Found, Key, Part, Row, Run, Series, behind, judge, rows
from optcp_papers.slides import sources
from optcp_papers.slides.first import (
    ACCESS,
    CLASSES,
    DEAD_LINK,
    DELTA_MS,
    END_S,
    FAILURE_S,
    MERGE_PORT,
    PORTS,
    REPAIR_S,
    SEEDS_NOTE,
    SETUP,
    STEP_S,
    World,
    world,
)

WINDOWS_S = ((5.0, 10.0), (10.0, 11.0), (11.0, 20.0), (25.0, 30.0))
ALL_UP_S = ((5.0, 10.0), (25.0, 30.0))
BACKBONE = PORTS[len(ACCESS) :]


def find(found: Found) -> Findings:
    """Return one run as in the slides, and the means over start times."""
    measured = world(found)
    rates_bps = rates(measured.load, found.number("backbone_bps"), found.number("access_share"))
    pct = percent_of_rate(measured.load, STEP_S, rates_bps)
    series = []
    for delta in DELTA_MS:
        for port in PORTS:
            key: Key = {"delta_ms": delta, "port": port}
            series += over_time("load", "% of the link's rate", pct, key)
            series += over_time("queue", "packets", measured.queue, key)
        for name in CLASSES:
            cwnd = measured.cwnd.renamed(group="class")
            series += over_time("mean cwnd of the sources", "segments", cwnd, {"delta_ms": delta, "class": name})[:1]
    for delta, run in zip(DELTA_MS, found.only.runs(found.only.seeds[0]), strict=True):
        series += windows(run, measured.scale.segment_bytes, delta)
    notes = [
        "The pictures are missing. Only the statements about them can be compared.",
        f"While the link is down all flows traverse {MERGE_PORT}. If it were full over the first second with "
        "0 ms, as the bandwidth slides say, the goodput slides' +28.72 % of 50 ms over 0 ms could only be packets "
        "that were carried with 0 ms but were not yet in order at the receiver.",
        SEEDS_NOTE,
    ]
    claims = {
        "access-full-backbone-empty": access_full_backbone_empty(measured, rates_bps),
        "delay-postpones-overflow": overflow_by_delay(measured, rates_bps),
    }
    return Findings(all_rows(measured, rates_bps), claims, series, notes)


def rates(load: Cells, backbone_bps: float, access_share: float) -> Cells:
    """Return the rate of every port, in bit/s."""
    of_ports = [backbone_bps * (access_share if port in ACCESS else 1) for port in PORTS]
    return Cells(np.tile(of_ports, (len(load.seeds), 1)), (load.axis("port"),), load.seeds)


def percent_of_rate(bytes_: Cells, span_s: float, rates_bps: Cells) -> Cells:
    """Return the bytes of each port in a time span in % of its rate."""
    return 100 * 8 * bytes_ / (span_s * rates_bps)


def mean_load(measured: World, start_s: float, end_s: float, rates_bps: Cells) -> Cells:
    """Return the load of every port in (start, end], in % of its rate."""
    return percent_of_rate(measured.load.between(start_s, end_s), end_s - start_s, rates_bps)


def mean_queue(measured: World, start_s: float, end_s: float) -> Cells:
    """Return the mean number of packets at every port in (start, end]."""
    return measured.queue.between(start_s, end_s) / round((end_s - start_s) / STEP_S)


def all_rows(measured: World, rates_bps: Cells) -> list[Row]:
    """Return mean load and queue by window; the delays are equal before the failure, so the first is used there."""
    result = []
    for start_s, end_s in WINDOWS_S:
        shown = {
            "delta_ms": DELTA_MS if start_s >= FAILURE_S else DELTA_MS[:1],
            "port": [port for port in PORTS if not (FAILURE_S <= start_s < REPAIR_S and port in DEAD_LINK)],
        }
        metrics = {
            "load_pct": mean_load(measured, start_s, end_s, rates_bps).part(**shown).mean(),
            "queue_packets": mean_queue(measured, start_s, end_s).part(**shown).mean(),
        }
        result += rows(metrics, key=behind({"window": f"{start_s:g}-{end_s:g} s"}))
    metrics = {
        "switch_to_first_drop_ms": (1000 * measured.first_merge_drop_s).mean(),
        "failure_to_first_fixed_loss_ms": (1000 * measured.first_fixed_loss_s).mean(),
    }
    return result + rows(metrics, key=behind({"port": MERGE_PORT, "window": f"from {FAILURE_S:g} s"}))


def over_time(label: str, unit: str, cells: Cells, key: Key) -> list[Series]:
    """Return the mean over seeds, and the first seed, of one combination."""
    values = cells.at(**key).values
    x = [round(end, 6) for end in cells.axis("time").numbers or ()]
    shown = {"mean over seeds": values.mean(axis=0), f"example run, seed {cells.seeds[0]}": values[0]}
    return [
        Series(f"{label}, {what}", key, "time", "s", label, unit, x, y.round(3).tolist()) for what, y in shown.items()
    ]


def windows(run: Run, segment_bytes: int, delta: int) -> list[Series]:
    """Return the congestion window of each source of a run at the ends of intervals of 100 ms."""
    senders = sources.senders(run, segment_bytes)
    x = (np.arange(1, round(END_S / STEP_S) + 1) * STEP_S).round(6).tolist()
    result = []
    for number, name in enumerate(filter(None, run["tcp"].coded("flow")[1])):
        y = senders.mean_window([number], STEP_S, END_S).round(3).tolist()
        key: Key = {"delta_ms": delta, "class": name.split("/")[0], "flow": name}
        result.append(Series(f"cwnd, example run, seed {run.seed}", key, "time", "s", "cwnd", "segments", x, y))
    return result


def access_full_backbone_empty(measured: World, rates_bps: Cells) -> list[Part]:
    """Judge: with all links up the access link is full with a filled queue, the backbone 80 % loaded and empty."""
    n = len(measured.load.seeds)
    good, seen = np.ones(n, dtype=bool), []
    for start_s, end_s in ALL_UP_S:
        load, queue = mean_load(measured, start_s, end_s, rates_bps), mean_queue(measured, start_s, end_s)
        full, filled = (item.part(port=ACCESS) for item in (load, queue))
        loaded, empty = (item.part(port=BACKBONE) for item in (load, queue))
        for holds in (full > 99, filled > 35, abs(loaded - 80) <= 1, empty < 1):
            good &= holds.values.all(axis=(1, 2))
        seen.append(
            f"({start_s:g} s, {end_s:g} s] access load at least {full.values.min():.2f} %, "
            f"queue at least {filled.values.min():.1f} packets, backbone load {loaded.values.min():.2f} to "
            f"{loaded.values.max():.2f} %, queue at most {empty.values.max():.2f} packets"
        )
    text = f"runs in which all of it holds for all three delays ({'; '.join(seen)})"
    return [judge.share_part(text, int(good.sum()), n, 0.95)]


def overflow_by_delay(measured: World, rates_bps: Cells) -> list[Part]:
    """Judge: 0 ms overflows immediately and affects the fixed flows, 50 ms later, 1000 ms last."""
    soon = (measured.first_merge_drop_s.at(delta_ms=0) <= 0.3).values.sum()
    load = mean_load(measured, FAILURE_S, FAILURE_S + 1, rates_bps).at(delta_ms=0, port=MERGE_PORT)
    parts = [
        judge.share_part(f"0 ms: first drop at {MERGE_PORT} within 300 ms", int(soon), len(load.seeds), 0.9),
        judge.paired_part(
            f"0 ms: load of {MERGE_PORT} in (10 s, 11 s], {load.values.mean():.1f} %, minus 98 %",
            load,
            np.full(len(load.seeds), 98),
            "above",
            "points",
        ),
    ]
    for title, first_s in (
        (f"from the switchover to the first drop at {MERGE_PORT}", measured.first_merge_drop_s),
        ("from the failure to the first loss of a fixed flow", measured.first_fixed_loss_s),
    ):
        ms = 1000 * first_s
        parts += [
            judge.paired_part(
                f"{title}, {longer} ms minus {item} ms", ms.at(delta_ms=longer), ms.at(delta_ms=item), "above", "ms"
            )
            for item, longer in itertools.pairwise(DELTA_MS)
        ]
    switched = measured.goodput.at(delta_ms=1000, group="switched")
    left = int(switched.between(FAILURE_S + 0.2, FAILURE_S + 1).values.sum())
    text = f"1000 ms: {left} switched bytes delivered in (10.2 s, 11 s], all runs together"
    return [*parts, judge.exact_part(text, left == 0)]


QUEUES = Exhibit(
    "slides/queues",
    "Bandwidth, queues and congestion windows by protection switch delay",
    "slides, qualitative discussion: bandwidth and queues",
    SETUP,
    find,
)
