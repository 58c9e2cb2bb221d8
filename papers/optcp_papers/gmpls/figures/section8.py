"""Figures of section 8 of the GMPLS paper: four protection schemes compared."""

from optcp.papers.model import Result
from optcp.plots import bars, intervals
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

SCENARIOS = {"A": "#0072B2", "B": "#009E73", "C": "#E69F00", "D": "#D55E00"}
MECHANISMS = {"local": "#0072B2", "path": "#D55E00", "loopback": "#009E73", "loopbackvar": "#CC79A7"}
MARKERS = {"local": "o", "path": "s", "loopback": "^", "loopbackvar": "D"}
SCHEMES = {
    "local": "#0072B2",
    "loopback-variant": "#CC79A7",
    "loopback": "#009E73",
    "path": "#D55E00",
    "1:1": "#56B4E9",
    "1+1": "#E69F00",
    "restoration": "#444444",
}
GREY = "#888888"
FAILURE_S, REPAIR_S = 5.0, 10.0


@draws("gmpls/fig18")
def fig18(result: Result) -> list[Figure]:
    """One panel a scheme, one curve a scenario."""
    caption = (
        "Goodput in 100 ms intervals in % of the access bandwidth, mean over seeds, shaded: 95 % interval. "
        "Dashed: the failure at 5 s and the repair at 10 s."
    )
    with canvas(8.2, 8.4) as figure:
        panels = figure.subplots(len(MECHANISMS), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for panel, mechanism in zip(panels, MECHANISMS, strict=True):
            for curve in (one for one in result.series if one.key["mechanism"] == mechanism):
                scenario = str(curve.key["scenario"])
                intervals.band(panel, curve, SCENARIOS[scenario], f"scenario {scenario}")
            for event_s in (FAILURE_S, REPAIR_S):
                panel.axvline(event_s, color=GREY, linestyle="--", linewidth=0.8)
            panel.set_title(mechanism)
        panels[0].set_xlim(result.series[0].x[0], result.series[0].x[-1])
        panels[0].set_ylim(bottom=0)
        panels[-1].set_xlabel("time (s)")
        panels[len(panels) // 2].set_ylabel("goodput (% of access bandwidth)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(SCENARIOS))
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/fig19")
def fig19(result: Result) -> list[Figure]:
    """One panel a window, a mark a (scenario, scheme)."""
    titles = {"switchover_pct": "switch-over, (5 s, 7.5 s]", "switchback_pct": "switch-back, (10 s, 11.5 s]"}
    caption = "Goodput in % of the access bandwidth by scheme and scenario, with 95 % intervals."
    with canvas(8.2, 3.6) as figure:
        panels = figure.subplots(1, len(titles), squeeze=False)[0]
        for panel, (metric, title) in zip(panels, titles.items(), strict=True):
            for number, (mechanism, colour) in enumerate(MECHANISMS.items()):
                rows = [row for row in result.rows if row.metric == metric and row.key.get("mechanism") == mechanism]
                x = [index + 0.12 * (number - 1.5) for index in range(len(rows))]
                intervals.marks(panel, x, rows, colour, mechanism, MARKERS[mechanism])
            panel.set_xticks(range(len(SCENARIOS)), list(SCENARIOS))
            panel.set_xlabel("scenario")
            panel.set_title(title)
        panels[0].set_ylabel("goodput (% of access bandwidth)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(MECHANISMS))
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/table8")
def table8(result: Result) -> list[Figure]:
    """Packets lost on the dead link, a group of bars a scenario, a bar a scheme."""
    titles = {"lost_data": "data packets lost on the dead link", "lost_acks": "ACKs lost on the dead link"}
    caption = "Packets lost at and on the dead link, by scenario and scheme, with 95 % intervals, δ = 5 ms."
    with canvas(8.2, 3.2) as figure:
        panels = figure.subplots(1, len(titles), sharey=True, squeeze=False)[0]
        for panel, (metric, title) in zip(panels, titles.items(), strict=True):
            for number, (mechanism, colour) in enumerate(MECHANISMS.items()):
                rows = [row for row in result.rows if row.metric == metric and row.key["mechanism"] == mechanism]
                bars.group(panel, rows, number, len(MECHANISMS), colour, mechanism)
            panel.set_xticks(range(len(SCENARIOS)), list(SCENARIOS))
            panel.set_xlabel("scenario")
            panel.set_title(title)
        panels[0].set_ylabel("packets a run")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(MECHANISMS))
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("gmpls/every-scheme")
def every_scheme(result: Result) -> list[Figure]:
    """One panel a profile, a mark a (scenario, scheme)."""
    caption = "Goodput of (5 s, 7.5 s] in % of the access bandwidth by scheme and scenario, with 95 % intervals."
    profiles = list(dict.fromkeys(str(row.key["profile"]) for row in result.rows))
    with canvas(8.2, 3.8) as figure:
        panels = figure.subplots(1, len(profiles), sharey=True, squeeze=False)[0]
        for panel, profile in zip(panels, profiles, strict=True):
            for number, (scheme, colour) in enumerate(SCHEMES.items()):
                rows = [
                    row
                    for row in result.rows
                    if (row.metric, row.key["profile"], row.key["scheme"]) == ("switchover_pct", profile, scheme)
                ]
                x = [index + 0.1 * (number - 3) for index in range(len(rows))]
                intervals.marks(panel, x, rows, colour, scheme)
            panel.set_xticks(range(len(SCENARIOS)), list(SCENARIOS))
            panel.set_xlabel("scenario")
            panel.set_title(profile)
        panels[0].set_ylabel("goodput (% of access bandwidth)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=len(SCHEMES))
        return [Figure(caption, render(figure, result.exhibit, caption))]
