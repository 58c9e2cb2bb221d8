"""Tool ``validate``: check a scenario and summarise it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.mcp import numbers
from optcp.mcp.parts import part
from optcp.mcp.scenarios import confined, find, pairs
from optcp.scenarios import combinations
from optcp.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.mcp.report import Report


def call(
    report: Report,  # noqa: ARG001 - all tools have one
    *,
    scenario: str,
    settings: Mapping[str, object] | None,
    skip: int = 0,
    most: int | None = None,
) -> dict[str, Any]:
    """Return the summary, the paths of flows and the warnings of a scenario."""
    path = find(scenario)
    with confined(path):
        world = Scenario(_core.Scenario.load(str(path), pairs(settings)))
        combinations.check(world.core)
    summary = world.core.summary()
    flows, left = part([dict(row) for row in world.flows], skip, most)
    return {
        "warnings": numbers.warnings(world.warnings),
        "scenario": scenario,
        "title": world.title,
        "nodes": summary["nodes"],
        "links": summary["links"],
        "flows": summary["flows"],
        "groups": list(summary["groups"]),
        "stop_s": world.stop_s,
        "observe": list(world.observe),
        "parameters": world.parameters,
        "sweep": {name: list(values) for name, values in world.axes.items()},
        "paths": flows,
        "left_out": left,
        "scenario_sha256": world.sha256,
    }
