"""A run's directory: ``meta.json``, one Parquet file an observation, and ``scalars.parquet``."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

import numpy as np

from optcp import _core, stored
from optcp.errors import Damaged, InputError
from optcp.files import replacing_directory
from optcp.table import PICOSECONDS_A_SECOND, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

FORMAT = 4
"""Raise it when the form of the directory changes: older runs are then made again."""

META = "meta.json"
SCALARS = "scalars.parquet"
AWAY = "its directory"
"""What to delete where a file of a run is damaged."""


class Observation(TypedDict):
    """An observation of a scenario."""

    name: str
    kind: str


class Link(TypedDict):
    """A link of a scenario."""

    name: str
    ends: tuple[str, str]


class Route(TypedDict):
    """Flows of a group, and their path."""

    flows: list[str]


class Group(TypedDict):
    """A group of flows of a scenario."""

    group: str
    routes: list[Route]


class Failure(TypedDict):
    """An outage of a link."""

    link: str
    at_ps: int
    repair_ps: int | None


class Scenario(TypedDict):
    """What is read of a scenario: of every run what it observed, the rest for pictures and captures."""

    observe: list[Observation]
    title: NotRequired[str]
    stop_ps: NotRequired[int]
    links: NotRequired[list[Link]]
    flows: NotRequired[list[Group]]
    failures: NotRequired[list[Failure]]


class Switch(TypedDict):
    """A switch to the backup or back."""

    to: Literal["backup", "working"]
    at_ps: int
    packets: str


class Meta(TypedDict):
    """What is read of ``meta.json``."""

    scenario: Scenario
    scenario_sha256: str
    extension_sha256: str
    records_sha256: str | None
    cell: dict[str, str]
    seed: int
    drops: dict[str, int]
    goodput_bps: dict[str, float]
    switches: NotRequired[list[Switch]]
    files: dict[str, str]


@dataclass(frozen=True)
class SavedRun:
    """A finished run on disk.

    Attributes
    ----------
    directory
        Where it is.
    meta
        What ``meta.json`` says.
    """

    directory: Path
    meta: dict[str, Any]

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario: every default filled in, base units in the names of keys."""
        scenario: dict[str, Any] = self.meta["scenario"]
        return scenario

    @property
    def observations(self) -> dict[str, str]:
        """Each observation's kind by its name, in the order of the scenario."""
        return {one["name"]: one["kind"] for one in self.scenario["observe"]}

    @contextlib.contextmanager
    def trusted(self) -> Iterator[None]:
        """Read what only some commands need of ``meta.json``, without a look at it before.

        Raises
        ------
        Damaged
            If it is not there, or something else is in its place.
        """
        try:
            yield
        except InputError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            what = f"not what is read of a run ({error!r})"
            raise Damaged(self.directory / META, what, AWAY) from error

    def content(self, file: str) -> bytes:
        """Read one of the files that ``meta.json`` lists.

        Raises
        ------
        Damaged
            If it cannot be read, or is not as the run wrote it.
        """
        path = self.directory / file
        try:
            content = path.read_bytes()
        except OSError as error:
            raise Damaged(path, f"cannot be read ({error.strerror})", AWAY) from error
        if stored.sha256(content) != self.meta["files"].get(file):
            raise Damaged(path, stored.CHANGED, AWAY)
        return content

    def table(self, observation: str) -> Table:
        """Read an observation, or the scalars.

        Raises
        ------
        Damaged
            If its file is missing, or is not as the run wrote it.
        """
        file = f"{observation}.parquet"
        try:
            about, columns = _core.read_parquet(self.content(file))
        except ValueError as error:
            raise Damaged(self.directory / file, f"cannot be read ({error})", AWAY) from error
        interval_ps = about.get("optcp.interval_ps")
        return Table(columns, int(interval_ps) / PICOSECONDS_A_SECOND if interval_ps else None)


def read(directory: Path) -> SavedRun | None:
    """Read a run's directory; None if there is no run in it.

    Raises
    ------
    Damaged
        If there is one that cannot be read, or one of another form.
    """
    path = directory / META
    if not path.is_file():
        return None
    return SavedRun(directory, stored.load(path, _meta, AWAY))


def _meta(text: str) -> dict[str, Any]:
    meta = stored.table(text)
    stored.need(meta, ["format"])
    if meta["format"] != FORMAT:
        raise ValueError(f"written by another version of optcp (format {meta['format']}; this one reads {FORMAT})")
    return stored.shaped(Meta, meta)


def find(directory: Path) -> list[SavedRun]:
    """Every run in a directory: it is a run's itself, or holds directories of runs.

    Raises
    ------
    InputError
        If there is none.
    Damaged
        If one cannot be read.
    """
    if not directory.is_dir():
        raise InputError(f"{directory}: there is no such directory; `optcp run SCENARIO --out {directory}` makes runs")
    itself = read(directory)
    if itself:
        return [itself]
    # Cells and seeds in the order of their numbers, not of their digits.
    inside = sorted(directory.iterdir(), key=lambda path: (len(path.name), path.name))
    runs = [run for path in inside if path.is_dir() and not path.name.startswith(".") and (run := read(path))]
    if not runs:
        raise InputError(f"{directory}: there is no run in it: a run has a {META}; `optcp run` makes one")
    return runs


def one(directory: Path) -> SavedRun:
    """Return the run in a directory, which must not hold several.

    Raises
    ------
    InputError
        If there is none, or there are several.
    """
    runs = find(directory)
    if len(runs) > 1:
        names = ", ".join(run.directory.name for run in runs[:10]) + (", ..." if len(runs) > 10 else "")
        raise InputError(f"{directory}: there are {len(runs)} runs in it; name one of them: {names}")
    return runs[0]


def occupied(directory: Path) -> bool:
    """Whether something other than a run is in a directory's place."""
    if directory.is_dir():
        return not (directory / META).is_file() and any(directory.iterdir())
    return directory.exists()


def contents(meta: dict[str, Any], observations: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """What a run's directory holds, by the names of its files.

    ``observations`` are (name, Parquet file); ``scalars.parquet`` is made from ``meta``. ``meta.json`` comes last, with
    the checksum of every other file and its own.
    """
    files = {**{f"{name}.parquet": content for name, content in observations}, SCALARS: _scalars(meta)}
    checksums = {name: stored.sha256(content) for name, content in files.items()}
    text = json.dumps({"format": FORMAT, **meta, "files": checksums}, indent=1, ensure_ascii=False) + "\n"
    return {**files, META: stored.sealed(text).encode()}


def write(directory: Path, files: dict[str, bytes]) -> None:
    """Write a run's directory, whole or not at all.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with replacing_directory(directory) as temporary:
        for name, content in files.items():
            (temporary / name).write_bytes(content)


def _scalars(meta: dict[str, Any]) -> bytes:
    """One row a number of the run: what it is, of what, in which unit; the same columns for every scenario."""
    rows: list[tuple[str, str, str, float]] = []
    for name, count in meta["counts"].items():
        rows.append((name, "", {"packet_hops": "hops", "events": "events"}.get(name, "packets"), count))
    rows += [("drops", reason, "packets", count) for reason, count in meta["drops"].items()]
    rows += [("goodput", group, "bit/s", bps) for group, bps in meta["goodput_bps"].items()]
    for group, found in meta["completions"].items():
        for name, value in found.items():
            unit = "s" if name.endswith("_s") else "flows"
            if value is not None:
                rows.append((f"completion {name.removesuffix('_s')}", group, unit, value))
    rows += [("hurst", group, "", found["local_whittle"]) for group, found in meta["hurst"].items()]
    scalars, of, units, values = zip(*rows, strict=True)
    cell = ", ".join(f"{name} = {value}" for name, value in meta["cell"].items())
    columns: dict[str, NDArray[Any] | list[str]] = {
        "cell": [cell] * len(rows),
        "seed": np.full(len(rows), meta["seed"], dtype=np.uint64),
        "scalar": list(scalars),
        "of": list(of),
        "unit": list(units),
        "value": np.array(values, dtype=np.float64),
    }
    return _core.write_parquet(columns, {"optcp.kind": "scalars"})
