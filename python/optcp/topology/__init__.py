"""Networks from files of other tools: formats, readers, writers and their common form."""

from optcp.topology.base import FIELDS, Format, Source
from optcp.topology.model import Demand, Fibre, Link, Module, Network, Node, Reading
from optcp.topology.registry import FORMATS, find, is_file, read, read_path, read_with, writer
from optcp.topology.topohub import named, networks

__all__ = [
    "FIELDS",
    "FORMATS",
    "Demand",
    "Fibre",
    "Format",
    "Link",
    "Module",
    "Network",
    "Node",
    "Reading",
    "Source",
    "find",
    "is_file",
    "named",
    "networks",
    "read",
    "read_path",
    "read_with",
    "writer",
]
