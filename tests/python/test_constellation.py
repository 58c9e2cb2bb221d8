"""Paths over moving satellites: by hand, compared with Hypatia's series, and as a scenario."""

import csv
import dataclasses
import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest

from optcp import _core, load
from optcp.constellation import (
    SHELLS,
    Shell,
    Snapshot,
    Station,
    cities,
    length_km,
    orbits,
    recorded,
    revs_a_day,
    series,
    shell,
    station,
    world,
)
from optcp.errors import InputError

REFERENCE = Path(__file__).parents[1] / "reference" / "leo" / "kuiper-630.csv"
KUIPER = shell("kuiper-630")
SPARSE = Shell("sparse", planes=1, satellites=4, inclination_deg=0, revs_a_day=revs_a_day(10_000))
ZERO = Station("0 N", 0, -orbits.GREENWICH_DEG)
"""Station below satellite 0 of an equatorial shell at time zero."""


def test_orbit_altitude_matches_period():
    # Kepler: a day of 86 164.1 s is 42 164 km, the geostationary orbit.
    still = Shell("still", planes=1, satellites=1, inclination_deg=0, revs_a_day=86_400 / 86_164.1)
    assert still.radius_km == pytest.approx(42_164.2, abs=1)
    assert KUIPER.radius_km == pytest.approx(7007.46, abs=0.01)
    assert KUIPER.period_s == pytest.approx(86_400 / 14.8)
    assert revs_a_day(KUIPER.altitude_km) == pytest.approx(14.8)


def test_named_shells_have_altitude_of_their_name():
    heights = {name: item.altitude_km for name, item in SHELLS.items()}
    called = {"kuiper-630": 630, "starlink-550": 550, "telesat-1015": 1015, "iridium": 780}
    assert heights == pytest.approx(called, abs=1.5)
    assert [shell(name).size for name in called] == [1156, 1584, 351, 66]


def test_satellite_returns_after_one_period():
    there, half, back = orbits.positions(KUIPER, [0, KUIPER.period_s / 2, KUIPER.period_s], [700])
    assert back == pytest.approx(there, abs=1e-6)
    assert half == pytest.approx(-there, abs=1e-6)
    assert np.linalg.norm(there) == pytest.approx(KUIPER.radius_km)


@pytest.mark.parametrize("name", SHELLS)
def test_neighbours_in_plane_are_one_chord_apart(name):
    one = shell(name)
    places = orbits.positions(one, 123.0).reshape(one.planes, one.satellites, 3)
    apart = np.linalg.norm(places - np.roll(places, -1, axis=1), axis=-1)
    assert apart == pytest.approx(2 * one.radius_km * math.sin(math.pi / one.satellites))
    # Latitudes reach the inclination, or 180 degrees minus it.
    high = np.abs(orbits.positions(one, np.linspace(0, one.period_s, 1000))[..., 2]).max()
    assert math.degrees(math.asin(high / one.radius_km)) == pytest.approx(
        min(one.inclination_deg, 180 - one.inclination_deg), abs=0.1
    )


def test_equatorial_station_rotates_with_earth():
    at = station("0,0")
    day_s = 2 * math.pi / orbits.TURN
    assert day_s == pytest.approx(86_164.1, abs=0.1)
    noon, midnight, again = at.position(np.array([0, day_s / 2, day_s]))
    assert np.linalg.norm(noon) == pytest.approx(6378.135)
    assert midnight == pytest.approx(-noon)
    assert again == pytest.approx(noon)
    assert at.position(0.0) == pytest.approx(6378.135 * at.up(0.0))
    # The pole is closer to the centre, by the flattening.
    assert station("90,0").position(0.0) == pytest.approx([0, 0, 6378.135 * (1 - orbits.FLATTENING)], abs=1e-6)


def test_distance_of_overhead_satellite_is_its_altitude():
    now = Snapshot(SPARSE, 0.0)
    seen = now.seen(ZERO)
    assert list(seen.satellites) == [0]
    assert seen.range_km == pytest.approx(10_000)
    assert seen.elevation_deg == pytest.approx(90)
    # On the far side of the earth no satellite is visible. No ISL is short enough: 4 satellites are 23 161 km apart.
    assert len(now.isls) == 4
    assert now.isl_km == pytest.approx(math.sqrt(2) * SPARSE.radius_km)
    assert len(Snapshot(dataclasses.replace(SPARSE, satellites=3), 0.0).isls) == 3
    low = dataclasses.replace(SPARSE, revs_a_day=revs_a_day(630))
    assert 2 * orbits.horizon_km(orbits.positions(low, 0.0, [0])) == pytest.approx(5443, abs=1)
    assert len(Snapshot(low, 0.0).isls) == 0


def test_reach_is_a_distance_or_an_elevation():
    low = KUIPER.changed({"elevation_deg": "35"})
    assert (low.gsl_km, low.elevation_deg) == (math.inf, 35)
    for item in (KUIPER, low):
        seen = Snapshot(item, 40.0).seen(station("Istanbul"))
        assert len(seen.satellites) > 0
        assert (np.diff(seen.range_km) > 0).all()
        assert seen.range_km.max() <= item.gsl_km
        assert seen.elevation_deg.min() >= item.elevation_deg
    # At equal altitude, more distant satellites are lower.
    assert (np.diff(seen.elevation_deg) < 0.2).all()
    # No satellite below the horizon, however long a link may be.
    wide = Snapshot(KUIPER.changed({"gsl_km": "100000"}), 0.0).seen(station("Paris"))
    assert 0 <= wide.elevation_deg.min() < 5


def test_grid_has_two_links_per_satellite_and_star_has_no_seam_links():
    assert len(KUIPER.isls) == 2 * KUIPER.size
    iridium = shell("iridium")
    assert len(iridium.isls) == 66 + 5 * 11
    planes = iridium.isls // iridium.satellites
    assert set(np.abs(planes[:, 0] - planes[:, 1])) == {0, 1}
    # Planes 0 and 5 rotate in opposite directions, 22 degrees apart.
    before, after = orbits.positions(iridium, [0.0, iridium.period_s / 4], [0, 55]) / iridium.radius_km
    axes = np.cross(before, after)
    assert math.degrees(math.acos(axes[0] @ axes[1])) == pytest.approx(180 - 22, abs=1.5), "at the equator 158 degrees"
    assert 180 - 5 * iridium.spread_deg / 6 == pytest.approx(22)
    assert len(iridium.changed({"seam": "false"}).isls) == 66 + 6 * 11


def test_walker_phases_close_the_ring():
    # 53: 1584/72/17, where links between planes have almost equal length.
    walker = shell("starlink-550").changed({"phasing": "17"})
    snapshot = Snapshot(walker, 0.0)
    planes = snapshot.isls // walker.satellites
    between = planes[:, 0] != planes[:, 1]
    seam = between & (planes[:, 1] - planes[:, 0] == walker.planes - 1)
    assert seam.sum() == walker.satellites
    assert snapshot.isl_km[seam].max() <= snapshot.isl_km[between].max() * (1 + 1e-9)
    assert len(walker.isls) == 2 * walker.size


def test_path_is_shortest_without_ground_relays():
    found = series(KUIPER, station("Rio de Janeiro"), station("St. Petersburg"), 10, 5)
    links = {tuple(pair) for pair in KUIPER.isls.tolist()}
    for at, path in zip(found.seconds, found.paths, strict=True):
        now = Snapshot(KUIPER, float(at))
        assert all(tuple(sorted(pair)) in links for pair in itertools.pairwise(path))
        assert path[0] in now.seen(found.start).satellites
        assert path[-1] in now.seen(found.end).satellites
        assert path == now.path(found.end, found.start)[::-1]
    direct = length_km(KUIPER, found.start, found.end, found.paths[0], [0.0])
    assert direct.shape == (1,)
    assert found.rtt_ms[0] == pytest.approx(2e3 * direct[0] / 299_792.458)


def test_paths_match_hypatia():
    lines = [line for line in REFERENCE.read_text().splitlines() if not line.startswith("#")]
    pairs = {}
    for row in csv.DictReader(lines):
        pairs.setdefault((row["from"], row["to"]), []).append(row)
    equal, off_ms = 0, []
    for (start, end), rows in pairs.items():
        found = series(KUIPER, station(start), station(end), 200, 2)
        for row, path, rtt_ms in zip(rows, found.paths, found.rtt_ms, strict=True):
            if path == tuple(map(int, row["satellites"].split())):
                equal += 1
                off_ms += [abs(rtt_ms - int(row["rtt_ns"]) / 1e6)] if path else []
            assert math.isnan(rtt_ms) == (row["rtt_ns"] == "0"), "in the outage and nowhere else"
    # SGP-4 puts its satellites some km higher or lower.
    assert (equal, sum(map(len, pairs.values()))) == (296, 300)
    assert max(off_ms) < 0.067


def test_changes_are_ordered_as_in_hypatia():
    found = series(KUIPER, station("Manila"), station("Dalian"), 130, 0.5)
    stretches = found.stretches()
    assert [len(stretch.satellites) for stretch in stretches] == [3, 2, 4, 4, 5, 4]
    assert [stretch.change for stretch in stretches] == ["first", "shorter", "longer", "longer", "longer", "shorter"]
    hypatia = [0, 18.0, 27.6, 74.3, 125.9, 128.7]
    assert [stretch.start_s for stretch in stretches] == pytest.approx(hypatia, abs=2.5)
    assert found.outages() == []
    assert stretches[-1].end_s == 130


def test_outage_is_down_in_trace_and_scenario(tmp_path, monkeypatch):
    found = series(KUIPER, station("Manila"), station("St. Petersburg"), 20, 0.5, first_s=150)
    [(start_s, end_s)] = found.outages()
    assert (start_s, end_s) == pytest.approx((155, 166), abs=1)
    made = world(found)
    rows = [line.split(", ") for line in made.files["path.csv"].splitlines()]
    assert rows[0] == ["at (ms)", "direction", "link", "delay (ns)", "state"]
    assert [(float(row[0]), row[4]) for row in rows[1:] if len(row) == 5] == [
        (1000 * (start_s - 150), "down"),
        (1000 * (end_s - 150), "up"),
    ]
    assert not any(start_s < 150 + float(row[0]) / 1000 < end_s for row in rows[1:])
    # 8 satellites: 9 links, of which the scenario has two; 1434 B take 1.1472 ms at 10 Mb/s, 54 B 43.2 us.
    assert len(found.paths[0]) == 8
    flight_ns = found.rtt_ms[0] / 2 * 1e6
    assert [(row[0], row[1]) for row in rows[1:3]] == [("0", "forward"), ("0", "backward")]
    assert int(rows[1][3].rstrip(",")) == pytest.approx(flight_ns + 7 * 1_147_200, abs=1)
    assert int(rows[2][3].rstrip(",")) == pytest.approx(flight_ns + 7 * 43_200, abs=1)
    (tmp_path / "world.toml").write_text(made.toml)
    (tmp_path / "path.csv").write_text(made.files["path.csv"])
    loaded = _core.Scenario.load(str(tmp_path / "world.toml"), [])
    assert loaded.summary()["stop_s"] == 20


def test_series_without_path_makes_no_scenario():
    found = series(KUIPER.changed({"inclination_deg": "5"}), station("60,0"), station("Paris"), 1)
    assert math.isnan(found.rtt_ms[0])
    assert [stretch.change for stretch in found.stretches()] == ["outage"]
    with pytest.raises(InputError, match="no path from 60,0 to Paris"):
        world(found)


HYPATIA = {
    "networkx_rtt_1173_to_1241.txt": "0,29423138.5\n100000000,29420275.5\n200000000,0.0\n300000000,25318684.0\n",
    "networkx_path_1173_to_1241.txt": "0,1173-184-183-1241\n200000000,Unreachable\n300000000,1173-218-1241\n",
}


def test_hypatia_series_make_a_scenario(optcp, tmp_path):
    for name, text in HYPATIA.items():
        (tmp_path / name).write_text(text)
    file = next(iter(HYPATIA))
    found = recorded(tmp_path / file)
    assert [(stretch.start_s, stretch.end_s, stretch.change, stretch.satellites) for stretch in found.stretches()] == [
        (0, 0.2, "first", (184, 183)),
        (0.2, 0.3, "outage", ()),
        (0.3, 0.4, "back", (218,)),
    ]
    status, out, err = optcp("constellation", file, "--out", "leo")
    assert (status, err) == (0, "")
    assert re.search(r"^RTT from 25\.319 to 29\.423 ms; 0\.1 s without a path$", out, re.MULTILINE)
    rows = (tmp_path / "leo" / "path.csv").read_text().splitlines()
    assert rows[1:4] == [
        f"0, forward, path, {29_423_138 // 2 + 1_147_200},",
        f"0, backward, path, {29_423_138 // 2 + 43_200},",
        f"10, forward, path, {29_423_138 // 2 + 1_147_200},",
    ]
    assert rows[-1].startswith("390, backward, path, 12659342,")
    assert optcp("validate", "leo/world.toml")[0] == 0


@pytest.mark.parametrize(
    ("which", "text", "said"),
    [
        (0, "0,1\n", "two lines `time,round trip` or more"),
        (0, "0,1\n0,2\n", "line 2: expected a later time"),
        (0, "0,1\n5,soon\n", "line 2: expected a round trip in ns"),
        (0, "0;1\n", "line 1: expected a time in ns, a comma"),
        (0, "0,0\n5,7\n", "round trip 1 is 0 ns, and the path in networkx_path_1173_to_1241.txt says otherwise"),
        (1, "0,1173\n", "line 1: expected Unreachable, or nodes"),
        (1, "5,Unreachable\n", "expected the path at the first time"),
        (1, None, "networkx_path_1173_to_1241.txt: cannot be read: No such file or directory"),
    ],
)
def test_invalid_hypatia_files_are_named(optcp, tmp_path, which, text, said):
    for number, (name, good) in enumerate(HYPATIA.items()):
        content = text if number == which else good
        if content is not None:
            (tmp_path / name).write_text(content)
    status, out, err = optcp("constellation", next(iter(HYPATIA)), "--out", "leo")
    assert (status, out) == (2, "")
    assert said in err
    assert not (tmp_path / "leo").exists()


def test_file_and_places_are_mutually_exclusive(optcp):
    status, _, err = optcp("constellation", "networkx_1.txt")
    assert status == 2
    assert "expected a shell, or a file networkx_rtt_A_to_B.txt" in err
    status, _, err = optcp("constellation", "networkx_rtt_1_to_2.txt", "--from", "Manila")
    assert status == 2
    assert "the file determines places and times" in err
    status, _, err = optcp("constellation", "iridium", "--from", "Manila")
    assert status == 2
    assert "give --from and --to" in err


def test_cities_are_found_in_any_spelling():
    assert len(cities()) == 100
    assert station("sao paulo") == station("São Paulo")
    assert station("St. Petersburg").name == "Saint Petersburg"
    assert station("-1.5, 36") == Station("-1.5,36", -1.5, 36)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("kuiper --from Manila --to Dalian", "did you mean 'kuiper-630'?"),
        ("iridium --from Manila --to Dailan", "did you mean 'Dalian'?"),
        ("iridium --from 91,0 --to Dalian", "91,0: expected a latitude from -90 to 90"),
        ("iridium --from 1-2,0 --to Dalian", "expected latitude,longitude in degrees"),
        ("iridium --from Dalian --to dalian", "Dalian is both ends of the path"),
        ("iridium --from Manila --to Dalian --length soon", "--length soon: expected a time"),
        ("iridium --from Manila --to Dalian --length 50ms", "a length of a step or more"),
        ("iridium --from Manila --to Dalian --step 0", "expected a step of 1 ms or more"),
        ("iridium --from Manila --to Dalian --length 1e9", "at most are 200000"),
        ("iridium --from Manila --to Dalian --rate 0", "rate of 0 Mb/s"),
        ("iridium --from Manila --to Dalian --set plane=3", "did you mean 'planes'?"),
        ("iridium --from Manila --to Dalian --set planes=3.5", "expected a whole number"),
        (
            "iridium --from Manila --to Dalian --set planes=0",
            "planes = 0: expected a whole number from 1",
        ),
        ("iridium --from Manila --to Dalian --set seam=no", "expected true or false"),
        ("iridium --from Manila --to Dalian --set altitude_km=1", "an orbit from 160 to 40000 km"),
        ("iridium --from Manila --to Dalian --set revs_a_day=-3", "an orbit from 160 to 40000 km"),
        ("iridium --from Manila --to Dalian --set revs_a_day=1e300", "an orbit from 160 to 40000 km"),
        ("iridium --from Manila --to Dalian --set phasing=1e300", "expected a number of satellites, or `half`"),
        ("iridium --from Manila --to Dalian --at 1e300", "expected a beginning from 0 to 1e+10 s"),
        ("iridium --from Manila --to Dalian --length 50ms --step 50ms", "a scenario of 0.1 s or more"),
        (
            "iridium --from 80,0 --to Dalian --set inclination_deg=5",
            "no path from 80,0 to Dalian",
        ),
    ],
)
def test_bad_input_is_status_2_and_writes_nothing(optcp, tmp_path, arguments, said):
    status, out, err = optcp("constellation", "--length", "1s", *arguments.split(), "--out", "leo")
    assert (status, out) == (2, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_the_command_shows_changes_and_writes_a_world_that_runs(optcp, tmp_path):
    asked = ("kuiper-630", "--from", "Manila", "--to", "Dalian", "--length", "2s", "--at", "18.5s")
    status, out, err = optcp("constellation", *asked, "--out", "leo")
    assert (status, err) == (0, "")
    assert re.search(r"^ *0 s +first +\d+\.\d+ ms +184 183 217$", out, re.MULTILINE)
    assert re.search(r"^ *1\.\d s +shorter +25\.3\d+ ms +28\.\d+ ms +218 217 *$", out, re.MULTILINE)
    assert "  optcp run leo/world.toml" in out
    names = {path.name for path in (tmp_path / "leo").iterdir()}
    assert names == {"world.toml", "forwarding.csv", "delays.csv", "rtt.csv", "places.csv", "rtt.svg"}
    lines = (tmp_path / "leo" / "rtt.csv").read_text().splitlines()
    assert (lines[0], len(lines)) == ("at (s),rtt (ms),satellites", 21)
    before = {path: path.read_bytes() for path in (tmp_path / "leo").iterdir()}
    assert optcp("constellation", *asked, "--out", "leo")[:2] == (0, out)
    assert before == {path: path.read_bytes() for path in (tmp_path / "leo").iterdir()}
    status, out, _ = optcp("run", "leo/world.toml", "--out", "run")
    assert status == 0
    assert "goodput" in out
    # Manual changes to the scenario are kept.
    changed = tmp_path / "leo" / "world.toml"
    changed.write_text(changed.read_text().replace('"reno"', '"vegas"'))
    status, out, err = optcp("constellation", *asked, "--out", "leo")
    assert (status, out) == (2, "")
    assert "use --force to overwrite it" in err
    assert optcp("constellation", *asked, "--out", "leo", "--force")[0] == 0
    assert '"vegas"' not in changed.read_text()


def test_segment_delay_is_path_plus_transmission_per_link(tmp_path):
    found = series(KUIPER, station("Manila"), station("Dalian"), 1)
    made = world(found)
    (tmp_path / "world.toml").write_text(made.toml)
    (tmp_path / "path.csv").write_text(made.files["path.csv"])
    packets = load(str(tmp_path / "world.toml")).run(seed=1)["packets"]
    of = {
        (event, seq): at
        for event, ack, seq, size, at in zip(
            *(packets[name] for name in ("event", "ack", "seq", "bytes")), packets.seconds, strict=True
        )
        if not ack and size == 1434
    }
    sent, arrived = (min(at for (event, _), at in of.items() if event == name) for name in ("sent", "arrived"))
    flight_s = float(found.delay_s(np.array([0.03]))[0])
    assert len(found.paths[0]) + 1 == 4
    assert arrived - sent == pytest.approx(flight_s + 4 * 1434 * 8 / 10e6, abs=1e-6)
