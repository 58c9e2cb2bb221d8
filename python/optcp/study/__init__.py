"""Studies: one scenario, some branches of it, many seeds; run in parallel, stored, and continued where they stopped."""

from optcp.study.runner import Done, Task, execute
from optcp.study.spec import Branch, Study
from optcp.study.store import RunData, Store

__all__ = ["Branch", "Done", "RunData", "Store", "Study", "Task", "execute"]
