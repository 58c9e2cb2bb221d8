"""Tool ``new``: write a scenario file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.common.files import write_bytes, write_text
from optcp.errors import InputError
from optcp.mcp.calls import validate
from optcp.mcp.scenarios import new_file
from optcp.scenarios import shipped

if TYPE_CHECKING:
    from optcp.mcp.report import Report


def call(report: Report, *, file: str, copy_of: str, text: str | None, force: bool) -> dict[str, Any]:
    """Write a copy of a shipped scenario, or the given text if it is valid."""
    path = new_file(file)
    if text is None:
        written = [str(name) for name, changed in shipped.begin(path, copy_of, force=force) if changed]
    else:
        if path.exists() and not force and path.read_bytes() != text.encode():
            raise InputError(f"file {file!r}: the file exists with other content; set `force` to overwrite it")
        before = path.read_bytes() if path.exists() else None
        write_text(path, text)
        written = [file]
        try:
            return {**validate.call(report, scenario=file, settings=None), "written": written}
        except (InputError, _core.ScenarioError):
            # A client mends the text and calls again, which must not meet its own wrong file.
            if before is None:
                path.unlink()
            else:
                write_bytes(path, before)
            raise
    return {**validate.call(report, scenario=file, settings=None), "written": written}
