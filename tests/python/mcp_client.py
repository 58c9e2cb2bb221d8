"""Client of `optcp mcp` over real pipes, by the client library of the SDK, and scenarios for its tests."""

import os
import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

import optcp

LINK = """title = "One link"
stop = "1 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "12 Mbps", delay = "10 ms", queue = "100 packets" }]
flows = [{ group = "file", path = ["A", "B"], tcp = "linux-6", size = "$size" }]
parameters = { size = "1 segments" }
sweep = { parameters.size = ["1 segments", "10 segments"] }
"""
"""1460 B of data and 40 B of headers take 1 ms at 12 Mb/s; the initial window of Linux has ten segments."""
TRIANGLE = """graph [
  node [ id 0 label "A" lon 0.0 lat 50.0 ]
  node [ id 1 label "B" lon 4.0 lat 50.0 ]
  node [ id 2 label "C" lon 2.0 lat 52.0 ]
  edge [ source 0 target 1 ]
  edge [ source 1 target 2 ]
  edge [ source 0 target 2 ]
]
"""


def served(folder, work, *options, mode="auto"):
    """Return the result of ``work(client)`` with a server over pipes."""
    places = [str(Path(optcp.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "optcp", "mcp", "--directory", str(folder), *options],
        env={"PYTHONPATH": os.pathsep.join(places)},
    )

    async def main():
        with anyio.fail_after(300):
            async with Client(server, mode=mode) as client:
                return await work(client)

    return anyio.run(main)


def calls(folder, *wanted, options=(), mode="auto"):
    """Return the results of tool calls, given as (tool, arguments)."""

    async def work(client):
        return [await client.call_tool(tool, arguments) for tool, arguments in wanted]

    return served(folder, work, *options, mode=mode)


def value(result):
    assert not result.is_error, result.content[0].text
    return result.structured_content


def problem(result, kind):
    assert result.is_error
    assert result.structured_content["kind"] == kind, result.structured_content
    return result.structured_content


def written(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
