"""Moving satellites: shells of a Walker constellation, paths over them, and scenarios of their delays.

Satellites are a :class:`Shell` (see :func:`shell`), :class:`Tles` (see :func:`tles`), or a :class:`HypatiaNetwork` from
its files (see :func:`hypatia_network`). :func:`station` returns a :class:`Station`, and :class:`Snapshot` holds the
positions and links at one time. :func:`series` finds the paths between two stations over time. :func:`network` makes a
scenario of all satellites that some flows use; :func:`world` makes one of a path of which only the RTT is known.

Examples
--------
>>> from optcp.constellation import series, shell, station
>>> found = series(shell("kuiper-630"), station("Manila"), station("Dalian"), length_s=1.0)
>>> round(float(found.rtt_ms[0]), 1)
29.5
"""

from __future__ import annotations

from optcp.constellation.hypatia import HypatiaNetwork, States, hypatia_network
from optcp.constellation.network import network, network_of, network_of_states
from optcp.constellation.paths import Constellation, Seen, Snapshot, length_km
from optcp.constellation.recorded import Recorded, recorded
from optcp.constellation.series import Paths, Series, Stretch, series
from optcp.constellation.shells import SHELLS, Shell, revs_a_day, shell
from optcp.constellation.stations import Station, cities, station
from optcp.constellation.tles import Tles, tles
from optcp.constellation.world import World, world

__all__ = [
    "SHELLS",
    "Constellation",
    "HypatiaNetwork",
    "Paths",
    "Recorded",
    "Seen",
    "Series",
    "Shell",
    "Snapshot",
    "States",
    "Station",
    "Stretch",
    "Tles",
    "World",
    "cities",
    "hypatia_network",
    "length_km",
    "network",
    "network_of",
    "network_of_states",
    "recorded",
    "revs_a_day",
    "series",
    "shell",
    "station",
    "tles",
    "world",
]
