"""Files stored next to a satellite scenario: positions of nodes and RTTs of the path, which only pictures use."""

import numpy as np
import pytest

from optcp import load
from optcp.constellation import Shell, Station, beside, orbits, places, revs_a_day, series, shell, station
from optcp.constellation.recorded import round_trips, written
from optcp.errors import InputError

KUIPER = shell("kuiper-630")
EQUATOR = Shell("over the equator", planes=1, satellites=4, inclination_deg=0, revs_a_day=revs_a_day(1000))
ASKED = ("kuiper-630", "--from", "Manila", "--to", "Dalian", "--length", "2s", "--at", "18.5s")


def directions(latitude_deg, longitude_deg):
    latitude, longitude = np.radians(latitude_deg), np.radians(longitude_deg)
    level = np.cos(latitude)
    return np.stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)], axis=-1)


@pytest.mark.parametrize("latitude_deg", [-90, -51.9, 0, 14.6, 45, 89])
@pytest.mark.parametrize("height_km", [0, 630, 20_000])
def test_position_overhead_matches_ground_point(latitude_deg, height_km):
    place = Station("here", latitude_deg, 121)
    there = place.position(500.0) + height_km * place.up(500.0)
    found = orbits.geodetic(there, 500.0)
    assert found[0] == pytest.approx(latitude_deg, abs=1e-6)
    assert found[2] == pytest.approx(height_km, abs=1e-3)
    if abs(latitude_deg) < 90:
        assert found[1] == pytest.approx(121)


def test_equatorial_satellite_moves_east_relative_to_earth():
    """At 0 s it is at the longitude opposite to Greenwich's angle; a sidereal day of 86 164.1 s is one rotation."""
    found = places.places({}, EQUATOR, [0], np.array([0.0, 60.0, 120.0]))["S0"]
    a_minute = 60 * (360 / EQUATOR.period_s - 360 / 86_164.1)
    assert found.latitude_deg == pytest.approx(0, abs=1e-9)
    assert np.diff(found.longitude_deg) == pytest.approx([a_minute, a_minute], abs=1e-4)
    assert found.longitude_deg[0] == pytest.approx(-orbits.GREENWICH_DEG)
    assert found.height_km == pytest.approx(1000, abs=1e-6)


@pytest.mark.parametrize("name", ["kuiper-630", "iridium"])
def test_position_is_interpolated_between_rows(name):
    of, quarter = shell(name), np.arange(0.0, 1500.0, 7.0)
    track = places.places({}, of, [5], places.times(0.0, 1500.0))["S5"]
    latitude, longitude, height = orbits.geodetic(orbits.positions(of, quarter, [5])[:, 0], quarter)
    found = np.array([track.at(now) for now in quarter])
    off = np.linalg.norm(found / np.linalg.norm(found, axis=1)[:, None] - directions(latitude, longitude), axis=1)
    assert np.degrees(off.max()) < 0.005
    assert (np.linalg.norm(found, axis=1) - 1) * orbits.EARTH_KM == pytest.approx(height, abs=0.03)


def test_command_writes_positions_of_all_nodes_on_paths(optcp, tmp_path):
    assert optcp("constellation", *ASKED, "--out", "leo")[0] == 0
    found = beside.beside(tmp_path / "leo")
    assert list(found.places) == ["Manila", "Dalian", "S183", "S184", "S217", "S218"]
    assert [place.still for place in found.places.values()] == [True, True, False, False, False, False]
    assert found.paths.names == ("Manila", "Dalian")
    now = directions(found.places["S217"].latitude_deg[0], found.places["S217"].longitude_deg[0])
    there = orbits.geodetic(orbits.positions(KUIPER, 18.5, [217])[0], 18.5)
    assert now == pytest.approx(directions(*there[:2]), abs=1e-5)
    computed = series(KUIPER, station("Manila"), station("Dalian"), 2.0, first_s=18.5)
    assert found.paths.rtt_ms == pytest.approx(computed.rtt_ms, abs=1e-6)
    said = [(stretch.start_s + 18.5, stretch.change, stretch.satellites) for stretch in found.paths.stretches()]
    assert said == [(stretch.start_s, stretch.change, stretch.satellites) for stretch in computed.stretches()]


def test_positions_are_kept_by_runs_but_not_in_results(optcp, tmp_path):
    optcp("constellation", *ASKED, "--out", "leo")
    world = tmp_path / "leo" / "world.toml"
    digest, scenario = load(world).run().metrics_sha256, load(world).sha256
    assert optcp("run", str(world), "--out", "kept")[0] == 0
    for name in ("places.csv", "rtt.csv"):
        assert (tmp_path / "kept" / name).read_bytes() == (tmp_path / "leo" / name).read_bytes()
        (tmp_path / "leo" / name).unlink()
    assert (load(world).run().metrics_sha256, load(world).sha256) == (digest, scenario)
    assert beside.beside(tmp_path / "leo") == beside.ConstellationFiles({}, None)


def test_outage_is_read_as_outage(tmp_path):
    file = tmp_path / "rtt.csv"
    file.write_text("at (s),rtt (ms),satellites\n0,20.000000,1-2\n0.1,,\n0.2,30.000000,3\n0.3,29.900000,3\n")
    found = round_trips(file)
    assert [(stretch.start_s, stretch.end_s, stretch.change) for stretch in found.stretches()] == [
        (0, 0.1, "first"), (0.1, 0.2, "outage"), (0.2, pytest.approx(0.4), "back")
    ]  # fmt: skip
    assert written(found) == file.read_text()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("0, Manila, 14.6, 120.98", "line 3: expected `at \\(s\\), node, latitude"),
        ("0, , 14.6, 120.98, 0", "line 3: expected `at \\(s\\), node, latitude"),
        ("0, Manila, 91, 120.98, 0", "line 3: '91': expected a latitude from -90 to 90 degrees"),
        ("0, Manila, 14.6, 500, 0", "line 3: '500': expected a longitude from -180 to 360"),
        ("soon, Manila, 14.6, 120.98, 0", "line 3: 'soon': expected a time in s"),
        ("0, Manila, 14.6, 120.98, nan", "line 3: 'nan': expected a height in km"),
        ("0, Dalian, 38.9, 121.6, 0", "line 3: expected a later time"),
    ],
)
def test_a_bad_row_is_named(tmp_path, row, said):
    file = tmp_path / "places.csv"
    file.write_text(f"{places.HEADER}\n0, Dalian, 38.9, 121.6, 0\n{row}\n")
    with pytest.raises(InputError, match=f"places.csv, {said}"):
        places.read(file)


@pytest.mark.parametrize("row", ["0.1,soon,1-2", "0.1,20.0,", "0.1,,1-2", "0,20.0,1", "..,20.0,1", "0.1,20.0,1-"])
def test_a_bad_round_trip_is_named(tmp_path, row):
    file = tmp_path / "rtt.csv"
    file.write_text(f"at (s),rtt (ms),satellites\n0,20.000000,1-2\n{row}\n")
    with pytest.raises(InputError, match=r"rtt\.csv, line 3: expected `at .* such as 0.1,29.484,184-183-217"):
        round_trips(file)


@pytest.mark.parametrize("name", ["places.csv", "rtt.csv"])
def test_a_file_of_something_else_is_named(tmp_path, name):
    (tmp_path / name).write_text("a,b\n")
    with pytest.raises(InputError, match=f"{name}, line 1: expected `at \\(s\\)"):
        beside.beside(tmp_path)
