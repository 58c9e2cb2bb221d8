"""Names for the modules of exhibits: ``from optcp.papers.kit import Exhibit, Findings, judge, rows``."""

from optcp.data.axes import Axis
from optcp.data.cells import Cells, stack
from optcp.data.censored import Bounded, Censored
from optcp.data.estimates import Estimates
from optcp.data.samples import Samples
from optcp.errors import RunFailed
from optcp.papers import assume, curve, histogram, judge
from optcp.papers.assume import (
    Assumed,
    Value,
    built_in,
    not_negative,
    ns2_sender,
    ns2_world,
    overrides,
    positive,
    positive_int,
    share,
    start_spread,
)
from optcp.papers.curves import coarser, over_axis, over_time
from optcp.papers.exhibit import (
    Chosen,
    Differences,
    Exhibit,
    Findings,
    Found,
    Parts,
    Setup,
    behind,
    defined,
    key_value,
    once,
    one_grid,
    rows,
    runs_of,
)
from optcp.papers.histogram import distribution
from optcp.papers.judge import Part, Side, difference_part, equivalence_part, exact_part
from optcp.papers.model import Holds, Key, Result, Row, Series, finite
from optcp.papers.options import Options, Size
from optcp.papers.over import curves_over, intervals_of
from optcp.papers.plausible import Choices, Plausible, Span
from optcp.papers.printed import tables
from optcp.papers.verdict import row
from optcp.scenarios.scenario import Settings
from optcp.study import Grid, Run, StudyResult
from optcp.study.grid import Axes

# fmt: off
__all__ = [
    "Assumed", "Axes", "Axis", "Bounded", "Cells", "Censored", "Choices", "Chosen", "Differences", "Estimates",
    "Exhibit", "Findings", "Found", "Grid", "Holds", "Key", "Options", "Part", "Parts", "Plausible", "Result", "Row",
    "Run", "RunFailed", "Samples", "Series", "Settings", "Setup", "Side", "Size", "Span", "StudyResult", "Value",
    "assume", "behind", "built_in", "coarser", "curve", "curves_over", "defined", "difference_part", "distribution",
    "equivalence_part", "exact_part", "finite", "histogram", "intervals_of", "judge", "key_value", "not_negative",
    "ns2_sender", "ns2_world", "once", "one_grid", "over_axis", "over_time", "overrides", "positive", "positive_int",
    "row", "rows", "runs_of", "share", "stack", "start_spread", "tables",
]
# fmt: on
