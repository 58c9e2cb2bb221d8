"""A sender's window beside the round trips of its path over satellites, and of its segments.

Models
    What fits into the path: its rate times its round trip while all queues are empty, and the queue before its slowest
    link. The empty round trip is that of ``rtt.csv`` beside the run, and the transmissions of a segment and of an ACK
    over each of its links, one more than its satellites. A measured round trip is from the sending of a segment to the
    ACK that acknowledges it last and nothing that was sent again (Karn's algorithm, RFC 6298); it needs an observation
    of kind ``packets``.
Source
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
"""Of each flow."""
CHANGES = {
    "longer": ("path is longer", VERMILION, "--"),
    "shorter": ("path is shorter", GREEN, ":"),
    "outage": ("no path", PURPLE, "-"),
    "back": ("path again", ORANGE, "-."),
}
"""Of each kind of change its name, colour and line."""
MOST_DOTS = 20_000
"""More dots than these become pixels even in PDF and SVG."""


def there(run: Run) -> bool:
    """Whether round trips of the path lie beside a run."""
    return run.folder is not None and (run.folder / ROUND_TRIPS).is_file()


def first(table: Table) -> list[str]:
    """The flow that is drawn where none is named."""
    return table.distinct("flow")[:1]


def draw(frame: Frame, table: Table, flows: list[str], figure: Figure) -> None:
    """Two panels a flow: cwnd and what fits into the path, above round trips; changes of the path across both."""
    paths = round_trips(Path(frame.run.folder or "") / ROUND_TRIPS)
    # A link that is the path fails when there is none.
    frame = dataclasses.replace(frame, outages=())
    panels = frame.panels(figure, PANELS * len(flows), "Window and round trips", "")
    handles: list[Artist] = [line(BLUE, "cwnd"), line(BLACK, "round trip of the empty path")]
    measured = fits = False
    for number, flow in enumerate(flows):
        windows, trips = panels[PANELS * number : PANELS * (number + 1)]
        way = _Way.of(frame, flow)
        fits |= _windows(frame, windows, table.where(flow=flow), paths, way)
        measured |= _trips(frame, trips, flow, paths, way)
        windows.set_title(flow)
    for panel in panels:
        shown = _changes(frame, panel, paths)
    if fits:
        handles.insert(1, line(BLACK, "BDP + queue", linewidth=0.9, linestyle=(0, (5, 3))))
    if measured:
        handles.append(line(SKY, "measured", marker=".", linestyle="none"))
    for label, colour, style in (CHANGES[one] for one in shown):
        handles.append(line(colour, label, linestyle=style))
    frame.legend(figure, handles)


@dataclasses.dataclass(frozen=True)
class _Way:
    """What a flow's segments meet.

    Attributes
    ----------
    mss
        Payload of a segment in bytes.
    segment_bits, ack_bits
        On the wire.
    rate_bps
        Of the slowest link of its path; NaN if no path is known.
    queue
        Segments that the queue before it holds; NaN if it has no limit.
    """

    mss: float
    segment_bits: float
    ack_bits: float
    rate_bps: float
    queue: float

    @classmethod
    def of(cls, frame: Frame, flow: str) -> _Way:
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
        """Round trips of the empty path, with all transmissions where the rate is known; NaN in an outage."""
        links = np.array([len(one) + 1 for one in paths.paths])
        sent_ms = 1e3 * links * (self.segment_bits + self.ack_bits) / self.rate_bps
        return paths.rtt_ms + np.nan_to_num(sent_ms)


def _windows(frame: Frame, panel: Axes, rows: Table, paths: Recorded, way: _Way) -> bool:
    """Draw the window; whether what fits into the path is known."""
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


def _trips(frame: Frame, panel: Axes, flow: str, paths: Recorded, way: _Way) -> bool:
    """Draw round trips; whether those of segments are known."""
    names = [one["name"] for one in frame.run.scenario["observe"] if one["kind"] == "packets"]
    rows = [table for table in map(frame.run.__getitem__, names) if flow in table.distinct("flow")]
    at, measured = samples(rows[0].where(flow=flow)) if rows else (np.zeros(0), np.zeros(0))
    seen = frame.visible(at)
    panel.plot(at[seen], measured[seen], ".", color=SKY, markersize=2.5, markeredgewidth=0, linestyle="none",
               rasterized=len(at[seen]) > MOST_DOTS)  # fmt: skip
    empty = way.empty_ms(paths)
    panel.plot(*_broken(paths, empty), color=BLACK, linewidth=1.2, zorder=3)
    panel.set_ylabel("round trip (ms)")
    panel.set_ylim(0, 1.12 * max(np.nanmax(empty, initial=1.0), measured[seen].max(initial=0.0)))
    return bool(rows)


def samples(rows: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return round trips of segments of a flow.

    Parameters
    ----------
    rows
        An observation of kind ``packets``, of one flow, from its first segment on.

    Returns
    -------
    tuple of numpy.ndarray
        When ACKs came in s, and the round trips in ms, shape (samples,) each.
    """
    seq, times = rows.numbers("seq").astype(np.int64), rows.seconds
    left = np.full(int(seq.max(initial=0)) + 2, np.nan)
    first = rows.is_("event", "sent")
    left[seq[first]] = times[first]
    left[seq[rows.is_("event", "resent")]] = np.nan
    # How many segments before each one have no such time.
    unknown = np.concatenate([[0], np.cumsum(np.isnan(left))])
    came = rows.is_("event", "acked")
    at, acked = times[came], seq[came]
    before = np.maximum.accumulate(np.concatenate([[0], acked]))[:-1]
    new = (acked > before) & (unknown[acked] == unknown[before])
    return at[new], 1e3 * (at[new] - left[acked[new] - 1])


def _broken(paths: Recorded, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A curve with a gap at each change of the path."""
    at: list[NDArray[np.float64]] = []
    found: list[NDArray[np.float64]] = []
    for one in paths.stretches():
        inside = (paths.seconds >= one.start_s) & (paths.seconds < one.end_s)
        at += [paths.seconds[inside], np.array([one.end_s, np.nan])]
        found += [values[inside], np.array([values[inside][-1], np.nan])]
    return np.concatenate(at), np.concatenate(found)


def _changes(frame: Frame, panel: Axes, paths: Recorded) -> list[str]:
    """Mark changes of the path; which kinds there are in sight."""
    shown = []
    for one in paths.stretches():
        if one.change in CHANGES and frame.start_s <= one.start_s <= frame.end_s:
            _, colour, style = CHANGES[one.change]
            panel.axvline(one.start_s, color=colour, linestyle=style, linewidth=1.1, zorder=0.5)
            shown.append(one.change)
        if not one.satellites:
            panel.axvspan(one.start_s, one.end_s, color=GREY, alpha=0.16, linewidth=0, zorder=0)
    return [name for name in CHANGES if name in shown]
