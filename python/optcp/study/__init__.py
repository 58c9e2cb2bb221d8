"""Studies: one scenario, some branches of it, many seeds; run in parallel, stored, and continued where they stopped."""

from optcp.scenarios.branch import Branch
from optcp.scenarios.run import Run
from optcp.study.done import StudyResult
from optcp.study.grid import Grid
from optcp.study.runner import execute
from optcp.study.store import Store
from optcp.study.study import Study

__all__ = ["Branch", "Grid", "Run", "Store", "Study", "StudyResult", "execute"]
