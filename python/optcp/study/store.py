"""Finished runs on disk: one file a (study, seed), written whole or not at all."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from optcp import stored
from optcp.errors import Damaged
from optcp.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from optcp import _core
    from optcp.study.spec import Study

CHECKSUM = 64
"""Digits of a checksum, the last bytes of a file."""

MOST_SAID = 300
"""Characters of a message about a file that holds anything."""

_SCALARS = (
    "seed",
    "scenario_sha256",
    "records_sha256",
    "metrics_sha256",
    "counts",
    "drops",
    "forked_at_s",
    "switches",
    "routing",
)


@dataclass(frozen=True)
class RunData:
    """One run's result, as stored.

    Attributes are those of ``optcp._core.Run``; besides, ``cpu_s`` is the CPU time in seconds of the call that made
    this run together with the other branches of its seed.
    """

    seed: int
    scenario_sha256: str
    records_sha256: str | None
    metrics_sha256: str
    counts: dict[str, int]
    drops: dict[str, int]
    forked_at_s: float | None
    switches: list[dict[str, Any]]
    routing: dict[str, Any] | None
    cpu_s: float
    series: dict[str, dict[str, Any]] = field(repr=False)

    @classmethod
    def of(cls, run: _core.Run, cpu_s: float) -> RunData:
        """Take over a fresh run."""
        return cls(**{name: getattr(run, name) for name in _SCALARS}, cpu_s=cpu_s, series=run.series)


class Store:
    """Stored runs below ``root``: ``root/<study hash>/seed-<n>.npz``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, study: Study, seed: int) -> Path:
        """Where the runs of a seed are, or will be."""
        return self.root / study.hash / f"seed-{seed}.npz"

    def has(self, study: Study, seed: int) -> bool:
        """Whether the runs of a seed are finished."""
        return self.path(study, seed).is_file()

    def save(self, study: Study, seed: int, runs: Iterable[RunData]) -> None:
        """Write the runs of a seed, one a branch, in the order of the branches, and behind them their checksum."""
        content = io.BytesIO()
        write_runs(content, list(runs))
        with replacing(self.path(study, seed)) as file:
            file.write(content.getbuffer())
            file.write(stored.sha256(content.getbuffer()).encode())

    def load(self, study: Study, seed: int) -> list[RunData]:
        """Read the runs of a seed, in the order of the branches.

        Raises
        ------
        Damaged
            If the file cannot be read, is not as it was written, or is of another study or seed.
        """
        path = self.path(study, seed)
        try:
            content = memoryview(path.read_bytes())
            if stored.sha256(content[:-CHECKSUM]).encode() != content[-CHECKSUM:]:
                raise ValueError(stored.CHANGED)
            runs = read_runs(io.BytesIO(content[:-CHECKSUM]))
            wanted = [(seed, branch.scenario.sha256) for branch in study.branches]
            if [(run.seed, run.scenario_sha256) for run in runs] != wanted:
                raise ValueError("runs of another study or seed")
        except (OSError, ValueError) as error:
            raise Damaged(path, f"cannot be read ({error})") from error
        return runs


def write_runs(file: IO[bytes], runs: list[RunData]) -> None:
    """Write runs to an open binary file: arrays as they are, everything else as one JSON text (no pickle)."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    described = []
    for index, run in enumerate(runs):
        series: dict[str, dict[str, Any]] = {}
        for name, content in run.series.items():
            series[name] = {}
            for part, value in content.items():
                if isinstance(value, np.ndarray):
                    arrays[f"{index}/{name}/{part}"] = value
                else:
                    series[name][part] = value
        described.append({name: getattr(run, name) for name in (*_SCALARS, "cpu_s")} | {"series": series})
    np.savez_compressed(file, runs=np.array(json.dumps(described)), allow_pickle=False, **arrays)


def read_runs(file: IO[bytes]) -> list[RunData]:
    """Read what :func:`write_runs` wrote.

    Raises
    ------
    ValueError
        If it is something else.
    """
    try:
        with np.load(file) as archive:
            runs: list[RunData] = stored.typed(list[RunData], json.loads(str(archive["runs"])), "runs")
            for name in archive.files:
                if name != "runs":
                    index, series, part = name.split("/", 2)
                    values = archive[name]
                    if not isinstance(values, np.ndarray):
                        raise TypeError(f"{name} is no array")
                    runs[int(index)].series[series][part] = values
    except Exception as error:  # numpy and zipfile let anything through for a damaged archive
        raise ValueError(f"no archive of runs: {error}"[:MOST_SAID]) from error
    return runs
