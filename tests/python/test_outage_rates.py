"""`optcp outage` with rates and volumes of the file: utilisation, scale, scenarios and tables; computed by hand."""

import csv
import json

import pytest

from optcp.errors import InputError
from optcp.outage.asked import OutageQuery
from optcp.outage.capacity import rate_of, rerouted, volumes
from optcp.outage.world import World

LINKS = """from,to,rate (Gbps),length (km)
A,B,40,100
B,C,10,200
C,D,40,300
D,A,40,400
"""
DEMANDS = """from,to,volume (Gbps)
A,B,10
C,B,4
A,D,6
"""


@pytest.fixture
def network(tmp_path, monkeypatch):
    """Write four towns in a ring, one link with a quarter of the rate of the others."""
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    (tmp_path / "demands.csv").write_text(DEMANDS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "links.csv"


def query(network, **settings):
    return OutageQuery.of(network, mechanisms=["none", "ti-lfa"], settings=settings)


def test_rates_and_volumes_have_one_scale(network):
    asked = query(network, rate_mbps="20")
    # 4 of 10 Gb/s from C to B are the highest share; A to B has 10 of 40, A to D 6 of 40.
    assert asked.assumed.peak == pytest.approx(0.4)
    assert asked.network.scale(20) == pytest.approx(1 / 2000)
    rate = rate_of(asked.network, asked.assumed.world)
    assert [rate(hop) for hop in (("A", "B"), ("B", "C"), ("C", "B"))] == pytest.approx([20, 5, 5])
    assert volumes(asked.network, asked.assumed.world) == pytest.approx({("A", "B"): 5, ("C", "B"): 2, ("A", "D"): 3})
    # Without A-B, its demand goes over D and C: 5 of 5 Mb/s more on C to B, which already has 2.
    loads = rerouted(asked.network, asked.assumed.world, ["A-B"])
    assert loads.after["A-B"]["C", "B"] == pytest.approx(7)
    assert loads.busiest_detour("A-B") == pytest.approx(1.4)
    listed = {one["name"]: one for one in asked.listed()}
    assert (listed["peak"]["value"], listed["peak"]["default"]) == (0.4, False)
    assert "times 0.0005" in listed["rate_mbps"]["summary"]
    assert not any("ignored" in one.message for one in asked.of_file())
    # A given peak scales the demands alone.
    assert volumes(asked.network, query(network, rate_mbps="20", peak="0.8").assumed.world)["C", "B"] == pytest.approx(
        4
    )


def test_ports_of_the_scenario_have_the_rates_of_the_file(network):
    asked = query(network, rate_mbps="20")
    resolved = json.loads(World.of(asked.network, asked.assumed.world).core.resolved())
    links = {link["name"]: link for link in resolved["links"]}
    for name, mbps in (("A-B", 20), ("B-C", 5), ("C-D", 20), ("D-A", 20)):
        for way in ("forward", "reverse"):
            port = links[name][way]
            # Queues of 40 ms.
            assert (port["rate_bps"], port["queue_bytes"]) == (mbps * 1e6, mbps * 1e6 / 8 * 0.04)


def test_too_small_a_scale_is_refused(network):
    asked = query(network, rate_mbps="1")
    # 0.25 Mb/s for 40 ms are 1250 B.
    with pytest.raises(InputError, match=r"slowest link has 0.25 Mb/s.*set rate_mbps to 2.4 or more"):
        World.of(asked.network, asked.assumed.world)


def test_overload_of_the_file_is_reported(network, tmp_path):
    (tmp_path / "demands.csv").write_text("from,to,volume (Gbps)\nC,B,13\n", encoding="utf-8")
    asked = query(network)
    assert asked.assumed.peak == pytest.approx(1.3)
    assert "the busiest link carries 1.30 times its rate" in [one.message for one in asked.exclusions()][-1]


def test_missing_rates_are_reported(network, tmp_path):
    (tmp_path / "links.csv").write_text(LINKS.replace("C,D,40", "C,D,"), encoding="utf-8")
    asked = query(network, rate_mbps="20")
    assert (asked.network.rates, asked.network.unrated, asked.assumed.peak) == ({}, ("C-D",), 0.6)
    ignored, weights = (one.message for one in asked.of_file())
    assert "each link has 20 Mb/s (rate_mbps): these links have no rate: C-D" in ignored
    assert weights.endswith("links.csv has no rates: they count as weights")


def test_matrix_may_state_its_unit(network, tmp_path):
    (tmp_path / "other.csv").write_text("from,to,volume (Mbps)\nC,B,2000\n", encoding="utf-8")
    asked = OutageQuery.of(network, "other.csv")
    assert asked.assumed.peak == pytest.approx(0.2)
    (tmp_path / "other.csv").write_text("from,to,volume (erlang)\nC,B,2000\n", encoding="utf-8")
    with pytest.raises(InputError, match="`erlang`"):
        OutageQuery.of(network, "other.csv")


def test_study_from_end_to_end(optcp, network, tmp_path):
    status, out, err = optcp(
        "outage", network, "--mechanism", "none", "--mechanism", "ti-lfa", "--set", "rate_mbps=20", "--set",
        "window_s=1", "--jobs", "1", "--out", "out",
    )  # fmt: skip
    assert status == 0, err
    with (tmp_path / "out" / "tables" / "links.csv").open(encoding="utf-8-sig") as file:
        rows = {(row["from"], row["to"]): row for row in csv.DictReader(file)}
    assert float(rows["C", "B"]["rate (Mb/s)"]) == pytest.approx(5)
    assert float(rows["C", "B"]["utilisation"]) == pytest.approx(0.4)
    assert float(rows["C", "B"]["utilisation, after convergence"]) == pytest.approx(1.4)
    assert "C to B" in out
