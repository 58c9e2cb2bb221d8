"""`optcp evidence` and random losses with the compiled simulator: stored figures still hold, the page is written."""

import json
from pathlib import Path

import pytest

from conftest import command_in
from optcp import StudyResult

ROOT = Path(__file__).parents[3]
STORED = ROOT / "docs" / "details" / "evidence"


@pytest.mark.parametrize("name", ["loss", "cubic", "buffer", "share", "friendliness"])
def test_stored_combination_is_reproduced(name, command, tmp_path):
    """One combination of each; `make evidence` renews them all after an intended change of the model."""
    provenance = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))["provenance"]
    cell = provenance["cells"][-1]
    settings = [part for setting in cell["set"] for part in ("--set", setting)]
    command("run", provenance["scenario"], *settings, "--seed", cell["seeds"][0], "--out", "out")
    ((_, (run,)),) = StudyResult.open(tmp_path / "out")
    assert run.metrics_sha256 == cell["metrics_sha256"]


def test_an_experiment_prints_its_table_and_writes_the_page(command, tmp_path):
    done = command("evidence", "buffer", "--seeds", 2, "--out", "out", "--write-page", "page.md")
    assert "buffer  One flow and the buffer in front of its bottleneck" in done.stdout
    result = json.loads((tmp_path / "out" / "buffer.json").read_text(encoding="utf-8"))
    assert {row["n"] for row in result["rows"]} == {2}
    assert json.loads((tmp_path / "evidence" / "buffer.json").read_text(encoding="utf-8")) == result
    page = (tmp_path / "page-details.md").read_text(encoding="utf-8")
    assert "## One flow and the buffer in front of its bottleneck" in page
    assert "none yet" in page


def test_recorded_cases_are_found_in_a_checkout_only(command):
    done = command("evidence", "conformance", status=2)
    assert "there are no recorded cases here" in done.stderr
    done = command("evidence", "packetdrill", status=2)
    assert "there are no scripts here" in done.stderr


def test_stored_script_count_matches_run(tmp_path):
    command_in(ROOT, "evidence", "packetdrill", "--out", tmp_path)
    stored, found = (
        json.loads((place / "packetdrill.json").read_text(encoding="utf-8")) for place in (STORED, tmp_path)
    )
    assert found["rows"] == stored["rows"]
    for name in ("cases_sha256", "failed"):
        assert found["provenance"][name] == stored["provenance"][name]


def test_random_losses_do_not_depend_on_jobs_or_forking(command, tmp_path):
    (tmp_path / "lossy.toml").write_text(
        """
stop = "6 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "100 Mbps", delay = "5 ms", queue = "unlimited" }]
flows = [{ group = "g", path = ["A", "B"], per_source = 3 }]
losses = [
    { link = ["A", "B"], kind = "independent", probability = 0.01 },
    { link = ["B", "A"], kind = "periodic", period = 50, packets = "acks" },
]
failures = [{ link = ["A", "B"], at = "2 s", repair = "2.1 s" }]
[sweep]
"failures.0.repair" = ["2.1 s", "3.5 s"]
""",
        encoding="utf-8",
    )
    found = []
    for name, options in (("a", ["--jobs", 1]), ("b", ["--jobs", 2]), ("c", ["--jobs", 2, "--no-fork"])):
        command("run", "lossy.toml", "--runs", 2, "--digest", "--out", name, *options)
        runs = [run for _, runs in StudyResult.open(tmp_path / name) for run in runs]
        found.append([run.records_sha256 for run in runs])
        assert all({"random-loss", "periodic-loss"} <= set(run.drops) for run in runs)
    assert found[0] == found[1] == found[2]
    assert len(set(found[0])) == 4
