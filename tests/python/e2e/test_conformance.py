"""`optcp conformance` on the reference cases, compared by the reference's own program."""

import json
import subprocess
import sys
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "reference" / "tcp"


def test_the_reference_cases_agree(command, tmp_path):
    done = command("conformance", REFERENCE / "scenarios.json", "--out", "results.json")
    assert "B10-newreno" in done.stdout
    compared = subprocess.run(
        [sys.executable, REFERENCE / "compare.py", tmp_path / "results.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compared.stdout.splitlines()[-1] == "30 agree, 0 differ, 0 missing"


def test_invalid_case_is_named_with_key(command, tmp_path):
    cases = json.loads((REFERENCE / "scenarios.json").read_text())
    cases["scenarios"][0]["links"][1]["rate_bps"] = 0
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    done = command("conformance", "cases.json", "--out", "results.json", status=2)
    expected = "Error: cases.json: case A1-tahoe: `links[1].rate_bps`: expected a rate of 1 to 1e15 bit/s, found 0\n"
    assert done.stderr == expected
    assert not (tmp_path / "results.json").exists()
