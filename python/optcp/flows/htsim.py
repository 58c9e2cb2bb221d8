"""Connection matrices of htsim.

# Model

A header with lines such as ``Nodes 16`` and ``Connections 2``, then a line per connection, such as
``0->13 id 1 start 5000 size 2000000``. Starts are in picoseconds, and nodes are numbers.

# References

``connection_matrix.cpp`` of https://github.com/Broadcom/csg-htsim.

# Limitations

Connections that a trigger starts, failures, and sizes of 0, with which htsim sends without end, are refused. Priorities
are ignored.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from optcp.common import rows
from optcp.common.plurals import count_noun
from optcp.flows.model import Flow, FlowFile, FlowFormat
from optcp.flows.numbers import picoseconds, whole

if TYPE_CHECKING:
    from typing import BinaryIO

HEADER = ("Nodes", "Connections", "Triggers", "Failures")
ENDS = re.compile(r"([0-9]{1,9})->([0-9]{1,9})")
IGNORED = ("id", "prio", "send_done_trigger", "recv_done_trigger")
"""Keys with a value that have no effect on the list."""
START = re.compile(rb"(?:\s|#.*\n)*Nodes\s+[0-9]")


def read(stream: BinaryIO) -> FlowFile:
    """Read the connections; errors as in :class:`optcp.flows.model.FlowFormat`."""
    flows = []
    header: dict[str, int] = {}
    for number, line in enumerate(rows.lines(rows.decoded(stream.read())), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        where = f"line {number}"
        if words[0] in HEADER and len(words) == 2:
            header[words[0]] = whole(words[1], f"{where}: `{words[0]}`")
        elif ends := ENDS.fullmatch(words[0]):
            flows.append(_flow(ends[1], ends[2], words[1:], where, header.get("Nodes")))
        else:
            raise ValueError(
                f"{where}: expected a connection such as `0->13 start 0 size 2000000`, found `{rows.short(line)}`"
            )
    if header.get("Failures") or header.get("Triggers"):
        raise ValueError("triggers and failures are not read")
    stated = header.get("Connections", len(flows))
    notes = () if stated == len(flows) else (f"the header states {count_noun(stated, 'connection')}, not {len(flows)}",)
    return FlowFile(sorted(flows), notes)


def _flow(source: str, destination: str, words: list[str], where: str, nodes: int | None) -> Flow:
    for node in (source, destination):
        if nodes is not None and int(node) >= nodes:
            raise ValueError(f"{where}: node {node} of {count_noun(nodes, 'node')}, which are numbered from 0")
    if len(words) % 2 or "trigger" in words[::2]:
        raise ValueError(f"{where}: expected `start` and `size`, each with a value; triggers are not read")
    values = dict(zip(words[::2], words[1::2], strict=True))
    if unknown := [key for key in values if key not in (*IGNORED, "start", "size")]:
        raise ValueError(f"{where}: unknown key `{rows.short(unknown[0])}`")
    for key in ("start", "size"):
        if key not in values:
            raise ValueError(f"{where}: no `{key}`")
    size = whole(values["size"], f"{where}: `size`")
    if size == 0:
        raise ValueError(f"{where}: size 0 is a flow without end in htsim; a list needs sizes")
    start_ps = picoseconds(values["start"], 1, f"{where}: `start`", "picoseconds")
    return Flow(start_ps, str(int(source)), str(int(destination)), size)


FORMAT = FlowFormat("htsim", "htsim connection matrix", lambda first: START.match(first) is not None, read)
