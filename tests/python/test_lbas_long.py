"""Outcomes of long runs: made once, stored, read, and used by experiments."""

import json
import subprocess
import sys

import numpy as np
import pytest

from conftest import WORLD
from optcp import _core
from optcp.errors import Interrupted, RunFailed
from optcp.papers import assume, kept
from optcp.papers.options import Size
from optcp.papers.registry import select
from optcp.papers.reproduce import Request, make_long_runs, reproduce
from optcp.papers.show import show_result
from optcp.plots import figures
from optcp_papers.lbas import long_runs, paper
from optcp_papers.lbas.paper import CELLS, FEWER
from test_lbas import as_printed


@pytest.fixture
def simulated_seeds(monkeypatch):
    """Return the seeds of the long runs that this test makes."""
    seeds, run = [], _core.run_branches

    def counted(scenarios, seed, **options):
        seeds.append(seed)
        return run(scenarios, seed, **options)

    monkeypatch.setattr(_core, "run_branches", counted)
    return seeds


def long_run(directory, seed, *overrides):
    world = directory / "world.toml"
    if directory.is_dir():
        world.write_text(WORLD)
    return kept.LongRun(directory / f"one-seed-{seed}.json", world, overrides, seed, lambda item: {"seed": item.seed})


def test_a_long_run_is_made_once_for_its_settings(tmp_path, silent, simulated_seeds):
    runs = [long_run(tmp_path, seed) for seed in (1, 2)]
    assert runs[0].read() is None
    kept.make_missing([*runs, runs[0]], 1, silent)
    assert simulated_seeds == [1, 2]
    assert silent.started == [(2, 0)]
    content = runs[1].read()
    assert content["outcome"] == {"seed": 2}
    version, _, git = _core.version().partition("+")
    assert (content["set"], content["version"], content["git"]) == ([], version, git or "unknown")
    kept.make_missing(runs, 1, silent)
    assert silent.started[1:] == [(2, 2)]
    assert simulated_seeds == [1, 2]
    changed = long_run(tmp_path, 1, ("parameters.backbone", "20 Mbps"))
    assert changed.read() is None
    # A run of a changed scenario is repeated, and meanwhile still read.
    stale = {**content, "scenario_sha256": "of before"}
    runs[1].file.write_text(json.dumps(stale))
    assert runs[1].read() == stale
    assert not runs[1].is_current()


def test_finished_runs_are_kept_when_the_others_fail(tmp_path, silent, monkeypatch):
    make = kept.LongRun.make

    def interrupted(self, cancel):
        if self.seed == 2:
            raise RuntimeError("the world came apart")
        return make(self, cancel)

    monkeypatch.setattr(kept.LongRun, "make", interrupted)
    with pytest.raises(RunFailed, match="one-seed-2: the world came apart"):
        kept.make_missing([long_run(tmp_path, seed) for seed in (1, 2)], 1, silent)
    assert long_run(tmp_path, 1).is_current()
    assert long_run(tmp_path, 2).read() is None


def whole(**changes):
    """Return the content of a file of a long run as text."""
    texts = dict.fromkeys(("version", "git", "scenario_sha256", "metrics_sha256"), "")
    content = texts | {"set": [], "seed": 1, "cpu_seconds": 7.0, "outcome": {"seed": 1}}
    return json.dumps({name: value for name, value in (content | changes).items() if value is not None})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"not JSON \(line 1, column 2\)"),
        ("[1]", "a JSON object with keys is expected"),
        (whole(outcome=None), "the key `outcome` is missing"),
        (whole(outcome={"a": [1.0]}), "b of `outcome` missing or no list of numbers"),
        (whole(outcome={"a": [1.0], "b": ["x"]}), "b of `outcome` missing or no list of numbers"),
        (whole(outcome={"a": [1.0], "b": [float("nan")]}), r"`outcome\.b\[0\]` is no number"),
        (whole(outcome={"a": [1.0], "b": [1.0, 2.0]}), "lists of `outcome` that are not equally long"),
        (whole(outcome=[1.0]), "`outcome` is no object"),
        (whole(seed="1"), "`seed` is no whole number"),
    ],
)
def test_a_broken_file_is_named(tmp_path, text, message):
    run = kept.LongRun(tmp_path / "one-seed-1.json", tmp_path / "world.toml", (), 1, dict, ("a", "b"))
    run.file.write_text(text)
    with pytest.raises(RunFailed, match=message) as error:
        run.read()
    assert str(error.value).startswith(f"{run.file}: ")
    assert str(error.value).endswith("; delete it and run again")


def test_a_file_whose_name_has_no_seed_is_named(optcp, tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    keep(as_printed(without=CELLS[1:]), {})
    found = next(tmp_path.rglob("2-100-anycast-seed-1.json"))
    found.with_name("2-100-anycast-seed-1 (copy).json").write_bytes(found.read_bytes())
    status, _, messages = optcp("reproduce", "lbas/table3")
    assert status == 1
    assert "2-100-anycast-seed-1 (copy).json: its name does not end with a seed" in " ".join(messages.split())


def test_a_broken_file_ends_the_command_with_a_message(optcp, tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    keep(as_printed(without=CELLS[1:]), {})
    next(tmp_path.rglob("2-100-anycast-seed-1.json")).write_text("{")
    status, _, messages = optcp("reproduce", "lbas/table3")
    assert status == 1
    assert "2-100-anycast-seed-1.json" in messages.replace("\n", "")


def test_run_in_progress_is_left_to_its_process(tmp_path, silent, simulated_seeds):
    """One of two runs is locked by a live process; the lock of the other belongs to a process that has ended."""
    theirs, ended = (long_run(tmp_path, seed) for seed in (1, 2))
    hold = "import sys, filelock\nwith filelock.FileLock(sys.argv[1]):\n print(flush=True)\n sys.stdin.read()"
    ended.lock.touch()
    with subprocess.Popen(
        [sys.executable, "-c", hold, theirs.lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        assert kept.make_missing([theirs, ended], 1, silent) == [theirs]
        process.stdin.close()
    assert simulated_seeds == [2]
    assert theirs.read() is None
    assert ended.is_current()
    assert kept.make_missing([theirs, ended], 1, silent) == []
    assert theirs.is_current()


def test_the_command_says_which_runs_it_left(optcp, tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    monkeypatch.setattr("optcp.papers.reproduce.make_missing", lambda runs, jobs, progress: runs[:1])
    _, _, messages = optcp("reproduce", "lbas/table3", "--paper-scale")
    lock = tmp_path / "inet-2011" / ".2-100-anycast-seed-1.json.lock"
    assert f"2-100-anycast-seed-1: skipped; another process holds {lock}" in messages


def test_run_finished_by_other_process_is_not_repeated(tmp_path, silent, simulated_seeds, monkeypatch):
    """While this process makes the first of two runs, another process makes the second."""
    runs = [long_run(tmp_path, seed) for seed in (1, 2)]
    make = kept.LongRun._make

    def beside(self, cancel):
        make(self, cancel)
        make(runs[1], cancel)

    monkeypatch.setattr(kept.LongRun, "_make", beside)
    assert kept.make_missing(runs, 1, silent) == []
    assert simulated_seeds == [1, 2]
    assert all(run.is_current() for run in runs)


def test_unwritable_directory_is_detected_before_first_run(tmp_path, silent, simulated_seeds):
    (tmp_path / "here").write_text("a file, no directory")
    with pytest.raises(RunFailed, match="here: outcomes of long runs cannot be stored there"):
        kept.make_missing([long_run(tmp_path, 1), long_run(tmp_path / "here", 2)], 1, silent)
    assert simulated_seeds == []


def test_an_interrupted_command_counts_current_runs_only(tmp_path, monkeypatch):
    """Ctrl-C during the first of two runs: a file of an outdated scenario exists and does not count."""
    runs = [long_run(tmp_path, seed) for seed in (1, 2)]
    runs[1].file.write_text(whole(seed=2, scenario_sha256="of before"))

    class Stopped:
        def start(self, total, kept):
            pass

        def advance(self, runs):
            raise KeyboardInterrupt

        def simulated(self, share):
            pass

        def stop(self):
            pass

    monkeypatch.setattr(kept.LongRun, "make", lambda self, cancel: True)
    with pytest.raises(Interrupted) as stopped:
        kept.make_missing(runs, 1, Stopped())
    assert (stopped.value.kept, stopped.value.total) == (0, 2)


def keep(measured, settings):
    """Write outcomes as files of long runs."""
    chosen = assume.values(paper.ASSUMED, settings)
    for cell, seeds in measured.cells.items():
        one = long_runs.long_run(cell, chosen, 1)
        content = {
            "set": one._settings(),
            "seed": 1,
            "version": "1",
            "git": "abc",
            "scenario_sha256": "00" * 32,
            "metrics_sha256": "11" * 32,
            "cpu_seconds": 7.0,
            "outcome": {metric: list(values) for metric, values in seeds[1].items()},
        }
        one.file.parent.mkdir(exist_ok=True)
        one.file.write_text(json.dumps(content))


def test_default_size_reads_stored_runs(tmp_path, silent, monkeypatch):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    keep(as_printed(without=CELLS[2:]), {})
    result = reproduce(Request(select(["lbas/table3"]), Size("default")), tmp_path / "out", 1, silent)[0]
    assert silent.started == [(0, 0)]
    queues = [row for row in result.rows if row.metric == "queue_mb"]
    assert [(row.key["anycast"], row.paper, row.verdict, row.n) for row in queues] == [
        ("yes", 5.76, "match", 1),
        ("no", 5.97, "match", 1),
    ]
    delay = next(row for row in result.rows if row.metric == "delay_ms")
    assert delay.measured == pytest.approx(3.0)
    assert "2 of 30 cells. Missing: 2-250-anycast" in result.notes[0]
    assert [item["cell"] for item in result.provenance["kept"]][:2] == ["2-100-anycast", "2-100-destination"]
    assert result.provenance["seeds"] == [1, 1]
    assert [claim.holds for claim in result.claims] == ["undecided", "undecided"]
    assert [(curve.key["anycast"], curve.x) for curve in result.series] == [("yes", [2.0]), ("no", [2.0])]


def test_claims_are_judged_under_each_stored_interpretation(tmp_path, silent, monkeypatch):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    keep(as_printed(), {})
    keep(as_printed(lambda cell: {"queue_mb": 0.1 * cell.bundling_degree}), {"profile": "rfc"})
    request = Request(select(["lbas/table3"]), Size("default"))
    result = reproduce(request, tmp_path / "out", 1, silent)[0]
    assert result.claims[1].readings == {"inet-2011": True, "rfc": False}
    assert result.claims[1].holds == "undecided"
    assert len(result.rows) == 2 * 30 * 8
    assert [item["reading"] for item in result.provenance["kept"]] == ["inet-2011"] * 32 + ["rfc"] * 32
    assert len(result.series) == 2 * 6
    # An interpretation with own settings is judged alone.
    alone = Request(request.exhibits, request.size, settings={"profile": "rfc"})
    assert reproduce(alone, tmp_path / "out", 1, silent)[0].claims[1].readings == {"rfc": False}


def test_interpretation_with_few_runs_does_not_block_others(tmp_path, silent, monkeypatch):
    """12 of 30 combinations, all as published: the second claim of Table 3 holds for the published values."""
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    few = [cell for cell in CELLS if cell.bundling_degree > 3]
    keep(as_printed(), {})
    keep(as_printed(without=few), {"profile": "rfc"})
    result = reproduce(Request(select(["lbas/table3"]), Size("default")), tmp_path / "out", 1, silent)[0]
    assert result.claims[1].readings == {"inet-2011": True, "rfc": "undecided"}
    assert result.claims[1].holds is True
    assert "[rfc: undecided, for want of runs: does not count] 9 of 15 cells" in result.claims[1].evidence


def notes_of(tmp_path, silent, settings=None):
    request = Request(select(["lbas/table3"]), Size("default"), settings=settings or {})
    return reproduce(request, tmp_path / "out", 1, silent)[0].notes


def test_notes_name_command_for_missing_combinations(tmp_path, silent, monkeypatch):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    literal = {"profile": "rfc", "timeout_basis": "flight-size"}
    keep(as_printed(), {})
    keep(as_printed(without=FEWER[:1]), {"profile": "rfc"})
    keep(as_printed(without=CELLS[1:2]), literal)
    default, rfc, flight_size = notes_of(tmp_path, silent)[:3]
    assert "30 of 30 cells. Seeds" in default
    command = "`optcp reproduce lbas --set profile=rfc --paper-scale`"
    assert f"30 of 30 cells. Missing: 2-100-anycast-K2; {command} makes them" in rfc
    command = "`optcp reproduce lbas --set profile=rfc --set timeout_basis=flight-size --paper-scale`"
    assert f"29 of 30 cells. Missing: 2-100-destination; {command} makes them" in flight_size
    # Arguments that a shell would split are quoted; own interpretations have the length of the paper's runs.
    (own, *_) = notes_of(tmp_path, silent, {"buffer": "8333 packets"})
    assert "(600 s, the first 60 s left out" in own
    assert "Missing: all; `optcp reproduce lbas --set 'buffer=8333 packets' --paper-scale`" in own


def test_notes_state_correlation_of_batches(tmp_path, silent, monkeypatch):
    """Noise of 1, -2, 0.5, 0.5 five times: (5 (-2 - 1 + 0.25) + 4 * 0.5) / 27.5 = -0.43.

    A combination that rises by one 19 times: the squares are 665 in total, and (665 - 9.5^2 - 9.5) / 665 = 0.85.
    """
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    measured = as_printed()
    measured.cells[CELLS[3]][1]["throughput_gbps"] = 7 + 0.1 * np.arange(20)
    keep(measured, {})
    note = notes_of(tmp_path, silent)[0]
    assert "Seeds of a cell: 1. Where there are fewer than 6, intervals and tests are over batches of single" in note
    assert "from -0.43 (10-100-anycast, seed 1) to +0.85 (2-250-destination, seed 1)." in note


def test_notes_name_runs_of_uncommitted_programs(tmp_path, silent, monkeypatch):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    keep(as_printed(), {})
    assert not any("not committed" in note for note in notes_of(tmp_path, silent))
    file = tmp_path / "inet-2011" / "3-250-anycast-seed-1.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "git": "abc.dirty"}))
    name = "inet-2011: 3-250-anycast (seed 1)"
    note = f"1 of 32 stored runs made from a tree with changes that were not committed: {name}."
    assert note in notes_of(tmp_path, silent)


def test_without_stored_runs_all_combinations_are_missing(tmp_path, silent, monkeypatch, text_console):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    result = reproduce(Request(select(["lbas/table3"]), Size("default")), tmp_path / "out", 1, silent)[0]
    assert (result.rows, result.provenance["seeds"]) == ([], None)
    assert "0 of 30 cells. Missing: all" in result.notes[0]
    show_result(text_console, result)
    assert "no runs" in text_console.file.getvalue()


def test_paper_scale_makes_requested_long_runs(tmp_path, silent, monkeypatch):
    missing_runs = []
    monkeypatch.setattr(
        "optcp.papers.reproduce.make_missing", lambda runs, jobs, progress: missing_runs.extend(runs) or []
    )
    make_long_runs(Request(select(["gmpls/fig8"]), Size("default")), 1, 1, silent)
    assert missing_runs == []
    make_long_runs(Request(select(["lbas"]), Size("default"), first_seed=4), 2, 1, silent)
    assert len({item.file for item in missing_runs}) == 2 * 32
    assert {item.seed for item in missing_runs} == {4, 5}


def test_one_figure_per_interpretation(tmp_path, silent, monkeypatch):
    monkeypatch.setattr(paper, "KEPT", tmp_path)
    result = reproduce(Request(select(["lbas/table2"]), Size("default")), tmp_path / "out", 1, silent)[0]
    assert figures(result) == []
    keep(as_printed(without=CELLS[3:]), {})
    keep(as_printed(), {"profile": "rfc"})
    result = reproduce(Request(select(["lbas/table3"]), Size("default")), tmp_path / "out", 1, silent)[0]
    drawn = figures(result)
    assert [item.caption.split(":")[0] for item in drawn] == ["inet-2011", "rfc"]
    assert [item.svg.count("flows") >= panels for item, panels in zip(drawn, (2, 3), strict=True)] == [True, True]
