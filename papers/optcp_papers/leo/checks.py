"""Checks of Hypatia's experiment that are independent of the simulator: RTTs, windows, and an outage."""

import functools

import numpy as np
from numpy.typing import NDArray

from optcp.constellation import Series
from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Axis, Grid, Key, Options, Part, Run, exact_part, once
from optcp.papers.model import Series as Curve
from optcp_papers.leo import windows
from optcp_papers.leo.paper import ASSUMED, PAPER, SENDERS, rate, sender
from optcp_papers.leo.worlds import SEGMENT_BITS, Made, Worlds, chosen_rate, empty_ms, grid, queue

NAMES = ("newreno", "vegas")
SETTLED_S = 5.0
"""Minimum time since a path change for a comparison of its window, in s."""
TOLERANCE = 0.05
"""Of a window."""
MEASURED = (
    "least_ms", "greatest_ms", "peak_least_share", "peak_most_share",
    "dark_bytes", "back_s", "timer_before_ms", "way_ms",
)  # fmt: skip
GRACE_S = 0.1
"""Time for which packets sent before an outage may still arrive, in s."""
OBSERVE = [
    {"name": "packets", "kind": "packets"},
    {"name": "tcp", "kind": "tcp"},
    {"name": "events", "kind": "reordering"},
]
NOTES = [
    "`least_ms` and `greatest_ms` are RTTs minus the RTT of the path and its transmission times, of "
    "segments sent and acknowledged over one path, the latter if it has been stable; `peak_..._share` are "
    f"windows at the start of a recovery over the capacity of path and queue there. Stable means for {SETTLED_S:g} s. "
    "`dark_bytes` arrived while there was no path. The first segment arrives `back_s` after that, `timer_before_ms` "
    "after an RTO, and `way_ms` is its one-way delay.",
]


def pair_scenario(pair: str, name: str, rate_mbps: float, packets: float) -> Made:
    """Return the scenario of a pair and a sender in the published window."""
    result = windows.window(pair, windows.PUBLISHED_S)
    return result, rate_mbps, {**queue(packets), **sender(SENDERS[name]), "observe": OBSERVE}


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grid of both senders of Hypatia over pairs."""
    worlds: Worlds = {
        (pair, name): functools.partial(pair_scenario, pair, name, chosen_rate(chosen), float(chosen["queue_packets"]))
        for pair in windows.PAIRS
        for name in NAMES
    }
    return {"checks": grid("leo checks", worlds, ("pair", "sender"), options)}


def round_trips(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return send and ACK times in s of segments sent once that are the newest of an ACK for at most two."""
    packets = run["packets"]
    at_s, seq, what = packets.seconds, packets["seq"], packets["event"]
    # A SYN is shorter than a segment, so its transmission time differs.
    data = (what == "sent") & (packets["bytes"] == SEGMENT_BITS // 8)
    first = dict(zip(seq[data].tolist(), at_s[data].tolist(), strict=True))
    again = set(seq[what == "resent"].tolist())
    found, before = [], 0
    for when, number in zip(at_s[what == "acked"].tolist(), seq[what == "acked"].tolist(), strict=True):
        newest = number - 1
        if 0 < number - before <= 2 and newest in first and newest not in again:
            found.append((first[newest], when))
        before = max(before, number)
    sent, acknowledged = np.array(found).T
    return sent, acknowledged


def beyond_ms(run: Run, found: Series, rate_mbps: float) -> tuple[float, float]:
    """Return minimum and maximum of RTTs minus those without a queue, if both ends are in one stretch.

    The maximum is only over stable paths: after a change, packets of two paths meet in satellites.
    """
    sent, acknowledged = round_trips(run)
    starts = np.array([item.start_s for item in found.stretches()]) - found.seconds[0]
    stretch = np.searchsorted(starts, sent, "right")
    same = stretch == np.searchsorted(starts, acknowledged, "right")
    more = 1000 * (acknowledged - sent) - empty_ms(found, rate_mbps)[(sent / windows.STEP_S).astype(np.int64)]
    return float(more[same].min()), float(more[same & (sent >= starts[stretch - 1] + SETTLED_S)].max())


def holds(found: Series, rate_mbps: float, packets: float) -> NDArray[np.float64]:
    """Return the number of segments that path and queue hold, by step."""
    return empty_ms(found, rate_mbps) * 1000 * rate_mbps / SEGMENT_BITS + packets


def peaks(run: Run, found: Series, rate_mbps: float, packets: float) -> NDArray[np.float64]:
    """Return the windows at the start of recoveries over the capacity of path and queue, on stable paths."""
    tcp, events = run["tcp"], run["events"]
    at_ps, cwnd = tcp["time_ps"], tcp["cwnd_bytes"].astype(np.float64) / 1380
    held = holds(found, rate_mbps, packets)
    starts = np.array([stretch.start_s for stretch in found.stretches()]) - found.seconds[0]
    shares = []
    for when_ps in events.where(event="recovery")["time_ps"].tolist():
        when = when_ps / PS
        before = starts[starts <= when][-1]
        step = int(when / windows.STEP_S)
        if when - before >= SETTLED_S and np.isfinite(held[step]):
            shares.append(cwnd[np.searchsorted(at_ps, when_ps) - 1] / held[step])
    return np.array(shares)


def outage(run: Run, found: Series, rate_mbps: float) -> list[float]:
    """Return the metrics of the last outage in :data:`MEASURED`; NaN without an outage."""
    if not found.outages():
        return [np.nan] * 4
    begins, ends = (at - float(found.seconds[0]) for at in found.outages()[-1])
    packets = run["packets"].where(event="arrived")
    arrived = packets.seconds[~packets["ack"]]
    expired = run["events"].where(event="timeout")["time_ps"] / PS
    back = float(arrived[arrived > ends][0])
    step = int(back / windows.STEP_S)
    way_ms = found.rtt_ms[step] / 2 + (len(found.paths[step]) + 1) * SEGMENT_BITS / rate_mbps / 1000
    came = float(((arrived > begins + GRACE_S) & (arrived <= ends)).sum()) * 1380
    return [came, back - ends, 1000 * (back - float(expired[expired < back][-1])), way_ms]


def measure(run: Run, rate_mbps: float, packets: float) -> NDArray[np.float64]:
    """Return all :data:`MEASURED`."""
    result = windows.window(run.cell["pair"], windows.PUBLISHED_S).series
    shares = peaks(run, result, rate_mbps, packets)
    least, most = (shares.min(), shares.max()) if shares.size else (np.nan, np.nan)
    return np.array([*beyond_ms(run, result, rate_mbps), least, most, *outage(run, result, rate_mbps)])


def find(found: Found) -> Findings:
    """Return all metrics by pair and sender, and windows over time with the capacity of path and queue."""
    rate_mbps, packets = found.number("rate_mbps"), found.number("queue_packets")
    cells = found.only.each(lambda run: measure(run, rate_mbps, packets), Axis("metric", MEASURED))
    found_rows = [row for row in rows({metric: cells.at(metric=metric).mean() for metric in MEASURED}) if row.n]
    values = {(pair, name): dict(zip(MEASURED, cells.at(pair=pair, sender=name).values[0], strict=True))
              for pair in windows.PAIRS for name in NAMES}  # fmt: skip
    curves = []
    for pair in windows.PAIRS:
        series = windows.window(pair, windows.PUBLISHED_S).series
        curves += [
            _curve({"pair": pair, "sender": "path"}, holds(series, rate_mbps, 0)),
            _curve({"pair": pair, "sender": "path and queue"}, holds(series, rate_mbps, packets)),
        ]
    for branch in found.only.grid.branches:
        run = found.only.run(branch, found.only.seeds[0])
        curves.append(_curve(dict(branch.key), window(run)))
    return Findings(found_rows, claims(values, rate_mbps, packets), curves, NOTES)


def window(run: Run) -> NDArray[np.float64]:
    """Return the congestion window at the start of each step, in segments."""
    tcp = run["tcp"]
    at = np.searchsorted(
        tcp["time_ps"] / PS, windows.STEP_S * np.arange(round(windows.LENGTH_S / windows.STEP_S)), "right"
    )
    return np.asarray(tcp["cwnd_bytes"].astype(np.float64)[np.maximum(at - 1, 0)] / 1380)


def _curve(key: Key, values: NDArray[np.float64]) -> Curve:
    """Return a curve with a point every 0.5 s, without steps that have no path."""
    at = np.arange(0, len(values), 5)
    at = at[np.isfinite(values[at])]
    x, y = (windows.STEP_S * at).round(3).tolist(), values[at].round(2).tolist()
    return Curve("window", key, "time", "s", "window", "segments", x, y)


def claims(values: dict[tuple[str, str], dict[str, float]], rate_mbps: float, packets: float) -> dict[str, list[Part]]:
    """Return all claims; nothing is random, so each is exact."""
    segment_ms = SEGMENT_BITS / rate_mbps / 1000

    def part(at: tuple[str, str], metric: str, low: float, high: float) -> Part:
        value = values[at][metric]
        return exact_part(
            f"{at[0]}, {at[1]}, {metric}: {value:.3f}, from {low:.3f} to {high:.3f}", low <= value <= high
        )

    reno = [(pair, "newreno") for pair in windows.PAIRS]
    dark = [at for at in values if np.isfinite(values[at]["back_s"])]
    return {
        "leo-least-round-trip": [part(at, "least_ms", -0.05, segment_ms + 0.05) for at in values],
        "leo-full-queue": [part(at, "greatest_ms", packets * segment_ms, (packets + 1) * segment_ms) for at in reno],
        "leo-newreno-fills-path-and-queue": [
            part(at, metric, 1 - TOLERANCE, 1 + TOLERANCE)
            for at in reno
            for metric in ("peak_least_share", "peak_most_share")
        ],
        "leo-outage-ends-with-a-timer": [
            item
            for at in dark
            for item in (
                part(at, "dark_bytes", 0, 0),
                part(at, "back_s", 0.0, np.inf),
                part(at, "timer_before_ms", values[at]["way_ms"] - 1, values[at]["way_ms"] + 1),
            )
        ],
    }


CHECKS = Exhibit(
    "leo/checks",
    "Invariants in Hypatia's experiment",
    "Hypatia (IMC 2020), section 4 and the program's experiment a_b",
    Setup(PAPER, None, grids, once, (rate(10.0), *ASSUMED)),
    find,
)
