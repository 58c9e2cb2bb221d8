"""Goodput in the phases of a restoration, and shortfall against a fluid model that fills every link immediately."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.outage.world import MSS_SHARE
from optcp.papers.kit import Axis, Cells, Run, StudyResult

A_SECOND = 10
"""Intervals of goodput."""
WINDOW = 5
"""Number of consecutive intervals whose mean must reach a share."""
REACHED = 0.9
GROUPS = ("hit", "own")
"""Flows that cross the failed link, and flows that already used the detour."""
EVENTS = ("before", "cut", "return", "step")
MEASURED = ("hit_pct", "own_pct", "lost_ms", "back_s", "timeouts", "resent", "needless", "overtaken")


@dataclass(frozen=True)
class Timeline:
    """Times of the events, in seconds of the run.

    Attributes
    ----------
    cut_s, works_s, step_s, end_s
        Times of the failure, of the partial restoration, of the rate step, and of the end of the last phase.
    gap_s
        Outage of the link at the step.
    """

    cut_s: float
    works_s: float
    step_s: float
    end_s: float
    gap_s: float

    @property
    def settings(self) -> dict[str, str]:
        """Return the settings of the scenario; the run is slightly longer, since changes must precede its end."""
        light_s = min(self.step_s + self.gap_s, self.end_s + 0.0005)
        instants = {"cut": self.cut_s, "works": self.works_s, "step": self.step_s, "light": light_s}
        return {
            **{f"parameters.{name}": f"{at:g} s" for name, at in instants.items()},
            "stop": f"{self.end_s + 0.001:g} s",
        }

    def phase(self, event: str) -> tuple[float, float]:
        """Return start and end of the phase after an event."""
        return {
            "before": (self.cut_s - 1, self.cut_s),
            "cut": (self.cut_s, self.works_s),
            "return": (self.works_s, self.step_s),
            "step": (self.step_s, self.end_s),
        }[event]


def shares(event: str, share: float) -> dict[str, float]:
    """Return the rates of a fluid after an event, in link rates by group; after the cut all flows share one link."""
    return {
        "before": {"hit": 1.0, "own": 1.0},
        "cut": {"all": 1.0},
        "return": {"hit": share, "own": 1.0},
        "step": {"hit": share / 2, "own": 1.0},
    }[event]


def goodput(run: Run) -> dict[str, NDArray[np.float64]]:
    """Return the in-order bytes in each interval, by group and in total."""
    result = {name: run["goodput"].where(group=name)["bytes"].astype(np.float64) for name in GROUPS}
    return {**result, "all": result["hit"] + result["own"]}


def in_time(values: NDArray[np.float64], between_s: tuple[float, float]) -> NDArray[np.float64]:
    """Return the intervals between two times."""
    first, last = (round(A_SECOND * at) for at in between_s)
    return values[first:last]


def measure(run: Run, times: Timeline, share: float, link_bps: float) -> NDArray[np.float64]:
    """Return all :data:`MEASURED` after each event of :data:`EVENTS`; NaN if a metric is undefined.

    Parameters
    ----------
    share
        Restored share of the rate.
    link_bps
        Link rate, in bit/s.
    """
    got, whole = goodput(run), link_bps * MSS_SHARE / 8
    counted = counts(run, times)
    result = np.full((len(EVENTS), len(MEASURED)), np.nan)
    for place, event in enumerate(EVENTS):
        begins, ends = times.phase(event)
        if begins == ends:
            continue
        mine = {name: in_time(values, (begins, ends)) for name, values in got.items()}
        result[place, :2] = [100 * mine[name].sum() / (whole * (ends - begins)) for name in GROUPS]
        if event == "before":
            continue
        fluid = shares(event, share)
        dark_s = times.gap_s if event == "step" else 0.0
        lack = sum(fluid.values()) * (ends - begins) - fluid.get("hit", 0.0) * dark_s - mine["all"].sum() / whole
        back = back_s([mine[name] * A_SECOND / (whole * part) for name, part in fluid.items()])
        result[place, 2:] = [1000 * lack, back, *counted[event]]
    return result


def back_s(reached: list[NDArray[np.float64]]) -> float:
    """Return the start of the first half second in which all groups have their share, or the length of the phase."""
    means = [np.convolve(item, np.full(WINDOW, 1 / WINDOW), "valid") for item in reached]
    settled = np.flatnonzero(np.min(means, axis=0) >= REACHED)
    return (float(settled[0]) if settled.size else float(reached[0].size)) / A_SECOND


def counts(run: Run, times: Timeline) -> dict[str, list[float]]:
    """Count RTOs, retransmissions, spurious retransmissions and overtaken segments after each event."""
    since = {
        event: [float(run[f"since-{name}"][what].sum()) for what in ("timeouts", "resent", "needless")]
        for event, name in (("cut", "cut"), ("return", "works"), ("step", "step"))
    }
    order = run["order"].where(event="overtaken")["time_ps"].astype(np.float64) / PS
    result = {}
    for event, behind in (("cut", "return"), ("return", "step"), ("step", None)):
        later = since[behind] if behind else [0.0, 0.0, 0.0]
        begins, ends = times.phase(event)
        overtaken = float(((order > begins) & (order <= ends)).sum())
        result[event] = [*(one - other for one, other in zip(since[event], later, strict=True)), overtaken]
    return result


def measured(done: StudyResult, times: Timeline, link_bps: Callable[[Mapping[str, str]], float]) -> Cells:
    """Return :data:`MEASURED` for every run of a grid with the axis ``share``; adds axes ``event`` and ``metric``.

    Parameters
    ----------
    link_bps
        Function from the axis values of a combination to the link rate.
    """
    names = [axis.name for axis in done.grid.axes]
    cells = [(branch, dict(zip(names, done.grid.written(branch), strict=True))) for branch in done.grid.branches]
    result = [
        [measure(done.run(branch, seed), times, float(at["share"]), link_bps(at)) for branch, at in cells]
        for seed in done.seeds
    ]
    return done.cells(np.array(result), (Axis("event", EVENTS), Axis("metric", MEASURED)))
