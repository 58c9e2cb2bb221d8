"""`optcp outage` with shared risks of the file: failures, backups that avoid them, and networks without risks."""

import json

import pytest

from optcp.outage.asked import OutageQuery

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
