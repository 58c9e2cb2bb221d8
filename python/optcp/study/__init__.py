"""Studies: one scenario, some branches of it, many seeds; run in parallel, stored, and continued where they stopped."""

from optcp.study.done import Done
from optcp.study.grid import Branch, Grid
from optcp.study.runner import execute
from optcp.study.store import Store
from optcp.study.stored_run import RunData
from optcp.study.study import Study

__all__ = ["Branch", "Done", "Grid", "RunData", "Store", "Study", "execute"]
