"""Training runs of the build's profile: the scenarios of `optcp bench`, of the LBAS paper, and all shipped ones."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from optcp import _core
from optcp.checks.bench_worlds import IN_ONE_RUN, WORLDS
from optcp.scenarios.shipped import find, scenarios
from optcp_papers.lbas.paper import Cell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SHORT_LBAS = {"stop": "3 s", "parameters.warm_up": "1 s", "parameters.batch": "1 s"}


def main() -> None:
    """Run everything once in one thread, because counters of several threads would interfere."""
    for tcp in ("newreno", "sack", "linux-6", "bbr"):
        for flows, seconds in ((10, 20), (100, 5), (1000, 2)):
            _core.Dumbbell(tcp, flows, seconds, "fast").run()
    with tempfile.TemporaryDirectory() as folder:
        worlds: list[tuple[Callable[[], str], Mapping[str, object], str]] = [
            (make, {}, "fast") for make in WORLDS.values()
        ]
        # These runs are long enough to train the windows engine.
        worlds += [(make, settings, "windows") for make, settings in IN_ONE_RUN.values() if make]
        for make, settings, engine in worlds:
            file = Path(folder) / "world.toml"
            file.write_text(make(), encoding="utf-8")
            run(file, settings, engine)
    for anycast in (True, False):
        for profile in ("inet-2011", "rfc"):
            settings = {**Cell(2, 100, anycast).settings, **SHORT_LBAS, "parameters.profile": profile}
            run(find("lbas"), settings)
    for name, scenario in scenarios().items():
        if name != "lbas":
            run(scenario, {})


def run(scenario: Path, settings: Mapping[str, object], engine: str = "fast") -> None:
    """Run one scenario once."""
    overrides = [(key, str(value)) for key, value in settings.items()]
    _core.run_branches([_core.Scenario.load(str(scenario), overrides)], 1, engine=engine)


if __name__ == "__main__":
    main()
