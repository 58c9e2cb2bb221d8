"""Spare capacity in the experiment gmpls/mesh, by hand and by runs."""

import itertools

import pytest

from optcp import load
from optcp.outage.network import Network
from optcp_papers.gmpls.mesh import LIGHTPATHS, NETWORK, NODES_OF_CYCLE, SCENARIOS
from optcp_papers.gmpls.mesh_spare import Paths, Wavelengths

FLOWS = [
    {
        "routes": [
            {"flows": ["f/0"], "path": ["H0", "A", "B", "H1"]},
            {"flows": ["f/1"], "path": ["H0", "A", "B", "C", "H2"]},
        ]
    }
]
CUTS = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"), ("B", "D")]


def test_local_backups_of_different_cuts_share_capacity():
    # Three LSP hops. A-D-B replaces A-B for both LSPs, and B-A-D-C replaces B-C for one. A-D carries two after the
    # first cut and one after the second: with sharing 2 + 2 + 1 + 1 hops, without 3 + 2 + 1 + 1.
    paths = Paths.of({"flows": FLOWS, "protection": [{"backup": ["A", "D", "B"]}, {"backup": ["B", "A", "D", "C"]}]})
    assert paths.shared(CUTS) == pytest.approx(6 / 3)
    assert paths.dedicated() == pytest.approx(7 / 3)


def test_backup_of_lsp_carries_it_alone():
    # A-D-C replaces A-B-C for the second LSP after either cut.
    paths = Paths.of({"flows": FLOWS, "protection": [{"backup": ["A", "D", "C"], "lsps": ["f/1"]}]})
    assert paths.shared(CUTS) == paths.dedicated() == pytest.approx(2 / 3)


def test_hops_of_cycle_have_capacity_of_fullest_link():
    # A-B has two LSPs, and the cycle four hops in two directions.
    assert Paths.of({"flows": FLOWS, "protection": []}).on_cycle("ABCD") == pytest.approx(2 * 4 * 2 / 3)


def test_cycle_is_shortest_through_all_nodes():
    network = Network.find(NETWORK)
    km = {
        frozenset(network.ends(name)): link[3] for name, link in zip(network.link_names(), network.links, strict=True)
    }

    def cycles(path, length):
        near = [(node, km[hop]) for hop in km if path[-1] in hop for node in hop - {path[-1]}]
        if len(path) == len(network.nodes):
            yield from (length + more for node, more in near if node == path[0])
        for node, more in near:
            if node not in path:
                yield from cycles([*path, node], length + more)

    hops = zip(NODES_OF_CYCLE, (*NODES_OF_CYCLE[1:], NODES_OF_CYCLE[0]), strict=True)
    assert sum(km[frozenset(hop)] for hop in hops) == pytest.approx(min(cycles([NODES_OF_CYCLE[0]], 0)))


def test_restoration_takes_detection_and_messages_both_ways():
    # 10 ms of detection; then the message and its confirmation, with 5 us per km and 1 ms at the end of each fibre.
    network, cut = Network.find(NETWORK), "Urbana-Champaign-Pittsburgh"
    km = {hop: one[3] for one in network.links for hop in ((one[0], one[1]), (one[1], one[0]))}
    outages = load(SCENARIOS[LIGHTPATHS]).set({"failures.0.risk": cut, "stop": "1.2 s"}).run(seed=1).cuts
    assert len({one["flow"] for one in outages}) == 48
    for one in outages:
        first, last = sorted(map(int, one["flow"].split("/")[1].replace("H", "").split("-")))
        path = network.without(cut).path(network.nodes[first], network.nodes[last], 5.0)
        hops = list(itertools.pairwise(path))
        expected_ms = 10 + 2 * (sum(0.005 * km[hop] for hop in hops) + len(hops))
        assert (one["until_ps"] - one["from_ps"]) / 1e9 == pytest.approx(expected_ms, abs=1e-6)


@pytest.mark.parametrize("cut", ["Urbana-Champaign-Pittsburgh", "San-Diego-Houston"])
def test_all_spare_wavelengths_avoid_contention(cut):
    counts = Wavelengths.of(Network.find(NETWORK))

    def outages(share):
        limits = {} if share is None else counts.with_spare(share)
        settings = {f"optical.fibres.{at}.wavelengths": count for at, count in enumerate(limits.values())}
        scenario = load(SCENARIOS[LIGHTPATHS]).set({"failures.0.risk": cut, "stop": "1.2 s", **settings})
        return scenario.run(seed=1).cuts

    assert outages(1.0) == outages(None)
    assert outages(0.5) != outages(None)
