"""Animation page: repeats a run with the observations that it needs; the browser draws it."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core
from optcp.common.plurals import count_noun
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.data.times import picoseconds
from optcp.errors import InputError
from optcp.export.packets import World
from optcp.plots import network
from optcp.web.animation import hops, window
from optcp.web.animation.events import Event, events
from optcp.web.animation.frames import Frames, Port, frames, full, kinds, ports_of, step, waiting
from optcp.web.animation.globe import changes, globe, story
from optcp.web.templating import templates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.constellation.beside import ConstellationFiles
    from optcp.scenarios.run import FreshRun
    from optcp.scenarios.scenario import Scenario

MOST_BYTES = 3_000_000
"""Maximum size of a page; the number of packets is halved until it fits."""

APART = 3.5
"""Distance of the line of a direction from the middle of its link, in pixels."""

PARALLEL = 12.0
"""Distance between parallel links, in pixels."""

MOST_TIMEOUTS = 4000

PARTS = ("whole", "detail")
"""Names of the two time ranges with frames."""

LEVELS = 250
"""Integer that represents a share of one; larger shares are cut at 255 / 250."""


def animate(
    world: Scenario,
    seed: int = 1,
    *,
    start_s: float | None = None,
    end_s: float | None = None,
    known: Mapping[str, network.Place] | None = None,
    beside: ConstellationFiles | None = None,
    command: str = "",
) -> str:
    """Return the animation page of a run.

    The run is simulated twice: first to count packets and find events, then to record the packets to draw. Observations
    do not change a run.

    Parameters
    ----------
    world, seed
        Scenario, with the values of its file if it has a sweep, and seed.
    start_s, end_s
        Part that is drawn packet by packet, in s; chosen automatically by default.
    known
        Longitude and latitude of nodes, as for :func:`optcp.plots.network.of_world`.
    beside
        Positions of nodes over time and path over satellites. With both, the page draws a globe.
    command
        Command that creates this page, for its footer.

    Raises
    ------
    InputError
        If the seed or part does not exist, or the network cannot be drawn.
    """
    world = _until_the_end(world, seed)
    resolved = world.resolved
    nodes, links, drawn_as = network.laid(resolved)
    if not links or len(nodes) > network.MAX_NODES:
        raise InputError(f"an animation needs at least 1 link and at most {network.MAX_NODES} nodes")
    ports, rows = ports_of(resolved, links, drawn_as)
    groups = list(dict.fromkeys(group["group"] for group in [*resolved["flows"], *resolved.get("traffic", ())]))
    stop = int(resolved["stop_ps"])
    coarse = step(stop, len(ports), stop)
    run = world.set("observe", kinds(resolved, coarse)).run(seed)
    start, end = (None if at is None else picoseconds(at) for at in (start_s, end_s))
    beside = beside.of(resolved["nodes"]) if beside else None
    paths = beside.paths if beside else None
    part = window.choose(run, _hops(run, stop, coarse), (start, end), story(paths))
    fine = step(part.end_ps - part.start_ps, len(ports), stop)
    near = world.set("observe", [*kinds(resolved, fine), *_listing(resolved, part)]).run(seed)
    parts = (
        frames(run, ports, rows, groups, coarse, (0, stop)),
        frames(near, ports, rows, groups, fine, (part.start_ps, part.end_ps)),
    )
    at, height = network.placed(nodes, network.lines(links, drawn_as), known or {})
    at = {node: at[drawn_as[node]] for node in resolved["nodes"]} | at
    packets, of = near["packets"], World.of(near)
    earth, moved = globe(beside, resolved, ports) if beside else None, list(changes(paths))
    while True:
        drawn = hops.drawn(packets, of, waiting(ports, rows), groups, part)
        shown = Shown(world, near, command, ports, rows, groups, part, parts, drawn, nodes, at, height, earth, moved)
        page = shown.page()
        if len(page.encode()) <= MOST_BYTES or not len(drawn.came):
            return page
        part = window.Window(part.start_ps, part.end_ps, 2 * part.every)


def _until_the_end(world: Scenario, seed: int) -> Scenario:
    """Replace ``end_with_flows`` by a fixed ``stop`` at the end of the run, because intervals need one."""
    if not world.resolved.get("end_with_flows"):
        return world
    ended = world.set("observe", [{"name": "ends", "kind": "completions"}]).run(seed)["ends"]
    last = int(ended.numbers("time_ps").max(initial=1))
    return world.set({"end_with_flows": False, "stop": f"{last} ps"})


def _hops(run: FreshRun, stop: int, step_ps: int) -> window.Hops:
    """Return accepted packets per interval; without queues, distribute the packets of the run evenly."""
    count = -(-stop // step_ps)
    found = np.zeros(count)
    if "ports" not in run.names:
        return window.Hops(step_ps, found + run.counts["packet_hops"] / count)
    table = run["ports"]
    np.add.at(found, (table.numbers("time_ps").astype(np.int64) - 1) // step_ps, table.numbers("packets"))
    return window.Hops(step_ps, found)


def _listing(resolved: Mapping[str, Any], part: window.Window) -> list[dict[str, Any]]:
    """Return the observations that record single packets of a part of a run."""
    circuits = network.circuits(resolved)
    links = [
        tuple(link["ends"]) if link["name"] == "-".join(link["ends"]) else link["name"]
        for link in resolved["links"]
        # In a burst-switched core, packets travel in bursts, each over its own link.
        if link["name"] not in circuits and not (resolved.get("core") and link.get("wavelengths"))
    ]
    ends = {"after": f"{part.start_ps} ps", "until": f"{part.end_ps} ps"}
    links = [list(link) if isinstance(link, tuple) else link for link in dict.fromkeys(links)]
    found = [{"name": "packets", "kind": "packets", "links": links, **ends}]
    return found + ([{"name": "reordering", "kind": "reordering"}] if resolved["flows"] else [])


@dataclass(frozen=True)
class Shown:
    """Contents of the page.

    Attributes
    ----------
    rows
        Index of the drawn port of each port, by name.
    parts
        Frames of the whole run, and of the part that is drawn packet by packet.
    nodes
        Drawn nodes.
    at, height
        Positions of nodes and height of the map, in pixels.
    earth
        Data of the globe, or None.
    moved
        Changes of the path over satellites.
    """

    world: Scenario
    run: FreshRun
    command: str
    ports: list[Port]
    rows: Mapping[str, int]
    groups: list[str]
    part: window.Window
    parts: tuple[Frames, Frames]
    drawn: hops.Drawn
    nodes: list[str]
    at: Mapping[str, network.Place]
    height: float
    earth: dict[str, Any] | None
    moved: list[Event]

    def page(self) -> str:
        """Return the page as HTML."""
        arrays, scales = self._arrays()
        data = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
        listed = [[name, array.dtype.str[1:], array.size] for name, array in arrays.items()]
        about = json.dumps(self._about(scales) | {"arrays": listed}, ensure_ascii=False, separators=(",", ":"))
        template = templates().get_template("animation.html.j2")
        return template.render(
            title=self.world.title or "OpTCP run",
            seed=self.run.seed,
            sentences=self._sentences(),
            globe=self.earth is not None,
            groups=[(name, network.INKS[place % len(network.INKS)]) for place, name in enumerate(self.groups)],
            about=about.replace("</", "<\\/"),
            data=data,
            command=self.command,
            sha256=self.world.sha256,
            version=_core.version(),
        )

    @property
    def unit_ps(self) -> int:
        """Unit of packet times, such that they fit into 31 bits."""
        return max((int(self.drawn.there.max(initial=0)) - self.part.start_ps) // 2**31 + 1, 1)

    def _arrays(self) -> tuple[dict[str, NDArray[Any]], list[float]]:
        """Return the numeric arrays of the page, and the full scale of each queue bar."""
        drawn = self.drawn

        def times(at: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.maximum(at - self.part.start_ps, 0) // self.unit_ps

        came, left, there = times(drawn.came), times(drawn.left), times(drawn.there)
        # Differences compress better than absolute times.
        found: dict[str, NDArray[Any]] = {
            "came": np.diff(came, prepend=0).astype("<u4"),
            "wait": (left - came).astype("<u4"),
            "travel": (there - left).astype("<u4"),
            "port": drawn.port.astype("<u2"),
            "group": drawn.group.astype("u1"),
            "kind": drawn.kind.astype("u1"),
            "lostAt": np.diff(times(drawn.lost_at), prepend=0).astype("<u4"),
            "lostPort": drawn.lost_port.astype("<u2"),
        }
        queues = np.concatenate([one.queue for one in self.parts], axis=1)
        scales = [full(port, queue) for port, queue in zip(self.ports, queues, strict=True)]
        for name, one in zip(PARTS, self.parts, strict=True):
            found[f"{name}Load"] = _shares(one.load)
            found[f"{name}Queue"] = _shares(one.queue / np.array(scales)[:, None])
            found[f"{name}Lost"] = one.lost.clip(0, 2**16 - 1).astype("<u2")
            found[f"{name}Goodput"] = (one.goodput_bps / self._most * (2**16 - 1)).round().astype("<u2")
        return found, scales

    @property
    def _most(self) -> float:
        """Maximum goodput of a group, in bit/s."""
        return max(float(one.goodput_bps.max(initial=0.0)) for one in self.parts) or 1.0

    def _about(self, scales: Sequence[float]) -> dict[str, Any]:
        """Return the names and positions of the page; times are in s."""
        # The link that represents the path fails with it; report the path change only.
        moved = {(event.at_ps, event.kind) for event in self.moved}
        found = [event for event in events(self.run) if (event.at_ps, event.kind) not in moved]
        stop_ps = self.world.resolved["stop_ps"]
        found = sorted([*found, *(one for one in self.moved if one.at_ps < stop_ps)], key=lambda event: event.at_ps)
        timeouts = _timeouts(self.run)
        stands = self.earth["stands"] if self.earth else {}
        return {
            "stop": stop_ps / PICOSECONDS_A_SECOND,
            "from": self.part.start_ps / PICOSECONDS_A_SECOND,
            "to": self.part.end_ps / PICOSECONDS_A_SECOND,
            "every": self.part.every,
            "unit": self.unit_ps / PICOSECONDS_A_SECOND,
            "levels": LEVELS,
            "width": network.WIDTH,
            "height": self.height,
            "nodes": [[name, *self.at[name]] for name in self.nodes],
            "ports": _lines(self.ports, self.at, scales),
            "groups": self.groups,
            "inks": network.INKS,
            "goodput": self._most,
            "down": [
                [row, one["at_ps"] / PICOSECONDS_A_SECOND,
                 None if one["repair_ps"] is None else one["repair_ps"] / PICOSECONDS_A_SECOND]
                for one in self.run.failed
                if (row := self.rows.get(one["port"])) is not None and self.ports[row].count == 1
            ],
            "events": [[one.at_ps / PICOSECONDS_A_SECOND, one.kind, one.text] for one in found],
            "timeouts": [[at / PICOSECONDS_A_SECOND, *self.at[node], stands.get(node)] for at, node in timeouts],
            "globe": self.earth,
        } | {
            name: {"from": one.start_ps / PICOSECONDS_A_SECOND, "step": one.step_ps / PICOSECONDS_A_SECOND,
                   "n": one.load.shape[1]}
            for name, one in zip(PARTS, self.parts, strict=True)
        }  # fmt: skip

    def _sentences(self) -> list[str]:
        """Return the sentences in the head of the page on what it shows."""
        whole, part = self.parts[0], self.part
        stop_s = self.world.stop_s
        packets = "every packet" if part.every == 1 else f"one of {part.every} packets"
        number = len(self.drawn.came)
        between = f"{part.start_ps / PICOSECONDS_A_SECOND:.6g} s to {part.end_ps / PICOSECONDS_A_SECOND:.6g} s"
        drawn = f"{packets} is drawn ({count_noun(number, 'packet-hop')})" if number else "no packets are drawn"
        return [
            f"Run of {stop_s:g} s, in {count_noun(whole.load.shape[1], 'step')} of {_time(whole.step_ps)}.",
            f"Slow motion from {between}; {drawn}.",
        ]


def _time(ps: int) -> str:
    for unit, length in (("s", 1e12), ("ms", 1e9), ("us", 1e6)):
        if ps >= length:
            return f"{ps / length:.4g} {unit}"
    return f"{ps / 1e3:.4g} ns"


def _shares(values: NDArray[np.float64]) -> NDArray[Any]:
    return (values * LEVELS).round().clip(0, 255).astype("u1")


def _lines(ports: Sequence[Port], at: Mapping[str, network.Place], scales: Sequence[float]) -> list[list[Any]]:
    """Return, per port, its name, line, full scale and unit of its queue bar, and rate in bit/s."""
    beside: dict[frozenset[str], list[int]] = defaultdict(list)
    for place, port in enumerate(ports):
        beside[frozenset(port.ends)].append(place)
    found: list[list[Any]] = [[] for _ in ports]
    for places in beside.values():
        for number, place in enumerate(places):
            port = ports[place]
            (x1, y1), (x2, y2) = at[port.ends[0]], at[port.ends[1]]
            length = math.hypot(x2 - x1, y2 - y1) or 1.0
            # The directions of a link are adjacent entries; packets keep to the right.
            middle = ((number // 2) - (len(places) / 2 - 1) / 2) * PARALLEL
            off = APART + (middle if number % 2 == 0 else -middle)
            dx, dy = -(y2 - y1) / length * off, (x2 - x1) / length * off
            line = [round(value, 1) for value in (x1 + dx, y1 + dy, x2 + dx, y2 + dy)]
            limited = math.isfinite(port.limit)
            found[place] = [port.name, *line, scales[place], port.unit, limited, port.rate_bps, port.fibre]
    return found


def _timeouts(run: FreshRun) -> list[tuple[int, str]]:
    """Return the time and node of RTOs, thinned out if there are more than ``MOST_TIMEOUTS``."""
    if "reordering" not in run.names:
        return []
    table = run["reordering"].where(event="timeout")
    table = table.rows(slice(None, None, len(table) // MOST_TIMEOUTS + 1))
    world = World.of(run)
    nodes = [world.flow(name).path[0] for name in table.texts("flow")]
    return list(zip(table.numbers("time_ps").tolist(), nodes, strict=True))
