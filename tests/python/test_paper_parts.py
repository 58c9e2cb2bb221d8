"""The table of the parts of the five papers: each row is complete, and what it names exists."""

import csv
import re
from pathlib import Path

import pytest

from optcp.papers.registry import exhibits, papers
from optcp_papers.evidence.parts import CLAIMS, PAPERS, page, parts

ROOT = Path(__file__).parents[2]
PARTS = parts()


def test_page_is_made_of_the_data():
    written = (ROOT / "docs/details/paper-parts.md").read_text(encoding="utf-8")
    assert written == page(), "python -m optcp_papers.evidence.parts docs/details/paper-parts.md"


@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.paper}: {part.part}")
def test_part_has_file_experiment_and_evidence(part):
    assert (ROOT / part.file).is_file()
    assert part.experiments
    assert part.evidence
    for experiment in part.experiments:
        assert exists(experiment) if experiment.startswith("docs/") else experiment in exhibits()
    for evidence in part.evidence:
        if evidence == CLAIMS:
            assert judged() & set(part.experiments)
        else:
            assert exists(evidence)


def exists(place):
    """Return whether a test (file::name), or an anchor of a page (file#anchor), exists."""
    file, mark, name = place.partition("::") if "::" in place else place.partition("#")
    text = (ROOT / file).read_text(encoding="utf-8")
    if mark == "::":
        return re.search(rf"(fn|def) {name}\(", text) is not None
    heads = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.+)$", text, re.M)]
    return name in heads


def judged():
    """Return the experiments whose claims or published values have verdicts."""
    rows = []
    for paper in PAPERS:
        with (ROOT / "papers/optcp_papers" / paper / "baseline.csv").open(encoding="utf-8") as file:
            rows += list(csv.DictReader(file))
    return {row["exhibit"] for row in rows if row["kind"] != "unpublished"}


def test_every_experiment_of_the_five_papers_has_a_part():
    named = {experiment for part in PARTS for experiment in part.experiments}
    assert set(PAPERS) <= set(papers())
    assert {id_ for id_ in exhibits() if id_.partition("/")[0] in PAPERS} - named == set()
