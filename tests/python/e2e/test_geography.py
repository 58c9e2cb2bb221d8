"""Risks by geography: the links that pass near a place."""

import math

import pytest

import optcp
from optcp import _core
from optcp.topologies import EARTH_KM, places

# TopoHub leaves the file open that it has read.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

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
    """The links of the failing risk, by the ports that went down."""
    ports = [one["port"] for one in scenario.run(1).failed]
    return {frozenset(port.split("->")) for port in ports}


def beside(scenario, centre, km):
    """The same from places: the least distance to points of the great circle, a kilometre apart."""
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
    assert {frozenset(one["ends"]) for one in scenario.resolved["links"] if centre in one["ends"]} <= expected


def test_a_storm_may_come_anywhere():
    scenario = world("every", 40, "storm-Kassel")
    assert failed(scenario) == beside(scenario, "Kassel", 40)
    text = WORLD.format(near="every", km=40, risk="storm-Kassel") + '[sweep]\nfailures.0.risk = "every"\n'
    swept = optcp.Scenario.parse(text, "storm.toml").axes["failures.0.risk"]
    # Those that no flow crosses are left out.
    assert {"storm-Hamburg", "storm-Muenchen"} <= set(swept) < {f"storm-{node}" for node in scenario.resolved["nodes"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (WORLD.format(near="Kasel", km=50, risk="storm"), "did you mean `Kassel`?"),
        (WORLD.format(near="Kassel", km=50, risk="storm").replace('near = "Kassel"\n', ""), "needs either `links`"),
        (WORLD.format(near="every", km=50, risk="storm"), "no risk `storm`"),
    ],
)
def test_what_is_nowhere_is_named(text, says):
    with pytest.raises(_core.ScenarioError) as error:
        optcp.Scenario.parse(text, "storm.toml")
    assert says in str(error.value)
