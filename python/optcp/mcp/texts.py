"""Passages for ``search_docs``: names, keys and metrics that the package itself knows, and chapters of its pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from optcp import _core
from optcp.mcp.pages import pages
from optcp.scenarios import shipped
from optcp.topology import networks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Passage(NamedTuple):
    """Part of the documentation.

    Attributes
    ----------
    source
        Page, command, or kind of name.
    title
        Heading or name.
    text
        Text, as Markdown.
    """

    source: str
    title: str
    text: str


def passages(commands: Mapping[str, str]) -> list[Passage]:
    """Return all passages.

    Parameters
    ----------
    commands
        Help texts of the commands, by name.
    """
    found = [Passage("command", f"optcp {name}", text) for name, text in commands.items()]
    found += [*_names(), *_metrics(), *_keys(), *_shipped()]
    return found + [Passage(*one) for one in pages()]


def _names() -> Iterator[Passage]:
    for entry in _core.catalogue():
        source = f" [{entry['source']}]" if entry["source"] else ""
        yield Passage(f"name, family {entry['family']}", entry["name"], entry["summary"] + source)
    for name, members in networks().items():
        yield Passage("topologies", name, ", ".join(members[:200]))
    for profile in _core.profiles():
        name = profile["name"]
        yield Passage("TCP profile", name, f"{profile['summary']} [{profile['source']}]")
        for key, value, why in profile["choices"]:
            yield Passage(f"TCP profile {name}", f"{name}: {key}", f"{key} = {value} ({name}): {why}")


def _metrics() -> Iterator[Passage]:
    for one in _core.metrics():
        by = f" by {one['of']}" if one["of"] else ""
        yield Passage(
            "metric", one["name"],
            f"{one['summary']} Unit: {one['unit'] or 'none'}{by}. Absent: {one['absent']}. Unfinished flows: "
            f"{one['unfinished']}.",
        )  # fmt: skip


def _keys() -> Iterator[Passage]:
    schema: dict[str, Any] = json.loads(_core.schema())
    yield from _described("", schema)
    for name, one in schema.get("$defs", {}).items():
        yield from _described(name, one)


def _described(where: str, schema: Mapping[str, Any]) -> Iterator[Passage]:
    options: Sequence[Mapping[str, Any]] = (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ()))
    for option in options:
        for key, value in option.get("properties", {}).items():
            if text := value.get("description", "") if isinstance(value, dict) else "":
                default = f" Default: {value['default']}." if "default" in value else ""
                yield Passage("scenario key", f"{where}.{key}".strip("."), text + default)


def _shipped() -> Iterator[Passage]:
    for name, file in shipped.scenarios().items():
        text = file.read_text(encoding="utf-8")
        comments = [line.strip("# ") for line in text.splitlines() if line.startswith("#") and ":schema" not in line]
        title = next((line for line in text.splitlines() if line.startswith("title")), "")
        yield Passage("shipped scenario", name, "\n".join([title, *comments]))
