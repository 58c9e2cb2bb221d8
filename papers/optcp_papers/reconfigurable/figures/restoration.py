"""Figures of reconfigurable/restoration: goodput over time, and value of the restored capacity."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from optcp.outage.world import MSS_SHARE
from optcp.papers.model import Result, Row
from optcp.plots.intervals import band, marks
from optcp.plots.panels import GREY, page, where
from optcp.plots.registry import COLOURS, Figure, draws
from optcp_papers.reconfigurable.restoration import AT, FULL_GBPS, HALF, PHASE_S, SHARES

NAMES = {"reno": "Reno", "cubic": "CUBIC", "bbr3": "BBRv3", "prague": "Prague"}
FLOWS = {"hit": ("flows that cross the link", COLOURS[1]), "own": ("flows of the detour", COLOURS[0])}
SPREAD = 0.12
"""Distance between the markers of senders."""


def _senders(result: Result) -> list[str]:
    return [name for name in NAMES if any(row.key.get("sender") == name for row in result.rows)]


def _fluid(panel: Axes, payload: float) -> None:
    """Draw the fluid's rates of flows that cross the link, and of flows on the detour."""
    at, share = float(AT), float(HALF)
    ends = (-1.0, 0.0, at, at + PHASE_S, at + 2 * PHASE_S)
    for values in ((1.0, 0.5, share, share / 2), (1.0, 0.5, 1.0, 1.0)):
        steps = [payload * value for value in values]
        panel.stairs(steps, ends, baseline=None, color=GREY, linewidth=0.9, linestyle="--")


@draws("reconfigurable/restoration")
def restoration(result: Result) -> list[Figure]:
    """Draw goodput around the events, the time until capacity is used, and its value."""
    return [*over_time(result), *worth(result)]


def over_time(result: Result) -> list[Figure]:
    """Draw the goodput around the events, one panel per sender."""
    caption = (
        "Goodput around a cut at 0 s, half of the capacity restored after 8 s and a step to half of that at 16 s, "
        "with 95 % intervals over seeds. Dashed: fair shares of a fluid."
    )
    senders = _senders(result)
    payload = FULL_GBPS / float(result.assumed["scaled_by"]) * MSS_SHARE
    down, across = (len(senders) + 1) // 2, min(2, len(senders))
    with page(result, caption, (7.8, 1.9 * down + 0.6), down, across, part="time", sharex=True, sharey=True) as made:
        for panel, name in zip(made.all, senders, strict=False):
            for curve in where(result.series, sender=name):
                label, colour = FLOWS[str(curve.key["flows"])]
                band(panel, curve, colour, label)
            _fluid(panel, payload)
            panel.set_title(NAMES[name])
        made.label(x="time since the cut (s)", y="goodput (Gb/s)")
        made.legend(2, "outside upper center")
    return made.drawn


def worth(result: Result) -> list[Figure]:
    """Draw the shortfall after each event, the time until restored capacity is used, and its value."""
    caption = (
        "Left: shortfall of all flows after the cut, the return of half of the capacity and the step, in ms of a "
        "link's rate. Middle: time until they have 90 % of the restored capacity. Right: gain in the 8 s after the "
        "return, in % of a fluid's gain. With 95 % intervals over seeds."
    )
    events = {"cut": None, "return": float(HALF), "step": float(HALF)}
    shares = [float(share) for share in SHARES]
    with page(result, caption, (8.4, 3.0), 1, 3, part="worth") as made:
        lost, back, gain = made.all
        senders = _senders(result)
        for number, name in enumerate(senders):
            mine = where(result.rows, sender=name)
            apart = SPREAD * (number - (len(senders) - 1) / 2)

            def mark(panel: Axes, rows: Sequence[Row], name: str = name, apart: float = apart) -> None:
                colour = COLOURS[list(NAMES).index(name)]
                marks(panel, [at + apart for at in range(len(rows))], rows, colour, NAMES[name])

            mark(lost, [_one(mine, "lost_ms", event=event, share=share) for event, share in events.items()])
            mark(back, [_one(mine, "back_s", event="return", share=share) for share in shares])
            mark(gain, [_one(mine, "gained_pct", restored_at_s=int(AT), share=share) for share in shares])
        lost.set_xticks(range(len(events)), list(events))
        lost.set_xlim(-0.5, len(events) - 0.5)
        lost.set_ylabel("shortfall vs. fluid model (ms)")
        for panel, label in ((back, "time until 90 % is used (s)"), (gain, "gain (% of a fluid's)")):
            panel.set_xticks(range(len(shares)), [f"{100 * share:g} %" for share in shares])
            panel.set_xlim(-0.5, len(shares) - 0.5)
            panel.set_ylim(bottom=0)
            panel.set_xlabel("share of the capacity")
            panel.set_ylabel(label)
        made.legend(len(NAMES), "outside upper center")
    return made.drawn


def _one(rows: Sequence[Row], metric: str, **key: str | float | None) -> Row:
    """Return the row of a metric with these key values; None selects rows without that key."""
    return where(rows, metric, **key)[0]
