"""Scenarios with a topology and a matrix from files: warnings, own node names, and refused files."""

import pytest

import optcp
from optcp.plots import network

GML = """graph [ directed 1
  node [ id 0 label "A Coruña" ]
  node [ id 1 label "Madrid" ]
  node [ id 2 label "Madrid" ]
  edge [ source 0 target 1 length 5 LinkSpeedRaw 1000000000.0 ]
  edge [ source 1 target 2 length 5 ]
  edge [ source 2 target 1 length 5 ]
  edge [ source 2 target 2 ]
]
"""
WORLD = """stop = "1 s"
[topology]
file = "net.gml"
group = "city"
rate = "100 Mbps"
queue = "500 packets"
[[flows]]
group = "f"
pairs = { among = "city", matrix = "m.csv" }
path = "shortest"
arrivals = "10 flows/s"
size = "10 kB"
[[flows]]
group = "g"
path = ["A Coruña", "Madrid"]
[[failures]]
node = "A Coruña"
at = "0.5 s"
"""


@pytest.fixture
def load(tmp_path):
    """Return a function that loads the scenario with that matrix."""

    def with_matrix(text, gml=GML, world=WORLD):
        for name, content in (("net.gml", gml), ("m.csv", text), ("world.toml", world)):
            (tmp_path / name).write_text(content, encoding="utf-8")
        return optcp.load(tmp_path / "world.toml")

    return with_matrix


def test_small_and_large_weights_are_in_exact_proportion(load):
    group = load("A Coruña,Madrid,0.0004\nMadrid,A-Coruña,0.0016\nMadrid-2,Madrid,0.0030\n").resolved["flows"][0]
    assert [route["path"][0] for route in group["routes"]] == ["A-Coruña", "Madrid", "Madrid-2"]
    assert [weight / sum(group["weights"]) for weight in group["weights"]] == [0.08, 0.32, 0.6]


def test_file_that_duplicates_scenario_warns(load):
    found = {name: (message, place.rpartition(":")[2]) for name, message, place in load("A Coruña,Madrid,1\n").warnings}
    assert found["rates-not-read"] == (
        "link attributes `LinkSpeedRaw` of the file are ignored: every link has the rate 100 Mbps; write "
        '`rate = "attribute:LinkSpeedRaw"` to use them',
        "5",
    )
    assert found["topology-file"] == (
        "several nodes have the same name in the file: `Madrid-2 is called Madrid`; links from a node to itself are "
        "ignored: `Madrid-2`; a link that has one direction in the file has both here: `A-Coruña-Madrid`",
        "3",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A Coruña,Madrid,abc\n", "`m.csv`, line 1: column `weight`: `abc`"),
        ("from,to,weight\nA Coruna,Madrid,1\n", "`m.csv`, line 2: column `from`: unknown node `A Coruna`"),
        ("from,to,weight\nMadrid,Madird,1\n", "`m.csv`, line 2: column `to`: unknown node `Madird`"),
    ],
)
def test_matrix_that_names_no_pair_is_refused_with_its_line(load, text, says):
    with pytest.raises(optcp.ScenarioError) as error:
        load(text)
    assert says in str(error.value)


def test_name_of_the_file_gives_way_to_a_node_of_the_scenario(load):
    gml = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 length 5 ] ]"
    own = """stop = "1 s"
topology = { file = "net.gml", rate = "1 Mbps", queue = "9 packets" }
flows = [{ group = "f", path = ["0", "1"] }]
"""
    assert load("", gml, own).resolved["flows"][0]["routes"][0]["path"] == ["n0", "n1"]
    host = """nodes = [{ names = ["0"] }]
links = [{ chain = ["0", "1"], rate = "1 Mbps", delay = "1 ms", queue = "9 packets" }]
"""
    assert load("", gml, own + host).resolved["flows"][0]["routes"][0]["path"] == ["0", "n1"]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ("12.5\n# remark\n1 MHz\n", "`v.txt`, line 3: unknown unit `MHz ms`"),
        ("12.5\n7\n8,5\n", "`v.txt`, line 3: expected one value"),
        ("1;2\n", "`v.txt`, line 1: expected one value"),
    ],
)
def test_value_of_a_distribution_is_refused_with_its_line(tmp_path, values, says):
    (tmp_path / "v.txt").write_text(values)
    world = """stop = "1 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "1 Mbps", delay = "file(v.txt, ms)", queue = "5 packets" }]
"""
    (tmp_path / "world.toml").write_text(world)
    with pytest.raises(optcp.ScenarioError) as error:
        optcp.load(tmp_path / "world.toml")
    assert says in str(error.value)


def test_column_of_a_schedule_is_named(tmp_path):
    (tmp_path / "passes.csv").write_text("# passes\nat (s); link; delay (ms)\n0; A-B; 3,1\n")
    world = """stop = "1 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "1 Mbps", delay = "1 ms", queue = "5 packets" }]
schedules = [{ file = "passes.csv" }]
"""
    (tmp_path / "world.toml").write_text(world)
    with pytest.raises(optcp.ScenarioError) as error:
        optcp.load(tmp_path / "world.toml")
    assert "`passes.csv`, line 3: column `delay`: `3,1 ms` has a comma in a number" in str(error.value)


RATES = """graph [
  node [ id 0 label "A Coruña" Longitude -8.4 Latitude 43.4 ]
  node [ id 1 label "Madrid" Longitude -3.7 Latitude 40.4 ]
  node [ id 2 label "Sevilla" Longitude -6.0 Latitude 37.4 ]
  edge [ source 0 target 1 length 500 capacity 100 LinkSpeedRaw 1000000000.0 metric 7 loss 0.25 risks "duct 1" ]
  edge [ source 1 target 2 length 400 capacity 40 metric 3 risks "duct 1;bridge" delay_ms 3.5 ]
  edge [ source 0 target 2 length 800 capacity 10 LinkSpeed "2.5" LinkSpeedUnits "G" metric 2 ]
]
"""
ROUTED = """stop = "1 s"
[topology]
file = "net.gml"
rate = "1 Gbps"
group = "city"
queue = "50 packets"
[routing]
[[flows]]
group = "f"
pairs = { among = "city" }
path = "routed"
size = "10 kB"
"""


@pytest.fixture
def resolved(load):
    """Return a function that resolves the links of ROUTED with other lines in place of its rate."""

    def links(lines, gml=RATES):
        found = load("A,B,1\n", gml, ROUTED.replace('rate = "1 Gbps"', lines)).resolved
        return found, {link["name"]: (link["forward"], link["reverse"]) for link in found["links"]}

    return links


def rates(links):
    return {name: tuple(way["rate_bps"] / 1e9 for way in both) for name, both in links.items()}


def test_rates_of_the_file_need_a_default_for_links_without_one(resolved):
    with pytest.raises(optcp.ScenarioError, match="the file has no rate for the link `Madrid-Sevilla`"):
        resolved('rate = "file"')
    assert rates(resolved('rate = "file"\ndefault_rate = "100 Mbps"')[1]) == {
        "A-Coruña-Madrid": (1, 1),
        "A-Coruña-Sevilla": (2.5, 2.5),
        "Madrid-Sevilla": (0.1, 0.1),
    }


def test_attribute_has_the_unit_of_the_scenario(resolved):
    found = rates(resolved('rate = "attribute:capacity Mbps"')[1])
    assert found == {
        "A-Coruña-Madrid": (0.1, 0.1),
        "A-Coruña-Sevilla": (0.01, 0.01),
        "Madrid-Sevilla": (0.04, 0.04),
    }


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ('rate = "attribute:capacity"', "expected a unit; write `rate ="),
        ('rate = "attribute:capcity Gbps"', "did you mean `capacity`?"),
        ('rate = "attribute:capacity Gbsp"', "did you mean `Gbps`?"),
        ('rate = "file"\ndefault_rate = "1 Gbps"\ncost = "file"\nloss = "attribute:loss"', "loss"),
        ('rate = "1 Gbps"\ndefault_rate = "2 Gbps"', "`default_rate` is not used here"),
        ('rate = "fast"', "expected a rate such as `10 Mbps`, `file`, or `attribute:NAME Gbps`"),
    ],
)
def test_values_that_the_file_does_not_have_are_refused(resolved, lines, says):
    with pytest.raises(optcp.ScenarioError) as error:
        resolved(lines)
    assert says in " ".join(str(error.value).replace("│", " ").split())


def test_rates_per_direction_come_from_opposite_arcs(resolved):
    gml = RATES.replace("graph [", "graph [ directed 1").replace("length 400", "length 400 rate_mbps 30")
    gml = gml.removesuffix("]\n") + "edge [ source 2 target 1 length 400 rate_mbps 20 ] ]"
    found = rates(resolved('rate = "file"\ndefault_rate = "1 Gbps"', gml)[1])
    assert found["Madrid-Sevilla"] == (0.03, 0.02)


def test_delay_cost_loss_and_risks_come_from_the_file(resolved):
    found, links = resolved('rate = "1 Gbps"\ndelay = "file"\ncost = "attribute:metric"\nloss = "file"\nrisks = "file"')
    assert [links[name][0]["delay_ps"] / 1e9 for name in sorted(links)] == [2.5, 4.0, 3.5]
    assert {loss["port"]: loss["probability"] for loss in found["losses"]} == {
        "A-Coruña->Madrid": 0.25,
        "Madrid->A-Coruña": 0.25,
    }
    path = {tuple(route["path"]) for route in found["flows"][0]["routes"]}
    assert ("A-Coruña", "Sevilla", "Madrid") in path


def test_risk_of_the_file_can_fail(load):
    world = ROUTED.replace('queue = "50 packets"', 'queue = "50 packets"\nrisks = "file"')
    world += '[[failures]]\nrisk = "duct-1"\nat = "0.5 s"\n'
    failed = [one["link"] for one in load("A,B,1\n", RATES, world).resolved["failures"]]
    assert sorted(failed) == ["A-Coruña-Madrid", "Madrid-Sevilla"]


def test_map_shows_the_names_of_the_file(load, tmp_path):
    world = load("A,B,1\n", RATES, ROUTED)
    drawn = network.of_core(world.core, str(tmp_path / "world.toml"))
    assert ">A Coruña<" in drawn


def test_node_is_known_by_its_aliases(load):
    gml = RATES.replace('label "Madrid"', 'label "Madrid" aliases "MAD;trx Madrid"')
    world = ROUTED.replace('pairs = { among = "city" }\npath = "routed"', 'path = ["A Coruña", "trx Madrid"]')
    (route,) = load("A,B,1\n", gml, world.replace("[routing]\n", "")).resolved["flows"][0]["routes"]
    assert route["path"] == ["A-Coruña", "Madrid"]
