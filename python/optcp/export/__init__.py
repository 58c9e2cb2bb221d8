"""Results in other forms (``optcp export``).

One form, one module, one line here. A module has ``files(directory)``, which writes and names each file.
"""

from __future__ import annotations

import importlib
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


def files(directory: Path, form: str) -> Iterator[Path]:
    """Write what is in a directory in another form, beside it.

    Yields
    ------
    Path
        Each file once it is there.

    Raises
    ------
    optcp.errors.InputError
        If there is nothing that has this form.
    optcp.errors.RunFailed
        If something cannot be read.
    """
    module = importlib.import_module(f"optcp.export.{FORMS[form]}")
    written: Iterator[Path] = module.files(directory)
    return written
