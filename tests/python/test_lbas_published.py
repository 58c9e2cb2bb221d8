"""Published files of the LBAS long runs match the runs; `make tables` rewrites them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import command_in
from optcp_papers.lbas.published import METRICS, PAGE, RESULTS, TRENDS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results_folder(tmp_path_factory):
    """Return a directory with the results and the page."""
    place = tmp_path_factory.mktemp("tables")
    command_in(place, "reproduce", *METRICS, "--out", "out")
    # Rows of stored runs are complete in quick runs, too.
    command_in(place, "reproduce", TRENDS, "--quick", "--out", "out")
    (place / PAGE.parent).mkdir(parents=True)
    shutil.copy(ROOT / PAGE, place / PAGE)
    return place


def publish(place):
    arguments = [sys.executable, "-m", "optcp_papers.lbas.published", "out"]
    return subprocess.run(arguments, cwd=place, capture_output=True, text=True, check=False)


def test_files_and_page_match_the_runs(results_folder):
    assert publish(results_folder).returncode == 0
    texts, kept = (
        {file.relative_to(root): file.read_text(encoding="utf-8") for file in (root / RESULTS).glob("*/*.json")}
        for root in (results_folder, ROOT)
    )
    assert len(texts) == 9
    assert texts == kept
    assert (results_folder / PAGE).read_text(encoding="utf-8") == (ROOT / PAGE).read_text(encoding="utf-8")


def test_outdated_table_is_rewritten(results_folder):
    page = results_folder / PAGE
    right = page.read_text(encoding="utf-8")
    row = next(line for line in right.splitlines() if line.startswith("| rfc | 2 | 100 |"))
    page.write_text(right.replace(row, "| rfc | 2 | 100 | of before |"), encoding="utf-8")
    assert publish(results_folder).returncode == 0
    assert page.read_text(encoding="utf-8") == right
