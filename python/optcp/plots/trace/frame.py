"""What the pictures of a run share: time axis, failures and switches, panels, legend."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from optcp.scenarios.schedules import bands

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from optcp.plots.trace.request import Request
    from optcp.scenarios.run import Run
    from optcp.scenarios.schedules import Band

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
GREY, DARK, BLACK = "#888888", "#444444", "#010203"
MOST_PANELS = 8
WIDTH_IN = 8.2
TITLE_LETTERS = 90
"""Of a line of a title; more do not fit beside each other."""
LEGEND_ENTRY_IN, LEGEND_LETTER_IN = 0.62, 0.074
"""Width of an entry without its label, and of a letter of it."""
PICOSECONDS_A_SECOND = 1e12
MOST_BANDS = 4
STRIP = 0.07
"""How high that of a band is, as a share of a panel."""
STATES = ("#3b4cc0", "#c7d3f5", "#8c510a", "#80cdc1", "#c51b7d", "#b8e186")
"""Colours of what schedules bring, which are none of the others."""
SWITCHES = {"switch to the backup": ":", "switch back": "-."}


@dataclass(frozen=True)
class Frame:
    """A run, and the part of its time that is drawn.

    Attributes
    ----------
    run
        The run.
    request
        What was asked for.
    start_s, end_s
        Ends of the time axis.
    outages
        (link, from, to) in seconds.
    switches
        (what, when) in seconds; what is a key of ``SWITCHES``.
    schedules
        What changes by plan.
    """

    run: Run
    request: Request
    start_s: float
    end_s: float
    outages: tuple[tuple[str, float, float], ...]
    switches: tuple[tuple[str, float], ...]
    schedules: tuple[Band, ...]

    @classmethod
    def of(cls, run: Run, request: Request) -> Frame:
        """Read from the resolved scenario what failed and was switched when."""
        scenario = run.scenario
        stop_s = scenario["stop_ps"] / PICOSECONDS_A_SECOND
        start_s, end_s = request.window(stop_s)
        outages = tuple(
            (one["link"], one["at_ps"] / PICOSECONDS_A_SECOND, _seconds(one["repair_ps"], stop_s))
            for one in scenario["failures"]
        )
        names = {"backup": "switch to the backup", "working": "switch back"}
        switches = dict.fromkeys(
            (names[one["to"]], one["at_ps"] / PICOSECONDS_A_SECOND) for one in run.switches if one["packets"] == "data"
        )
        planned = bands(scenario, *(round(time * PICOSECONDS_A_SECOND) for time in (start_s, end_s)))
        return cls(run, request, start_s, end_s, outages, tuple(switches), tuple(planned[:MOST_BANDS]))

    def visible(self, times: NDArray[np.float64], *, before: bool = False) -> slice:
        """Rows inside the time axis, of times in order; ``before``: and the last one before it, for step curves."""
        first = int(np.searchsorted(times, self.start_s, side="left"))
        end = int(np.searchsorted(times, self.end_s, side="right"))
        return slice(max(0, first - 1) if before else first, end)

    def title(self, what: str) -> str:
        """Head of a picture."""
        cell = "".join(f", {name.rpartition('.')[2]} = {value}" for name, value in self.run.cell.items())
        name = self.run.scenario["title"]
        about = f" - {name}" if name else ""
        return "\n".join(textwrap.wrap(f"{what}{about} (seed {self.run.seed}{cell})", TITLE_LETTERS))

    def panels(self, figure: Figure, count: int, what: str, y_label: str) -> list[Axes]:
        """Stack panels over one time axis, with failures and switches across them."""
        ratios = [1.0] * count + ([STRIP * len(self.schedules)] if self.schedules else [])
        grid = figure.subplots(len(ratios), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": ratios})
        panels: list[Axes] = list(grid[:count, 0])
        if self.schedules:
            self._schedules(grid[-1, 0])
        for panel in panels:
            for _, at, until in self.outages:
                panel.axvspan(at, until, color=GREY, alpha=0.16, linewidth=0, zorder=0)
            for name, at in self.switches:
                panel.axvline(at, color=DARK, linestyle=SWITCHES[name], linewidth=1.1, zorder=0.5)
        panels[0].set_xlim(self.start_s, self.end_s)
        grid[-1, 0].set_xlabel("time (s)")
        figure.suptitle(self.title(what), x=0.01, ha="left", fontsize=9.5, fontweight="bold")
        figure.supylabel(y_label, fontsize=9)
        return panels

    def _schedules(self, panel: Axes) -> None:
        """Draw what changes by plan as strips of colours, one below the other."""
        colours = self._states()
        for number, band in enumerate(self.schedules):
            for start, end, state in band.spans:
                ends = (start / PICOSECONDS_A_SECOND, (end - start) / PICOSECONDS_A_SECOND)
                panel.broken_barh([ends], (number + 0.15, 0.7), color=colours[state], linewidth=0)
        names = [band.name for band in self.schedules]
        panel.set_yticks([number + 0.5 for number in range(len(names))], names, fontsize=6)
        panel.set_ylim(len(names), 0)
        panel.tick_params(axis="y", length=0)
        panel.grid(visible=False)
        panel.spines[["left", "top", "right"]].set_visible(False)

    def _states(self) -> dict[str, str]:
        """A colour for each state that a schedule brings; for so many states as there are colours."""
        states = dict.fromkeys(state for band in self.schedules for _, _, state in band.spans)
        return {state: STATES[number % len(STATES)] for number, state in enumerate(states)}

    def legend(self, figure: Figure, handles: list[Artist]) -> None:
        """Put one legend below the panels: what is drawn, then outages and switches that are in sight."""
        seen = [one for one in self.outages if one[1] < self.end_s and one[2] > self.start_s]
        links = list(dict.fromkeys(link for link, _, _ in seen))
        if links:
            label = f"{', '.join(links)} down" if len(links) <= 3 else f"one of {len(links)} links down"
            handles = [*handles, Patch(color=GREY, alpha=0.16, linewidth=0, label=label)]
        for name, style in SWITCHES.items():
            if any(what == name and self.start_s <= at <= self.end_s for what, at in self.switches):
                handles = [*handles, line(DARK, name, linestyle=style)]
        if len(states := self._states()) <= len(STATES):
            handles = [*handles, *(Patch(color=ink, linewidth=0, label=state) for state, ink in states.items())]
        columns = _columns([str(one.get_label()) for one in handles])
        figure.legend(handles=handles, loc="outside lower left", ncols=columns)


def height(panels: int) -> float:
    """Height in inches of a picture of so many panels."""
    return (2.6 if panels == 1 else 1.75 * panels) + 1.0


def line(colour: str, label: str, **options: Any) -> Line2D:  # noqa: ANN401 - what matplotlib takes
    """Make a legend entry for a line or a marker."""
    return Line2D([], [], color=colour, label=label, **options)


def _columns(labels: list[str]) -> int:
    """How many columns of legend entries fit side by side; matplotlib spreads the entries evenly over them."""
    for columns in range(len(labels), 1, -1):
        widest = [max(len(label) for label in part) for part in np.array_split(labels, columns)]
        if sum(LEGEND_ENTRY_IN + LEGEND_LETTER_IN * letters for letters in widest) <= WIDTH_IN:
            return columns
    return 1


def _seconds(picoseconds: int | None, otherwise: float) -> float:
    return otherwise if picoseconds is None else picoseconds / PICOSECONDS_A_SECOND
