"""Pages of reference that are made from the program: commands, names, the schema, and the Python module."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

import optcp
from optcp import _core, catalogue
from optcp.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

CHAPTERS = 0
"""For pages of which every chapter becomes a separate page."""
MODULES = ("optcp.gym", "optcp.widget", "optcp.papers.exhibit", "optcp.papers.judge")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table."""
    clean = ([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows)
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *clean)]


def commands() -> tuple[str, int]:
    """Return the output of ``--help`` of every command."""
    lines = ["# Commands", "", "What `--help` prints. Exit statuses are in [results and files](contract.md).", ""]
    context = click.Context(cli, info_name="optcp", **cli.context_settings)
    known = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    shown = {name: command for name, command in known.items() if command is not None and not command.hidden}
    lines += table(
        ("command", "what it does"),
        ([f"[`{name}`](#{anchor(f'optcp {name}')})", one.get_short_help_str(200)] for name, one in shown.items()),
    )
    for name, command in shown.items():
        inner = click.Context(command, info_name=name, parent=context, **cli.context_settings)
        lines += ["", f"## `optcp {name}`", "", "```text", command.get_help(inner), "```"]
    return "\n".join([*lines, ""]), CHAPTERS


def names() -> tuple[str, int]:
    """Return the output of ``optcp list``, one chapter per family."""
    families = catalogue.families()
    lines = ["# Names", "", "Everything that scenario files and commands can name, as `optcp list` prints it.", ""]
    lines += table(
        ("family", "names"),
        (
            [f"[{name}](#{name})", ", ".join(f"`{one}`" for one, _ in members[:4]) + (", ..." if members[4:] else "")]
            for name, members in families.items()
        ),
    )
    for name, members in families.items():
        lines += ["", f"## {name}", "", f"`optcp list {name}`", ""]
        lines += table(("name", "what it is"), ([f"`{one}`", escaped(text)] for one, text in members))
        if name == "profiles":
            lines += profiles()
    return "\n".join([*lines, ""]), CHAPTERS


def profiles() -> list[str]:
    """The choices of each profile, a part each."""
    lines: list[str] = []
    for line in catalogue.profile_lines():
        if not line.startswith(" "):
            lines += ["```", "", f"### {line.partition(':')[0]}", "", "```text"]
        lines.append(line)
    return [*lines[1:], "```"]


def escaped(text: str) -> str:
    """A plain text as Markdown: brackets of sources are no links, angles are no tags."""
    return text if "`" in text else re.sub(r"([\[<*_])", r"\\\1", text)


def schema() -> tuple[str, int]:
    """The JSON Schema as tables, a chapter a table of scenario files."""
    whole = json.loads(_core.schema())
    known = whole["$defs"]
    named = {}
    for key, one in whole["properties"].items():
        inner = one.get("items", one.get("additionalProperties", one))
        if isinstance(inner, dict) and "$ref" in inner:
            form = "[[{}]]" if "items" in one else "[{}.NAME]" if "additionalProperties" in one else "[{}]"
            named[defined(inner)] = form.format(key)
    lines = [
        "# Schema of scenario files",
        "",
        "The keys and values of every table, from the schema that `optcp schema` prints for editors. What keys mean is",
        "explained in [scenario files](scenarios/index.md). Every value may also be a parameter such as `$name`.",
        "",
        *keys(whole, known, named),
    ]
    for name in (name for name, one in known.items() if "properties" in one):
        title = f"`{named[name]}`" if name in named else name
        lines += ["", f"## {title}", "", known[name].get("description", ""), "", *keys(known[name], known, named)]
    return "\n".join([*lines, ""]), CHAPTERS


def defined(value: dict[str, Any]) -> str:
    """The name of the definition that a value refers to."""
    return str(value["$ref"]).rsplit("/", 1)[1]


def keys(one: dict[str, Any], known: dict[str, Any], named: dict[str, str]) -> list[str]:
    """The keys of one table."""
    required = one.get("required", ())
    return table(
        ("key", "value", "what it is"),
        (
            [
                f"`{key}`" + (" (required)" if key in required else ""),
                kind(value, known, named),
                value.get("description", ""),
            ]
            for key, value in one["properties"].items()
        ),
    )


def kind(value: dict[str, Any], known: dict[str, Any], named: dict[str, str]) -> str:  # noqa: PLR0911 - a form each
    """Describe the possible values of a key in words."""
    if "$ref" in value:
        name = defined(value)
        if "properties" in known[name]:
            title = named.get(name, name)
            return f"[`{title}`](#{anchor(title)})"
        return kind(known[name], known, named)
    for several in ("anyOf", "oneOf"):
        if several in value:
            kinds = [kind(one, known, named) for one in value[several] if one.get("$ref") != "#/$defs/Expression"]
            return ", ".join(dict.fromkeys(kinds))
    if "const" in value:
        return f"`{value['const']}`"
    if "prefixItems" in value:
        return str(value["description"])
    if value.get("type") == "array":
        return f"list of {kind(value.get('items', {}), known, named)}"
    if value.get("type") == "object" and isinstance(value.get("additionalProperties"), dict):
        return kind(value["additionalProperties"], known, named)
    words = {"string": "text", "boolean": "true or false", "integer": "whole number", "object": "table"}
    # Types with examples describe their values; other descriptions are about the key.
    return value["description"] if "examples" in value else words.get(value["type"], value["type"])


def anchor(head: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


def python() -> tuple[str, int]:
    """Every public name, with its docstring."""
    lines = [
        "# The Python module: all names",
        "",
        "From the docstrings. Begin with [the examples](api.md).",
    ]
    for name in sorted(optcp.__all__, key=str.lower):
        directive = "function" if name.islower() else "exception" if name.endswith("Error") else "class"
        members = ["   :members:", "   :inherited-members:"] if directive == "class" else []
        lines += ["", f"## `optcp.{name}`", "", "```{eval-rst}", f".. auto{directive}:: optcp.{name}", *members, "```"]
    for name in MODULES:
        lines += ["", f"## `{name}`", "", "```{eval-rst}", f".. automodule:: {name}", "   :members:", "```"]
    return "\n".join([*lines, ""]), CHAPTERS


PAGES: dict[str, Callable[[], tuple[str, int]]] = {
    "docs/reference/commands.md": commands,
    "docs/reference/names.md": names,
    "docs/reference/schema.md": schema,
    "docs/reference/python.md": python,
}
"""Generators of pages by file name; each returns its text, and the number of words above which it is split."""
