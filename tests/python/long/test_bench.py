"""Benchmark: its counts, and the number of instructions of the engine. Durations are never tested."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from optcp.checks.bench import _in_one_run, measure, measure_core, measure_in_one_run
from optcp.checks.bench_worlds import IN_ONE_RUN

ROOT = Path(__file__).parents[3]
BASELINE = Path(__file__).with_name("instructions.toml")


def test_a_row_counts_the_hops_of_the_workload():
    newreno, linux = measure(("newreno", "linux-6"), 10, 2, 1)
    # A delivered segment needs six transmissions: 100 Mb/s for 2 s are at most 16 667 segments.
    assert 30_000 < newreno.packet_hops < 6 * 16_667
    # One ACK per two segments, except for the first ones: nine transmissions per two segments.
    assert 30_000 < linux.packet_hops < 5 * 16_667
    for row in (newreno, linux):
        assert 0.5 < row.utilisation <= 1
        assert row.cpu_s > 0
    assert newreno.relative == 1
    assert linux.relative == pytest.approx(linux.hops_per_cpu_s / newreno.hops_per_cpu_s)


def test_core_load_matches_its_name():
    core = measure_core(1)
    # 182 sources of 3.818 Gb/s, 1250 B per packet, 60 ms.
    assert core.packets == pytest.approx(182 * 3.818e9 / 10_000 * 0.06, rel=0.01)
    # Up to 40 packets per burst; a burst crosses 440 / 182 fibres if nothing is lost.
    assert core.packets / 40 < core.requests < core.packets / 40 * 440 / 182 * 1.1
    assert 0 < core.lost < core.requests / 10


def test_worlds_in_one_run_are_compared_turn_by_turn():
    ring, *_ = IN_ONE_RUN.values()
    small = {"ring": (ring[0], {"stop": "600 ms"}), "dumbbell": (None, {"tcp": "newreno", "flows": 10, "seconds": 1})}
    for world in measure_in_one_run(2, small):
        assert world.packet_hops > 10_000
        assert list(world.ways) == ["calendar", "windows", "two threads"]
        assert (world.ways["calendar"].relative, world.ways["calendar"].relative_ci95) == (1, (1, 1))
        for way in world.ways.values():
            low, high = way.relative_ci95
            assert low <= way.relative <= high
    [once] = measure_in_one_run(1, {"dumbbell": small["dumbbell"]})
    assert once.ways["windows"].relative_ci95 is None


def test_different_packet_hops_in_windows_are_an_error():
    turn = {way: {"hops": hops} for way, hops in (("calendar", 2), ("windows", 2), ("two threads", 3))}
    with pytest.raises(RuntimeError, match="ring: packet-hops depend on windows or threads"):
        _in_one_run("ring", [turn])


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        (("newreno", 0, 1), "the workload needs flows and seconds above zero"),
        (("newreno", 1, 0), "the workload needs flows and seconds above zero"),
        (("vegas", 1, 1), "unknown TCP `vegas`"),
    ],
)
def test_unknown_workload_is_refused(workload, message):
    program = f"from optcp import _core; _core.Dumbbell{workload}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert f"ValueError: {message}" in done.stderr


@pytest.mark.parametrize("tcp", ["newreno", "linux-6"])
def test_instructions_per_hop_match_baseline(tcp):
    """Callgrind counts are equal on every machine with the same compiler; other compilers are not compared."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed: instructions are not counted")
    baseline = tomllib.loads(BASELINE.read_text())
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    if compiler != baseline["rustc"]:
        pytest.skip(f"the baseline is of rustc {baseline['rustc']}, this is {compiler}")
    subprocess.run(
        ["cargo", "build", "--release", "--locked", "--quiet", "--example", "dumbbell", "-p", "optcp-harness"],
        check=True,
        cwd=ROOT,
    )
    program = ROOT / "target/release/examples/dumbbell"
    counted = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), tcp, "10", "2"],
        check=True,
        capture_output=True,
        text=True,
    )
    found = re.search(r"Collected : (\d+)", counted.stderr)
    assert found is not None, counted.stderr
    per_hop = int(found[1]) / json.loads(counted.stdout)["packet_hops"]
    of_tcp = baseline["instructions_per_hop"][tcp]
    assert per_hop <= of_tcp * (1 + baseline["tolerance"]), (
        f"{per_hop:.0f} instructions a packet-hop of {tcp}; the baseline is {of_tcp}"
    )
