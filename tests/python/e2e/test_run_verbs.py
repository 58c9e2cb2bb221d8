"""run, trace and export with the compiled simulator, and what other people's tools make of the files."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image

import optcp
from optcp import Done

COLUMNS = {
    "goodput": {"time_ps": pa.uint64(), "group": pa.string(), "bytes": pa.uint64()},
    "load": {"time_ps": pa.uint64(), "port": pa.string(), "bytes": pa.uint64()},
    "queue": {
        "time_ps": pa.uint64(),
        "port": pa.string(),
        "mean_packets": pa.float64(),
        "max_packets": pa.uint32(),
    },
    "drops": {
        "time_ps": pa.uint64(),
        "port": pa.string(),
        "group": pa.string(),
        "ack": pa.bool_(),
        "reason": pa.string(),
    },
    "tcp": {
        "time_ps": pa.uint64(),
        "flow": pa.string(),
        "cause": pa.string(),
        "cwnd_bytes": pa.float64(),
        "ssthresh_bytes": pa.float64(),
        "flight_segments": pa.uint32(),
        "phase": pa.string(),
        "timeouts": pa.uint64(),
    },
    "packets": {
        "time_ps": pa.uint64(),
        "event": pa.string(),
        "flow": pa.string(),
        "ack": pa.bool_(),
        "seq": pa.uint32(),
        "port": pa.string(),
        "bytes": pa.uint32(),
        "reason": pa.string(),
        "sack": pa.string(),
    },
    "scalars": {"metric": pa.string(), "of": pa.string(), "unit": pa.string(), "value": pa.float64()},
}


def read(run, name):
    (path,) = (run / name).iterdir()
    return pyarrow.parquet.read_table(path)


def the_run(directory):
    ((_, (run,)),) = Done.open(directory)
    return run


def test_a_study_has_a_folder_a_table_and_nothing_else(a_run):
    names = sorted(path.name for path in a_run.iterdir() if path.name != "plots")
    assert names == sorted([*COLUMNS, "cells", "parts", "runs", "study.json", "switches"])


@pytest.mark.parametrize("name", COLUMNS)
def test_pyarrow_reads_names_and_types(a_run, name):
    table = read(a_run, name)
    which = {"cell": pa.string(), "seed": pa.uint64()}
    assert {field.name: field.type for field in table.schema} == which | COLUMNS[name]
    assert not any(field.nullable for field in table.schema)
    if name != "scalars":
        assert table.schema.metadata[b"optcp.kind"] == name.encode()
    assert table.num_rows > 0


def test_our_reader_agrees_with_pyarrow(a_run, command, tmp_path):
    """`optcp export` reads with the compiled module; float texts are exact in both."""
    copy = tmp_path / "copy"
    shutil.copytree(a_run, copy)
    command("export", copy, "--format", "csv")
    for name in COLUMNS:
        table = read(copy, name)
        lines = (copy / f"{name}.csv").read_text().splitlines()
        assert lines[0].split(",") == table.column_names
        assert len(lines) == table.num_rows + 1
        rows = table.to_pylist()
        for row in (0, len(rows) // 2, len(rows) - 1):
            wanted = [str(int(value)) if isinstance(value, bool) else str(value) for value in rows[row].values()]
            assert lines[row + 1].split(",") == wanted


def test_observations_agree_with_the_counts_and_with_each_other(a_run):
    run, tcp = the_run(a_run), read(a_run, "tcp")
    packets = Counter(read(a_run, "packets").column("event").to_pylist())
    drops = read(a_run, "drops").to_pylist()
    assert Counter(row["reason"] for row in drops) == run.drops
    assert packets["dropped"] == run.counts["dropped"]
    assert packets["arrived"] + packets["acked"] == run.counts["delivered"]
    sent_segments = packets["sent"] + packets["resent"]
    assert sent_segments < run.counts["sent"] < 2 * sent_segments + 1
    phases = set(tcp.column("phase").to_pylist())
    assert phases == {"slow-start", "avoidance", "recovery", "loss"}
    assert max(tcp.column("timeouts").to_pylist()) >= 1


def test_intervals_end_where_they_should_and_hold_what_the_link_carries(a_run):
    load = read(a_run, "load")
    assert load.schema.metadata[b"optcp.interval_ps"] == b"50000000000"
    rows = [row for row in load.to_pylist() if row["port"] == "R2->R3"]
    times = np.array([row["time_ps"] for row in rows])
    assert np.array_equal(times, np.arange(1, 201) * 50_000_000_000)
    carried = np.array([row["bytes"] for row in rows])
    # 10 Mbit/s for 50 ms; a packet of 1500 B more may end in an interval.
    assert carried.max() <= 62_500 + 1500
    down = (times > 4.0e12 + 1e9) & (times <= 7.0e12)
    assert carried[down].sum() == 0
    queue = read(a_run, "queue")
    assert max(queue.column("max_packets").to_pylist()) <= 30
    means = queue.column("mean_packets").to_pylist()
    assert all(math.isfinite(mean) and 0 <= mean <= 30 for mean in means)


def test_a_study_says_what_was_run(a_run):
    done, run = Done.open(a_run), the_run(a_run)
    assert run.counts["sent"] == sum(run.counts[name] for name in ("delivered", "dropped", "in_flight"))
    assert len(run.records_sha256) == len(run.metrics_sha256) == len(run.scenario_sha256) == 64
    (path,) = (a_run / "cells").iterdir()
    cell = json.loads(path.read_text())
    assert cell["scenario"]["failures"] == [{"at_ps": 4 * 10**12, "link": "R2-R3", "repair_ps": 7 * 10**12}]
    assert (cell["cell"], cell["scenario_sha256"]) == ({}, run.scenario_sha256)
    goodput = {}
    for row in read(a_run, "goodput").to_pylist():
        goodput[row["group"]] = goodput.get(row["group"], 0) + row["bytes"] * 8 / 10
    metric = done.metrics["goodput_bps"]
    assert {group: metric.at(group=group).values[0] for group in metric.axes[-1].values} == pytest.approx(goodput)


def test_a_finished_run_is_not_made_again(a_run, command):
    before = {path: path.stat().st_mtime_ns for path in a_run.rglob("*") if path.is_file()}
    done = command("run", "single-failure", "--digest", "--out", a_run)
    assert "1 runs, 1 finished before and reused" in done.stderr
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_a_sweep_is_one_study_and_digests_do_not_depend_on_jobs(command, tmp_path):
    text = tmp_path / "sweep.toml"
    source = (Path(optcp.__file__).parent / "scenarios" / "single-failure.toml").read_text()
    text.write_text(source + '\n[sweep]\n"parameters.switch_delay" = ["0 ms", "10 ms", "20 ms"]\n')
    found = []
    for name, options in (
        ("a", ["--jobs", 1]),
        ("b", ["--jobs", 2]),
        ("c", ["--jobs", 2, "--no-fork"]),
        ("d", ["--kernel", "reference"]),
    ):
        command("run", text, "--runs", 2, "--digest", "--out", name, *options)
        done = Done.open(tmp_path / name)
        assert done.axes[0].values == ("0 ms", "10 ms", "20 ms")
        found.append([(run.seed, run.records_sha256, run.metrics_sha256) for _, runs in done for run in runs])
    assert found[0] == found[1] == found[2] == found[3]
    assert len(set(found[0])) == 6


def test_every_kind_is_drawn(a_run, command):
    done = command("trace", a_run.parent)
    names = ["tcp", "sequence", "queue", "load", "goodput", "drops"]
    lines = done.stdout.splitlines()
    assert [line.rpartition("/")[2].partition(".")[0] for line in lines] == names
    assert lines[2].endswith("queue.png (2 of 6 ports; --port chooses)")
    for name in names:
        with Image.open(a_run / "plots" / f"{name}.png") as image:
            assert image.width == 1230
            # Something is drawn, on white.
            assert len(image.convert("RGB").getcolors(maxcolors=1 << 20)) > 20
            assert image.convert("RGB").getpixel((image.width - 1, 0)) == (255, 255, 255)


def test_a_picture_of_chosen_flows_and_times_is_the_same_every_time(a_run, command, tmp_path):
    texts = []
    for name in ("a.svg", "b.svg"):
        options = ["--kind", "sequence", "--flow", "protected/P/1", "--from", "3900ms", "--to", "5.5 s"]
        command("trace", a_run, *options, "--out", name)
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1]
    assert "protected/P/1" in texts[0]
    assert "protected/P/0" not in texts[0]
    assert "switch to the backup" in texts[0]
    assert "switch back" not in texts[0], "it lies outside"
    command("trace", a_run, "--kind", "queue", "--port", "R6->R5", "--out", "q.pdf")
    assert (tmp_path / "q.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "cwnd"], "--kind cwnd: there is no such picture"),
        (["--flow", "protcted"], "did you mean 'protected'?"),
        (["--kind", "tcp", "--port", "R1->R2"], "--port R1->R2: chooses in queue, load, drops only"),
        (["--port", "R1->R9"], "--port R1->R9: the run observed no such port; did you mean"),
        (["--from", "4 h"], "--from 4 h: expected a time such as"),
        (["--from", "7", "--to", "4"], "no time of the run"),
        (["--out", "x.png"], "one file, but there are 6 pictures"),
        (["--kind", "tcp", "--out", "x.gif"], "expected a file that ends in .png, .pdf or .svg"),
        (["--kind", "tcp", "--out", "x.png", "--format", "pdf"], "--format pdf: the file of --out ends in .png"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_bad_requests_for_pictures(a_run, command, tmp_path, arguments, message):
    assert message in command("trace", a_run, *arguments, status=2).stderr
    assert not list(tmp_path.iterdir())


def test_what_was_not_observed_is_said_with_the_entry_to_add(command):
    command("run", "gmpls-section5", "--set", "parameters.flows_per_source=1", "--out", "out")
    message = command("trace", "out", "--kind", "queue", status=2).stderr
    assert '[[observe]]\nname = "queue"\nkind = "queue"\ninterval = "10 ms"\n' in message
    done = command("trace", "out")
    assert [line.rpartition("/")[2] for line in done.stdout.splitlines()] == ["load.png", "goodput.png", "drops.png"]


@pytest.mark.parametrize("verb", [("trace",), ("export", "--format", "pcapng"), ("export", "--format", "ns2")])
@pytest.mark.parametrize("file", ["packets.parquet", "meta.json"])
def test_a_changed_file_is_status_1_and_named(a_run, command, tmp_path, verb, file):
    copy = tmp_path / "copy"
    shutil.copytree(a_run, copy)
    content = bytearray((copy / file).read_bytes())
    content[content.index(b"1" if file == "meta.json" else b"sent")] += 1
    (copy / file).write_bytes(content)
    message = f"Error: {copy / file}: changed since it was written"
    assert command(*verb, copy, status=1).stderr.startswith(message)


def test_checksums_are_those_of_other_tools(a_run):
    (manifest,) = (a_run / "parts").glob("*.json")
    files = json.loads(manifest.read_text())["files"]
    assert set(COLUMNS) <= set(files)
    for table, about in files.items():
        path = a_run / table / f"{manifest.stem}.parquet"
        done = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True)
        assert done.stdout.split()[0] == about["sha256"]


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="their file systems have text for names")
def test_a_scenario_whose_path_is_no_text(command, tmp_path):
    odd = tmp_path / os.fsdecode(b"odd\xff")
    odd.mkdir()
    (odd / os.fsdecode(b"w\xfe.toml")).write_text(
        'stop = "1 s"\ntopology = {file = "net.gml", rate = "1 Gbps", queue = "9 packets", delay = "1 ms"}\n'
        'flows = [{group = "f", path = ["A", "B"], tcp = "cubic"}]\n'
    )
    (odd / "net.gml").write_text('graph [ node [ id 0 label "A" ] node [ id 1 label "B" ] edge [ source 0 target 1 ] ]')
    scenario = os.fsdecode(b"odd\xff/w\xfe.toml")
    message = command("validate", scenario, status=2).stderr
    assert "odd\N{REPLACEMENT CHARACTER}/w\N{REPLACEMENT CHARACTER}.toml:" in message
    assert 'write `congestion = "cubic"`' in message
    command("run", scenario, "--set", "flows.0.tcp=rfc", "--runs", "2", "--out", "out")
    assert Done.open(tmp_path / "out").seeds == (1, 2)


def test_scenarios_are_listed_with_titles(command):
    listed = command("list", "scenarios").stdout
    assert re.search(
        r"^  single-failure +One link fails, is protected, repaired and reverted to$", listed, re.MULTILINE
    )
    assert "optcp run single-failure" in command("--help").stdout


def test_titles_paths_and_values_are_no_markup(command, tmp_path):
    source = (Path(optcp.__file__).parent / "scenarios" / "single-failure.toml").read_text()
    (tmp_path / "odd.toml").write_text(re.sub(r"(?m)^title = .*", 'title = "[/x] $x_{ :smile:"', source))
    done = command("run", "odd.toml", "--out", "o[/a]:smile:")
    assert done.stdout.endswith("1 runs in o[/a]:smile:\n")
    command("trace", "o[/a]:smile:", "--kind", "queue", "--out", "queue.svg")
    assert "[/x] $x_{ :smile:" in (tmp_path / "queue.svg").read_text()
