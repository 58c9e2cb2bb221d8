"""Figures over all failures: cost that mechanisms leave, by network."""

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes

from optcp.papers.model import Result, Row
from optcp.plots.bars import lengths
from optcp.plots.intervals import decades
from optcp.plots.network import of_costs
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render
from optcp_papers.outage.population import network

SENDERS = {"cubic": ("o", "#0072B2"), "bbr": ("s", "#D55E00"), "newreno": ("^", "#009E73")}
KINDS = {"nines_net": ("o", "#0072B2", "the network"), "nines_tcp": ("s", "#D55E00", "TCP")}
NETWORKS = {"abilene": "#0072B2", "geant": "#009E73", "nobel-eu": "#E69F00", "germany50": "#D55E00"}
PANEL_INCHES = 2.3


def _distinct(rows: Iterable[Row], name: str) -> list[str]:
    return list(dict.fromkeys(str(row.key[name]) for row in rows if name in row.key))


def _at(panel: Axes, row: Row, height: float, marker: str, colour: str, label: str) -> None:
    """Draw a value with its interval at a height."""
    ends = lengths([row])
    panel.errorbar(
        row.value, height, xerr=ends, fmt=marker, color=colour, markersize=4, elinewidth=0.9, label=label, capsize=2
    )


def _legend(panel: Axes) -> dict[str, Any]:
    handles, labels = panel.get_legend_handles_labels()
    return dict(zip(labels, handles, strict=True))


@draws("outage/links")
def links(result: Result) -> list[Figure]:
    """Draw loss and stall of affected flows by mechanism and sender, one column per network."""
    means = [row for row in result.rows if "failure" not in row.key]
    networks, mechanisms = _distinct(means, "network"), _distinct(means, "mechanism")
    caption = (
        "Cost of a link failure, mean over all links of a network weighted by length, and median stall of affected "
        "long flows. With 95 % intervals over failures."
    )
    metrics = {"lost_mb": "data lost per failure (MB)", "outage_p50_ms": "median stall (ms)"}
    with canvas(PANEL_INCHES * len(networks) + 1.4, 5.6) as figure:
        panels = figure.subplots(len(metrics), len(networks), sharey=True, squeeze=False)
        for line, (metric, label) in zip(panels, metrics.items(), strict=True):
            for panel, network in zip(line, networks, strict=True):
                for mean in means:
                    if mean.metric == metric and mean.key["network"] == network:
                        marker, colour = SENDERS[str(mean.key["sender"])]
                        shift = 0.15 * (list(SENDERS).index(str(mean.key["sender"])) - 0.5)
                        height = mechanisms.index(str(mean.key["mechanism"])) + shift
                        _at(panel, mean, height, marker, colour, str(mean.key["sender"]))
                panel.set_xscale("log")
                decades(panel.xaxis)
                panel.set_xlabel(label)
                panel.set_yticks(range(len(mechanisms)), mechanisms)
                panel.grid(axis="y", linewidth=0.3)
        for panel, network in zip(panels[0], networks, strict=True):
            panel.set_title(network)
        # Inverting one panel inverts all, because they share the axis.
        panels[0, 0].invert_yaxis()
        named = _legend(panels[0, 0])
        figure.legend(list(named.values()), list(named), loc="outside upper right", ncols=2)
        overview = Figure(caption, render(figure, result.exhibit, caption))
    return [overview, *(Figure(worst_said(result, name), worst(result, name)) for name in networks)]


def worst(result: Result, name: str, *, alone: bool = False) -> str:
    """Draw a map of a network with the cost of each link's failure with TI-LFA and CUBIC."""
    costs = {
        str(row.key["failure"]): row.value
        for row in result.rows
        if row.key.get("failure") and row.key["network"] == name
    }
    return of_costs(network(name), costs, "MB lost (TI-LFA, CUBIC)", alone=alone)


def worst_said(result: Result, name: str) -> str:
    """Describe the worst failures."""
    rows = [row for row in result.rows if row.key.get("failure") and row.key["network"] == name]
    rows.sort(key=lambda row: row.value, reverse=True)
    lost = sum(max(row.value, 0.0) for row in rows)
    first = ", ".join(f"{row.key['failure']} {row.value:.2g} MB" for row in rows[:3])
    part = 100 * sum(row.value for row in rows[:3]) / lost if lost else 0.0
    return f"{name}: cost of each link's failure with TI-LFA and CUBIC. Worst failures: {first}, {part:.0f} % of all."


@draws("outage/detection")
def detection(result: Result) -> list[Figure]:
    """Draw the cost of a failure over the detection time, one curve per network."""
    caption = (
        "TI-LFA: median stall of affected CUBIC flows and data lost per failure, over the detection time of "
        "routers. Dotted: 50 ms. With 95 % intervals over failures."
    )
    metrics = {"outage_p50_ms": "median stall (ms)", "lost_mb": "data lost per failure (MB)"}
    with canvas(7.6, 3.4) as figure:
        panels = figure.subplots(1, len(metrics))
        for panel, (metric, label) in zip(panels, metrics.items(), strict=True):
            for network, colour in NETWORKS.items():
                curve = [
                    row
                    for row in result.rows
                    if row.metric == metric
                    and row.key["network"] == network
                    and row.key["sender"] == "cubic"
                    and "world" not in row.key
                ]
                if curve:
                    x, y = [float(item.key["detection_ms"]) for item in curve], [item.value for item in curve]
                    panel.errorbar(x, y, yerr=lengths(curve), color=colour, marker="o", markersize=3, label=network)
            panel.set_xscale("log")
            panel.set_yscale("log")
            decades(panel.xaxis)
            decades(panel.yaxis)
            panel.axvline(50, linestyle=":", color="#888888", linewidth=0.8)
            panel.set_xlabel("detection (ms)")
            panel.set_ylabel(label)
        panels[0].legend()
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("outage/availability")
def availability(result: Result) -> list[Figure]:
    """Draw the nines of the network and of TCP, one column per network."""
    rows = [row for row in result.rows if row.key["sender"] == "cubic" and row.metric in KINDS]
    networks, mechanisms = _distinct(rows, "network"), _distinct(rows, "mechanism")
    caption = (
        "Nines over one year of single-link failures, for the network and for CUBIC flows. Values with only a known "
        "bound are omitted."
    )
    with canvas(PANEL_INCHES * len(networks) + 1.4, 3.2) as figure:
        panels = figure.subplots(1, len(networks), sharey=True, squeeze=False)[0]
        for panel, network in zip(panels, networks, strict=True):
            for item in rows:
                if item.key["network"] == network:
                    marker, colour, label = KINDS[item.metric]
                    _at(panel, item, mechanisms.index(str(item.key["mechanism"])), marker, colour, label)
            panel.set_title(network)
            panel.set_xlabel("nines")
            panel.set_yticks(range(len(mechanisms)), mechanisms)
            panel.grid(axis="y", linewidth=0.3)
        panels[0].invert_yaxis()
        named = _legend(panels[0])
        figure.legend(list(named.values()), list(named), loc="outside upper right", ncols=2)
        return [Figure(caption, render(figure, result.exhibit, caption))]
