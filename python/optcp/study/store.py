"""A study's directory: its identity, the stored runs, and their tables.

Runs are stored in parts. A part has one Parquet file per table, each with the rows of several runs, and a manifest,
``parts/<part>.json``, with the checksums of these files. The manifest is written last: files without one do not count.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from optcp import _core
from optcp.common import stored
from optcp.common.files import need_directory, refuse_links, write_bytes, write_text
from optcp.data.axes import Axis
from optcp.data.table import Table
from optcp.errors import Damaged, InputError, RunFailed
from optcp.scenarios.branch import MOST_RESOLVED, StoredBranch
from optcp.study import form
from optcp.study.form import IDENTITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from optcp.scenarios.branch import Branch
    from optcp.study.form import Identity, Manifest
    from optcp.study.grid import Grid

OLD = ("meta.json", "seed-*/meta.json", "cell-*-seed-*/meta.json")
"""Files of runs that an earlier version of optcp stored."""
FOLDERS = ("parts", "cells", "scalars", "runs", "switches", "reroutes", "arrived", "cuts", "buffers", "slowest")
"""Folders in a study's directory, in addition to one per observation."""
WRITTEN = ("plots", "export", "report")
"""Folders for output that commands derive from a study."""

MOST_TABLES = 24
"""Maximum number of tables of parts in memory; the oldest is dropped first."""

Found = Literal["no study", "this study", "another study"]
"""Contents of a directory."""
Columns = dict[str, "NDArray[Any] | tuple[NDArray[Any], list[str]]"]


@dataclass(frozen=True)
class Part:
    """Some runs and the tables that hold them.

    Attributes
    ----------
    name
        Stem of its files.
    manifest
        Its runs, and the checksum and row counts of each file.
    """

    name: str
    manifest: Manifest

    @functools.cached_property
    def places(self) -> dict[tuple[str, int], int]:
        """Index of each run, by cell and seed, within the part."""
        return {(cell, seed): place for place, (cell, seed) in enumerate(self.manifest["runs"])}

    @functools.cache  # noqa: B019 - the cache lives no longer than the part
    def ends(self, table: str) -> NDArray[np.int64]:
        """Row offset at which each run begins in a table, followed by the number of rows."""
        return np.concatenate([[0], np.cumsum(self.manifest["files"][table]["rows"], dtype=np.int64)])

    __hash__ = object.__hash__


class Store:
    """A study's directory.

    Parameters
    ----------
    root
        The directory.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._parts: dict[str, Part] = {}
        self._scanning = threading.Lock()
        self._index: dict[tuple[str, int], Part] = {}
        self._tables: dict[tuple[str, str], tuple[dict[str, str], Columns]] = {}
        self._worlds: dict[str, dict[str, Any]] = {}
        self.digest = False
        """Whether runs include the digest of all records, also runs added later without asking for it."""

    def open(self, grid: Grid, *, force: bool = False, beside: Mapping[str, bytes] | None = None) -> None:
        """Create the study, or check that the directory holds this one, and find the stored runs.

        Parameters
        ----------
        force
            Whether to replace another study in the directory; files that belong to no study stay.
        beside
            Copies of the files that the scenario names, by name; None keeps the stored ones.

        Raises
        ------
        InputError
            If the directory holds another study, or runs of an earlier version.
        Damaged
            If a stored file cannot be read.
        """
        if self.look(grid, force=force) == "another study":
            self.clear()
        there = self.read_identity() if (self.root / IDENTITY).is_file() else None
        kept = there["beside"] if there and beside is None else {}
        for name, content in (beside or {}).items():
            write_bytes(self.root / name, content)
            kept[name] = stored.sha256(content)
        mine = form.identity(grid) | {"digest": self.digest, "beside": kept}
        if there != json.loads(json.dumps(mine)):
            write_text(
                self.root / IDENTITY, stored.with_checksum(json.dumps(mine, indent=1, ensure_ascii=False) + "\n")
            )
        for branch in grid.branches:
            self._describe(branch)

    def names(self, grid: Grid) -> tuple[str, ...]:
        """Names of the files and folders of a study, except the copies of files."""
        return (IDENTITY, *FOLDERS, *WRITTEN, *grid.branches[0].observe)

    def look(self, grid: Grid, *, force: bool = False) -> Found:
        """Find the stored runs of a study without writing; return what the directory holds.

        Raises
        ------
        InputError, Damaged
            As :meth:`open`. With ``force``, another study is no error.
        """
        self.digest = grid.digest
        refuse_links(self.root, self.names(grid))
        if (self.root / IDENTITY).is_file():
            return self._look_into(grid, force=force)
        self.refuse_old("Choose another --out")
        foreign = [name for name in FOLDERS if (self.root / name).exists() and any((self.root / name).iterdir())]
        if (self.root / IDENTITY).is_file():  # another process has just created the study
            return self._look_into(grid, force=force)
        if foreign:
            raise InputError(f"{self.root}: the folder {foreign[0]} does not belong to a study; choose another --out")
        return "no study"

    def _look_into(self, grid: Grid, *, force: bool) -> Found:
        """As :meth:`look`, in a directory that holds a study."""
        there = self.read_identity()
        if differences := form.differences(there, form.identity(grid)):
            if force:
                return "another study"
            raise InputError(
                f"{self.root}: the directory holds another study: {'; '.join(differences)}. "
                "Choose another --out, or replace it with --force"
            )
        self.digest = there["digest"]
        for branch in grid.branches:
            if (path := self._path_of(branch.id)).is_file():
                stored.load(path, str)  # checks the checksum
        self.scan()
        return "this study"

    def refuse_old(self, instead: str) -> None:
        """Raise an InputError if runs of an earlier version are stored; ``instead`` says what to do."""
        if old := next((found for form in OLD for found in self.root.glob(form)), None):
            raise InputError(
                f"{self.root}: {old.relative_to(self.root)} comes from an earlier version of optcp, "
                f"whose runs this version cannot read. {instead}"
            )

    def grid(self) -> Grid:
        """The grid of the study, read from the directory.

        Raises
        ------
        InputError
            If there is no study.
        Damaged
            If a stored file cannot be read.
        """
        from optcp.study.grid import Grid

        refuse_links(self.root, (IDENTITY, *FOLDERS))
        about = self.read_identity()
        self._check_beside(about["beside"])
        branches = tuple(self._branch(id_) for id_ in about["cells"])
        named = None if about["named"] is None else tuple(Axis(name, tuple(values)) for name, values in about["named"])
        return Grid(about["title"], branches, about["digest"], named=named)

    def _branch(self, id_: str) -> StoredBranch:
        about = self.cell(id_)
        observe = tuple(one["name"] for one in about["scenario"]["observe"])
        return StoredBranch(about["cell"], id_, observe, self._world)

    def read_identity(self) -> Identity:
        """The contents of ``study.json``.

        Raises
        ------
        InputError
            If the file is missing.
        Damaged
            If the file cannot be read.
        """
        path = self.root / IDENTITY
        if not path.is_file():
            need_directory(self.root)
            self.refuse_old("Run the scenario again into another directory")
            raise InputError(
                f"{self.root}: no study here (no {IDENTITY}); create one with `optcp run SCENARIO --out {self.root}`"
            )
        return stored.load(path, form.parsed_identity, "the directory")

    def clear(self) -> None:
        """Remove the study; other files in the directory stay."""
        self.scan(check=False)
        observed = {table for part in self.parts for table in part.manifest["files"]}
        for part in self.parts:
            for table in part.manifest["files"]:
                self.file(table, part).unlink(missing_ok=True)
            self._manifest_of(part).unlink(missing_ok=True)
        for cell in (self.root / "cells").glob("*.json"):
            cell.unlink()
        for folder in {*FOLDERS, *observed}:
            if (self.root / folder).is_dir() and not any((self.root / folder).iterdir()):
                (self.root / folder).rmdir()
        (self.root / IDENTITY).unlink()
        self._parts, self._index = {}, {}

    def scan(self, *, check: bool = True) -> None:
        """Find the parts that were added since the last call.

        Raises
        ------
        Damaged
            If a manifest cannot be read, or, with ``check``, if a file that it lists has a wrong checksum.
        """
        try:
            there = os.listdir(self.root / "parts")  # noqa: PTH208 - of thousands of parts, names only
        except FileNotFoundError:
            return
        self.take(sorted(name for name in there if name.endswith(".json") and not name.startswith(".")), check=check)

    def take(self, manifests: Iterable[str], *, check: bool = True) -> None:
        """Add parts by the names of their manifests; known parts are skipped.

        Raises
        ------
        Damaged
            As :meth:`scan`.
        """
        paths = [self.root / "parts" / name for name in manifests if name.removesuffix(".json") not in self._parts]
        parts = [Part(path.stem, stored.load(path, form.parsed_manifest)) for path in paths]
        refuse_links(self.root, {table for part in parts for table in part.manifest["files"]})
        if check:
            self._check(parts)
        for part in parts:
            self._add(part)

    def put(self, files: Sequence[tuple[str, bytes]]) -> int:
        """Write the files of parts in the given order (each manifest last); return the number of bytes."""
        for path, content in files:
            write_bytes(self.root / path, content)
            if path.startswith("parts/"):
                self._add(Part(Path(path).stem, json.loads(content)))
        return sum(len(content) for _, content in files)

    def _add(self, part: Part) -> None:
        with self._scanning:
            # Another thread may have added the part meanwhile; the index must keep that object.
            part = self._parts.setdefault(part.name, part)
            for run in part.places:
                self._index.setdefault(run, part)

    def _manifest_of(self, part: Part) -> Path:
        return self.root / "parts" / f"{part.name}.json"

    def _check(self, parts: Sequence[Part]) -> None:
        """Check that each manifest has the name of its runs, and that its files have their checksums."""
        for part in parts:
            runs = json.dumps(part.manifest["runs"], separators=(",", ":"), ensure_ascii=False)
            if not part.name.endswith(hashlib.sha256(runs.encode()).hexdigest()[:12]):
                raise Damaged(self._manifest_of(part), "its name does not match its runs", "it")
        files = [(table, part) for part in parts for table in part.manifest["files"]]
        wrong = _core.check_files(
            [(str(self.file(table, part)), part.manifest["files"][table]["sha256"]) for table, part in files]
        )
        if wrong is not None:
            at, what = wrong
            raise Damaged(self.file(*files[at]), what, f"{self._manifest_of(files[at][1])} with it")

    def _check_beside(self, beside: Mapping[str, str]) -> None:
        """Check the checksums of the copies of files that the scenario names; a copy may be missing."""
        refuse_links(self.root, beside)
        there = [name for name in beside if (self.root / name).is_file()]
        wrong = _core.check_files([(str(self.root / name), beside[name]) for name in there])
        if wrong is not None:
            at, what = wrong
            raise Damaged(self.root / there[at], what)

    def beside(self) -> dict[str, bytes]:
        """Copies of the files that the scenario names, by name.

        Raises
        ------
        InputError, Damaged
            As :meth:`read_identity`.
        """
        there = (self.root / name for name in self.read_identity()["beside"])
        return {path.name: path.read_bytes() for path in there if path.is_file()}

    def written(self, folder: str) -> Path:
        """Return the folder for output that a command derives from the study: one of ``WRITTEN``.

        Raises
        ------
        InputError
            If the folder is a symbolic link.
        """
        refuse_links(self.root, (folder,))
        return self.root / folder

    @property
    def parts(self) -> list[Part]:
        """Known parts, sorted by name."""
        return [self._parts[name] for name in sorted(self._parts)]

    def _describe(self, branch: Branch) -> None:
        """Store the resolved scenario of a cell, unless it is stored already."""
        path = self._path_of(branch.id)
        if not path.is_file():
            write_text(path, form.described(branch))

    def _path_of(self, cell: str) -> Path:
        return self.root / "cells" / f"{cell}.json"

    def cell(self, cell: str) -> dict[str, Any]:
        """The stored description of a cell.

        Its keys are ``cell`` (axis to value), ``toml``, ``scenario_sha256`` and ``scenario`` (resolved).
        """
        path = self._path_of(cell)
        try:
            return stored.load(path, form.parsed_cell)
        except FileNotFoundError as error:
            # All cells are written before the first run begins.
            raise RunFailed(
                f"{path}: missing; the command that created the study was interrupted, repeat it to continue"
            ) from error
        except OSError as error:
            raise RunFailed(f"{path}: cannot be read ({error.strerror})") from error

    def _world(self, cell: str) -> dict[str, Any]:
        """The resolved scenario of a cell; the last ones read are cached."""
        if cell not in self._worlds:
            self._worlds[cell] = self.cell(cell)["scenario"]
            while len(self._worlds) > MOST_RESOLVED:
                del self._worlds[next(iter(self._worlds))]
        return self._worlds[cell]

    def file(self, table: str, part: Part) -> Path:
        """Path of a table of a part."""
        return self.root / table / f"{part.name}.parquet"

    @property
    def cpu_s_a_run(self) -> float:
        """Mean CPU time of a stored run in seconds; 0 without stored runs."""
        manifests = [part.manifest for part in self.parts]
        runs = sum(len(one["runs"]) for one in manifests)
        return sum(one["cpu_seconds"] for one in manifests) / runs if runs else 0.0

    def has(self, branch: Branch, seed: int) -> bool:
        """Whether a run is stored."""
        return (branch.id, seed) in self._index

    def holds(self, part: Part, cell: str, seed: int) -> bool:
        """Whether a run is read from this part; a run that is stored twice counts once."""
        return self._index.get((cell, seed)) is part

    def seeds(self, grid: Grid) -> tuple[int, ...]:
        """Seeds for which every cell is stored, sorted."""
        of: dict[str, set[int]] = {branch.id: set() for branch in grid.branches}
        for cell, seed in self._index:
            if cell in of:
                of[cell].add(seed)
        return tuple(sorted(set.intersection(*of.values())))

    def hops_a_run(self, branches: Sequence[Branch], seed: int) -> float:
        """Packet transmissions per run of these cells: the mean over the parts with runs of that seed."""
        found = (self._index.get((branch.id, seed)) for branch in branches)
        manifests = {part.name: part.manifest for part in found if part}.values()
        runs = sum(len(one["runs"]) for one in manifests)
        return sum(one["packet_hops"] for one in manifests) / runs if runs else 0.0

    def part(self, branch: Branch, seed: int) -> Part:
        """The part that holds a run.

        Raises
        ------
        KeyError
            If the run is not stored.
        """
        return self._index[branch.id, seed]

    def run_table(self, table: str, part: Part, cell: str, seed: int) -> Table:
        """Rows of one run, without the columns that identify the run; no columns if the run has no such table."""
        if table not in part.manifest["files"]:
            return Table({})
        metadata, columns = self._of_part(table, part)
        ends, place = part.ends(table), part.places[cell, seed]
        rows = slice(ends[place], ends[place + 1])
        found: Columns = {}
        for name, values in columns.items():
            found[name] = (values[0][rows], values[1]) if isinstance(values, tuple) else values[rows]
        return Table.read(metadata, found)

    def _of_part(self, table: str, part: Part) -> tuple[dict[str, str], Columns]:
        """Read a table of a part without the columns that identify the run; the last tables read are cached."""
        key = (table, part.name)
        if key not in self._tables:
            metadata, columns = self.read(table, [part])
            own = list(columns)[list(columns).index("seed") + 1 :]
            self._tables[key] = metadata, {name: columns[name] for name in own}
            while len(self._tables) > MOST_TABLES:
                del self._tables[next(iter(self._tables))]
        return self._tables[key]

    def read(
        self, table: str, parts: Iterable[Part], columns: Sequence[str] | None = None
    ) -> tuple[dict[str, str], Columns]:
        """Read a table of several parts, concatenated; return its metadata and its columns.

        Raises
        ------
        Damaged
            If a file is missing or has a wrong checksum.
        """
        files = [(str(self.file(table, part)), part.manifest["files"][table]["sha256"]) for part in parts]
        try:
            return _core.read_tables(files, None if columns is None else list(columns))
        except ValueError as error:
            path, _, what = str(error).partition(": ")
            manifest = self.root / "parts" / f"{Path(path).stem}.json"
            raise Damaged(Path(path), what, f"{manifest} with it") from error
