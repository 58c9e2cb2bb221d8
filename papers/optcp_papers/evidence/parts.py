"""Parts of the five papers: place, experiments and evidence of each mechanism and experiment."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "data" / "paper_parts.toml"
CLAIMS = "claims"
"""Evidence of this name stands for the judged statements of the experiments."""
PAPERS = ("gmpls", "slides", "lbas", "obs", "das")
HEAD = """# The parts of the five papers

<!-- Generated: python -m optcp_papers.evidence.parts docs/details/paper-parts.md -->

Every mechanism and experiment that the five papers name or presuppose, and additions of OpTCP (`beyond`). Each row
has its file, an experiment or a page with an example, and the evidence. Evidence is a test with values from outside, a
cross-check, or the judged claims of the experiment.
"""


@dataclass(frozen=True)
class Part:
    """One mechanism or experiment of a paper.

    Attributes
    ----------
    paper, where
        Paper and place in it.
    part
        Name of the mechanism or experiment.
    file
        File that contains it, from the root of the repository.
    experiments
        Experiments that use it, or places of pages with an example.
    evidence
        Tests as ``file::name``, places of pages, or ``claims``.
    """

    paper: str
    where: str
    part: str
    file: str
    experiments: tuple[str, ...]
    evidence: tuple[str, ...]


def parts() -> list[Part]:
    """Return all parts in the order of the file."""
    entries = tomllib.loads(DATA.read_text(encoding="utf-8"))["parts"]
    several = ("experiments", "evidence")
    return [Part(**{**entry, **{key: tuple(entry[key]) for key in several}}) for entry in entries]


def page() -> str:
    """Return the page: a table per paper."""
    blocks = [HEAD]
    for paper in PAPERS:
        rows = [
            f"| {one.where} | {one.part} | `{one.file}` | {', '.join(map(_named, one.experiments))} "
            f"| {', '.join(map(_shown, one.evidence))} |"
            for one in parts()
            if one.paper == paper
        ]
        head = "| section | part | file | experiment or example | evidence |\n|---|---|---|---|---|"
        blocks.append("\n".join([f"## {paper}\n", head, *rows]) + "\n")
    return "\n".join(blocks)


def _named(place: str) -> str:
    return _link(place) if place.startswith("docs/") else f"`{place}`"


def _shown(evidence: str) -> str:
    if evidence == CLAIMS:
        return "claims of the experiment"
    if "::" in evidence:
        return f"`{evidence.rpartition('::')[2]}`"
    return _link(evidence)


def _link(place: str) -> str:
    beside = "docs/details/"
    relative = place.removeprefix(beside) if place.startswith(beside) else place.replace("docs/", "../", 1)
    file, _, anchor = relative.partition("#")
    return f"[{anchor.replace('-', ' ') or file}]({file}{'#' + anchor if anchor else ''})"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
