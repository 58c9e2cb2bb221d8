"""An emulated link beside netem in simulated time; needs a kernel of tools/uml/build.sh, whose path is in OPTCP_UML."""

import os
from pathlib import Path

import pytest

import netem_runs
from netem_runs import Link

KERNEL = os.environ.get("OPTCP_UML")
needs_kernel = pytest.mark.skipif(KERNEL is None, reason="OPTCP_UML does not name a kernel of tools/uml/build.sh")
LINK = Link(rate=10, delay=20, loss=0)
SECONDS = 3


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return one run over each link."""
    folder = tmp_path_factory.mktemp("runs")
    made = {kind: netem_runs.recorded(Path(KERNEL), kind, LINK, 1, SECONDS, folder) for kind in netem_runs.LINKS}
    return {kind: run for kind, (run,) in made.items()}


@needs_kernel
@pytest.mark.parametrize(("kind", "frame"), [("emulated", 0), ("router", 0), ("host", 14)])
def test_idle_rtt_is_two_delays_and_two_transmissions(runs, kind, frame):
    # 84 bytes at 10 Mb/s; netem adds the header of Ethernet, unless told otherwise. Reading clocks takes some
    # nanoseconds, and the emulation looks for packets within 10 us.
    expected_ns = 2 * 20e6 + 2 * (84 + frame) * 8 * 1e9 / 10e6
    rtts_ns = runs[kind]["idle_ns"]
    assert len(rtts_ns) == netem_runs.ECHOES
    assert expected_ns <= min(rtts_ns) <= max(rtts_ns) <= expected_ns + 10_000


@needs_kernel
@pytest.mark.parametrize(("kind", "frame", "ahead"), [("emulated", 0, 99), ("router", 0, 99), ("host", 14, 115)])
def test_full_queue_adds_its_transmissions(runs, kind, frame, ahead):
    # The queue has 99 full segments when it accepts the last packet. The limit of `host` has 16 more, those in flight
    # for 20 ms, which wait too if all arrive at once. Echoes need not meet the longest queue.
    full_ns = (1500 + frame) * 8 * 1e9 / 10e6
    idle_ns, loaded_ns = max(runs[kind]["idle_ns"]), max(runs[kind]["loaded_ns"])
    assert idle_ns + 0.9 * 99 * full_ns <= loaded_ns <= idle_ns + ahead * full_ns


@needs_kernel
def test_throughput_of_the_emulated_link_is_that_of_netem(runs):
    # The link carries 1448 of 1500 bytes; the first 60 ms have no data.
    assert runs["emulated"]["mbps"] <= 10 * 1448 / 1500
    assert runs["emulated"]["mbps"] == pytest.approx(runs["router"]["mbps"], rel=0.01)
