"""Study directory: content, identity, reused runs, and damaged files."""

import json
import queue
import subprocess
import sys

import numpy as np
import pytest

from conftest import WORLD
from optcp.data.table import Table
from optcp.errors import InputError, Interrupted
from optcp.study import Store, StudyResult, single
from optcp.study.runner import run_missing

SWEEP = '[sweep]\n"parameters.delay" = ["5 ms", "20 ms"]\n'


@pytest.fixture
def study(tmp_path):
    def make(text=WORLD, overrides=(), seed=1, runs=1, digest=False, fork=True):
        path = tmp_path / "world.toml"
        path.write_text(text)
        return single.study(path, list(overrides), seed, runs, digest=digest, fork=fork)

    return make


@pytest.fixture
def make_runs(study, tmp_path, silent):
    """Make the missing runs in the directory `out`."""

    def make(text=WORLD, *, force=False, jobs=1, **options):
        asked = study(text, **options)
        store = Store(tmp_path / "out")
        store.open(asked.grid, force=force)
        run_missing([(asked, store)], jobs, silent)
        return StudyResult(asked.grid, asked.seeds, store)

    return make


def test_study_directory_has_one_folder_per_table_and_identity(make_runs, tmp_path):
    done = make_runs(WORLD + SWEEP, overrides=[("parameters.backbone", "2 Mbps")], seed=3, runs=2, digest=True)
    out = tmp_path / "out"
    names = ["cells", "drops", "goodput", "load", "parts", "runs", "scalars", "study.json"]
    assert sorted(entry.name for entry in out.iterdir()) == names
    about = json.loads((out / "study.json").read_text())
    assert (about["title"], about["axes"], about["digest"]) == ("a scenario", ["delay_s"], True)
    assert about["settings"]["parameters.backbone"] == "2 Mbps"
    assert sorted(path.stem for path in (out / "cells").iterdir()) == sorted(about["cells"])
    table = done.table("goodput")
    assert list(table.columns) == ["delay_s", "cell", "seed", "time_ps", "group", "bytes"]
    assert set(table["delay_s"]) == {0.005, 0.02}
    assert set(table["seed"]) == {3, 4}
    assert all(len(run.records_sha256) == 64 for _, runs in done for run in runs)


def test_metrics_are_those_of_the_observations(make_runs):
    done = make_runs(runs=3)
    bits = 8 * done["goodput"].cells().total("group", "time").values
    assert done.metrics["goodput_bps"].values[:, 0] == pytest.approx(bits)
    assert (done.metrics["drops"].total("reason").values == done["drops"].count().values).all()
    assert (
        StudyResult.open(done.store.root).metrics["goodput_bps"].values.tolist()
        == done.metrics["goodput_bps"].values.tolist()
    )


@pytest.mark.parametrize("runs", [1, 40, 200])
def test_the_estimate_of_a_dry_run_is_of_what_is_written(study, make_runs, tmp_path, runs):
    asked = study(WORLD + SWEEP, runs=runs)
    estimate = single.probe(asked, Store(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    make_runs(WORLD + SWEEP, runs=runs)
    written = sum(file.stat().st_size for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert estimate.bytes == pytest.approx(written, rel=0.2)


def test_fixed_axis_is_removed(study):
    assert len(study(WORLD + SWEEP, [("parameters.delay", "7 ms")]).grid.branches) == 1


def test_stored_runs_are_used_again(make_runs, calls):
    def count(*text, **options):
        calls.clear()
        make_runs(*text, **options)
        return sorted(calls)

    assert count(runs=2) == [(1, 1), (2, 1)]
    assert count(runs=2) == []
    assert count(seed=2, runs=2) == [(3, 1)]
    assert count(fork=False) == [], "results do not depend on it"
    assert count(WORLD.replace("a scenario", "another title")) == [], "a title makes no other world"


def test_a_new_title_is_kept(make_runs, tmp_path):
    make_runs()
    make_runs(WORLD.replace("a scenario", "another title"))
    assert Store(tmp_path / "out").read_identity()["title"] == "another title"


def test_values_in_the_middle_of_an_axis_add_cells_only(make_runs, calls, tmp_path):
    before = make_runs(WORLD + SWEEP, runs=2).metrics["goodput_bps"]
    kept = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.parquet")}
    calls.clear()
    more = make_runs(WORLD + SWEEP.replace('"20 ms"', '"10 ms", "20 ms"'), runs=2).metrics["goodput_bps"]
    assert sorted(calls) == [(1, 1), (2, 1)]
    assert more.axes[0].values == ("5 ms", "10 ms", "20 ms")
    for delay in ("5 ms", "20 ms"):
        assert more.at(delay=delay).values.tolist() == before.at(delay=delay).values.tolist()
    assert all(path.read_bytes() == content for path, content in kept.items())


@pytest.mark.parametrize(
    ("text", "options", "what"),
    [
        (WORLD.replace('"1 s"', '"2 s"'), {}, "stop is 1 s there and 2 s here"),
        (WORLD, {"overrides": [("parameters.delay", "1 ms")]}, "parameters.delay is 5 ms there and 1 ms here"),
        (WORLD, {"digest": True}, "it was made without the digest of all records"),
        (WORLD + SWEEP, {}, "its axes are none, these are delay_s"),
    ],
    ids=["edited", "set", "digest", "axes"],
)
def test_another_study_is_refused_with_what_differs_unless_forced(make_runs, tmp_path, text, options, what):
    make_runs()
    (tmp_path / "out" / "thesis.tex").touch()
    with pytest.raises(InputError, match=f"out: the directory holds another study: .*{what}.*--force"):
        make_runs(text, **options)
    assert len(make_runs().store.parts) == 1
    done = make_runs(text, force=True, **options)
    assert len(done.store.parts) == 1
    assert (tmp_path / "out" / "thesis.tex").exists()


def test_another_build_is_another_study(make_runs, monkeypatch):
    make_runs()
    monkeypatch.setattr("optcp.study.form.extension_sha256", lambda: "another build")
    with pytest.raises(InputError, match="the directory holds another study: it was made by another build of optcp"):
        make_runs()


def test_all_runs_of_a_study_with_a_digest_have_one(make_runs):
    make_runs(digest=True)
    done = make_runs(runs=2)
    assert all(run.records_sha256 for _, runs in done for run in runs)


@pytest.mark.parametrize("old", ["meta.json", "seed-1/meta.json", "cell-2-seed-7/meta.json"])
def test_runs_of_the_version_before_are_named(make_runs, tmp_path, old):
    place = tmp_path / "out" / old
    place.parent.mkdir(parents=True)
    place.touch()
    with pytest.raises(InputError, match=f"out: {old} comes from an earlier version of optcp"):
        make_runs()


def test_folder_without_study_is_left_unchanged(make_runs, tmp_path):
    (tmp_path / "out" / "runs").mkdir(parents=True)
    (tmp_path / "out" / "runs" / "thesis.tex").touch()
    with pytest.raises(InputError, match="the folder runs does not belong to a study"):
        make_runs()


def of_table(out, table):
    (path,) = (out / table).glob("seeds-*")
    return path


def edited(out):
    path = of_table(out, "scalars")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return path


def half_a_file(out):
    path = of_table(out, "scalars")
    path.write_bytes(path.read_bytes()[:50])
    return path


def swapped(out):
    path = of_table(out, "scalars")
    path.write_bytes(of_table(out, "goodput").read_bytes())
    return path


def no_file(out):
    path = of_table(out, "scalars")
    path.unlink()
    return path


def edited_manifest(out):
    path = of_table(out, "parts")
    path.write_text(path.read_text().replace('"format": 2', '"format": 3'))
    return path


def edited_identity(out):
    path = out / "study.json"
    path.write_text(path.read_text().replace("10 Mbps", "20 Mbps"))
    return path


@pytest.mark.parametrize("change", [edited, half_a_file, swapped, no_file, edited_manifest, edited_identity])
def test_modified_file_is_named(optcp, tmp_path, change):
    (tmp_path / "world.toml").write_text(WORLD)
    words = ("run", "world.toml", "--runs", "1", "--out", "out")
    assert optcp(*words)[0] == 0
    file = change(tmp_path / "out").relative_to(tmp_path)
    status, _, err = optcp(*words)
    assert status == 1
    assert f"Error: {file}: " in err


def test_results_do_not_depend_on_jobs_or_forking(make_runs, tmp_path):
    found = []
    for jobs, fork in ((1, True), (4, True), (2, False)):
        done = make_runs(WORLD + SWEEP, runs=3, digest=True, jobs=jobs, fork=fork, force=True)
        found.append([run.records_sha256 for _, runs in done for run in runs])
        done.store.root.rename(tmp_path / f"done-{len(found)}")
    assert found[0] == found[1] == found[2]


def test_two_processes_share_a_directory(make_runs, tmp_path):
    (tmp_path / "world.toml").write_text(WORLD)
    words = [sys.executable, "-m", "optcp", "run", "world.toml", "--runs", "60", "--jobs", "1", "--out", "out"]
    both = [subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [item.communicate(timeout=60)[0] for item in both]
    assert [item.returncode for item in both] == [0, 0]
    assert printed[0] == printed[1]
    runs = [tuple(run) for part in StudyResult.open(tmp_path / "out").store.parts for run in part.manifest["runs"]]
    assert len(runs) == len(set(runs)) == 60


def test_an_interrupt_keeps_whole_runs(make_runs, monkeypatch):
    make_runs(runs=2)

    class CtrlC(queue.SimpleQueue):
        def get(self, **options):
            raise KeyboardInterrupt

    monkeypatch.setattr("optcp.study.pool.queue.SimpleQueue", CtrlC)
    with pytest.raises(Interrupted, match=r"\d of 200 runs"):
        make_runs(runs=200)
    monkeypatch.undo()
    assert len(make_runs(runs=3).seeds) == 3


def test_a_run_whose_packets_are_recorded_has_their_digest(study):
    packets = WORLD.replace('name = "drops", kind = "drops"', 'name = "all", kind = "packets"')
    assert [study(text).grid.digest for text in (WORLD, packets)] == [False, True]


def test_tables_choose_rows_by_text():
    table = Table({"time_ps": np.array([5, 6, 7], dtype="u8"), "port": (np.array([1, 0, 1]), ["a", "b"])})
    assert len(table) == 3
    assert table.distinct("port") == ["b", "a"]
    assert list(table.where(port="b").numbers("time_ps")) == [5, 7]
    assert len(table.where(port="c")) == 0
    assert table.seconds[0] == 5e-12
    with pytest.raises(InputError, match="holds texts, not numbers"):
        table.numbers("port")
    with pytest.raises(InputError, match="holds numbers, not texts"):
        table.texts("time_ps")
