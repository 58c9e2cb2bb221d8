"""`optcp outage` with shared risks of the file: failures, backups that avoid them, and networks without risks."""

import json

import pytest

from optcp.outage.asked import OutageQuery
from optcp.outage.backups import Backup, dedicated
from optcp.outage.capacity import spare_of

LINKS = """from,to,length (km),risks
A,B,100,duct 1;bridge
A,P,100,duct 1
P,B,100,
A,Q,150,
Q,B,150,bridge
"""


@pytest.fixture
def ducts(tmp_path, monkeypatch):
    """Write three paths from A to B; the shortest one shares a duct with the second and a bridge with the third."""
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    (tmp_path / "demands.csv").write_text("from,to,weight\nA,B,1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_risks_of_the_file_fail_at_once(ducts):
    asked = OutageQuery.of("links.csv", failures="risks")
    assert [(one.name, one.links, one.km) for one in asked.events] == [
        ("duct 1", ("A-B", "A-P"), 100), ("bridge", ("A-B", "Q-B"), 150)
    ]  # fmt: skip


def test_backups_avoid_shared_risks(optcp, ducts):
    # Without the bridge, only the path over Q shares no risk with A-B.
    (ducts / "links.csv").write_text(LINKS.replace(";bridge", ""), encoding="utf-8")
    mechanisms = ("lfa", "lfa-risk", "ti-lfa", "ti-lfa-risk")
    chosen = [part for name in mechanisms for part in ("--mechanism", name)]
    set_ = ("--set", "rate_mbps=20", "--set", "window_s=1", "--jobs", "1", "--out", "out")
    status, _, err = optcp("outage", "links.csv", "--failures", "risks", *chosen, *set_)
    assert status == 0, err
    found = json.loads((ducts / "out" / "outage.json").read_text())["costs"]
    broken_ms = {one["mechanism"]: one["network_p50_ms"] for one in found if one["failure"] == "duct 1"}
    # Backups over P fail, too: the path stays broken until convergence. Over Q it is broken for the detection time.
    assert broken_ms["ti-lfa-risk"] == pytest.approx(10)
    # Routers with lfa update their tables separately, which causes a loop of ACKs.
    assert 10 <= broken_ms["lfa-risk"] < 20
    assert min(broken_ms["lfa"], broken_ms["ti-lfa"]) > 30


LONG_WAY = """from,to,length (km),risks
A,B,100,duct 1
A,P,100,duct 1
P,B,100,
A,Q,150,
Q,R,10,
R,B,150,
"""


def test_dedicated_backups_avoid_shared_risks(optcp, ducts):
    # The second path of the shortest pair leads over P, in the duct of the first one. The backup leads over Q and R.
    (ducts / "links.csv").write_text(LONG_WAY)
    asked = OutageQuery.of("links.csv", failures="risks", mechanisms=["1:1", "1+1"])
    assert dedicated(asked.network, 5.0) == {("A", "B"): Backup(1, 3, shares=False)}
    spare = spare_of(asked.network, asked.assumed.world, ["A-B"])
    assert spare["1:1"].spare == spare["1+1"].spare == 3
    # A detour of local protection leads there, too: 3 hops instead of one.
    assert spare["local"].spare == 3
    set_ = ("--set", "rate_mbps=20", "--set", "window_s=1", "--jobs", "1", "--out", "out")
    status, _, err = optcp("outage", "links.csv", "--failures", "risks", "--mechanism", "1+1", *set_)
    assert status == 0, err
    assert "shares a risk" not in err
    (found,) = json.loads((ducts / "out" / "outage.json").read_text())["costs"]
    assert found["network_p50_ms"] == pytest.approx(10)


def test_backups_that_share_a_risk_are_stated(ducts):
    # Each other path from A to B shares a risk with the link.
    asked = OutageQuery.of("links.csv", mechanisms=["none", "1:1", "path", "1+1"])
    assert dedicated(asked.network, 5.0) == {("A", "B"): Backup(1, 2, shares=True)}
    said = "1:1; 1+1: the backup path shares a risk with the working path: A to B"
    assert said in [one.message for one in asked.exclusions()]
    assert not any("shares" in one.message for one in OutageQuery.of("links.csv", mechanisms=["none"]).exclusions())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--mechanism", "ti-lfa", "--mechanism", "ti-lfa-risk"],
            "--mechanism ti-lfa-risk: links.csv: the network has no",
        ),
        (["--failures", "risks"], "no shared risks, such as a column `risks` of links; choose other --failures"),
    ],
)
def test_network_without_risks_is_refused(optcp, ducts, arguments, said):
    (ducts / "links.csv").write_text("from,to,length (km)\nA,B,1\nB,C,1\nC,A,1\n", encoding="utf-8")
    status, out, err = optcp("outage", "links.csv", *arguments)
    assert (status, out) == (2, "")
    assert said in err
