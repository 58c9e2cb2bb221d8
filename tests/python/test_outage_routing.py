"""`optcp outage` with ECMP and with given paths: loads by hand, paths of the simulated flows, and refused input."""

import csv
import json

import pytest

from optcp.errors import InputError
from optcp.outage.asked import OutageQuery
from optcp.outage.backups import dedicated
from optcp.outage.capacity import CONVERGED, DETOUR, loads_of, spare_of, volumes
from optcp.outage.network import Network
from optcp.outage.routing import is_split, split
from optcp.outage.world import World
from optcp.study import StudyResult

LINKS = "from,to,length (km)\nA,P,100\nP,B,100\nA,Q,100\nQ,B,100\nB,C D,100\nP,C D,100\n"
DEMANDS = "from,to,weight\nA,B,4\nA,C D,3\nC D,A,1\n"
SET = ("--set", "rate_mbps=20", "--set", "window_s=1", "--jobs", "1", "--out", "out")


@pytest.fixture
def diamond(tmp_path, monkeypatch):
    """Write a ring of A, P, B and Q, and a node C D linked to P and B."""
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    (tmp_path / "demands.csv").write_text(DEMANDS, encoding="utf-8")
    (tmp_path / "paths.csv").write_text("from,to,path\nA,B,A - Q - B\nA,C D,A;Q;B;C D\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def both(links):
    return [arc for a, b, cost in links for arc in ((a, b, cost), (b, a, cost))]


def test_each_router_splits_equally():
    # From A, half over each of P and Q; P sends half of it directly to D, and half over X, which Q uses, too.
    links = [("A", "P", 1), ("A", "Q", 1), ("P", "D", 2), ("P", "X", 1), ("X", "D", 1), ("Q", "X", 1), ("D", "E", 1)]
    assert split(both(links), {("A", "D"): 8.0, ("X", "E"): 1.0, ("A", "Z"): 5.0}) == {
        ("A", "P"): 4, ("A", "Q"): 4, ("P", "D"): 2, ("P", "X"): 2, ("Q", "X"): 4, ("X", "D"): 7, ("D", "E"): 1
    }  # fmt: skip


def test_parallel_links_of_equal_cost_share_traffic():
    # Three links of cost 1 leave A, two of them to B: each carries a third. The link of cost 2 carries nothing.
    links = [("A", "B", 1), ("B", "A", 1), ("A", "B", 2), ("A", "C", 1), ("B", "D", 1), ("C", "D", 1)]
    loads = split(both(links), {("A", "D"): 6.0})
    assert loads == {("A", "B"): 2, ("A", "C"): 2, ("B", "D"): 4, ("C", "D"): 2}


def test_ecmp_loads_before_and_after_failures(diamond):
    asked = OutageQuery.of("links.csv", settings={"rate_mbps": "20"}, ecmp=True)
    network, assumed = asked.network, asked.assumed.world
    # A to P has half of 4, and 3: 5 are 60 % of 20 Mb/s.
    assert volumes(network, assumed) == pytest.approx({("A", "B"): 9.6, ("A", "C-D"): 7.2, ("C-D", "A"): 2.4})
    assert asked.mechanisms == ("none", "lfa", "ti-lfa")
    loads = loads_of(network, assumed, ["A-P", "P-C-D"])
    assert set(loads) == {CONVERGED}
    before, after = loads[CONVERGED].working, loads[CONVERGED].after
    assert before == pytest.approx({
        ("A", "P"): 12, ("P", "B"): 4.8, ("A", "Q"): 4.8, ("Q", "B"): 4.8, ("P", "C-D"): 7.2, ("C-D", "P"): 2.4,
        ("P", "A"): 2.4,
    })  # fmt: skip
    # Without A-P all goes over Q and B; without P-C D, the demands with C D are split as those of B.
    assert after["A-P"] == pytest.approx({
        ("A", "Q"): 16.8, ("Q", "B"): 16.8, ("B", "C-D"): 7.2, ("C-D", "B"): 2.4, ("B", "Q"): 2.4, ("Q", "A"): 2.4
    })  # fmt: skip
    assert after["P-C-D"]["A", "P"] == after["P-C-D"]["Q", "B"] == pytest.approx(8.4)
    assert after["P-C-D"]["B", "P"] == after["P-C-D"]["B", "Q"] == pytest.approx(1.2)
    # 16.8 - 4.8 more from A over Q to B, 7.2 and 2.4 between B and C D, and 2.4 over Q back. Relative to 38.4.
    assert loads[CONVERGED].spare == pytest.approx((2 * 12 + 3.6 + 7.2 + 2.4 + 2 * 2.4 + 1.2) / 38.4)


def test_given_paths_load_their_links(diamond):
    asked = OutageQuery.of("links.csv", settings={"rate_mbps": "20"}, paths="paths.csv")
    network, assumed = asked.network, asked.assumed.world
    # A to Q has 7 of weight, 12 Mb/s. The demand without a path takes P.
    mbps = 12 / 7
    assert asked.mechanisms == ("local", "1:1", "1+1", "restoration, 2 s")
    loads = loads_of(network, assumed, ["A-Q"])

    def weights(loads):
        return {hop: load / mbps for hop, load in loads.items() if load}

    back = {("C-D", "P"): 1, ("P", "A"): 1}
    assert weights(loads[CONVERGED].working) == pytest.approx({("A", "Q"): 7, ("Q", "B"): 7, ("B", "C-D"): 3, **back})
    # Restoration takes the shortest paths, and local protection a detour to Q.
    assert weights(loads[CONVERGED].after["A-Q"]) == pytest.approx(
        {("A", "P"): 7, ("P", "B"): 4, ("P", "C-D"): 3, **back}
    )
    assert weights(loads[DETOUR].after["A-Q"]) == pytest.approx(
        {("A", "P"): 7, ("P", "B"): 7, ("B", "Q"): 7, ("Q", "B"): 7, ("B", "C-D"): 3, **back}
    )
    assert [one.message for one in asked.exclusions()] == ["1 demand has no given path and the shortest one instead"]


def test_dedicated_backups_of_given_paths(diamond):
    asked = OutageQuery.of("links.csv", mechanisms=["1:1"], paths="paths.csv")
    found = dedicated(asked.network, 5.0)
    # A-P-B, A-P-C D, and for the demand without a path the longer of the two disjoint ones.
    assert {pair: (one.working, one.spare) for pair, one in found.items()} == {
        ("A", "B"): (2, 2), ("A", "C-D"): (3, 2), ("C-D", "A"): (2, 3)
    }  # fmt: skip
    spare = spare_of(asked.network, asked.assumed.world, ["A-Q"])
    assert spare["1:1"].spare == spare["1+1"].added == pytest.approx((4 * 2 + 3 * 2 + 3) / (4 * 2 + 3 * 3 + 2))


def test_dedicated_backups_are_those_of_disjoint_pairs(diamond):
    network = Network.find("links.csv")
    found = {pair: [one.working, one.spare] for pair, one in dedicated(network, 5.0).items()}
    assert found == network.pair_hops(network.demands, 5.0)


def test_flows_take_given_paths(diamond):
    network = Network.find("links.csv", paths="paths.csv")
    resolved = json.loads(World.of(network, OutageQuery.of("links.csv").assumed.world).core.resolved())
    taken, arrivals = {}, {}
    for entry in resolved["flows"]:
        path = tuple(entry["routes"][0]["path"][1:-1])
        taken.setdefault((path[0], path[-1]), set()).add(path)
        if entry["group"] != "long":
            arrivals[path[0], path[-1]] = entry["arrivals_per_s"]
    assert taken == {
        ("A", "B"): {("A", "Q", "B")}, ("A", "C-D"): {("A", "Q", "B", "C-D")}, ("C-D", "A"): {("C-D", "P", "A")}
    }  # fmt: skip
    rates = list(arrivals.values())
    assert [rate / rates[-1] for rate in rates] == pytest.approx([4, 3, 1], rel=1e-3)


def test_ecmp_study_from_end_to_end(optcp, diamond):
    status, _, err = optcp("outage", "links.csv", "--mechanism", "ti-lfa", "--routing", "ecmp", *SET)
    assert status == 0, err
    done = StudyResult.open(diamond / "out")
    costs = json.loads((diamond / "out" / "outage.json").read_text())
    assert costs["routing"] == "ecmp with delays as costs"
    hit = {one["failure"]: one["hit"] for one in costs["costs"]}
    # Flows from A to B over P and over Q: each failure hits its share, and a failure of both links the same flows.
    long = sum(1 for flow in done.run(done.grid.branches[0], 1)["outages"]["group"].tolist() if flow == "long")
    assert 0 < hit["A-Q"] == hit["Q-B"] < long
    assert hit["A-P"] > hit["P-B"] > 0
    with (diamond / "out" / "tables" / "links.csv").open(encoding="utf-8-sig") as file:
        rows = {(row["from"], row["to"]): row for row in csv.DictReader(file)}
    assert float(rows["P", "B"]["load (Mb/s)"]) == pytest.approx(4.8)
    assert float(rows["Q", "B"]["highest load, after convergence (Mb/s)"]) == pytest.approx(16.8)
    assert not any("local detour" in head for head in rows["A", "P"])


def test_given_paths_study_from_end_to_end(optcp, diamond):
    status, _, err = optcp("outage", "links.csv", "--mechanism", "1+1", "--paths", "paths.csv", *SET)
    assert status == 0, err
    lost = {one["failure"]: one["hit"] for one in json.loads((diamond / "out" / "outage.json").read_text())["costs"]}
    # The demand from C D to A has no long flow.
    assert lost["A-Q"] == lost["Q-B"] > lost["B-C D"] > lost["A-P"] == lost["P-B"] == 0
    assert "--paths paths.csv" in (diamond / "out" / "index.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--routing", "ecmp", "--paths", "paths.csv"], "since ECMP has no fixed paths"),
        (["--routing", "ecmp", "--mechanism", "1+1"], "expected one of none, lfa, remote-lfa, ti-lfa"),
        (["--paths", "paths.csv", "--mechanism", "ti-lfa"], "--paths: the demands have fixed paths"),
        (["--paths", "A,B,A;B"], "line 2: column `path`: no link connects A and B"),
        (["--paths", "A,B,A;P"], "expected a path from A to B without repeated nodes"),
        (["--paths", "A,B,A;P;A;P;B"], "expected a path from A to B without repeated nodes"),
        (["--paths", "A,B,A - X - B"], "column `path`: no node 'X' in links.csv"),
        (["--paths", "A,B,"], "found no `path`"),
        (["--paths", "A,B,A;P;B\nA,B,A;Q;B"], "line 3: the demand has a path in an earlier line"),
    ],
)
def test_wrong_routing_is_status_2_and_writes_nothing(optcp, diamond, arguments, said):
    if "," in arguments[-1]:
        (diamond / "bad.csv").write_text(f"from,to,path\n{arguments[-1]}\n", encoding="utf-8")
        arguments = [*arguments[:-1], "bad.csv"]
    before = sorted(diamond.rglob("*"))
    status, out, err = optcp("outage", "links.csv", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert sorted(diamond.rglob("*")) == before


def test_costs_have_directions():
    arcs = [("A", "P", 1), ("P", "B", 1), ("A", "B", 3), ("B", "A", 3), ("P", "A", 2), ("B", "P", 1)]
    assert split(arcs, {("A", "B"): 2.0}) == {("A", "P"): 2, ("P", "B"): 2}
    assert split(arcs, {("B", "A"): 2.0}) == {("B", "A"): 1, ("B", "P"): 1, ("P", "A"): 1}
    assert not is_split(arcs, {("A", "B"): 2.0})
    assert is_split(arcs, {("B", "A"): 2.0})


COSTS = """from,to,length (km),cost
A,P,100,10
P,B,100,10
A,Q,300,5
Q,B,300,15
B,C D,100,10
P,C D,100,20
"""


def test_ecmp_takes_the_costs_of_the_file(optcp, diamond):
    # By delay, everything goes over P. By cost, A to B is split over P and Q, and A to C D over all three paths.
    (diamond / "links.csv").write_text(COSTS)
    asked = OutageQuery.of("links.csv", settings={"rate_mbps": "20"}, ecmp=True)
    loads = asked.network.loads(1.0, {("A", "B"): 4.0, ("A", "C-D"): 3.0})
    # At A half to each of P and Q: 3.5. P sends half of its 1.5 for C D directly.
    assert loads == pytest.approx({
        ("A", "P"): 3.5, ("A", "Q"): 3.5, ("P", "C-D"): 0.75, ("P", "B"): 2.75, ("Q", "B"): 3.5, ("B", "C-D"): 2.25
    })  # fmt: skip
    resolved = json.loads(World.of(asked.network, asked.assumed.world).core.resolved())
    assert resolved["routing"]["costs"][:6] == [[cost, cost] for cost in (10, 10, 5, 15, 10, 20)]
    status, out, err = optcp("outage", "links.csv", "--mechanism", "none", "--routing", "ecmp", *SET)
    assert status == 0, err
    assert "Routing: ecmp with the costs of the file." in out
    assert "routing: ecmp with the costs of the file" in (diamond / "out" / "index.html").read_text()
    # Simulated flows take both paths.
    hit = {one["failure"]: one["hit"] for one in json.loads((diamond / "out" / "outage.json").read_text())["costs"]}
    assert hit["A-P"] > 0
    assert hit["A-Q"] > 0


@pytest.mark.parametrize("cost", ["", "0", "2.5"])
def test_unusable_costs_are_reported(diamond, cost):
    (diamond / "links.csv").write_text(COSTS.replace("300,15", f"300,{cost}"))
    asked = OutageQuery.of("links.csv", ecmp=True)
    assert asked.routing == "ecmp with delays as costs"
    said = "the costs of links.csv are ignored: expected a whole number above zero for each link"
    assert said in [one.message for one in asked.of_file()]
    assert said not in [one.message for one in OutageQuery.of("links.csv").of_file()]


def test_useless_ecmp_is_reported(diamond):
    (diamond / "links.csv").write_text(LINKS.replace("A,P,100", "A,P,101"), encoding="utf-8")
    said = [one.message for one in OutageQuery.of("links.csv", ecmp=True).exclusions()]
    assert said == ["ecmp: no demand has several paths of equal delay"]
    (diamond / "demands.csv").unlink()
    with pytest.raises(InputError, match="found no `path`"):
        Network.find("links.csv", paths="links.csv")
    (diamond / "paths.csv").write_text("from,to,path\n")
    with pytest.raises(InputError, match="after the heading, found none"):
        Network.find("links.csv", paths="paths.csv")
