"""Packet trimming: segments that a queue cuts, and their retransmission without a timeout."""

import numpy as np
import pytest

from optcp import Scenario, Study, load
from optcp.errors import InputError
from optcp.export import Chosen, capture, ns2

FAST_US, SLOW_US, HEADER_US = 1.2, 40 / 3, 64 * 8 / 900
"""Transmission times of 1500 B at 10 Gb/s and 0.9 Gb/s, and of a header at 0.9 Gb/s."""
DATA_ROOM = 8

BURST = """
stop = "1 s"
nodes = [{{ names = ["A", "R", "B"] }}]
tcp.host = {{ recovery = "sack", loss_detection = "{detection}", initial_window = {window} }}
links = [
    {{ chain = ["A", "R"], rate = "10 Gbps", delay = "5 us", queue = "unlimited" }},
    {{ chain = ["R", "B"], rate = "900 Mbps", delay = "5 us", queue = {{ kind = "trim", limit = "1 MB" }} }},
]
flows = [{{ group = "f", path = ["A", "R", "B"], tcp = "host", size = "{window} segments" }}]
observe = [{{ name = "rows", kind = "packets" }}, {{ name = "events", kind = "reordering" }}]
"""


def burst(window: int, detection: str = "trimmed", engine: str = "fast"):
    return Scenario.parse(BURST.format(window=window, detection=detection)).run(seed=1, engine=engine, digest=True)


def fates_of_burst(window: int, mark_above: int = DATA_ROOM) -> tuple[list[int], list[int]]:
    """Return the segments of a back-to-back burst that find eight data packets, and others that find more than some.

    Ten headers at most precede a data packet that waits.
    """
    cut, marked, data, headers, row = [], [], [], [], 0
    sending, free = None, 0.0
    for seq in range(window):
        arrival = seq * FAST_US
        while free <= arrival and (data or headers):
            first = bool(headers) and not (data and row == 10)
            row = row + 1 if first and data else 0
            sending = "header" if first else "data"
            (headers if first else data).pop(0)
            free += HEADER_US if first else SLOW_US
        if free <= arrival:
            sending, free = "data", arrival + SLOW_US
        elif (others := len(data) + (sending == "data")) < DATA_ROOM:
            data.append(seq)
            if others > mark_above:
                marked.append(seq)
        else:
            cut.append(seq)
            headers.append(seq)
    return cut, marked


def rows(run, event: str) -> list[int]:
    table = run["rows"]
    return [int(seq) for seq, found in zip(table["seq"], table["event"], strict=True) if found == event]


@pytest.mark.parametrize("window", [8, 9, 20, 60])
def test_burst_is_trimmed_beyond_eight_data_packets(window):
    run = burst(window)
    expected, _ = fates_of_burst(window)
    assert rows(run, "trimmed")[: len(expected)] == expected
    assert (len(expected) > 0) == (window > 8)
    assert not any(run.drops.values())
    # The first header reports each, and the last retransmission ends the transfer without an RTO.
    assert sorted(set(rows(run, "arrived-trimmed"))) == sorted(set(expected))
    assert sorted(rows(run, "resent")) == sorted(rows(run, "arrived-trimmed"))
    assert set(rows(run, "arrived")) == set(range(window))
    assert "timeout" not in list(run["events"]["event"])


def test_report_arrives_one_round_trip_after_the_cut():
    """A header is 64 B, and its report an ACK of 40 B with an option of two blocks at most."""
    table = burst(9)["rows"]
    time = {
        (event, seq): at / 1e6 for at, event, seq in zip(table["time_ps"], table["event"], table["seq"], strict=True)
    }
    at_receiver = time["arrived-trimmed", 8]
    # Segment 0 is in transmission when 8 is cut; the header follows it, and then the delay of 5 us.
    assert at_receiver == pytest.approx(FAST_US + 5 + SLOW_US + HEADER_US + 5)
    # 40 B, 4 B and a block of 8 B over both links.
    back = 52 * 8 / 900 + 5 + 52 * 8 / 10_000 + 5
    assert time["resent", 8] == pytest.approx(at_receiver + back)


def test_segments_of_other_flows_are_dropped_not_trimmed():
    run = burst(20, detection="duplicates")
    assert rows(run, "trimmed") == []
    assert run.drops["queue-full"] > 0


def test_engines_agree_on_trimming():
    assert burst(60).records_sha256 == burst(60, engine="reference").records_sha256


INCAST = {"sweep": {}, "parameters.senders": 32, "parameters.size": "100 kB", "parameters.repath": "packet"}
SEGMENTS = 70
"""Segments of 1448 B in 100 kB."""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_incast_completes_without_losses_and_near_the_capacity(seed):
    """The receiver's link needs 1.2 us per segment. Headers take up to 10 x 64 B per 1500 B: a share of 0.3."""
    trims = {"parameters.kind": "trim", "parameters.loss_detection": "trimmed"}
    ends = {}
    for name, settings in (("drop", {}), ("trim", trims)):
        run = load("trimming").set(INCAST | settings).run(seed=seed)
        ends[name] = np.asarray(run["completions"]["time_ps"]).max() / 1e6
        timeouts = list(run["reordering"]["event"]).count("timeout")
        assert (timeouts == 0) == (name == "trim")
        assert any(run.drops.values()) == (name == "drop")
    least = 32 * SEGMENTS * 1.2
    assert least < ends["trim"] < 1.43 * least
    assert ends["drop"] > 2 * ends["trim"]


@pytest.mark.parametrize("size", ["100 kB", "1 MB"])
def test_nscc_ends_repeated_trimming_that_cubic_has(size):
    """The first window has 37 segments. With 691 segments per flow, CUBIC's are trimmed at least ten times as often."""
    longer = {f"links.{link}.queue.threshold": "36 packets" for link in (1, 2)}
    trimmed = {}
    for control, window in (("nscc", 37), ("cubic", 10)):
        chosen = {"tcp.host.congestion": control, "tcp.host.initial_window": window}
        run = load("nscc").set({"sweep": {}, "parameters.size": size} | longer | chosen).run(seed=1)
        assert not any(run.drops.values())
        trimmed[control] = list(run["packets"]["event"]).count("trimmed") / 32
    assert trimmed["nscc"] < 37
    assert trimmed["cubic"] > 3 * trimmed["nscc"]


@pytest.mark.parametrize("engine", ["reference", "fast"])
@pytest.mark.parametrize("window", [5, 6, 20])
def test_burst_is_marked_beyond_the_mark_threshold(window, engine):
    world = Scenario.parse(BURST.format(window=window, detection="trimmed"))
    settings = {"links.1.queue.mark_threshold": "4 packets", "tcp.host.ecn": "dctcp"}
    run = world.set(settings).run(seed=1, engine=engine)
    cut, marked = fates_of_burst(window, mark_above=4)
    assert rows(run, "marked")[: len(marked)] == marked
    assert rows(run, "trimmed")[: len(cut)] == cut
    assert bool(marked) == (window > 5)


@pytest.mark.parametrize("module", [capture, ns2])
def test_trimmed_packets_are_not_exported_as_traces(module, tmp_path):
    world = Scenario.parse(BURST.format(window=20, detection="trimmed"))
    Study(world, {}, seeds=1).run(tmp_path)
    with pytest.raises(InputError, match="a queue trimmed packets, which these traces cannot show"):
        list(module.files(tmp_path, Chosen()))
