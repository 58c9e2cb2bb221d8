"""Scenarios of all experiments: a window of a pair with a sender's settings, and grids of them."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from optcp import _core
from optcp.constellation import Series, forwarding
from optcp.constellation.network import of_tables
from optcp.constellation.world import node
from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.papers.kit import Axis, Cells, Chosen, Grid, Options, Run, Settings
from optcp.scenarios.branch import Branch, UncheckedBranch
from optcp.scenarios.scenario import written
from optcp_papers.leo.windows import SHELL, Window

SEGMENT_BITS, ACK_BITS = 8 * 1434, 8 * 54
"""On the wire."""


def scenario(window: Window, rate_mbps: float, settings: Settings) -> _core.Scenario:
    """Return the scenario of a window or of a part of it; all experiments use this function.

    Parameters
    ----------
    settings
        Values by key path of the scenario.

    Raises
    ------
    optcp._core.ScenarioError
        If a setting is wrong.
    """
    tables = forwarding.tables(window.states(), [(0, 1)], SHELL.size)
    made = of_tables(SHELL, window.stations, tables, (window.begin_s, window.end_s), rate_mbps)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in made.files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return _core.Scenario.parse(made.toml, f"{folder}/world.toml", written(settings))


def queue(packets: float, kind: str = "") -> Settings:
    """Return the queue setting for ``packets`` waiting packets; a scenario also counts the one in transmission."""
    limit = f"{packets + 1:g} packets"
    return {"parameters.queue": {"kind": kind, "limit": limit} if kind else limit}


def sender_of(window: Window) -> str:
    """Return the name of the sender's node."""
    return node(window.stations[0].name, "from")


def first_link(window: Window) -> list[str]:
    """Return the link with the sender's queue, in the form of an observation."""
    return [sender_of(window), f"{sender_of(window)}.dish"]


Made = tuple["Window", float, Settings]
"""Arguments of a scenario: window, rate in Mb/s, and settings."""
Worlds = dict[tuple[str, ...], "Callable[[], Made]"]
"""Functions that make each scenario, by axis values, for every combination with the last axis fastest."""


def grid(title: str, worlds: Worlds, names: tuple[str, ...], options: Options) -> Grid:
    """Return a grid of scenarios that do not come from one file.

    Parameters
    ----------
    names
        Names of the axes.
    """
    axes = [Axis(name, tuple(dict.fromkeys(at[place] for at in worlds))) for place, name in enumerate(names)]

    def branch(at: tuple[str, ...], make: Callable[[], Made]) -> Branch:
        key = dict(zip(names, at, strict=True))
        return Branch(key, scenario(*make())) if options.check else UncheckedBranch(key, lambda: scenario(*make()))

    branches = tuple(branch(at, make) for at, make in worlds.items())
    return Grid(title, branches, options.digest, options.fork, named=tuple(axes))


def chosen_rate(chosen: Chosen) -> float:
    """Return the rate of all links, in Mb/s."""
    return float(chosen["rate_mbps"])


def over(cells: Cells, axis: str) -> Cells:
    """Return cells with the values of an axis, such as windows, in place of seeds, so that intervals are over them."""
    place = [item.name for item in cells.axes].index(axis)
    values = np.moveaxis(cells.values[0], place, 0)
    axes = tuple(item for item in cells.axes if item.name != axis)
    return Cells(values, axes, tuple(range(1, len(values) + 1)), cells.name, cells.unit)


def empty_ms(found: Series, rate_mbps: float) -> NDArray[np.float64]:
    """Return the RTT of a segment and its ACK without queues, by step, in ms; NaN in an outage."""
    hops = np.array([len(path) + 1 if path else np.nan for path in found.paths])
    return np.asarray(found.rtt_ms + hops * (SEGMENT_BITS + ACK_BITS) / rate_mbps / 1000)


def waits(run: Run, window: Window) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the number of segments that left the sender's queue per step, and their mean and maximum wait in ms."""
    ports = run["wait"].distinct("port")
    mine = next(name for name in ports if name.rpartition(":")[2].startswith(f"{sender_of(window)}->"))
    wait = run["wait"].where(port=mine)
    mean, longest = (wait[name].astype(np.float64) / PS * 1000 for name in ("mean_ps", "longest_ps"))
    return wait["packets"].astype(np.float64), mean, longest
