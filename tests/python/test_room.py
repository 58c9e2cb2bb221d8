"""Sweeps of many combinations: memory and time in proportion to them, and refusal if they do not fit."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from optcp import InputError, Study, load
from optcp.study import room
from optcp.study.grid import Grid

WORLD = """
stop = "1 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "1 ms", queue = "50 packets" }]
flows = [{ group = "f", path = ["A", "B"] }]
[sweep]
"links.0.delay" = [VALUES]
"""
PEAK = """
import sys
from pathlib import Path
from optcp import Study, load
def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])
world = load(sys.argv[1])
before = pages()
grid = Study(world).grid
print(len(grid.branches), 4 * (pages() - before))
"""


def wide(folder, values):
    path = folder / f"wide-{values}.toml"
    path.write_text(WORLD.replace("VALUES", ", ".join(f'"{1000 + at} us"' for at in range(values))))
    return path


@pytest.fixture(scope="module")
def peaks(tmp_path_factory):
    """Return the memory in kB of sweeps by number of values, each in a process of its own."""
    folder = tmp_path_factory.mktemp("wide")
    result = {}
    for values in (1000, 4000):
        command = [sys.executable, "-c", PEAK, str(wide(folder, values))]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert int(said[0]) == values
        result[values] = int(said[1])
    return result


def test_memory_grows_in_proportion_to_the_values_of_an_axis(peaks):
    # In quadratic memory four times as many values would take 16 times as much; 0.5 GB for 8000 are 64 kB each.
    assert peaks[4000] < 6 * peaks[1000]
    assert peaks[4000] / 4000 < 64


def test_stored_combination_holds_one_value_of_axis(tmp_path):
    Study(load(wide(tmp_path, 20))).run(tmp_path / "study")
    for cell in (tmp_path / "study" / "cells").glob("*.json"):
        toml = json.loads(cell.read_text())["toml"]
        assert "sweep" not in toml
        assert toml.count(" us") == 1


def test_too_large_product_of_axes_is_refused_early(monkeypatch):
    monkeypatch.setattr(room, "available", lambda: 10**9)
    values = [f"{at} us" for at in range(1, 1001)]
    over = {f"links.{link}.delay": values for link in range(4)}
    with pytest.raises(
        InputError, match=r"^1000000000000 cells need at least 2e\+06 GB of memory, and 1 GB are available"
    ):
        Grid.grid(load("single-failure").core, {}, over)


def test_too_large_sweep_is_refused_after_first_combinations(monkeypatch):
    made = []
    pages = iter([100 * 10**6, 100 * 10**6 + 63 * 10**6])
    monkeypatch.setattr(room, "_pages", lambda which: next(pages))
    monkeypatch.setattr(room, "available", lambda: 10**9)
    growth = room.Growth(10_000, "cells")

    def make():
        for at in range(1, 10_001):
            made.append(at)
            growth.check(at)

    with pytest.raises(
        InputError, match=r"^9936 cells need about \(as the first 64 do\) 9\.94 GB of memory, and 1 GB "
    ):
        make()
    assert len(made) == room.SAMPLE


def test_the_command_refuses_a_sweep_in_too_little_memory_and_writes_nothing(optcp, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "available", lambda: 10**6)
    path = wide(tmp_path, 600)
    status, _, err = optcp("run", str(path), "--out", str(tmp_path / "study"))
    assert (status, "600 cells need at least 0.0012 GB of memory, and 0.001 GB are available" in err) == (2, True)
    assert not (tmp_path / "study").exists()


def test_more_runs_than_fit_are_refused(monkeypatch):
    monkeypatch.setattr(room, "available", lambda: 10**8)
    with pytest.raises(InputError, match=r"^1000000 runs need at least 1 GB of memory, and 0\.1 GB are available"):
        Study(load("single-failure"), {}, seeds=10**6)


def test_memory_limit_of_process_is_known():
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30,) * 2); "
        "from optcp.study import room; print(room.available())"
    )
    said = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, check=True).stdout
    assert 0 < int(said) < 3 << 30


@pytest.mark.skipif(not Path("/proc/self/cgroup").exists(), reason="control groups are a thing of Linux")
def test_file_cache_of_control_group_counts_as_free(monkeypatch, tmp_path):
    for name, content in (
        ("max", "8000000"),
        ("current", "7900000"),
        ("stat", "anon 1900000\nfile 6000000\ninactive_file 4000000\nactive_file 1500000\nslab 1000\n"),
    ):
        (tmp_path / f"memory.{name}").write_text(content)
    monkeypatch.setattr(room, "CGROUPS", tmp_path)
    assert room.available() == 100_000 + 5_500_000


def test_equal_values_are_refused_before_any_combination(monkeypatch):
    monkeypatch.setattr("optcp.study.grid._made", None)
    for values in (["1 s", "1000 ms"], ["1 ms", "2 ms", "1 ms"]):
        with pytest.raises(InputError, match=r"duplicate value|are equal"):
            Grid.grid(load("single-failure").core, {}, {"links.0.delay": values})
