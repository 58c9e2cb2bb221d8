"""The command with the compiled simulator, as a user runs it: in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import optcp

REFERENCE = Path(__file__).parents[2] / "reference" / "tcp"
SCENARIO = Path(optcp.__file__).parent / "scenarios" / "gmpls-section5.toml"


@pytest.fixture
def command(tmp_path):
    def call(*arguments, status=0):
        done = subprocess.run(
            [sys.executable, "-m", "optcp", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return call


def test_the_scenario_that_comes_with_it_is_valid(command):
    assert "groups: switched, fixed" in command("validate", SCENARIO).stdout


def test_digests_do_not_depend_on_jobs_or_forking(command, tmp_path):
    found = []
    for name, options in (("a", ["--jobs", 1]), ("b", ["--jobs", 2]), ("c", ["--jobs", 2, "--no-fork"])):
        command("reproduce", "gmpls/table3", "--seeds", 2, "--digest", "--set", "flows=10+10", "--out", name, *options)
        found.append(json.loads((tmp_path / name / "gmpls" / "table3.json").read_text()))
    assert found[0]["provenance"]["records_sha256"]
    assert found[0] == found[1] == found[2]


def test_all_exhibits_and_the_report(command, tmp_path):
    done = command("reproduce", "--seeds", 2, "--set", "flows=10+10", "--out", "out")
    assert "gmpls/table3  Comparison of protection switch delays" in done.stdout
    page = (tmp_path / "out" / "report" / "index.html").read_text()
    assert all(f'id="gmpls-{name}"' in page for name in ("fig7", "fig8", "table3"))


def test_packets_are_conserved_in_what_run_writes(command, tmp_path):
    command("run", SCENARIO, "--set", "parameters.flows_per_source=1", "--runs", 2, "--out", "out")
    for seed in (1, 2):
        counts = json.loads((tmp_path / "out" / f"seed-{seed}" / "meta.json").read_text())["counts"]
        assert counts["sent"] == counts["delivered"] + counts["dropped"] + counts["in_flight"]
        assert counts["delivered"] > 0


def test_a_wrong_key_names_the_nearest(command):
    done = command("validate", SCENARIO, "--set", "parameters.backbon=20 Mbps", status=2)
    assert "backbone" in done.stderr
    assert done.stdout == ""


def test_an_impossible_setting_stops_before_anything_is_written(command, tmp_path):
    command("reproduce", "gmpls/fig8", "--set", "profile=ns3", "--out", "out", status=2)
    assert not (tmp_path / "out").exists()


def test_schema_and_list_answer(command):
    assert json.loads(command("schema").stdout)
    assert "ns2-2001" in command("list").stdout


def test_the_reference_cases_agree(command, tmp_path):
    done = command("conformance", REFERENCE / "scenarios.json", "--out", "results.json", status=1)
    refused = [line.partition(":")[0] for line in done.stderr.splitlines()[1:]]
    assert refused == ["case A1-sack", "case B01-sack", "case E1-sack", "case E2-sack"]
    assert "B10-newreno" in done.stdout
    compared = subprocess.run(
        [sys.executable, REFERENCE / "compare.py", tmp_path / "results.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compared.stdout.splitlines()[-1] == "26 agree, 0 differ, 4 missing"


def test_a_case_that_is_none_is_named_with_its_key(command, tmp_path):
    cases = json.loads((REFERENCE / "scenarios.json").read_text())
    cases["scenarios"][0]["links"][1]["rate_bps"] = 0
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    done = command("conformance", "cases.json", "--out", "results.json", status=2)
    expected = "Error: cases.json: case A1-tahoe: `links[1].rate_bps`: expected a rate of 1 to 1e15 bit/s, found 0\n"
    assert done.stderr == expected
    assert not (tmp_path / "results.json").exists()
