"""A network of satellites on the globe: positions of nodes over time, paths of packets, and times of path changes.

# Model

The globe is drawn from far away (an orthographic projection) over the middle of the path's ends. The scale is as large
as possible with all satellites of the path in view. A node without a given place, such as an antenna, is drawn at its
neighbour. A link between both ends of the path follows its satellites.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.web.animation.events import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.constellation.beside import ConstellationFiles
    from optcp.constellation.recorded import Recorded
    from optcp.constellation.series import Stretch
    from optcp.web.animation.frames import Port

ENDS = 2
"""Number of places at the start of the list that are the path's ends."""
LEAST = 0.25
"""Minimum width and height of the view, in radii of the earth."""
MOST_NAMES = 9
"""A sentence names no more satellites."""
KINDS = {"longer": "path", "shorter": "path", "back": "up", "outage": "down"}
"""Of events."""


@dataclass(frozen=True)
class View:
    """Visible part of the globe.

    Attributes
    ----------
    latitude, longitude
        Of the middle of the disc, in degrees.
    box
        Left, bottom, right and top of the visible part, in radii of the earth from that middle.
    """

    latitude: float
    longitude: float
    box: tuple[float, float, float, float]


def view(ends: Sequence[NDArray[np.float64]], points: Iterable[NDArray[np.float64]]) -> View:
    """Look from above the middle of two ends; ``ends`` and ``points`` are in radii of the earth, shape (3,) each."""
    middle = np.sum([end / np.linalg.norm(end) for end in ends], axis=0)
    if np.linalg.norm(middle) < 1e-6:
        middle = ends[0]
    x, y, z = middle / np.linalg.norm(middle)
    latitude, longitude = float(np.arcsin(z)), float(np.arctan2(y, x))
    east = np.array([-np.sin(longitude), np.cos(longitude), 0])
    north = np.cross([x, y, z], east)
    flat = np.array([[point @ east, point @ north] for point in (*ends, *points)])
    low, high = flat.min(axis=0), flat.max(axis=0)
    more = np.maximum(LEAST - (high - low), 0) / 2
    left, bottom, right, top = (round(float(one), 4) for one in (*(low - more), *(high + more)))
    return View(float(np.degrees(latitude)), float(np.degrees(longitude)), (left, bottom, right, top))


def globe(beside: ConstellationFiles, resolved: Mapping[str, Any], ports: Sequence[Port]) -> dict[str, Any] | None:
    """Return the data of the globe for a page; None without places, or if some nodes cannot have one."""
    stands = stand(beside, resolved)
    names = list(beside.places)
    if len(names) < ENDS or not {node for port in ports for node in port.ends} <= stands.keys():
        return None
    place = {name: number for number, name in enumerate(names)}
    stretches = beside.paths.stretches() if beside.paths else []
    ends = [place[name] for name in names[:ENDS]]

    def over(one: Stretch) -> list[int]:
        known = [place[f"S{number}"] for number in one.satellites if f"S{number}" in place]
        return [ends[0], *known, ends[-1]] if known else []

    tracks = list(beside.places.values())
    points = [tracks[at].at(when) for one in stretches for at in over(one) for when in (one.start_s, one.end_s)]
    seen = view([tracks[at].at(0.0) for at in ends], points)
    land = json.loads((resources.files("optcp.web.animation") / "land.json").read_text(encoding="utf-8"))
    return {
        "land": land["land"],
        "middle": [round(seen.latitude, 4), round(seen.longitude, 4)],
        "box": seen.box,
        "places": [
            [name, *(np.round(column, 4).tolist() for column in (
                track.seconds, track.latitude_deg, track.longitude_deg, track.height_km))]
            for name, track in beside.places.items()
        ],
        "stands": {node: place[name] for node, name in stands.items()},
        "ports": [[place[stands[node]] for node in port.ends] for port in ports],
        "path": [[one.start_s, over(one)] for one in stretches],
    }  # fmt: skip


def stand(beside: ConstellationFiles, resolved: Mapping[str, Any]) -> dict[str, str]:
    """Return the place of each node: its own, or its nearest neighbour's."""
    found = {node: node for node in resolved["nodes"] if node in beside.places}
    pairs = [pair for link in resolved["links"] for pair in (link["ends"], link["ends"][::-1])]
    more = dict(found)
    while more:
        more = {b: found[a] for a, b in reversed(pairs) if a in found and b not in found}
        found |= more
    return found


def changes(paths: Recorded | None) -> Iterator[Event]:
    """Yield path changes as events."""
    for one in paths.stretches() if paths else []:
        names = [str(number) for number in one.satellites]
        over = f"over {' '.join(names)}"
        if len(names) > MOST_NAMES:
            over = f"over {len(names)} satellites, {names[0]} to {names[-1]}"
        text = {
            "first": f"path: {one.rtt_ms:.1f} ms, {over}",
            "longer": f"longer path: {one.rtt_ms:.1f} ms instead of {one.before_ms:.1f}, {over}",
            "shorter": f"shorter path: {one.rtt_ms:.1f} ms instead of {one.before_ms:.1f}, {over}",
            "back": f"path restored: {one.rtt_ms:.1f} ms, {over}",
            "outage": "no path",
        }[one.change]
        yield Event(round(one.start_s * PICOSECONDS_A_SECOND), KINDS.get(one.change, one.change), text)


def story(paths: Recorded | None) -> int | None:
    """Return the time of the change to show in detail, in ps: the first outage, or else the largest change."""
    later = [one for one in paths.stretches() if one.change != "first"] if paths else []
    outages = [one for one in later if one.change == "outage"]
    chosen = outages[:1] or sorted(later, key=lambda one: -abs(one.rtt_ms - one.before_ms))[:1]
    return round(chosen[0].start_s * PICOSECONDS_A_SECOND) if chosen else None
