"""A trace of a million events in Perfetto's own trace processor, exported with limited memory."""

import os
import subprocess
import sys
from collections import Counter

import pyarrow.parquet
import pytest

from studies import study_in
from trace_processor import loaded

WORLD = """
title = "a million events"
stop = "42 s"
[[nodes]]
names = ["A", "R", "S", "B"]
[[links]]
chain = ["A", "R"]
rate = "200 Mbps"
delay = "1 ms"
queue = "1000 packets"
[[links]]
chain = ["R", "S"]
rate = "100 Mbps"
delay = "5 ms"
queue = "100 packets"
[[links]]
chain = ["S", "B"]
rate = "200 Mbps"
delay = "1 ms"
queue = "1000 packets"
[[failures]]
link = ["R", "S"]
at = "20 s"
repair = "21 s"
[[flows]]
group = "long"
per_source = 20
path = ["A", "R", "S", "B"]
start = "uniform(0 s, 1 s)"
[[observe]]
name = "seen"
kind = "packets"
[[observe]]
name = "windows"
kind = "tcp"
[[observe]]
name = "queue"
kind = "queue"
interval = "10 ms"
[[observe]]
name = "stalls"
kind = "outages"
after = "19 s"
"""
LIMIT = 384 * 2**20
"""Bytes of data that the process may have; the rows as Python objects need more."""
LIMITED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, ({LIMIT}, {LIMIT}))
from optcp.cli.main import main
sys.argv = ["optcp", "export", "out", "--format", sys.argv[1]]
main()
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return a study with more than a million observed packets, and the columns of that table."""
    place = tmp_path_factory.mktemp("million")
    (place / "world.toml").write_text(WORLD, encoding="utf-8")
    out = study_in(place, "world.toml")
    rows = pyarrow.parquet.read_table(out / "seen", columns=["event", "flow", "ack", "seq", "reason"])
    assert len(rows) > 1_000_000
    return out, rows


def exported(study, form):
    """Export with limited memory; return the only file."""
    if sys.platform != "linux":
        pytest.skip("only Linux limits the data of a process")
    # Each thread of OpenBLAS reserves memory.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", LIMITED, form]
    done = subprocess.run(command, cwd=study.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return study.parent / done.stdout.strip()


def test_trace_of_a_million_events_has_the_counts_of_the_tables(study):
    out, rows = study
    table = Counter(rows["event"].to_pylist())
    reasons = Counter(f"dropped ({reason})" for reason in rows["reason"].to_pylist() if reason)
    with loaded(exported(out, "perfetto")) as trace:
        # Statistics about errors and lost data; others count packets.
        assert trace.query("select name, value from stats where value > 0 and severity != 'info'") == []
        names = dict(trace.query("select name, count(*) as n from slice group by name"))
        ends = {"sent": "sent", "retransmitted": "resent", "ACK received": "acked", "arrived": "arrived"}
        assert {name: names[name] for name in ends} == {name: table[event] for name, event in ends.items()}
        assert {name: count for name, count in names.items() if name.startswith("dropped")} == reasons
        assert names["path outage"] == 40
        down = trace.query("select ts, dur from slice where name = 'down'")
        assert down == [(20_000_000_000, 1_000_000_000)]

        stalls = pyarrow.parquet.read_table(out / "stalls").to_pylist()
        assert sorted(trace.query("select ts, dur from slice where name = 'stall'")) == sorted(
            (
                (row["time_ps"] - row["gap_ps"]) // 1000,
                row["time_ps"] // 1000 - (row["time_ps"] - row["gap_ps"]) // 1000,
            )
            for row in stalls
        )
        # Every slice ends, in the run.
        assert trace.query("select count(*) as n from slice where dur < 0 or ts + dur > 42000000000") == [(0,)]

        sql = """select s.ts as lost, r.ts as repaired, s.name as loss, r.name as repair from flow
                 join slice s on slice_out = s.id join slice r on slice_in = r.id"""
        arrows = trace.query(sql)
        assert all(lost < repaired for lost, repaired, _, _ in arrows)
        assert {(loss in reasons, repair) for _, _, loss, repair in arrows} == {(True, "retransmitted")}
        assert len(arrows) == repaired(rows) > 5_000

        # The last window of each flow.
        windows = {}
        for row in pyarrow.parquet.read_table(out / "windows", columns=["flow", "cwnd_bytes"]).to_pylist():
            windows[row["flow"]] = row["cwnd_bytes"]
        sql = """select p.name as flow, c.value as cwnd from counter c join track t on c.track_id = t.id
                 join track p on t.parent_id = p.id where t.name = 'cwnd' order by c.ts"""
        assert dict(trace.query(sql)) == windows
        lengths = pyarrow.parquet.read_table(out / "queue", columns=["port", "max_packets"]).to_pylist()
        sql = """select p.name as port, sum(c.value) as total, count(*) as n from counter c
                 join track t on c.track_id = t.id join track p on t.parent_id = p.id
                 where t.name = 'queue, maximum' group by p.name"""
        totals, counts = Counter(), Counter(row["port"] for row in lengths)
        for row in lengths:
            totals[row["port"]] += row["max_packets"]
        assert {port: (total, count) for port, total, count in trace.query(sql)} == {
            port: (totals[port], count) for port, count in counts.items()
        }


def test_log_of_a_million_events_fits_into_memory(study):
    out, rows = study
    table = Counter(rows["event"].to_pylist())
    path = exported(out, "qlog")
    names = Counter()
    with path.open(encoding="utf-8") as file:
        for line in file:
            names[line.partition('"name": "')[2].partition('"')[0]] += 1
    assert names["transport:packet_sent"] == table["sent"] + table["resent"]
    assert names["transport:packet_received"] == table["acked"]
    assert names["simulation:marker"] == table["dropped"]


def repaired(rows):
    """Return the number of lost segments that were retransmitted later."""
    last, count = {}, 0
    columns = [rows[name].to_pylist()[::-1] for name in ("event", "flow", "ack", "seq")]
    for event, flow, ack, seq in zip(*columns, strict=True):
        if event == "resent":
            last[flow, seq] = True
        elif event == "dropped" and not ack:
            count += (flow, seq) in last
    return count
