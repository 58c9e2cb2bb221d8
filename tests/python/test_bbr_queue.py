"""The queue that one BBR flow keeps, beside Linux 6.1 in simulated time.

The recorded means are of the same scenarios with real packets: ``optcp emulate SCENARIO --kernel KERNEL --node A
--node B``. All six repetitions of each are equal.
"""

import pytest

from optcp import Study

SCENARIO = """
title = "One BBR flow"
stop = "6 s"
nodes = [{{ names = ["A", "B"] }}]
observe = [{{ name = "queue", kind = "queue", interval = "10 ms", links = [["A", "B"]] }}]

[[links]]
chain = ["A", "B"]
rate = "{rate} Mbps"
delay = "{delay} ms"
queue = "1000 packets"

[[flows]]
group = "all"
path = ["A", "B"]
tcp = "hosts"
start = "100 ms"

[tcp.hosts]
profile = "linux-6"
congestion = "bbr"
handshake = true
"""
MSS = 1448


@pytest.mark.parametrize(
    ("rate", "delay", "recorded"),
    [(5, 5, 6.92), (10, 7, 6.11), (10, 20, 5.84), (20, 10, 5.85), (50, 10, 12.75), (100, 20, 26.12)],
)
def test_the_queue_differs_from_linux_by_less_than_half_a_burst(tmp_path, rate, delay, recorded):
    path = tmp_path / "flow.toml"
    path.write_text(SCENARIO.format(rate=rate, delay=delay))
    queue = Study(path, seeds=1).run(tmp_path / "out")["queue"].to_pandas()
    mean = queue[(queue.port == "A->B") & (queue.time_ps > 1e12)].mean_packets.mean()
    # Linux sends the segments of 1/1024 s together, and at least two. OpTCP sends them individually.
    burst = max(2, rate * 1e6 / 8 / 1024 // MSS)
    assert abs(mean - recorded) < burst / 2
