"""Additional files of satellite scenarios, for plots only: ``places.csv`` (positions) and ``rtt.csv`` (RTTs).

``optcp constellation`` writes both next to ``world.toml``, and ``optcp run`` copies them into the study. The first two
nodes of ``places.csv`` are the ends of the path in ``rtt.csv``. The files are part of no digest.
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
    """Contents of ``places.csv`` and ``rtt.csv``.

    Attributes
    ----------
    places
        Positions of nodes, by name; empty without the file.
    paths
        RTTs and satellites of the path between the first two nodes, or None.
    """

    places: dict[str, Track]
    paths: Recorded | None

    def of(self, nodes: Collection[str]) -> ConstellationFiles:
        """Return the same contents, or empty ones if the ends of the path are not nodes of the scenario."""
        return self if set(list(self.places)[:2]) <= set(nodes) else ConstellationFiles({}, None)


def beside(folder: Path) -> ConstellationFiles:
    """Read both files of a folder.

    Raises
    ------
    InputError
        If a file has invalid content; the message names file and line.
    """
    found = places.read(folder / PLACES) if (folder / PLACES).is_file() else {}
    names = (*found, "", "")[:2]
    there = (folder / ROUND_TRIPS).is_file()
    return ConstellationFiles(found, round_trips(folder / ROUND_TRIPS, (names[0], names[1])) if there else None)


def copies(folder: Path, named: Mapping[str, bytes], taken: Collection[str]) -> dict[str, bytes]:
    """Return the files to copy from the folder of a scenario into its study, by name.

    Parameters
    ----------
    named
        Files that the scenario reads, by their names in it. Copies of those in its own folder allow to repeat runs from
        the study, as ``optcp animate`` does.
    taken
        Names that the study uses itself.

    Raises
    ------
    InputError
        If a file has such a name.
    """
    there = {name: (folder / name).read_bytes() for name in (PLACES, ROUND_TRIPS) if (folder / name).is_file()}
    found = {name: content for name, content in (there | dict(named)).items() if is_name(name)}
    for name in found:
        if name.lower() in {one.lower() for one in taken}:
            raise InputError(f"{folder / name}: a study already uses the name `{name}`; rename the file")
    return found
