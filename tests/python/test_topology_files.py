"""Scenarios with a topology and a matrix from files: warnings, own node names, and refused files."""

import pytest

import optcp

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
        "link attributes `LinkSpeedRaw` of the file are ignored: every link has the rate 100 Mbps",
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
