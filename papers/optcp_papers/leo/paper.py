"""Name, senders and assumptions that all experiments of the study share."""

from optcp.papers.kit import Assumed, Settings, built_in, positive, positive_int

PAPER = "TCP over moving satellites (a study of this project, in the set-up of Hypatia, IMC 2020)"
PAYLOAD_SHARE = 1380 / 1434
"""Payload over size on the wire of a segment."""
HEADERS = {"mss": "1380 B", "header": "42 B", "ack_size": "42 B", "handshake": True}
"""Settings of all senders: the delays of a scenario are for segments of this size."""
SENDERS: dict[str, Settings] = {
    "newreno": {},
    "vegas": {"congestion": "vegas"},
    "cubic": {"congestion": "cubic"},
    "linux": {"profile": "linux-6"},
    "bbr": {"profile": "linux-6-bbr"},
    "bbr3": {"profile": "linux-6-bbr", "congestion": "bbr3"},
}
"""Settings in a table of ``[tcp]``. Without a profile a sender is ns-3's, as in the scenario; otherwise Linux's."""
LABELS = {
    "newreno": "NewReno", "vegas": "Vegas", "cubic": "CUBIC", "linux": "Linux (CUBIC)", "bbr": "BBR", "bbr3": "BBRv3",
}  # fmt: skip

ASSUMED = (
    Assumed("queue_packets", 100, positive_int),
    built_in("flow", "one, without end, from the beginning of a run on, segments of 1380 B (1434 B on the wire)"),
    built_in("tables", "all nodes have new ones every 100 ms; a queue at every hop, all links equally fast"),
)
"""Unstated parameters of all experiments."""


def rate(mbps: float) -> Assumed:
    """Return the parameter for the rate of all links."""
    return Assumed("rate_mbps", mbps, positive)


def sender(of: Settings) -> Settings:
    """Return the settings of a sender: its table in addition to the scenario's, or instead of it with a profile."""
    if "profile" not in of:
        return {f"tcp.long.{key}": value for key, value in of.items()}
    return {"tcp.long": {**of, **HEADERS}}
