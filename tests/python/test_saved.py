"""Directories of runs: what is in them, when a run is made again, and that none is ever half there."""

import json

import numpy as np
import pytest

from optcp import stored
from optcp.errors import InputError, Interrupted, RunFailed
from optcp.study import saved, single
from optcp.table import Table

WORLD = """
title = "a world"
[parameters]
backbone = "10 Mbps"
switch_delay = "50 ms"
"""
SWEEP = 'sweep = {"parameters.switch_delay" = ["0 ms", "50 ms"]}\n'


@pytest.fixture
def planned(tmp_path):
    def plan(extra="", overrides=(), seed=1, runs=1, digest=False, fork=True):
        path = tmp_path / "world.toml"
        path.write_text(extra + WORLD)
        return single.plan(path, list(overrides), seed, runs, tmp_path / "out", digest=digest, fork=fork)

    return plan


def test_run_writes_what_the_contract_says(planned, tmp_path, silent):
    plan = planned(SWEEP, [("parameters.backbone", "2 Mbps")], seed=3, runs=2, digest=True)
    assert plan.runs == 4
    summary = single.simulate(plan, 2, silent)
    out = tmp_path / "out"
    names = ["cell-1-seed-3", "cell-1-seed-4", "cell-2-seed-3", "cell-2-seed-4"]
    assert sorted(entry.name for entry in out.iterdir()) == names
    files = ["drops.parquet", "goodput.parquet", "load.parquet", "meta.json", "scalars.parquet"]
    assert sorted(entry.name for entry in (out / "cell-2-seed-4").iterdir()) == files
    meta = json.loads((out / "cell-2-seed-4" / "meta.json").read_text())
    assert meta["seed"] == 4
    assert meta["cell"] == {"parameters.switch_delay": "50 ms"}
    assert meta["set"] == ["parameters.backbone=2 Mbps"]
    assert meta["scenario"]["parameters"]["backbone"] == "2 Mbps"
    assert meta["drops"] == {"link-down": 2, "queue-full": 4}
    assert meta["packet_hops"] == meta["counts"]["packet_hops"] == 700
    assert meta["kernel"] == "fast"
    assert len(meta["records_sha256"]) == len(meta["metrics_sha256"]) == 64
    assert meta["cpu_shared_by"] == 2
    assert [(one.group, one.bps.n) for one in summary.goodput] == [("fixed", 2), ("switched", 2)] * 2
    assert summary.drops[1] == ({"parameters.switch_delay": "50 ms"}, {"link-down": 2.0, "queue-full": 4.0})


def test_goodput_is_that_of_the_observation_and_a_scalar(planned, silent):
    plan = planned()
    single.simulate(plan, 1, silent)
    run = saved.one(plan.out)
    rows = run.table("goodput").where(group="fixed")
    assert run.meta["goodput_bps"]["fixed"] == pytest.approx(rows.numbers("bytes").sum() * 8 / 10.0)
    scalars = run.table("scalars")
    assert scalars.where(scalar="goodput", of="fixed").numbers("value") == [run.meta["goodput_bps"]["fixed"]]
    assert scalars.where(scalar="drops").texts("of") == ["queue-full", "link-down"]
    assert scalars.distinct("unit") == ["packets", "hops", "events", "bit/s"]


def test_the_estimate_of_a_dry_run_is_of_all_files(planned, silent):
    plan = planned()
    estimate = single.probe(plan)
    single.simulate(plan, 1, silent)
    written = sum(file.stat().st_size for file in (plan.out / "seed-1").iterdir())
    # What is not known before: two lines on the time that the run takes.
    assert 0 < written - estimate.bytes < 80


def test_a_set_axis_is_no_axis_any_more(planned):
    plan = planned(SWEEP, [("parameters.switch_delay", "7 ms")])
    assert len(plan.grid.branches) == 1
    assert plan.directory(0, 1).name == "seed-1"


def test_a_run_is_kept_only_while_everything_matches(planned, silent, calls, monkeypatch):
    def made(**options):
        calls.clear()
        single.simulate(planned(**options), 1, silent)
        return len(calls)

    assert made() == 1
    assert made() == 0
    assert made(fork=False) == 0, "results do not depend on it"
    assert made(digest=True) == 1
    assert made() == 0, "a digest more does no harm"
    assert made(overrides=[("parameters.backbone", "3 Mbps")]) == 1
    monkeypatch.setattr(single, "extension_sha256", lambda: "another build")
    assert made(overrides=[("parameters.backbone", "3 Mbps")]) == 1
    (planned().out / "seed-1" / "load.parquet").unlink()
    assert made(overrides=[("parameters.backbone", "3 Mbps")]) == 1
    (planned().out / "seed-1" / "meta.json").write_text("{")
    assert made(overrides=[("parameters.backbone", "3 Mbps")]) == 1


def test_missing_cells_of_a_seed_run_together_and_all_threads_have_work(planned, silent, calls):
    delays = ", ".join(f'"{delay} ms"' for delay in range(20))
    plan = planned(f'sweep = {{"parameters.switch_delay" = [{delays}]}}\n')
    single.simulate(plan, 1, silent)
    assert sorted(calls) == [(1, 4), (1, 8), (1, 8)]
    for cell in (2, 3, 9):
        (plan.directory(cell, 1) / "meta.json").unlink()
        (plan.directory(cell, 1) / "drops.parquet").unlink()
    for path in (plan.directory(cell, 1) for cell in (2, 3, 9)):
        for file in path.iterdir():
            file.unlink()
    calls.clear()
    single.simulate(plan, 2, silent)
    assert sorted(calls) == [(1, 1), (1, 2)]


def test_results_do_not_depend_on_jobs_or_forking(planned, silent, tmp_path):
    found = []
    for jobs, fork in ((1, True), (4, True), (2, False)):
        plan = planned(SWEEP, runs=3, digest=True, fork=fork)
        single.simulate(plan, jobs, silent)
        found.append([run.meta["records_sha256"] for run in saved.find(plan.out)])
        plan.out.rename(tmp_path / f"done-{len(found)}")
    assert found[0] == found[1] == found[2]


def test_an_interrupt_keeps_whole_runs(planned, silent, monkeypatch):
    plan = planned(runs=2)
    single.simulate(plan, 1, silent)

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("optcp.study.pool.wait", interrupt)
    slow = planned("test_sleep_s = 30\n", seed=2, runs=2)
    with pytest.raises(Interrupted, match="0 of 2 runs"):
        single.simulate(slow, 1, silent)
    assert sorted(path.name for path in plan.out.iterdir()) == ["seed-1", "seed-2"]


def test_a_run_whose_packets_are_recorded_has_their_digest(planned, silent):
    for extra, there in (("", False), ('observe = [{name = "all", kind = "packets"}]\n', True)):
        assert planned(extra).study.digest == there


def test_what_is_no_run_is_not_overwritten(planned, tmp_path):
    (tmp_path / "out" / "seed-1").mkdir(parents=True)
    planned()
    (tmp_path / "out" / "seed-1" / "thesis.tex").touch()
    with pytest.raises(InputError, match="this is there and is no run"):
        planned()


def changed_digit(run):
    """A goodput that nobody measured."""
    text = (run / "meta.json").read_text()
    assert '"link-down": 2' in text
    (run / "meta.json").write_text(text.replace('"link-down": 2', '"link-down": 3'))
    return "meta.json"


def half_a_file(run):
    (run / "load.parquet").write_bytes((run / "load.parquet").read_bytes()[:50])
    return "load.parquet"


def another_observation(run):
    (run / "load.parquet").write_bytes((run / "drops.parquet").read_bytes())
    return "load.parquet"


def of_another_run(run):
    (run / "drops.parquet").write_bytes((run.parent / "seed-2" / "goodput.parquet").read_bytes())
    return "drops.parquet"


def no_file(run):
    (run / "scalars.parquet").unlink()
    return "scalars.parquet"


@pytest.mark.parametrize("change", [changed_digit, half_a_file, another_observation, of_another_run, no_file])
def test_a_file_that_is_not_as_the_run_wrote_it_is_named_and_the_run_made_again(optcp, tmp_path, calls, change):
    (tmp_path / "world.toml").write_text(WORLD)
    words = ("run", "world.toml", "--runs", "2", "--out", "out")
    before = optcp(*words)[1]
    file = change(tmp_path / "out" / "seed-1")
    what = "cannot be read (No such file or directory)" if change is no_file else stored.CHANGED
    named = f"out/seed-1/{file}: {what}"
    message = f"Error: {named}; delete its directory and run again\n"
    for form in ("csv", "parquet"):
        assert optcp("export", "out", "--format", form)[::2] == (1, message)
    calls.clear()
    status, out, err = optcp(*words)
    assert (status, out, calls) == (0, before, [(1, 1)])
    assert err.splitlines()[0] == f"out: made again: seed-1: {named}"
    assert optcp("export", "out", "--format", "csv")[0] == 0


def test_directories_that_changed_places_are_made_again(optcp, tmp_path, calls):
    (tmp_path / "world.toml").write_text(WORLD)
    words = ("run", "world.toml", "--runs", "2", "--out", "out")
    optcp(*words)
    for source, target in (("seed-1", "x"), ("seed-2", "seed-1"), ("x", "seed-2")):
        (tmp_path / "out" / source).rename(tmp_path / "out" / target)
    calls.clear()
    err = optcp(*words)[2]
    assert err.splitlines()[0] == "out: made again: seed-1, seed-2: of another scenario or seed"
    assert sorted(calls) == [(1, 1), (2, 1)]


def test_runs_of_two_scenarios_in_one_directory_are_told(optcp, tmp_path):
    (tmp_path / "world.toml").write_text(WORLD)
    words = ("run", "world.toml", "--out", "out")
    assert optcp(*words, "--runs", "5")[2].splitlines()[0] == "5 runs"
    assert optcp(*words, "--runs", "2")[2].splitlines()[0] == "2 runs, 2 finished before and reused"
    for more in (["--dry-run"], []):
        err = optcp(*words, "--set", "parameters.backbone=5 Mbps", *more)[2]
        assert err.splitlines()[:2] == [
            "out: made again: seed-1: of another scenario or seed",
            "out: there are also runs of other scenarios: seed-2, seed-3, seed-4, ... (4 runs)",
        ]


META = (
    b'{"format": 4, "files": {}, "scenario_sha256": "", "extension_sha256": "", "records_sha256": null, "cell": {},'
    b' "drops": {}, "goodput_bps": {}, "scenario": %s}'
)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"{", r"not JSON \(line 1, column 2\)"),
        (b"\xff", r"not JSON \(byte 1\)"),
        (b"[]", "a JSON object with keys is expected"),
        (b"{}", "the key `format` is missing"),
        (b'{"format": 2}', r"written by another version of optcp \(format 2; this one reads 4\)"),
        (b'{"format": 4}', "the key `scenario` is missing"),
        (META % b'3, "seed": 1', "`scenario` is no object"),
        (META % b'{"observe": {}}, "seed": 1', r"`scenario\.observe` is no list"),
        (META % b'{"observe": [3]}, "seed": 1', r"`scenario\.observe\[0\]` is no object"),
        (META % b'{"observe": [{"name": "a"}]}, "seed": 1', r"the key `scenario\.observe\[0\]\.kind` is missing"),
        (META % b'{"observe": []}, "seed": "1"', "`seed` is no whole number"),
        (META % b'{"observe": []}, "seed": 1', "without a checksum, so not written by this version of optcp"),
        (META % b'{"observe": [], "stop_ps": null}, "seed": 1', r"`scenario\.stop_ps` is no whole number"),
    ],
)
def test_a_run_that_cannot_be_read_is_not_a_missing_one(planned, silent, content, what):
    plan = planned(runs=2)
    single.simulate(plan, 1, silent)
    (plan.out / "seed-2" / "meta.json").write_bytes(content)
    for place in (plan.out, plan.out / "seed-2"):
        with pytest.raises(RunFailed, match=rf"seed-2/meta\.json: {what}; delete its directory and run again"):
            saved.find(place)
    assert plan.missing() == {1: [], 2: [0]}


def test_tables_choose_rows_by_text():
    table = Table({"time_ps": np.array([5, 6, 7], dtype="u8"), "port": (np.array([1, 0, 1]), ["a", "b"])})
    assert len(table) == 3
    assert table.distinct("port") == ["b", "a"]
    assert list(table.where(port="b").numbers("time_ps")) == [5, 7]
    assert len(table.where(port="c")) == 0
    assert table.seconds[0] == 5e-12
    with pytest.raises(TypeError, match="holds texts"):
        table.numbers("port")
    with pytest.raises(TypeError, match="holds no texts"):
        table.texts("time_ps")
