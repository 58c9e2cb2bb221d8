"""Reads the results of exhibits and sensitivity studies from JSON files in a directory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from optcp.common import stored
from optcp.common.files import refuse_links
from optcp.errors import InputError
from optcp.papers.model import Result
from optcp.papers.registry import names
from optcp.papers.sensitivity.result import Result as Sensitivity

if TYPE_CHECKING:
    from pathlib import Path


def exhibits(directory: Path) -> dict[Path, Result]:
    """Read the result of every exhibit below a directory, by file; file names need not match their exhibits.

    Raises
    ------
    InputError
        If there are no results, or one is a symbolic link.
    RunFailed
        If a file cannot be read.
    """
    refuse_links(directory, names())
    found = {path: stored.load(path, Result.from_json) for path in files(directory)}
    if not found:
        raise InputError(
            f"{directory}: no results of experiments here; create them with `optcp reproduce --out {directory}`"
        )
    return found


def sensitivities(directory: Path) -> list[Sensitivity]:
    """Read all sensitivity studies below a directory, in the order of papers and exhibits.

    Raises
    ------
    RunFailed
        If a file cannot be read.
    """
    return [stored.load(path, Sensitivity.from_json) for path in files(directory / "sensitivity")]


def files(directory: Path) -> list[Path]:
    """Result files of exhibits below a directory, in the order of papers and exhibits."""
    found = ((directory / paper).glob("*.json") for paper in names())
    return [path for of_paper in found for path in sorted(of_paper, key=lambda path: _natural(path.stem))]


def _natural(text: str) -> list[tuple[int, str]]:
    """Sort key that orders numbers by value: fig7 before fig10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]
