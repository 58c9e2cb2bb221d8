"""Bit errors in a stored study: every command that opens the study names the file."""

import random
import shutil

import pytest

from optcp import Study, StudyResult, load
from optcp.errors import Damaged
from optcp.study.runner import execute, opened

WORLD = """
title = "Two nodes and a link"
stop = "1 s"
nodes = [{ names = ["A", "B"], group = "g" }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "1 ms", queue = "20 packets" }]
flows = [{ group = "all", pairs = { among = "g", matrix = "demands.csv", count = 1 }, path = "shortest" }]
observe = [
    { name = "goodput", kind = "goodput", interval = "100 ms" },
    { name = "packets", kind = "packets" },
    { name = "tcp", kind = "tcp" },
]
[sweep]
links.0.delay = ["1 ms", "2 ms"]
"""
RUN = ("run", "world.toml", "--runs", "2", "--out", "study")
ONE = ("--cell", "delay=1 ms", "--seed", "1")
COMMANDS = (
    RUN,
    (*RUN, "--dry-run"),
    ("compare", "study", "--at", "delay=1 ms", "--metric", "sent"),
    ("plot", "study", "--y", "goodput_bps"),
    ("trace", "study", "--kind", "tcp", *ONE),
    ("report", "study"),
    ("animate", "study", *ONE),
    ("export", "study", "--format", "csv"),
    ("export", "study", "--format", "parquet"),
    ("export", "study", "--format", "pcapng"),
    ("export", "study", "--format", "ns2"),
    ("export", "study", "--format", "perfetto"),
    ("export", "study", "--format", "qlog"),
)
PLACES = 12
"""Number of bits that are flipped in each file, one at a time."""


@pytest.fixture
def study(optcp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "world.toml").write_text(WORLD)
    (tmp_path / "demands.csv").write_text("A,B,1\n")
    assert optcp(*RUN, "--quiet")[0] == 0
    return tmp_path / "study"


def files(study):
    """Return all stored files, except those that running processes keep."""
    return sorted(path for path in study.rglob("*") if path.is_file() and not path.name.startswith("."))


def flipped(path, bit):
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def test_a_flipped_bit_anywhere_in_any_file_is_named(study):
    rng = random.Random(7)  # noqa: S311 - places, no secrets
    assert {path.parent.name for path in files(study)} >= {
        "study",
        "parts",
        "cells",
        "scalars",
        "runs",
        "goodput",
        "tcp",
    }
    assert (study / "demands.csv") in files(study)
    for path in files(study):
        size = 8 * path.stat().st_size
        for bit in {0, size - 1, *(rng.randrange(size) for _ in range(PLACES))}:
            flipped(path, bit)
            with pytest.raises(Damaged) as error:
                StudyResult.open(study)
            assert str(path) in str(error.value)
            assert "delete" in str(error.value)
            flipped(path, bit)
    assert StudyResult.open(study).seeds == (1, 2)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_command_names_the_file_with_a_flipped_bit(optcp, study, command):
    kinds = {path.parent: path for path in files(study) if path.parent != study}
    for path in (*kinds.values(), study / "study.json", study / "demands.csv"):
        flipped(path, 4 * path.stat().st_size)
        status, _, err = optcp(*command)
        if path.name == "demands.csv" and command[0] == "run":
            # The copy is recreated from the file that the scenario names.
            assert status == 0
            if "--dry-run" not in command:
                assert path.read_text() == "A,B,1\n"
            continue
        assert status == 1
        assert f"study/{path.relative_to(study)}" in err
        assert "delete" in err
        flipped(path, 4 * path.stat().st_size)


def test_exhibits_and_sensitivity_studies_name_the_file_with_a_flipped_bit(tmp_path, silent):
    grid = Study(load("single-failure"), {"parameters.switch_delay": ["0 ms"]}).grid
    execute([Study(grid)], tmp_path, 1, silent)
    store = opened(grid, tmp_path)
    for path in files(store.root):
        flipped(path, 4 * path.stat().st_size)
        with pytest.raises(Damaged) as error:
            execute([Study(grid)], tmp_path, 1, silent)
        assert str(path) in str(error.value)
        flipped(path, 4 * path.stat().st_size)


def test_deleted_files_are_recreated(optcp, study):
    whole = shutil.copytree(study, study.parent / "whole")
    for path in files(study):
        if path.name == "study.json":
            continue
        flipped(path, 8)
        _, _, err = optcp(*RUN, "--quiet")
        if err.startswith("Error"):
            advice = err.partition("; delete ")[2]
            path.unlink()
            if "with it" in advice:
                (study.parent / advice.partition(" with it")[0]).unlink()
        assert optcp(*RUN, "--quiet")[0] == 0
        if path.suffix == ".parquet":
            assert path.read_bytes() == (whole / path.relative_to(study)).read_bytes()
