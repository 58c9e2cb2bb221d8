"""Satellite networks in Hypatia's files: orbits, links, ground stations, and a forwarding state per step.

# Model

A path follows the next hops of a step from station to station and holds until the next step. Its length is computed
from the SGP-4 positions of the satellites.

# References

Output of Hypatia's satgenpy (S. Kassing et al., IMC 2020; snkas/hypatia at 0ac531c):
``tles.txt``, ``isls.txt``, ``ground_stations.txt``, ``description.txt``, and ``fstate_<ns>.txt`` for each step in
``dynamic_state_<interval>ms_for_<length>s``.

# Choices

None; the files define maximum link length and steps.

# Limitations

Both directions use the path from the first station to the second; in Hypatia, the reverse path follows its own next
hops. Interfaces and the rates of ground-satellite links are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optcp.common.files import read_lines
from optcp.constellation.series import MOST_STEPS, Series
from optcp.constellation.stations import Station, station
from optcp.constellation.tles import Tles, tles
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

STATES = re.compile("dynamic_state_([0-9]{1,9})ms_for_([0-9]{1,9})s")
ROW = re.compile("([0-9]{1,9}),([0-9]{1,9}),(-1|[0-9]{1,9}),-?[0-9]{1,9},-?[0-9]{1,9}")
PLACE = re.compile(
    r'([0-9]{1,9}),([^,"\\\x00-\x1f\x7f]{1,100}),([-+.0-9]{1,30}),([-+.0-9]{1,30}),([-+.0-9]{1,30})(?:,.*)?'
)
REACH = "max_gsl_length_m="
MOST_ENTRIES = 50_000_000
"""Maximum size of a forwarding state (next hops of all nodes to all stations)."""


@dataclass(frozen=True)
class States:
    """Forwarding states in order of time, read file by file: ``for at_s, next_hop in states``.

    ``next_hop`` has the shape (destination stations, nodes): the next hop of a node towards that station, or -1 if it
    drops packets. Nodes are satellites, then ground stations.

    Attributes
    ----------
    folder
        Directory of the files.
    step_ms, steps
        Interval and number of states.
    satellites, stations
        Number of satellites and of ground stations.
    isls
        The two satellites of each inter-satellite link, the smaller number first.

    Raises
    ------
    InputError
        During iteration, if a file is missing or has another format; the message names file and line.
    """

    folder: Path
    step_ms: int
    steps: int
    satellites: int
    stations: int
    isls: frozenset[tuple[int, int]]

    def __iter__(self) -> Iterator[tuple[float, NDArray[np.int32]]]:
        next_hop = np.full((self.stations, self.satellites + self.stations), -2, dtype=np.int32)
        own = np.arange(self.stations)
        next_hop[own, self.satellites + own] = -1
        for step in range(self.steps):
            file = self.folder / f"fstate_{step * self.step_ms * 1_000_000}.txt"
            for at, line in enumerate(read_lines(file), 1):
                if line.strip():
                    node, to, onward = self._row(line.strip(), f"{file}, line {at}")
                    next_hop[to - self.satellites, node] = onward
            if not step and (next_hop == -2).any():
                to, node = np.argwhere(next_hop == -2)[0]
                raise InputError(f"{file}: there is no row of node {node} to station {to + self.satellites}")
            yield step * self.step_ms / 1000, next_hop.copy()

    def _row(self, line: str, file_and_line: str) -> tuple[int, int, int]:
        """Return the node, destination and next hop of a line; ``file_and_line`` is for errors."""
        match = ROW.fullmatch(line)
        if match is None:
            raise InputError(f"{file_and_line}: expected node,destination,next hop,interface,interface")
        node, to, onward = map(int, match.groups())
        nodes = self.satellites + self.stations
        if not (node < nodes and self.satellites <= to < nodes and onward < nodes and node != to):
            raise InputError(
                f"{file_and_line}: expected nodes below {nodes}, and another one from {self.satellites} on as "
                "destination"
            )
        ends = (min(node, onward), max(node, onward))
        if onward >= 0 and not (ends in self.isls if ends[1] < self.satellites else ends[0] < self.satellites):
            raise InputError(f"{file_and_line}: there is no link from {node} to {onward}")
        return node, to, onward


@dataclass(frozen=True, eq=False, kw_only=True)
class HypatiaNetwork(Tles):
    """Satellites, ground stations, and forwarding states.

    Attributes
    ----------
    stations
        Ground stations; their numbers follow the satellites' numbers.
    states
        Forwarding states.
    """

    stations: tuple[Station, ...]
    states: States

    def positions(self, seconds: ArrayLike, which: ArrayLike | None = None) -> NDArray[np.float64]:
        """Positions of satellites, as for :class:`Tles`; ``which`` may include numbers of ground stations."""
        numbers = np.arange(self.size) if which is None else np.asarray(which)
        there = numbers < self.size
        if there.all():
            return super().positions(seconds, which)
        places = np.empty((*np.shape(seconds), len(numbers), 3))
        if there.any():
            places[..., there, :] = super().positions(seconds, numbers[there])
        for at in np.flatnonzero(~there):
            places[..., at, :] = self.stations[numbers[at] - self.size].position(seconds, self.greenwich_deg)
        return places

    def station(self, text: str) -> int:
        """Return the number of a ground station.

        Parameters
        ----------
        text
            Its name in the file, its number, or a place as for :func:`optcp.constellation.station`.

        Raises
        ------
        InputError
            If there is no such station; the message suggests a similar name.
        """
        names = [one.name for one in self.stations]
        if text in names:
            return self.size + names.index(text)
        if re.fullmatch("[0-9]{1,9}", text) and 0 <= int(text) - self.size < len(names):
            return int(text)
        known = {(one.latitude_deg, one.longitude_deg): at for at, one in enumerate(self.stations)}
        try:
            place = station(text)
        except InputError:
            place = None
        if place is None or (place.latitude_deg, place.longitude_deg) not in known:
            raise InputError(f"there is no ground station {text!r} in {self.name}; {nearest(text, names)}")
        return self.size + known[place.latitude_deg, place.longitude_deg]

    def series(self, start: str, end: str) -> Series:
        """Follow the next hops between two ground stations in every step.

        Raises
        ------
        InputError
            If a station does not exist, both are the same, or a state is invalid.
        """
        first, last = self.station(start), self.station(end)
        if first == last:
            raise InputError(f"{start} is both ends of the path; expected two places")
        paths = [self._follow(next_hop[last - self.size], first, last, at_s) for at_s, next_hop in self.states]
        seconds = np.arange(len(paths)) * self.states.step_ms / 1000
        ends = [self.stations[node - self.size] for node in (first, last)]
        return Series(self, ends[0], ends[1], seconds, self.states.step_ms / 1000, paths)

    def _follow(self, next_hop: NDArray[np.int32], first: int, last: int, at_s: float) -> tuple[int, ...]:
        """Satellites between two ground stations; empty if packets are dropped."""
        nodes = [int(next_hop[first])]
        while nodes[-1] not in (-1, last):
            nodes.append(int(next_hop[nodes[-1]]))
            if len(nodes) > len(next_hop):
                raise InputError(f"{self.name}: at {at_s:g} s next hops from {first} to {last} form a loop")
        return tuple(nodes[:-1]) if nodes[-1] == last else ()


def hypatia_network(directory: Path) -> HypatiaNetwork:
    """Read a satellite network in the format of Hypatia's satgenpy.

    Parameters
    ----------
    directory
        Directory with ``tles.txt``, ``isls.txt``, ``ground_stations.txt``, ``description.txt`` and one directory
        ``dynamic_state_<interval>ms_for_<length>s``; if there are several, one of these.

    Raises
    ------
    InputError
        If a file is missing or has another format (the message names file and line), or the package ``sgp4`` is
        missing. States are read later, during iteration.
    """
    folder, step_ms, length_s = _states(directory)
    root = folder.parent
    read = tles(root / "tles.txt", root / "isls.txt")
    places = _places(root / "ground_stations.txt")
    if len(places) * (read.size + len(places)) > MOST_ENTRIES:
        raise InputError(f"{root}: {len(places)} stations and {read.size} satellites: more than are read")
    steps = -(-1000 * length_s // step_ms) if step_ms else 0
    if not 1 <= steps <= MOST_STEPS:
        raise InputError(f"{folder}: {steps} steps; expected 1 to {MOST_STEPS}")
    links = frozenset(map(tuple, read.isls.tolist()))
    states = States(folder, step_ms, steps, read.size, len(places), links)
    name = re.sub(r"[^\w.+-]", "-", root.resolve().name)
    gsl_km = _reach(root / "description.txt")
    return HypatiaNetwork(name, read.records, read.isls, gsl_km, 0.0, stations=places, states=states)


def _states(directory: Path) -> tuple[Path, int, int]:
    """The directory of states, their interval in ms, and their duration in seconds."""
    folders = [(one, STATES.fullmatch(one.name)) for one in (directory, *sorted(directory.iterdir()))]
    found = [(one, int(match[1]), int(match[2])) for one, match in folders if match]
    if len(found) == 1:
        return found[0]
    several = f"{', '.join(one.name for one, *_ in found[:5])}: name one of them" if found else "there is none"
    raise InputError(
        f"{directory}: expected a directory dynamic_state_<interval>ms_for_<length>s of Hypatia; {several}"
    )


def _reach(file: Path) -> float:
    """Maximum length of a ground-satellite link in km."""
    for at, line in enumerate(read_lines(file), 1):
        if line.startswith(REACH):
            text = line.removeprefix(REACH).strip()
            if not (re.fullmatch(r"[0-9]{1,12}(\.[0-9]*)?", text) and float(text) >= 1000):
                raise InputError(f"{file}, line {at}: expected {REACH} and 1000 or more")
            return float(text) / 1000
    raise InputError(f"{file}: expected a line {REACH}")


def _places(file: Path) -> tuple[Station, ...]:
    """Read the ground stations of a file."""
    found: list[Station] = []
    for at, line in enumerate(read_lines(file), 1):
        if not line.strip():
            continue
        match = PLACE.fullmatch(line.strip())
        try:
            if match is None or int(match[1]) != len(found):
                raise ValueError
            latitude, longitude, height_m = map(float, match.groups()[2:])
            found.append(Station(match[2], latitude, longitude, height_m / 1000))
        except InputError as error:
            raise InputError(f"{file}, line {at}: {error}") from None
        except ValueError:
            raise InputError(
                f"{file}, line {at}: expected {len(found)},name,latitude in degrees,longitude,height in m"
            ) from None
    if len(found) < 2:
        raise InputError(f"{file}: expected two ground stations or more")
    return tuple(found)
