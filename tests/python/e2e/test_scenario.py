"""Scenarios of the real simulator, written as files again and overridden."""

from __future__ import annotations

import pytest

from optcp import _core
from optcp.shipped import scenarios


@pytest.mark.parametrize("path", scenarios().values(), ids=scenarios().keys())
def test_a_shipped_scenario_written_as_a_file_is_the_same_world(path):
    world = _core.Scenario.load(str(path))
    again = _core.Scenario.parse(world.to_toml(), str(path))
    assert (again.sha256, again.axes, again.settings()) == (world.sha256, world.axes, world.settings())
    assert world.override(world.settings()).sha256 == world.sha256
