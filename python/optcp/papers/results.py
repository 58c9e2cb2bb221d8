"""The results of exhibits and of sensitivity studies in a directory, read back from their JSON files."""

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
    """Read every exhibit's result below a directory, by its file: what a file is called need not be what is in it.

    Raises
    ------
    InputError
        If there is none, or a symbolic link among them.
    RunFailed
        If one cannot be read.
    """
    refuse_links(directory, names())
    found = {path: stored.load(path, Result.from_json) for path in files(directory)}
    if not found:
        raise InputError(
            f"{directory}: no results of experiments here; create them with `optcp reproduce --out {directory}`"
        )
    return found


def sensitivities(directory: Path) -> list[Sensitivity]:
    """Read every sensitivity study below a directory, in the order of papers and exhibits; often there is none.

    Raises
    ------
    RunFailed
        If one cannot be read.
    """
    return [stored.load(path, Sensitivity.from_json) for path in files(directory / "sensitivity")]


def files(directory: Path) -> list[Path]:
    """The files of exhibits' results below a directory, in the order of papers and exhibits."""
    found = ((directory / paper).glob("*.json") for paper in names())
    return [path for of_paper in found for path in sorted(of_paper, key=lambda path: _natural(path.stem))]


def _natural(text: str) -> list[tuple[int, str]]:
    """Sort key that puts fig10 after fig7."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]
