"""Process of one tool call: limits and confinement, then the call. Started as ``python -m optcp.mcp.worker``."""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from optcp import congestion
from optcp.common.installed import folders
from optcp.mcp import fence
from optcp.mcp.limits import Limits
from optcp.mcp.problems import of_error
from optcp.mcp.report import Report

PYTHON = "a scenario of a client may not run code"


def main() -> None:
    """Read one job from standard input, execute it, and write messages to standard output."""
    # Standard output belongs to the messages: anything that libraries print goes to standard error.
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    report = Report(stream)
    job: dict[str, Any] = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_server, daemon=True).start()
    Limits(**job["limits"]).apply()
    sys.path[:] = [str(Path(place).resolve()) for place in sys.path]
    papers = tuple(folders().values())
    os.chdir(job["directory"])
    congestion.refuse(PYTHON)
    fence.close(papers)
    try:
        tool = importlib.import_module(f"optcp.mcp.calls.{job['tool']}")
        report.send("result", tool.call(report, **job["arguments"]))
    except Exception as error:
        found = of_error(error)
        if found is None:
            raise
        report.send("problem", found)


def _end_with_server() -> None:
    """End this process when the server ends, however it ends: then its end of the pipe is closed."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
