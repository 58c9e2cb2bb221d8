"""Extension of the paper: figures 14 to 16 with larger windows, and with current senders."""

from typing import NamedTuple

from optcp.papers.kit import Axis, Chosen, Exhibit, Findings, Found, Grid, Key, Options, Settings, Setup, rows, runs_of
from optcp_papers.obs.lossless import LOSSLESS
from optcp_papers.obs.paper import (
    ACKS,
    BESIDE,
    PAPER,
    TIMER,
    WINDOW,
    WORLD,
    curves,
    goodput_mbps,
    grid,
    segments_per_burst,
    settings,
)

RUNS = 30
QUICK_RUNS = 2
LOSSY, WITHOUT = "lossy", "lossless"
LARGER = (4 * WINDOW, 20 * WINDOW)
"""Windows in segments; the last is above the 833 segments that 100 Mb/s and 100 ms hold."""
_LINUX = {"tcp.file.profile": "linux-6", "parameters.ack": "delayed", "tcp.file.ack_delay": "40 ms"}
_BBR = {"tcp.file.congestion": "bbr", "tcp.file.pacing": "rate", "tcp.file.loss_detection": "rack"}
SENDERS = {
    "linux-6": _LINUX,
    "linux-6, standard slow start": {**_LINUX, "tcp.file.slow_start": "standard"},
    "BBR": {**_LINUX, **_BBR},
}
"""Senders with Linux's receiver, whose window is unlimited and which delays ACKs by 40 ms."""
NOTE = (
    "Goodput with a burst loss probability of 0.001, and segments per burst without losses, as in the paper. "
    "`ack_timer` linux: the receiver of Linux, which delays ACKs by 40 ms except at the start."
)


class Way(NamedTuple):
    """Sender with its receiver.

    Attributes
    ----------
    sender
        Name in rows.
    ack_timer
        A key of ACKS, or "linux".
    settings
        Settings of the scenario's flow.
    recovery
        "reno" or "sack".
    """

    sender: str
    ack_timer: str
    settings: Settings
    recovery: str


WAYS = (
    *(
        Way(f"{name}, {window} segments", ack, {"tcp.file.window_limit": f"{window} segments"}, recovery)
        for recovery, name in (("reno", "Reno"), ("sack", "SACK"))
        for window in (WINDOW, *LARGER)
        for ack in ("none", "exact")
    ),
    *(Way(name, "linux", own, "sack") for name, own in SENDERS.items()),
)
BY_NAME = {f"{way.sender}, ACK {way.ack_timer}": way for way in WAYS}
AXES = (Axis("way", tuple(BY_NAME)), BESIDE, TIMER)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return each combination with the paper's loss probability, and without losses for segments per burst."""

    def cell(way: str, background: str, timer_s: float) -> Settings:
        _, ack_timer, own, recovery = BY_NAME[way]
        return {**settings(timer_s, background, ack_timer if ack_timer in ACKS else "none", recovery), **own}

    return {
        name: grid(f"obs/today, {name}", [AXES], cell, {**LOSSLESS, **more}, chosen, options)
        for name, more in ((LOSSY, {"parameters.loss_probability": 0.001}), (WITHOUT, {}))
    }


def find(found: Found) -> Findings:
    """Return goodput and segments per burst."""
    goodput = rows({"goodput_mbps": found.done[LOSSY].once(goodput_mbps).mean()}, key=key)
    segments = rows({"segments_per_burst": found.done[WITHOUT].once(segments_per_burst).mean()}, key=key)
    series = [*curves(goodput, "goodput", "Mb/s"), *curves(segments, "segments per burst", "")]
    return Findings([*goodput, *segments], {}, series, [NOTE])


def key(at: Key) -> Key:
    """Return the key of rows."""
    way = BY_NAME[str(at["way"])]
    return {
        "timer_s": at["timer_s"],
        "sender": way.sender,
        "background": at["background"],
        "ack_timer": way.ack_timer,
    }


TODAY = Exhibit(
    "obs/today",
    "Goodput and segments a burst with larger windows, CUBIC and BBR",
    "beyond the paper",
    Setup(PAPER, None, grids, runs_of(RUNS, QUICK_RUNS, {WITHOUT: (RUNS // 3, QUICK_RUNS)}), WORLD),
    find,
)
