"""Figures of the DAS paper."""

from typing import Any

from matplotlib.axes import Axes

from optcp.papers.model import Result, Series
from optcp.plots import intervals
from optcp.plots.panels import GREY, bands, distinct, page, where, zero
from optcp.plots.registry import Figure, draws

RECEIVER_COLOURS = {"plain": "#0072B2", "das": "#D55E00", "das-bounded": "#009E73"}
TOPOLOGY_COLOURS = {"square": "#0072B2", "diagonal": "#D55E00"}
CAUSE_STYLES = {"failure": ("v", "#D55E00"), "repair": ("^", "#009E73"), "convergence": ("o", "#0072B2")}
KIND_STYLES: dict[str, dict[str, Any]] = {
    "arrived over the longer path": {"marker": "s", "color": "#0072B2", "markersize": 4},
    "arrived over the shorter path": {"marker": "o", "color": "#009E73", "markersize": 4},
    "ACK received": {"marker": "_", "color": "#222222", "markersize": 7, "markeredgewidth": 1.6},
    "retransmitted": {"marker": "^", "color": "#E69F00", "markersize": 6},
    "lost": {"marker": "x", "color": "#D55E00", "markersize": 6},
}
ROUTING_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
SENDERS = ("NewReno", "SACK", "linux-6")
VARIANT_COLOURS = {"DSACK undo": "#CC79A7", "timestamp undo": "#E69F00", "F-RTO": "#56B4E9", "RACK": "#555555"}
FAILURE_S = 2.0
REPAIR_S = {"transient": 4.0, "persistent": 12.0, "persistent, own updates": 12.0}


@draws("das/fig1")
def fig1(result: Result) -> list[Figure]:
    """Draw forwarding updates and the goodput of the flow, one column per kind of failure."""
    kinds = distinct(result.series, "failure")
    caption = (
        "One seed: forwarding entries that each router rewrote, by cause; below, the goodput of the flow in intervals "
        "of 100 ms. Grey: the link A-C is down."
    )
    with page(result, caption, (9.2, 4.2), 2, len(kinds), sharex="col", sharey="row") as made:
        for column, kind in zip(made.panels.T, kinds, strict=True):
            curves = {curve.name: curve for curve in where(result.series, failure=kind)}
            for panel in column:
                panel.axvspan(FAILURE_S, REPAIR_S[kind], color=GREY, alpha=0.13, linewidth=0)
            for cause, (marker, colour) in CAUSE_STYLES.items():
                column[0].plot(curves[cause].x, curves[cause].y, marker, color=colour, markersize=5, label=cause)
            routers = str(curves["failure"].key["routers"]).split()
            column[0].set_yticks(range(len(routers)), routers)
            column[0].set_ylim(-0.6, len(routers) - 0.4)
            column[0].set_title(kind)
            column[1].plot(curves["goodput"].x, curves["goodput"].y, color="#0072B2", linewidth=0.8)
            column[1].set_ylim(bottom=0)
        made.label(x="time (s)")
        made.panels[0, 0].set_ylabel("router")
        made.panels[1, 0].set_ylabel("goodput (Mb/s)")
        made.legend(3)
    return made.drawn


@draws("das/fig2")
def fig2(result: Result) -> list[Figure]:
    """Draw the share of starts with a false retransmit, the distribution of the gain, and one run over time."""
    return [*_shares(result), *_gains(result), *_one_run(result)]


def _shares(result: Result) -> list[Figure]:
    rows = where(result.rows, "false_retransmit_share_pct", first_ssthresh=None)
    routings = distinct(rows, "routing")
    caption = (
        "Share of start times with a false fast retransmit, with 95 % intervals, by model of rerouting and backup."
    )
    with page(result, caption, (8.2, 0.27 * len(routings) + 1.2), part="shares") as made:
        for shift, receiver in ((-0.15, "plain"), (0.15, "das")):
            chosen = where(rows, receiver=receiver)
            y = [routings.index(item.key["routing"]) + shift for item in chosen]
            intervals.marks_across(made.panel, chosen, y, RECEIVER_COLOURS[receiver], receiver)
        made.panel.set_yticks(range(len(routings)), routings)
        made.panel.invert_yaxis()
        made.label(x="starts with a false fast retransmit (%)")
        made.panel.set_xlim(left=-1)
        made.legend(2)
    return made.drawn


@draws("das/mechanisms")
def mechanisms(result: Result) -> list[Figure]:
    """Draw the share of starts with a false retransmit by mechanism, one panel per network."""
    rows = where(result.rows, "false_retransmit_share_pct")
    names, networks = distinct(rows, "mechanism"), distinct(rows, "network")
    caption = (
        "Share of start times with a false fast retransmit, with 95 % intervals, by mechanism and TTL model of tunnels."
    )
    with page(result, caption, (9.2, 0.27 * len(names) + 1.4), 1, len(networks), sharex=True, sharey=True) as made:
        for panel, network in zip(made.panels[0], networks, strict=True):
            for shift, receiver in ((-0.15, "plain"), (0.15, "das")):
                chosen = where(rows, network=network, receiver=receiver)
                y = [names.index(item.key["mechanism"]) + shift for item in chosen]
                intervals.marks_across(panel, chosen, y, RECEIVER_COLOURS[receiver], receiver)
            panel.set_title(network)
        first = made.panels[0, 0]
        first.set_yticks(range(len(names)), names)
        first.invert_yaxis()
        first.set_xlim(left=-1)
        made.label(x="starts with a false fast retransmit (%)")
        made.legend(2)
    return made.drawn


def _gains(result: Result) -> list[Figure]:
    curves = [curve for curve in result.series if curve.name in ("histogram", "normal fit")]
    if not curves:
        return []
    caption = (
        "Gain in goodput with DAS, of the starts that have a false fast retransmit without it, in bins of 1 %, with "
        "normal fits. Dotted: the published maximum."
    )
    printed = next((row.paper for row in result.rows if row.metric == "gain_pct_max" and row.paper), None)
    with page(result, caption, (8.2, 2.8), part="gain") as made:
        panel = made.panel
        for colour, routing in zip(ROUTING_COLOURS, distinct(curves, "routing"), strict=False):
            for curve in where(curves, routing=routing):
                style = "o" if curve.name == "histogram" else "-"
                label = routing if curve.name == "histogram" else None
                x = [value + 0.5 for value in curve.x] if curve.name == "histogram" else curve.x
                panel.plot(x, curve.y, style, color=colour, markersize=4, linewidth=0.8, label=label)
        if printed is not None:
            panel.axvline(printed, color=GREY, linestyle=":", linewidth=1.4)
        made.label(x="gain (%)", y="share of those starts (%)")
        made.legend(4)
    return made.drawn


def _one_run(result: Result) -> list[Figure]:
    curves = where(result.series, "one run")
    caption = (
        f"Goodput in intervals of 100 ms of the start with the maximum gain (seed {curves[0].key['seed']}), 552 B per "
        "packet. Grey: the link A-C is down."
    )
    with page(result, caption, (8.2, 2.8), part="run") as made:
        panel = made.panel
        panel.axvspan(3, 8, color=GREY, alpha=0.13, linewidth=0)
        for curve in curves:
            receiver = str(curve.key["receiver"])
            width = {"plain": 1.1, "das": 2.4, "das-bounded": 0.9}[receiver]
            panel.plot(curve.x, curve.y, color=RECEIVER_COLOURS[receiver], linewidth=width, label=receiver)
        panel.set_ylim(bottom=0)
        panel.set_xlim(0, curves[0].x[-1])
        made.label(x="time (s)", y="goodput (Mb/s)")
        made.legend(3)
    return made.drawn


@draws("das/fig4")
def fig4(result: Result) -> list[Figure]:
    """Draw gain and share of affected connections over n."""
    labels = list(dict.fromkeys(curve.name for curve in result.series))
    caption = (
        "Gain in goodput of n connections, and share of connections with a false recovery without DAS, for both "
        "interpretations of the network; means with 95 % intervals over failure times."
    )
    with page(result, caption, (8.2, 3.0), 1, len(labels)) as made:
        for panel, label in zip(made.all, labels, strict=True):
            bands(panel, where(result.series, label), "topology", TOPOLOGY_COLOURS, style="o-", width=1.5)
            zero(panel)
            panel.set_ylabel(f"{label} (%)")
        made.label(x="measured connections, n")
        made.legend(2)
    return made.drawn


@draws("das/fig6")
def fig6(result: Result) -> list[Figure]:
    """Draw one row per case and one column per receiver: the paper's cases, then the other losses."""
    cases = distinct(result.series, "case")
    figures = []
    for name, chosen in (("paper", cases[:3]), ("beside", cases[3:])):
        caption = (
            f"Cases {', '.join(chosen)}: packets at the receiver and ACKs at the sender, numbered as in the paper. "
            "An ACK is drawn at the packet that it requests. Dotted: an RTO."
        )
        size, lines, columns = (9.2, 2.1 * len(chosen) + 0.6), len(chosen), len(RECEIVER_COLOURS)
        with page(result, caption, size, lines, columns, part=name, sharex=True, sharey=True) as made:
            for line, case in zip(made.panels, chosen, strict=True):
                for panel, receiver in zip(line, RECEIVER_COLOURS, strict=True):
                    _fig6_panel(panel, result, case, receiver)
                    panel.set_title(f"{case}, {receiver}")
            made.label(x="time since the repair (ms)", y="packet")
            made.legend(5)
        figures += made.drawn
    return figures


def _fig6_panel(panel: Axes, result: Result, case: str, receiver: str) -> None:
    for curve in where(result.series, case=case, receiver=receiver):
        panel.plot(curve.x, curve.y, linestyle="none", label=curve.name, **KIND_STYLES[curve.name])
    for timeout in where(result.rows, "timeout_ms", case=case, receiver=receiver):
        if timeout.measured is not None:
            panel.axvline(timeout.measured, color="#D55E00", linestyle=":", linewidth=1)
    panel.set_xlim(0, 300)
    panel.set_ylim(-1, 14)
    panel.set_yticks(range(0, 15, 2))


@draws("das/repairs")
def repairs(result: Result) -> list[Figure]:
    """Draw goodput over the paths' difference, by duration of the failure, sender and variant."""
    durations = distinct(result.series, "failure_s")
    caption = (
        "Goodput in the 2 s after the repair, by additional delay of the backup; one column per sender, one row per "
        "duration of the failure."
    )
    size = (9.2, 2.6 * len(durations) + 0.8)
    with page(result, caption, size, len(durations), len(SENDERS), sharex=True, sharey=True) as made:
        for line, duration in zip(made.panels, durations, strict=True):
            for panel, sender in zip(line, SENDERS, strict=True):
                curves = where(result.series, failure_s=duration)
                _repairs_panel(panel, [curve for curve in curves if str(curve.key["sender"]).startswith(sender)])
                panel.set_title(f"{sender}, failure of {duration:g} s")
        made.label(x="additional backup delay (ms)", y="goodput (Mb/s)")
        made.legend(4, of=made.panels[0, SENDERS.index("SACK")])
    return made.drawn


def _repairs_panel(panel: Axes, curves: list[Series]) -> None:
    for curve in curves:
        variant = str(curve.key["sender"]).partition(", ")[2]
        receiver = str(curve.key["receiver"])
        colour = VARIANT_COLOURS[variant] if variant else RECEIVER_COLOURS[receiver]
        style: dict[str, Any] = {"linestyle": "--" if variant else "-", "marker": "o", "markersize": 3}
        # Draw later curves thinner, so that coinciding curves are all visible.
        width = {"plain": 2.6, "das": 1.8, "das-bounded": 1.0}[receiver] if not variant else 1.0
        panel.plot(range(len(curve.x)), curve.y, linewidth=width, color=colour, label=variant or receiver, **style)
    panel.set_xticks(range(len(curves[0].x)), [f"{x:g}" for x in curves[0].x])
