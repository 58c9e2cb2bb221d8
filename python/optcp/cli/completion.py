"""Completion in shells: the names that arguments are completed with, and how a shell comes to ask for them.

The shell asks at a press of a key, so nothing heavy is imported here.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from optcp.common.files import write_text
from optcp.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import click

SHELLS = ("bash", "zsh", "fish")


def default() -> str:
    """Return the path of the user's shell: $SHELL, else the login shell; empty where neither is known."""
    if named := os.environ.get("SHELL"):
        return named
    try:
        import pwd  # not on Windows

        return pwd.getpwuid(os.getuid()).pw_shell
    except (ImportError, KeyError):
        return ""


def among(names: Callable[[], Iterable[str]]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Complete an argument with those of some names that begin with what is typed."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def exhibits() -> list[str]:
    """Return the installed papers and their exhibits, as their baselines have them: to import papers takes a second."""
    from optcp.common import installed
    from optcp.papers import baseline

    folders = installed.folders()
    found = baseline.read(*(folder / baseline.NAME for folder in folders.values()))
    return sorted({*found, *folders})


def families() -> list[str]:
    """What `optcp list` takes: families and collections, as :mod:`optcp.cli.listing` has them."""
    from optcp import _core
    from optcp.scenarios.topologies import networks

    of_core = {entry["family"] for entry in _core.catalogue()}
    return sorted({"exhibits", "scenarios", "topologies", "constellations", "cities", *of_core, *networks()})


def networks() -> list[str]:
    """The networks that are known by name."""
    from optcp.scenarios.topologies import networks as collections

    return [name for names in collections().values() for name in names]


def mechanisms() -> list[str]:
    """What can answer a failure of a network."""
    from optcp.outage.mechanisms import MECHANISMS

    return list(MECHANISMS)


def shells() -> list[str]:
    """The shells of satellites that have a name."""
    from optcp.constellation import SHELLS

    return list(SHELLS)


def cities() -> list[str]:
    """The cities that have a ground station."""
    from optcp.constellation import cities as known

    return list(known())


def metrics() -> list[str]:
    """The metrics that runs of a study can have."""
    from optcp import _core

    return [one["name"] for one in _core.metrics()]


def script(command: click.Command, shell: str) -> str:
    """What a shell reads to complete `optcp`; click makes it."""
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is None:
        raise InputError(f"click knows no completion for {shell}")
    return made(command, {}, "optcp", "_OPTCP_COMPLETE").source()


def install(command: click.Command, shell: str) -> list[tuple[Path, str]]:
    """Make a shell complete `optcp` from its next start on; what is there already stays.

    Without the script, which is the first file, the line that reads it does nothing.

    Returns
    -------
    list
        Each file, and what was done to it.
    """
    home = Path.home()
    text = script(command, shell)
    if shell == "fish":
        # It looks there by itself.
        place = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "fish" / "completions" / "optcp.fish"
        return [(place, _write(place, text))]
    place = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "optcp" / f"completion.{shell}"
    file = shlex.quote(str(place))
    if shell == "bash":
        start, line = home / ".bashrc", f"[ ! -r {file} ] || . {file}"
    else:
        # The script needs compdef, which is there once compinit has run.
        ready = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }"
        start = Path(os.environ.get("ZDOTDIR") or home) / ".zshrc"
        line = f"[ ! -r {file} ] || {{ {ready}; . {file}; }}"
    return [(place, _write(place, text)), (start, _append(start, f"{line}  # completion of optcp"))]


def _write(path: Path, text: str) -> str:
    if path.is_file() and path.read_bytes() == text.encode():
        return "unchanged"
    write_text(path, text)
    return "written"


def _append(path: Path, line: str) -> str:
    """Append a line to a file of the user, which keeps its owner and mode."""
    there = path.read_bytes() if path.exists() else b""
    if line.encode() in there.splitlines():
        return "unchanged"
    with path.open("ab") as file:
        file.write(b"\n" * (there[-1:] not in (b"", b"\n")) + line.encode() + b"\n")
    return f"line added: {line}"
