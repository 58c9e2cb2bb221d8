"""Formats of files with flows, recognised by their content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.errors import InputError
from optcp.flows import htsim, ns3, pcap, pcapng
from optcp.flows.model import FlowFile

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    from optcp.flows.model import FlowFormat

FORMATS = (pcap.FORMAT, pcapng.FORMAT, htsim.FORMAT, ns3.FORMAT)

FIRST_BYTES = 4096
"""Number of bytes by which a format is recognised."""


def read(path: Path, *, absolute: bool = False) -> FlowFile:
    """Read the flows of a capture or connection list.

    Parameters
    ----------
    path
        The file. It is read once from beginning to end, and only its flows are kept.
    absolute
        True: times of the file. False: times of captures count from the first packet.

    Raises
    ------
    InputError
        If the file cannot be read or has no known format.
    """
    try:
        with path.open("rb") as stream:
            first = stream.read(FIRST_BYTES)
            form = next((form for form in FORMATS if form.fits(first)), None)
            if form is None:
                titles = ", ".join(form.title for form in FORMATS)
                raise InputError(f"{path}: not a file with flows; expected one of: {titles}")
            stream.seek(0)
            found = _read(form, stream, path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if absolute or form not in (pcap.FORMAT, pcapng.FORMAT) or not found.flows:
        return found
    first_ps = found.first_ps
    return FlowFile([flow._replace(start_ps=flow.start_ps - first_ps) for flow in found.flows], found.notes)


def _read(form: FlowFormat, stream: BinaryIO, path: Path) -> FlowFile:
    try:
        return form.read(stream)
    except ValueError as error:
        raise InputError(f"{path}: not a valid {form.title}: {error}") from None
