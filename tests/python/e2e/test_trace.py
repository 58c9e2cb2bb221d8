"""`optcp trace` and the pictures of runs in Python."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from optcp import Table, load
from optcp.plots.trace.completions import cumulative
from studies import study_in


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """One run of the scenario single-failure."""
    return study_in(tmp_path_factory.mktemp("study"), "single-failure")


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Two cells and two seeds of it."""
    over = {"parameters.switch_delay": ["0 ms", "50 ms"]}
    return study_in(tmp_path_factory.mktemp("grid"), "single-failure", over=over, seeds=2)


def test_every_kind_is_drawn(study, command):
    done = command("trace", study)
    names = ["tcp", "sequence", "queue", "load", "goodput", "drops"]
    lines = done.stdout.splitlines()
    files = {line.split(" (")[0].rpartition("-")[2].partition(".")[0]: line.split(" (")[0] for line in lines}
    assert list(files) == names
    assert all("/plots/cell-" in path and "-seed-1-" in path for path in files.values())
    assert lines[2].endswith("-seed-1-queue.png (2 of 6 ports; select with --port)")
    for name in names:
        with Image.open(files[name]) as image:
            assert image.width == 1230
            # Something is drawn, on white.
            assert len(image.convert("RGB").getcolors(maxcolors=1 << 20)) > 20
            assert image.convert("RGB").getpixel((image.width - 1, 0)) == (255, 255, 255)


def test_a_picture_of_chosen_flows_and_times_is_the_same_every_time(study, command, tmp_path):
    texts = []
    for name in ("a.svg", "b.svg"):
        options = ["--kind", "sequence", "--flow", "protected/P/1", "--from", "3900ms", "--to", "5.5 s"]
        command("trace", study, *options, "--out", name)
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    assert "protected/P/1" in texts[0]
    assert "protected/P/0" not in texts[0]
    assert "switchover" in texts[0]
    assert "reversion" not in texts[0], "it lies outside"
    command("trace", study, "--kind", "queue", "--port", "R6->R5", "--out", "q.pdf")
    assert (tmp_path / "q.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "cwnd"], "--kind cwnd: unknown kind"),
        (["--flow", "protcted"], "did you mean 'protected'?"),
        (
            ["--kind", "tcp", "--port", "R1->R2"],
            "--port R1->R2 applies to --kind queue, sojourn, load, drops, marks only",
        ),
        (["--port", "R1->R9"], "--port R1->R9: the run did not observe this port; did you mean"),
        (["--from", "4 h"], "--from 4 h: expected a time such as"),
        (["--from", "7", "--to", "4"], "empty interval; the run ends at"),
        (["--out", "x.png"], "one file cannot hold 6 plots"),
        (["--kind", "tcp", "--out", "x.gif"], "expected a file that ends in .png, .pdf or .svg"),
        (["--kind", "tcp", "--out", "x.png", "--format", "pdf"], "--format pdf contradicts --out, which ends in .png"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_bad_requests_for_pictures(study, command, tmp_path, arguments, message):
    assert message in command("trace", study, *arguments, status=2).stderr
    assert not list(tmp_path.iterdir())


def test_missing_observation_names_entry_to_add(command, tmp_path):
    study_in(tmp_path, "gmpls-section5", settings={"parameters.flows_per_source": "1"}, over={})
    message = command("trace", "out", "--kind", "queue", status=2).stderr
    assert '[[observe]]\nname = "queue"\nkind = "queue"\ninterval = "10 ms"\n' in message
    done = command("trace", "out")
    assert [line.rpartition("-")[2] for line in done.stdout.splitlines()] == ["load.png", "goodput.png", "drops.png"]


@pytest.mark.parametrize("table", ["packets", "cells"])
def test_a_changed_file_is_status_1_and_named(study, command, tmp_path, table):
    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    (path,) = (copy / table).iterdir()
    content = bytearray(path.read_bytes())
    content[content.index(b"sent" if table == "packets" else b"title")] += 1
    path.write_bytes(content)
    assert command("trace", copy, status=1).stderr.startswith(f"Error: {path}: changed since it was written")


def test_ambiguous_run_must_be_named(grid, command, tmp_path):
    message = command("trace", grid, status=2).stderr
    assert "the study has 4 runs; select one with\n" in message
    assert "\n  --cell switch_delay=...: 0 ms, 50 ms\n  --seed N: 1 to 2\n" in message
    message = command("trace", grid, "--seed", 2, status=2).stderr
    assert "the study has 2 runs" in message
    assert "--seed N" not in message
    for name in ("switch_delay", "parameters.switch_delay"):
        done = command("trace", grid, "--cell", f"{name}=0.05 s", "--seed", 2, "--kind", "drops")
        assert "/plots/switch_delay=50ms-" in done.stdout
        assert done.stdout.endswith("-seed-2-drops.png\n")
    command("trace", grid, "--cell", "switch_delay=0 ms", "--seed", 1, "--kind", "queue", "--out", "q.svg")
    assert "seed 1" in (tmp_path / "q.svg").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cell", "switch_dely=0 ms"], "the study does not sweep this parameter; did you mean 'switch_delay'?"),
        (["--cell", "switch_delay=51 ms"], "'switch_delay' has no value '51 ms'; did you mean '50 ms'?"),
        (["--cell", "switch_delay"], "--cell switch_delay: expected NAME=VALUE"),
        (["--seed", 3], "--seed 3: the study has no such seed; seeds: 1 to 2"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(map(str, value)),
)
def test_missing_run_is_named(grid, command, options, message):
    assert message in command("trace", grid, *options, status=2).stderr


PLOT = """
import sys
import matplotlib
matplotlib.use("agg")
import optcp
done = optcp.StudyResult.open(sys.argv[1])
stored = done.run(done.grid.branches[1], 2)
fresh = optcp.load("single-failure").set("parameters.switch_delay", "50 ms").run(2)
for run in (stored, fresh):
    axes = run.plot("tcp", flow=2)
    print([ax.get_title(loc="left") for ax in axes], [sum(line.get_ydata()) for line in axes[0].get_lines()])
    print(len(run.plot("queue", port=["R2->R3", "R5->R6"], start="3 s", end=5)), axes[0].get_xlim())
    try:
        run.plot("tpc")
    except optcp.InputError as error:
        print(error)
"""


def test_stored_and_fresh_runs_draw_the_same(grid):
    done = subprocess.run([sys.executable, "-c", PLOT, grid], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[:3] == lines[3:]
    assert lines[0].startswith("['cross/C/0']")
    assert lines[1] == "2 (np.float64(0.0), np.float64(10.0))"
    assert "did you mean 'tcp'?" in lines[2]


def test_completion_times_are_a_distribution():
    """Of five flows, two are censored: one before the second completion, one never ends. Shares by hand."""
    table = Table(
        {
            "time_ps": np.array([2, 3, 4, 9, 5], dtype=np.int64) * 10**12,
            "start_ps": np.array([1, 1, 1, 1, 1], dtype=np.int64) * 10**12,
            "finished": np.array([True, False, True, True, False]),
            "aborted": np.array([False, False, False, False, True]),
        }
    )
    times_s, shares = cumulative(table)
    # 1/5 ends after 1 s. The share of the flow that is censored after 2 s is divided among the three longer ones:
    # 4/5 / 3 each. The aborted flow keeps its share.
    assert times_s.tolist() == [1.0, 3.0, 8.0]
    assert shares == pytest.approx([1 / 5, 1 / 5 + 4 / 15, 1 / 5 + 8 / 15])


def test_distribution_of_completion_times_has_a_curve_per_group():
    run = load("web-and-elephant").set("stop", "10 s").set("flows.1.until", "8 s").run(seed=1)
    (panel,) = run.plot("completions")
    (curve,) = panel.lines
    ends = run["completions"]
    assert len(curve.get_xdata()) == int(ends["finished"].sum())
    assert panel.get_xscale() == "log"
    (part,) = run.plot("completions", start="7 s")
    late = ends["finished"].astype(bool) & (ends["start_ps"] >= 7 * 10**12)
    assert len(part.lines[0].get_xdata()) == int(late.sum())
