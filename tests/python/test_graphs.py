"""Graphs in files: accepted GML and GraphML, lengths by hand and by networkx, and refused files."""

import re

import networkx as nx
import pytest
from hypothesis import given, strategies

from optcp.errors import InputError
from optcp.scenarios import topologies

GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
KEYS = (
    '<key id="l" for="node" attr.name="label" attr.type="string"/>'
    '<key id="d" for="edge" attr.name="length" attr.type="double"/>'
)
TWO = '<node id="a"><data key="l">Ulm</data></node><node id="b"><data key="l">Bonn</data></node>'
ENDS = 'node [ id 0 label "A" Longitude 0.0 Latitude 0.0 ] node [ id 1 label "B" Longitude 1.0 Latitude 0.0 ]'


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a topology from a file of that name with that content."""

    def find(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return topologies.find("file", name, str(tmp_path / "world.toml"))

    return find


def graphml(body, keys=KEYS, edgedefault="undirected", head=""):
    return f'{head}{GRAPHML}{keys}<graph edgedefault="{edgedefault}">{body}</graph></graphml>'


def km(found):
    return [None if length is None else length / 1e6 for *_, length in found.links]


@pytest.mark.parametrize("kind", ['for="edge"', 'for="all"', ""])
def test_graphml_default_applies_where_no_value_is_given(read, kind):
    keys = f'<key id="d" {kind} attr.name="length" attr.type="double"><default>300</default></key>'
    keys += '<key id="x" for="node" attr.name="lon"><default>1</default></key>'
    keys += '<key id="y" for="node" attr.name="lat"><default>2</default></key>'
    body = '<node id="a"/><node id="b"><data key="x">5</data></node>'
    body += '<edge source="a" target="b"/><edge source="a" target="b"><data key="d">7</data></edge>'
    found = read("net.graphml", graphml(body, keys))
    assert km(found) == [300, 7]
    assert found.places == [(1_000_000, 2_000_000), (5_000_000, 2_000_000)]


def test_default_of_nodes_does_not_apply_to_edges(read):
    keys = '<key id="d" for="node" attr.name="length"><default>300</default></key>'
    assert km(read("net.graphml", graphml('<node id="a"/><node id="b"/><edge source="a" target="b"/>', keys))) == [None]


@pytest.mark.parametrize(
    ("written", "length"),
    [
        ('"500 km"', 500), ('"1e3 km"', 1000), ('"12.5"', 12.5), ('"800 m"', 0.8), ('"10 mi"', 16.09344), ("0", 0),
        ('" 7 "', 7), ("3.25", 3.25), ('".5"', 0.5),
    ],
)  # fmt: skip
def test_length_may_have_a_unit(read, written, length):
    assert km(read("net.gml", f"graph [ {ENDS} edge [ source 0 target 1 length {written} ] ]")) == [length]


@pytest.mark.parametrize(
    "written",
    ['"1,200"', "-500", '"-500 km"', '""', '"n/a"', '"NaN"', "NAN", "INF", '"inf"', '"500 furlongs"', '"12 kms"',
     '"1e400"', "[ km 5 ]", "5 length 6", '"0x10"', '"1_000"'],
)  # fmt: skip
@pytest.mark.parametrize("name", ["dist", "LinkLength", "length", "distance", "Length"])
def test_length_that_cannot_be_read_is_refused_with_link_and_attribute(read, name, written):
    text = f"graph [ {ENDS} edge [ source 0 target 1 {name} {written.replace('length', name)} ] ]"
    with pytest.raises(InputError, match=rf"`net.gml`: the link A-B has `{name}` = `.*`: expected a length such as"):
        read("net.gml", text)


@pytest.mark.parametrize("data", ["500 furlongs", "", " ", "true", "1,5"])
def test_graphml_length_that_cannot_be_read_is_refused(read, data):
    body = f'{TWO}<edge source="a" target="b"><data key="d">{data}</data></edge>'
    with pytest.raises(InputError, match="the link Ulm-Bonn has `length` = "):
        read("net.graphml", graphml(body))


def test_unit_may_stand_in_the_name_of_the_attribute(read):
    assert km(read("net.gml", f"graph [ {ENDS} edge [ source 0 target 1 length_m 1500 ] ]")) == [1.5]


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ('Longitude "east" Latitude 1', "node `A` has `Longitude` = `east`: expected degrees from -360 to 360"),
        ('Longitude 1 Latitude ""', "has `Latitude` = ``"),
        ("Longitude 1 Latitude 91", "has `Latitude` = `91`: expected degrees from -90 to 90"),
        ("Longitude 1", "has `Longitude` alone"),
        ('lon "1,5" lat 3', "has `lon` = `1,5`"),
        ("Longitude 1 Longitude 2 Latitude 3", "has `Longitude` = "),
    ],
)
def test_place_that_cannot_be_read_is_refused(read, place, says):
    with pytest.raises(InputError, match=re.escape(says)):
        read("net.gml", f'graph [ node [ id 0 label "A" {place} ] node [ id 1 ] edge [ source 0 target 1 ] ]')


@pytest.mark.parametrize(
    "text",
    [
        "# the backbone graph [2011]\n{}",
        'Creator "my graph [v1]"\n{}',
        'Creator "two\nlines, graph [ "\n{}',
        '# 5" of rain\n{}',
        'comment "# no comment"\n{}',
        "Vendor [ graph [ a 1 ] ]\n{}",
        "{}# the end\n",
    ],
)
def test_word_graph_outside_the_graph_changes_nothing(read, text):
    edge = "edge [ source 0 target 1 length 5 ]"
    plain = f"graph [\n {ENDS}\n {edge}\n {edge} # graph [\n]\n"
    found = read("net.gml", text.format(plain))
    assert [link[2] for link in found.links] == [None, "A-B-2"]
    assert km(found) == [5, 5]


def test_line_of_a_gml_mistake_is_that_of_the_file(read):
    with pytest.raises(InputError, match=r"at \(5, "):
        read("net.gml", '# comment\ngraph [\n  label "two\nlines"\n  node ? id 0 ]\n]\n')


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "ISO-8859-1", "windows-1252"])
def test_encoding_that_a_graphml_file_declares_is_honoured(read, encoding):
    head = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>\n'
    text = graphml(TWO.replace("Ulm", "Köln") + '<edge source="a" target="b"/>', head=head)
    assert read("net.graphml", text.encode(encoding)).nodes == ["Köln", "Bonn"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_byte_order_mark_of_a_gml_file_is_honoured(read, encoding):
    text = f"graph [ {ENDS.replace('A', 'Köln', 1)} edge [ source 0 target 1 ] ]"
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    assert read("net.gml", (mark + text).encode(encoding)).nodes[0] == "Köln"


@pytest.mark.parametrize(("name", "text"), [("net.gml", f"\ngraph [ {ENDS} ]"), ("net.graphml", graphml(TWO))])
def test_undeclared_encoding_is_refused_with_byte_and_line(read, name, text):
    with pytest.raises(InputError, match="not UTF-8 text: byte 0xF6 in line 2; save the file as UTF-8"):
        read(name, text.replace("A", "Kö").replace("Ulm", "Köln").encode("latin-1"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            '<node id="Hamburg"/><edge source="Hamburg" target="Hambrug"/>',
            "no node `Hambrug` is declared; did you",
        ),
        ('<node id="a"/><node id="a"/>', "node `a` is declared twice"),
        ("<node/>", "a node has no `id`"),
        (f'{TWO}<edge source="a"/>', "an edge has no `target`"),
        (f'{TWO}<hyperedge><endpoint node="a"/></hyperedge>', "it has a hyperedge"),
        (f'<node id="c"><graph edgedefault="directed"/></node>{TWO}', "found 2; nested graphs are not supported"),
        (f'{TWO}</graph><graph edgedefault="directed">', "expected one graph, found 2"),
        (f'{TWO}<edge source="a" target="b" directed="true"/>', "is directed in another way"),
        (f'{TWO}<edge source="a" target="b"><data key="z">1</data></edge>', "key `z`, which is not declared"),
        (
            f'{TWO}<edge source="a" target="b"><data key="d">1</data><data key="d">2</data></edge>',
            "has `length` twice",
        ),
    ],
)
def test_meaningless_graphml_is_refused(read, body, says):
    with pytest.raises(InputError, match=re.escape(says)):
        read("net.graphml", graphml(body))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("graph [ node [ id 0 ] edge [ source 0 target 7 ] ]", "undefined target 7"),
        ("graph [ node [ id 0 ] node [ id 0 ] ]", "node id 0 is duplicated"),
        ("graph [ node [ id 0 graph [ node [ id 1 ] ] ] ]", "nested graphs are not supported"),
        ("graph [ node [ id 0 ] ] graph [ node [ id 1 ] ]", "more than one graph"),
        ('graph [ node [ id 0 label "A" label "B" ] ]', "node 0 has several names"),
        ("node [ id 0 ]", "no graph"),
    ],
)
def test_meaningless_gml_is_refused(read, text, says):
    with pytest.raises(InputError, match=says):
        read("net.gml", text)


def test_xml_of_another_kind_is_refused(read):
    with pytest.raises(InputError, match="its outermost element is `network`"):
        read("net.graphml", "<network><node id='a'/></network>")


def arcs(*lengths):
    edges = (f"edge [ source {a} target {b} length {length} ]" for a, b, length in lengths)
    return f"graph [ directed 1 {ENDS} {' '.join(edges)} ]"


def test_opposite_arcs_are_one_link(read):
    found = read("net.gml", arcs((0, 1, 3), (0, 1, 5), (1, 0, 5), (1, 0, 3)))
    assert (km(found), found.notes) == ([3, 5], [])


def test_arc_without_reverse_arc_is_noted(read):
    found = read("net.gml", arcs((0, 1, 3)))
    assert km(found) == [3]
    assert found.notes == ["a link that has one direction in the file has both here: `A-B`"]


def test_arcs_of_different_lengths_are_refused(read):
    with pytest.raises(InputError, match="the link A-B has 3 km in one direction and 5 km in the other"):
        read("net.gml", arcs((0, 1, 3), (1, 0, 5)))


def test_loops_and_repeated_names_are_noted(read):
    nodes = 'node [ id 0 label "X" ] node [ id 1 label "X" ] node [ id 2 label "A B" ] node [ id 3 label "A-B" ]'
    found = read("net.gml", f"graph [ {nodes} edge [ source 0 target 0 ] edge [ source 0 target 1 length 1 ] ]")
    # A valid label keeps its name.
    assert found.nodes == ["X", "X-2", "A-B-2", "A-B"]
    assert found.own_names == [[""], [""], ["A B"], [""]]
    assert found.notes == [
        "several nodes have the same name in the file: `X-2 is called X`",
        "links from a node to itself are ignored: `X`",
    ]
    assert found.by_name() == {"X": 0, "X-2": 1, "A B": 2, "A-B-2": 2, "A-B": 3}


def test_rates_of_a_file_are_named(read):
    edge = 'edge [ source 0 target 1 LinkSpeed "10" LinkSpeedUnits "G" LinkSpeedRaw 10000000000.0 length 1 ]'
    assert read("net.gml", f"graph [ {ENDS} {edge} ]").rates == ["LinkSpeed", "LinkSpeedRaw"]


names = strategies.text("abcXYZ äß&<\"'#[]1", min_size=1, max_size=8)
lengths = strategies.none() | strategies.integers(0, 10**6) | strategies.floats(0, 1e6)


@strategies.composite
def networks(draw):
    graph = nx.MultiGraph()
    count = draw(strategies.integers(2, 5))
    for node in range(count):
        graph.add_node(node, label=draw(names), note=draw(names))
    ends = strategies.integers(0, count - 1)
    for a, b, length in draw(strategies.lists(strategies.tuples(ends, ends, lengths), max_size=8)):
        if a != b:
            graph.add_edge(a, b, **({} if length is None else {"length": length}))
    return graph


@given(graph=networks(), form=strategies.sampled_from(["gml", "graphml"]))
def test_graph_that_networkx_writes_is_read_back(tmp_path_factory, graph, form):
    place = tmp_path_factory.mktemp("written")
    getattr(nx, f"write_{form}")(graph, place / f"net.{form}")
    found = topologies.find("file", f"net.{form}", str(place / "world.toml"))
    assert len(found.nodes) == len(graph)
    labels = [data["label"] for _, data in graph.nodes(data=True)]
    for index, label in enumerate(labels):
        if label.strip() and labels.count(label) == 1:
            assert found.by_name().get(label, index) == index or label in found.nodes

    def key(a, b, length):
        return (*sorted((a, b)), -1 if length is None else length)

    expected = [
        key(a, b, None if (length := data.get("length")) is None else round(length * 1e6))
        for a, b, data in graph.edges(data=True)
    ]
    assert sorted(key(a, b, length) for a, b, _, length in found.links) == sorted(expected)
