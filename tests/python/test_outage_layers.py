"""`optcp outage` on networks with fibres: failures of fibres and ducts, and recovery in both layers, by hand."""

import csv
import json
import re

import pytest

from optcp.errors import InputError
from optcp.outage.asked import OutageQuery
from optcp.outage.capacity import CONVERGED, DETOUR, loads_of
from optcp.outage.network import Network
from optcp.outage.world import World

LINKS = """from,to,over
A,B,shortest
A,C D,A;P;C D
C D,B,shortest
B,S,shortest
"""
FIBRES = """from,to,name,length (km),duct,wavelengths
A,P,,100,north,
P,B,east,100,,
P,C D,,50,south,
A,C D,,200,north,
C D,B,,150,south,
B,S,,30,,
"""
TRIANGLE = "from,to,length (km)\nA,B,1\nB,C,1\nC,A,1\n"
DEMANDS = "from,to,weight\nA,B,4\nA,C D,2\nB,S,1\n"
RISKS = "from,to,over,risks\nA,B,shortest,\nA,C D,A;P;C D,north\nC D,B,shortest,\nB,S,shortest,\n"
SAME_NAME = "the shared risk `north` has the name of a fibre or duct; give it another name"
SET = ("--set", "rate_mbps=20", "--set", "window_s=1", "--jobs", "1", "--out", "out")


@pytest.fixture
def fibres(tmp_path, monkeypatch):
    """Write A, B and C D with links over fibres, two of which share the fibre from A to P, and S after a bridge."""
    for name, text in (("links", LINKS), ("fibres", FIBRES), ("demands", DEMANDS)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(directory, name):
    with (directory / "out" / "tables" / f"{name}.csv").open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def test_fibres_fail_with_all_links_over_them(fibres):
    asked = OutageQuery.of("links.csv")
    assert asked.failures == "fibres"
    assert {one.name: (one.links, one.km) for one in asked.events} == {
        "A-P": (("A-B", "A-C-D"), 100), "east": (("A-B",), 100), "P-C D": (("A-C-D",), 50), "C D-B": (("C-D-B",), 150)
    }  # fmt: skip
    # No link is over the fibre from A to C D. The one to S is the only one.
    assert asked.left_out == ("B-S",)


def test_ducts_of_the_file_fail_with_all_their_fibres(fibres):
    asked = OutageQuery.of("links.csv", failures="ducts")
    # Without its duct, A is disconnected in both layers. C D keeps the fibre to A, which carries no link.
    assert [(one.name, one.links, one.km) for one in asked.events] == [("south", ("A-C-D", "C-D-B"), 150)]
    assert asked.left_out == ("north",)


def test_lengths_are_those_of_fibres(fibres):
    # Lengths of links are not used where fibres are known.
    (fibres / "links.csv").write_text(LINKS.replace("over", "over,length (km)").replace("shortest", "shortest,7"))
    text = (fibres / "links.csv").read_text().replace("P;C D\n", "P;C D,9\n")
    (fibres / "links.csv").write_text(text)
    asked = OutageQuery.of("links.csv")
    assert [km for *_, km in asked.network.links] == [200, 150, 150, 30]
    detour = next(one for one in asked.listed() if one["name"] == "detour")
    assert (detour["value"], detour["default"]) == (1, False)
    names = asked.network.link_names()
    links = json.loads(World.of(asked.network, asked.assumed.world).core.resolved())["links"]
    delay_us = {one["name"]: one["forward"]["delay_ps"] / 1e6 for one in links if one["name"] in names}
    assert delay_us == {"A-B": 1000, "A-C-D": 750, "C-D-B": 750, "B-S": 150}
    assert OutageQuery.of("links.csv", settings={"detour": "1.2"}).assumed.detour == 1.2


def test_loads_in_failures_of_fibres(fibres):
    asked = OutageQuery.of("links.csv", settings={"rate_mbps": "20"})
    network, assumed = asked.network, asked.assumed.world
    loads = loads_of(network, assumed, {one.name: one.links for one in asked.events})
    # The link from A to B carries 4 of weight, 12 Mb/s.
    before = {("A", "B"): 12, ("A", "C-D"): 6, ("B", "S"): 3}
    for kind in (CONVERGED, DETOUR):
        assert loads[kind].working == pytest.approx(before)
        after = {name: {hop: load for hop, load in of.items() if load} for name, of in loads[kind].after.items()}
        assert after["A-P"] == pytest.approx({("B", "S"): 3})
        assert after["C D-B"] == pytest.approx(before)
        assert after["P-C D"] == pytest.approx({("A", "B"): 18, ("B", "C-D"): 6, ("B", "S"): 3})
        assert after["east"] == pytest.approx({("A", "C-D"): 18, ("C-D", "B"): 12, ("B", "S"): 3})


def test_study_of_fibres_from_end_to_end(optcp, fibres):
    status, out, err = optcp("outage", "links.csv", "--mechanism", "ti-lfa", *SET)
    assert status == 0, err
    assert "no mechanism can replace them (bridges): B-S" in err
    assert "Over 4 failures of fibres, weighted by length" in out
    text = (fibres / "out" / "outage.json").read_text()
    found = json.loads(text)
    assert found["failures"] == "fibres"
    costs = {one["failure"]: one for one in found["costs"]}
    assert {name: one["links"] for name, one in costs.items()} == {
        "A-P": "A-B; A-C D", "east": "A-B", "P-C D": "A-C D", "C D-B": "C D-B"
    }  # fmt: skip
    # Without A-P, the routers have no other link at A.
    assert costs["east"]["network_p50_ms"] == pytest.approx(10)
    assert costs["A-P"]["network_p50_ms"] > 900
    assert costs["A-P"]["hit"] == costs["east"]["hit"] + costs["P-C D"]["hit"]
    assert costs["C D-B"]["hit"] == 0
    assert {row["metric"] for row in found["rows"]} >= {"nines_net", "spare_x"}
    listed = {row["fibre"]: row for row in table(fibres, "fibres")}
    assert (listed["A-P"]["links"], listed["A-P"]["duct"]) == ("A-B; A-C D", "north")
    assert (listed["A-C D"]["links"], listed["east"]["length (km)"]) == ("", "100.0")
    assert {row["failure"] for row in table(fibres, "loads")} == {"east", "P-C D"}
    page = (fibres / "out" / "index.html").read_text()
    explored = json.loads(re.search(r'id="explored">(.*?)</script>', page)[1])
    assert explored["failures"][0] == {"name": "A-P", "parts": ["A-B", "A-C D"]}
    assert "--failures fibres" in page


@pytest.mark.parametrize(
    ("links", "fibres_", "arguments", "said"),
    [
        (TRIANGLE, None, ["--failures", "fibres"], "links.csv: the network has no fibres"),
        (LINKS, FIBRES.replace("south", ""), ["--failures", "ducts"], "every duct is a bridge, which no mechanism"),
        (RISKS, FIBRES, [], SAME_NAME),
        (LINKS, "from,to,length (km)\nA,P,1\nP,C D,1\nC D,B,1\nB,S,1\nA,P,1\n", [], "fibre `A-P` exists already"),
        (LINKS, FIBRES.replace("C D,B,,150,south,\n", "").replace("P,B,east,100,,\n", ""), [], "no fibres lead from"),
    ],
)  # fmt: skip
def test_networks_without_such_failures_are_refused(optcp, fibres, links, fibres_, arguments, said):
    (fibres / "links.csv").write_text(links)
    if fibres_ is None:
        (fibres / "fibres.csv").unlink()
        (fibres / "demands.csv").unlink()
    else:
        (fibres / "fibres.csv").write_text(fibres_)
    before = sorted(fibres.rglob("*"))
    status, out, err = optcp("outage", "links.csv", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert sorted(fibres.rglob("*")) == before


def test_network_of_a_collection_has_no_fibres():
    assert Network.find("sndlib/abilene").layers is None


def outages_ms(directory):
    """Return the median path outage by mechanism and failure."""
    found = json.loads((directory / "out" / "outage.json").read_text())["costs"]
    return {(one["mechanism"], one["failure"]): one["network_p50_ms"] for one in found if one["hit"]}


def test_recovery_in_both_layers(optcp, fibres):
    held = "+hold-off+optical-restoration"
    names = ("optical-protection", "optical-restoration", "ti-lfa+optical-protection", f"ti-lfa{held}", f"local{held}")
    chosen = [part for name in names for part in ("--mechanism", name)]
    times = [f"optical_{name}" for name in ("detection_ms=5", "protection_ms=40", "restoration_s=0.5")]
    given = [part for time in (*times, "hold_off_ms=30") for part in ("--set", time)]
    status, out, err = optcp("outage", "links.csv", *chosen, *given, *SET)
    assert status == 0, err
    assert "optical_detection_ms" not in err
    # Three times 505 ms, and 4 s.
    assert f"optical-restoration: 5.515 s; ti-lfa{held}: 5.515 s" in out
    found = outages_ms(fibres)
    east, alone = ({name: found[name, fibre] for name in names} for fibre in ("east", "A-P"))
    # Routers detect the failure after 10 ms, and wait 30 ms for the optical layer, if at all.
    assert list(east.values()) == pytest.approx([45, 505, 10, 40, 40])
    # Without the fibre from A to P, only the optical layer has another path; routers use it after their convergence.
    assert list(alone.values())[:2] == pytest.approx([45, 505])
    assert alone["ti-lfa+optical-protection"] < 400
    assert 505 <= alone[f"ti-lfa{held}"] < 900
    page = (fibres / "out" / "index.html").read_text()
    assert f"local{held}" in page


def test_assumptions_of_the_optical_layer_are_listed_where_used(fibres):
    listed = {}
    for name in ("ti-lfa", "optical-protection", "ti-lfa+hold-off+optical-restoration"):
        said = [one.message for one in OutageQuery.of("links.csv", mechanisms=[name]).default_assumptions()]
        listed[name] = [text.partition(":")[0] for text in said if text.startswith(("optical", "hold_off"))]
    assert listed == {
        "ti-lfa": [],
        "optical-protection": ["optical_detection_ms = 10 (default)", "optical_protection_ms = 50 (default)"],
        "ti-lfa+hold-off+optical-restoration": [
            "optical_detection_ms = 10 (default)", "optical_restoration_s = 8 (default)", "hold_off_ms = 100 (default)",
        ],
    }  # fmt: skip


def test_links_without_another_path_of_fibres_are_stated(fibres):
    # The first link of the file takes the wavelength of the fibre from A to C D.
    (fibres / "fibres.csv").write_text(FIBRES.replace("A,C D,,200,north,", "A,C D,,200,north,1"))
    asked = OutageQuery.of("links.csv", mechanisms=["optical-restoration"])
    said = "optical-restoration: no other path of fibres with a free wavelength for A-C D (failure of A-P)"
    assert said in [one.message for one in asked.exclusions()]
    # No other path at all: the link of 500 km needs no fibre.
    (fibres / "fibres.csv").write_text("from,to,length (km)\nA,P,1\nP,B,1\n")
    (fibres / "links.csv").write_text("from,to,over,length (km)\nA,B,shortest,\nA,B,,500\n")
    (fibres / "demands.csv").write_text("from,to,weight\nA,B,1\n")
    lost = "A-B (failure of A-P), A-B (failure of P-B)"
    said = f"no link over a fibre that fails has another path of fibres: {lost}"
    for name in ("optical-restoration", "ti-lfa+optical-protection"):
        with pytest.raises(InputError, match=re.escape(f"--mechanism {name}: links.csv: {said}; choose other")):
            OutageQuery.of("links.csv", mechanisms=["ti-lfa", name])
    asked = OutageQuery.of("links.csv")
    assert asked.mechanisms == ("none", "ti-lfa", "1+1")
    assert f"optical-restoration is left out: {said}" in [one.message for one in asked.exclusions()]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mechanism", "optical-restore"], "did you mean 'optical-restoration'?"),
        (["--mechanism", "tilfa+optical-protection"], "did you mean 'ti-lfa+optical-protection'?"),
        (["--mechanism", "ti-lfa+holdoff+optical-protection"], "did you mean 'ti-lfa+hold-off+optical-protection'?"),
        (["--mechanism", "optical-protection", "--failures", "links"], "expected --failures fibres or ducts"),
        (["--mechanism", "ti-lfa", "--set", "hold_off_ms=1"], "such as --mechanism ti-lfa+hold-off+optical-protection"),
        (["--mechanism", "optical-protection", "--routing", "ecmp"], "excluded by --routing ecmp"),
    ],
)
def test_unsuitable_mechanisms_are_refused(optcp, fibres, arguments, said):
    status, out, err = optcp("outage", "links.csv", *arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_optical_layer_needs_fibres(optcp, fibres):
    (fibres / "fibres.csv").unlink()
    (fibres / "links.csv").write_text(TRIANGLE)
    (fibres / "demands.csv").unlink()
    status, _, err = optcp("outage", "links.csv", "--mechanism", "ti-lfa+optical-restoration")
    assert status == 2
    assert "--mechanism ti-lfa+optical-restoration: links.csv: the network has no fibres" in err
