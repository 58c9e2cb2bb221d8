"""What sections 6 to 8 share: exhibits of one study each, the goodput of its cells, and the rates behind them."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from optcp.papers import curve, judge
from optcp.papers.base import Exhibit
from optcp.papers.gmpls.over_time import mean_goodput
from optcp.papers.gmpls.paper import PAPER, PAPER_RUNS
from optcp.papers.windows import bytes_between

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Size
    from optcp.papers.judge import Part
    from optcp.papers.model import Claim, Key, Series

Window = tuple[float, float]
"""From when to when in seconds, (start, end]."""


class Section(Exhibit):
    """An exhibit of the study that a section's exhibits share: subclasses say what they make of it."""

    paper = PAPER
    paper_runs = PAPER_RUNS
    quick_seeds: ClassVar[int]

    def seeds(self, study: str, size: Size) -> int:
        """The paper's 150, fewer for a quick look."""
        del study
        return size.of(PAPER_RUNS, self.quick_seeds)


@dataclass(frozen=True)
class Cells:
    """Goodput of every cell of a study.

    Attributes
    ----------
    window_s
        The window that the section compares.
    interval_s
        T of equation 4.
    goodput
        Bytes, int64[seeds, ..., intervals], with an axis for each thing that is varied; interval i is (i T, (i + 1) T].
    """

    window_s: ClassVar[Window]
    interval_s: float
    goodput: NDArray[np.int64]

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return int(self.goodput.shape[0])

    def good(self, window_s: Window | None = None) -> NDArray[np.int64]:
        """Bytes in a window, by default the one that the section compares, int64[seeds, ...]."""
        return bytes_between(self.goodput, self.interval_s, *(window_s or self.window_s))


M = TypeVar("M", bound=Cells)


@dataclass(frozen=True)
class Context(abc.ABC, Generic[M]):
    """What tables and judgements need.

    Attributes
    ----------
    curve_s
        What the rule CURVE looks at.
    shown_s
        What curves over time show.
    measured
        The study.
    access_bps, backbone_bps
        Rate of the access links and of the backbone.
    packet_bytes
        Size of a data packet.
    profile
        How TCP behaves: the interpretation under which claims are judged.
    changed
        Whether ``--set`` changed the world.
    """

    curve_s: ClassVar[Window]
    shown_s: ClassVar[Window]
    measured: M
    access_bps: float
    backbone_bps: float
    packet_bytes: float
    profile: str
    changed: bool

    @classmethod
    def of(cls, measured: M, chosen: Mapping[str, Value], changed: bool) -> Self:
        """The context of a study of the world with the values ``chosen``."""
        backbone_bps = float(chosen["backbone_bps"])
        access_bps = float(chosen["access_share"]) * backbone_bps
        return cls(measured, access_bps, backbone_bps, float(chosen["packet_bytes"]), str(chosen["profile"]), changed)

    @abc.abstractmethod
    def key(self, *cell: int) -> Key:
        """Key of the rows and curves of one cell, by indices."""

    def goodput(self, *cell: int) -> NDArray[np.int64]:
        """Bytes of one cell, by indices, int64[seeds, intervals]."""
        where: tuple[slice | int, ...] = (slice(None), *cell)
        result: NDArray[np.int64] = self.measured.goodput[where]
        return result

    def access_pct(self, window_s: Window | None = None) -> NDArray[np.float64]:
        """Goodput in a window in per cent of what the access links could carry, float64[seeds, ...]."""
        start_s, end_s = window_s or self.measured.window_s
        good = self.measured.good((start_s, end_s))
        result: NDArray[np.float64] = 100 * 8 * good / ((end_s - start_s) * self.access_bps)
        return result

    def curves(self, *cell: int) -> NDArray[np.float64]:
        """The curves of one cell, by indices, for the rule CURVE."""
        return curve.curves(self.goodput(*cell), *self.curve_s)

    def goodput_series(self, *cell: int) -> Series:
        """Mean goodput of one cell over time in per cent of the access bandwidth, by indices."""
        interval_s = self.measured.interval_s
        return mean_goodput(self.goodput(*cell), interval_s, self.access_bps, self.key(*cell), self.shown_s)

    def judge(self, exhibit: str, judges: Mapping[str, Callable[[Self], list[Part]]]) -> list[Claim]:
        """Judge every statement about an exhibit; see :func:`optcp.papers.judge.judge_all`."""
        return judge.judge_all(exhibit, judges, {self.profile: self})
