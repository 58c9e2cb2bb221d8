"""How well a circuit is used over the length of its day."""

from optcp.papers.model import Result
from optcp.plots.intervals import decades, marks
from optcp.plots.registry import COLOURS, Figure, draws
from optcp.plots.svg import canvas, render
from optcp_papers.reconfigurable.days import FULL_PCT, NAMES

LABELS = {"cubic": "CUBIC", "bbr3": "BBRv3", "prague": "Prague", "tdtcp": "TDTCP (CUBIC)"}


@draws("reconfigurable/days")
def days(result: Result) -> list[Figure]:
    """A curve a sender, for the circuit and for the packet network."""
    caption = (
        "Use of the circuit, left, and of the packet network, right, while each serves the queue, over how long a day "
        "with the circuit lasts, with 95 % intervals over seeds. Beside every day there are seven without it."
    )
    with canvas(8.0, 3.2) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for panel, metric, title in zip(
            panels,
            ("circuit_util_pct", "packet_util_pct"),
            ("circuit, 80 Gb/s", "packet network, 10 Gb/s"),
            strict=True,
        ):
            for number, name in enumerate(NAMES):
                here = [row for row in result.rows if row.metric == metric and row.key["sender"] == name]
                marks(panel, [float(row.key["day_us"]) for row in here], here, COLOURS[number], LABELS[name], "o-")
            panel.axhline(FULL_PCT, color="#888888", linewidth=0.8, linestyle="--")
            panel.set_xscale("log")
            decades(panel.xaxis)
            panel.set_ylim(0, 109)
            panel.set_title(title)
            panel.set_xlabel("day (us)")
        panels[0].set_ylabel("use (%)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(NAMES))
        return [Figure(caption, render(figure, result.exhibit, caption))]
