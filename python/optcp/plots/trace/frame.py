"""Common parts of trace plots: time axis, failures, switchovers, panels and legend."""

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
MAX_PANELS = 8
WIDTH_IN = 8.2
TITLE_LETTERS = 90
"""Maximum number of letters per line of a title."""
LEGEND_ENTRY_IN, LEGEND_LETTER_IN = 0.62, 0.074
"""Width of a legend entry without its label, and of one letter, in inches."""
PICOSECONDS_A_SECOND = 1e12
MAX_BANDS = 4
STRIP = 0.07
"""Height of a schedule strip relative to a panel."""
STATES = ("#3b4cc0", "#c7d3f5", "#8c510a", "#80cdc1", "#c51b7d", "#b8e186")
"""Colours of schedule states; curves use none of them."""
SWITCHES = {"switchover": ":", "reversion": "-."}


@dataclass(frozen=True)
class Frame:
    """Run, and the part of its time that is drawn.

    Attributes
    ----------
    run
        Run to draw.
    request
        Selection of the user.
    start_s, end_s
        Ends of the time axis.
    outages
        Tuples (link, start, end), times in s.
    switches
        Tuples (key of ``SWITCHES``, time in s).
    schedules
        Bands of scheduled changes.
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
        """Create the frame with the failures and switchovers of a run."""
        scenario = run.scenario
        stop_s = scenario["stop_ps"] / PICOSECONDS_A_SECOND
        start_s, end_s = request.window(stop_s)
        outages = tuple(
            (one["link"], one["at_ps"] / PICOSECONDS_A_SECOND, _seconds(one["repair_ps"], stop_s))
            for one in scenario["failures"]
        )
        names = {"backup": "switchover", "working": "reversion"}
        switches = dict.fromkeys(
            (names[one["to"]], one["at_ps"] / PICOSECONDS_A_SECOND) for one in run.switches if one["packets"] == "data"
        )
        planned = bands(scenario, *(round(time * PICOSECONDS_A_SECOND) for time in (start_s, end_s)))
        return cls(run, request, start_s, end_s, outages, tuple(switches), tuple(planned[:MAX_BANDS]))

    def visible(self, times: NDArray[np.float64], *, before: bool = False) -> slice:
        """Return the rows within the time axis; with ``before`` also the row before it, for step curves."""
        first = int(np.searchsorted(times, self.start_s, side="left"))
        end = int(np.searchsorted(times, self.end_s, side="right"))
        return slice(max(0, first - 1) if before else first, end)

    def title(self, what: str) -> str:
        """Return the title of a plot."""
        cell = "".join(f", {name.rpartition('.')[2]} = {value}" for name, value in self.run.cell.items())
        name = self.run.scenario["title"]
        about = f" - {name}" if name else ""
        return "\n".join(textwrap.wrap(f"{what}{about} (seed {self.run.seed}{cell})", TITLE_LETTERS))

    def panels(self, figure: Figure, count: int, what: str, y_label: str) -> list[Axes]:
        """Create panels over one time axis, with failures and switchovers drawn across them."""
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
        """Draw scheduled changes as coloured strips, one below the other."""
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
        """Return the colour of each schedule state; colours repeat if there are too many states."""
        states = dict.fromkeys(state for band in self.schedules for _, _, state in band.spans)
        return {state: STATES[number % len(STATES)] for number, state in enumerate(states)}

    def legend(self, figure: Figure, handles: list[Artist]) -> None:
        """Draw one legend below the panels: curves, then visible failures, switchovers and schedule states."""
        seen = [one for one in self.outages if one[1] < self.end_s and one[2] > self.start_s]
        links = list(dict.fromkeys(link for link, _, _ in seen))
        if links:
            label = f"{', '.join(links)} down" if len(links) <= 3 else f"any of {len(links)} links down"
            handles = [*handles, Patch(color=GREY, alpha=0.16, linewidth=0, label=label)]
        for name, style in SWITCHES.items():
            if any(what == name and self.start_s <= at <= self.end_s for what, at in self.switches):
                handles = [*handles, line(DARK, name, linestyle=style)]
        if len(states := self._states()) <= len(STATES):
            handles = [*handles, *(Patch(color=ink, linewidth=0, label=state) for state, ink in states.items())]
        figure.legend(handles=handles, loc="outside lower left", ncols=self.legend_columns(handles))

    @staticmethod
    def legend_columns(handles: list[Artist]) -> int:
        """Return the number of legend columns that fit."""
        return _columns([str(one.get_label()) for one in handles])


def height(panels: int) -> float:
    """Return the height of a plot with this number of panels, in inches."""
    return (2.6 if panels == 1 else 1.75 * panels) + 1.0


def line(colour: str, label: str, **options: Any) -> Line2D:  # noqa: ANN401 - what matplotlib takes
    """Return a legend entry for a line or marker."""
    return Line2D([], [], color=colour, label=label, **options)


def _columns(labels: list[str]) -> int:
    """Return the number of legend columns that fit; matplotlib distributes the entries evenly."""
    for columns in range(len(labels), 1, -1):
        widest = [max(len(label) for label in part) for part in np.array_split(labels, columns)]
        if sum(LEGEND_ENTRY_IN + LEGEND_LETTER_IN * letters for letters in widest) <= WIDTH_IN:
            return columns
    return 1


def _seconds(picoseconds: int | None, otherwise: float) -> float:
    return otherwise if picoseconds is None else picoseconds / PICOSECONDS_A_SECOND
