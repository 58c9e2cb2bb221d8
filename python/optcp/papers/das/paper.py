"""What all exhibits of the paper share: its name, its receivers, and what a run gives of its flows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from optcp.papers.assume import Assumed, built_in, not_negative, positive_int

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optcp.study import RunData

PAPER = "M. Mao, Z. Wen, K. L. Yeung: Enhancing TCP Performance in IP Fast Reroute, IEEE ICC 2012"

RECEIVERS = {"plain": "every", "das": "das", "das-bounded": "das-bounded"}
"""Names in the results, and the scenario's ``duplicate_acks``."""
SUPPRESSING = ("das", "das-bounded")
RECEIVER_AXIS = "parameters.receiver"

MSS_BYTES = 512
WIRE_BYTES = 552
"""What ns-2 counts of a packet: 40 bytes of headers beside the payload."""
PS = 1_000_000_000_000
"""Picoseconds a second."""


def scenario(name: str) -> Path:
    """A shipped scenario of this paper."""
    return Path(__file__).with_name("scenarios") / f"das-{name}.toml"


WORLD = (
    Assumed("profile", "ns2-2.35", str, lambda value: [("tcp.all.profile", str(value))]),
    Assumed(
        "first_ssthresh_packets",
        20,
        positive_int,
        lambda value: [("parameters.first_ssthresh", f"{value} packets")],
    ),
    Assumed(
        "start_within_ms", 100.0, not_negative, lambda value: [("parameters.start", f"uniform(0 s, {value:g} ms)")]
    ),
    built_in("window_packets", "unlimited"),
    built_in("queue_packets", "unlimited"),
    built_in("header_bytes", "40"),
)
"""Unstated parameters of the sender and of the starts. ns-2 begins with ssthresh at its window limit, 20."""


def events(run: RunData, event: str, start_s: float = 0.0, end_s: float = float("inf")) -> NDArray[np.int64]:
    """Instants in ps, in (start, end], of an event of the observation ``reordering``.

    Parameters
    ----------
    event
        "overtaken", "resent", "recovery" or "timeout".
    """
    rows = run.series["reordering"]
    time_ps = rows["time_ps"].astype(np.int64)
    seconds = time_ps / PS
    of_kind = rows["event"] == list(rows["events"]).index(event)
    found: NDArray[np.int64] = time_ps[of_kind & (seconds > start_s) & (seconds <= end_s)]
    return found


def payload_bytes(run: RunData) -> int:
    """Newly in-order bytes at the receivers of the observation ``goodput``, over the whole run."""
    return int(run.series["goodput"]["bytes"].sum())


def kbps(payload: float, seconds: float, packet_bytes: int = WIRE_BYTES) -> float:
    """Goodput in kb/s of so many payload bytes, each packet counted with ``packet_bytes``."""
    return payload * packet_bytes / MSS_BYTES * 8 / seconds / 1000
