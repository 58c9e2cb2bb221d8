"""Flow files of the ns-3 simulator of HPCC, and of its descendants.

# Model

The first line is the number of flows. Each further line is a flow: source, destination, priority group, destination
port, size in bytes and start in seconds. Nodes are numbers.

# References

``traffic_gen/README.md`` of https://github.com/alibaba-edu/High-Precision-Congestion-Control.

# Limitations

Priority groups and ports are ignored. Files with further columns are refused.
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

COLUMNS = ("source", "destination", "priority group", "port", "size", "start")
START = re.compile(rb"\s*[0-9]+[ \t\r]*\n\s*[0-9]+[ \t]+[0-9]+[ \t]+[0-9]+[ \t]+[0-9]+[ \t]+[0-9]")


def read(stream: BinaryIO) -> FlowFile:
    """Read the flows; errors as in :class:`optcp.flows.model.FlowFormat`."""
    stated: int | None = None
    flows = []
    for number, line in enumerate(rows.lines(rows.decoded(stream.read())), 1):
        words = line.split()
        if not words:
            continue
        where = f"line {number}"
        if stated is None:
            stated = whole(line.strip(), f"{where}: number of flows")
            continue
        if len(words) != len(COLUMNS):
            raise ValueError(f"{where}: expected {', '.join(COLUMNS)}; found {count_noun(len(words), 'field')}")
        source, destination, _, _, size = (
            whole(word, f"{where}: {name}") for name, word in zip(COLUMNS, words[:-1], strict=False)
        )
        start_ps = picoseconds(words[-1], 10**12, f"{where}: start", "seconds")
        if size == 0:
            raise ValueError(f"{where}: a flow without data")
        flows.append(Flow(start_ps, str(source), str(destination), size))
    if stated is None or stated == len(flows):
        return FlowFile(sorted(flows))
    return FlowFile(sorted(flows), (f"the first line states {count_noun(stated, 'flow')}, not {len(flows)}",))


FORMAT = FlowFormat("ns3", "ns-3 flow file (HPCC)", lambda first: START.match(first) is not None, read)
