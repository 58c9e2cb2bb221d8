"""One run on several threads: what is found does not depend on their number."""

from __future__ import annotations

import numpy as np
import pytest

import optcp
from optcp.errors import InputError
from optcp.processors import processors

#: Three routers in a row, milliseconds apart, with flows both ways, queues that overflow, and a failure.
WORLD = """
stop = "1500 ms"
[tcp.modern]
profile = "linux-6"
[[nodes]]
names = ["A", "B", "C"]
[[links]]
chains = [["A", "B"], ["B", "C"]]
rate = "1 Gbps"
delay = "5 ms"
queue = "60 packets"
[[traffic]]
group = "noise"
path = ["A", "B"]
process = "poisson"
rate = "100 Mbps"
size = "1000 B"
[[failures]]
link = ["B", "C"]
at = "1 s"
repair = "1100 ms"
[[observe]]
name = "goodput"
kind = "goodput"
interval = "100 ms"
[[observe]]
name = "drops"
kind = "drops"
links = [["A", "B"], ["B", "C"]]
""" + "".join(
    f"""
[[flows]]
group = "{group}{number}"
path = {path}
tcp = "modern"
start = "uniform(0 s, 100 ms)"
"""
    for group, path in [("there", '["A", "B", "C"]'), ("back", '["C", "B", "A"]')]
    for number in range(10)
)


def test_what_is_found_does_not_depend_on_the_threads() -> None:
    world = optcp.Scenario.parse(WORLD)
    reference = world.core.run(1, digest=True, kernel="reference")
    assert reference.counts["dropped"] > 100
    # More threads than processors sleep at once and are slow, but the same.
    for kernel, threads in [("calendar", 1), ("fast", 1), ("fast", 2), ("fast", 3)]:
        run = world.core.run(1, digest=True, kernel=kernel, threads=threads)
        assert run.records_sha256 == reference.records_sha256, (kernel, threads)
        assert run.metrics_sha256 == reference.metrics_sha256, (kernel, threads)
        for name, columns in reference.series.items():
            for column, values in columns.items():
                np.testing.assert_array_equal(np.asarray(run.series[name][column]), np.asarray(values))


@pytest.mark.parametrize("threads", [0, -1, processors() + 1])
def test_there_are_no_more_threads_than_processors(threads: int) -> None:
    with pytest.raises(InputError, match=f"threads are 1 to {processors()} here"):
        optcp.Scenario.parse(WORLD).run(1, threads=threads)
