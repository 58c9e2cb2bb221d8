"""Conversion of results to other formats (``optcp export``).

Each format is a module with ``files(directory, chosen)``, which writes files and yields their paths.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMS = {
    "csv": "comma",
    "parquet": "columnar",
    "pcapng": "capture",
    "ns2": "ns2",
    "perfetto": "perfetto",
    "qlog": "qlog",
    "latex": "latex",
}
"""Modules of this package by format name."""


@dataclass(frozen=True)
class Chosen:
    """Selection of runs of a study.

    Attributes
    ----------
    cells
        Swept parameters with one value each; empty for all combinations.
    seed
        None: all seeds.
    """

    cells: tuple[tuple[str, str], ...] = ()
    seed: int | None = None


ALL = Chosen()


def files(directory: Path, form: str, chosen: Chosen = ALL) -> Iterator[tuple[Path, str]]:
    """Convert the results in a directory.

    Yields
    ------
    (Path, str)
        Each written file, and a remark on it.

    Raises
    ------
    optcp.errors.InputError
        If there is nothing that has this form, or no such run.
    optcp.errors.RunFailed
        If something cannot be read.
    """
    module = importlib.import_module(f"optcp.export.{FORMS[form]}")
    written: Iterator[tuple[Path, str]] = module.files(directory, chosen)
    return written
