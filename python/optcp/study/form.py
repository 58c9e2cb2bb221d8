"""The JSON files in a study's directory: ``study.json``, cells, and manifests of parts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from optcp import _core
from optcp.common import stored
from optcp.common.files import is_name
from optcp.study.grid import extension_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from optcp.scenarios.branch import Branch
    from optcp.study.grid import Grid

FORMAT = 2
"""Version of the file format; files of other versions are rejected."""
IDENTITY = "study.json"
MOST_DIFFERENCES = 5
"""Maximum number of differing keys in a message."""


class File(TypedDict):
    """Entry of a manifest for one file."""

    sha256: str
    bytes: int
    rows: list[int]


class Manifest(TypedDict):
    """Keys of a manifest that are read."""

    format: int
    cpu_seconds: float
    packet_hops: int
    runs: list[tuple[str, int]]
    files: dict[str, File]


class Observation(TypedDict):
    """An observation of a resolved scenario."""

    name: str
    kind: str


class World(TypedDict):
    """Keys of a resolved scenario that every study needs."""

    title: str
    stop_ps: int
    observe: list[Observation]


class Cell(TypedDict):
    """Contents of the file of a cell."""

    cell: dict[str, str]
    toml: NotRequired[str]
    scenario_sha256: str
    scenario: World


class Identity(TypedDict):
    """Keys of ``study.json`` that are read."""

    format: int
    title: str
    version: str
    extension_sha256: str
    digest: bool
    settings: dict[str, str]
    axes: list[str]
    observe: list[str]
    cells: list[str]
    named: list[tuple[str, list[str]]] | None
    beside: dict[str, str]


def _need_names(lists: Mapping[str, Iterable[str]]) -> None:
    """Check that names from a file stay within the directory."""
    for key, names in lists.items():
        for name in names:
            if not is_name(name):
                raise ValueError(f"`{key}` has {name!r}, which is not a file name")


def _of_this_format(text: str) -> dict[str, Any]:
    found = stored.table(text)
    stored.need(found, ["format"])
    if found["format"] != FORMAT:
        raise ValueError(f"created by an incompatible version of OpTCP (format {found['format']}, expected {FORMAT})")
    return found


def parsed_identity(text: str) -> Identity:
    """Parse ``study.json``; a ValueError says what is wrong with it."""
    found = _of_this_format(text)
    stored.shaped(Identity, found)
    if not found["cells"] or len(set(found["cells"])) < len(found["cells"]):
        raise ValueError("`cells` is empty or names a cell twice")
    _need_names({"cells": found["cells"], "observe": found["observe"], "beside": found["beside"]})
    return found  # type: ignore[return-value]


def parsed_manifest(text: str) -> Manifest:
    """Parse a manifest; a ValueError says what is wrong with it."""
    found = _of_this_format(text)
    # A manifest can list thousands of runs, so the check of each is kept short.
    listed = found.get("runs")
    if not isinstance(listed, list) or not all(
        type(run) is list and len(run) == 2 and type(run[0]) is str and type(run[1]) is int for run in listed
    ):
        raise ValueError("`runs` is not a list of cells and seeds")
    stored.shaped(Manifest, {**found, "runs": []})
    stored.need(found["files"], ["runs", "scalars"], "files.")
    _need_names({"files": found["files"], "runs": {run[0] for run in listed}})
    runs = [tuple(run) for run in listed]
    if not runs or len(set(runs)) < len(runs):
        raise ValueError("`runs` is empty or names a run twice")
    for table, file in found["files"].items():
        if len(file["rows"]) != len(runs) or min(file["rows"]) < 0:
            raise ValueError(f"`files.{table}.rows` is not a number of rows for each run")
    return found  # type: ignore[return-value]


def parsed_cell(text: str) -> dict[str, Any]:
    """Parse the file of a cell; a ValueError says what is wrong with it."""
    found = stored.shaped(Cell, stored.table(text))
    _need_names({"scenario.observe": (one["name"] for one in found["scenario"]["observe"])})
    return found


def described(branch: Branch) -> str:
    """Contents of ``cells/<cell>.json``."""
    about = {
        "cell": branch.key,
        "toml": branch.scenario.to_toml(),
        "scenario_sha256": branch.scenario.sha256,
        # Not cached with the branch: thousands of cells of a large network would fill the memory.
        "scenario": json.loads(branch.scenario.resolved()),
    }
    # Indentation would make the file 1.5 times as long and take ten times as long to write.
    return stored.with_checksum(json.dumps(about, ensure_ascii=False).removesuffix("}") + "\n}\n")


def identity(grid: Grid) -> dict[str, Any]:
    """Return the identity of a study, and its cells. Cells and seeds may be added later."""
    world = grid.branches[0].scenario
    return {
        "format": FORMAT,
        "title": grid.title,
        "version": _core.version(),
        "extension_sha256": extension_sha256(),
        "digest": grid.digest,
        "settings": {name: value for name, value in world.settings() if name not in grid.keys},
        "axes": list(grid.columns),
        "observe": list(world.summary()["observe"]),
        "cells": [grid.branches[cell].id for cell in grid.distinct],
        "named": grid.named and [(axis.name, list(axis.values)) for axis in grid.named],
    }


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """List what distinguishes two studies, as clauses of a message."""
    found = []
    if there["extension_sha256"] != here["extension_sha256"]:
        builds = f"{there['version']}; this is {here['version']}"
        if there["version"] == here["version"]:
            builds = f"both are {here['version']}, but compiled at different times"
        found.append(f"it was made by another build of optcp ({builds})")
    if here["digest"] and not there["digest"]:
        found.append("it was made without the digest of all records")
    if there["axes"] != here["axes"]:
        names = [", ".join(one["axes"]) or "none" for one in (there, here)]
        found.append(f"its axes are {names[0]}, these are {names[1]}")
    before, now = there["settings"], here["settings"]
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    found += [
        f"{name} is {before.get(name, 'not set')} there and {now.get(name, 'not set')} here"
        for name in changed[:MOST_DIFFERENCES]
    ]
    if len(changed) > MOST_DIFFERENCES:
        found.append(f"and {len(changed) - MOST_DIFFERENCES} more keys")
    return found
