"""Results in other forms (``optcp export``).

One form, one module, one line here. A module has ``files(directory, chosen)``, which writes and names each file.
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
    "latex": "latex",
}
"""Names of forms, and the modules of this package that write them."""


@dataclass(frozen=True)
class Chosen:
    """Runs of a study that are wanted.

    Attributes
    ----------
    cells
        Axes and a value of each; empty: all cells.
    seed
        None: all seeds.
    """

    cells: tuple[tuple[str, str], ...] = ()
    seed: int | None = None


ALL = Chosen()


def files(directory: Path, form: str, chosen: Chosen = ALL) -> Iterator[tuple[Path, str]]:
    """Write what is in a directory in another form.

    Yields
    ------
    (Path, str)
        Each file once it is there, and a remark on it.

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
