"""Network as files describe it: nodes, links and demands, with units, and a report on the reading.

# Model

Every link value exists per direction: from the first end to the second, and back. Values without a unit in the file
stay in the attributes. Scenarios and commands can name such an attribute together with a unit.

# Limitations

- Times are in whole picoseconds, lengths in whole millimetres and rates in whole bit/s.
- A node has one place and a link one length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TypeVar

from optcp.errors import InputError

T = TypeVar("T")

Both = tuple[T | None, T | None]
"""Values from the first end to the second, and back."""

Position = tuple[float, float]
"""Longitude and latitude in degrees."""

Attributes = Mapping[str, object]
"""Attributes by the name in the file."""

NEITHER: Both[int] = (None, None)
NO_DECIMALS: Both[Decimal] = (None, None)


@dataclass(frozen=True)
class Node:
    """Node of a network.

    Attributes
    ----------
    id
        Identifier in the file.
    label
        Name in the file, empty without one.
    place
        Longitude and latitude in degrees.
    aliases
        Other names that the file has for the node.
    attributes
        Attributes without a meaning for OpTCP.
    """

    id: str
    label: str = ""
    place: Position | None = None
    aliases: tuple[str, ...] = ()
    attributes: Attributes = field(default_factory=dict, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Name in the file, or else the identifier."""
        return self.label or self.id


@dataclass(frozen=True)
class Module:
    """Capacity that can be installed on a link, and its cost.

    Attributes
    ----------
    capacity
        Capacity in the unit of the file, or in bit/s if the format states a unit.
    cost
        Cost of one module.
    """

    capacity: Decimal
    cost: Decimal


@dataclass(frozen=True)
class Fibre:
    """Fibre between two optical nodes.

    Attributes
    ----------
    ends
        Names of the optical nodes; nodes of the network have the same name.
    name
        Name in the file, empty without one.
    length_mm
        Length in mm.
    delay_ps
        Propagation delay in ps, None if it follows from the length.
    duct
        Name of the duct, empty without one.
    wavelengths
        Maximum number of lightpaths, None without a limit.
    """

    ends: tuple[str, str]
    name: str = ""
    length_mm: int | None = None
    delay_ps: int | None = None
    duct: str = ""
    wavelengths: int | None = None


@dataclass(frozen=True)
class Link:
    """Link between two nodes.

    Attributes
    ----------
    ends
        Indices of the nodes.
    name
        Name in the file, empty without one.
    rates
        Rates in bit/s.
    length_mm
        Length in mm.
    delays
        Propagation delays in ps.
    costs
        Routing costs.
    losses
        Loss ratios, from 0 to 1.
    risks
        Names of shared risks.
    over
        Path over fibres, as names of optical nodes and fibres; empty for the shortest path, None without fibres.
    directed
        Whether the link leads from the first end to the second only.
    modules
        Capacities that can be installed.
    attributes
        All attributes of the link in the file.
    """

    ends: tuple[int, int]
    name: str = ""
    rates: Both[int] = NEITHER
    length_mm: int | None = None
    delays: Both[int] = NEITHER
    costs: Both[Decimal] = NO_DECIMALS
    losses: Both[Decimal] = NO_DECIMALS
    risks: tuple[str, ...] = ()
    over: tuple[str, ...] | None = None
    directed: bool = False
    modules: tuple[Module, ...] = ()
    attributes: Attributes = field(default_factory=dict, compare=False, repr=False)
    back: Attributes | None = field(default=None, compare=False, repr=False)
    """Attributes of the opposite arc, if the file has one."""


@dataclass(frozen=True)
class Demand:
    """Demand from one node to another.

    Attributes
    ----------
    ends
        Indices of the nodes.
    volume_bps
        Volume in bit/s, None if the file states no unit.
    weight
        Value in the unit of the file, None if the file states a unit.
    """

    ends: tuple[int, int]
    volume_bps: int | None = None
    weight: Decimal | None = None

    @property
    def amount(self) -> Decimal:
        """Volume in bit/s, or the weight."""
        return Decimal(self.volume_bps) if self.volume_bps is not None else self.weight or Decimal(0)


@dataclass(frozen=True)
class Reading:
    """Report on how a file was read.

    Attributes
    ----------
    format
        Name of the format.
    ignored
        Names of attributes that were not used, each with its element, such as "link: `width`".
    assumed
        Sentences on assumptions.
    notes
        Sentences on differences between the file and the network.
    rates
        Link attributes that look like rates.
    """

    format: str = ""
    ignored: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Network:
    """Nodes, links, demands and fibres of a file.

    Attributes
    ----------
    name
        Name of the network in the file, empty without one.
    reading
        How the file was read.
    fibres
        Fibres under the links.
    """

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    demands: tuple[Demand, ...] = ()
    name: str = field(default="", compare=False)
    reading: Reading = field(default_factory=Reading, compare=False)
    fibres: tuple[Fibre, ...] = ()

    def noted(
        self, *, ignored: tuple[str, ...] = (), assumed: tuple[str, ...] = (), notes: tuple[str, ...] = ()
    ) -> Network:
        """Return the network with additions to its report."""
        old = self.reading
        reading = replace(
            old,
            ignored=tuple(dict.fromkeys((*old.ignored, *ignored))),
            assumed=(*old.assumed, *assumed),
            notes=(*old.notes, *notes),
        )
        return replace(self, reading=reading)

    def total_km(self) -> float | None:
        """Return the total length of all links in km, or None if a length is unknown."""
        lengths = [link.length_mm for link in self.links]
        return None if None in lengths else sum(length or 0 for length in lengths) / 1e6


LARGEST = 64 * 2**20
"""Maximum size of a topology file, in bytes."""


def check_size(file: str, size: int) -> None:
    """Check that a file is not too large; the size is in bytes.

    Raises
    ------
    InputError
        If it is larger than :data:`LARGEST`.
    """
    if size > LARGEST:
        raise InputError(
            f"`{file}`: the file has {size / 2**20:.0f} MiB; topology files have at most {LARGEST >> 20} MiB"
        )
