"""What the exhibits of section 5 have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp.papers.base import Exhibit
from optcp.papers.gmpls import claims5, section5
from optcp.papers.gmpls.paper import PAPER, PAPER_RUNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.gmpls.section5 import Measured
    from optcp.study import Done, Grid

READINGS_NOTE = (
    "The paper states 100 flows a class (100+100); the spread of its Table 3 points to about 10 (10+10). "
    "Both interpretations are shown."
)


class Section5(Exhibit):
    """An exhibit of the shared study: subclasses say what they make of it."""

    paper = PAPER
    paper_runs = PAPER_RUNS
    assumed = section5.ASSUMED

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """See :func:`section5.studies`."""
        return section5.studies(chosen, options)

    def seeds(self, study: str, size: Size) -> int:
        """See :func:`section5.seeds`."""
        return section5.seeds(study, size)

    @staticmethod
    def measured(done: Mapping[str, Done]) -> dict[str, Measured]:
        """The reduced study under each interpretation of the flow count."""
        return {reading: study.once(section5.measure) for reading, study in done.items()}

    @staticmethod
    def contexts(chosen: Mapping[str, Value], measured: Mapping[str, Measured]) -> dict[str, claims5.Context]:
        """What the judgements need, by interpretation."""
        return {
            reading: claims5.Context(study, float(chosen["backbone_bps"]), float(chosen["access_share"]))
            for reading, study in measured.items()
        }
