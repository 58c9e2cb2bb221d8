"""Playground page: compiled simulator and scenarios to start with.

``make playground`` compiles the simulator into ``simulator.wasm.gz`` next to this file. Installations may lack it.
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
"""Small scenarios of the studies, in the folder ``worlds``."""

OBSERVED = """
[[observe]]                 # for the other plots of the page
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
    """Scenario of the page.

    Attributes
    ----------
    name
        File name, for messages and commands.
    text
        Scenario as TOML.
    library
        Contents of the files and networks that the text names, in the form of crates/web: ``{"names", "graphs",
        "flows", "matrix", "values", "table"}``, each by the name in the text.
    """

    name: str
    text: str
    library: Mapping[str, Any] = field(default_factory=dict)


def starts() -> list[Start]:
    """Return the default scenarios of the page: the ring, and small scenarios of the studies."""
    folder = resources.files("optcp.web.playground") / "worlds"
    small = [Start(f"{name}.toml", (folder / f"{name}.toml").read_text(encoding="utf-8")) for name in WORLDS]
    return [Start("ring.toml", _ring()), *small]


def _ring() -> str:
    """Return the shipped ring with more observations, without its sweep, and with all links protected."""
    text = scenarios()["ring"].read_text(encoding="utf-8")
    text = text.partition("\n[sweep]")[0].replace(" and [sweep]", "")
    return text.replace('link = ["north", "east"]\nbackup', "backup") + OBSERVED


def address(start: Start) -> str:
    """Return the fragment ``#w=...`` of a link that opens the page with a scenario."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps(asdict(start)).encode()) + packer.flush()
    return f"#w={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def simulator() -> bytes | None:
    """Return the gzip-compressed simulator of this installation, or None."""
    file = resources.files("optcp.web.playground") / MODULE
    return file.read_bytes() if file.is_file() else None


def page(worlds: Sequence[Start], module: bytes | None = None) -> str:
    """Return the self-contained page.

    Parameters
    ----------
    worlds
        Scenarios to choose from; the page opens the first.
    module
        Gzip-compressed simulator; by default the simulator of this installation.

    Raises
    ------
    InputError
        If this installation has no simulator.
    """
    module = module or simulator()
    if module is None:
        raise InputError("this installation has no simulator for browsers; compile it with `make playground`")
    web = resources.files("optcp.web.playground") / "web"
    listed = json.dumps([asdict(world) for world in worlds]).replace("<", "\\u003c")
    parts = {"module": base64.b64encode(module).decode(), "worlds": listed}

    def part(match: re.Match[str]) -> str:
        name = match[1]
        return parts.get(name) or (web / name).read_text(encoding="utf-8").strip()

    return re.sub(r"/\*\[([\w.]+)\]\*/", part, (web / "page.html").read_text(encoding="utf-8"))
