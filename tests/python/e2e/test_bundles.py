"""LBAS paper with the compiled simulator, at a hundredth of its rate."""

import csv

import pytest

from optcp import Study, StudyResult, load
from optcp_papers.lbas import outcome

SMALL = {
    "stop": "4 s",
    "parameters.rate": "100 Mbps",
    "parameters.buffer": "125 kB",
    "parameters.far_buffer": "125 kB",
    "parameters.hosts": "2",
    "parameters.warm_up": "2 s",
    "parameters.batch": "1 s",
}
"""Ten flows per lightpath in each direction."""


def test_a_run_writes_what_its_ports_counted(command, tmp_path):
    settings = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
    command("run", "lbas", *settings, "--out", "out")
    command("export", "out", "--format", "csv")
    with (tmp_path / "out" / "export" / "lightpaths.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    counted = ["packets", "bytes", "dropped", "dropped_bytes", "mean_bytes", "longest_ps", "marked"]
    assert list(rows[0]) == ["cell", "seed", "time_ps", "port", *counted]
    # Two lightpaths, two directions, batches that end at 3 s and at 4 s.
    assert [(row["seed"], row["time_ps"], row["port"]) for row in rows[:2]] == [
        ("1", "3000000000000", "lightpath0:L->R"),
        ("1", "4000000000000", "lightpath0:L->R"),
    ]
    assert len(rows) == 2 * 2 * 2
    ((_, (run,)),) = StudyResult.open(tmp_path / "out")
    assert set(run.drops) == {"queue-full"}


@pytest.mark.parametrize("selection", ["anycast", "destination"])
def test_lightpaths_respect_their_rate(selection):
    done = Study(load("lbas").set(SMALL | {"parameters.selection": selection})).run(jobs=1)
    ((_, (run,)),) = done
    found = outcome.to_json(run)
    for values in zip(*(found[name] for name in ("throughput_gbps", "queue_mb", "metro_drop_mbps")), strict=True):
        throughput, queue, metro = values
        # 100 Mb/s and 125 kB: packets queued at the end of a batch were accepted but not yet sent.
        assert 0.02 < throughput < 0.1 + 0.125 * 8 / 1000
        assert 0 < queue < 0.125
        assert metro == 0
    assert max(found["core_longest_ms"]) <= 10
