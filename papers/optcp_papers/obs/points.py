"""The points that the paper numbers in the figures of a window: where a trace has them."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.papers.kit import Key, Row, Series, row
from optcp_papers.obs.traces import FIRST_LOST, Trace

First = Literal["loss", "detection"]


class Point(NamedTuple):
    """One number of a figure; duplicate ACKs share one.

    Attributes
    ----------
    at_s, cwnd
        Seconds from the start of the run, and segments; equally long.
    """

    at_s: NDArray[np.float64]
    cwnd: NDArray[np.float64]


def lost_at_s(one: Trace) -> float:
    """When the first of the lost segments was sent."""
    return float(one.sent[one.sent[:, 1] == FIRST_LOST][0, 0]) / 1e12


def numbered(one: Trace, first: First) -> dict[int, Point]:
    """Find the points of section III.B.

    Parameters
    ----------
    first
        What the paper has as point 1: the loss (figures 3 and 4), or its detection by the third duplicate ACK,
        where the window is still that of before (figures 5 and 6).

    Returns
    -------
    dict
        1: see ``first``; 2: the window as recovery begins; 3: at each further duplicate ACK; 4: as the ACK of the
        retransmission ends recovery; 5: as the timer expires, where it does.
    """
    begin, end = one.span()
    at_s = lost_at_s(one) if first == "loss" else float(one.at_s[begin])
    before = int(np.searchsorted(one.at_s, at_s, side="right")) - 1 if first == "loss" else begin - 1
    further = one.duplicates_s[(one.duplicates_s > one.at_s[begin]) & (one.duplicates_s < one.at_s[end])]
    held = np.searchsorted(one.at_s, further, side="right") - 1
    found = {
        1: Point(np.array([at_s]), one.cwnd[[before]]),
        2: Point(one.at_s[[begin]], one.cwnd[[begin]]),
        3: Point(further, one.cwnd[held]),
        4: Point(one.at_s[[end]], one.cwnd[[end]]),
    }
    if one.timeouts[-1]:
        expiry = int(np.argmax(one.timeouts > 0))
        found[5] = Point(one.at_s[[expiry]], one.cwnd[[expiry]])
    return found


def point_rows(sender: str, one: Trace, first: First) -> list[Row]:
    """When each point is, in milliseconds from the loss, and how large the window is there; of point 3 both ends."""
    rows = []
    for number, point in numbered(one, first).items():
        ends = {f"{number}": 0} if point.at_s.size == 1 else {f"{number}, first": 0, f"{number}, last": -1}
        for label, place in ends.items():
            key: Key = {"recovery": sender, "point": label}
            after_ms = 1e3 * (float(point.at_s[place]) - lost_at_s(one))
            rows.append(row(key, "after_loss_ms", None, stats.mean([after_ms]), ""))
            rows.append(row(key, "cwnd_segments", None, stats.mean([float(point.cwnd[place])]), ""))
    return rows


def point_curves(sender: str, one: Trace, first: First) -> list[Series]:
    """One series a number, to be marked on the window over time."""
    return [
        Series(
            "point",
            {"recovery": sender, "point": number},
            "time",
            "s",
            "congestion window",
            "segments",
            point.at_s.round(6).tolist(),
            point.cwnd.round(4).tolist(),
        )
        for number, point in numbered(one, first).items()
    ]
