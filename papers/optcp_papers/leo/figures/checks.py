"""Figure of leo/checks: windows of Hypatia's two senders over time."""

from optcp.papers.model import Result
from optcp.plots.panels import page, where
from optcp.plots.registry import COLOURS, Figure, draws
from optcp_papers.leo.windows import PAIRS

LINES = {
    "path and queue": ("capacity of path and queue", "#888888", "--"),
    "path": ("path holds", "#888888", "-"),
    "newreno": ("NewReno", COLOURS[0], "-"),
    "vegas": ("Vegas", COLOURS[1], "-"),
}


@draws("leo/checks")
def checks(result: Result) -> list[Figure]:
    """Draw one panel per pair."""
    caption = (
        "Congestion windows of NewReno and Vegas over the published 200 s, with the capacity of the path, and of path "
        "and queue together."
    )
    with page(result, caption, (8.0, 4.6), 2, 2, sharex=True) as made:
        for panel, (pair, ends) in zip(made.all, PAIRS.items(), strict=True):
            for name, (label, colour, style) in LINES.items():
                for curve in where(result.series, pair=pair, sender=name):
                    panel.plot(curve.x, curve.y, style, color=colour, linewidth=1.0, label=label)
            panel.set_title(" - ".join(ends))
            panel.set_ylim(0, 330)
        made.label(x="time (s)", y="window (segments)")
        made.legend(len(LINES), "outside upper center")
    return made.drawn
