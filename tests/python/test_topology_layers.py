"""Fibres of RFC 8345: supporting links in one and two layers, and supporting links that cannot be used."""

import json
import re
from pathlib import Path

import pytest

from optcp.errors import InputError
from optcp.topology import find, read_path
from optcp.topology.base import Source
from optcp.topology.model import Fibre
from optcp.topology.rfc8345 import FORMAT

FILE = Path(__file__).parents[2] / "fuzz" / "corpus" / "topology" / "layers.json"


def read(change=lambda networks: None):
    """Read the file after a change of its networks, by identifier."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    change({one["network-id"]: one for one in document["ietf-network:networks"]["network"]})
    return FORMAT.read(Source("layers.json", json.dumps(document).encode()))


def links(network):
    return network["ietf-network-topology:link"]


def test_supporting_links_give_fibres_and_paths():
    found = read()
    # The first network supports the second one, and both support the third one.
    assert (found.name, [node.name for node in found.nodes]) == ("ip", ["R1", "R2", "R3"])
    assert found.fibres == (
        Fibre(("X1", "Zaragoza"), "f1", None, 1_600_000_000, "srlg 7"),
        Fibre(("Zaragoza", "X2"), "f2", None, 1_500_000_000, "srlg 7"),
        Fibre(("X2", "X3"), "f3", None, 2_000_000_000),
        Fibre(("X2", "X3"), "f4", None, 2_100_000_000),
        Fibre(("X3", "X1"), "f5", None, 900_000_000),
    )
    assert {link.name: link.over for link in found.links} == {
        "R1-R2": ("X1", "Zaragoza", "X2"),
        "R2-R3": ("X2", "f4", "X3"),
        "R3-R1": ("X1", "Zaragoza", "X2", "f4", "X3"),
    }
    # 5 us are 1 km: 3100, 2100 and 5200 us.
    assert [link.length_mm for link in found.links] == [620_000_000, 420_000_000, 1_040_000_000]
    assert "the networks under `ip` give its fibres: `fibres`, `wavelengths`" in found.reading.assumed


def test_layers_are_shown_and_kept(optcp, tmp_path):
    status, out, _ = optcp("topology", "show", str(FILE))
    assert status == 0
    assert "fibres   5, 1 duct; 3 of 3 links over them" in out
    assert optcp("topology", "convert", str(FILE), str(tmp_path / "csv"), "--to", "csv")[0] == 0
    kept, read_ = read_path(tmp_path / "csv"), find(str(FILE))
    assert kept.fibres == read_.fibres
    assert [link.over for link in kept.links] == [link.over for link in read_.links]


def test_fibres_without_a_delay_have_the_distance_of_their_ends():
    def without_delay(networks):
        for node, degrees in zip(networks["fibres"]["node"], (1, 2, 3, 4), strict=True):
            te = node.setdefault("ietf-te-topology:te", {})
            te["geolocation"] = {"latitude": "0", "longitude": str(degrees)}
        for link in links(networks["fibres"]):
            link.pop("ietf-te-topology:te", None)

    # X2 and X3 are one degree apart: 111.19 km.
    assert read(without_delay).fibres[2].length_mm == pytest.approx(111_190_000, rel=0.002)


def test_unknown_lengths_and_broken_paths_are_reported():
    found = read(lambda networks: links(networks["fibres"])[4].pop("ietf-te-topology:te"))
    assert found.fibres == ()
    said = "supporting links are not used: no `te-delay-metric`, and no coordinates at the ends: `f3`"
    assert said in found.reading.notes

    def branch(networks):
        links(networks["ip"])[2]["supporting-link"].append({"network-ref": "fibres", "link-ref": "f1"})

    found = read(branch)
    assert [link.over is None for link in found.links] == [False, True, False]
    assert "supporting links of these links are no path: `R2-R3`" in found.reading.notes


@pytest.mark.parametrize(
    ("network", "link", "said"),
    [
        ("fibers", "f1", "network-ref`: expected a network of the file (did you mean 'fibres'?), found"),
        ("fibres", "f9", "expected a link of `fibres` (there are: f1, f1:reverse, f2"),
        ("wavelengths", "w12", "expected a link of at most 20 layers that does not support itself"),
    ],
)
def test_wrong_supporting_links_are_refused(network, link, said):
    def change(networks):
        networks["wavelengths"]["ietf-network-topology:link"][0]["supporting-link"] = [
            {"network-ref": network, "link-ref": link}
        ]

    with pytest.raises(InputError, match=re.escape(said)):
        read(change)
