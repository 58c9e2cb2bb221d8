"""Formats of topology files: small files by hand, other readers, round trips, and damaged files."""

import io
import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings, strategies

from optcp.errors import InputError
from optcp.topology import (
    FORMATS,
    Demand,
    Fibre,
    Link,
    Module,
    Network,
    Node,
    Source,
    find,
    networks,
    read,
    read_path,
    writer,
)
from optcp.topology.base import FIELDS, reduced
from optcp.topology.registry import LINKS, format_of

FILES = Path(__file__).parents[2] / "fuzz" / "corpus" / "topology"
WRITERS = [form for form in FORMATS if form.write is not None]
GBPS = 10**9


def of(name):
    return read(Source(name, (FILES / name).read_bytes()))


def ends(network):
    return [tuple(network.nodes[end].name for end in link.ends) for link in network.links]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("as-in-the-zoo.graphml", "graphml"),
        ("drawn-by-yed.graphml", "graphml"),
        ("units.gml", "gml"),
        ("triangle.snd", "sndlib-native"),
        ("triangle-sndlib.xml", "sndlib-xml"),
        ("line.json", "gnpy"),
        ("te.json", "rfc8345"),
        ("layers.json", "rfc8345"),
        ("context.json", "tapi"),
        ("node-link.json", "node-link"),
        ("links.csv", "csv"),
    ],
)
@pytest.mark.parametrize("shown", ["{}", "network.txt", "network"])
def test_format_is_detected_by_content(name, form, shown):
    assert format_of(shown.format(name), (FILES / name).read_bytes()).name == form


@pytest.mark.parametrize("name", ["triangle.snd", "triangle-sndlib.xml"])
def test_sndlib_with_unit_has_rates_and_volumes(name):
    found = of(name)
    assert [node.name for node in found.nodes] == ["Ulm", "Bonn", "Kiel"]
    assert found.nodes[1].place == (7.1, 50.73)
    assert [link.name for link in found.links] == ["L1", "L2", "L3"]
    assert [link.rates for link in found.links] == [(GBPS, GBPS), (None, None), (2_500_000_000, 2_500_000_000)]
    assert [link.costs[0] for link in found.links] == [2, 3, 1]
    assert found.links[0].modules == (Module(Decimal(155_000_000), Decimal(10)), Module(Decimal(622_000_000), 30))
    assert found.demands == (Demand((0, 2), 250_500_000), Demand((2, 1), 40_000_000))
    assert "link: `setupCost`" in found.reading.ignored
    assert "demand: `maxPathLength`" in found.reading.ignored


@pytest.mark.parametrize("name", ["triangle.snd", "triangle-sndlib.xml"])
@pytest.mark.parametrize("unit", ["", "FURLONGS"])
def test_sndlib_without_known_unit_has_weights_and_says_so(name, unit):
    found = read(Source(name, (FILES / name).read_bytes().replace(b"MBITPERSEC", unit.encode() or b"x")))
    assert [link.rates[0] for link in found.links] == [None] * 3
    assert [demand.weight for demand in found.demands] == [Decimal("250.5"), 40]
    assert any("demands are weights, and capacities are no rates" in words for words in found.reading.assumed)
    assert found.reading.rates[:2] == ("preInstalledCapacity", "moduleCapacity")


def test_pixel_coordinates_are_no_places():
    content = (FILES / "triangle-sndlib.xml").read_bytes().replace(b'"geographical"', b'"pixel"')
    found = read(Source("net.xml", content))
    assert [node.place for node in found.nodes] == [None] * 3
    assert "coordinates are places in a drawing and are not used" in found.reading.assumed


def test_yed_labels_are_names_and_opposite_arcs_have_own_rates():
    found = of("drawn-by-yed.graphml")
    assert ends(found) == [("Ulm", "Bad Münder")]
    assert found.links[0].name == "trunk 1"
    assert found.links[0].rates == (100 * GBPS, 40 * GBPS)


def test_speeds_of_the_topology_zoo_are_rates():
    found = of("as-in-the-zoo.graphml")
    assert [link.rates[0] for link in found.links] == [2_500_000_000, 155_000_000]
    assert found.reading.ignored == ("node: `Country`",)
    assert found.reading.assumed == ("all links have the great-circle distance of their ends as length",)


def test_values_with_units_are_read_and_others_are_reported():
    found = of("units.gml")
    one, two = found.links
    assert one.rates == (10 * GBPS,) * 2
    assert one.delays == (2_500_000_000,) * 2
    assert (one.costs[0], one.losses[0], one.risks) == (7, Decimal("0.001"), ("duct 1", "bridge"))
    assert two.rates == (None, None)
    assert found.nodes[1].aliases == ("BN", "Bundesstadt")
    assert found.reading.ignored == ("link: `colour`",)


def test_gnpy_spans_between_roadms_are_one_link():
    found = of("line.json")
    assert [node.name for node in found.nodes] == ["Ulm", "Bonn"]
    assert found.nodes[1].aliases == ("roadm Bonn", "trx Bonn 1", "trx Bonn 2")
    (link,) = found.links
    assert link.length_mm == 150_500_000
    assert link.delays == (752_500_000, 755_000_000)


def test_rfc_8795_attributes_have_both_directions():
    found = of("te.json")
    (link,) = found.links
    assert [node.name for node in found.nodes] == ["Ulm", "D2"]
    assert link.rates == (2**33, 10 * GBPS)
    assert (link.costs, link.delays, link.risks) == ((100, 50), (1_500_000_000, None), ("7", "9"))


def test_tapi_context_has_capacity_cost_and_risk():
    (link,) = of("context.json").links
    assert (link.rates[0], link.costs[0], link.risks) == (400 * GBPS, 3, ("duct-4",))
    assert link.attributes["latency"] == "1.5"


def test_csv_columns_have_units_and_directions(tmp_path):
    (tmp_path / LINKS).write_bytes((FILES / LINKS).read_bytes())
    (tmp_path / "demands.csv").write_text("from,to,volume (Gbps)\nA Coruña,Sevilla,2.5\n", encoding="utf-8")
    found = read_path(tmp_path)
    assert [link.rates for link in found.links] == [(100 * GBPS, 40 * GBPS), (10 * GBPS, 10 * GBPS), (None, None)]
    assert [link.length_mm for link in found.links] == [500_000_000, 400_000_000, 800_000_000]
    assert found.links[1].delays[0] == 2_500_000_000
    assert found.links[0].risks == ("duct 1", "bridge")
    assert found.demands == (Demand((0, 2), 2_500_000_000),)
    assert found.reading.ignored == ("link: `owner`",)


@pytest.fixture
def sheet():
    """Return the content of a spreadsheet: ROADMs A and C, and an amplifier site B between them."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    nodes = book.active
    nodes.title = "Nodes"
    for row in (
        ["Network of a test"],
        ["City", "State", "Latitude", "Longitude", "Type"],
        ["A", "", 48.4, 9.99, "ROADM"],
        ["B", "", 0, 0, "ILA"],
        ["C", "", 50.73, 7.1, "ROADM"],
    ):
        nodes.append(row)
    links = book.create_sheet("Links")
    for row in (["Node A", "Node Z", "Distance (km)", "Fiber type"], ["A", "B", 80], ["B", "C", 70.5], ["A", "C"]):
        links.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def test_gnpy_spreadsheet_collapses_amplifier_sites(sheet):
    found = read(Source("net.xlsx", sheet))
    assert ends(found) == [("A", "C"), ("A", "C")]
    assert [link.length_mm for link in found.links] == [150_500_000, 80_000_000]
    assert found.nodes[0].place == (9.99, 48.4)
    assert found.reading.assumed[-1] == "1 links without a distance have 80 km"


def test_damaged_spreadsheet_is_refused(sheet):
    for end in (4, 100, len(sheet) // 2):
        with pytest.raises(InputError, match=r"net\.xlsx"):
            read(Source("net.xlsx", sheet[:end]))


def test_large_file_is_refused(monkeypatch):
    monkeypatch.setattr("optcp.topology.model.LARGEST", 2**20)
    with pytest.raises(InputError, match="topology files have at most 1 MiB"):
        read(Source("x.gml", b" " * (2**20 + 1)))


# Round trips

texts = strategies.text("abXY zäß&<\"'#[]1()", min_size=1, max_size=8).map(lambda text: f"N{text}N")
rates = strategies.none() | strategies.integers(1, 10**15)
delays = strategies.none() | strategies.integers(0, 10**12)
numbers = strategies.none() | strategies.decimals(0, 10**6, places=3)
ratios = strategies.none() | strategies.decimals(0, 1, places=6)


def degrees(most):
    return strategies.integers(-most * 10**6, most * 10**6).map(lambda value: value / 10**6)


modules = strategies.integers(1, 99).map(lambda size: Module(Decimal(size), Decimal(1)))
places = strategies.none() | strategies.tuples(degrees(180), degrees(90))


@strategies.composite
def made_networks(draw):
    count = draw(strategies.integers(2, 5))
    nodes = tuple(
        Node(str(at), draw(texts), draw(places), tuple(draw(strategies.lists(texts, max_size=2))))
        for at in range(count)
    )
    links = []
    for _ in range(draw(strategies.integers(0, 6))):
        a, b = draw(strategies.permutations(range(count)))[:2]
        links.append(
            Link(
                (a, b),
                draw(texts),
                *(draw(strategies.tuples(rates, rates)), draw(strategies.none() | strategies.integers(0, 10**11))),
                draw(strategies.tuples(delays, delays)),
                draw(strategies.tuples(numbers, numbers)),
                draw(strategies.tuples(ratios, ratios)),
                tuple(draw(strategies.lists(texts, max_size=2, unique=True))),
                directed=draw(strategies.booleans()),
                modules=tuple(
                    Module(Decimal(size), Decimal(1))
                    for size in draw(strategies.lists(strategies.integers(1, 99), max_size=2))
                ),
            )
        )
    pairs = Counter(frozenset(link.ends) for link in links)
    links = [replace(link, directed=link.directed and pairs[frozenset(link.ends)] == 1) for link in links]
    links = [_one_way(link) if link.directed else link for link in links]
    demands = []
    for _ in range(draw(strategies.integers(0, 3))):
        a, b = draw(strategies.permutations(range(count)))[:2]
        with_unit = draw(strategies.booleans())
        volume, weight = draw(strategies.integers(0, 10**12)), draw(strategies.decimals(0, 10**6, places=3))
        demands.append(Demand((a, b), volume if with_unit else None, None if with_unit else weight))
    return Network(nodes, tuple(links), tuple(demands))


def _one_way(link):
    def twice(both):
        return both[0], both[0]

    return replace(
        link,
        rates=twice(link.rates),
        delays=twice(link.delays),
        costs=twice(link.costs),
        losses=twice(link.losses),
    )


def canonical(network):
    """Return nodes, links and demands; links in one orientation and order, because graphs have neither."""

    def turned(link):
        if link.directed or link.ends[0] < link.ends[1]:
            return link
        a, b = link.ends
        values = {name: getattr(link, name)[::-1] for name in ("rates", "delays", "costs", "losses")}
        return replace(link, ends=(b, a), **values)

    links = sorted((turned(link) for link in network.links), key=lambda link: repr(plain(link)))
    return [(node.name, node.place, node.aliases) for node in network.nodes], links, network.demands


def plain(link):
    values = [
        None if value is None else Decimal(value).normalize() for both in (link.costs, link.losses) for value in both
    ]
    return link.ends, link.name, link.rates, link.length_mm, link.delays, values, link.risks, link.directed


@pytest.mark.parametrize("number", ["1e-06", "1E-6", "+1e-6", "1.0e-06", "0.000001"])
def test_gml_reads_exponents_without_a_point(number):
    """networkx reads `1e-06` as the number 1 and a key `e`."""
    text = f'graph [ node [ id 0 label "A1e3" Longitude 12e0 Latitude {number} ] ]'
    gml = next(form for form in FORMATS if form.name == "gml")
    network = gml.read(Source("network.gml", text.encode()))
    assert network.nodes[0].place == (12.0, 1e-6)
    assert network.nodes[0].label == "A1e3"
    written = gml.write(network)[""].decode()
    assert "Latitude 1.0e-06" in written


@pytest.mark.parametrize("form", WRITERS, ids=lambda form: form.name)
@given(network=made_networks())
@settings(deadline=None, max_examples=60)
def test_written_network_is_read_back(form, network):
    kept = form.kept(network)
    files = form.write(kept)
    content = files.get("", files.get(LINKS))
    assert format_of("network", content).name == form.name
    found = form.read(Source("network", content, files.get))
    assert canonical(form.kept(found)) == canonical(kept)


@pytest.mark.parametrize("form", WRITERS, ids=lambda form: form.name)
def test_parts_that_a_format_does_not_hold_are_named(form):
    link = Link(
        (0, 1), "L", (1, 2), 3, (4, 5), (Decimal(6), Decimal(7)), (Decimal("0.1"), Decimal("0.2")), ("r",),
        modules=(Module(Decimal(1), Decimal(2)),), over=(),
    )  # fmt: skip
    nodes = (Node("0", "A B", (1.0, 2.0), ("C",)), Node("1", "D"))
    demands = (Demand((0, 1), 5), Demand((1, 0), weight=Decimal(5)))
    whole = Network(nodes, (link,), demands, fibres=(Fibre(("A B", "D"), length_mm=3),))
    lost = form.lost(whole)
    assert {words for name, words in FIELDS.items() if name not in form.holds} <= set(lost)
    assert form.lost(Network((Node("A", "A"), Node("B", "B")), ())) == []


# Published networks, against minimal readers

NAMES = {"topozoo": 203, "sndlib": 26}


@pytest.mark.parametrize("collection", NAMES)
def test_published_networks_are_the_same_in_every_format(collection):
    members = networks()[collection]
    assert len(members) == NAMES[collection]
    for name in members if collection == "sndlib" else members[::10]:
        network = find(name)
        links = tuple(replace(link, rates=((at + 1) * 10**9,) * 2) for at, link in enumerate(network.links))
        weights = all(demand.weight is not None for demand in network.demands)
        assert weights
        with_units = tuple(
            replace(demand, volume_bps=round(demand.amount * 1000), weight=None) for demand in network.demands
        )
        network = replace(network, links=links, demands=with_units)
        expected = sorted(
            (*sorted((network.nodes[a].name, network.nodes[b].name)), link.rates[0])
            for link in links
            for a, b in [link.ends]
        )
        many = len(network.demands) > 3000
        for form in (form for form in WRITERS if not many or form.name == "sndlib-native"):
            files = form.write(form.kept(network))
            content = files.get("", files.get(LINKS))
            found = form.read(Source("network", content, files.get))
            assert (len(found.nodes), len(found.links)) == (len(network.nodes), len(links)), (name, form.name)
            if "rates" in form.holds and "labels" in form.holds:
                same = [(*sorted(pair), link.rates[0]) for pair, link in zip(ends(found), found.links, strict=True)]
                duplicates = len({node.name for node in network.nodes}) < len(network.nodes)
                assert duplicates or sorted(same) == expected, (name, form.name)
        xml = writer("sndlib-xml", "x")
        assert minimal_xml(xml.write(xml.kept(network))[""]) == (
            len(network.nodes),
            sorted(link.rates[0] for link in links),
            sorted(demand.volume_bps for demand in with_units),
        )


def minimal_xml(content):
    """Return number of nodes, rates and demands of an SNDlib file in bit/s, read without OpTCP."""
    space = "{http://sndlib.zib.de/network}"
    root = ET.fromstring(content)  # noqa: S314 - just written
    assert root.findtext(f"{space}meta/{space}unit") == "BITPERSEC"
    capacities = root.iterfind(f".//{space}preInstalledModule/{space}capacity")
    demands = root.iterfind(f".//{space}demandValue")
    return (
        len(list(root.iterfind(f".//{space}node"))),
        sorted(int(one.text) for one in capacities),
        sorted(int(one.text) for one in demands),
    )


# Damaged files

SMALL = sorted(path.name for path in FILES.iterdir())
PIECES = [b"", b"\0", b"-1", b"1e99", b"nan", b"null", b"[]", b"{}", b"<a>", b'"', b"(", b")", b",", b"\xff"]
PIECES += [b"9" * 20]


def read_or_refuse(name, content):
    """Return the network, or None if it is refused with a short message that names the file."""
    try:
        return read(Source(name, content))
    except InputError as refused:
        error = str(refused)
    assert name in error
    assert len(error) < 1000
    return None


@pytest.mark.parametrize("name", SMALL)
@given(data=strategies.data())
@settings(deadline=None, max_examples=60)
def test_damaged_file_is_read_or_refused_with_its_name(name, data):
    content = (FILES / name).read_bytes()
    for _ in range(data.draw(strategies.integers(1, 3))):
        at = data.draw(strategies.integers(0, len(content)))
        end = at + data.draw(strategies.integers(0, 12))
        content = content[:at] + data.draw(strategies.sampled_from(PIECES)) + content[end:]
    found = read_or_refuse(name, content)
    if found is None:
        return
    assert all(0 <= end < len(found.nodes) for link in found.links for end in link.ends)
    for form in WRITERS:
        kept = form.kept(found)
        assert form.write(kept)


@pytest.mark.parametrize("name", [name for name in SMALL if name.endswith(".json")])
@given(data=strategies.data())
@settings(deadline=None, max_examples=60)
def test_json_with_a_changed_value_is_read_or_refused(name, data):
    document = json.loads((FILES / name).read_text(encoding="utf-8"))
    holder = [document]
    inside, key = holder, 0
    while isinstance(inside[key], dict | list) and inside[key] and data.draw(strategies.integers(0, 9)):
        inside = inside[key]
        key = data.draw(strategies.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside))))
    inside[key] = data.draw(strategies.sampled_from([None, True, -1, 1e300, "", "x", [], {}, [None], {"a": 1}, 10**40]))
    read_or_refuse(name, json.dumps(holder[0]).encode())


def test_reduced_network_of_all_fields_is_the_network():
    network = of("triangle.snd")
    assert reduced(network, frozenset(FIELDS)) == network


# Documentation


def rows(mark):
    page = (FILES.parents[2] / "docs" / "details" / "topology-files.md").read_text(encoding="utf-8")
    table = page.partition(f"<!-- {mark}: ")[2].partition("-->\n\n")[2].partition("\n\n")[0]
    return table.splitlines()[2:]


def sentence(words):
    return f"{words[0].upper()}{words[1:]}."


def test_page_lists_every_format():
    assert rows("formats") == [
        f"| {form.title} | {f'`{form.name}`' if form.write else 'only read'} "
        f"| {', '.join(f'`{suffix}`' for suffix in form.suffixes if suffix)} "
        f"| {sentence(form.reads)} | {sentence(form.ignores)} |"
        for form in FORMATS
    ]


def test_page_lists_the_parts_that_formats_hold():
    assert rows("holds") == [
        f"| {words} | {', '.join(f'`{form.name}`' for form in WRITERS if name in form.holds)} |"
        for name, words in FIELDS.items()
    ]
