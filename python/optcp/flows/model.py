"""Flows of a file, and formats of such files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO


class Flow(NamedTuple):
    """Data from one node to another.

    Attributes
    ----------
    start_ps
        Start in picoseconds.
    source, destination
        Names of the nodes, or addresses.
    size_bytes
        Amount of data.
    protocol
        "tcp" or "udp".
    """

    start_ps: int
    source: str
    destination: str
    size_bytes: int
    protocol: str = "tcp"


@dataclass(frozen=True)
class FlowFile:
    """Flows of a file.

    Attributes
    ----------
    flows
        Flows by start.
    notes
        Sentences about parts of the file that are left out.
    first_ps
        Time of the first packet of a capture.
    """

    flows: list[Flow]
    notes: tuple[str, ...] = ()
    first_ps: int = 0


@dataclass(frozen=True)
class FlowFormat:
    """Format of files with flows.

    Attributes
    ----------
    name, title
        Short name, and name in messages.
    fits
        Returns whether the first bytes of a file have the format.
    read
        Reads an open file. Raises ``ValueError`` for an invalid file, with the place in the message.
    """

    name: str
    title: str
    fits: Callable[[bytes], bool]
    read: Callable[[BinaryIO], FlowFile]
