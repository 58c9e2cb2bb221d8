"""What all exhibits of the paper share: its name, its receivers, and how goodput is counted."""

from pathlib import Path
from typing import TypeVar

from optcp.papers.kit import Assumed, Cells, built_in, not_negative, positive_int

PAPER = "M. Mao, Z. Wen, K. L. Yeung: Enhancing TCP Performance in IP Fast Reroute, IEEE ICC 2012"

RECEIVERS = {"plain": "every", "das": "das", "das-bounded": "das-bounded"}
"""Names in the results, and the scenario's ``duplicate_acks``."""
SUPPRESSING = ("das", "das-bounded")

MSS_BYTES = 512
WIRE_BYTES = 552
"""What ns-2 counts of a packet: 40 bytes of headers beside the payload."""
Payload = TypeVar("Payload", float, "Cells")


def scenario(name: str) -> Path:
    """A shipped scenario of this paper."""
    return Path(__file__).with_name("scenarios") / f"das-{name}.toml"


def receivers(*names: str) -> dict[str, dict[str, str]]:
    """The axis ``receiver`` of a grid: all of them, or those of some names."""
    return {name: {"parameters.receiver": RECEIVERS[name]} for name in names or RECEIVERS}


WORLD = (
    Assumed("profile", "ns2-2.35", str, "tcp.all.profile"),
    Assumed(
        "first_ssthresh_packets",
        20,
        positive_int,
        "parameters.first_ssthresh",
    ),
    Assumed(
        "start_within_ms",
        100.0,
        not_negative,
        lambda value: {"parameters.start": f"uniform(0 s, {value:g} ms)"},
    ),
    built_in("window_packets", "unlimited"),
    built_in("queue_packets", "unlimited"),
    built_in("header_bytes", "40"),
)
"""Unstated parameters of the sender and of the starts. ns-2 begins with ssthresh at its window limit, 20."""


def kbps(payload: Payload, seconds: float, packet_bytes: int = WIRE_BYTES) -> Payload:
    """Goodput in kb/s of so many payload bytes, each packet counted with ``packet_bytes``."""
    return payload * packet_bytes / MSS_BYTES * 8 / seconds / 1000
