"""Geographic risks: links that pass near a place, and links that leave a node together."""

import itertools
import math

import pytest

import optcp
from optcp import _core
from optcp.scenarios.topologies import places

# TopoHub does not close the files that it reads.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

EARTH_KM = 6371.0

WORLD = """
stop = "1 s"
[topology]
name = "sndlib/germany50"
rate = "1 Gbps"
queue = "100 packets"
[routing]
repair = "none"
[[flows]]
group = "f"
from = "Hamburg"
to = "Muenchen"
[[risks]]
name = "storm"
near = "{near}"
within_km = {km}
[[failures]]
risk = "{risk}"
at = "0.5 s"
"""


def world(near="Kassel", km=50, risk="storm"):
    return optcp.Scenario.parse(WORLD.format(near=near, km=km, risk=risk), "storm.toml")


def failed(scenario):
    """Return the links of the failing risk, by the ports that went down."""
    ports = [item["port"] for item in scenario.run(1).failed]
    return {frozenset(port.split("->")) for port in ports}


def beside(scenario, centre, km):
    """Compute the same from coordinates: minimum distance to points of the great circle, 1 km apart."""
    at = places(dict(scenario.core.settings()), "")

    def point(name):
        longitude, latitude = map(math.radians, at[name])
        across = math.cos(latitude)
        return (across * math.cos(longitude), across * math.sin(longitude), math.sin(latitude))

    def angle(a, b):
        return math.acos(max(-1.0, min(1.0, sum(x * y for x, y in zip(a, b, strict=True)))))

    found = set()
    for link in scenario.resolved["links"]:
        a, b = map(point, link["ends"])
        steps = max(int(EARTH_KM * angle(a, b)), 1)
        for step in range(steps + 1):
            chord = [x + (y - x) * step / steps for x, y in zip(a, b, strict=True)]
            length = math.sqrt(sum(x * x for x in chord))
            if EARTH_KM * angle([x / length for x in chord], point(centre)) <= km:
                found.add(frozenset(link["ends"]))
                break
    return found


@pytest.mark.parametrize(("centre", "km"), [("Kassel", 0.1), ("Kassel", 60), ("Berlin", 130), ("Kempten", 75)])
def test_the_links_that_pass_near_a_node_share_a_risk(centre, km):
    scenario = world(centre, km)
    expected = beside(scenario, centre, km)
    assert failed(scenario) == expected
    assert {frozenset(item["ends"]) for item in scenario.resolved["links"] if centre in item["ends"]} <= expected


def test_storm_position_is_random():
    scenario = world("every", 40, "storm-Kassel")
    assert failed(scenario) == beside(scenario, "Kassel", 40)
    text = WORLD.format(near="every", km=40, risk="storm-Kassel") + '[sweep]\nfailures.0.risk = "every"\n'
    swept = optcp.Scenario.parse(text, "storm.toml").axes["failures.0.risk"]
    # Storms that affect no flow are omitted.
    assert {"storm-Hamburg", "storm-Muenchen"} <= set(swept) < {f"storm-{node}" for node in scenario.resolved["nodes"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (WORLD.format(near="Kasel", km=50, risk="storm"), "did you mean `Kassel`?"),
        (WORLD.format(near="Kassel", km=50, risk="storm").replace('near = "Kassel"\n', ""), "needs either `links`"),
        (WORLD.format(near="every", km=50, risk="storm"), "unknown risk `storm`"),
    ],
)
def test_nodes_without_place_are_named(text, says):
    with pytest.raises(_core.ScenarioError) as error:
        optcp.Scenario.parse(text, "storm.toml")
    assert says in str(error.value)


NETWORK = """
stop = "1 s"
[topology]
name = "{name}"
group = "city"
rate = "1 Gbps"
queue = "100 packets"
[routing]
repair = "none"
[[flows]]
group = "f"
pairs = {{ among = "city" }}
"""

DUCTS = """
[[risks]]
name = "duct"
leaving = "every"
within_degrees = {degrees}
[[risks]]
name = "one"
links = [{link}]
[[failures]]
risk = "one"
at = "0.5 s"
[sweep]
failures.0.risk = "every matching duct*"
"""


def network(name):
    return optcp.Scenario.parse(NETWORK.format(name=name), "network.toml")


def ducts(name, degrees):
    """Return the ducts by name, as values of an axis; every link carries traffic."""
    link = network(name).resolved["links"][0]["ends"]
    text = NETWORK.format(name=name) + DUCTS.format(degrees=degrees, link=link)
    return optcp.Scenario.parse(text, "ducts.toml").axes["failures.0.risk"]


def bearing(a, b):
    """Return the bearing between two places from vectors: components to the north and to the east."""
    longitude, latitude = map(math.radians, a)
    to, high = map(math.radians, b)
    north = (-math.sin(latitude) * math.cos(longitude), -math.sin(latitude) * math.sin(longitude), math.cos(latitude))
    east = (-math.sin(longitude), math.cos(longitude), 0.0)
    there = (math.cos(high) * math.cos(to), math.cos(high) * math.sin(to), math.sin(high))
    along = [sum(x * y for x, y in zip(there, way, strict=True)) for way in (east, north)]
    return math.degrees(math.atan2(*along)) % 360


def reckoned(name, degrees):
    """Compute the ducts from coordinates."""
    scenario = network(name)
    at = places(dict(scenario.core.settings()), "")
    result = []
    for node in scenario.resolved["nodes"]:
        ends = [link["ends"] for link in scenario.resolved["links"] if node in link["ends"]]
        others = {bearing(at[node], at[end]): end for pair in ends for end in pair if end != node}
        around = sorted(others)
        for first, second in itertools.pairwise([*around, *around[:1]] if len(around) > 2 else around):
            angle = (second - first) % 360 if len(around) > 2 else min(second - first, 360 - second + first)
            if angle <= degrees:
                result.append(f"duct-{node}-{others[first]}-{others[second]}")
    return result


# Among all pairs at a node (not only neighbours), a twelfth of germany50 lies within 30 degrees: at Erfurt, 29.7
# degrees apart, with a third link between the two.
@pytest.mark.parametrize(
    ("name", "within_30", "neighbours"), [("geant", 16, 62), ("nobel-eu", 1, 73), ("germany50", 11, 166)]
)
def test_ducts_match_recomputed_bearings(name, within_30, neighbours):
    found = ducts(f"sndlib/{name}", 30)
    assert len(found) == within_30
    assert sorted(found) == sorted(reckoned(f"sndlib/{name}", 30))
    assert len(ducts(f"sndlib/{name}", 360)) == neighbours


def test_a_network_may_have_no_ducts():
    with pytest.raises(_core.ScenarioError, match="the network has none"):
        ducts("sndlib/abilene", 30)
    assert len(ducts("sndlib/abilene", 360)) == 24


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('leaving = "every"', 'leaving = "Erfrut"', "did you mean `Erfurt`?"),
        ("within_degrees = 30\n", "", "or `leaving` and `within_degrees`"),
        ("within_degrees = 30", "within_degrees = 361", "at most 360"),
        (
            "within_degrees = 30",
            'within_degrees = 30\nnear = "Erfurt"\nwithin_km = 3',
            "links of the risk are not clear",
        ),
    ],
)
def test_invalid_duct_is_named(old, new, says):
    text = NETWORK.format(name="sndlib/germany50") + DUCTS.format(degrees=30, link=["Erfurt", "Leipzig"])
    assert old in text
    with pytest.raises(_core.ScenarioError) as error:
        optcp.Scenario.parse(text.replace(old, new), "ducts.toml")
    assert says in str(error.value)
