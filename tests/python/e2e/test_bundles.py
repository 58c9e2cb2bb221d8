"""The LBAS paper with the compiled simulator, at a hundredth of its rate."""

import json
import subprocess
import sys

import pytest

SMALL = {
    "stop": "4 s",
    "parameters.rate": "100 Mbps",
    "parameters.buffer": "125 kB",
    "parameters.far_buffer": "125 kB",
    "parameters.hosts": "2",
    "parameters.warm_up": "2 s",
    "parameters.batch": "1 s",
}
"""Ten flows a lightpath in each direction."""

REDUCE = """
import json, sys
from optcp import _core
from optcp.papers.lbas import outcome
from optcp.papers.lbas.paper import SCENARIO
from optcp.study.store import RunData
settings = json.loads(sys.argv[1])
run = _core.Scenario.load(str(SCENARIO), list(settings.items())).run(1)
print(json.dumps({"counts": run.counts, "drops": run.drops, **outcome.to_json(RunData.of(run, 0.0))}))
"""


def test_a_run_writes_what_its_ports_counted(command, tmp_path):
    settings = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
    command("run", "lbas", *settings, "--out", "out")
    command("export", "out", "--format", "csv")
    lines = (tmp_path / "out" / "seed-1" / "lightpaths.csv").read_text().splitlines()
    assert lines[0] == "time_ps,port,packets,bytes,dropped,dropped_bytes,mean_bytes,longest_ps"
    # Two lightpaths, two directions, batches that end at 3 s and at 4 s.
    assert [line.split(",")[:2] for line in lines[1:3]] == [
        ["3000000000000", "lightpath0:L->R"],
        ["4000000000000", "lightpath0:L->R"],
    ]
    assert len(lines) == 1 + 2 * 2 * 2
    meta = json.loads((tmp_path / "out" / "seed-1" / "meta.json").read_text())
    assert set(meta["drops"]) == {"queue-full"}


@pytest.mark.parametrize("selection", ["anycast", "destination"])
def test_lightpaths_carry_what_they_can(selection):
    settings = json.dumps(SMALL | {"parameters.selection": selection})
    done = subprocess.run([sys.executable, "-c", REDUCE, settings], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    for values in zip(*(found[name] for name in ("throughput_gbps", "queue_mb", "metro_drop_mbps")), strict=True):
        throughput, queue, metro = values
        # 100 Mb/s and 125 kB; what stands at the end of a batch was taken and not yet sent.
        assert 0.02 < throughput < 0.1 + 0.125 * 8 / 1000
        assert 0 < queue < 0.125
        assert metro == 0
    assert max(found["core_longest_ms"]) <= 10
