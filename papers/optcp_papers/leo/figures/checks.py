"""Windows of Hypatia's two senders over time."""

from optcp.papers.model import Result
from optcp.plots.registry import COLOURS, Figure, draws
from optcp.plots.svg import canvas, render
from optcp_papers.leo.windows import PAIRS

LINES = {
    "path and queue": ("path and queue hold", "#888888", "--"),
    "path": ("path holds", "#888888", "-"),
    "newreno": ("NewReno", COLOURS[0], "-"),
    "vegas": ("Vegas", COLOURS[1], "-"),
}


@draws("leo/checks")
def checks(result: Result) -> list[Figure]:
    """A panel a pair."""
    caption = (
        "Congestion windows of NewReno and Vegas over the published 200 s, beside what the path holds, and path and "
        "queue together."
    )
    with canvas(8.0, 4.6) as figure:
        panels = figure.subplots(2, 2, sharex=True)
        for panel, (pair, ends) in zip(panels.flat, PAIRS.items(), strict=True):
            for name, (label, colour, style) in LINES.items():
                for curve in result.series:
                    if curve.key == {"pair": pair, "sender": name}:
                        panel.plot(curve.x, curve.y, style, color=colour, linewidth=1.0, label=label)
            panel.set_title(" - ".join(ends))
            panel.set_ylim(0, 330)
        for panel in panels[-1]:
            panel.set_xlabel("time (s)")
        for panel in panels[:, 0]:
            panel.set_ylabel("window (segments)")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(LINES))
        return [Figure(caption, render(figure, result.exhibit, caption))]
