"""What a change of the path costs: each change against the same run in which the path before it goes on."""

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
"""How long a flow sends before the change."""
BEHIND_S = 10.0
"""How long its cost is counted: the path must not change again by then."""
QUICK_WINDOWS = 1
KINDS = ("shorter", "longer", "outage")
MUCH_MS = 3 * 8e-6 * 1434 / 10e-3
"""Three transmissions of a segment at 10 Mb/s: where three segments overtake, duplicate ACKs say that one is lost."""
CLASSES = ("shorter", "much shorter", "longer", "much longer", "outage")
WORLDS = ("change", "kept")
MEASURED = ("lost_ms", "needless", "recoveries", "timeouts")
OBSERVE = [
    {"name": "seen", "kind": "outages", "after": f"{BEFORE_S:g} s"},
    {"name": "events", "kind": "reordering"},
]
NOTES = [
    "Every value is of a run less that of the same run in which the path before the change goes on, as if its "
    f"satellites stayed in reach, from the change to {BEHIND_S:g} s behind it, or behind the end of an outage. "
    "Intervals are over changes.",
    "`lost_ms` is what has not come by then, in ms of what a link carries; a path that is longer by some ms costs as "
    "much without any fault of TCP.",
]


@dataclass(frozen=True)
class Change:
    """A change of the path behind which it stays for a while.

    Attributes
    ----------
    pair, window_s
        Where it is.
    start_s, end_s
        When the path changes, and when there is a path again; equal but in an outage.
    kind
        Of :data:`KINDS`.
    way_ms
        By how much the way became longer, one way, with what its links take to transmit a segment at 10 Mb/s; 0 of an
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
        """Its pair and its instant, in s from 2000-01-01 00:00 UT."""
        return f"{self.pair} {self.start_s:g}"

    @property
    def of_class(self) -> str:
        """Of :data:`CLASSES`."""
        return f"much {self.kind}" if abs(self.way_ms) >= MUCH_MS else self.kind

    def around(self, kept: bool) -> Window:
        """The part of the window around it; or with the path before it to the end."""
        found = windows.window(self.pair, self.window_s).part(self.start_s - BEFORE_S, self.end_s + BEHIND_S)
        return replace(found, kept=found.first + round(BEFORE_S / windows.STEP_S) - 1) if kept else found


@functools.cache
def changes(drawn: int) -> tuple[Change, ...]:
    """Every change in the published window and the first of those drawn, but those near others or near an end."""
    found = []
    for pair in windows.PAIRS:
        for window_s in (windows.PUBLISHED_S, *windows.WINDOWS_S[:drawn]):
            series = windows.window(pair, window_s).series
            stretches = series.stretches()
            for place, one in enumerate(stretches[1:], 1):
                behind_it = stretches[place + 1 :]
                end_s, stays_until_s = one.start_s, one.end_s
                if one.change == "outage":
                    if not behind_it:
                        continue
                    end_s, stays_until_s = behind_it[0].start_s, behind_it[0].end_s
                early = one.start_s - BEFORE_S < float(series.seconds[0])
                before = stretches[place - 1]
                if one.change not in KINDS or early or stays_until_s < end_s + BEHIND_S - 1e-9:
                    continue
                hops = len(one.satellites) - len(before.satellites)
                way_ms = 0.0 if one.change == "outage" else (one.rtt_ms - one.before_ms) / 2 + hops * MUCH_MS / 3
                found.append(Change(pair, window_s, one.start_s, end_s, one.change, float(way_ms)))
    return tuple(found)


def drawn_windows(size: Size) -> int:
    """How many of the drawn windows are looked at."""
    return size.of(windows.DRAWN, QUICK_WINDOWS)


def made(change: Change, kept: bool, settings: Settings, rate_mbps: float) -> Made:
    """The world around a change, or its twin."""
    return change.around(kept), rate_mbps, {**settings, "observe": OBSERVE}


def twins(
    title: str, of: Sequence[Change], settings: Mapping[str, Settings], axis: str, rate_mbps: float,
    options: Options,
) -> Grid:  # fmt: skip
    """Each change with its twin, under settings that have names."""
    worlds: Worlds = {
        (name, one.name, world): functools.partial(made, one, world == "kept", values, rate_mbps)
        for name, values in settings.items()
        for one in of
        for world in WORLDS
    }
    return grid(title, worlds, (axis, "change", "world"), options)


def measure(run: Run, rate_mbps: float) -> NDArray[np.float64]:
    """Everything of :data:`MEASURED` behind the change, but bytes that came in place of those that are lost."""
    seen, events = run["seen"], run["events"]
    since = events.where(event="recovery")["time_ps"] >= BEFORE_S * 1e12
    came_ms = float(seen["bytes"].sum()) * 8 / (1000 * rate_mbps * PAYLOAD_SHARE)
    needless, timeouts = (float(seen[name].sum()) for name in ("needless", "timeouts"))
    return np.array([-came_ms, needless, float(since.sum()), timeouts])


def costs(done: StudyResult, rate_mbps: float) -> Cells:
    """What each change costs, with changes in the place of seeds."""
    cells = done.each(lambda run: measure(run, rate_mbps), Axis("metric", MEASURED))
    return over(cells.at(world="change") - cells.at(world="kept"), "change")


def those(cells: Cells, which: Sequence[bool]) -> Cells:
    """Of cells with changes in the place of seeds some of these."""
    kept = np.flatnonzero(which)
    return replace(cells, values=cells.values[kept], seeds=tuple(cells.seeds[at] for at in kept))


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Senders over changes."""
    more = queue(float(chosen["queue_packets"]))
    settings = {name: {**more, **sender(of)} for name, of in SENDERS.items()}
    of = changes(drawn_windows(options.size))
    return {"changes": twins("leo changes", of, settings, "sender", chosen_rate(chosen), options)}


def of_done(done: StudyResult) -> list[Change]:
    """The changes of a study, in the order of its axis."""
    by_name = {one.name: one for one in changes(windows.DRAWN)}
    return [by_name[name] for name in next(axis for axis in done.grid.axes if axis.name == "change").values]


def find(found: Found) -> Findings:
    """What changes of each kind cost each sender; and of each change, by how much longer the way became."""
    of = of_done(found.only)
    cost = costs(found.only, found.number("rate_mbps"))
    by_class = {name: those(cost, [one.of_class == name for one in of]) for name in CLASSES}
    found_rows = [
        one
        for name, mine in by_class.items()
        if mine.seeds
        for one in rows({metric: mine.at(metric=metric).mean() for metric in MEASURED}, key=behind({"change": name}))
    ]
    counts = ", ".join(f"{len(mine.seeds)} {name}" for name, mine in by_class.items())
    much = f"Much is {MUCH_MS:.2f} ms one way and more, what three segments take to transmit at 10 Mb/s."
    return Findings(found_rows, claims(cost, of), points(cost, of), [*NOTES, f"{much} Changes: {counts}."])


def points(cost: Cells, of: Sequence[Change], more: Key | None = None) -> list[Curve]:
    """What each change but outages cost over how much longer the way became, by the first axis."""
    order = sorted((one.way_ms, at) for at, one in enumerate(of) if one.kind != "outage")
    found = []
    axis = cost.axes[0]
    for name in axis.values:
        lost = cost.at(**{axis.name: name, "metric": "lost_ms"}).values
        x, y = [round(way, 4) for way, _ in order], [round(float(lost[at]), 4) for _, at in order]
        found.append(Curve("cost", {axis.name: name, **(more or {})}, "longer, one way", "ms", "lost", "ms", x, y))
    return found


def claims(cost: Cells, of: Sequence[Change]) -> dict[str, list[Part]]:
    """Each statement, over changes."""
    way = {kind: np.array([one.way_ms for one in of if one.kind == kind]) for kind in KINDS}
    dark_ms = np.array([1000 * (one.end_s - one.start_s) for one in of if one.kind == "outage"])
    by_kind = {kind: those(cost, [one.kind == kind for one in of]) for kind in KINDS}

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
    "What a change of the path costs, by kind and sender",
    "docs/details/leo.md, changes",
    Setup(PAPER, None, grids, once, (rate(10.0), *ASSUMED)),
    find,
)
