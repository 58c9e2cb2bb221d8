"""Figures of section 8 of the GMPLS paper: four protection schemes compared."""

from optcp.papers.model import Result
from optcp.plots.panels import bands, distinct, events, grouped, marks, page, places, ticks, where
from optcp.plots.registry import Figure, draws

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
CASES = ("fast optical layer", "slow optical layer", "no optical route")
ORDERS = {"ip": "#0072B2", "optical": "#009E73", "both": "#E69F00", "bottom-up": "#D55E00", "top-down": "#CC79A7"}
RECOVERIES = {
    "local": "#0072B2",
    "p-cycle": "#CC79A7",
    "segment": "#009E73",
    "1:1": "#56B4E9",
    "shared-mesh": "#E69F00",
    "shared-mesh, half": "#D55E00",
}
RATIO_MARKERS = {"shared_ratio": ("o", "shared"), "dedicated_ratio": ("s", "dedicated")}
LOST_KB = (100, 200, 500, 1000, 2000, 5000)
FAILURE_S, REPAIR_S = 5.0, 10.0
GOODPUT = "goodput (% of access bandwidth)"


@draws("gmpls/fig18")
def fig18(result: Result) -> list[Figure]:
    """Draw one panel per scheme and one curve per scenario."""
    caption = (
        "Goodput in 100 ms intervals in % of the access bandwidth, mean over seeds, shaded: 95 % interval. "
        "Dashed: the failure at 5 s and the repair at 10 s."
    )
    with page(result, caption, (8.2, 8.4), len(MECHANISMS), sharex=True, sharey=True) as made:
        for panel, mechanism in zip(made.all, MECHANISMS, strict=True):
            bands(panel, where(result.series, mechanism=mechanism), "scenario", SCENARIOS, "scenario {}")
            events(panel, FAILURE_S, REPAIR_S)
            panel.set_title(mechanism)
        made.panel.set_xlim(result.series[0].x[0], result.series[0].x[-1])
        made.panel.set_ylim(bottom=0)
        made.label(x="time (s)", y=GOODPUT, middle=True)
        made.legend(len(SCENARIOS))
    return made.drawn


@draws("gmpls/fig19")
def fig19(result: Result) -> list[Figure]:
    """Draw one panel per window, with one marker per (scenario, scheme)."""
    titles = {"switchover_pct": "switchover, (5 s, 7.5 s]", "switchback_pct": "switch-back, (10 s, 11.5 s]"}
    caption = "Goodput in % of the access bandwidth by scheme and scenario, with 95 % intervals."
    with page(result, caption, (8.2, 3.6), 1, len(titles)) as made:
        for panel, (metric, title) in zip(made.all, titles.items(), strict=True):
            marks(panel, where(result.rows, metric), "mechanism", MECHANISMS, apart=0.12, styles=MARKERS)
            places(panel, SCENARIOS, "scenario")
            panel.set_title(title)
        made.label(y=GOODPUT)
        made.legend(len(MECHANISMS))
    return made.drawn


@draws("gmpls/table8")
def table8(result: Result) -> list[Figure]:
    """Draw the packets lost on the dead link, one group of bars per scenario and one bar per scheme."""
    titles = {"lost_data": "data packets lost on the dead link", "lost_acks": "ACKs lost on the dead link"}
    caption = "Packets lost at and on the dead link, by scenario and scheme, with 95 % intervals, δ = 5 ms."
    with page(result, caption, (8.2, 3.2), 1, len(titles), sharey=True) as made:
        for panel, (metric, title) in zip(made.all, titles.items(), strict=True):
            grouped(panel, where(result.rows, metric), "mechanism", MECHANISMS)
            places(panel, SCENARIOS, "scenario")
            panel.set_title(title)
        made.label(y="packets per run")
        made.legend(len(MECHANISMS))
    return made.drawn


@draws("gmpls/every-scheme")
def every_scheme(result: Result) -> list[Figure]:
    """Draw one panel per profile, with one marker per (scenario, scheme)."""
    caption = "Goodput of (5 s, 7.5 s] in % of the access bandwidth by scheme and scenario, with 95 % intervals."
    profiles = distinct(result.rows, "profile")
    with page(result, caption, (8.2, 3.8), 1, len(profiles), sharey=True) as made:
        for panel, profile in zip(made.all, profiles, strict=True):
            marks(panel, where(result.rows, "switchover_pct", profile=profile), "scheme", SCHEMES, apart=0.1)
            places(panel, SCENARIOS, "scenario")
            panel.set_title(profile)
        made.label(y=GOODPUT)
        made.legend(len(SCHEMES))
    return made.drawn


@draws("gmpls/layers")
def layers(result: Result) -> list[Figure]:
    """Draw one panel per profile, with one marker per (case, order)."""
    caption = "Data lost to a failure by the order in which two layers recover, with 95 % intervals."
    profiles = distinct(result.rows, "profile")
    with page(result, caption, (8.2, 3.8), 1, len(profiles), sharey=True) as made:
        for panel, profile in zip(made.all, profiles, strict=True):
            marks(panel, where(result.rows, "lost_kb", profile=profile), "order", ORDERS, apart=0.1)
            places(panel, [case.replace(" optical", "\noptical") for case in CASES])
            panel.set_title(profile)
            panel.set_yscale("log")
            ticks(panel, "y", LOST_KB)
        made.label(y="data lost (kB)")
        made.legend(len(ORDERS))
    return made.drawn


@draws("gmpls/mesh")
def mesh(result: Result) -> list[Figure]:
    """Draw one panel per metric, with one marker per mechanism; spare capacity by kind."""
    titles = {"path_outage_ms": "path outage (ms)", "stall_ms": "flow stall (ms)", "lost_mb": "data lost (MB)"}
    caption = (
        "Recovery from the cut of a fibre in NSFNET: means over 21 cuts with 95 % intervals, and spare over working "
        "capacity. Half: with half of the spare wavelengths."
    )
    with page(result, caption, (8.2, 3.4), 1, len(titles) + 1) as made:
        *panels, spare = made.all
        for panel, (metric, title) in zip(panels, titles.items(), strict=True):
            marks(panel, where(result.rows, metric), "mechanism", RECOVERIES, apart=1.0)
            panel.set_title(title)
        for metric, (style, label) in RATIO_MARKERS.items():
            for place, (mechanism, colour) in enumerate(RECOVERIES.items()):
                for one in where(result.rows, metric, mechanism=mechanism):
                    spare.plot(place, one.value, style, color=colour, markersize=5)
            spare.plot([], [], style, color="black", label=label)
        spare.set_title("spare / working")
        spare.legend(fontsize=8)
        for panel in made.all:
            panel.set_xticks([])
            panel.set_ylim(bottom=0)
        made.legend(3, "outside upper center")
    return made.drawn
