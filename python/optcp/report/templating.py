"""The templates of all pages."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def templates() -> Environment:
    """Make an environment in which what is undefined is an error, and texts are escaped."""
    return Environment(
        loader=PackageLoader("optcp.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
