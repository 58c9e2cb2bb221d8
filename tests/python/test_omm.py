"""Satellites from orbit mean-elements messages: compared with TLEs and the SGP-4 report, and invalid messages."""

import csv
import io
import json

import numpy as np
import pytest

from optcp.constellation import Snapshot, station, tles
from optcp.errors import InputError

VANGUARD = {
    "OBJECT_NAME": "VANGUARD 1",
    "OBJECT_ID": "1958-002B",
    "CENTER_NAME": "EARTH",
    "REF_FRAME": "TEME",
    "TIME_SYSTEM": "UTC",
    "MEAN_ELEMENT_THEORY": "SGP4",
    "EPOCH": "2000-06-27T18:50:19.733568",
    "MEAN_MOTION": "10.82419157",
    "ECCENTRICITY": "0.1859667",
    "INCLINATION": "34.2682",
    "RA_OF_ASC_NODE": "348.7242",
    "ARG_OF_PERICENTER": "331.7664",
    "MEAN_ANOMALY": "19.3264",
    "EPHEMERIS_TYPE": "0",
    "CLASSIFICATION_TYPE": "U",
    "NORAD_CAT_ID": "5",
    "ELEMENT_SET_NO": "475",
    "REV_AT_EPOCH": "41366",
    "BSTAR": "0.000028098",
    "MEAN_MOTION_DOT": "0.00000023",
    "MEAN_MOTION_DDOT": "0",
}
"""The TLE of satellite 5 of the SGP-4 report, under the keywords of CCSDS 502.0-B-3."""
TLE = (
    "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753",
    "2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667",
)
METADATA = ("OBJECT_NAME", "OBJECT_ID", "CENTER_NAME", "REF_FRAME", "TIME_SYSTEM", "MEAN_ELEMENT_THEORY")
ELEMENTS = (
    "EPOCH",
    "MEAN_MOTION",
    "ECCENTRICITY",
    "INCLINATION",
    "RA_OF_ASC_NODE",
    "ARG_OF_PERICENTER",
    "MEAN_ANOMALY",
)


@pytest.fixture(autouse=True)
def _sgp4():
    pytest.importorskip("sgp4", reason="sgp4 is not installed: pip install 'optcp[tle]'")


@pytest.fixture
def read(tmp_path):
    def read(text, name="satellites"):
        (tmp_path / name).write_text(text)
        return tles(tmp_path / name)

    return read


def as_json(*satellites):
    """Return messages as CelesTrak's JSON, with numbers as numbers."""
    plain = ("OBJECT_NAME", "OBJECT_ID", "EPOCH", "CLASSIFICATION_TYPE", *METADATA)
    return json.dumps([{key: one[key] if key in plain else json.loads(one[key]) for key in one} for one in satellites])


def as_csv(*satellites):
    """Return messages as CSV without the keywords that never differ, as CelesTrak has them."""
    text = io.StringIO()
    names = [key for key in satellites[0] if key not in METADATA[2:]]
    writer = csv.DictWriter(text, names, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(satellites)
    return text.getvalue()


def as_xml(*satellites):
    """Return messages as a combined file of CCSDS 505.0."""

    def part(name, one, keys):
        return f"<{name}>" + "".join(f"<{key}>{one[key]}</{key}>" for key in keys) + f"</{name}>"

    messages = []
    for one in satellites:
        rest = [key for key in one if key not in (*METADATA, *ELEMENTS)]
        data = part("meanElements", one, ELEMENTS) + part("tleParameters", one, rest)
        segment = f"<segment>{part('metadata', one, METADATA)}<data>{data}</data></segment>"
        messages.append(f'<omm id="CCSDS_OMM_VERS" version="3.0"><header/><body>{segment}</body></omm>')
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<ndm>{"".join(messages)}</ndm>\n'


@pytest.mark.parametrize("form", [as_json, as_csv, as_xml])
def test_message_gives_the_positions_of_its_tle(read, form):
    found = read(form(VANGUARD))
    seconds = np.arange(0, 86_400, 600.0)
    # A microsecond of the epoch, to which OMMs are rounded, is 8 mm.
    same = read("\n".join(TLE), "same.tle").positions(seconds)
    assert np.abs(found.positions(seconds) - same).max() < 1e-5
    # Vallado et al., AIAA 2006-6753, satellite 5 with WGS72: at its epoch and six hours later.
    expected = [[7022.46529266, -1400.08296755, 0.03995155], [-7154.03120202, -3783.17682504, -3536.19412294]]
    assert found.positions([0.0, 360 * 60])[:, 0] == pytest.approx(np.array(expected), abs=1e-5)
    assert found.summary == read("\n".join(TLE), "same.tle").summary


@pytest.mark.parametrize("form", [as_json, as_csv, as_xml])
def test_numbers_of_six_and_nine_digits_change_nothing(read, form):
    one = read(form(VANGUARD)).positions(60.0)
    long = read(form(VANGUARD | {"NORAD_CAT_ID": "270555"}, VANGUARD | {"NORAD_CAT_ID": "799999999"}))
    assert long.size == 2
    assert (long.positions(60.0) == one).all()


def test_optional_keywords_and_day_of_year_are_read(read):
    omitted = ("BSTAR", "MEAN_MOTION_DOT", "MEAN_MOTION_DDOT", "NORAD_CAT_ID", *METADATA)
    bare = {key: value for key, value in VANGUARD.items() if key not in omitted}
    found = read(json.dumps(bare | {"EPOCH": "2000-179T18:50:19.733568Z"}))
    whole = read(as_json(VANGUARD | {"BSTAR": "0"}), "whole")
    assert (found.positions(3600.0) == whole.positions(3600.0)).all()


def test_messages_make_paths(read):
    # A geostationary orbit: the satellite stays where it is at the epoch.
    circular = {"ECCENTRICITY": "0.0000001", "INCLINATION": "0.0", "MEAN_MOTION": "1.0027379", "BSTAR": "0"}
    found = read(as_csv(VANGUARD | circular))
    below = station(f"0,{(348.7242 + 331.7664 + 19.3264 - found.greenwich_deg + 180) % 360 - 180:.6f}")
    assert Snapshot(found, 0.0).seen(below).elevation_deg[0] > 89


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"MEAN_ELEMENT_THEORY": "SGP4-XP"}, "`MEAN_ELEMENT_THEORY` is `SGP4-XP`, and must be `SGP4`"),
        ({"REF_FRAME": "GCRF"}, "`REF_FRAME` is `GCRF`, and must be `TEME`"),
        ({"TIME_SYSTEM": "TAI"}, "`TIME_SYSTEM` is `TAI`, and must be `UTC`"),
        ({"ECCENTRICITY": "1.5"}, "`ECCENTRICITY` is `1.5`, and must be a number from 0 to 1"),
        ({"ECCENTRICITY": ""}, "`ECCENTRICITY` is missing"),
        ({"MEAN_MOTION": "nan"}, "`MEAN_MOTION` is `nan`, and must be a number from 0 to 20"),
        ({"MEAN_MOTION": "0"}, "expected an elliptic orbit with a mean motion above zero"),
        ({"NORAD_CAT_ID": "A1"}, "`NORAD_CAT_ID` is `A1`, and must be a number of up to nine digits"),
        ({"EPOCH": "yesterday"}, "`EPOCH` is `yesterday`, and must be a time such as `2026-03-07T10:34:41.426`"),
        ({"EPOCH": "2000-02-30T00:00:00"}, "`EPOCH` is `2000-02-30T00:00:00`, which is no time"),
    ],
)
def test_invalid_message_is_named(read, change, said):
    with pytest.raises(InputError) as raised:
        read(json.dumps([VANGUARD, VANGUARD | change]))
    assert f"satellites, satellite 2 (VANGUARD 1): {said}" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "satellite 1: expected a message as a JSON object"),
        ("[{", "no JSON: "),
        ("[" * 100_000, "no JSON: "),
        ("[]", "expected two-line elements or OMMs of satellites"),
        ("<ndm>", "no XML: "),
        ("<ndm/>", "expected two-line elements or OMMs of satellites"),
        ("EPOCH,MEAN_MOTION\n1\n", "satellite 1: expected 2 values, and there are 1"),
        ("EPOCH,MEAN_MOTION\n1,2\n", "satellite 1: `ECCENTRICITY` is missing"),
    ],
)
def test_invalid_file_is_named(read, text, said):
    with pytest.raises(InputError, match="satellites") as raised:
        read(text)
    assert said in str(raised.value)
