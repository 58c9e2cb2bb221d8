"""`optcp export` of a study of several runs: tables, selection of runs, and modified files."""

import csv
import re
import shutil
from pathlib import Path

import pytest
from test_export import WORLD, exported, table_of

from studies import study_in


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Return a study of two combinations and two seeds, whose second axis does not affect packets."""
    place = tmp_path_factory.mktemp("grid")
    (place / "world.toml").write_text(WORLD.replace("LINKS", ""), encoding="utf-8")
    over = {"links.1.delay": ["5 ms", "6 ms"], "links.0.queue": ["50 packets"]}
    return study_in(place, "world.toml", over=over, seeds=[3, 10])


@pytest.fixture
def copy(grid, tmp_path):
    shutil.copytree(grid, tmp_path / "out")
    return tmp_path / "out"


def test_a_csv_file_has_a_table_of_the_whole_study(command, copy):
    written = exported(command, copy, "csv")
    assert {path.name for path in written} == {"seen.csv", "scalars.csv", "runs.csv", "slowest.csv"}
    for path in written:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        rows = table_of(copy, path.stem)
        assert len(lines) == len(rows) > 3
        wanted = [
            [str(int(value)) if isinstance(value, bool) else str(value) for value in row.values()] for row in rows
        ]
        assert sorted(list(line.values()) for line in lines) == sorted(wanted)
        assert {(line["delay_s"], line["seed"]) for line in lines} == {
            (delay, seed) for delay in ("0.005", "0.006") for seed in ("3", "10")
        }
        # Seeds are ordered by number, not by file name.
        assert [line["seed"] for line in lines] == sorted((line["seed"] for line in lines), key=int)


def test_runs_are_chosen_by_values_and_seeds(command, copy):
    def names(*options):
        done = command("export", copy, "--format", "ns2", *options)
        return [Path(line).name for line in done.stdout.splitlines()]

    assert len(names()) == 4
    (one,) = names("--cell", "links.1.delay=0.006 s", "--seed", 10)
    assert one in names("--seed", 10)
    assert one in names("--cell", "delay=6 ms")
    assert re.fullmatch(r"delay=6ms,.*-[0-9a-f]{8}-seed-10-seen\.tr", one)
    # A packet needs 5 or 6 ms and its transmission time, so the first arrival differs by 1 ms.
    first = [
        next(line.split()[1] for line in (copy / "export" / name).read_text().splitlines() if line[0] == "r")
        for name in names("--seed", 3)
    ]
    assert first == ["0.027000000000", "0.028000000000"]
    command("export", copy, "--format", "csv", "--cell", "delay=6 ms", "--seed", 3)
    with (copy / "export" / "seen.csv").open(encoding="utf-8", newline="") as file:
        assert {(line["delay_s"], line["seed"]) for line in csv.DictReader(file)} == {("0.006", "3")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cell", "delay"], "--cell delay: expected NAME=VALUE"),
        (["--cell", "dely=6 ms"], "--cell dely: the study does not sweep this parameter; did you mean 'delay'?"),
        (["--cell", "delay=7 ms"], "'delay' has no value '7 ms'; did you mean '6 ms'?"),
        (["--seed", 4], "--seed 4: the study has no such seed; seeds: 3, 10"),
    ],
    ids=lambda value: "",
)
def test_missing_runs_are_refused(command, copy, options, message):
    for form in ("csv", "parquet", "ns2", "pcapng"):
        assert message in command("export", copy, "--format", form, *options, status=2).stderr
    assert not (copy / "export").exists()


def test_the_tables_of_a_study_are_parquet_already(command, copy):
    lines = command("export", copy, "--format", "parquet").stdout.splitlines()
    assert lines == [f"{copy / name} (Parquet files already)" for name in ("seen", "runs", "scalars", "slowest")]
    assert not (copy / "export").exists()


@pytest.mark.parametrize("form", ["csv", "parquet", "ns2", "pcapng"])
@pytest.mark.parametrize("table", ["seen", "parts", "cells", "study.json"])
def test_a_changed_file_is_named(command, copy, form, table):
    path = copy / table if table == "study.json" else sorted((copy / table).glob("[!.]*"))[0]
    content = bytearray(path.read_bytes())
    # Change a letter of the stored data that JSON and Parquet do not need.
    at = content.index(b"sent" if table == "seen" else b"format" if table == "parts" else b"title")
    content[at] += 1
    path.write_bytes(content)
    message = command("export", copy, "--format", form, status=1).stderr
    assert message.startswith(f"Error: {path}: changed since it was written"), message


def test_places_without_a_study(command, tmp_path):
    (tmp_path / "old" / "seed-1").mkdir(parents=True)
    (tmp_path / "old" / "seed-1" / "meta.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    for verb in (("trace",), ("export", "--format", "csv"), ("export", "--format", "ns2")):
        said = {place: command(verb[0], place, *verb[1:], status=2).stderr for place in ("old", "empty", "nowhere")}
        assert "old: seed-1/meta.json comes from an earlier version of optcp" in said["old"]
        assert "no study here" in said["empty"] or "no study and no results" in said["empty"]
        assert "nowhere: no such directory" in said["nowhere"]
