"""Scenarios of the compiled simulator, written as files and overridden."""

from __future__ import annotations

import subprocess
import sys

CHECK = """
from optcp import _core
from optcp.scenarios.shipped import scenarios

for name, path in scenarios().items():
    world = _core.Scenario.load(str(path))
    again = _core.Scenario.parse(world.to_toml(), str(path))
    assert (again.sha256, again.axes, again.settings()) == (world.sha256, world.axes, world.settings()), name
    assert world.override(world.settings()).sha256 == world.sha256, name
    print(name)
"""


def test_a_shipped_scenario_written_as_a_file_is_the_same_world():
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "gmpls-section5" in done.stdout.split()
