"""Figure of outage/budget: time that each mechanism and sender spend in each phase of an outage."""

from matplotlib.axes import Axes

from optcp.papers.model import Result
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

PHASES = {
    "detect_ms": ("detect", "#000000"),
    "notify_ms": ("notify, switch", "#E69F00"),
    "wait_ms": ("wait", "#D55E00"),
    "repair_ms": ("repair", "#0072B2"),
    "regrow_ms": ("regrow", "#56B4E9"),
}
"""Label and colour of the consecutive phases."""
SWITCHED = ("detect_ms", "notify_ms")
SECONDS_MS = 1000
"""Threshold for slow mechanisms, which have their own panels."""
FITS = ("cubic", "bbr")
"""Senders that set the width of a panel; a longer bar is cut and its length is written."""


@draws("outage/budget")
def budget(result: Result) -> list[Figure]:
    """Draw stacked bars per mechanism and sender, one column per RTT; slow mechanisms have their own row."""
    spent: dict[tuple[int, str, str], dict[str, float]] = {}
    for row in result.rows:
        if row.metric in PHASES and "mechanism" in row.key:
            at = (int(row.key["rtt_ms"]), str(row.key["mechanism"]), str(row.key["sender"]))
            spent.setdefault(at, {})[row.metric] = row.value
    if not spent:
        return []
    rtts = sorted({at[0] for at in spent})
    mechanisms = list(dict.fromkeys(at[1] for at in spent))
    slow = [
        mechanism
        for mechanism in mechanisms
        if any(sum(of[part] for part in SWITCHED) > SECONDS_MS for at, of in spent.items() if at[1] == mechanism)
    ]
    parts = [part for part in ([mechanism for mechanism in mechanisms if mechanism not in slow], slow) if part]
    caption = (
        "Phases of an outage for one flow, by RTT: the failure is detected, segments are switched, the sender waits "
        "until a transmission gets through, repairs what was lost, and is back at 95 % of its rate."
    )
    senders = list(dict.fromkeys(at[2] for at in spent))
    with canvas(2.6 * len(rtts) + 1.6, 0.2 * len(senders) * len(mechanisms) + 1.8) as figure:
        heights = [len(part) for part in parts]
        panels = figure.subplots(len(parts), len(rtts), sharey="row", squeeze=False, height_ratios=heights)
        for line, part in zip(panels, parts, strict=True):
            scale, unit = (1000, "s") if part is slow else (1, "ms")
            for panel, rtt in zip(line, rtts, strict=True):
                names = [(item, who) for item in part for who in senders]
                here = [spent.get((rtt, *name), {}) for name in names]
                fits = max(sum(of.values()) for of, (_, who) in zip(here, names, strict=True) if who in FITS)
                _bars(panel, here, scale, 1.1 * fits / scale, unit)
                panel.set_yticks(range(len(names)), [f"{item}: {who}" for item, who in names])
                panel.set_xlabel(f"time since the failure ({unit})")
            line[0].invert_yaxis()
        for panel, rtt in zip(panels[0], rtts, strict=True):
            panel.set_title(f"RTT {rtt} ms")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(PHASES))
        return [Figure(caption, render(figure, result.exhibit, caption))]


def _bars(panel: Axes, spent: list[dict[str, float]], scale: float, reach: float, unit: str) -> None:
    """Draw the bars from top to bottom, up to ``reach``."""
    ends = [0.0] * len(spent)
    for metric, (label, colour) in PHASES.items():
        # With an ACK clock a flow may repair before the network has switched both directions: clip negative waits.
        widths = [max(of.get(metric, 0.0), 0.0) / scale for of in spent]
        panel.barh(range(len(spent)), widths, left=ends, color=colour, label=label, height=0.75)
        ends = [end + width for end, width in zip(ends, widths, strict=True)]
    panel.set_xlim(0, reach)
    for height, end in enumerate(ends):
        if end > reach:
            said = f"{end:.3g} {unit}" if end < SECONDS_MS else f"{end / 1000:.2g} s"
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            panel.text(reach, height, f"{said} \u2192", ha="right", va="center", fontsize=7, color="black", bbox=box)
