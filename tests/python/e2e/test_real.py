"""The command with the compiled simulator, as a user runs it: in a process of its own."""

import json
from pathlib import Path

import optcp

SCENARIO = Path(optcp.__file__).parent / "scenarios" / "gmpls-section5.toml"


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
