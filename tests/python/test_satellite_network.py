"""Satellite network as a scenario: tables, delays, and their effect on packets."""

import csv
import io

import numpy as np
import pytest

from optcp import load
from optcp.constellation import cities, forwarding, length_km, network, orbits, series, shell, station
from optcp.constellation.series import steps
from optcp.errors import InputError

KUIPER = shell("kuiper-630")
MANILA, DALIAN, PETERSBURG = (station(name) for name in ("Manila", "Dalian", "St. Petersburg"))
SEGMENT_S = 1434 * 8 / 10e6
"""Transmission time of a segment on a link."""


def rows(text):
    return [
        {key: value.strip() for key, value in row.items()}
        for row in csv.DictReader(io.StringIO(text), skipinitialspace=True)
    ]


def written(made, directory, more=""):
    (directory / "world.toml").write_text(made.toml + more, encoding="utf-8")
    for name, text in made.files.items():
        (directory / name).write_text(text, encoding="utf-8")
    return load(str(directory / "world.toml"))


def test_tables_follow_shortest_path_at_all_times():
    """From either end, with two path changes, compared with a search from the sender."""
    expected = series(KUIPER, MANILA, DALIAN, 12.0, 0.5, first_s=18.0)
    found = forwarding.tables(forwarding.states(KUIPER, [MANILA, DALIAN], expected.seconds), [(0, 1)], KUIPER.size)
    ways = {at: tuple(node for node in way if node < KUIPER.size) for at, way in found.paths[0, 1]}
    assert [(stretch.start_s, stretch.satellites) for stretch in expected.stretches()] == list(ways.items())
    table, entries = {}, iter([*found.entries, None])
    following = next(entries)
    for at, path in zip(expected.seconds, expected.paths, strict=True):
        while following is not None and following.at_s <= at:
            table[following.node, following.to] = following.next
            following = next(entries)
        manila, dalian = KUIPER.size, KUIPER.size + 1
        for start, end, nodes in ((manila, dalian, path), (dalian, manila, path[::-1])):
            way = [start]
            while way[-1] != end:
                way.append(table[way[-1], end])
            assert way == [start, *nodes, end]


def test_off_path_nodes_keep_forwarding_packets_in_flight():
    """Two satellites and two stations by hand: the node that leaves the path has correct entries for 5 s."""
    a, b = 2, 3
    over_0 = np.array([[a, a, -1, 0], [b, b, 0, -1]])
    over_1 = np.array([[a, a, -1, 1], [b, b, 1, -1]])
    apart = np.array([[-1, a, -1, 1], [-1, b, 1, -1]])
    found = forwarding.tables([(0.0, over_0), (1.0, over_1), (2.0, apart), (9.0, apart)], [(0, 1)], 2)
    assert found.paths[0, 1] == [(0.0, (a, 0, b)), (1.0, (a, 1, b))]
    assert {(entry.at_s, entry.node, entry.to, entry.next) for entry in found.entries} == {
        (0.0, a, b, 0), (0.0, 0, b, b), (0.0, b, a, 0), (0.0, 0, a, a),
        (1.0, a, b, 1), (1.0, 1, b, b), (1.0, b, a, 1), (1.0, 1, a, a),
        (2.0, 0, b, -1), (2.0, 0, a, -1),
    }  # fmt: skip
    # Links to satellite 0 are needed until 5 s after the last entry that names them.
    assert found.used[0, a] == [(0.0, 7.0)]
    assert found.used[1, a][0][0] == 1.0


def test_delays_match_orbits_within_tolerance():
    pair = [MANILA, DALIAN]
    seconds = steps(30.0, 0.5, 0.0)
    found = forwarding.tables(forwarding.states(KUIPER, pair, seconds), [(0, 1)], KUIPER.size)
    seen = set()
    for (a, b), at, delay_ns in forwarding.delays(KUIPER, pair, found, 0.0, 30.0):
        when = np.linspace(at[0], at[-1], 997)
        ends = [
            KUIPER.positions(when, [node])[:, 0] if node < KUIPER.size else pair[node - KUIPER.size].position(when)
            for node in (a, b)
        ]
        exact_ns = np.linalg.norm(ends[0] - ends[1], axis=1) / orbits.LIGHT_KM_S * 1e9
        # Rounding to whole nanoseconds adds to the tolerance.
        assert np.abs(np.interp(when, at, delay_ns) - exact_ns).max() <= forwarding.TOLERANCE_NS + 1
        seen.add(b >= KUIPER.size)
    assert seen == {True, False}


def test_segment_delay_is_links_plus_transmissions(tmp_path):
    made = network(KUIPER, [(MANILA, DALIAN)], 1.0)
    packets = written(made, tmp_path).run(seed=1)["packets"]
    found = {}
    for event, ack, size, at in zip(
        *(packets[name] for name in ("event", "ack", "bytes")), packets.seconds, strict=True
    ):
        if not ack and size == 1434:
            found.setdefault(event, at)
    path = (184, 183, 217)
    flight_s = float(length_km(KUIPER, MANILA, DALIAN, path, 0.03)) / orbits.LIGHT_KM_S
    # Four links; the transmitters after dishes add a picosecond per byte.
    assert found["arrived"] - found["sent"] == pytest.approx(flight_s + 4 * SEGMENT_S, abs=3e-7)


def test_shorter_path_overtakes_packets_in_flight_without_loss(tmp_path):
    made = network(KUIPER, [(MANILA, DALIAN)], 4.0, first_s=18.5)
    run = written(made, tmp_path).run(seed=1)
    overtaken = [
        at
        for at, event in zip(run["reordering"].seconds, run["reordering"]["event"], strict=True)
        if event == "overtaken"
    ]
    # The path becomes shorter by 1.8 ms 1.4 s after the start, mostly on the changed links.
    assert overtaken
    assert 1.4 < min(overtaken) < max(overtaken) < 1.5 + 0.1 + 101 * SEGMENT_S
    assert run.drops.get("no-route", 0) == 0


def test_outage_removes_route(tmp_path):
    made = network(KUIPER, [(MANILA, PETERSBURG)], 14.0, first_s=153.0)
    closed = [row for row in rows(made.files["forwarding.csv"]) if row["next"] == "none"]
    assert {row["node"] for row in closed} >= {"Manila", "Saint-Petersburg"}
    begins_s = min(float(row["at (ms)"]) for row in closed if row["node"] == "Manila") / 1000
    assert begins_s == pytest.approx(2.4, abs=1.0)  # 155.4 s in Hypatia's series
    run = written(made, tmp_path).run(seed=1)
    assert run.drops["no-route"] > 0


def test_flows_share_the_tables_of_their_destination(tmp_path):
    pairs = [(MANILA, DALIAN), (PETERSBURG, DALIAN)]
    made = network(KUIPER, pairs, 1.0)
    scenario = written(made, tmp_path)
    assert made.toml.startswith("# 2 flows over kuiper-630")
    assert len(scenario.flows) == 2
    assert scenario.run(seed=1).counts["delivered"] > 100
    towards = {row["to"] for row in rows(made.files["forwarding.csv"])}
    assert towards == {"Manila", "Dalian", "Saint-Petersburg"}


@pytest.mark.parametrize(
    ("pair", "rate", "said"),
    [
        ((MANILA, MANILA), 10.0, "Manila is both ends"),
        ((MANILA, station("89,0")), 10.0, "no path from Manila to 89,0"),
        ((MANILA, DALIAN), 0.0, "rate of 0 Mb/s"),
    ],
)
def test_impossible_networks_are_refused(pair, rate, said):
    with pytest.raises(InputError, match=said):
        network(KUIPER, [pair], 1.0, rate_mbps=rate)


def test_validate_prints_how_the_route_changes(optcp, tmp_path):
    written(network(KUIPER, [(MANILA, DALIAN)], 2.0, first_s=18.5), tmp_path)
    status, out, _ = optcp("validate", "world.toml", "--paths")
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    before = ["Manila", "Manila.dish", "S184.dish", "S184", "S183", "S217", "S217.dish", "Dalian.dish", "Dalian"]
    after = ["Manila", "Manila.dish", "S218.dish", "S218", "S217", "S217.dish", "Dalian.dish", "Dalian"]
    assert ["long/Manila/0", "0", "s", *before] in lines
    assert ["1.4", "s", *after] in lines


def test_many_flows_are_written_by_the_command(optcp, tmp_path):
    asked = ("constellation", "kuiper-630", "--pairs", "3", "--length", "1s")
    assert optcp(*asked)[0] == 2
    assert optcp(*asked, "--from", "Manila", "--out", "many")[0] == 2
    status, out, err = optcp(*asked, "--seed", "2", "--out", "many")
    assert (status, err) == (0, "")
    assert "3 flows between 3 cities" in out
    pairs = [
        path.split()[:: len(path.split()) - 1] for path in load(str(tmp_path / "many" / "world.toml")).flows["path"]
    ]
    assert sorted(a for a, _ in pairs) == sorted(b for _, b in pairs) == sorted([*cities()][:3])
    assert all(a != b for a, b in pairs)
    assert {path.name for path in (tmp_path / "many").iterdir()} == {
        "world.toml", "delays.csv", "forwarding.csv", "places.csv",
    }  # fmt: skip
    assert optcp("run", "many/world.toml", "--out", "run")[0] == 0
