"""Tool ``outage``: cost of each failure of a network, by recovery mechanism."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optcp.common.files import write_text
from optcp.common.stored import with_checksum
from optcp.errors import InputError
from optcp.mcp import outages
from optcp.mcp.fence import FilesBeside, inside
from optcp.mcp.limits import threads
from optcp.mcp.parts import written
from optcp.mcp.studies import RESULTS
from optcp.outage import tables
from optcp.outage.asked import ECMP, OutageQuery
from optcp.outage.listings import listings
from optcp.outage.made import make
from optcp.scenarios.topologies import use_files
from optcp.topology.registry import is_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from optcp.mcp.report import Report
    from optcp.outage.result import Result
    from optcp.scenarios.warned import ScenarioWarning

HASH = 12
"""Number of digits of the hash in the name of a directory."""


def call(
    report: Report,
    *,
    network: str,
    mechanisms: Sequence[str],
    failures: str | None,
    assumptions: Mapping[str, object] | None,
    sender: str,
    routing: str,
    demands: str | None,
    paths: str | None,
    time: str | None,
    directory: str | None,
    table: str,
    where: Mapping[str, str],
    columns: Sequence[str],
    sort: str | None,
    skip: int,
    most: int | None,
    force: bool,
) -> dict[str, Any]:
    """Simulate the failures of a network and return their costs, or a part of one table."""
    files = [
        None if text is None else str(inside(text, name)) for name, text in (("demands", demands), ("paths", paths))
    ]
    if is_file(network) or "/../" in f"/{network}/" or Path(network).is_absolute():
        network = str(inside(network, "network"))
    root = None if directory is None else inside(directory, "directory")
    settings = {name: str(value) for name, value in (assumptions or {}).items()}
    warned: list[ScenarioWarning] = []
    # Files of networks are found from the current directory.
    with use_files(FilesBeside(Path("network"))):
        asked = OutageQuery.by_time(
            network, files[0], tuple(mechanisms), failures, settings, sender, ecmp=routing == ECMP, paths=files[1],
            time=time,
        )  # fmt: skip
        if len(asked) > 1:
            raise InputError(f"time: the demands have several times of day, expected one of {', '.join(asked)}")
        query = next(iter(asked.values()))
        root = root or _directory(query)
        (result,) = make({root: query}, threads(), report, warn=warned.extend, force=force)
    return outages.answer(
        result, root, warned, _write(root, result),
        outages.Part(table, where, columns, sort, skip, most),
    )  # fmt: skip


def _directory(asked: OutageQuery) -> Path:
    """Return a directory that no other question has, so that its runs are neither mixed nor replaced."""
    network = asked.network
    what = [
        network.reference, sorted(network.demands.items()), asked.mechanisms, asked.failures, asked.listed(),
        asked.sender, asked.routing, sorted(network.given.items()),
    ]  # fmt: skip
    digest = hashlib.sha256(written(what).encode()).hexdigest()
    return inside(str(RESULTS / f"outage-{Path(network.reference).stem}-{digest[:HASH]}"), "directory")


def _write(root: Path, result: Result) -> dict[str, str]:
    """Write the complete tables; return the files by the name of the table."""
    document = root / "outage.json"
    write_text(document, with_checksum(result.to_json()))
    # A spreadsheet needs files of the system, which the confined process cannot read.
    files = tables.write_csv(root, listings(result))
    return {one.stem: one.relative_to(root).as_posix() for one in (document, *files)}
