"""Beyond the paper: figures 14 to 16 with larger windows, and with today's senders."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.obs.lossless import LOSSLESS
from optcp.papers.obs.paper import (
    ACKS,
    BACKGROUND,
    PAPER,
    TIMERS_S,
    WINDOW,
    WORLD,
    Cell,
    study_of,
    transfers,
)
from optcp.papers.obs.rows import curves, frozen, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.model import Key
    from optcp.study import Done, Grid

RUNS = 30
QUICK_RUNS = 2
LOSSY, WITHOUT = "lossy", "lossless"
LARGER = (4 * WINDOW, 20 * WINDOW)
"""Windows in segments; the last is above what 100 Mb/s and 100 ms hold, 833 segments."""
_LINUX = {"tcp.file.profile": "linux-6", "parameters.ack": "delayed", "tcp.file.ack_delay": "40 ms"}
_BBR = {"tcp.file.congestion": "bbr", "tcp.file.pacing": "rate", "tcp.file.loss_detection": "rack"}
TODAY = {
    "linux-6": _LINUX,
    "linux-6, standard slow start": {**_LINUX, "tcp.file.slow_start": "standard"},
    "BBR": {**_LINUX, **_BBR},
}
"""With the receiver of Linux, whose window is unlimited and which delays ACKs by 40 ms."""


class Way(NamedTuple):
    """A sender with its receiver.

    Attributes
    ----------
    sender
        Its name in rows.
    ack_timer
        A key of ACKS, or "linux".
    settings
        What makes the scenario's flow this one.
    recovery
        "reno" or "sack".
    """

    sender: str
    ack_timer: str
    settings: dict[str, str]
    recovery: str


def _ways() -> tuple[Way, ...]:
    found = []
    for recovery, name in (("reno", "Reno"), ("sack", "SACK")):
        for window in (WINDOW, *LARGER):
            limit = {"tcp.file.window_limit": f"{window} segments"}
            found += [Way(f"{name}, {window} segments", ack, limit, recovery) for ack in ("none", "exact")]
    return (*found, *(Way(name, "linux", settings, "sack") for name, settings in TODAY.items()))


WAYS = _ways()
CELLS = tuple((way, background, timer) for way in WAYS for background in BACKGROUND for timer in TIMERS_S)


def _settings(way: Way, background: str, timer_s: float) -> dict[str, str]:
    ack = way.ack_timer if way.ack_timer in ACKS else "none"
    return {**Cell(timer_s, background, ack, way.recovery).settings(), **way.settings}


@exhibit
class Today(Exhibit):
    """The paper's files with windows that do not hold them back, and with CUBIC and BBR."""

    id = "obs/today"
    title = "Goodput and segments a burst with larger windows, CUBIC and BBR"
    paper = PAPER
    where = "beyond the paper"
    paper_runs = None
    assumed = WORLD

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """Each cell with the paper's loss probability, and without losses for the segments a burst."""
        without = dict(LOSSLESS)
        lossy = {**without, "parameters.loss_probability": "0.001"}
        return {
            name: study_of(
                f"{self.id}, {name}", [_settings(*cell) for cell in CELLS], list(settings.items()), chosen, options
            )
            for name, settings in ((LOSSY, lossy), (WITHOUT, without))
        }

    def seeds(self, study: str, size: Size) -> int:
        """Fewer where only the segments a burst are asked for, which hardly scatter."""
        return size.of(RUNS if study == LOSSY else RUNS // 3, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Goodput and segments a burst by cell."""
        del chosen
        lossy, without = (done[name].once(transfers) for name in (LOSSY, WITHOUT))
        keys = [frozen(_key(*cell)) for cell in CELLS]
        goodput = rows_of("goodput_mbps", {key: lossy[:, place, 0] for place, key in enumerate(keys)})
        segments = rows_of("segments_per_burst", {key: without[:, place, 1] for place, key in enumerate(keys)})
        series = [*curves(goodput, "goodput", "Mb/s"), *curves(segments, "segments a burst", "")]
        note = (
            "Goodput with a burst loss probability of 0.001, segments a burst without losses, as in the paper. "
            "`ack_timer` linux: the receiver of Linux, which delays ACKs by 40 ms and not at the beginning."
        )
        return Evaluation([*goodput, *segments], [], series, [note])


def _key(way: Way, background: str, timer_s: float) -> Key:
    return {"timer_s": timer_s, "sender": way.sender, "background": background, "ack_timer": way.ack_timer}
