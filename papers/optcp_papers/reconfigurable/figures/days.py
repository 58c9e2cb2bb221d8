"""Figure of reconfigurable/days: utilisation of a circuit over its day length."""

from optcp.papers.model import Result
from optcp.plots.intervals import decades, marks
from optcp.plots.panels import GREY, each, page, where
from optcp.plots.registry import COLOURS, Figure, draws
from optcp_papers.reconfigurable.days import FULL_PCT, NAMES

LABELS = {"cubic": "CUBIC", "bbr3": "BBRv3", "prague": "Prague", "tdtcp": "TDTCP (CUBIC)"}


@draws("reconfigurable/days")
def days(result: Result) -> list[Figure]:
    """Draw one curve per sender, for the circuit and for the packet network."""
    caption = (
        "Utilisation of the circuit (left) and of the packet network (right), while each serves the queue, over the "
        "length of the day with the circuit, with 95 % intervals over seeds. Seven days without it follow each day."
    )
    titles = {"circuit_util_pct": "circuit, 80 Gb/s", "packet_util_pct": "packet network, 10 Gb/s"}
    colours = dict(zip(NAMES, COLOURS, strict=False))
    with page(result, caption, (8.0, 3.2), 1, 2, sharey=True) as made:
        for panel, (metric, title) in zip(made.all, titles.items(), strict=True):
            for name, colour, here in each(where(result.rows, metric), "sender", colours):
                marks(panel, [float(row.key["day_us"]) for row in here], here, colour, LABELS[name], "o-")
            panel.axhline(FULL_PCT, color=GREY, linewidth=0.8, linestyle="--")
            panel.set_xscale("log")
            decades(panel.xaxis)
            panel.set_ylim(0, 109)
            panel.set_title(title)
        made.label(x="day (us)", y="use (%)")
        made.legend(len(NAMES), "outside upper center")
    return made.drawn
