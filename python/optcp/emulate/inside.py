"""Program that executes one run in a user-mode kernel, for :mod:`optcp.emulate.kernel`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from optcp.emulate.one import Task
from optcp.emulate.study import execute, study
from optcp.errors import InputError, RunFailed
from optcp.study.store import Store


def main() -> None:
    """Execute a run within the kernel."""
    given: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    overrides, seed = [(key, value) for key, value in given["overrides"]], given["seed"]
    result: dict[str, Any] = {"error": None}
    try:
        task = Task(**given["task"])
        chosen = study(Path(given["scenario"]), overrides, range(seed, seed + 1), task, compare=given["compare"])
        execute(chosen.grid, Store(Path(given["out"])), given["cell"], seed, task)
    except (InputError, RunFailed) as error:
        result = {"error": str(error), "input": isinstance(error, InputError)}
    Path(given["result"]).write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
