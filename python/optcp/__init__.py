"""OpTCP: a packet-level, deterministic simulator of TCP over failing optical networks.

The simulator itself is the compiled module ``optcp._core``. This package is its front end: scenarios and runs,
statistics,
published experiments, figures and reports. Submodules are imported on first use, so that the command starts fast.

Examples
--------
>>> import optcp
>>> world = optcp.load("single-failure").set("parameters.switch_delay", "20 ms")
>>> run = world.run(seed=1)
>>> run["goodput"].where(group="protected").interval_s
0.1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optcp._core import ScenarioError
    from optcp.congestion import CongestionControl
    from optcp.data.cells import Cells
    from optcp.data.estimates import Estimates
    from optcp.data.samples import Samples
    from optcp.data.table import Table
    from optcp.errors import InputError
    from optcp.scenarios.live import LiveRun
    from optcp.scenarios.run import Run
    from optcp.scenarios.scenario import Scenario, load
    from optcp.study.done import Done as Done
    from optcp.study.done import StudyResult
    from optcp.study.observed import Observed
    from optcp.study.study import Study

    __version__: str

__all__ = [
    "Cells",
    "CongestionControl",
    "Estimates",
    "InputError",
    "LiveRun",
    "Observed",
    "Run",
    "Samples",
    "Scenario",
    "ScenarioError",
    "Study",
    "StudyResult",
    "Table",
    "load",
]

_MODULES = {
    "Cells": "data.cells",
    "CongestionControl": "congestion",
    "Done": "study.done",
    "Estimates": "data.estimates",
    "InputError": "errors",
    "LiveRun": "scenarios.live",
    "Observed": "study.observed",
    "Run": "scenarios.run",
    "Samples": "data.samples",
    "Scenario": "scenarios.scenario",
    "ScenarioError": "_core",
    "Study": "study.study",
    "StudyResult": "study.done",
    "Table": "data.table",
    "load": "scenarios.scenario",
}
"""Module of each public name. ``Done`` is the former name of ``StudyResult`` and remains available."""


def __getattr__(name: str) -> object:
    import importlib

    if name == "__version__":
        return importlib.import_module("optcp._core").version()
    if name not in _MODULES:
        raise AttributeError(f"module 'optcp' has no attribute {name!r}")
    return getattr(importlib.import_module(f"optcp.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
