"""Fibres under IP links: CSV files, scenarios and messages."""

import re

import numpy as np
import pytest

import optcp
from doc_pages import text
from optcp.errors import InputError
from optcp.topology import FORMATS
from optcp.topology.base import Source
from optcp.topology.model import Fibre, Link, Network, Node

LINKS = """from,to,rate (Gbps),over
Madrid,Barcelona,100,shortest
Madrid,A Coruña,100,Madrid;León;A Coruña
A Coruña,Barcelona,100,A Coruña;norte 2;Bilbao;Barcelona
"""
FIBRES = """from,to,name,length (km),duct,wavelengths
Madrid,Zaragoza,,320,,
Zaragoza,Barcelona,,310,,40
Madrid,León,,340,,
León,A Coruña,,310,norte,
A Coruña,Bilbao,norte 1,550,norte,
A Coruña,Bilbao,norte 2,570,,
Bilbao,Barcelona,,610,,
"""
SCENARIO = """
stop = "3 s"
[topology]
file = "links.csv"
fibres = "file"
rate = "100 Mbps"
queue = "100 packets"
[[flows]]
group = "f"
path = ["Madrid", "A Coruña"]
tcp = "linux-6"
[[failures]]
risk = "norte"
at = "1 s"
repair = "2 s"
"""


@pytest.fixture
def network(tmp_path):
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    (tmp_path / "fibres.csv").write_text(FIBRES, encoding="utf-8")
    (tmp_path / "s.toml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


def csv():
    return next(form for form in FORMATS if form.name == "csv")


def read(links=LINKS, fibres=FIBRES):
    beside = {"fibres.csv": fibres.encode()} if fibres else {}
    return csv().read(Source("links.csv", links.encode(), beside.get))


def test_paths_over_fibres_give_the_delays_of_links(network):
    """5 us per km over 320 + 310, 340 + 310 and 570 + 610 km."""
    found = optcp.load(network / "s.toml").links
    ms = dict(zip(found["link"], np.asarray(found["delay_s"]) * 1000, strict=True))
    assert ms == pytest.approx({"Madrid-Barcelona": 3.15, "Madrid-A-Coruña": 3.25, "A-Coruña-Barcelona": 5.9})
    assert [link.length_mm for link in read().links] == [630_000_000, 650_000_000, 1_180_000_000]


def test_duct_takes_down_the_links_over_its_fibres(network):
    """Fibre `norte 1` of the duct carries no link."""
    failures = optcp.load(network / "s.toml").resolved["failures"]
    assert [one["link"] for one in failures] == ["Madrid-A-Coruña"]
    optical = optcp.load(network / "s.toml").resolved["optical"]
    assert [one["fibre"] for one in optical["failures"]] == ["León-A-Coruña", "norte-1"]


def test_written_fibres_are_read_back():
    nodes = (Node("A", "A"), Node("B", "B"))
    fibres = (
        Fibre(("A", "Site 1"), "f 1", 10**9, None, "duct", 3),
        Fibre(("Site 1", "B"), "", None, 5_000_000),
        Fibre(("A", "B"), "", 2_500_000),
    )
    rates = (10**9, 10**9)
    links = (
        Link((0, 1), "first", rates, over=("A", "f 1", "Site 1", "B")),
        Link((0, 1), "second", rates, over=(), length_mm=2_500_000),
        Link((0, 1), "third", rates, length_mm=7),
    )
    network = Network(nodes, links, fibres=fibres)
    files = csv().write(network)
    found = csv().read(Source("links.csv", files["links.csv"], files.get))
    assert found.fibres == fibres
    assert [link.over for link in found.links] == [link.over for link in links]
    # A delay of 5 us is 1 km: 1000 km and 1 km.
    assert [link.length_mm for link in found.links] == [10**9 + 10**6, 2_500_000, 7]
    for form in FORMATS:
        if form.write is not None and form.name != "csv":
            assert "fibres, and paths of links over them" in form.lost(network), form.name


@pytest.mark.parametrize(
    ("links", "fibres", "message"),
    [
        (LINKS.replace("León", "Leon"), FIBRES, "column `over`: expected optical nodes and fibres of `fibres.csv`"),
        (LINKS.replace("León", "Leon"), FIBRES, "did you mean `León`?, found `Madrid;Leon;A Coruña`"),
        (LINKS, FIBRES.replace(",320", ","), "line 2: column `from`: expected a fibre with either a length or a delay"),
        (LINKS, FIBRES.replace(",40", ",0"), "`wavelengths`: expected a whole number from 1 to 10000, found `0`"),
        (LINKS, FIBRES.replace("from,", "start,"), "`fibres.csv`: no column `from`"),
    ],
)  # fmt: skip
def test_wrong_fibres_are_refused(links, fibres, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(links, fibres)


def test_paths_without_fibres_are_reported():
    found = read(fibres="")
    assert found.reading.notes == ("column `over` is not used: there is no `fibres.csv` next to the file",)
    assert all(link.over is None for link in found.links)


def test_fibre_of_another_network_is_refused(network):
    (network / "fibres.csv").unlink()
    with pytest.raises(optcp.ScenarioError, match="the file has no fibres"):
        optcp.load(network / "s.toml")


def test_page_states_the_times_of_its_example():
    """The failure at 5 s is recovered at 5 + 0.01 + 0.1 + 2 s; the repair at 15 s plus the wait of 1 s ends it."""
    page = text("docs/details/optical-layer.md")
    scenario = optcp.Scenario.parse(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    delays = dict(zip(scenario.links["link"], scenario.links["delay_s"], strict=True))
    assert round(float(delays["direct"]) * 200_000, 6) == 630
    stalled = scenario.run(seed=1)["out"]
    ms = np.asarray(stalled["gap_ps"]).astype(float) / 1e9
    assert ms.min() > 2110, "a flow resumes after the link, at the next RTO"
    assert ms.max() < 2 * 2110
    assert "down for 2.11 s, and then has the delay of 710 km. It returns to 630 km at 16 s" in page
