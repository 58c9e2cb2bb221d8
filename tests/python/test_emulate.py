"""Real packets in the network of a scenario, where namespaces and TUN devices can be created."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from optcp import _core
from optcp.emulate import hosts, one, sockets, traffic
from optcp.emulate.one import Task, once
from optcp.errors import InputError, RunFailed
from optcp.study.done import StudyResult

LINK = """title = "one link"
stop = "3 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "$rate", delay = "20 ms", queue = "100 packets" }]
flows = [{ group = "all", path = ["A", "B"], tcp = "linux-6", size = "$size", start = "100 ms" }]
observe = [
  { name = "goodput", kind = "goodput", interval = "100 ms" },
  { name = "completions", kind = "completions" },
]

[parameters]
rate = "10 Mbps"
size = "1 MB"
"""
OWN = f"optcp-{os.getpid()}"
"""Beginning of namespaces, which other processes do not use."""
NODES = {"A": f"{OWN}-a", "B": f"{OWN}-b"}


def possible():
    """Whether this machine can create what the tests need."""
    try:
        hosts.check()
        with hosts.created(hosts.named(NODES), 1500) as devices:
            for device in devices:
                os.close(device)
    except RunFailed:
        return False
    return True


needs_hosts = pytest.mark.skipif(not possible(), reason="namespaces or TUN devices cannot be created here")


@pytest.fixture
def link(tmp_path):
    path = tmp_path / "link.toml"
    path.write_text(LINK, encoding="utf-8")
    return path


def loaded(path, **settings):
    return _core.Scenario.load(
        str(path), [(f"parameters.{name}", json.dumps(value)) for name, value in settings.items()]
    )


@needs_hosts
def test_real_transfer_takes_as_long_as_the_link_requires(link):
    found = once(loaded(link), 1, Task(NODES))
    assert found.overrun == found.refused == 0
    columns = found.run.table("completions")[1]
    # 1 MB in segments of 1448 bytes, 1500 bytes on the wire, takes 829 ms at 10 Mb/s. Handshake and last segment take
    # 60 ms. A busy machine adds to this: tests/python/test_user_mode_kernel.py has the upper bound.
    sending_s = -(-1_000_000 // 1448) * 1500 * 8 / 10e6
    assert sending_s + 0.06 <= columns["time_ps"][0] / 1e12 < 3
    samples = [one for one in found.sockets if one["node"] == "A"]
    assert {one["port"] for one in samples} == {traffic.FIRST_PORT}
    assert {(one["peer"], one["peer_port"]) for one in samples} == {("10.77.0.2", traffic.SERVER_PORT)}
    assert min(one["rtt_us"] for one in samples if one["rtt_us"]) >= 40_000
    assert max(one["acked_bytes"] for one in samples) >= 950_000
    assert max(one["received_bytes"] for one in found.sockets if one["node"] == "B") >= 950_000


@needs_hosts
def test_run_ends_with_its_command(link, capfd):
    ping = "import socket, time\n"
    found = once(loaded(link), 1, Task(NODES, [sys.executable, "-c", f"{ping}print(2 + 2); raise SystemExit(3)"]))
    assert found.status == 3
    assert found.ended_s < 2
    assert capfd.readouterr().out == "4\n"


ECHO = """
import socket, sys, time
kind, peer = sys.argv[1:]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
s.setsockopt(socket.IPPROTO_IP, 13, 1)  # IP_RECVTOS
if kind == "serve":
    s.bind(("", 9000))
    while True:
        data, extra, _, peer = s.recvmsg(100, 100)
        s.sendto(data + bytes([extra[0][2][0]]), peer)
s.settimeout(0.5)
began = time.monotonic()
while time.monotonic() < began + 2.2:
    sent = time.monotonic()
    s.sendto(b"x" * 50, (peer, 9000))
    try:
        data = s.recv(100)
        print(f"{sent - began:.6f} {time.monotonic() - sent:.6f} {data[-1]}")
    except TimeoutError:
        print(f"{sent - began:.6f} lost 0")
    time.sleep(0.02)
"""


def echoed(link, capfd, more=""):
    """Send datagrams there and back for 2.2 s: send time, RTT and the received ECN field of each."""
    link.write_text(LINK + more, encoding="utf-8")
    program = link.with_name("echo.py")
    program.write_text(ECHO, encoding="utf-8")
    python = f"{sys.executable} {program}"
    command = ["sh", "-c", f"sleep 0.2; {python} ask 10.77.0.2"]
    found = once(loaded(link), 1, Task(NODES, command, [(NODES["B"], f"{python} serve -")]))
    assert found.status == 0
    rows = [line.split() for line in capfd.readouterr().out.splitlines()]
    return found, [(float(at), None if rtt == "lost" else float(rtt), int(bits)) for at, rtt, bits in rows]


@needs_hosts
def test_failures_happen_at_their_time(link, capfd):
    found, rows = echoed(link, capfd, '[[failures]]\nlink = ["A", "B"]\nat = "1 s"\nrepair = "1.4 s"\n')
    # The command starts some time after the network, and a lost datagram is followed by a wait of 0.5 s.
    lost = [at for at, rtt, _ in rows if rtt is None]
    assert 1 <= len(lost) <= 2
    kept = [rtt for _, rtt, _ in rows if rtt is not None]
    # Both directions: 20 ms and 78 bytes at 10 Mb/s (79 in the other direction).
    assert min(kept) >= 2 * 0.02 + (78 + 79) * 8 / 10e6
    assert found.run.counts["dropped"] >= len(lost)


@needs_hosts
def test_queues_mark_real_packets(link, capfd):
    marks = LINK.replace(
        'queue = "100 packets"', 'queue = "100 packets", aqm = { kind = "step", threshold = "0 packets" }'
    )
    link.write_text(marks, encoding="utf-8")
    _, rows = echoed(link, capfd)
    assert {bits for _, rtt, bits in rows if rtt is not None} <= {2, 3}


@needs_hosts
def test_emulated_runs_form_a_study(optcp, link, tmp_path, monkeypatch):
    # Other tests keep the processors busy.
    monkeypatch.setattr(one, "MOST_LATE_S", 1.0)
    nodes = [word for node, namespace in NODES.items() for word in ("--node", f"{node}={namespace}")]
    command = ["emulate", str(link), *nodes, "--set", "parameters.size=100 kB", "--compare", "--out", "out"]
    status, out, _ = optcp(*command)
    assert status == 0
    assert "late by" in out
    assert "completion_mean_s" in out
    done = StudyResult.open(tmp_path / "out")
    assert [axis.name for axis in done.grid.axes] == ["hosts"]
    rows = done.compare(at={"hosts": "simulated"}).rows
    mean = next(row for row in rows if row.metric == "completion_mean_s")
    # The link sends 69 segments in 83 ms, after the handshake of 40 ms, and the last one takes 20 ms.
    assert min(mean.value, mean.reference) >= 0.143
    assert (tmp_path / "out" / "real" / "seed-1.pcapng").stat().st_size > 100_000
    assert json.loads((tmp_path / "out" / "real" / "seed-1.json").read_text())["packets"] > 100
    # The stored run is not repeated.
    status, out, _ = optcp(*command)
    assert status == 0
    assert "late by" not in out


@needs_hosts
def test_late_runs_fail_and_are_not_stored(optcp, link, tmp_path, monkeypatch):
    monkeypatch.setattr(one, "MOST_LATE_S", 0.0)
    nodes = ["--node", f"A={OWN}-a", "--node", f"B={OWN}-b"]
    status, _, err = optcp("emulate", str(link), *nodes, "--out", "out")
    assert status == 1
    assert "the run of seed 1 is not valid: 99.9 % of the packets were up to" in err
    assert not list((tmp_path / "out" / "parts").glob("*.json"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--node", "A"], "two nodes or more are needed"),
        (["--node", "A", "--node", "B", "--also", "B iperf3"], "expected NAMESPACE:COMMAND"),
        (["--node", "A", "--node", "B", "--compare", "--", "true"], "leave COMMAND out"),
    ],
)
def test_wrong_options_are_refused(optcp, link, arguments, message):
    status, _, err = optcp("emulate", str(link), *arguments)
    assert status == 2
    assert message in err


@pytest.mark.skipif(not hosts.NAMESPACES.parent.exists() or shutil.which("unshare") is None, reason="no `unshare`")
@needs_hosts
def test_user_namespaces_suffice(link, tmp_path):
    words = ["unshare", "--user", "--map-root-user", "--net", "--mount", sys.executable, "-m", "optcp"]
    nodes = ["--node", f"A={OWN}-a", "--node", f"B={OWN}-b"]
    command = [*words, "emulate", str(link), *nodes, "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr:
        pytest.skip("user namespaces are not allowed here")
    # There, the emulation has no priority: on a busy machine it says that it was late.
    assert "late by" in done.stdout or "is not valid: 99.9 % of the packets" in done.stderr


def test_fields_of_tcp_info_are_those_of_the_operating_system():
    tcp_info = 11
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:

        def state():
            return sockets.info(client.getsockopt(socket.IPPROTO_TCP, tcp_info, 256))

        before = state()
        assert before["state"] == 1  # established
        assert before["mss_bytes"] == client.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        assert (before["cwnd"], before["retransmitted"]) == (10, 0)
        client.sendall(b"x" * 1000)
        with server.accept()[0] as accepted:
            accepted.recv(1000)
            accepted.sendall(b"y" * 10)
            client.recv(10)
        after = state()
        assert after["acked_bytes"] - before["acked_bytes"] == 1000
        # Linux counts the SYN too.
        assert after["received_bytes"] - before["received_bytes"] in (10, 11)


@needs_hosts
@pytest.mark.parametrize(
    ("nodes", "services", "message"),
    [
        ({"A": f"{OWN}-a", "C": f"{OWN}-c"}, (), "--node C: the scenario has no such node; there are: A, B"),
        ({"A": "optcp-test", "B": "optcp-test"}, (), "two nodes have the same namespace"),
        ({"A": "a b", "B": "b"}, (), "namespace `a b`: expected letters"),
        (NODES, [("nowhere", "true")], "no such namespace"),
    ],
)
def test_wrong_names_are_refused(link, nodes, services, message):
    with pytest.raises(InputError, match=message):
        once(loaded(link), 1, Task(nodes, ["true"], services))


@needs_hosts
def test_packets_without_a_flow_end_the_run(tmp_path):
    path = tmp_path / "three.toml"
    path.write_text(LINK.replace('["A", "B"] }', '["A", "B", "C"] }', 1), encoding="utf-8")
    nodes = {**NODES, "C": f"{OWN}-c"}
    program = "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('10.77.0.3', 9)); input()"
    with pytest.raises(InputError, match="no flow between"):
        once(
            loaded(path),
            1,
            Task(nodes, [sys.executable, "-c", f"import time; {program.replace('input()', 'time.sleep(5)')}"]),
        )


@pytest.mark.parametrize(
    ("place", "message"),
    [("platform", "needs Linux"), ("which", "needs the command `ip`"), ("geteuid", "unshare --user")],
)
def test_machines_that_cannot_emulate_say_why(monkeypatch, place, message):
    monkeypatch.setattr(os, "access", lambda *_: True)
    monkeypatch.setattr(sys, "platform", "darwin" if place == "platform" else "linux")
    monkeypatch.setattr(shutil, "which", lambda _: None if place == "which" else "/bin/ip")
    monkeypatch.setattr(os, "geteuid", lambda: 1000 if place == "geteuid" else 0)
    with pytest.raises(RunFailed, match=message):
        hosts.check()


@needs_hosts
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_ended_command_leaves_no_namespaces(link, tmp_path, number, sigint_is_not_ignored):
    names = [f"{OWN}-x", f"{OWN}-y"]
    nodes = ["--node", f"A={names[0]}", "--node", f"B={names[1]}"]
    words = [sys.executable, "-m", "optcp", "emulate", str(link), *nodes, "--out", str(tmp_path / "out")]
    with subprocess.Popen([*words, "--", "sleep", "30"], stderr=subprocess.PIPE, text=True) as command:
        deadline = time.monotonic() + 30
        while not all((hosts.NAMESPACES / name).exists() for name in names) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        command.send_signal(number)
        _, err = command.communicate(timeout=30)
    assert command.returncode == 130
    assert "interrupted: 0 of 1 run is finished" in err
    assert not any((hosts.NAMESPACES / name).exists() for name in names)


@needs_hosts
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--node", "A", "--node", "Z"], "--node Z: the scenario has no such node; there are: A, B"),
        (["--node", "A", "--node", "B", "--also", "C:true"], "--also C: no such namespace"),
        (["--node", "A", "--node", "B", "--congestion", "cubix"], "--congestion cubix: not available here"),
    ],
)
def test_wrong_names_leave_nothing_behind(optcp, link, tmp_path, options, message):
    status, _, err = optcp("emulate", str(link), *options, "--out", "out")
    assert status == 2
    assert message in err
    assert not (tmp_path / "out").exists()
