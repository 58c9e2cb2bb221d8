"""Cost of a path change: each change compared with the same run in which the previous path continues."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, behind, rows
from optcp.papers.judge import Part, difference_part, equivalence_part
from optcp.papers.kit import Axis, Cells, Grid, Key, Options, Run, Settings, Size, StudyResult, once
from optcp.papers.model import Series as Curve
from optcp_papers.leo import windows
from optcp_papers.leo.paper import ASSUMED, PAPER, PAYLOAD_SHARE, SENDERS, rate, sender
from optcp_papers.leo.windows import Window
from optcp_papers.leo.worlds import Made, Worlds, chosen_rate, grid, over, queue
from optcp_papers.outage.paper import not_run

BEFORE_S = 60.0
"""Time that a flow sends before the change, in s."""
BEHIND_S = 10.0
"""Time after the change in which its cost counts, in s; the path must not change again in it."""
QUICK_WINDOWS = 1
KINDS = ("shorter", "longer", "outage")
MUCH_MS = 3 * 8e-6 * 1434 / 10e-3
"""Three transmissions of a segment at 10 Mb/s: if three segments overtake one, duplicate ACKs report a loss."""
CLASSES = ("shorter", "much shorter", "longer", "much longer", "outage")
WORLDS = ("change", "kept")
MEASURED = ("lost_ms", "needless", "recoveries", "timeouts")
OBSERVE = [
    {"name": "seen", "kind": "outages", "after": f"{BEFORE_S:g} s"},
    {"name": "events", "kind": "reordering"},
]
NOTES = [
    "Every value is a run minus the same run in which the path before the change continues, as if its "
    f"satellites stayed in reach, from the change to {BEHIND_S:g} s after it, or after the end of an outage. "
    "Intervals are over changes.",
    "`lost_ms` is the data that have not arrived by then, in ms of the link rate. A path that is some ms longer "
    "costs as many ms without any fault of TCP.",
]


@dataclass(frozen=True)
class Change:
    """Change of the path, followed by a time without changes.

    Attributes
    ----------
    pair, window_s
        Pair of stations, and start of the window.
    start_s, end_s
        Time of the change, and time from which there is a path again; they only differ in an outage.
    kind
        One of :data:`KINDS`.
    way_ms
        Increase of the one-way delay, including the transmission of a segment on each link at 10 Mb/s; 0 for an
        outage.
    """

    pair: str
    window_s: int
    start_s: float
    end_s: float
    kind: str
    way_ms: float

    @property
    def name(self) -> str:
        """Its pair and its time, in s from 2000-01-01 00:00 UT."""
        return f"{self.pair} {self.start_s:g}"

    @property
    def of_class(self) -> str:
        """Its class, one of :data:`CLASSES`."""
        return f"much {self.kind}" if abs(self.way_ms) >= MUCH_MS else self.kind

    def around(self, kept: bool) -> Window:
        """Return the part of the window around the change; with ``kept``, the path before it continues."""
        result = windows.window(self.pair, self.window_s).part(self.start_s - BEFORE_S, self.end_s + BEHIND_S)
        return replace(result, kept=result.first + round(BEFORE_S / windows.STEP_S) - 1) if kept else result


@functools.cache
def changes(drawn: int) -> tuple[Change, ...]:
    """Return all changes in the published and the first drawn windows, except those near another or near an end."""
    result = []
    for pair in windows.PAIRS:
        for window_s in (windows.PUBLISHED_S, *windows.WINDOWS_S[:drawn]):
            series = windows.window(pair, window_s).series
            stretches = series.stretches()
            for place, item in enumerate(stretches[1:], 1):
                behind_it = stretches[place + 1 :]
                end_s, stays_until_s = item.start_s, item.end_s
                if item.change == "outage":
                    if not behind_it:
                        continue
                    end_s, stays_until_s = behind_it[0].start_s, behind_it[0].end_s
                early = item.start_s - BEFORE_S < float(series.seconds[0])
                before = stretches[place - 1]
                if item.change not in KINDS or early or stays_until_s < end_s + BEHIND_S - 1e-9:
                    continue
                hops = len(item.satellites) - len(before.satellites)
                way_ms = 0.0 if item.change == "outage" else (item.rtt_ms - item.before_ms) / 2 + hops * MUCH_MS / 3
                result.append(Change(pair, window_s, item.start_s, end_s, item.change, float(way_ms)))
    return tuple(result)


def drawn_windows(size: Size) -> int:
    """Return the number of drawn windows to use."""
    return size.of(windows.DRAWN, QUICK_WINDOWS)


def change_scenario(change: Change, kept: bool, settings: Settings, rate_mbps: float) -> Made:
    """Return the scenario around a change, or its twin."""
    return change.around(kept), rate_mbps, {**settings, "observe": OBSERVE}


def twins(
    title: str, of: Sequence[Change], settings: Mapping[str, Settings], axis: str, rate_mbps: float,
    options: Options,
) -> Grid:  # fmt: skip
    """Return the grid of each change and its twin, under named settings."""
    worlds: Worlds = {
        (name, item.name, world): functools.partial(change_scenario, item, world == "kept", values, rate_mbps)
        for name, values in settings.items()
        for item in of
        for world in WORLDS
    }
    return grid(title, worlds, (axis, "change", "world"), options)


def measure(run: Run, rate_mbps: float) -> NDArray[np.float64]:
    """Return all :data:`MEASURED` after the change, but with the received data (negative) for the lost data."""
    seen, events = run["seen"], run["events"]
    since = events.where(event="recovery")["time_ps"] >= BEFORE_S * 1e12
    came_ms = float(seen["bytes"].sum()) * 8 / (1000 * rate_mbps * PAYLOAD_SHARE)
    needless, timeouts = (float(seen[name].sum()) for name in ("needless", "timeouts"))
    return np.array([-came_ms, needless, float(since.sum()), timeouts])


def costs(done: StudyResult, rate_mbps: float) -> Cells:
    """Return the cost of each change, with changes in place of seeds."""
    cells = done.each(lambda run: measure(run, rate_mbps), Axis("metric", MEASURED))
    return over(cells.at(world="change") - cells.at(world="kept"), "change")


def those(cells: Cells, which: Sequence[bool]) -> Cells:
    """Return some of the changes, from cells with changes in place of seeds."""
    kept = np.flatnonzero(which)
    return replace(cells, values=cells.values[kept], seeds=tuple(cells.seeds[at] for at in kept))


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grid of senders over changes."""
    more = queue(float(chosen["queue_packets"]))
    settings = {name: {**more, **sender(of)} for name, of in SENDERS.items()}
    of = changes(drawn_windows(options.size))
    return {"changes": twins("leo changes", of, settings, "sender", chosen_rate(chosen), options)}


def changes_of_study(done: StudyResult) -> list[Change]:
    """Return the changes of a study, in the order of its axis."""
    by_name = {change.name: change for change in changes(windows.DRAWN)}
    return [by_name[name] for name in next(axis for axis in done.grid.axes if axis.name == "change").values]


def find(found: Found) -> Findings:
    """Return the cost of each kind of change by sender, and the cost of each change by its delay increase."""
    of = changes_of_study(found.only)
    cost = costs(found.only, found.number("rate_mbps"))
    by_class = {name: those(cost, [item.of_class == name for item in of]) for name in CLASSES}
    found_rows = [
        row
        for name, mine in by_class.items()
        if mine.seeds
        for row in rows({metric: mine.at(metric=metric).mean() for metric in MEASURED}, key=behind({"change": name}))
    ]
    counts = ", ".join(f"{len(mine.seeds)} {name}" for name, mine in by_class.items())
    much = f"`much` means at least {MUCH_MS:.2f} ms one way, the transmission time of three segments at 10 Mb/s."
    return Findings(found_rows, claims(cost, of), points(cost, of), [*NOTES, f"{much} Changes: {counts}."])


def points(cost: Cells, of: Sequence[Change], more: Key | None = None) -> list[Curve]:
    """Return the cost of each change (no outages) over its delay increase, one curve per value of the first axis."""
    order = sorted((item.way_ms, at) for at, item in enumerate(of) if item.kind != "outage")
    result = []
    axis = cost.axes[0]
    for name in axis.values:
        lost = cost.at(**{axis.name: name, "metric": "lost_ms"}).values
        x, y = [round(way, 4) for way, _ in order], [round(float(lost[at]), 4) for _, at in order]
        key: Key = {axis.name: name, **(more or {})}
        result.append(Curve("cost", key, "one-way delay increase", "ms", "lost", "ms", x, y))
    return result


def claims(cost: Cells, of: Sequence[Change]) -> dict[str, list[Part]]:
    """Return all claims, over changes."""
    way = {kind: np.array([item.way_ms for item in of if item.kind == kind]) for kind in KINDS}
    dark_ms = np.array([1000 * (item.end_s - item.start_s) for item in of if item.kind == "outage"])
    by_kind = {kind: those(cost, [item.kind == kind for item in of]) for kind in KINDS}

    def at(kind: str, name: str, metric: str = "lost_ms") -> NDArray[np.float64]:
        return by_kind[kind].at(sender=name, metric=metric).values

    return {
        "leo-shorter-path-is-taken-for-loss": [
            difference_part(f"newreno, {metric}", at("shorter", "newreno", metric), "above", "")
            for metric in ("needless", "recoveries")
        ],
        "leo-shorter-path-changes-nothing-today": [
            equivalence_part(name, at("shorter", name) - way["shorter"], 10, "ms") for name in ("linux", "bbr", "bbr3")
        ],
        "leo-longer-path-costs-what-it-is-longer": [
            equivalence_part(name, at("longer", name) - way["longer"], 20, "ms")
            for name in ("newreno", "cubic", "linux")
        ],
        "leo-vegas-takes-a-longer-path-for-congestion": [
            difference_part("vegas", at("longer", "vegas") - way["longer"], "above", "ms"),
            difference_part("vegas, against newreno", at("longer", "vegas") - at("longer", "newreno"), "above", "ms"),
        ],
        "leo-outage-costs-more-than-itself": [
            difference_part(name, at("outage", name) - dark_ms, "above", "ms") for name in SENDERS
        ]
        if len(dark_ms) > 1
        else [not_run("outages")],
    }


CHANGES = Exhibit(
    "leo/changes",
    "Cost of a path change, by kind and sender",
    "docs/details/leo.md, changes",
    Setup(PAPER, None, grids, once, (rate(10.0), *ASSUMED)),
    find,
)
