"""Bandwidth, queues and congestion windows over time, for the three delays that the slides show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers.base import Evaluation, exhibit
from optcp.papers.model import Series
from optcp.papers.slides import claims, first, sources
from optcp.papers.slides.first import CLASSES, DELTA_MS, FAILURE_S, PORTS, STEP_S
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.model import Key, Row
    from optcp.study import Done

WINDOWS_S = ((5.0, 10.0), (10.0, 11.0), (11.0, 20.0), (25.0, 30.0))


@exhibit
class Queues(first.First):
    """One run as the slides show it, and the means over start times."""

    id = "slides/queues"
    title = "Bandwidth, queues and congestion windows by protection switch delay"
    where = "slides, qualitative discussion: bandwidth and queues"

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Curves of load, queue and window; mean loads and queues as rows."""
        measured = first.measure(chosen, done)
        context = claims.Context(measured, float(chosen["backbone_bps"]), float(chosen["access_share"]))
        rates = [
            float(chosen["backbone_bps"]) * (float(chosen["access_share"]) if p in first.ACCESS else 1) for p in PORTS
        ]
        series = []
        for index, delta in enumerate(DELTA_MS):
            for port, name in enumerate(PORTS):
                key: Key = {"delta_ms": delta, "port": name}
                load = 100 * 8 * measured.load[:, index, port] / (STEP_S * rates[port])
                series += _curves(key, "load", "% of the link's rate", load, done["5+5"].seeds[0])
                series += _curves(key, "queue", "packets", measured.queue[:, index, port], done["5+5"].seeds[0])
            for number, name in enumerate(CLASSES):
                key = {"delta_ms": delta, "class": name}
                series += _curves(key, "mean cwnd of the sources", "segments", measured.cwnd[:, index, number], None)
        runs = self.example(done)
        for run, delta in zip(runs, DELTA_MS, strict=True):
            series += _windows(
                sources.senders(run, measured.scale.segment_bytes), list(run.series["tcp"]["flows"]), delta, run.seed
            )
        judged = claims.judge_all(self.id, context, str(chosen["profile"]))
        notes = [
            "The pictures are lost: nothing is printed to compare with, only what the text says of them.",
            f"While the link is down all flows traverse {first.MERGE_PORT}. Were it full over the first second with "
            "0 ms, as the bandwidth slides say, the goodput slides' +28.72 % of 50 ms over 0 ms could only be packets "
            "that were carried with 0 ms but not yet in order at the receiver.",
            first.SEEDS_NOTE,
        ]
        return Evaluation(_rows(context), judged, series, notes)


def _rows(context: claims.Context) -> list[Row]:
    """Mean load and queue by window; before the failure the three delays are one world, so the first stands for all."""
    measured, rows = context.measured, []
    for start_s, end_s in WINDOWS_S:
        load = claims.load_pct(context, start_s, end_s)
        queue = measured.queue[..., round(start_s / STEP_S) : round(end_s / STEP_S)].mean(axis=-1)
        down = FAILURE_S <= start_s < first.REPAIR_S
        for index, delta in enumerate(DELTA_MS if start_s >= FAILURE_S else DELTA_MS[:1]):
            for port, name in enumerate(PORTS):
                if down and name in first.DEAD_LINK:
                    continue
                key: Key = {"delta_ms": delta, "port": name, "window": f"{start_s:g}-{end_s:g} s"}
                rows.append(row(key, "load_pct", None, stats.mean(load[:, index, port]), ""))
                rows.append(row(key, "queue_packets", None, stats.mean(queue[:, index, port]), ""))
    for index, delta in enumerate(DELTA_MS):
        drop, loss = measured.first_merge_drop_s[:, index], measured.first_fixed_loss_s[:, index]
        key = {"delta_ms": delta, "port": first.MERGE_PORT, "window": f"from {FAILURE_S:g} s"}
        rows.append(row(key, "switch_to_first_drop_ms", None, stats.mean(1000 * drop), ""))
        rows.append(row(key, "failure_to_first_fixed_loss_ms", None, stats.mean(1000 * loss), ""))
    return rows


def _curves(key: Key, label: str, unit: str, values: NDArray[np.float64], example: int | None) -> list[Series]:
    """Mean over seeds and, with a seed's number, the first seed alone."""
    # A value belongs to the end of its interval.
    x = [round((index + 1) * STEP_S, 6) for index in range(values.shape[1])]
    axes = ("time", "s", label, unit, x)
    curves = [Series(f"{label}, mean over seeds", key, *axes, values.mean(axis=0).round(3).tolist())]
    if example is not None:
        curves.append(Series(f"{label}, example run, seed {example}", key, *axes, values[0].round(3).tolist()))
    return curves


def _windows(rows: sources.Senders, flows: list[str], delta: int, seed: int) -> list[Series]:
    """Congestion window of each source of the example run at the ends of intervals of 100 ms."""
    ends = np.arange(1, round(first.END_S / STEP_S) + 1) * STEP_S
    found = []
    for number, name in enumerate(flows):
        values = rows.mean_window([number], STEP_S, first.END_S)
        key: Key = {"delta_ms": delta, "class": name.split("/")[0], "flow": name}
        axes = ("time", "s", "cwnd", "segments", ends.round(6).tolist())
        found.append(Series(f"cwnd, example run, seed {seed}", key, *axes, values.round(3).tolist()))
    return found
