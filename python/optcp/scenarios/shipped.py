"""Scenario files shipped with OpTCP: found by name, and copied as a starting point."""

from __future__ import annotations

import glob
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from optcp.common.files import write_text
from optcp.common.installed import folders
from optcp.errors import InputError, closest, nearest

SCHEMA = "optcp.schema.json"
"""The JSON Schema next to a scenario file, to which its first line refers by a relative path."""

if TYPE_CHECKING:
    Paths = click.ParamType[Path]
else:
    Paths = click.ParamType  # not generic in click 8.1


def scenarios() -> dict[str, Path]:
    """Files of all shipped scenarios by name, including scenarios of installed papers."""
    places = [Path(__file__).parent, *(folder / "scenarios" for folder in folders().values())]
    found = [path for place in places for path in place.glob("*.toml")]
    return {path.stem: path for path in sorted(found, key=lambda path: path.name)}


def find(text: str) -> Path:
    """Find a scenario file by its path, or a shipped scenario by its name.

    Raises
    ------
    InputError
        If neither exists.
    """
    path = Path(text)
    if path.is_file():
        return path
    known = scenarios()
    named = path.name.removesuffix(".toml")
    if path.parent == Path() and named in known:
        return known[named]
    if path.is_dir():
        raise InputError(f"{text}: this is a directory; a scenario is a file, such as world.toml")
    close = closest(named, known)
    meant = f"; did you mean {close!r}?" if close else ""
    missing = "" if folders() else "; those of papers come with `pip install 'optcp[papers]'`"
    raise InputError(
        f"no file or shipped scenario named {text!r}{meant} (`optcp list scenarios` prints the names{missing})"
    )


def begin(path: Path, name: str, *, force: bool) -> list[tuple[Path, bool]]:
    """Write a copy of a shipped scenario, and next to it the JSON Schema to which its first line refers.

    Returns
    -------
    list
        Each file, and whether it was written; a file with the same content is not written again.

    Raises
    ------
    InputError
        If the scenario is unknown, or a file with other content exists and ``force`` is not given.
    """
    from optcp import _core

    known = scenarios()
    if name not in known:
        raise InputError(f"--from {name}: unknown scenario; {nearest(name, known)}")
    if path.suffix != ".toml":
        raise InputError(f"{path}: expected a name that ends with .toml, as editors do, such as {path.name}.toml")
    texts = {
        path: f"#:schema ./{SCHEMA}\n{known[name].read_text(encoding='utf-8')}",
        path.with_name(SCHEMA): _core.schema(),
    }
    written = [(file, not file.exists() or file.read_bytes() != text.encode()) for file, text in texts.items()]
    for file, differs in written:
        if differs and file.exists() and not force:
            renew = f" or `optcp schema --out {shlex.quote(str(file))}` to renew it" if file.name == SCHEMA else ""
            raise InputError(f"{file}: the file exists with other content; use --force to overwrite it{renew}")
    for file, differs in written:
        if differs:
            write_text(file, texts[file])
    return written


class ScenarioType(Paths):
    """Parameter type for a scenario on the command line."""

    name = "scenario"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ARG002
        """Find the file."""
        return value if isinstance(value, Path) else find(str(value))

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's own
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Complete scenario files and shipped names; without a match, leave it to the shell."""
        # Paths keep the form typed by the user, such as `./`; paths that need quotes are left to the shell.
        there = glob.glob(f"{glob.escape(incomplete)}*.toml")  # noqa: PTH207 - pathlib drops `./`
        files = [file for file in there if shlex.quote(file) == file]
        found = sorted({*files, *(name for name in scenarios() if name.startswith(incomplete))})
        return [CompletionItem(name) for name in found] or [CompletionItem(incomplete, type="file")]
