"""Routing with the compiled simulator: named topologies compared with networkx, files, and the command."""

import json
import math
import shlex
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import optcp
from optcp import StudyResult

SHIPPED = Path(optcp.__file__).parent / "scenarios" / "germany50.toml"
TOPOLOGIES = {"sndlib/abilene": (12, 15), "sndlib/germany50": (50, 88), "topozoo/Geant2012": (37, 58)}

ASK = """
import json, sys
from optcp import _core
text, path, overrides = json.load(sys.stdin)
world = _core.Scenario.parse(text, path, [tuple(pair) for pair in overrides])
print(json.dumps([json.loads(world.resolved()), world.backups(), world.coverage()]))
"""


def ask(text, path, overrides=()):
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps([text, str(path), list(overrides)]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def network(name, repair, cost, protect="link", **routing):
    """Return costs between all nodes, arcs by port, backups by pair, and the coverage."""
    text = SHIPPED.read_text(encoding="utf-8").split("[[flows]]")[0]
    settings = {"topology.name": name, "topology.cost": cost, "routing.repair": repair}
    settings |= {"routing.protect": protect} | {f"routing.{key}": value for key, value in routing.items()}
    resolved, backups, coverage = ask(text, SHIPPED, settings.items())
    graph = nx.DiGraph()
    arcs = {}
    for link, costs in zip(resolved["links"], resolved["routing"]["costs"], strict=True):
        a, b = link["ends"]
        for (x, y), length in zip(((a, b), (b, a)), costs, strict=True):
            arcs[f"{x}->{y}"] = (x, y, length)
            graph.add_edge(x, y, weight=length)
    assert (graph.number_of_nodes(), len(resolved["links"])) == TOPOLOGIES[name]
    far = dict(nx.all_pairs_dijkstra_path_length(graph))
    return far, arcs, {(backup["router"], backup["destination"]): backup for backup in backups}, coverage


def alternates(far, arcs, s, d, primary):
    """Return neighbours that satisfy inequality 1 of RFC 5286 (with the cost of the whole path), and inequality 3."""
    e = arcs[primary][1]
    result = {}
    for port, (x, n, cost) in arcs.items():
        if x == s and port != primary and far[n][d] < far[n][s] + far[s][d]:
            result[n] = (cost + far[n][d], far[n][d] < far[n][e] + far[e][d])
    return result


@pytest.mark.parametrize("cost", ["1", "delay"])
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_alternates_are_those_of_the_inequalities(name, cost):
    for protect in ("link", "node"):
        far, arcs, backups, coverage = network(name, "lfa", cost, protect)
        protected = 0
        for (s, d), item in backups.items():
            x, e, length = arcs[item["next"][0]]
            assert (x, item["cost"]) == (s, far[s][d]) == (s, length + far[e][d])
            expected = alternates(far, arcs, s, d, item["next"][0])
            if protect == "node" and any(avoids for _, avoids in expected.values()):
                expected = {n: (way, avoids) for n, (way, avoids) in expected.items() if avoids}
            assert (item["end"] is None) == (not expected)
            if expected:
                protected += 1
                assert expected[item["end"]][0] == min(way for way, _ in expected.values())
                assert (item["protects"] == "node") == expected[item["end"]][1]
        assert (coverage["pairs"], coverage["protected"]) == (len(backups), protected)


@pytest.mark.parametrize("cost", ["1", "delay"])
@pytest.mark.parametrize("name", TOPOLOGIES)
def test_tunnels_end_at_the_nearest_node_of_both_spaces(name, cost):
    far, arcs, backups, _ = network(name, "remote-lfa", cost)
    checked = 0
    for (s, d), item in backups.items():
        if alternates(far, arcs, s, d, item["next"][0]):
            assert item["mechanism"] == "lfa"
            continue
        _, e, length = arcs[item["next"][0]]
        others = {n: c for port, (x, n, c) in arcs.items() if x == s and port != item["next"][0]}
        tunnels = {}
        for p in far:
            ways = [far[s][p]] if far[s][p] < length + far[e][p] else []
            ways += [c + far[n][p] for n, c in others.items() if not ways and far[n][p] < far[n][s] + far[s][p]]
            if p != s and ways and far[p][e] < far[p][s] + length:
                tunnels[p] = min(ways)
        assert (item["mechanism"] == "remote-lfa") == bool(tunnels)
        if tunnels:
            way = [arcs[port] for port in item["backup"]]
            assert (way[0][0], way[-1][1]) == (s, item["end"])
            assert sum(c for _, _, c in way) == tunnels[item["end"]] == min(tunnels.values())
            assert (s, e) not in [(x, y) for x, y, _ in way]
            checked += 1
    assert checked


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_paths_after_convergence_cover_whatever_is_left(name):
    far, arcs, backups, coverage = network(name, "ti-lfa", "delay")
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(arcs.values())
    assert coverage["protected"] == coverage["protectable"]
    for (s, d), item in backups.items():
        _, e, _ = arcs[item["next"][0]]
        left = graph.copy()
        left.remove_edges_from([(s, e), (e, s)])
        if not nx.has_path(left, s, d):
            assert item["end"] is None
            continue
        way = [arcs[port] for port in item["backup"]]
        whole = sum(c for _, _, c in way) + far[item["end"]][d]
        assert whole == nx.dijkstra_path_length(left, s, d)


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_all_minimum_cost_next_hops_are_used(name):
    far, arcs, backups, coverage = network(name, "lfa", "1", ecmp="modulo-n")
    several = 0
    for (s, d), item in backups.items():
        over = {port for port, (x, n, cost) in arcs.items() if x == s and cost + far[n][d] == far[s][d]}
        assert set(item["next"]) == over
        several += len(over) > 1
        assert (item["mechanism"] == "ecmp") == (len(over) > 1)
    assert several
    assert coverage["protected"] == sum(backup["mechanism"] is not None for backup in backups.values())


WORLD = """
stop = "1 s"
[routing]
[topology]
file = "{file}"
rate = "10 Mbps"
queue = "20 packets"
"""

GML = """graph [
  label "Zoo"
  node [ id 0 label "New York" Longitude -74.00597 Latitude 40.71427 ]
  node [ id 1 label "Chicago" Longitude -87.65005 Latitude 41.85003 ]
  node [ id 2 label "Chicago" Longitude -87.65005 Latitude 41.85003 ]
  node [ id 3 ]
  edge [ source 0 target 1 ]
  edge [ source 0 target 1 LinkLength 2000 ]
  edge [ source 1 target 2 ]
  edge [ source 2 target 3 dist 100.5 ]
]
"""

GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="label" attr.type="string"/>
  <key id="d1" for="edge" attr.name="length" attr.type="double"/>
  <graph edgedefault="directed">
    <node id="a"><data key="d0">Ulm</data></node>
    <node id="b"><data key="d0">Bonn</data></node>
    <edge source="a" target="b"><data key="d1">1</data></edge>
    <edge source="b" target="a"><data key="d1">1</data></edge>
    <edge source="a" target="b"><data key="d1">3</data></edge>
  </graph>
</graphml>
"""


def links(text, path, overrides=()):
    resolved, _, _ = ask(text, path, overrides)
    return resolved["nodes"], {link["name"]: link["forward"]["delay_ps"] for link in resolved["links"]}


def test_a_gml_file_keeps_parallel_links_and_gets_lengths_from_places(tmp_path):
    (tmp_path / "zoo.gml").write_text(GML, encoding="utf-8")
    scenario = WORLD.format(file="zoo.gml")
    nodes, delays = links(scenario, tmp_path / "world.toml")
    assert nodes == ["New-York", "Chicago", "Chicago-2", "n3"]
    assert list(delays) == ["New-York-Chicago", "New-York-Chicago-2", "Chicago-Chicago-2", "Chicago-2-n3"]
    # By the law of cosines on a sphere of 6371 km, with 5 us per km.
    a, b, between = (math.radians(degrees) for degrees in (40.71427, 41.85003, 87.65005 - 74.00597))
    angle = math.acos(math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(between))
    assert delays["New-York-Chicago"] == pytest.approx(6371 * angle * 5e6, abs=5e3)
    assert delays["New-York-Chicago-2"] == 2000 * 5_000_000
    assert (delays["Chicago-Chicago-2"], delays["Chicago-2-n3"]) == (0, 502_500_000)
    _, slower = links(scenario, tmp_path / "world.toml", [("topology.delay_per_km", "4.9 us")])
    assert slower["New-York-Chicago-2"] == 2000 * 4_900_000
    _, even = links(scenario, tmp_path / "world.toml", [("topology.delay", "7 ms")])
    assert set(even.values()) == {7_000_000_000}


def test_two_arcs_of_a_graphml_file_are_one_link(tmp_path):
    (tmp_path / "pair.graphml").write_text(GRAPHML, encoding="utf-8")
    nodes, delays = links(WORLD.format(file="pair.graphml"), tmp_path / "world.toml")
    assert nodes == ["Ulm", "Bonn"]
    assert delays == {"Ulm-Bonn": 5_000_000, "Ulm-Bonn-2": 15_000_000}


def optcp_command(cwd, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "optcp", *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("topology.name", "sndlib/germany5", ["no topology `sndlib/germany5`", "did you mean 'sndlib/germany50'?"]),
        ("topology.name", "germany50", ["no topology `germany50`", "did you mean 'sndlib/germany50'?"]),
        ("topology.file", "x.gml", ["name of the network is not clear", "needs either `name` or `file`"]),
    ],
)
def test_missing_topology_is_shown_at_its_name(tmp_path, key, value, words):
    done = optcp_command(tmp_path, "validate", "germany50", "--set", f"{key}={value}")
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr


def test_a_bad_file_is_shown_where_it_is_named(tmp_path):
    world = tmp_path / "world.toml"
    for name, content, word in [
        ("gone.gml", None, "cannot read `gone.gml`: No such file"),
        ("bad.gml", "graph [ node [", "cannot read `bad.gml`"),
        (
            "far.gml",
            "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]",
            "set one `delay` for all links",
        ),
        ("what.txt", "x", "unsupported file format"),
    ]:
        world.write_text(WORLD.format(file=name), encoding="utf-8")
        if content is not None:
            (tmp_path / name).write_text(content, encoding="utf-8")
        done = optcp_command(tmp_path, "validate", "world.toml")
        assert done.returncode == 2
        assert word in done.stderr
        assert "world.toml:5:8" in done.stderr


def test_every_link_fails_in_turn_by_one_line(tmp_path):
    abilene = {"network": "sndlib/abilene", "from": "ATLAng", "to": "STTLng", "link": "ATLAng-HSTNng"}
    more = [word for key, value in abilene.items() for word in ("--set", f"parameters.{key}={value}")]
    done = optcp_command(tmp_path, "run", "germany50", *more, "--out", "out")
    assert done.returncode == 0, done.stderr
    finished = StudyResult.open(tmp_path / "out")
    # Of 15 links only those that the flow crosses, in either direction: failures of others have no effect.
    path = ("ATLAng-IPLSng", "DNVRng-KSCYng", "DNVRng-STTLng", "IPLSng-KSCYng")
    assert finished.axes[0].values == path
    left_out = "11 of 15 values are left out, since no traffic crosses them: "
    assert left_out in done.stderr
    assert done.stdout.count("coverage of fast reroute") == 1
    without = optcp_command(tmp_path, "run", "germany50", *more, "--set", "routing.repair=none", "--out", "none")
    assert without.returncode == 0, without.stderr
    assert "fast reroute" not in without.stdout
    for run in finished.runs(1):
        routing = run.routing
        # The failures end before the hold-down timer: nothing is announced, and tables are unchanged.
        assert (routing["announcements"], routing["on_convergence"]) == (0, 0)
        assert routing["on_failure"] == routing["on_repair"]


def test_the_command_prints_routes_and_backups(tmp_path):
    done = optcp_command(tmp_path, "routing", "germany50", "--router", "Kiel")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert sum(row[0] == "Kiel" for row in rows if row) == 49
    assert "coverage of fast reroute" in done.stdout
    assert optcp_command(tmp_path, "routing", "every-link").returncode == 2
    wrong = optcp_command(tmp_path, "routing", "germany50", "--router", "Kil")
    assert (wrong.returncode, "did you mean 'Kiel'" in wrong.stderr) == (2, True)


def test_the_command_of_the_page_gives_its_value(command):
    page = (Path(__file__).parents[3] / "docs" / "details" / "models.md").read_text(encoding="utf-8")
    (line,) = (line for line in page.splitlines() if line.startswith("optcp routing germany50 --set"))
    assert "| `sndlib/abilene` | 12, 15 | 1 | 90.9 % | 56.1 % | 84.8 % | 90.9 % | 90.9 % |" in page
    values = {"": "90.9", "u-turn": "84.8", "not-via": "90.9", "mrc": "90.9", "fifr": "90.9"}
    for repair, value in values.items():
        also = ["--set", f"routing.repair={repair}"] if repair else []
        out = command(*shlex.split(line)[1:], *also).stdout
        assert out.splitlines()[-1].split()[:3] == ["132", value, "%"]
