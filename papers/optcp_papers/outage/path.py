"""One flow on one path: settings of the scenario, and evaluation of the sender's behaviour."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.outage.study import SENDERS
from optcp.papers.kit import Run, Settings
from optcp_papers.outage.law import Timers, Way, Wheel

FAILURE_S = 4.0
TICK_S = 0.004
"""Tick of the profile `linux-6`."""
CORE_SHARE = 0.2
"""Share of the failing link in the one-way delay."""
PLACES = {"near": 0.1, "middle": 0.4, "far": 0.7}
"""Share of the one-way delay before the failing link."""
WATCHED_RTTS = (2, 6)
"""Number of RTTs before and after the failure with packet traces."""


def way(rtt_ms: float, place: str, rate_bps: float) -> Way:
    """Return the path of a propagation RTT and a position of the failure."""
    half_s = rtt_ms / 2000
    near_s, core_s = PLACES[place] * half_s, CORE_SHARE * half_s
    return Way(near_s, core_s, half_s - near_s - core_s, rate_bps)


def settings(path: Way) -> Settings:
    """Return the scenario settings of a path."""
    before_s, after_s = (times * path.rtt_s for times in WATCHED_RTTS)
    watched = {"after": f"{FAILURE_S - before_s:.6f} s", "until": f"{FAILURE_S + after_s:.6f} s"}
    return {
        "parameters.rate": f"{path.rate_bps:.0f} bps",
        "parameters.near": f"{1e6 * path.near_s:.0f} us",
        "parameters.core": f"{1e6 * path.core_s:.0f} us",
        "parameters.far": f"{1e6 * path.far_s:.0f} us",
        "parameters.window": f"{path.window} segments",
        "observe": [
            {"name": "events", "kind": "reordering"},
            {"name": "outages", "kind": "outages", "after": f"{FAILURE_S:g} s"},
            {"name": "packets", "kind": "packets", **watched},
        ],
    }


def lasting(outage_s: float, more_s: float = 1.0) -> dict[str, str]:
    """Return the settings of an outage; the run lasts until every sender has recovered, plus ``more_s``."""
    return {
        "parameters.works": f"{FAILURE_S + outage_s:.6f} s",
        "stop": f"{FAILURE_S + 2.4 * outage_s + 2.2 + more_s:.6f} s",
    }


def sender(name: str) -> dict[str, str]:
    """Return the settings of a sender. BBR has no window limit, because its spare window matters here."""
    result = {f"tcp.sender.{key}": value for key, value in SENDERS[name].items()}
    return {**result, "tcp.sender.window_limit": "unlimited"} if name == "bbr" else result


@dataclass(frozen=True)
class Seen:
    """Observed behaviour of a sender in an outage; times in seconds from the failure.

    Attributes
    ----------
    last_sent_s
        Time of the last segment before the stall.
    srtt_s
        Smoothed RTT before the stall.
    case
        "clock" if ACKs continued, "probe" or "timeout".
    timeouts
        Number of RTOs before the first segment got through.
    resume_s
        Time of the segment that ended the stall; NaN with an ACK clock.
    repair_s
        Time of the first retransmission that an ACK requested.
    first_ack_s
        Time of the first ACK after the link worked again.
    """

    last_sent_s: float
    srtt_s: float
    case: str
    timeouts: int
    resume_s: float
    repair_s: float
    first_ack_s: float


def seen(run: Run, path: Way, outage_s: float) -> Seen:
    """Evaluate the packets of a run around the failure, and its retransmissions and RTOs."""
    return seen_at(run, path, FAILURE_S, outage_s)


def seen_at(run: Run, path: Way, failed_s: float, outage_s: float = 0.0) -> Seen:
    """Evaluate a run like :func:`seen`, with the failure at another time."""
    packets = run["packets"]
    at_s, names = packets.seconds - failed_s, packets["event"]
    sent = (names == "sent") | (names == "resent")
    acknowledged = names == "acked"
    sent_s, acks_s = at_s[sent], at_s[acknowledged]
    seq = packets["seq"]
    sent_at = dict(zip(seq[sent].tolist(), sent_s.tolist(), strict=True))
    acks = zip(acks_s.tolist(), seq[acknowledged].tolist(), strict=True)
    srtt_s = _srtt_s(acks, sent_at, path.rtt_s)
    last_sent_s = _last_sent_s(sent_s, path.rtt_s)

    when, what = _events(run, failed_s)
    timeouts_s = when[what == "timeout"]
    # An RTO retransmits its segment at the same time. All other retransmissions were requested by an ACK.
    asked = when[(what == "resent") & ~np.isin(when, timeouts_s)]
    probes_s = _probes_s(sent_s, acks_s, srtt_s, timeouts_s)
    asked_s = asked[~np.isin(asked, probes_s)]
    repair_s = float(asked_s[0]) if asked_s.size else np.nan
    expired = timeouts_s[timeouts_s < repair_s]
    later = acks_s[acks_s > outage_s]
    first_ack_s = float(later[0]) if later.size else np.nan
    if expired.size:
        return Seen(last_sent_s, srtt_s, "timeout", expired.size, float(expired[-1]), repair_s, first_ack_s)
    if probes_s.size:
        return Seen(last_sent_s, srtt_s, "probe", 0, float(probes_s[-1]), repair_s, first_ack_s)
    return Seen(last_sent_s, srtt_s, "clock", 0, np.nan, repair_s, first_ack_s)


def repaired_s(run: Run, failed_s: float, repair_s: float) -> float:
    """Return the time of the last retransmission of a repair, which precedes a second without any."""
    when, what = _events(run, failed_s)
    resent = when[(what == "resent") & (when >= repair_s)]
    if not resent.size:
        return repair_s
    pauses = np.flatnonzero(np.diff(resent) > 1.0)
    return float(resent[pauses[0]] if pauses.size else resent[-1])


def _events(run: Run, failed_s: float) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Return times and names of the sender's events after the failure."""
    when = run["events"].seconds - failed_s
    return when[when > 0], run["events"]["event"][when > 0]


def _srtt_s(acks: Iterable[tuple[float, int]], sent_at: Mapping[int, float], rtt_s: float) -> float:
    """Return the smoothed RTT (gain 1/8) of ACKs until the first pause after the failure, from their oldest segment."""
    result, before, last = np.nan, None, 0.0
    for when, number in acks:
        if when > 0 and when - max(last, 0.0) > rtt_s / 4:
            break
        if before is not None and number > before and before in sent_at:
            rtt = when - sent_at[before]
            result = rtt if np.isnan(result) else (7 * result + rtt) / 8
        before, last = number, when
    return float(result)


def _last_sent_s(sent_s: NDArray[np.float64], rtt_s: float) -> float:
    """Return the last transmission before the first pause of a tenth of an RTT after the failure."""
    paused = (np.diff(sent_s) > rtt_s / 10) & (sent_s[1:] > 0)
    return float(sent_s[:-1][paused][0]) if paused.any() else float(sent_s[-1])


def _probes_s(
    sent_s: NDArray[np.float64], acks_s: NDArray[np.float64], srtt_s: float, timeouts_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return transmissions after 1.5 RTTs without transmissions, ACKs and RTOs."""
    quiet = (np.diff(sent_s) > 1.5 * srtt_s) & (sent_s[1:] > 0)
    result = [
        item for item in sent_s[1:][quiet].tolist() if not ((acks_s > item - 1.5 * srtt_s) & (acks_s <= item)).any()
    ]
    return np.array([item for item in result if item not in timeouts_s], dtype=np.float64)


def timers(name: str, found: Seen) -> Timers:
    """Return the timers of a sender from its observed smoothed RTT, which belongs to a steady path."""
    modern = name in ("cubic", "bbr")
    return Timers(
        srtt_s=found.srtt_s,
        rto_s=max(1.0, found.srtt_s) if name == "newreno" else found.srtt_s + 0.2,
        longest_s=120.0 if modern else 60.0,
        modern=modern,
        ack_delay_s=0.04 if modern else 0.0,
        wheel=Wheel(TICK_S) if modern else None,
    )


def gap_s(run: Run) -> float:
    """Return the longest time without new in-order bytes after the failure, minus the usual one, in s."""
    seen = run["outages"]
    return float(int(seen["gap_ps"][0]) - int(seen["usual_gap_ps"][0])) / PS
