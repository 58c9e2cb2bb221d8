"""Output of ``optcp validate --paths`` for ECMP flows, and for protected links with routing."""

from collections import Counter

import optcp
from optcp.plots.network import of_core

WORLD = """
title = "Two leaves, two spines"
stop = "1 s"

[routing]
ecmp = "hash-threshold"

[[nodes]]
names = ["A", "B", "P", "Q"]

[[nodes]]
group = "H"
count = 2

[[links]]
chains = [["A", "P", "B", "Q", "A"], ["A", "H"]]
rate = "1 Gbps"
delay = "1 ms"
queue = "100 packets"

[[flows]]
group = "f"
from = "H"
to = "B"
per_source = 20

[[protection]]
backup = "auto"
switch_delay = "50 ms"
"""


def printed(command, tmp_path, *more):
    path = tmp_path / "world.toml"
    path.write_text(WORLD, encoding="utf-8")
    status, out, _ = command("validate", str(path), "--paths", *more)
    assert status == 0
    return out


def test_every_flow_has_path_of_its_hash(optcp, tmp_path):
    lines = printed(optcp, tmp_path).splitlines()
    ways = [line.split()[1:5] for line in lines if line.startswith("f/")]
    assert len(ways) == 40
    assert {tuple(way[:2] + way[3:]) for way in ways} == {("H0", "A", "B"), ("H1", "A", "B")}
    over = Counter(way[2] for way in ways)
    # Of 40 flows each spine has about 20; five standard deviations are 16.
    assert set(over) == {"P", "Q"}
    assert max(over.values()) <= 36
    spread = next(line for line in lines if line.startswith("A   "))
    assert spread.split() == ["A", "1", "A->P", str(over["P"]), "A->Q", str(over["Q"])]
    # ACKs go from B to two hosts.
    back = next(line for line in lines if line.startswith("B   ")).split()
    assert (back[1], int(back[3]) + int(back[5])) == ("2", 40)


def test_runs_have_different_hashes(optcp, tmp_path):
    assert printed(optcp, tmp_path, "--seed", "1") != printed(optcp, tmp_path, "--seed", "2")
    fixed = ("--set", "routing.ecmp_seed=5")
    assert printed(optcp, tmp_path, "--seed", "1", *fixed).replace("seed 1", "seed 2") == printed(
        optcp, tmp_path, "--seed", "2", *fixed
    )


def test_backups_of_links_are_for_all_that_is_routed(optcp, tmp_path):
    lines = [line.split() for line in printed(optcp, tmp_path).splitlines() if line.startswith("(routed)")]
    assert lines == [
        ["(routed)", "A-P", "A", "Q", "B", "P"],
        ["(routed)", "P-B", "P", "A", "Q", "B"],
        ["(routed)", "B-Q", "B", "P", "A", "Q"],
        ["(routed)", "Q-A", "Q", "B", "P", "A"],
    ]


def test_map_width_shows_flows_per_hash(tmp_path):
    path = tmp_path / "world.toml"
    path.write_text(WORLD, encoding="utf-8")
    core = optcp.load(path).core
    ports = [port for way in core.hashed(1)["ways"].values() for port in way["ports"]]
    for port in ("A->P", "A->Q"):
        assert f"{port.replace('->', '-')}: {ports.count(port)} flows" in of_core(core).replace("Q-A", "A-Q")


def test_ports_have_limits_in_bytes(optcp, tmp_path):
    path = tmp_path / "world.toml"
    path.write_text(PORTS, encoding="utf-8")
    status, out, _ = optcp("validate", str(path), "--ports")
    assert status == 0
    assert [line.split() for line in out.splitlines()[-4:]] == [
        # 1 Gbit/s for 5 ms.
        ["A->B", "1.000", "Gbps", "1", "ms", "625", "kB", "5", "ms", "drop-tail"],
        ["B->A", "10.000", "Mbps", "1", "ms", "50", "packets", "codel"],
        # Data take 12 us and 120 us, the ACK 3.2 us and 32 us, and light 6 ms: half of 6.1672 ms at 100 Mbit/s.
        ["spare:B->C", "100.000", "Mbps", "2", "ms", "38.545", "kB", "3.084", "ms", "drop-tail"],
        ["spare:C->B", "100.000", "Mbps", "2", "ms", "unlimited", "drop-tail"],
    ]


PORTS = """title = "ports"
stop = "1 s"
nodes = [{ names = ["A", "B", "C"] }]
flows = [{ group = "f", path = ["A", "B", "C"] }]

[[links]]
chain = ["A", "B"]
rate = "1 Gbps"
delay = "1 ms"
queue = "5 ms"
reverse = { rate = "10 Mbps", queue = { kind = "codel", limit = "50 packets" } }

[[links]]
chain = ["B", "C"]
name = "spare"
rate = "100 Mbps"
delay = "2 ms"
queue = "0.5 BDP"
reverse = { queue = "unlimited" }
"""
