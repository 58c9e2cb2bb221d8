"""Command line in this process: messages, exit statuses, and written files."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import WORLD
from optcp import ScenarioError, _core, load
from optcp.cli import options
from optcp.errors import InputError
from optcp.papers import baseline
from optcp.scenarios import topologies


@pytest.fixture
def world(tmp_path):
    path = tmp_path / "world.toml"
    path.write_text(WORLD)
    return str(path)


def test_version_and_help(optcp):
    assert optcp("--version") == (0, f"optcp {_core.version()}\n", "")
    status, out, _ = optcp("--help")
    assert status == 0
    for verb in (
        "reproduce",
        "run",
        "trace",
        "export",
        "report",
        "validate",
        "list",
        "schema",
        "conformance",
        "packetdrill",
    ):
        assert f"  {verb} " in out


def test_validate(optcp, world, snapshot):
    status, out, err = optcp("validate", "world.toml")
    assert (status, err) == (0, "")
    assert out == snapshot


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "absent.toml"],
        ["validate", "world.toml", "--set", "parameters.backbon=1 Mbps"],
        ["run", "world.toml", "--set", "backbone"],
        ["run", "world.toml", "--runs", "0"],
        ["run"],
        ["run", "single-failur"],
        ["run", "."],
        ["run", "world.toml", "--seed", "18446744073709551616"],
        ["run", "world.toml", "--seed", "18446744073709551615", "--runs", "2"],
        ["run", "world.toml", "--engine", "quick"],
        ["run", "world.toml", "--engine", "fsat"],
        ["run", "world.toml", "--out", "old"],
        ["trace", "nowhere"],
        ["trace", "."],
        ["trace", ".", "--from", "soon"],
        ["export", "nowhere", "--format", "csv"],
        ["export", ".", "--format", "latex"],
        ["export", ".", "--format", "pcapng"],
        ["export", ".", "--format", "csv"],
        ["export", ".", "--format", "pcap"],
        ["reproduce", "gmpls/tabel3"],
        ["reproduce", "--set", "backbone=1"],
        ["reproduce", "--set", "queue_packets=many"],
        ["reproduce", "--set", "queue_packets=2.5"],
        ["reproduce", "--set", "flows=3+3"],
        ["reproduce", "gmpls/table3", "--set", "profile=foo"],
        ["reproduce", "gmpls/table3", "--first-seed", "18446744073709551616"],
        ["reproduce", "gmpls/table3", "--first-seed", "18446744073709551615", "--seeds", "2"],
        ["reproduce", "gmpls/table3", "--first-seed", "18446744073709551616", "--paper-scale"],
        ["reproduce", "--quick", "--paper-scale"],
        ["reproduce", "--check", "--set", "queue_packets=5"],
        ["list", "profils"],
        ["report", "nowhere"],
        ["reprduce"],
        ["run", "world.toml", "--out", ""],
        ["export", "", "--format", "csv"],
        ["packetdrill", "world.toml", "--tolerance", "100000000000000000000"],
    ],
    ids=" ".join,
)
def test_bad_input_is_status_2_with_a_message_and_writes_nothing(optcp, world, tmp_path, snapshot, arguments):
    (tmp_path / "old" / "seed-9").mkdir(parents=True)
    (tmp_path / "old" / "seed-9" / "meta.json").touch()
    before = sorted(tmp_path.rglob("*"))
    status, out, err = optcp(*arguments)
    assert (status, out) == (2, "")
    assert err == snapshot
    assert sorted(tmp_path.rglob("*")) == before


def test_list(optcp, snapshot):
    status, out, _ = optcp("list", "exhibits")
    assert status == 0
    assert out == snapshot
    status, out, _ = optcp("list")
    assert status == 0
    assert "profiles:\n  rfc " in out


def test_list_of_networks(optcp):
    status, out, _ = optcp("list", "topologies")
    assert status == 0
    assert "  sndlib    26 networks, such as sndlib/abilene: `optcp list sndlib`\n" in out, "as sndlib.zib.de has them"
    status, out, _ = optcp("list", "sndlib")
    assert (status, len(out.splitlines())) == (0, 26)
    assert "sndlib/germany50" in out.splitlines()
    assert "did you mean 'sndlib'?" in optcp("list", "sndlb")[2]


def test_list_of_satellites(optcp):
    status, out, _ = optcp("list", "constellations")
    lines = out.splitlines()
    assert (status, lines[0], len(lines)) == (0, "constellations:", 6)
    # FCC SAT-LOA-20190704-00057: 34 planes of 34, 51.9 degrees, 630 km.
    assert re.match(r"  kuiper-630 +34 planes of 34 satellites, 51.9 deg, 629 km, 97.3 min an orbit; ", lines[1])
    assert "; nodes over 360 deg, phasing half, GSLs up to 1260 km [FCC SAT-LOA-20190704-00057" in lines[1]
    assert "; nodes over 189.6 deg and a seam, phasing half, from 8.2 deg over the horizon [" in lines[4]
    assert re.fullmatch(r"  cities +100 ground stations by name: `optcp list cities`", lines[5])
    status, out, _ = optcp("list", "cities")
    assert (status, len(out.splitlines())) == (0, 100)
    assert re.search(r"^Manila +14\.6042,120\.9822$", out, re.MULTILINE)
    assert "  iridium " in optcp("list")[1]
    assert "did you mean 'cities'?" in optcp("list", "citis")[2]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("germany50", "did you mean 'sndlib/germany50'?"),
        ("germny50", "did you mean 'sndlib/germany50'?"),
        ("other/Germany50", "did you mean 'sndlib/germany50'?"),
        ("abilene", "did you mean 'sndlib/abilene' or 'topozoo/Abilene'?"),
        ("sndlib/germny50", "did you mean 'sndlib/germany50'?"),
        ("../../x", "`optcp list topologies` says more"),
        ("", "`optcp list topologies` says more"),
    ],
)
def test_unknown_network_lists_available_networks(name, said):
    with pytest.raises(InputError, match=f"no topology `{re.escape(name)}`; .*{re.escape(said)}"):
        topologies.find("name", name, "world.toml")


def test_list_of_profiles(optcp, snapshot):
    status, out, _ = optcp("list", "profiles")
    assert status == 0
    assert out == snapshot


def test_schema(optcp):
    status, out, _ = optcp("schema")
    assert status == 0
    assert json.loads(out) == json.loads(_core.schema())


def test_run(optcp, world, snapshot, calls):
    status, out, err = optcp("run", "world.toml", "--runs", "3", "--seed", "7", "--out", "out")
    assert status == 0
    assert out == snapshot
    few = (
        "warning: only 3 seeds: intervals are wide, those of skewed values cover less than 95 %, and no difference can "
        "be significant; use `--runs 10` or more [few-seeds]\n"
    )
    assert err == f"3 runs\n3/3 runs, 0 s left\n{few}"
    folders = ["cells", "drops", "goodput", "load", "parts", "runs", "scalars", "study.json"]
    assert sorted(path.name for path in Path("out").iterdir()) == folders


def test_second_run_only_adds_missing_runs(optcp, world, calls):
    assert optcp("run", "world.toml", "--runs", "2", "--out", "out")[0] == 0
    calls.clear()
    status, out, err = optcp("run", "world.toml", "--runs", "3", "--out", "out")
    assert (status, calls) == (0, [(3, 1)])
    assert err.startswith("3 runs, 2 finished before and reused\n1/1 run, 0 s left\nwarning: only 3 seeds: ")
    assert "3 runs stored in out" in out
    status, out, _ = optcp("run", "world.toml", "--runs", "3", "--out", "out", "--dry-run")
    assert status == 0
    assert "runs: 3 (3 stored already), directory: out" in out
    assert "all runs are stored already" in out


def test_shipped_scenario_is_found_by_name(optcp):
    status, out, _ = optcp("run", "gmpls-section5", "--dry-run")
    assert status == 0
    assert "directory: results/gmpls-section5\n" in out
    Path("gmpls-section5").mkdir()
    assert "directory: results/gmpls-section5\n" in optcp("run", "gmpls-section5.toml", "--dry-run")[1]
    assert optcp("run", "gmpls-section5", "--dry-run")[0] == 0


def test_file_takes_precedence_over_shipped_scenario(optcp):
    Path("gmpls-section5").write_text("nodes = 3\n")
    assert optcp("run", "gmpls-section5")[0] == 2


def test_dry_run_writes_nothing(optcp, world, calls):
    status, out, _ = optcp("run", "world.toml", "--dry-run", "--runs", "2")
    assert status == 0
    lines = out.splitlines()
    assert lines[:3] == [
        "parameter combinations: 1, seeds: 2, runs: 2, directory: results/world",
        "  as written",
        "tables: scalars, runs, goodput, load, drops",
    ]
    assert lines[3].startswith("estimate from ")
    assert calls == []
    assert not Path("results").exists()


def test_failing_run_exits_with_status_1(optcp, world, comes_apart):
    comes_apart(1)
    status, _, err = optcp("run", "world.toml", "--out", "out")
    assert status == 1
    assert "Error: a scenario, seed 1: the world came apart" in err


@pytest.mark.parametrize(
    "verb", [("run", "world.toml"), ("reproduce",), ("sensitivity", "gmpls/table3"), ("evidence",)]
)
@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("/dev/null", "/dev/null is not a directory"),
        ("file/below/it", "file is not a directory"),
        ("/proc/below/it", "cannot create the directory (No such file or directory)"),
        ("a" * 300, "cannot create the directory (File name too long)"),
    ],
)
def test_invalid_output_directory_exits_with_status_2_before_any_run(optcp, world, calls, verb, place, why):
    Path("file").touch()
    before = sorted(Path().iterdir())
    assert optcp(*verb, "--out", place) == (2, "", f"Error: --out {place}: {why}\n")
    assert calls == []
    assert sorted(Path().iterdir()) == before


def test_check_of_output_directory_leaves_no_file(optcp, world):
    assert optcp("run", "world.toml", "--out", "a/b/c", "--dry-run")[0] == 0
    assert not Path("a").exists()


@pytest.mark.parametrize(
    "words",
    [("run", "world.toml", "--runs"), ("reproduce", "--seeds"), ("sensitivity", "gmpls/table3", "--samples")],
)
def test_more_runs_than_fit_in_memory_are_refused(optcp, world, calls, words):
    status, _, err = optcp(*words, "100000000000")
    assert status == 2
    assert f"'{words[-1]}': expected a whole number from 1 to 1000000, got '100000000000'" in " ".join(err.split())
    assert calls == []


def another_verdict(file):
    """Change a matching value to "differs" in a baseline."""
    value = "seeds=3,value,flows=10+10 delta_ms=0 rel_goodput_pct,"
    assert f"{value}match\n" in file.read_text()
    file.write_text(file.read_text().replace(f"{value}match\n", f"{value}differs\n"))


def test_damaged_older_result_only_affects_the_report(optcp, monkeypatch, tmp_path):
    monkeypatch.setattr(baseline, "place", lambda paper: tmp_path / f"{paper}.csv")
    Path("out/das").mkdir(parents=True)
    Path("out/das/old.json").write_text("{}")
    words = ("reproduce", "gmpls/table3", "--seeds", "3", "--out", "out")
    status, out, err = optcp(*words, "--write-baseline")
    assert status == 1
    assert "gmpls/table3  Comparison" in out
    assert "out/das/old.json: the key `exhibit` is missing" in err
    assert list(baseline.read(tmp_path / "gmpls.csv")) == ["gmpls/table3"]
    another_verdict(tmp_path / "gmpls.csv")
    status, _, err = optcp(*words, "--check")
    assert status == 1
    assert "delta_ms=0 rel_goodput_pct: differs in the baseline" in err


def test_reproduce_prints_writes_and_reports(optcp):
    status, out, _ = optcp("reproduce", "gmpls/table3", "--seeds", "3", "--out", "out", "--set", "flows=10+10")
    assert status == 0
    assert "gmpls/table3  Comparison of protection switch delays" in out
    assert "changed by --set: flows (default 100+100, 10+10)" in " ".join(out.split())
    assert "report: out/report/index.html" in out
    assert "…" not in out
    result = json.loads(Path("out/gmpls/table3.json").read_text())
    assert result["size"] == {"name": "seeds=3", "seeds": {"10+10": 3}, "paper_runs": 150}
    assert result["changed"] == {"flows": "100+100, 10+10"}
    assert len(result["rows"]) == 15
    assert not list(Path("out").rglob("*.tmp"))


def test_quick_runs_accept_a_number_of_seeds(optcp):
    status, out, _ = optcp("reproduce", "gmpls/table3", "--quick", "--seeds", "3", "--out", "out")
    assert status == 0
    assert "size quick, seeds=3: 3 seeds (100+100, 10+10), seeds 1 to 3;" in " ".join(out.split())
    assert json.loads(Path("out/gmpls/table3.json").read_text())["size"]["name"] == "quick, seeds=3"


def test_check_against_a_baseline(optcp, monkeypatch, tmp_path):
    monkeypatch.setattr(baseline, "place", lambda paper: tmp_path / f"{paper}.csv")
    words = ("reproduce", "--seeds", "3", "--out", "out")
    status, _, err = optcp(*words, "--check")
    assert (status, err) == (2, "Error: --check: the baseline has none of these experiments at size seeds=3\n")
    assert optcp(*words, "gmpls/table3", "--write-baseline")[0] == 0
    assert optcp(*words, "gmpls/table3", "--check")[0] == 0
    status, _, err = optcp(*words, "gmpls/fig7", "gmpls/table3", "--check")
    assert status == 0
    assert "--check: gmpls/fig7 is not compared: it is not in the baseline at size seeds=3" in err
    another_verdict(tmp_path / "gmpls.csv")
    status, _, err = optcp(*words, "gmpls/table3", "--check")
    assert status == 3
    assert "gmpls/table3, flows=10+10 delta_ms=0 rel_goodput_pct: differs in the baseline, now match" in err


def test_jobs_follow_the_allowed_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert options.workers(None) == 3
    assert options.workers(5) == 5


def process(*arguments, **options):
    """Run the command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "optcp", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def stored_runs(directory):
    return sum(len(json.loads(path.read_text())["runs"]) for path in directory.glob("parts/*.json"))


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
@pytest.mark.usefixtures("sigint_is_not_ignored")
def test_ctrl_c_keeps_finished_runs(tmp_path):
    path = tmp_path / "slow.toml"
    path.write_text(WORLD.replace('"1 s"', '"480 s"').replace("10 Mbps", "50 Mbps"))
    command = ["run", str(path), "--runs", "100", "--jobs", "2", "--out", str(tmp_path / "out")]
    running = process(*command)
    deadline = time.monotonic() + 30
    while stored_runs(tmp_path / "out") < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Traceback" not in err
    kept = stored_runs(tmp_path / "out")
    assert 2 <= kept < 100
    assert f"interrupted: {kept} of 100 runs are finished and stored" in err
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
    assert f"interrupted: {kept} of 100 runs are finished and stored; repeat the command to continue" in err
    assert not list((tmp_path / "out").rglob("*.tmp"))


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["validate", "world.toml"]], ids=" ".join)
def test_quick_answers_import_nothing_heavy(arguments, world, tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "optcp", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in imported
    assert not imported & {"numpy", "scipy", "matplotlib", "rich", "jinja2", "pandas"}


@pytest.mark.parametrize("verb", [("schema",), ("list",), ("validate", "gmpls-section5"), ("--help",)])
def test_closed_pipe_ends_command_silently(verb):
    running = process(*verb)
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert err == ""
    assert running.wait() == 128 + signal.SIGPIPE


@pytest.mark.skipif(os.name != "posix", reason="the shell's way to close a stream")
@pytest.mark.parametrize("verb", ["run world.toml --out out", "validate world.toml", "list", "--help", "--version"])
def test_closed_output_is_reported_before_any_run(world, tmp_path, verb):
    command = f'"{sys.executable}" -m optcp {verb} >&-'
    done = subprocess.run(  # noqa: S602 - only a shell closes it
        command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: standard output is closed; use `> /dev/null` to discard the output\n"
    assert [path.name for path in tmp_path.iterdir()] == ["world.toml"]


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8:strict", b"\xff"), ("ascii:strict", b"\\udcff")])
def test_path_with_invalid_unicode_is_printed(world, tmp_path, encoding, shown):
    done = subprocess.run(
        [sys.executable, "-m", "optcp", "run", "world.toml", "--out", b"out\xff"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"1 run stored in out" + shown in done.stdout


def test_setting_with_invalid_unicode_is_refused(world, tmp_path):
    words = [sys.executable, "-m", "optcp", "run", "world.toml", "--set", b"title=\xff"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"Error: --set title=\\udcff: not UTF-8 text\n")


@pytest.mark.parametrize("name", ["--seeds", "--runs"])
@pytest.mark.parametrize(
    "verb",
    [
        ("run", "world.toml", "--dry-run"),
        ("reproduce", "gmpls/table3", "--out", "out"),
        ("sensitivity", "nosuch"),
        ("evidence", "nosuch"),
    ],
    ids=lambda verb: verb[0],
)
def test_seeds_and_runs_are_aliases_and_help_shows_one(optcp, world, verb, name):
    documented = "--runs" if verb[0] == "run" else "--seeds"
    status, out, err = optcp(*verb, name, "2")
    assert status == (2 if "nosuch" in verb else 0)
    if status == 0:
        assert ("runs: 2," if verb[0] == "run" else "size seeds=2") in " ".join(out.split())
    assert "No such option" not in err
    bad = optcp(*verb, documented, "0")
    assert bad[0] == 2
    assert f"'{documented}': expected a whole number from 1 to 1000000, got '0'" in " ".join(bad[2].split())
    assert optcp(*verb, name, "0") == bad
    shown = optcp(verb[0], "--help")[1]
    assert f"  {documented} " in shown
    assert f"  {'--seeds' if documented == '--runs' else '--runs'} " not in shown


def test_tables_of_many_combinations_are_folded(optcp):
    delays = ", ".join(f'"{5 + place} ms"' for place in range(130))
    Path("many.toml").write_text(f'{WORLD}\n[sweep]\n"parameters.delay" = [{delays}]\n')
    status, out, _ = optcp("run", "many.toml", "--out", "many")
    assert status == 0
    assert out.startswith("means over seeds, by quantile over 130 combinations\n")
    assert "the 10 worst of 130 combinations by goodput_bps" in out
    assert out.count(" ms ") < 30


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"stop": "1 s"}', "help: this looks like JSON; a scenario is TOML; `optcp new` writes an example"),
        (b"# a world\nstop: 1 s\n", "help: this looks like YAML; a scenario is TOML"),
        (b"<graphml/>", "help: this looks like XML; a scenario is TOML"),
        ('stop = "1 s"'.encode("utf-16"), "Error: other.toml: this is UTF-16; save it as UTF-8"),
        ("\ufeffstop".encode("utf-16-be"), "Error: other.toml: this is UTF-16; save it as UTF-8"),
        ('title = "Málaga"'.encode("latin-1"), "Error: other.toml: not UTF-8 text: "),
        (
            b'format = 9\nstop = "1 s"',
            "help: scenario files have no version; a file for a newer OpTCP than 1.0.0 may not",
        ),
        (b"stop = 1 s", "not TOML: "),
    ],
)
def test_file_of_another_kind_is_named(optcp, tmp_path, monkeypatch, content, said):
    monkeypatch.chdir(tmp_path)
    Path("other.toml").write_bytes(content)
    status, _, err = optcp("validate", "other.toml")
    assert (status, said in " ".join(err.split())) == (2, True), err
    assert ("looks like" in err) == ("looks like" in said)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("[A,B]", '["A", "B"]'),
        ("[[A, B], [C]]", '[["A", "B"], ["C"]]'),
        ("[5 ms, 3]", '["5 ms", 3]'),
        ("{kind=codel, limit=100 packets}", '{kind = "codel", limit = "100 packets"}'),
        ("[A", None),
        ("A,B", None),
        ('["A"]', None),
    ],
)
def test_error_suggests_quotes_for_unquoted_texts_in_list(optcp, world, value, meant):
    status, _, err = optcp("validate", "world.toml", "--set", f"links.0={value}")
    assert status == 2
    quoted = re.search(r"quote strings in a list or table: 'links\.0=(.*)'", err)
    assert (quoted and quoted[1]) == meant, err


def test_set_can_add_first_axis_to_file(optcp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert optcp("new", "mine.toml")[0] == 0
    text = Path("mine.toml").read_text(encoding="utf-8")
    Path("mine.toml").write_text(text[: text.index("\n[sweep]") + 1], encoding="utf-8")
    status, out, _ = optcp("validate", "mine.toml", "--set", 'sweep.links.0.rate=["1 Mbps", "2 Mbps"]')
    assert (status, "sweep links.0.rate: 1 Mbps, 2 Mbps" in out) == (0, True)
    status, _, err = optcp("validate", "mine.toml", "--set", 'sweep.links.0.rat=["1 Mbps"]')
    assert (status, "did you mean `rate`?" in err) == (2, True)


def test_python_settings_are_not_reported_as_command_line_settings():
    with pytest.raises(ScenarioError) as said:
        load("single-failure").set("parameters.swich", "1 ms")
    assert "parameters.swich = 1 ms" in str(said.value)
    assert "--set" not in str(said.value)
    assert "command line" not in str(said.value)
