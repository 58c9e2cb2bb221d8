"""What lies beside a scenario of moving satellites and is in no digest: ``places.csv`` and ``rtt.csv``, for pictures.

``optcp constellation`` writes both beside ``world.toml``, and ``optcp run`` copies them into the directory of its runs.
The first two nodes of ``places.csv`` are the ends of the path whose round trips and satellites ``rtt.csv`` has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.common.files import is_name
from optcp.constellation import places
from optcp.constellation.recorded import round_trips
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from optcp.constellation.places import Track
    from optcp.constellation.recorded import Recorded

PLACES, ROUND_TRIPS = "places.csv", "rtt.csv"


@dataclass(frozen=True)
class ConstellationFiles:
    """What was found; nothing is an empty dictionary and None.

    Attributes
    ----------
    places
        Where nodes are, by name.
    paths
        Round trips and satellites of the path between the first two of them.
    """

    places: dict[str, Track]
    paths: Recorded | None

    def of(self, nodes: Collection[str]) -> ConstellationFiles:
        """The same; nothing where the ends of the path are no nodes of a world."""
        return self if set(list(self.places)[:2]) <= set(nodes) else ConstellationFiles({}, None)


def beside(folder: Path) -> ConstellationFiles:
    """Read what lies in a folder.

    Raises
    ------
    InputError
        If a file holds something else; the message names file and line.
    """
    found = places.read(folder / PLACES) if (folder / PLACES).is_file() else {}
    names = (*found, "", "")[:2]
    there = (folder / ROUND_TRIPS).is_file()
    return ConstellationFiles(found, round_trips(folder / ROUND_TRIPS, (names[0], names[1])) if there else None)


def copies(folder: Path, named: Mapping[str, bytes], taken: Collection[str]) -> dict[str, bytes]:
    """What goes from the folder of a scenario into the directory of its runs, by name.

    Parameters
    ----------
    named
        Files that the scenario reads, by their names in it: with those in its own folder its world can be made again
        from the directory, as ``optcp animate`` does.
    taken
        Names in that directory that are those of something else.

    Raises
    ------
    InputError
        If a file has such a name.
    """
    there = {name: (folder / name).read_bytes() for name in (PLACES, ROUND_TRIPS) if (folder / name).is_file()}
    found = {name: content for name, content in (there | dict(named)).items() if is_name(name)}
    for name in found:
        if name.lower() in {one.lower() for one in taken}:
            raise InputError(f"{folder / name}: the directory of a study has a `{name}` of its own; rename the file")
    return found
