"""Globe of an animation: visible area, positions of nodes, routes of links, and path changes."""

import json
import re

import numpy as np
import pytest

import optcp
from optcp.constellation.beside import ConstellationFiles, beside
from optcp.constellation.places import Track
from optcp.constellation.recorded import Recorded
from optcp.plots import network
from optcp.web.animation import animate, globe, page, window
from optcp.web.animation.frames import ports_of

HOPS = """
title = "over two satellites, hop by hop"
stop = "2 s"
[[nodes]]
names = ["A", "A.dish", "S1.dish", "S1", "S2", "S2.dish", "B.dish", "B"]
[[links]]
chain = ["A", "A.dish", "S1.dish", "S1", "S2", "S2.dish", "B.dish", "B"]
rate = "10 Mbps"
delay = "3 ms"
queue = "20 packets"
[[flows]]
group = "f"
path = ["A", "A.dish", "S1.dish", "S1", "S2", "S2.dish", "B.dish", "B"]
"""


def track(*rows):
    return Track(*np.array(rows, dtype=float).T)


PLACES = {
    "A": track((0, 0, 0, 0)),
    "B": track((0, 0, 60, 0)),
    "S1": track((0, 0, 10, 630), (2, 0, 20, 630)),
    "S2": track((0, 5, 50, 630), (2, 10, 50, 630)),
}
PATHS = Recorded(
    ("A", "B"),
    "",
    np.array([0, 0.5, 1.0, 1.5, 1.6]),
    np.array([40, 41, np.nan, 45, 44.0]),
    [(1, 2), (1, 2), (), (2,), (1,)],
)


def about(made):
    return json.loads(re.search(r'id="about">(.*?)</script>', made, re.DOTALL)[1].replace("<\\/", "</"))


def test_view_is_centred_above_path():
    """Ends 60 degrees apart on the equator: each is half a radius from the centre, over which a satellite is."""
    ends = [PLACES[name].at(0) for name in "AB"]
    seen = globe.view(ends, [track((0, 0, 30, 6378.135)).at(0)])
    assert (seen.latitude, seen.longitude) == pytest.approx((0, 30))
    assert seen.box == pytest.approx((-0.5, -globe.LEAST / 2, 0.5, globe.LEAST / 2))
    # Twice as far from the centre of the earth, 30 degrees north of it: sin 30 * 2 radii up.
    assert globe.view(ends, [track((0, 30, 30, 6378.135)).at(0)]).box[3] == pytest.approx(1)


def test_ends_on_both_sides_of_the_earth_have_a_middle():
    seen = globe.view([track((0, 10, 20, 0)).at(0), track((0, -10, -160, 0)).at(0)], [])
    assert (seen.latitude, seen.longitude) == pytest.approx((10, 20))


def test_an_antenna_stands_where_its_node_does():
    world = optcp.Scenario.parse(HOPS)
    stands = globe.stand(ConstellationFiles(PLACES, None), world.resolved)
    assert stands == {name: name.removesuffix(".dish") for name in world.resolved["nodes"]}


def test_links_are_between_places_and_the_path_has_its_satellites():
    world = optcp.Scenario.parse(HOPS).resolved
    _, links, drawn_as = network.laid(world)
    ports, _ = ports_of(world, links, drawn_as)
    made = globe.globe(ConstellationFiles(PLACES, PATHS), world, ports)
    names = [item[0] for item in made["places"]]
    assert made["path"] == [[0.0, [0, 2, 3, 1]], [1.0, []], [1.5, [0, 3, 1]], [1.6, [0, 2, 1]]]
    ends = dict(zip((port.name for port in ports), made["ports"], strict=True))
    assert [names[place] for place in ends["S1->S2"]] == ["S1", "S2"]
    assert [names[place] for place in ends["A->A.dish"]] == ["A", "A"]
    assert [names[place] for place in ends["A.dish->S1.dish"]] == ["A", "S1"]


def test_network_with_unplaced_node_has_no_globe():
    alone = HOPS.replace('"B.dish", "B"]\n[[links]]', '"B.dish", "B", "C", "D"]\n[[links]]')
    alone += '[[links]]\nchain = ["C", "D"]\nrate = "1 Mbps"\ndelay = "1 ms"\nqueue = "1 packet"\n'
    found = about(animate(optcp.Scenario.parse(alone), beside=ConstellationFiles(PLACES, PATHS)))
    assert found["globe"] is None


def test_files_of_another_scenario_are_not_drawn():
    found = about(animate(optcp.load("single-failure"), beside=ConstellationFiles(PLACES, PATHS)))
    assert found["globe"] is None
    assert not any("path:" in text for _, _, text in found["events"])


def test_changes_are_described_in_sentences():
    assert [(change.at_ps / 1e12, change.kind, change.text) for change in globe.changes(PATHS)] == [
        (0, "first", "path: 40.0 ms, over 1 2"),
        (1, "down", "no path"),
        (1.5, "up", "path restored: 45.0 ms, over 2"),
        (1.6, "path", "shorter path: 44.0 ms instead of 45.0, over 1"),
    ]


def test_long_path_is_described_by_its_ends():
    long = Recorded(("A", "B"), "", np.array([0.0, 1.0]), np.array([100.0, 100.0]), [tuple(range(1, 11))] * 2)
    assert [change.text for change in globe.changes(long)] == ["path: 100.0 ms, over 10 satellites, 1 to 10"]


def test_packets_are_drawn_around_an_outage_or_the_greatest_change():
    assert globe.story(PATHS) == 10**12
    lasting = Recorded(("A", "B"), "", np.array([0, 1, 2, 3.0]), np.array([40, 41, 60, 61.0]), [(1,), (2,), (3,), (3,)])
    assert globe.story(lasting) == 2 * 10**12
    assert globe.story(None) is None
    world = optcp.Scenario.parse(HOPS)
    run = world.set("observe", [{"name": "ports", "kind": "ports", "interval": "100 ms"}]).run()
    part = window.choose(run, page._hops(run, 2 * 10**12, 10**11), (None, None), 10**12)
    # One propagation round trip before: seven links of 3 ms, both ways.
    assert part.start_ps == pytest.approx((1 - 0.042) * 1e12)


def test_path_outage_is_described_once(optcp, tmp_path):
    asked = ("--from", "Manila", "--to", "St. Petersburg", "--at", "150s", "--length", "20s", "--out", "leo")
    assert optcp("constellation", "kuiper-630", *asked)[0] == 0
    assert optcp("animate", "leo/world.toml", "--out", "page.html")[0] == 0
    found = about((tmp_path / "page.html").read_text())
    stretches = beside(tmp_path / "leo").paths.stretches()
    assert [at for at, _, _ in found["events"]] == [stretch.start_s for stretch in stretches]
    assert [text for _, kind, text in found["events"] if kind == "down"] == ["no path"]
    down = next(stretch for stretch in stretches if not stretch.satellites)
    # No link fails, but nodes have no route.
    assert found["down"] == []
    assert found["from"] < down.start_s < found["to"]
    # The directory of a run has everything that its page needs.
    assert optcp("run", "leo/world.toml", "--out", "run")[0] == 0
    (tmp_path / "leo").rename(tmp_path / "elsewhere")
    assert optcp("animate", "run", "--out", "again.html")[0] == 0
    again = about((tmp_path / "again.html").read_text())
    assert (again["events"], again["globe"]) == (found["events"], found["globe"])


def test_land_is_that_of_the_earth():
    """Rings go counterclockwise around land: by ray casting, known places are on land or not."""
    rings = json.loads((globe.resources.files("optcp.web.animation") / "land.json").read_text())["land"]

    def on_land(longitude, latitude):
        inside = False
        for steps in rings:
            points = np.cumsum(np.reshape(steps, (-1, 2)), axis=0) / 10
            (x1, y1), (x2, y2) = points.T, np.roll(points, -1, axis=0).T
            crossed = (y1 > latitude) != (y2 > latitude)
            x = x1[crossed] + (latitude - y1[crossed]) / (y2 - y1)[crossed] * (x2 - x1)[crossed]
            inside ^= bool(np.count_nonzero(x > longitude) % 2)
        return inside

    assert all(on_land(*place) for place in [(2.3, 48.9), (-100, 40), (134, -25), (25, -29), (105, 60), (0, -85)])
    assert not any(on_land(*place) for place in [(-30, 40), (150, 10), (80, -40), (50, 42), (0, 85)])
