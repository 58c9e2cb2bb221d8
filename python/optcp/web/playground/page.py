"""The page: the compiled simulator, and the worlds with which it starts.

The simulator is ``simulator.wasm.gz`` beside this file; ``make playground`` compiles it, and an installation may be
without it.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import asdict, dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any

from optcp.errors import InputError
from optcp.scenarios.shipped import scenarios

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MODULE = "simulator.wasm.gz"
WORLDS = ("gmpls", "bundle", "fast-reroute", "days-and-nights", "satellite")
"""Small worlds of the studies, in the folder ``worlds``."""

OBSERVED = """
[[observe]]                 # the other pictures of the page
name = "cwnd"
kind = "tcp"

[[observe]]
name = "sequence"
kind = "packets"

[[observe]]
name = "queue"
kind = "queue"
interval = "20 ms"
links = [["west", "north"], ["north", "east"], ["west", "south"], ["south", "east"], ["east", "B"]]
"""


@dataclass(frozen=True)
class Start:
    """A world that the page opens.

    Attributes
    ----------
    name
        Of its file, in messages and commands.
    text
        TOML.
    library
        What the text refers to, read already, as crates/web takes it: ``{"names", "graphs", "matrix", "values",
        "table"}``, each by the name in the text.
    """

    name: str
    text: str
    library: Mapping[str, Any] = field(default_factory=dict)


def starts() -> list[Start]:
    """Return the worlds of the page where nobody asks for another one: the ring, and small ones of the studies."""
    folder = resources.files("optcp.web.playground") / "worlds"
    small = [Start(f"{name}.toml", (folder / f"{name}.toml").read_text(encoding="utf-8")) for name in WORLDS]
    return [Start("ring.toml", _ring()), *small]


def _ring() -> str:
    """The shipped ring with more observations, without its sweep, and protected wherever its reader cuts it."""
    text = scenarios()["ring"].read_text(encoding="utf-8")
    text = text.partition("\n[sweep]")[0].replace(" and [sweep]", "")
    return text.replace('link = ["north", "east"]\nbackup', "backup") + OBSERVED


def address(start: Start) -> str:
    """Return what follows the page's name in a link that opens it with a world: ``#w=...``."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps(asdict(start)).encode()) + packer.flush()
    return f"#w={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def simulator() -> bytes | None:
    """Return the simulator of this installation, compressed by gzip; None if there is none."""
    file = resources.files("optcp.web.playground") / MODULE
    return file.read_bytes() if file.is_file() else None


def page(worlds: Sequence[Start], module: bytes | None = None) -> str:
    """Return the page, everything in it.

    Parameters
    ----------
    worlds
        Among which its reader chooses; it opens with the first.
    module
        The simulator, compressed by gzip; the one of this installation where it is left out.

    Raises
    ------
    InputError
        If this installation has none.
    """
    module = module or simulator()
    if module is None:
        raise InputError("this installation of optcp has no simulator for browsers: `make playground` compiles it")
    web = resources.files("optcp.web.playground") / "web"
    listed = json.dumps([asdict(world) for world in worlds]).replace("<", "\\u003c")
    parts = {"module": base64.b64encode(module).decode(), "worlds": listed}

    def part(match: re.Match[str]) -> str:
        name = match[1]
        return parts.get(name) or (web / name).read_text(encoding="utf-8").strip()

    return re.sub(r"/\*\[([\w.]+)\]\*/", part, (web / "page.html").read_text(encoding="utf-8"))
