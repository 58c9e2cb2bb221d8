"""Names of nodes, links and ports in the topology file, as tables and pages show them.

A link without a name is called after its ends, as in scenarios: ``A Coruña-Madrid`` for the link ``A-Coruña-Madrid``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.scenarios.topologies import own_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class OwnNames:
    """Names in the topology file by names in the scenario.

    Attributes
    ----------
    nodes
        Names of nodes, where they differ.
    """

    nodes: Mapping[str, str]

    @classmethod
    def of(cls, settings: Mapping[str, str], scenario: str) -> OwnNames:
        """Read the names of a topology; parameters as in :func:`optcp.scenarios.topologies.places`."""
        return cls(own_names(settings, scenario))

    def node(self, name: str) -> str:
        """Return the name of a node."""
        return self.nodes.get(name, name)

    def link(self, name: str, a: str, b: str) -> str:
        """Return the name of a link between two nodes, in either order."""
        for one, two in ((a, b), (b, a)):
            if name.startswith(plain := f"{one}-{two}"):
                return f"{self.node(one)}-{self.node(two)}{name.removeprefix(plain)}"
        return name

    def port(self, name: str) -> str:
        """Return the name of a port, such as ``A->B`` or ``A-B-2:A->B``."""
        link, colon, hop = name.rpartition(":")
        a, arrow, b = hop.partition("->")
        return f"{self.link(link, a, b)}{colon}{self.node(a)}{arrow}{self.node(b)}"

    def path(self, nodes: Iterable[str]) -> str:
        """Return the nodes of a path, separated by spaces, or by `` - `` if names may have spaces."""
        return (" - " if self.nodes else " ").join(map(self.node, nodes))
