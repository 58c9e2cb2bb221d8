"""Command with the compiled simulator in a process of its own."""

import json

from optcp import StudyResult
from optcp.papers.registry import select
from optcp.scenarios.shipped import find

SCENARIO = find("gmpls-section5")


def test_shipped_scenario_is_valid(command):
    assert "groups: switched, fixed" in command("validate", SCENARIO).stdout


def test_digests_do_not_depend_on_jobs_or_forking(command, tmp_path):
    found = []
    for name, options in (("a", ["--jobs", 1]), ("b", ["--jobs", 2]), ("c", ["--jobs", 2, "--no-fork"])):
        command("reproduce", "gmpls/table3", "--seeds", 2, "--digest", "--set", "flows=10+10", "--out", name, *options)
        found.append(json.loads((tmp_path / name / "gmpls" / "table3.json").read_text()))
    assert found[0]["provenance"]["records_sha256"]
    assert found[0] == found[1] == found[2]


def test_all_experiments_and_report(command, tmp_path):
    # One seed each: `make reproduce` runs all with the quick size.
    done = command("reproduce", "--quick", "--seeds", 1, "--set", "flows=10+10", "--out", "out")
    assert "\ngmpls/table3 " in done.stdout
    page = (tmp_path / "out" / "report" / "index.html").read_text()
    missing = [item.id for item in select([]) if f'id="{item.id.replace("/", "-")}"' not in page]
    assert missing == []


def test_packets_are_conserved_in_what_run_writes(command, tmp_path):
    command("run", SCENARIO, "--set", "parameters.flows_per_source=1", "--runs", 2, "--out", "out")
    for seed in (1, 2):
        (run,) = StudyResult.open(tmp_path / "out").runs(seed)
        counts = run.counts
        assert counts["sent"] == counts["delivered"] + counts["dropped"] + counts["in_flight"]
        assert counts["delivered"] > 0


def test_a_wrong_key_names_the_nearest(command):
    done = command("validate", SCENARIO, "--set", "parameters.backbon=20 Mbps", status=2)
    assert "backbone" in done.stderr
    assert done.stdout == ""


def test_an_impossible_setting_stops_before_anything_is_written(command, tmp_path):
    done = command("reproduce", "gmpls/fig8", "--set", "profile=ns3", "--out", "out", status=2)
    assert done.stderr.startswith("Error: --set profile=ns3: ")
    assert not (tmp_path / "out").exists()


def test_schema_and_list_print_output(command):
    assert json.loads(command("schema").stdout)
    assert "ns2-2001" in command("list").stdout


def result(directory, exhibit):
    return json.loads((directory / f"{exhibit}.json").read_text())


def test_the_law_of_section_3_holds_for_the_rfcs_newreno(command, tmp_path):
    command("reproduce", "gmpls/fig4", "--quick", "--out", "out")
    found = result(tmp_path / "out", "gmpls/fig4")
    assert found["claims"][0]["readings"]["rfc"] is True
    rows = [row for row in found["rows"] if row["metric"] == "progress_segments" and row["key"]["profile"] == "rfc"]
    assert len(rows) == 10
    assert all(row["measured"] == row["paper"] for row in rows)


def test_best_delay_agrees_with_ns2(command, tmp_path):
    command("reproduce", "slides/best-delay", "--seeds", 40, "--out", "out")
    rows = result(tmp_path / "out", "slides/best-delay")["rows"]
    # Independent ns-2 runs with the slides' own parameters (docs/details/slides.md).
    for row, ns2 in zip(rows, (0.4, -3.0, -9.0, -14.7), strict=True):
        assert abs(row["measured"] - ns2) < 3


def test_the_slides_first_set_up(command, tmp_path):
    command("reproduce", "slides", "--seeds", 2, "--out", "out")
    rows = {
        (row["key"]["port"], row["metric"]): row["measured"]
        for row in result(tmp_path / "out", "slides/queues")["rows"]
        if row["key"]["window"] == "5-10 s"
    }
    # Five windows of 30 are 150 packets: 100 in flight in 100 ms at 8 Mb/s, the others queued except 4 in transmission.
    for port in ("A->L0", "C->L4"):
        assert rows[port, "load_pct"] == 100
        assert 44 < rows[port, "queue_packets"] < 50
    assert rows["L5->L2", "load_pct"] == rows["L1->L2", "load_pct"] == 80
    first = {row["metric"]: row for row in result(tmp_path / "out", "slides/goodput")["rows"][:6]}
    assert first["one_run_gain_pct"]["paper"] == 28.72
    # Before 10 s all is steady: 8 Mb/s of goodput in each class.
    curves = result(tmp_path / "out", "slides/goodput")["series"]
    one = next(curve for curve in curves if curve["key"] == {"delta_ms": 0, "class": "fixed"})
    assert all(abs(y - 8) < 0.2 for x, y in zip(one["x"], one["y"], strict=True) if 6 < x <= 10)
