"""Numbered points in the paper's figures of the congestion window, and their positions in a trace."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optcp import stats
from optcp.papers.kit import Key, Row, Series, row
from optcp_papers.obs.traces import FIRST_LOST, Trace

First = Literal["loss", "detection"]


class Point(NamedTuple):
    """One number of a figure, which several duplicate ACKs can share.

    Attributes
    ----------
    at_s, cwnd
        Times from the start of the run in s, and windows in segments, of equal length.
    """

    at_s: NDArray[np.float64]
    cwnd: NDArray[np.float64]


def lost_at_s(one: Trace) -> float:
    """Return the time at which the first of the lost segments was sent."""
    return float(one.sent[one.sent[:, 1] == FIRST_LOST][0, 0]) / 1e12


def numbered(one: Trace, first: First) -> dict[int, Point]:
    """Return the points of section III.B.

    Parameters
    ----------
    first
        Event at point 1 of the paper. In figures 3 and 4 it is the loss, in figures 5 and 6 its detection by the third
        duplicate ACK with the previous window.

    Returns
    -------
    dict
        Times by point. 1: see ``first``. 2: window at the start of recovery. 3: each further duplicate ACK. 4: ACK of
        the retransmission, which ends recovery. 5: RTO, if there is one.
    """
    begin, end = one.span()
    at_s = lost_at_s(one) if first == "loss" else float(one.at_s[begin])
    before = int(np.searchsorted(one.at_s, at_s, side="right")) - 1 if first == "loss" else begin - 1
    further = one.duplicates_s[(one.duplicates_s > one.at_s[begin]) & (one.duplicates_s < one.at_s[end])]
    held = np.searchsorted(one.at_s, further, side="right") - 1
    result = {
        1: Point(np.array([at_s]), one.cwnd[[before]]),
        2: Point(one.at_s[[begin]], one.cwnd[[begin]]),
        3: Point(further, one.cwnd[held]),
        4: Point(one.at_s[[end]], one.cwnd[[end]]),
    }
    if one.timeouts[-1]:
        expiry = int(np.argmax(one.timeouts > 0))
        result[5] = Point(one.at_s[[expiry]], one.cwnd[[expiry]])
    return result


def point_rows(sender: str, one: Trace, first: First) -> list[Row]:
    """Return time (ms after the loss) and window of each point; for point 3 of its first and last one."""
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
    """Return one series per number, for markers on the window over time."""
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
