"""`optcp evidence` with the compiled simulator: stored figures still hold, and the page is written."""

import json
from pathlib import Path

import pytest

STORED = Path(__file__).parents[3] / "docs" / "evidence"


@pytest.mark.parametrize("name", ["loss", "buffer", "share"])
def test_a_stored_cell_comes_out_again(name, command, tmp_path):
    """One cell of each: `make evidence` renews them all when a change of the model is meant."""
    provenance = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))["provenance"]
    cell = provenance["cells"][-1]
    settings = [part for setting in cell["set"] for part in ("--set", setting)]
    command("run", provenance["scenario"], *settings, "--seed", cell["seeds"][0], "--out", "out")
    meta = json.loads((tmp_path / "out" / f"seed-{cell['seeds'][0]}" / "meta.json").read_text(encoding="utf-8"))
    assert meta["metrics_sha256"] == cell["metrics_sha256"]


def test_an_experiment_prints_its_table_and_writes_the_page(command, tmp_path):
    done = command("evidence", "buffer", "--seeds", 2, "--out", "out", "--write-page", "page.md")
    assert "buffer  One flow and the buffer in front of its bottleneck" in done.stdout
    result = json.loads((tmp_path / "out" / "buffer.json").read_text(encoding="utf-8"))
    assert {row["n"] for row in result["rows"]} == {2}
    assert json.loads((tmp_path / "evidence" / "buffer.json").read_text(encoding="utf-8")) == result
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "## One flow and the buffer in front of its bottleneck" in page
    assert "none yet" in page


def test_recorded_cases_are_found_in_a_checkout_only(command):
    done = command("evidence", "conformance", status=2)
    assert "there are no recorded cases here" in done.stderr
