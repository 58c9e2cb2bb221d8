"""Real packets in simulated time; most tests need a kernel of tools/uml/build.sh, whose path is in OPTCP_UML."""

import hashlib
import json
import os
import shutil
import sys

import pyarrow.parquet as pq
import pytest

from optcp.emulate import clock

KERNEL = os.environ.get("OPTCP_UML")
needs_kernel = pytest.mark.skipif(KERNEL is None, reason="OPTCP_UML does not name a kernel of tools/uml/build.sh")

LINK = """title = "one link"
stop = "$stop"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "20 ms", queue = "100 packets" }]
flows = [{ group = "all", path = ["A", "B"], tcp = "linux-6", size = "1 MB", start = "100 ms" }]
losses = [{ link = ["A", "B"], kind = "independent", probability = "$loss" }]
observe = [{ name = "completions", kind = "completions" }]

[parameters]
stop = "10 s"
loss = 0.0
"""


@pytest.fixture
def emulate(tmp_path, command):
    """Return a function that emulates the link in a kernel, and returns what the command printed."""
    scenario = tmp_path / "link.toml"
    scenario.write_text(LINK, encoding="utf-8")

    def emulate(out, *more, settings=(), status=0, kernel=KERNEL):
        chosen = [f"--set=parameters.{setting}" for setting in settings]
        before = ["--kernel", kernel, "--node", "A", "--node", "B", "--out", str(tmp_path / out), *chosen]
        return command("emulate", *before, scenario, *more, status=status)

    return emulate


def digests(folder):
    captures = sorted((folder / "real").glob("*.pcapng"))
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in captures]


@needs_kernel
def test_captures_of_two_runs_are_equal(emulate, tmp_path):
    # One command, and one for each seed: a run does not depend on those before it.
    emulate("once", "--runs", "2", settings=["loss=0.02"])
    emulate("first", settings=["loss=0.02"])
    emulate("second", "--seed", "2", settings=["loss=0.02"])
    once = digests(tmp_path / "once")
    assert once == digests(tmp_path / "first") + digests(tmp_path / "second")
    assert len(set(once)) == 2


@needs_kernel
def test_transfer_takes_as_long_as_the_link_requires(emulate, tmp_path):
    emulate("out")
    report = json.loads((tmp_path / "out/real/seed-1.json").read_text(encoding="utf-8"))
    # Computing takes no time; a system call reads a clock a few times, 1 ns each.
    assert report["max_s"] < 1e-6
    samples = pq.read_table(tmp_path / "out/real/seed-1-tcp.parquet").to_pydict()
    assert min(rtt for rtt in samples["rtt_us"] if rtt) >= 40_000
    (part,) = (tmp_path / "out/completions").glob("*.parquet")
    (time_ps,) = pq.read_table(part).to_pydict()["time_ps"]
    # 691 segments of at most 1500 bytes at 10 Mb/s; SYN, SYN-ACK and the last ACK add 60 ms. In slow start from ten
    # segments, the link is idle for at most four RTTs.
    sending_s = -(-1_000_000 // 1448) * 1500 * 8 / 10e6
    assert sending_s + 0.06 <= time_ps / 1e12 <= sending_s + 0.06 + 4 * 0.0412


@needs_kernel
def test_time_of_a_command_is_simulated(emulate, tmp_path):
    emulate("out", "--", "sleep", "20", settings=['stop="3600 s"'])
    report = json.loads((tmp_path / "out/real/seed-1.json").read_text(encoding="utf-8"))
    assert 20 <= report["ended_s"] < 20.1


@needs_kernel
def test_program_that_polls_sees_time_pass(emulate, tmp_path):
    # 50 ms, of which a call takes 1 us: without that, 50 million calls of 1 ns would be needed.
    poll = "import time; end = time.monotonic() + 0.05\nwhile time.monotonic() < end: pass"
    emulate("out", "--", sys.executable, "-c", poll)
    report = json.loads((tmp_path / "out/real/seed-1.json").read_text(encoding="utf-8"))
    assert 0.05 <= report["ended_s"] < 0.15


@needs_kernel
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")
def test_iperf3_ends_and_is_repeatable(emulate, tmp_path):
    for out in ("once", "twice"):
        server = ["--also", "B: iperf3 --server --one-off > /dev/null"]
        done = emulate(out, *server, "--", "iperf3", "--client", "10.77.0.2", "--time", "2", "--json")
        received = json.loads(done.stdout[: done.stdout.rindex("}\n") + 1])["end"]["sum_received"]
        # 2 s, a queue of 120 ms at most, and an RTT of 41 ms; 1448 of 1500 bytes at 10 Mb/s, and less in slow start.
        assert 2 <= received["seconds"] < 2 + 0.12 + 0.041
        assert 5e6 < received["bits_per_second"] <= 10e6 * 1448 / 1500
    assert digests(tmp_path / "once") == digests(tmp_path / "twice")


@needs_kernel
def test_output_and_status_of_the_command_pass_through(emulate):
    done = emulate("out", "--", sys.executable, "-c", "print(2 + 2); raise SystemExit(3)", status=3)
    assert done.stdout.startswith("4\n")


@needs_kernel
def test_errors_within_the_kernel_are_those_of_the_command(emulate):
    done = emulate("out", "--congestion", "nobody", status=2)
    assert "--congestion nobody: not available here; there are: bbr, bic, " in done.stderr


def test_kernel_must_be_a_program(emulate, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"")
    done = emulate("out", kernel=str(file), status=2)
    assert f"--kernel {file}: not a program; tools/uml/build.sh builds a suitable one" in done.stderr


def test_kernel_that_stops_is_an_error(emulate, tmp_path):
    program = tmp_path / "kernel"
    program.write_text("#!/bin/sh\necho no memory\n", encoding="utf-8")
    program.chmod(0o755)
    done = emulate("out", kernel=str(program), status=1)
    assert "the kernel stopped before the run ended: no memory" in done.stderr


def test_clock_of_this_machine_does_not_stop(monkeypatch, tmp_path):
    file = tmp_path / "clock"
    monkeypatch.setattr(clock, "CLOCK", file)
    assert not clock.stops_clock()
    file.write_text("tsc\n", encoding="ascii")
    assert not clock.stops_clock()
    file.write_text("time-travel-clock\n", encoding="ascii")
    assert clock.stops_clock()
