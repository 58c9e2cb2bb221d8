"""Tool ``show``: the text of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp.errors import InputError
from optcp.mcp.parts import part
from optcp.mcp.scenarios import SUFFIX, find

if TYPE_CHECKING:
    from optcp.mcp.report import Report

MOST_BYTES = 200_000
LONGEST = 12_000
"""Length of a text without `most`, in bytes: a scenario should be complete, because clients copy it."""


def call(
    report: Report,  # noqa: ARG001 - all tools have one
    *,
    scenario: str,
    skip: int,
    most: int | None,
) -> dict[str, Any]:
    """Return the text of a scenario file, or some of its lines."""
    path = find(scenario)
    if path.suffix != SUFFIX:
        raise InputError(f"scenario {scenario!r}: expected a file that ends with {SUFFIX}")
    content = path.read_bytes()
    if len(content) > MOST_BYTES:
        raise InputError(f"scenario {scenario!r}: {len(content)} bytes; expected at most {MOST_BYTES}")
    lines, left = part(content.decode(errors="replace").splitlines(keepends=True), skip, most, LONGEST)
    return {"scenario": scenario, "text": "".join(lines), "left_out": left}
