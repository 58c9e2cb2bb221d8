"""Networks in Hypatia's file formats: next hops by hand, Hypatia's own series, and missing or wrong files."""

import csv
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from optcp import load
from optcp.constellation import Station, hypatia_network, network_of_states, shell, world
from satellites import kuiper

pytest.importorskip("sgp4", reason="sgp4 is not installed: pip install 'optcp[tle]'")

REFERENCE = Path(__file__).parents[1] / "reference" / "leo" / "kuiper-630.csv"
SMALL = {
    "tles.txt": kuiper(2, 2),
    "isls.txt": "0 1\n0 2\n1 3\n2 3\n",
    "ground_stations.txt": "0,Manila,14.6042,120.9822,0.0,0,0,0\n1,Grid-1,-90,0,2800.0,0,0,0\n",
    "description.txt": "max_gsl_length_m=1260000.0000000000\nmax_isl_length_m=5016591.2330984278\n",
    # From 4 over 0 and 1 to 5, and back over 2 only; from 1 s on 1 drops packets for 5.
    "dynamic_state_1000ms_for_2s/fstate_0.txt": (
        "0,4,4,2,0\n1,4,0,0,0\n2,4,4,2,0\n3,4,-1,-1,-1\n0,5,1,0,0\n1,5,5,2,0\n2,5,5,2,0\n3,5,-1,-1,-1\n4,5,0,0,2\n5,4,2,0,2\n"
    ),
    "dynamic_state_1000ms_for_2s/fstate_1000000000.txt": "1,5,-1,-1,-1\n",
    "dynamic_state_1000ms_for_2s/gsl_if_bandwidth_0.txt": "not read\n",
}


@pytest.fixture
def make_network(tmp_path):
    def make(changed=None):
        for name, text in {**SMALL, **(changed or {})}.items():
            if text is not None:
                (tmp_path / "net" / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / "net" / name).write_text(text)
        return tmp_path / "net"

    return make


def test_states_are_next_hops_by_station_and_node(make_network):
    small = hypatia_network(make_network())
    states = [(at_s, next_hop.tolist()) for at_s, next_hop in small.states]
    first = [[4, 0, 4, -1, -1, 2], [1, 5, 5, -1, 0, -1]]
    later = [[4, 0, 4, -1, -1, 2], [1, -1, 5, -1, 0, -1]]
    assert states == [(0.0, first), (1.0, later)]
    assert small.stations == (Station("Manila", 14.6042, 120.9822), Station("Grid-1", -90, 0, 2.8))
    assert (small.gsl_km, small.size, len(small.isls)) == (1260, 4, 4)
    # A second iteration starts from the beginning.
    assert [next_hop.tolist() for _, next_hop in small.states] == [first, later]


def test_a_path_follows_next_hops_and_is_as_long_as_they_are(make_network):
    small = hypatia_network(make_network())
    found = small.series("Manila", "5")
    assert (found.paths, found.names, found.end_s) == ([(0, 1), ()], ("Manila", "Grid-1"), 2)
    assert small.series("Grid-1", "14.6042,120.9822").paths == [(2,), (2,)]
    places = small.positions(0.0, [4, 0, 1, 5])
    assert places[3] == pytest.approx([0, 0, -6378.135 * (1 - 1 / 298.26) - 2.8])
    assert places[1:3] == pytest.approx(small.positions(0.0)[:2])
    km = sum(np.linalg.norm(a - b) for a, b in itertools.pairwise(places))
    assert found.rtt_ms[0] == pytest.approx(2e3 * km / 299_792.458)
    assert [stretch.change for stretch in found.stretches()] == ["first", "outage"]


def test_a_scenario_has_the_next_hops_of_the_files(make_network, tmp_path):
    """Both directions, the reverse one over satellite 2; from 1 s on satellite 1 has no route."""
    small = hypatia_network(make_network())
    world = network_of_states(small, "Manila", "5")
    rows = [tuple(part.strip() for part in line.split(",")) for line in world.files["forwarding.csv"].splitlines()[1:]]
    assert set(rows) == {
        ("0", "Manila", "Grid", "Manila.dish > S0.dish > S0"),
        ("0", "S0", "Grid", "S1"),
        ("0", "S1", "Grid", "S1.dish > Grid.dish > Grid"),
        ("1000", "S1", "Grid", "none"),
        ("0", "Grid", "Manila", "Grid.dish > S2.dish > S2"),
        ("0", "S2", "Manila", "S2.dish > Manila.dish > Manila"),
    }
    (tmp_path / "world.toml").write_text(world.toml)
    for name, text in world.files.items():
        (tmp_path / name).write_text(text)
    assert load(str(tmp_path / "world.toml")).run(seed=1).drops["no-route"] > 0


def test_a_station_may_relay(make_network):
    rows = SMALL["dynamic_state_1000ms_for_2s/fstate_0.txt"]
    three = {
        "ground_stations.txt": SMALL["ground_stations.txt"] + "2,Third,0,0,0.0,0,0,0\n",
        "dynamic_state_1000ms_for_2s/fstate_0.txt": rows
        + "".join(f"{node},6,{onward},0,0\n" for node, onward in enumerate((5, 5, 6, 6, 0, 2)))
        + "6,4,-1,0,0\n6,5,-1,0,0\n",
    }
    assert hypatia_network(make_network(three)).series("Manila", "Third").paths[0] == (0, 5, 2)


def test_paths_match_hypatia(make_network):
    lines = [line for line in REFERENCE.read_text().splitlines() if not line.startswith("#")]
    rows = [row for row in csv.DictReader(lines) if (row["from"], row["to"]) == ("Manila", "Saint Petersburg")]
    files, before = {name: None for name in SMALL if name.startswith("dynamic")}, {}
    for row in rows:
        path = [1156, *map(int, row["satellites"].split()), 1157]
        hops = dict.fromkeys((*itertools.product(range(1156), (1156, 1157)), (1156, 1157), (1157, 1156)), -1)
        hops |= {(a, 1157): b for a, b in itertools.pairwise(path) if len(path) > 2}
        changed = "".join(f"{a},{to},{b},0,0\n" for (a, to), b in hops.items() if before.get((a, to)) != b)
        files[f"dynamic_state_2000ms_for_200s/fstate_{int(row['t_s']) * 10**9}.txt"], before = changed, hops
    places = "0,Manila,14.6042,120.9822,0.0\n1,Sankt-Peterburg,59.929858,30.326228,0.0\n"
    links = "".join(f"{a} {b}\n" for a, b in shell("kuiper-630").isls.tolist())
    folder = make_network({**files, "tles.txt": kuiper(), "isls.txt": links, "ground_stations.txt": places})
    found = hypatia_network(folder).series("Manila", "St. Petersburg")
    assert [" ".join(map(str, path)) for path in found.paths] == [row["satellites"] for row in rows]
    off_ns = 1e6 * found.rtt_ms - [int(row["rtt_ns"]) for row in rows]
    assert np.isnan(off_ns).sum() == sum(row["rtt_ns"] == "0" for row in rows) == 5
    assert np.nanmax(np.abs(off_ns)) < 500


def test_the_command_makes_a_world_of_a_directory(optcp, make_network):
    make_network()
    status, out, err = optcp("constellation", "net", "--from", "Manila", "--to", "Grid-1", "--out", "leo")
    assert (status, err) == (0, "")
    assert re.search(r"^ *0 s +first +\d+\.\d+ ms +0 1 *$", out, re.MULTILINE)
    assert re.search(r"; 1 s without a path$", out, re.MULTILINE)
    assert optcp("validate", "leo/world.toml")[0] == 0
    states = "net/dynamic_state_1000ms_for_2s"
    assert optcp("constellation", states, "--from", "Manila", "--to", "Grid-1", "--out", "leo")[:2] == (0, out)


def test_similarly_named_stations_make_a_scenario(make_network):
    alike = {"ground_stations.txt": SMALL["ground_stations.txt"].replace("Manila", "Grid-0")}
    text = world(hypatia_network(make_network(alike)).series("Grid-0", "Grid-1")).toml
    assert 'names = ["from", "sky", "to"]' in text
    assert 'title = "Grid-0 to Grid-1 over net"' in text


FIRST = "dynamic_state_1000ms_for_2s/fstate_0.txt"
LATER = "dynamic_state_1000ms_for_2s/fstate_1000000000.txt"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("tles.txt", None, "tles.txt: cannot be read: No such file"),
        ("isls.txt", None, "isls.txt: cannot be read: No such file"),
        ("isls.txt", "0 4\n", "isls.txt, line 1: expected two of the satellites from 0 to 3"),
        ("ground_stations.txt", "0,Manila,14,120,0\n", "ground_stations.txt: expected two ground stations"),
        ("ground_stations.txt", "0,A,14,120,0\n2,B,0,0,0\n", "ground_stations.txt, line 2: expected 1,name,latitude"),
        ("ground_stations.txt", "0,A,14,120,0\n1,B,0,.,0\n", "ground_stations.txt, line 2: expected 1,name,latitude"),
        ("ground_stations.txt", "0,A,95,120,0\n", "ground_stations.txt, line 1: A: expected a latitude"),
        ("ground_stations.txt", "0,A,9,120,1000000\n", "ground_stations.txt, line 1: A: expected a height"),
        ("ground_stations.txt", '0,A",9,120,0\n', "ground_stations.txt, line 1: expected 0,name"),
        ("description.txt", "max_isl_length_m=1\n", "description.txt: expected a line max_gsl_length_m="),
        ("description.txt", "max_gsl_length_m=-5\n", "description.txt, line 1: expected max_gsl_length_m= and 1000"),
        ("dynamic_state_9ms_for_2s/x", "", "dynamic_state_1000ms_for_2s, dynamic_state_9ms_for_2s: name one of them"),
        (LATER, None, "fstate_1000000000.txt: cannot be read: No such file"),
        (LATER, "1,5,-1,-1\n", "fstate_1000000000.txt, line 1: expected node,destination,next hop,interface,interface"),
        (LATER, "1,5,5,1,1\n1,6,5,1,1\n", "fstate_1000000000.txt, line 2: expected nodes below 6"),
        (LATER, "5,5,1,1,1\n", "line 1: expected nodes below 6, and another one from 4 on as destination"),
        (LATER, "0,5,3,1,1\n", "fstate_1000000000.txt, line 1: there is no link from 0 to 3"),
        (LATER, "4,5,5,1,1\n", "fstate_1000000000.txt, line 1: there is no link from 4 to 5"),
        (LATER, "1,5,0,0,0\n", "net: at 1 s next hops from 4 to 5 form a loop"),
        (FIRST, SMALL[FIRST].replace("3,5,-1,-1,-1\n", ""), "fstate_0.txt: there is no row of node 3 to station 5"),
    ],
)
def test_missing_or_wrong_files_are_named(optcp, make_network, name, text, said):
    make_network({name: text})
    status, out, err = optcp("constellation", "net", "--from", "4", "--to", "5", "--out", "leo")
    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("net --from Manila --to Dalian", "there is no ground station 'Dalian' in net; there are: Grid-1, Manila"),
        ("net --from Manila --to 6", "there is no ground station '6' in net"),
        ("net --from Manila --to 14.6042,120.9822", "Manila is both ends of the path"),
        ("net --from Manila", "give --from and --to"),
        ("net --from Manila --to Grid-1 --length 1s", "1s: the directory determines satellites and times"),
        (". --from Manila --to Grid-1", "expected a directory dynamic_state_<interval>ms_for_<length>s"),
        ("net/dynamic_state_0ms_for_2s --from 4 --to 5", "0 steps; expected 1 to 200000"),
    ],
)
def test_options_incompatible_with_directory_have_a_message(optcp, make_network, arguments, said):
    make_network({"dynamic_state_0ms_for_2s/x": ""} if "_0ms_" in arguments else {})
    status, out, err = optcp("constellation", *arguments.split())
    assert (status, out) == (2, "")
    assert said in err
