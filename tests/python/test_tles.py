"""Satellites from two-line elements: compared with Hypatia's series and the SGP-4 report, and invalid TLEs."""

import csv
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from optcp.constellation import Snapshot, orbits, series, shell, station, tles
from optcp.errors import InputError
from satellites import checksum, kuiper, tle

REFERENCE = Path(__file__).parents[1] / "reference" / "leo" / "kuiper-630.csv"


@pytest.fixture(autouse=True)
def _sgp4(request):
    if "without" not in request.node.name:
        pytest.importorskip("sgp4", reason="sgp4 is not installed: pip install 'optcp[tle]'")


@pytest.fixture
def written(tmp_path):
    def write(text, name="some.tle"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_greenwich_rotates_by_mean_sidereal_angle():
    # Meeus, examples 12.a and 12.b: 1987 April 10, 0 h and 19 h 21 min UT.
    assert orbits.greenwich_deg(2446895.5) == pytest.approx(15 * (13 + 10 / 60 + 46.3668 / 3600), abs=1e-6)
    assert orbits.greenwich_deg(2446896.30625) == pytest.approx(128.7378734, abs=1e-6)
    assert orbits.greenwich_deg(2451544.5) == pytest.approx(orbits.GREENWICH_DEG, abs=1e-6)


def test_position_matches_published_test_case(written):
    # Vallado et al., AIAA 2006-6753, satellite 5 with WGS72: at its epoch and six hours later.
    lines = (
        "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753",
        "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667",
    )
    vanguard = tles(written("\n".join(lines)))
    expected = [[7022.46529266, -1400.08296755, 0.03995155], [-7154.03120202, -3783.17682504, -3536.19412294]]
    assert vanguard.positions([0.0, 360 * 60])[:, 0] == pytest.approx(np.array(expected), abs=1e-5)
    assert vanguard.positions(0.0, [0]).shape == (1, 3)
    assert vanguard.summary == ("1 satellite, 0 ISLs, time zero 2000-06-27 18:50:19 UTC; from 10 deg over the horizon")


def test_paths_are_those_of_hypatia_with_its_own_orbits(written):
    lines = [line for line in REFERENCE.read_text().splitlines() if not line.startswith("#")]
    pairs = {}
    for row in csv.DictReader(lines):
        pairs.setdefault((row["from"], row["to"]), []).append(row)
    satellites = tles(written(kuiper(), "tles.txt")).changed({"gsl_km": "1260"})
    equal, off_ns = 0, []
    for (start, end), rows in pairs.items():
        found = series(satellites, station(start), station(end), 200, 2)
        for row, path, rtt_ms in zip(rows, found.paths, found.rtt_ms, strict=True):
            equal += path == tuple(map(int, row["satellites"].split()))
            assert math.isnan(rtt_ms) == (row["rtt_ns"] == "0"), "in the outage and nowhere else"
            off_ns += [abs(1e6 * rtt_ms - int(row["rtt_ns"]))] if path else []
    assert (equal, sum(map(len, pairs.values()))) == (300, 300)
    assert max(off_ns) < 500


def test_header_makes_grid_and_names_are_ignored(written):
    whole = tles(written(kuiper()))
    assert (whole.isls == shell("kuiper-630").isls).all()
    bare = tles(written(kuiper(names=False).partition("\n")[2], "bare.tle"))
    assert (bare.size, len(bare.isls)) == (1156, 0)
    assert (bare.positions(3.0) == whole.positions(3.0)).all()
    # A path over one satellite at a time, in sight of both ends.
    now = Snapshot(bare.changed({"gsl_km": "1260"}), 0.0)
    [satellite] = now.path(station("Manila"), station("14,120"))
    assert satellite in now.seen(station("Manila")).satellites
    assert now.path(station("Manila"), station("Dalian")) == ()


def test_time_zero_is_first_epoch(written):
    early, late = (tle(7, 0.001, 0.0, 0.0, 1.0027379, epoch) for epoch in ("00001.00000000", "26101.50000000"))
    for lines, day in ((early, 2451544.5), (late, 2461142.0)):
        one = tles(written("\n".join(lines)))
        assert sum(one.epoch) == day
        assert one.greenwich_deg == pytest.approx(orbits.greenwich_deg(day))
        # A geostationary satellite stays above its place.
        below = f"0,{(-one.greenwich_deg + 180) % 360 - 180:.6f}"
        for hours in (0, 7, 24):
            seen = Snapshot(one, 3600.0 * hours).seen(station(below))
            assert seen.elevation_deg[0] > 89, hours
            assert seen.range_km[0] == pytest.approx(42_164 - 6378, abs=15)
    # The second satellite has its position of that time, whatever its epoch.
    both = tles(written("\n".join([*late, *early])))
    assert both.epoch == (2461141.5, 0.5)


def test_links_of_file_form_the_path(written):
    file = written(kuiper(names=False).partition("\n")[2])
    bare = tles(file, written("184 183 # a remark\n\n217 183\n183 184\n", "some.isls")).changed({"gsl_km": "1260"})
    assert bare.isls.tolist() == [[183, 184], [183, 217]]
    assert Snapshot(bare, 0.0).path(station("Manila"), station("Dalian")) == (184, 183, 217)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 2 3\n", "line 1: expected the numbers of two satellites"),
        ("1\n", "line 1: expected the numbers of two satellites"),
        ("0 -1\n", "line 1: expected the numbers of two satellites"),
        ("0 1\n1 1\n", "line 2: expected two of the satellites from 0 to 3"),
        ("0 4\n", "line 1: expected two of the satellites from 0 to 3"),
    ],
)
def test_invalid_links_are_named(optcp, written, text, said):
    written(kuiper(2, 2))
    written(text, "bad.isls")
    status, _, err = optcp("constellation", "some.tle", "--from", "Manila", "--to", "Dalian", "--isls", "bad.isls")
    assert status == 2
    assert f"bad.isls, {said}" in err


FIRST, SECOND = tle(1, 51.9, 0, 0, 14.8)
DRAG = FIRST[:53] + " 99999+1 0    0"
STILL = SECOND[:52] + " 0.00000000    0"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], ": expected two-line elements or OMMs of satellites"),
        (["", "one", "two"], ": expected two-line elements or OMMs of satellites"),
        (["2 2", FIRST, SECOND], ", line 1: 2 planes of 2 satellites, and there are 1"),
        ([SECOND], ", line 1: line 2 of a TLE without line 1"),
        ([FIRST], ": it ends after line 1 of a TLE"),
        ([FIRST, "name", SECOND], ", line 2: expected line 2 of a TLE, of 69 columns"),
        (["name", FIRST[:-1], SECOND], ", line 2: expected line 1 of a TLE, of 69 columns"),
        ([FIRST, SECOND.replace("51.9", "x1.9")], ", line 2: expected line 2 of a TLE"),
        ([FIRST, SECOND[:-1] + "0"], ", line 2: the last digit is not the checksum"),
        ([FIRST, tle(2, 51.9, 0, 0, 14.8)[1]], ", line 2: this is of satellite 00002, the line before of 00001"),
        ([FIRST, STILL + checksum(STILL)], ", line 2: nm is less than zero"),
        (tle(1, 51.9, 0, 0, 17.5), ", line 2: mrt is less than 1.0 which indicates the satellite has decayed"),
        ([DRAG + checksum(DRAG), SECOND], ": satellite 0 at 86400 s: mrt is less than 1.0"),
    ],
)
def test_invalid_tle_is_named(optcp, written, lines, said):
    written("\n".join(lines))
    status, out, err = optcp("constellation", "some.tle", "--from", "Manila", "--to", "Dalian", "--at", "86400s")
    assert (status, out) == (2, "")
    assert f"some.tle{said}" in err


def test_command_writes_scenario_from_file(optcp, written):
    written(kuiper(), "tles.txt")
    asked = ("--from", "Manila", "--to", "Dalian", "--length", "1s", "--at", "18s", "--set", "gsl_km=1260")
    status, out, err = optcp("constellation", "tles.txt", *asked, "--out", "leo")
    assert (status, err) == (0, "")
    assert out.startswith(
        "tles.txt: 1156 satellites, 2312 ISLs, time zero 2000-01-01 00:00:00 UTC; GSLs up to 1260 km\n"
    )
    # Hypatia's own path from 18 s on.
    assert re.search(r"^ *0 s +first +\d+\.\d+ ms +218 217 *$", out, re.MULTILINE)
    assert optcp("validate", "leo/world.toml")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("missing.tle --from Manila --to Dalian", "missing.tle: cannot be read: No such file or directory"),
        ("kuiper-630 --isls x --from Manila --to Dalian", "a shell has its own links"),
        (
            "some.tle --from Manila --to Dalian --set planes=3",
            "unknown parameter; there are: elevation_deg, gsl_km",
        ),
        ("some.tle --from Manila --to Dalian --set elevation_deg=91", "expected degrees from 0 to 90"),
    ],
)
def test_options_incompatible_with_file_have_a_message(optcp, written, arguments, said):
    written(kuiper(2, 2))
    status, out, err = optcp("constellation", *arguments.split())
    assert (status, out) == (2, "")
    assert said in err


def test_missing_package_names_the_extra(optcp, written, monkeypatch):
    monkeypatch.setitem(sys.modules, "sgp4", None)
    written(kuiper(2, 2))
    status, _, err = optcp("constellation", "some.tle", "--from", "Manila", "--to", "Dalian")
    assert (status, err) == (2, "Error: sgp4 is not installed: pip install 'optcp[tle]'\n")
    with pytest.raises(InputError, match="optcp\\[tle\\]"):
        tles(written(kuiper(2, 2)))
