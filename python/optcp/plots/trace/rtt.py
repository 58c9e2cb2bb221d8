"""Trace plot of a window, the RTT of its path over satellites, and the RTT of its segments.

The path holds its BDP with empty queues plus the queue limit before its slowest link. The RTT with empty queues is the
propagation RTT of ``rtt.csv`` plus the transmission times of a segment and an ACK on each link. The number of links is
one more than the number of satellites. A measured RTT lasts from the sending of a segment to its ACK. The segment is
the last that this ACK covers, and the ACK covers no retransmission (Karn's algorithm, RFC 6298). Measured RTTs need an
observation of kind ``packets``.

References
----------
Figures 5 and 6 of Hypatia (S. Kassing et al., IMC 2020).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.constellation.beside import ROUND_TRIPS
from optcp.constellation.recorded import round_trips
from optcp.plots.trace.frame import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, line
from optcp.plots.trace.intervals import direction

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from optcp.constellation.recorded import Recorded
    from optcp.data.table import Table
    from optcp.plots.trace.frame import Frame
    from optcp.scenarios.run import Run

PANELS = 2
"""Number of panels per flow."""
CHANGES = {
    "longer": ("longer path", VERMILION, "--"),
    "shorter": ("shorter path", GREEN, ":"),
    "outage": ("no path", PURPLE, "-"),
    "back": ("path restored", ORANGE, "-."),
}
"""Label, colour and line style by kind of path change."""
MAX_DOTS = 20_000
"""Number of dots above which they are rasterised in PDF and SVG."""


def has_round_trips(run: Run) -> bool:
    """Whether the directory of a run contains the RTTs of its path."""
    return run.folder is not None and (run.folder / ROUND_TRIPS).is_file()


def first(table: Table) -> list[str]:
    """Return the flow to draw by default."""
    return table.distinct("flow")[:1]


def draw(frame: Frame, table: Table, flows: list[str], figure: Figure) -> None:
    """Draw two panels per flow: cwnd and path capacity, and RTTs, with path changes across both."""
    paths = round_trips(Path(frame.run.folder or "") / ROUND_TRIPS)
    # Path outages are drawn below; the link that represents the path fails at the same times.
    frame = dataclasses.replace(frame, outages=())
    panels = frame.panels(figure, PANELS * len(flows), "Window and RTT", "")
    handles: list[Artist] = [line(BLUE, "cwnd"), line(BLACK, "RTT with empty queues")]
    measured = fits = False
    for number, flow in enumerate(flows):
        windows, trips = panels[PANELS * number : PANELS * (number + 1)]
        way = _PathCapacity.of(frame, flow)
        fits |= _windows(frame, windows, table.where(flow=flow), paths, way)
        measured |= _trips(frame, trips, flow, paths, way)
        windows.set_title(flow)
    for panel in panels:
        shown = _changes(frame, panel, paths)
    if fits:
        handles.insert(1, line(BLACK, "BDP + queue", linewidth=0.9, linestyle=(0, (5, 3))))
    if measured:
        handles.append(line(SKY, "measured RTT", marker=".", linestyle="none"))
    for label, colour, style in (CHANGES[one] for one in shown):
        handles.append(line(colour, label, linestyle=style))
    frame.legend(figure, handles)


@dataclasses.dataclass(frozen=True)
class _PathCapacity:
    """Properties of the path of a flow.

    Attributes
    ----------
    mss
        Payload of a segment in bytes.
    segment_bits, ack_bits
        Size on the wire.
    rate_bps
        Rate of the slowest link of the path; NaN if the path is unknown.
    queue
        Queue limit before this link, in segments; NaN if unlimited.
    """

    mss: float
    segment_bits: float
    ack_bits: float
    rate_bps: float
    queue: float

    @classmethod
    def of(cls, frame: Frame, flow: str) -> _PathCapacity:
        scenario = frame.run.scenario
        group, route = next((one, way) for one in scenario["flows"] for way in one["routes"] if flow in way["flows"])
        tcp = scenario["tcp"][group["tcp"]]
        more = 12 if tcp.get("timestamps") else 0
        segment, ack = 8.0 * (tcp["mss_bytes"] + tcp["header_bytes"] + more), 8.0 * (tcp["ack_size_bytes"] + more)
        ports: list[dict[str, Any]] = [direction(frame, port) for port in route.get("ports", ())]
        slowest = min(ports, key=lambda port: port["rate_bps"], default={"rate_bps": np.nan})
        queue = slowest.get("queue_packets", np.nan)
        if "queue_bytes" in slowest:
            queue = 8 * (slowest["queue_bytes"] or np.nan) / segment
        return cls(
            float(tcp["mss_bytes"]), segment, ack, float(slowest["rate_bps"]), np.nan if queue is None else queue
        )

    def empty_ms(self, paths: Recorded) -> NDArray[np.float64]:
        """Return the RTT with empty queues, in ms, with transmission times if the rate is known; NaN in an outage."""
        links = np.array([len(one) + 1 for one in paths.paths])
        sent_ms = 1e3 * links * (self.segment_bits + self.ack_bits) / self.rate_bps
        return paths.rtt_ms + np.nan_to_num(sent_ms)


def _windows(frame: Frame, panel: Axes, rows: Table, paths: Recorded, way: _PathCapacity) -> bool:
    """Draw the window; return whether the capacity of the path is known."""
    seen = frame.visible(rows.seconds, before=True)
    times, cwnd = np.append(rows.seconds[seen], frame.end_s), rows.numbers("cwnd_bytes")[seen] / way.mss
    cwnd = np.append(cwnd, cwnd[-1:] if len(cwnd) else np.nan)
    panel.plot(times[: len(cwnd)], cwnd, color=BLUE, drawstyle="steps-post", linewidth=1.0)
    fits = way.empty_ms(paths) / 1e3 * way.rate_bps / way.segment_bits + way.queue
    at, fits = _broken(paths, fits)
    panel.plot(at, fits, color=BLACK, linewidth=0.9, linestyle=(0, (5, 3)))
    panel.set_ylabel("segments")
    panel.set_ylim(0, 1.12 * max(np.nanmax(cwnd, initial=1.0), np.nanmax(fits, initial=1.0)))
    return bool(np.isfinite(fits).any())


def _trips(frame: Frame, panel: Axes, flow: str, paths: Recorded, way: _PathCapacity) -> bool:
    """Draw the RTTs; return whether measured RTTs are available."""
    names = [one["name"] for one in frame.run.scenario["observe"] if one["kind"] == "packets"]
    rows = [table for table in map(frame.run.__getitem__, names) if flow in table.distinct("flow")]
    at, measured = samples(rows[0].where(flow=flow)) if rows else (np.zeros(0), np.zeros(0))
    seen = frame.visible(at)
    panel.plot(at[seen], measured[seen], ".", color=SKY, markersize=2.5, markeredgewidth=0, linestyle="none",
               rasterized=len(at[seen]) > MAX_DOTS)  # fmt: skip
    empty = way.empty_ms(paths)
    panel.plot(*_broken(paths, empty), color=BLACK, linewidth=1.2, zorder=3)
    panel.set_ylabel("RTT (ms)")
    panel.set_ylim(0, 1.12 * max(np.nanmax(empty, initial=1.0), measured[seen].max(initial=0.0)))
    return bool(rows)


def samples(rows: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the measured RTTs of a flow.

    Parameters
    ----------
    rows
        Observation of kind ``packets`` of one flow, starting with its first segment.

    Returns
    -------
    tuple of numpy.ndarray
        Arrival times of ACKs in s, and RTTs in ms, each of shape (samples,).
    """
    seq, times = rows.numbers("seq").astype(np.int64), rows.seconds
    left = np.full(int(seq.max(initial=0)) + 2, np.nan)
    first = rows.is_("event", "sent")
    left[seq[first]] = times[first]
    left[seq[rows.is_("event", "resent")]] = np.nan
    # Number of earlier segments without a valid send time.
    unknown = np.concatenate([[0], np.cumsum(np.isnan(left))])
    came = rows.is_("event", "acked")
    at, acked = times[came], seq[came]
    before = np.maximum.accumulate(np.concatenate([[0], acked]))[:-1]
    new = (acked > before) & (unknown[acked] == unknown[before])
    return at[new], 1e3 * (at[new] - left[acked[new] - 1])


def _broken(paths: Recorded, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a curve with a gap at each path change."""
    at: list[NDArray[np.float64]] = []
    found: list[NDArray[np.float64]] = []
    for one in paths.stretches():
        inside = (paths.seconds >= one.start_s) & (paths.seconds < one.end_s)
        at += [paths.seconds[inside], np.array([one.end_s, np.nan])]
        found += [values[inside], np.array([values[inside][-1], np.nan])]
    return np.concatenate(at), np.concatenate(found)


def _changes(frame: Frame, panel: Axes, paths: Recorded) -> list[str]:
    """Draw path changes; return the visible kinds."""
    shown = []
    for one in paths.stretches():
        if one.change in CHANGES and frame.start_s <= one.start_s <= frame.end_s:
            _, colour, style = CHANGES[one.change]
            panel.axvline(one.start_s, color=colour, linestyle=style, linewidth=1.1, zorder=0.5)
            shown.append(one.change)
        if not one.satellites:
            panel.axvspan(one.start_s, one.end_s, color=GREY, alpha=0.16, linewidth=0, zorder=0)
    return [name for name in CHANGES if name in shown]
