"""Figures of the OBS paper over the assembly timer, its histograms, and its background traffic."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from optcp.papers.model import Result, Series
from optcp.plots import intervals
from optcp.plots.panels import Page, distinct, page, where
from optcp.plots.registry import Figure, draws

ACK_COLOURS = {"none": "#0072B2", "exact": "#D55E00", "tick": "#009E73"}
ACK_LABELS = {"none": "no delayed ACK", "exact": "delayed ACK, exact timer", "tick": "delayed ACK, tick"}
BACKGROUND_STYLES = {"no": ("-", "o"), "yes": ("--", "s")}
BACKGROUND_LABELS = {"no": "alone", "yes": "with background"}
RECOVERY_COLOURS = {"reno": "#0072B2", "sack": "#D55E00"}
RECOVERY_LABELS = {"reno": "Reno", "sack": "SACK"}
ALONE_COLOURS = {"no": "#0072B2", "yes": "#D55E00"}
GREY = "#555555"
MEDIUM_S, FAST_S = 1e-3, 1e-2
SEGMENT_TICKS = (1, 2, 5, 10, 20, 44)
TODAY_AXES = {"goodput": (2, 5, 10, 20, 50), "segments per burst": (1, 3, 10, 30, 100, 300)}
SENDER_COLOURS = ("#56B4E9", "#0072B2", "#002D62", "#E69F00", "#D55E00", "#7A2E00", "#009E73", "#555555", "#CC79A7")
"""Colours of Reno and SACK with three windows each, light to dark, and of the three current senders."""


@draws("obs/background")
def background(result: Result) -> list[Figure]:
    """Draw the estimate of each seed with its interval, and the nominal value."""
    (hurst,) = result.series
    nominal = next(row.paper for row in result.rows if row.metric == "hurst")
    caption = "Estimated Hurst parameter of the background, by seed, with asymptotic 95 % intervals."
    with page(result, caption, (8.2, 2.6)) as made:
        panel = made.panel
        errors = [[y - low, high - y] for y, low, high in zip(hurst.y, *hurst.ends, strict=True)]
        panel.errorbar(
            hurst.x, hurst.y, list(zip(*errors, strict=True)), fmt="o", markersize=4, capsize=2, label="estimate"
        )
        if nominal is not None:
            panel.axhline(nominal, color=GREY, linestyle=":", label="nominal")
        panel.set_xticks(hurst.x)
        made.label(x="seed", y="Hurst parameter")
        made.legend(2)
    return made.drawn


@draws("obs/fig10")
def fig10(result: Result) -> list[Figure]:
    """Draw the paper's eight histograms, with either kind of delayed-ACK timer."""
    return [*_histograms(result, "tick"), *_histograms(result, "exact")]


def _histograms(result: Result, kind: str) -> list[Figure]:
    # The paper's panels (f) and (h) have the reverse order of (b) and (d).
    panels_of = [
        *((timer, ack, "no") for ack in ("none", kind) for timer in (MEDIUM_S, FAST_S)),
        *((MEDIUM_S, "none", "yes"), (FAST_S, kind, "yes"), (MEDIUM_S, kind, "yes"), (FAST_S, "none", "yes")),
    ]
    curves = {(curve.key["timer_s"], curve.key["ack_timer"], curve.key["background"]): curve for curve in result.series}
    caption = (
        f"Segments of the flow in a burst, with the {kind} timer of delayed ACKs: left a medium flow (timer of "
        "1 ms), right a fast one (10 ms)."
    )
    with page(result, caption, (9.2, 8.4), 4, 2, part=kind, sharex=True) as made:
        for panel, letter, which in zip(made.all, "abcdefgh", panels_of, strict=True):
            timer, ack, other = which
            curve = curves[which]
            panel.bar(curve.x, curve.y, width=0.8, color=ACK_COLOURS[ack])
            delayed = "without delayed ACK" if ack == "none" else "with delayed ACK"
            panel.set_title(f"({letter}) {BACKGROUND_LABELS[other]}, {delayed}, {1e3 * timer:g} ms")
            panel.set_xlim(0, 46)
        made.label(x="segments in a burst", y="bursts (%)")
    return made.drawn


def timer_axis(panel: Axes) -> None:
    """Format an axis of assembly timers in ms, three per decade."""
    panel.set_xscale("log")
    values = (0.01, 0.1, 1, 10, 100)
    panel.set_xticks(values, [f"{value:g}" for value in values])
    panel.set_xlabel("assembly timer (ms)")


def line(panel: Axes, curve: Series, colour: str, style: str, label: str, marker: str | None = None) -> None:
    """Draw a curve over the timer in ms."""
    intervals.line(panel, curve, colour, style, label, marker, scale=1e3)


def _over_timer(
    panel: Axes, curves: Sequence[Series], colours: dict[str, str], labels: dict[str, str], axis: str
) -> None:
    for curve in curves:
        value, other = str(curve.key[axis]), str(curve.key["background"])
        style, marker = BACKGROUND_STYLES[other]
        line(panel, curve, colours[value], style, f"{labels[value]}, {BACKGROUND_LABELS[other]}", marker)


def _equations(result: Result, panel: Axes, drawn: Sequence[tuple[str, str]]) -> None:
    for name, style in drawn:
        for curve in where(result.series, name):
            line(panel, curve, GREY, style, name)


@draws("obs/fig14")
def fig14(result: Result) -> list[Figure]:
    """Draw segments per burst of all scenarios, with both interpretations of equation 3."""
    caption = "Mean segments of the flow per burst over the assembly timer, with 95 % intervals, and equation 3."
    with page(result, caption, (8.2, 4.4)) as made:
        panel = made.panel
        _over_timer(panel, where(result.series, "segments per burst"), ACK_COLOURS, ACK_LABELS, "ack_timer")
        _equations(result, panel, (("equation 3", ":"), ("equation 3, with the segment that opens a burst", "-.")))
        timer_axis(panel)
        panel.set_yscale("log")
        panel.set_yticks(SEGMENT_TICKS, [str(tick) for tick in SEGMENT_TICKS])
        panel.minorticks_off()
        made.label(y="segments per burst")
        made.legend(at="outside right center")
    return made.drawn


@draws("obs/fig15")
@draws("obs/fig16")
def goodput(result: Result) -> list[Figure]:
    """Draw Reno and SACK with and without background, and both with the model."""
    return [*_goodput(result), *_model(result)]


def _goodput(result: Result) -> list[Figure]:
    curves = where(result.series, "goodput")
    kinds = distinct(curves, "ack_timer")
    caption = "Goodput of files of 20 MB over the assembly timer, with 95 % intervals."
    size = (9.2 if len(kinds) > 1 else 7.2, 3.9)
    with page(result, caption, size, 1, len(kinds), sharey=True) as made:
        for panel, kind in zip(made.all, kinds, strict=True):
            _over_timer(panel, where(curves, ack_timer=kind), RECOVERY_COLOURS, RECOVERY_LABELS, "recovery")
            timer_axis(panel)
            panel.set_title(ACK_LABELS[kind])
        made.panel.set_ylim(bottom=0)
        made.label(y="goodput (Mb/s)")
        made.legend(4)
    return made.drawn


def _model(result: Result) -> list[Figure]:
    """Draw one row per kind of delayed-ACK timer and one column per sender."""
    kinds = distinct(where(result.series, "goodput"), "ack_timer")
    caption = (
        "The same goodput, with 95 % intervals, and the analytical model: alone with the burst sizes of equation 3 "
        "or of runs without losses, with background with the sizes of runs."
    )
    size = (9.2, 2.9 * len(kinds) + 0.5)
    with page(result, caption, size, len(kinds), 2, part="model", sharex=True, sharey=True) as made:
        for across, kind in zip(made.panels, kinds, strict=True):
            for panel, (recovery, label) in zip(across, RECOVERY_LABELS.items(), strict=True):
                for curve in where(result.series, ack_timer=kind, recovery=recovery):
                    _model_curve(panel, curve)
                timer_axis(panel)
                panel.set_title(f"{label}, {ACK_LABELS[kind]}")
                if kind != kinds[-1]:
                    panel.set_xlabel("")
        made.label(y="goodput (Mb/s)")
        made.panel.set_ylim(bottom=0)
        made.legend(2)
    return made.drawn


def _model_curve(panel: Axes, curve: Series) -> None:
    other = str(curve.key["background"])
    colour = ALONE_COLOURS[other]
    if curve.name == "goodput":
        line(panel, curve, colour, "none", f"simulated, {BACKGROUND_LABELS[other]}", BACKGROUND_STYLES[other][1])
    else:
        style = ":" if curve.key["sizes"] == "equation 3" else "-"
        line(panel, curve, colour, style, f"model, {BACKGROUND_LABELS[other]}, sizes {curve.key['sizes']}")


@draws("obs/fig17")
def fig17(result: Result) -> list[Figure]:
    """Draw F_delay of all scenarios, with equation 5."""
    caption = "Figure of merit of the delay penalty over the assembly timer, with 95 % intervals, and equation 5."
    with page(result, caption, (8.2, 3.9)) as made:
        _over_timer(made.panel, where(result.series, "F_delay"), ACK_COLOURS, ACK_LABELS, "ack_timer")
        _equations(result, made.panel, (("equation 5", ":"),))
        timer_axis(made.panel)
        made.label(y="F_delay")
        made.panel.set_ylim(0, 1.1)
        made.legend(at="outside right center")
    return made.drawn


@draws("obs/assembly")
def assembly(result: Result) -> list[Figure]:
    """Draw goodput and segments per burst over the burst size, one panel per policy."""
    policies = list(dict.fromkeys((str(item.key["assembly"]), float(item.key["timer_s"])) for item in result.series))
    caption = (
        "Goodput and segments of the flow per burst over the burst size, with 95 % intervals; with a timer and size, "
        "whichever comes first, and with size alone."
    )
    with page(result, caption, (9.2, 5.4), 2, len(policies), sharex=True, sharey="row") as made:
        for column, (policy, timer_s) in zip(made.panels.T, policies, strict=True):
            for panel, label in zip(column, ("goodput", "segments per burst"), strict=True):
                for curve in where(result.series, label, assembly=policy, timer_s=timer_s):
                    _assembly_curve(panel, curve)
                panel.set_xscale("log")
                panel.set_xticks(curve.x, [f"{size:g}" for size in curve.x])
                panel.minorticks_off()
            column[0].set_title(f"{policy}, {1e3 * timer_s:g} ms" if timer_s else f"{policy} alone")
            column[1].set_yscale("log")
            column[1].set_yticks(SEGMENT_TICKS, [str(tick) for tick in SEGMENT_TICKS])
            column[1].minorticks_off()
        made.label(x="burst size (segments)")
        made.panel.set_ylim(bottom=0)
        _rows_of(made, "goodput (Mb/s)", "segments per burst")
        made.legend(4)
    return made.drawn


def _rows_of(made: Page, *labels: str) -> None:
    """Label each row of panels."""
    for panel, label in zip(made.panels[:, 0], labels, strict=True):
        panel.set_ylabel(label)


def _assembly_curve(panel: Axes, curve: Series) -> None:
    recovery, other = str(curve.key["recovery"]), str(curve.key["background"])
    style, marker = BACKGROUND_STYLES[other]
    colour = RECOVERY_COLOURS[recovery]
    label = f"{RECOVERY_LABELS[recovery]}, {BACKGROUND_LABELS[other]}"
    intervals.line(panel, curve, colour, style, label, marker)


@draws("obs/emergent")
def emergent(result: Result) -> list[Figure]:
    """Draw goodput with both kinds of losses, their difference, and losses by length; one column per contention."""
    kinds = distinct(result.series, "cross")
    caption = (
        "Goodput with losses from contention and with independent losses of the same mean, their difference, and the "
        "share of lost bursts by their segments, with 95 % intervals. Bursts of others reserve as early as the file's, "
        "or earlier."
    )
    with page(result, caption, (9.2, 7.6), 3, len(kinds), sharey="row") as made:
        for column, kind in zip(made.panels.T, kinds, strict=True):
            for curve in where(result.series, cross=kind):
                _emergent_curve(column, curve)
            column[0].set_title(kind)
            for panel in column[:2]:
                timer_axis(panel)
            column[0].set_xlabel("")
            column[1].axhline(0, color=GREY, linewidth=0.8)
            column[2].set_xscale("log")
            column[2].set_xticks(SEGMENT_TICKS, [str(tick) for tick in SEGMENT_TICKS])
            column[2].minorticks_off()
            column[2].set_xlabel("segments in a burst")
        made.panel.set_ylim(bottom=0)
        _rows_of(made, "goodput (Mb/s)", "difference (%)", "bursts lost (%)")
        made.panels[2, 0].set_ylim(bottom=0)
        made.legend(4)
    return made.drawn


def _emergent_curve(column: Sequence[Axes], curve: Series) -> None:
    if curve.name == "loss":
        intervals.line(column[2], curve, GREY, "-", "bursts lost", "o")
        return
    recovery = str(curve.key["recovery"])
    colour, sender = RECOVERY_COLOURS[recovery], RECOVERY_LABELS[recovery]
    if curve.name == "goodput":
        style, marker = {"contention": ("-", "o"), "independent": ("--", "s")}[str(curve.key["losses"])]
        line(column[0], curve, colour, style, f"{sender}, {curve.key['losses']}", marker)
    elif curve.name == "difference":
        line(column[1], curve, colour, "-", sender, "o")


@draws("obs/today")
def today(result: Result) -> list[Figure]:
    """Draw goodput and segments per burst, with and without background; delayed ACKs have their own figure."""
    return [
        *_today(result, "none", "no delayed ACKs; linux-6 and BBR with Linux's receiver"),
        *_today(result, "exact", "delayed ACKs; linux-6 and BBR with Linux's receiver"),
    ]


def _today(result: Result, kind: str, acks: str) -> list[Figure]:
    caption = f"Goodput with losses, segments per burst without, over the assembly timer, 95 % intervals: {acks}."
    senders = distinct(result.series, "sender")
    with page(result, caption, (9.2, 6.0), 2, 2, part=kind, sharex=True, sharey="row") as made:
        for across, (label, axis) in zip(made.panels, TODAY_AXES.items(), strict=True):
            for panel, other in zip(across, BACKGROUND_LABELS, strict=True):
                for curve in where(result.series, label, background=other):
                    if curve.key["ack_timer"] in (kind, "linux"):
                        sender = str(curve.key["sender"])
                        colour = SENDER_COLOURS[senders.index(sender)]
                        style = "--" if sender.startswith("Reno") else "-"
                        line(panel, curve, colour, style, sender, "o")
                timer_axis(panel)
                panel.set_yscale("log")
                panel.set_yticks(axis, [str(tick) for tick in axis])
                panel.minorticks_off()
                if label == "goodput":
                    panel.set_title(BACKGROUND_LABELS[other])
                    panel.set_xlabel("")
        _rows_of(made, "goodput (Mb/s)", "segments per burst")
        made.legend(3)
    return made.drawn
