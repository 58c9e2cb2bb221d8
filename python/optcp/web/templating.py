"""The templates of all pages."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from optcp.web.packed import packed


def templates() -> Environment:
    """Make an environment in which what is undefined is an error, and texts are escaped."""
    environment = Environment(
        loader=PackageLoader("optcp.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["packed"] = packed
    return environment
