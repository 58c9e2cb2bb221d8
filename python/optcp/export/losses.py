"""Losses of segments, and the retransmissions that repair them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.export.observations import LOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optcp.data.table import Table


@dataclass(frozen=True)
class Repairs:
    """Losses of a table of packets with a later retransmission of the same segment, which repairs them.

    Attributes
    ----------
    lost, repairing : arrays of shape (losses,)
        Rows of the losses in the order of the table, and of the first retransmission after each.
    first
        Number of the first loss.
    """

    lost: NDArray[np.int64]
    repairing: NDArray[np.int64]
    first: int
    _by_repair: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, so_far: int = 0) -> Repairs:
        """Find the repaired losses of data; ``so_far`` losses have numbers already."""
        again = table.is_("event", "resent")
        lost = np.logical_or.reduce([table.is_("event", event) for event in LOST])
        rows = np.flatnonzero(again | (lost & ~table.numbers("ack").astype(bool)))
        flow = table.coded("flow")[0][rows].astype(np.int64)
        segment = table.numbers("seq")[rows].astype(np.int64)
        order = np.lexsort((rows, segment, flow))
        rows, flow, segment = rows[order], flow[order], segment[order]
        # The place of the first retransmission at or after each place.
        places = np.where(again[rows], np.arange(len(rows)), len(rows))
        following = np.minimum.accumulate(places[::-1])[::-1]
        inside = np.flatnonzero((following < len(rows)) & ~again[rows])
        repair = following[inside]
        same = (flow[inside] == flow[repair]) & (segment[inside] == segment[repair])
        lost_rows, repair_rows = rows[inside[same]], rows[repair[same]]
        in_time = np.argsort(lost_rows)
        lost_rows, repair_rows = lost_rows[in_time], repair_rows[in_time]
        return cls(lost_rows, repair_rows, so_far + 1, np.argsort(repair_rows, kind="stable"))

    @property
    def last(self) -> int:
        """Number of the last loss."""
        return self.first + len(self.lost) - 1

    def loss(self, row: int) -> int:
        """Return the number of the loss in a row; 0 if it is not repaired."""
        place = int(np.searchsorted(self.lost, row))
        return self.first + place if place < len(self.lost) and self.lost[place] == row else 0

    def repaired_by(self, row: int) -> tuple[int, ...]:
        """Return the numbers of the losses that the retransmission in a row repairs."""
        ends = np.searchsorted(self.repairing, [row, row + 1], sorter=self._by_repair)
        return tuple((self.first + self._by_repair[ends[0] : ends[1]]).tolist())
