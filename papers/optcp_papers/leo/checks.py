"""What must hold in Hypatia's experiment, whoever simulates it: round trips, windows, an outage."""

import functools

import numpy as np
from numpy.typing import NDArray

from optcp.constellation import Series
from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Axis, Grid, Key, Options, Part, StoredRun, exact_part, once
from optcp.papers.model import Series as Curve
from optcp_papers.leo import windows
from optcp_papers.leo.paper import ASSUMED, PAPER, SENDERS, rate, sender
from optcp_papers.leo.worlds import SEGMENT_BITS, Made, Worlds, chosen_rate, empty_ms, grid, queue

NAMES = ("newreno", "vegas")
SETTLED_S = 5.0
"""How long a path must have stayed for its window to be compared."""
TOLERANCE = 0.05
"""Of a window."""
MEASURED = (
    "least_ms", "greatest_ms", "peak_least_share", "peak_most_share",
    "dark_bytes", "back_s", "timer_before_ms", "way_ms",
)  # fmt: skip
GRACE_S = 0.1
"""What left before an outage may come for so long."""
OBSERVE = [
    {"name": "packets", "kind": "packets"},
    {"name": "tcp", "kind": "tcp"},
    {"name": "events", "kind": "reordering"},
]
NOTES = [
    "`least_ms` and `greatest_ms` are round trips less that of the path and what its links take to transmit, of "
    "segments sent and acknowledged over one path, the latter where it has stayed for a while; `peak_..._share` are "
    f"windows at the beginning of a recovery over what path and queue hold there. A while are {SETTLED_S:g} s. "
    "`dark_bytes` came while there was no path; the first segment comes `back_s` behind that, `timer_before_ms` after "
    "a timer expired, and `way_ms` is what its way takes.",
]


def made(pair: str, name: str, rate_mbps: float, packets: float) -> Made:
    """The world of a pair and a sender in the published window."""
    found = windows.window(pair, windows.PUBLISHED_S)
    return found, rate_mbps, {**queue(packets), **sender(SENDERS[name]), "observe": OBSERVE}


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Both senders of Hypatia over pairs."""
    worlds: Worlds = {
        (pair, name): functools.partial(made, pair, name, chosen_rate(chosen), float(chosen["queue_packets"]))
        for pair in windows.PAIRS
        for name in NAMES
    }
    return {"checks": grid("leo checks", worlds, ("pair", "sender"), options)}


def round_trips(run: StoredRun) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """When segments were sent and acknowledged, in s: those sent once that are the newest of an ACK for two at most."""
    packets = run.series["packets"]
    at_s, seq = packets["time_ps"].astype(np.float64) / PS, packets["seq"]
    what = np.array(packets["events"])[packets["event"]]
    # A SYN is shorter than a segment, and takes less time to transmit.
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


def beyond_ms(run: StoredRun, found: Series, rate_mbps: float) -> tuple[float, float]:
    """The least and the greatest of round trips less those without a queue, where both ends are in one stretch.

    The greatest is where the path has stayed for a while: behind a change packets of two paths meet in satellites.
    """
    sent, acknowledged = round_trips(run)
    starts = np.array([one.start_s for one in found.stretches()]) - found.seconds[0]
    stretch = np.searchsorted(starts, sent, "right")
    same = stretch == np.searchsorted(starts, acknowledged, "right")
    more = 1000 * (acknowledged - sent) - empty_ms(found, rate_mbps)[(sent / windows.STEP_S).astype(np.int64)]
    return float(more[same].min()), float(more[same & (sent >= starts[stretch - 1] + SETTLED_S)].max())


def holds(found: Series, rate_mbps: float, packets: float) -> NDArray[np.float64]:
    """How many segments path and queue hold, each step."""
    return empty_ms(found, rate_mbps) * 1000 * rate_mbps / SEGMENT_BITS + packets


def peaks(run: StoredRun, found: Series, rate_mbps: float, packets: float) -> NDArray[np.float64]:
    """Windows at the beginning of recoveries over what path and queue hold, where the path has stayed for a while."""
    tcp, events = run.series["tcp"], run["events"]
    at_ps, cwnd = tcp["time_ps"], tcp["cwnd_bytes"].astype(np.float64) / 1380
    held = holds(found, rate_mbps, packets)
    starts = np.array([one.start_s for one in found.stretches()]) - found.seconds[0]
    shares = []
    for when_ps in events.where(event="recovery")["time_ps"].tolist():
        when = when_ps / PS
        before = starts[starts <= when][-1]
        step = int(when / windows.STEP_S)
        if when - before >= SETTLED_S and np.isfinite(held[step]):
            shares.append(cwnd[np.searchsorted(at_ps, when_ps) - 1] / held[step])
    return np.array(shares)


def outage(run: StoredRun, found: Series, rate_mbps: float) -> list[float]:
    """Of the last outage what :data:`MEASURED` has; NaN where there is none."""
    if not found.outages():
        return [np.nan] * 4
    begins, ends = (at - float(found.seconds[0]) for at in found.outages()[-1])
    packets = run.series["packets"]
    at_s = packets["time_ps"].astype(np.float64) / PS
    data = (np.array(packets["events"])[packets["event"]] == "arrived") & ~packets["ack"].astype(bool)
    arrived = at_s[data]
    expired = run["events"].where(event="timeout")["time_ps"] / PS
    back = float(arrived[arrived > ends][0])
    step = int(back / windows.STEP_S)
    way_ms = found.rtt_ms[step] / 2 + (len(found.paths[step]) + 1) * SEGMENT_BITS / rate_mbps / 1000
    came = float(((arrived > begins + GRACE_S) & (arrived <= ends)).sum()) * 1380
    return [came, back - ends, 1000 * (back - float(expired[expired < back][-1])), way_ms]


def measure(run: StoredRun, rate_mbps: float, packets: float) -> NDArray[np.float64]:
    """Everything of :data:`MEASURED`."""
    found = windows.window(run.cell["pair"], windows.PUBLISHED_S).series
    shares = peaks(run, found, rate_mbps, packets)
    least, most = (shares.min(), shares.max()) if shares.size else (np.nan, np.nan)
    return np.array([*beyond_ms(run, found, rate_mbps), least, most, *outage(run, found, rate_mbps)])


def find(found: Found) -> Findings:
    """Every metric by pair and sender, and windows over time beside what path and queue hold."""
    rate_mbps, packets = found.number("rate_mbps"), found.number("queue_packets")
    cells = found.only.each(lambda run: measure(run, rate_mbps, packets), Axis("metric", MEASURED))
    found_rows = [one for one in rows({metric: cells.at(metric=metric).mean() for metric in MEASURED}) if one.n]
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


def window(run: StoredRun) -> NDArray[np.float64]:
    """The congestion window at the beginning of each step, in segments."""
    tcp = run.series["tcp"]
    at = np.searchsorted(
        tcp["time_ps"] / PS, windows.STEP_S * np.arange(round(windows.LENGTH_S / windows.STEP_S)), "right"
    )
    return np.asarray(tcp["cwnd_bytes"].astype(np.float64)[np.maximum(at - 1, 0)] / 1380)


def _curve(key: Key, values: NDArray[np.float64]) -> Curve:
    """Half a second apart; steps without a path are left out."""
    at = np.arange(0, len(values), 5)
    at = at[np.isfinite(values[at])]
    x, y = (windows.STEP_S * at).round(3).tolist(), values[at].round(2).tolist()
    return Curve("window", key, "time", "s", "window", "segments", x, y)


def claims(values: dict[tuple[str, str], dict[str, float]], rate_mbps: float, packets: float) -> dict[str, list[Part]]:
    """Each statement; nothing is drawn, so that it holds or not."""
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
            one
            for at in dark
            for one in (
                part(at, "dark_bytes", 0, 0),
                part(at, "back_s", 0.0, np.inf),
                part(at, "timer_before_ms", values[at]["way_ms"] - 1, values[at]["way_ms"] + 1),
            )
        ],
    }


CHECKS = Exhibit(
    "leo/checks",
    "What must hold in Hypatia's experiment",
    "Hypatia (IMC 2020), section 4 and the program's experiment a_b",
    Setup(PAPER, None, grids, once, (rate(10.0), *ASSUMED)),
    find,
)
