"""What all exhibits of the study share: its name, its senders, and what it assumes."""

from optcp.papers.kit import Assumed, Settings, built_in, positive, positive_int

PAPER = "TCP over moving satellites (a study of this project, in the set-up of Hypatia, IMC 2020)"
PAYLOAD_SHARE = 1380 / 1434
"""Of what a segment is on the wire."""
HEADERS = {"mss": "1380 B", "header": "42 B", "ack_size": "42 B", "handshake": True}
"""What all senders have: delays of a world are those of segments of this size."""
SENDERS: dict[str, Settings] = {
    "newreno": {},
    "vegas": {"congestion": "vegas"},
    "cubic": {"congestion": "cubic"},
    "linux": {"profile": "linux-6"},
    "bbr": {"profile": "linux-6-bbr"},
    "bbr3": {"profile": "linux-6-bbr", "congestion": "bbr3"},
}
"""Of the table of ``[tcp]``. Without a profile a sender is that of ns-3, as the world has it; else it is Linux's."""
LABELS = {
    "newreno": "NewReno", "vegas": "Vegas", "cubic": "CUBIC", "linux": "Linux (CUBIC)", "bbr": "BBR", "bbr3": "BBRv3",
}  # fmt: skip

ASSUMED = (
    Assumed("queue_packets", 100, positive_int),
    built_in("flow", "one, without end, from the beginning of a run on, segments of 1380 B (1434 B on the wire)"),
    built_in("tables", "all nodes have new ones every 100 ms; a queue at every hop, all links equally fast"),
)
"""Unstated parameters that all exhibits have."""


def rate(mbps: float) -> Assumed:
    """The rate of all links."""
    return Assumed("rate_mbps", mbps, positive)


def sender(of: Settings) -> Settings:
    """The settings of a sender, given what its table has beside the world's, or with a profile in its place."""
    if "profile" not in of:
        return {f"tcp.long.{key}": value for key, value in of.items()}
    return {"tcp.long": {**of, **HEADERS}}
