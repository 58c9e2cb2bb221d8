"""Name, receivers and definition of goodput that all experiments of the DAS paper share."""

from pathlib import Path
from typing import TypeVar

from optcp.papers.kit import Assumed, Cells, built_in, not_negative, positive_int

PAPER = "M. Mao, Z. Wen, K. L. Yeung: Enhancing TCP Performance in IP Fast Reroute, IEEE ICC 2012"

RECEIVERS = {"plain": "every", "das": "das", "das-bounded": "das-bounded"}
"""Values of the scenario's ``duplicate_acks``, by name in the results."""
SUPPRESSING = ("das", "das-bounded")

MSS_BYTES = 512
WIRE_BYTES = 552
"""Size that ns-2 counts per packet: the payload and 40 bytes of headers."""
Payload = TypeVar("Payload", float, "Cells")


def scenario(name: str) -> Path:
    """Return the path of a shipped scenario of this paper."""
    return Path(__file__).with_name("scenarios") / f"das-{name}.toml"


def receivers(*names: str) -> dict[str, dict[str, str]]:
    """Return the axis ``receiver`` of a grid, with all receivers or the receivers of some names."""
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
"""Unstated parameters of the sender and of the starts. In ns-2 the initial ssthresh is the window limit, 20."""


def kbps(payload: Payload, seconds: float, packet_bytes: int = WIRE_BYTES) -> Payload:
    """Return goodput in kb/s from payload bytes, where each packet counts ``packet_bytes``."""
    return payload * packet_bytes / MSS_BYTES * 8 / seconds / 1000
