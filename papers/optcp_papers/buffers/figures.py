"""Figures of the study."""

from optcp.papers.model import Result, Row
from optcp.plots.bars import group, lengths
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

STYLES = {"reno": ("o", "#0072B2", "Reno"), "cubic": ("s", "#D55E00", "CUBIC"), "bbr": ("^", "#009E73", "BBR")}
NAMES = {"1": "law", "1/2": "law / 2", "1/4": "law / 4", "1/8": "law / 8", "rule": "BDP / sqrt(n)"}


@draws("buffers/switchover")
def needed(result: Result) -> list[Figure]:
    """Draw buffers over the offered load, and buffers over both predictions."""
    caption = (
        "Buffer for a switchover by command without drops in ten RTTs. Left: over the offered load of the protection "
        "link, with equal RTTs and 95 % intervals over seeds; the line is BDP / sqrt(n). Right: over the law (open) "
        "and the fluid model (filled), all delay steps; the band is +-15 %."
    )
    plain = [row for row in result.rows if row.key.get("trigger") == "command" and row.key.get("aqm") == "drop-tail"]
    with canvas(8.2, 3.6) as figure:
        left, right = figure.subplots(1, 2)
        offered: list[float] = []
        for tcp, (marker, colour, label) in STYLES.items():
            rows = [row for row in plain if row.key["tcp"] == tcp and row.metric == "buffer_bdp"]
            equal = sorted((row for row in rows if row.key["rtt"] == 1), key=_offered)
            offered = [_offered(row) for row in equal]
            shift = 0.012 * (list(STYLES).index(tcp) - 1)
            left.errorbar(
                [x + shift for x in offered], [row.value for row in equal], yerr=lengths(equal), fmt=marker,
                color=colour, markersize=4, elinewidth=0.9, capsize=2, label=label,
            )  # fmt: skip
            found = {_cell(row): row.value for row in rows}
            for metric, fill in (("law_bdp", "none"), ("fluid_bdp", colour)):
                model = [row for row in plain if row.metric == metric and row.key["tcp"] == tcp]
                right.plot(
                    [row.value for row in model], [found[_cell(row)] for row in model], marker, color=colour,
                    markerfacecolor=fill, markersize=3.5, label=f"{label}, {metric.removesuffix('_bdp')}",
                )  # fmt: skip
        left.plot(offered, [(20 * x) ** -0.5 for x in offered], color="#444444", linewidth=1)
        most = max(row.value for row in plain if row.metric == "buffer_bdp")
        right.plot([0, most], [0, most], color="#444444", linewidth=1)
        right.fill_between([0, most], [0, 0.85 * most], [0, 1.15 * most], color="#888888", alpha=0.25, linewidth=0)
        left.set_xlabel("offered load after the switchover")
        left.set_ylabel("buffer (BDP)")
        right.set_xlabel("predicted buffer (BDP)")
        right.set_ylabel("simulated buffer (BDP)")
        left.legend()
        right.legend(fontsize=7)
        return [Figure(caption, render(figure, result.exhibit, caption))]


def _offered(row: Row) -> float:
    return float(row.key["load"]) + float(row.key["switched"])


def _cell(row: Row) -> tuple[str | int | float, ...]:
    return tuple(row.key[name] for name in ("tcp", "load", "switched", "rtt"))


@draws("buffers/shallow")
def cost(result: Result) -> list[Figure]:
    """Draw the goodput that smaller buffers cost, and the share of dropped packets."""
    caption = (
        "Cost of smaller buffers in the first ten RTTs after a switchover that overloads the link: goodput relative to "
        "an unlimited buffer, and dropped packets. With 95 % intervals over loads."
    )
    with canvas(7.6, 3.4) as figure:
        panels = figure.subplots(1, 2)
        metrics = {"less_pct": "less goodput (%)", "dropped_pct": "dropped packets (%)"}
        for panel, (metric, label) in zip(panels, metrics.items(), strict=True):
            for at, (tcp, (_, colour, name)) in enumerate(STYLES.items()):
                rows = [row for row in result.rows if row.metric == metric and row.key["tcp"] == tcp]
                group(panel, rows, at, len(STYLES), colour, name)
            panel.set_xticks(range(len(NAMES)), [NAMES[str(row.key["buffer"])] for row in rows], rotation=20)
            panel.set_ylabel(label)
        panels[0].legend()
        return [Figure(caption, render(figure, result.exhibit, caption))]
