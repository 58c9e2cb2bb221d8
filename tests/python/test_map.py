"""Maps of networks: positions of nodes, and labels of links."""

import re
from xml.etree import ElementTree as ET

import pytest

import optcp
from optcp import _core
from optcp.plots import network
from optcp.scenarios.shipped import find

# TopoHub does not close the files that it reads.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

SVG = "{http://www.w3.org/2000/svg}"
NODE, LINE, NAME = f"{SVG}circle", f"{SVG}line", f"{SVG}text"


def drawn(name, **settings):
    """Return the map of a scenario as a tree of elements."""
    world = optcp.load(name)
    for key, value in settings.items():
        world = world.set(key.replace("__", "."), value)
    return ET.fromstring(network.of_core(world.core, alone=True))  # noqa: S314 - our own


def places(picture):
    """Return the positions of nodes by name."""
    return {node[0].text: (float(node.get("cx")), float(node.get("cy"))) for node in picture.iter(NODE)}


def test_a_topology_has_north_up_and_east_right():
    at = places(drawn("germany50"))
    assert at["Kiel"][1] < at["Hannover"][1] < at["Muenchen"][1]
    assert at["Aachen"][0] < at["Kassel"][0] < at["Dresden"][0]


@pytest.mark.parametrize("name", ["germany50", "single-failure", "gmpls-section5", "das-fig1"])
def test_names_do_not_cover_each_other(name):
    picture = drawn(name)
    names = [text for text in picture.iter(NAME) if text.text in places(picture)]
    assert len(names) > 0.9 * len(places(picture))
    boxes = [(float(t.get("x")), float(t.get("y")), network.LETTER * len(t.text)) for t in names]
    for i, (x, y, wide) in enumerate(boxes):
        for other_x, other_y, other_wide in boxes[i + 1 :]:
            assert abs(y - other_y) >= 11 or x + wide <= other_x or other_x + other_wide <= x


def test_link_labels_state_flows_and_failures():
    """Two flows of `protected` and one of `cross`, which uses R5-R6 alone."""
    said = {line[0].text: line for line in drawn("single-failure").iter(LINE) if len(line)}
    assert said["R2-R3: 2 flows, fails"].get("stroke-dasharray")
    assert "R5-R6: 1 flows" in said
    assert "R2-R5: 0 flows" in said
    widths = {name.partition(":")[0]: float(line.get("stroke-width")) for name, line in said.items()}
    assert widths["R1-R2"] > widths["R5-R6"] > widths["R2-R5"]


def test_text_is_legible_and_the_picture_fits_the_page():
    world = _core.Scenario.load(str(find("germany50")))
    text = network.of_core(world)
    assert 'font-size="11"' in text
    assert "min-width:760px" in text
    assert "max-width:100%" in network.of_core(world, alone=True)
    assert re.search(r"prefers-color-scheme:dark", text)


def test_the_command_writes_a_file(command, tmp_path):
    assert command("map", "single-failure").stdout == "single-failure.svg\n"
    ET.parse(tmp_path / "single-failure.svg")  # noqa: S314 - our own
    nodes = [f"n{number}" for number in range(251)]
    (tmp_path / "ring.toml").write_text(
        f'stop = "1 s"\n[[nodes]]\nnames = {nodes}\n'
        f'[[links]]\nchain = {[*nodes, "n0"]}\nrate = "1 Mbps"\ndelay = "1 ms"\nqueue = "unlimited"\n'
    )
    assert "a map has 1 to 250 nodes" in command("map", "ring.toml", status=2).stderr
