"""Pages that simulate: included scenarios and files, and scenarios that are small enough for links."""

import base64
import json
import re
import zlib

import pytest

import optcp as package
from optcp import _core
from optcp.scenarios.shipped import find, scenarios
from optcp.web.playground import address, page, read, short, simulator, starts
from optcp.web.playground.world import observed, packet_hops, small

# TopoHub does not close the files that it reads.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
WITH = pytest.mark.skipif(simulator() is None, reason="no simulator is in this installation: `make playground`")
GML = """graph [
  node [ id 0 label "A" ] node [ id 1 label "B" ]
  edge [ source 0 target 1 length 100 ]
]
"""
FILES = """title = "two hosts, from files"
stop = "1 s"
topology = { file = "two.gml", rate = "10 Mbps", queue = "20 packets" }
flows = [{ group = "all", path = ["A", "B"], tcp = "rfc" }]
observe = []
schedules = [{ file = "passes.csv" }]
"""
PASSES = "at (s), link, delay (ms)\n0, A-B, 3\n0.5, A-B, 4\n"


@pytest.fixture
def from_files(tmp_path):
    for name, text in (("two.gml", GML), ("passes.csv", PASSES), ("world.toml", FILES)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "world.toml"


def worlds_of(text):
    """Return the scenarios of a page."""
    return json.loads(re.search(r'<script type="application/json" id="worlds">(.*?)</script>', text, re.DOTALL)[1])


def opened(found):
    """Return the scenario of an address."""
    kind, _, text = found.partition("=")
    assert kind == "#w"
    assert re.fullmatch(r"[\w-]+", text)
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), -zlib.MAX_WBITS))


def core(name, **settings):
    return _core.Scenario.load(str(find(name)), list(settings.items()))


def test_scenario_includes_content_of_its_files(from_files):
    start = read(from_files)
    assert (start.name, start.text) == ("world.toml", FILES)
    assert set(start.library) == {"graphs", "table"}
    nodes, links, *_ = start.library["graphs"]["two.gml"]
    assert (nodes, links) == (["A", "B"], [(0, 1, None, 100_000_000)])
    assert start.library["table"]["passes.csv"][1] == (3, [("at", "0.5 s"), ("link", "A-B"), ("delay", "4 ms")])


def test_a_named_network_comes_along_and_settings_are_in_the_text():
    start = read(scenarios()["germany50"], {"stop": "3 s"})
    assert len(start.library["names"]["sndlib/germany50"][0]) == 50
    assert 'stop = "3 s"' in start.text
    assert opened(address(start)) == json.loads(json.dumps(vars(start)))


@WITH
def test_the_command_writes_a_page_of_the_worlds_that_are_named(optcp, tmp_path):
    assert optcp("playground", "ring", "das-fig6") == (0, "playground.html\n", "")
    text = (tmp_path / "playground.html").read_text(encoding="utf-8")
    assert [world["text"] for world in worlds_of(text)] == [
        scenarios()[name].read_text(encoding="utf-8") for name in ("ring", "das-fig6")
    ]
    assert optcp("playground", "--out", "own.html") == (0, "own.html\n", "")
    assert worlds_of((tmp_path / "own.html").read_text(encoding="utf-8")) == [dict(vars(start)) for start in starts()]


@WITH
def test_command_warns_of_long_run_in_browser(optcp):
    status, out, err = optcp("playground", "lbas", "--set", "stop=200 s", "--out", "long.html")
    assert (status, out) == (0, "long.html\n")
    assert re.fullmatch(
        r"lbas.toml: a run has up to [\d,]+ million packet-hops; a browser simulates about 5 million per second\n", err
    )


@pytest.mark.skipif(simulator() is not None, reason="the installation has a simulator")
def test_missing_simulator_names_build_command(optcp, tmp_path):
    status, out, err = optcp("playground", "ring")
    assert (status, out) == (2, "")
    assert "compile it with `make playground`" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rng"], "did you mean 'ring'?"),
        (["ring", "--set", "stp=3 s"], "did you mean `stop`?"),
        (["--set", "stop=3 s"], "--set needs a SCENARIO"),
    ],
)
def test_the_command_refuses_and_writes_nothing(optcp, tmp_path, arguments, message):
    status, out, err = optcp("playground", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_a_module_that_is_handed_in_is_that_of_the_page():
    assert base64.b64encode(b"any module").decode() in page(starts(), b"any module")


@pytest.mark.parametrize("name", ["ring", "das-fig4", "germany50", "slides-first", "tcp-cubic-reno"])
def test_packet_hops_have_tight_upper_bound(name):
    simulated = package.load(name).run().counts["packet_hops"]
    assert 0.9 * simulated < packet_hops(core(name)) < 2 * simulated


def test_a_link_opens_a_small_world_with_all_that_is_drawn():
    start = opened(short(core("das-fig6"), "a world.toml"))
    assert start["name"] == "a world.toml"
    assert start["library"] == {}
    world = _core.Scenario.parse(start["text"], start["name"])
    assert {load["kind"] for load in json.loads(world.resolved())["observe"]} >= {"goodput", "tcp", "queue"}
    assert "# Added for the plots of the page; the run is the same." in start["text"]
    digests = [item.run(1, digest=True).records_sha256 for item in (world, core("das-fig6"))]
    assert digests[0] == digests[1]


def test_observations_are_added_under_names_that_are_free():
    world = core(
        "ring", observe='[{ name = "tcp", kind = "drops" }, { name = "queue", kind = "goodput", interval = "1 s" }]'
    )
    added = _core.Scenario.parse(observed(world, world.to_toml()), "ring.toml")
    assert added.summary()["observe"] == ["tcp", "queue", "tcp2", "queue2"]
    assert observed(added, "as it is") == "as it is"


def test_a_run_of_unknown_length_gets_no_intervals():
    text = opened(short(core("obs", stop="20 s"), "obs.toml"))["text"]
    assert 'kind = "tcp"' in text
    assert 'kind = "queue"' not in text


@pytest.mark.parametrize("name", ["lbas", "erlang-b", "reconfigurable-restoration"])
def test_long_runs_and_runs_without_tcp_have_no_link(name):
    assert not small(core(name))
    assert short(core(name), f"{name}.toml") == ""


def test_scenarios_that_name_files_have_no_link(from_files):
    world = _core.Scenario.load(str(from_files))
    assert small(world)
    assert short(world, "world.toml") == ""
