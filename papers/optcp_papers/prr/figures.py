"""Figures of the study."""

from optcp.papers.model import Result
from optcp.plots.bars import lengths
from optcp.plots.intervals import decades
from optcp.plots.registry import Figure, draws
from optcp.plots.svg import canvas, render

COLOURS = {2: "#D55E00", 4: "#E69F00", 8: "#009E73"}
REPATHING = {"none": ("o", "#0072B2", "without repathing"), "rto": ("s", "#D55E00", "with repathing")}


@draws("prr/repair-time")
def over_repair_time(result: Result) -> list[Figure]:
    """Draw the mean stall of RPCs over the time of the network's repair, by number of parallel links."""
    caption = (
        "Mean stall of affected RPC sessions over the time until the network repairs one of n parallel links, with "
        "and without repathing. With 95 % intervals over failures."
    )
    rows = [row for row in result.rows if row.metric == "stall_ms" and row.key["kind"] == "rpc"]
    with canvas(6.4, 3.8) as figure:
        panel = figure.subplots()
        for parallel in dict.fromkeys(int(row.key["parallel"]) for row in rows):
            for repath, line in (("none", ":"), ("rto", "-")):
                curve = [row for row in rows if row.key["parallel"] == parallel and row.key["repath"] == repath]
                x, y = [1000 * float(item.key["repaired_s"]) for item in curve], [item.value for item in curve]
                label = f"{parallel} links, {REPATHING[repath][2]}"
                panel.errorbar(
                    x, y, yerr=lengths(curve), color=COLOURS[parallel], linestyle=line, marker="o", markersize=3,
                    capsize=2, label=label,
                )  # fmt: skip
        panel.set_xscale("log")
        panel.set_yscale("log")
        decades(panel.xaxis)
        decades(panel.yaxis)
        panel.axvline(50, linestyle=":", color="#888888", linewidth=0.8)
        panel.set_xlabel("repair by the network after (ms)")
        panel.set_ylabel("mean stall (ms)")
        panel.legend()
        return [Figure(caption, render(figure, result.exhibit, caption))]


@draws("prr/links")
def by_mechanism(result: Result) -> list[Figure]:
    """Draw the mean stall of RPCs by mechanism, with and without repathing, one column per network."""
    caption = (
        "Mean stall of affected RPC sessions by repair in the network, with and without repathing. With 95 % "
        "intervals over failures."
    )
    rows = [row for row in result.rows if row.metric == "stall_ms" and row.key["kind"] == "rpc"]
    networks, cases = (list(dict.fromkeys(str(row.key[name]) for row in rows)) for name in ("network", "case"))
    with canvas(2.3 * len(networks) + 1.4, 3.2) as figure:
        panels = figure.subplots(1, len(networks), sharey=True, squeeze=False)[0]
        for panel, network in zip(panels, networks, strict=True):
            for repath, (marker, colour, label) in REPATHING.items():
                shown = [row for row in rows if row.key["network"] == network and row.key["repath"] == repath]
                shift = 0.3 * (list(REPATHING).index(repath) - 0.5)
                heights = [cases.index(str(row.key["case"])) + shift for row in shown]
                panel.errorbar(
                    [row.value for row in shown], heights, xerr=lengths(shown), fmt=marker, color=colour,
                    markersize=4, elinewidth=0.9, capsize=2, label=label,
                )  # fmt: skip
            panel.set_xscale("log")
            decades(panel.xaxis)
            panel.set_title(network)
            panel.set_xlabel("mean stall (ms)")
            panel.set_yticks(range(len(cases)), cases)
            panel.grid(axis="y", linewidth=0.3)
        panels[0].invert_yaxis()
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
        return [Figure(caption, render(figure, result.exhibit, caption))]
