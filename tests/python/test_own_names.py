"""Names of the topology file in every table of `optcp outage` and `optcp validate --paths`."""

import csv
import json
import re

import pytest

from optcp.outage import events
from optcp.outage.network import Network
from optcp.scenarios.own_names import OwnNames

LINKS = """from,to,rate (Gbps),length (km)
A Coruña,St. Denis/Nord,10,100
St. Denis/Nord,Málaga,10,200
Málaga,A Coruña,10,300
Málaga,A Coruña,10,400
Málaga,E $ue,10,50
"""
DEMANDS = "from,to,volume (Gbps)\nA Coruña,St. Denis/Nord,3\nA Coruña,E $ue,1\n"
ALTERED = re.compile(r"A-Coruña|St\.-Denis|Denis-?Nord|E-ue")
"""Names in scenarios."""

WORLD = """title = "Towns"
stop = "1 s"
topology = { file = "links.csv", rate = "file", queue = "100 packets" }
routing = { ecmp = "hash-threshold" }
flows = [{ group = "f", from = "A Coruña", to = "E-ue", per_source = 20 }]
protection = [{ backup = "auto", switch_delay = "50 ms" }]
"""


@pytest.fixture
def towns(tmp_path, monkeypatch):
    """Write three towns in a ring, with two links between two of them, and a fourth after a bridge."""
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    (tmp_path / "demands.csv").write_text(DEMANDS, encoding="utf-8")
    (tmp_path / "world.toml").write_text(WORLD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_links_and_ports_have_names_of_their_ends():
    own = OwnNames({"A-Coruña": "A Coruña", "E": "E/2"})
    assert own.link("A-Coruña-B", "B", "A-Coruña") == "A Coruña-B"
    assert own.link("B-A-Coruña-2", "B", "A-Coruña") == "B-A Coruña-2"
    assert own.link("spare", "B", "A-Coruña") == "spare"
    assert own.port("B-A-Coruña-2:A-Coruña->B") == "B-A Coruña-2:A Coruña->B"
    assert own.port("E->B") == "E/2->B"
    assert own.path(["E", "B"]) == "E/2 - B"
    assert OwnNames({}).path(["E", "B"]) == "E B"


def test_failures_have_names_of_the_file(towns):
    network = Network.find("links.csv")
    names = [one.name for one in events.links(network)]
    assert names == [
        "A Coruña-St. Denis/Nord", "St. Denis/Nord-Málaga", "Málaga-A Coruña", "Málaga-A Coruña-2", "Málaga-E $ue"
    ]  # fmt: skip
    assert [one.name for one in events.nodes(network)] == ["A Coruña", "St. Denis/Nord", "Málaga", "E $ue"]
    assert {part for one in events.doubles(network, 20, 1) for part in one.name.split(", then ")} == set(names)


def test_shown_names_stay_unique(towns):
    # Two links are called `A B-C-D` after their ends.
    (towns / "demands.csv").unlink()
    (towns / "links.csv").write_text(
        "from,to,length (km)\nA B-C,D,1\nA B,C-D,1\nA-B,D,1\nA-B-C,D,1\n", encoding="utf-8"
    )
    shown = Network.find("links.csv").shown_links
    assert len(set(shown.values())) == len(shown) == 4


def test_outage_shows_names_of_the_file(optcp, towns):
    pytest.importorskip("openpyxl")
    status, out, err = optcp(
        "outage", "links.csv", "--mechanism", "ti-lfa", "--jobs", "1", "--set", "rate_mbps=10", "--set", "window_s=1",
        "--out", "out",
    )  # fmt: skip
    assert status == 0, err
    assert re.search(r"^A Coruña to St\. Denis/Nord .* A Coruña-St\. Denis/Nord ", out, re.MULTILINE)
    assert "(bridges): Málaga-E $ue" in err
    found = json.loads((towns / "out" / "outage.json").read_text())
    assert found["left_out"] == ["Málaga-E $ue"]
    assert ["A Coruña", "St. Denis/Nord"] in [one["pair"] for one in found["by_demand"]]
    page = (towns / "out" / "index.html").read_text()
    assert 'data-part="Málaga-A Coruña-2"' in page
    explored = json.loads(re.search(r'id="explored">(.*?)</script>', page)[1])
    assert ["Málaga-A Coruña-2"] in [one["parts"] for one in explored["failures"]]
    with (towns / "out" / "tables" / "links.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert (rows[7]["link"], rows[7]["from"], rows[7]["to"]) == ("Málaga-A Coruña-2", "A Coruña", "Málaga")
    written = [path.read_text(encoding="utf-8") for path in (towns / "out" / "tables").iterdir()]
    assert not ALTERED.findall("".join([out, err, page, json.dumps(found, ensure_ascii=False), *written]))


def test_paths_show_names_of_the_file(optcp, towns):
    status, out, _ = optcp("validate", "world.toml", "--paths")
    assert status == 0
    assert "A Coruña - Málaga - E $ue (routed)" in out
    assert re.search(r"\(routed\)  Málaga-A Coruña-2 +Málaga - A Coruña", out)
    assert "maximum 20 (Málaga->E $ue)" in out
    assert re.search(r"^A Coruña +1 +A Coruña->Málaga 10 +Málaga-A Coruña-2:A Coruña->Málaga 10$", out, re.MULTILINE)
    # Names of flows are for other commands.
    assert ALTERED.findall(re.sub(r"^f/.*?  ", "", out, flags=re.MULTILINE)) == []
