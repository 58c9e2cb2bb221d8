"""Server over standard input and output."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from optcp import _core
from optcp.errors import nearest
from optcp.mcp import texts
from optcp.mcp.jobs import Jobs
from optcp.mcp.problems import INPUT, problem
from optcp.mcp.search import Index
from optcp.mcp.tools import Tools, failed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcp.server.mcpserver import Context
    from mcp_types import CallToolResult, InputRequiredResult, Tool

    from optcp.mcp.limits import Limits

INSTRUCTIONS = """OpTCP simulates TCP over failing optical networks, packet by packet. A scenario (TOML) and a seed
determine the result. Begin with `list` and `show`, write a scenario with `new`, check it with `validate`, estimate it
with `plan` and simulate it with `run` and 10 or more seeds. `outage` answers questions about the failures of a whole
network. Report each number with its unit, n and interval; without an interval say so. Warnings come first: never report
a number that a warning calls a lower bound as a value. Units: rates in bit/s (1 Mbps is 10^6 bit/s), sizes in bytes
(1 MB is 10^6 B)."""
READS = ("show", "validate", "plan", "compare", "trace", "list", "search_docs", "explain_message")
"""Names of tools that write nothing."""
TOOLS = (
    "new", "show", "validate", "plan", "run", "compare", "outage", "trace", "plot", "list", "search_docs",
    "explain_message",
)  # fmt: skip
"""Names of all tools, in the order of a session."""


class Server(MCPServer[Any]):
    """Server with short schemas, which answers wrong arguments with a problem as JSON values, as all errors."""

    async def list_tools(self) -> list[Tool]:
        """Return all tools; their schemas have no titles, which only repeat the names of keys."""
        return [
            tool.model_copy(
                update={
                    "input_schema": without_titles(tool.input_schema),
                    "output_schema": without_titles(tool.output_schema),
                }
            )
            for tool in await super().list_tools()
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; unknown tools and arguments are answered with the nearest name."""
        known = {tool.name: tool.input_schema.get("properties", {}) for tool in await self.list_tools()}
        if name not in known:
            return failed(problem(INPUT, f"unknown tool {name!r}; {nearest(name, known)}"))
        places = [
            _place(one, "no such argument", f"{nearest(one, known[name])}")
            for one in arguments
            if one not in known[name]
        ]
        if places:
            return failed(problem(INPUT, "; ".join(str(one["problem"]) for one in places), places))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error, UnexpectedToolError) or not isinstance(error.__cause__, ValidationError):
                raise
            wrong = [_place(".".join(map(str, one["loc"])), one["msg"], one["msg"]) for one in error.__cause__.errors()]
            return failed(problem(INPUT, "; ".join(str(one["problem"]) for one in wrong), wrong))


def without_titles(schema: Any) -> Any:  # noqa: ANN401 - JSON values
    """Return a JSON Schema without titles; a property that is called ``title`` stays.

    >>> without_titles({"title": "X", "properties": {"title": {"title": "Title", "type": "string"}}})
    {'properties': {'title': {'type': 'string'}}}
    """
    if isinstance(schema, list):
        return [without_titles(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_titles(one) for name, one in schema.items() if name != "title" or not isinstance(one, str)}


def _place(argument: str, wrong: str, expected: str) -> dict[str, Any]:
    near = expected.removeprefix("did you mean '").removesuffix("'?") if expected.startswith("did you") else None
    return {
        "problem": f"{argument}: {wrong}; {expected}" if wrong != expected else f"{argument}: {wrong}",
        "file": None,
        "line": None,
        "column": None,
        "key": argument,
        "expected": None if near else expected,
        "nearest": near,
        "help": None,
    }


def build(directory: Path, limits: Limits, commands: Mapping[str, str]) -> Server:
    """Return the server.

    Parameters
    ----------
    directory
        Directory of all files.
    limits
        Limits of each call.
    commands
        Help texts of the commands, by name, for the search.
    """
    server = Server("optcp", instructions=INSTRUCTIONS, version=_core.version(), log_level="WARNING")
    tools = Tools(Jobs(directory.resolve(), limits), Index(texts.passages(commands)))
    for name in TOOLS:
        hints = ToolAnnotations(read_only_hint=name in READS, destructive_hint=False, open_world_hint=False)
        server.add_tool(getattr(tools, name), name, annotations=hints)
    return server


def serve(directory: Path, limits: Limits, commands: Mapping[str, str]) -> None:
    """Serve one client over standard input and output until it closes them; parameters as of :func:`build`."""
    # Calls that a client cancels are no errors of the server.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    build(directory, limits, commands).run("stdio")
