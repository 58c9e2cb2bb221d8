"""Commands `optcp topology show` and `optcp topology convert`."""

import json
from pathlib import Path

import pytest

FILES = Path(__file__).parents[2] / "fuzz" / "corpus" / "topology"


def test_show_prints_contents_ignored_attributes_and_assumptions(optcp):
    status, out, _ = optcp("topology", "show", str(FILES / "triangle.snd"))
    assert status == 0
    lines = out.splitlines()
    assert "format   SNDlib, native" in lines
    assert "nodes    3, 3 with coordinates" in lines
    assert "rates    2 of 3 links, 1 Gbps to 2.5 Gbps" in lines
    assert "demands  2, 290.5 Mbps" in lines
    assert lines[lines.index("ignored:") + 1 :] == [
        "  link: `preInstalledCapacityCost`",
        "  link: `setupCost`",
        "  demand: `maxPathLength`",
        "  section `ADMISSIBLE_PATHS`",
        "",
        "assumed:",
        "  the rate of a link is its pre-installed capacity, in each direction",
        "  all links have the great-circle distance of their ends as length",
    ]


def test_show_names_attributes_that_look_like_rates(optcp, tmp_path):
    (tmp_path / "net.gml").write_text("graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 capacity 7 ] ]")
    status, out, _ = optcp("topology", "show", str(tmp_path / "net.gml"))
    assert status == 0
    assert "rates    none with a unit; attributes that look like rates: `capacity`" in out
    assert "link: `capacity`" in out


def test_show_as_json_has_every_value(optcp):
    status, out, _ = optcp("topology", "show", "--json", str(FILES / "te.json"))
    assert status == 0
    found = json.loads(out)
    assert found["nodes"][0] == {"name": "Ulm", "scenario_name": "Ulm", "place": [9.99, 48.4], "aliases": ["D1"]}
    (link,) = found["links"]
    assert (link["rate_bps"], link["cost"], link["risks"]) == ([2**33, 10**10], [100.0, 50.0], ["7", "9"])


def test_show_of_a_name_prints_the_first_links(optcp):
    status, out, _ = optcp("topology", "show", "sndlib/polska")
    assert status == 0
    assert "links    18, 3,386.29 km in all" in out
    assert "... 10 more; --all prints every link" in out
    assert "more" not in optcp("topology", "show", "sndlib/polska", "--all")[1]


def test_convert_says_which_parts_are_lost(optcp, tmp_path):
    target = tmp_path / "net.snd"
    status, out, err = optcp("topology", "convert", str(FILES / "units.gml"), str(target))
    assert (status, out) == (0, f"{target}\n")
    assert "not in SNDlib, native: other names of nodes; lengths; propagation delays; loss ratios; shared risks" in err
    assert "rates    1 of 2 links, 10 Gbps" in optcp("topology", "show", str(target))[1]


def test_converted_directory_is_read_back(optcp, tmp_path):
    target = tmp_path / "net"
    status, out, err = optcp("topology", "convert", str(FILES / "triangle-sndlib.xml"), str(target))
    assert (status, err) == (0, "not in CSV: `links.csv`, `nodes.csv`, `demands.csv`, `fibres.csv`: capacity modules\n")
    assert [Path(line).name for line in out.splitlines()] == ["nodes.csv", "links.csv", "demands.csv"]
    assert "demands  2, 290.5 Mbps" in optcp("topology", "show", str(target))[1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "nowhere.gml"], "cannot read `nowhere.gml`: No such file or directory"),
        (["show", "sndlib/polskaa"], "did you mean 'sndlib/polska'?"),
        (["convert", "sndlib/polska", "x.json"], "name it with --to: gnpy, rfc8345"),
        (["convert", "sndlib/polska", "x.json", "--to", "tapi"], "format 'tapi' is only read"),
        (["convert", "sndlib/polska", "x.json", "--to", "gnpi"], "did you mean 'gnpy'?"),
        (["convert", "sndlib/polska", "x.csv"], "name a directory, such as x"),
    ],
)
def test_bad_argument_is_status_2(optcp, arguments, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = optcp("topology", *arguments)
    assert (status, out) == (2, "")
    assert says in err
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_kept(optcp, tmp_path):
    target = tmp_path / "net.gml"
    target.write_text("mine")
    status, _, err = optcp("topology", "convert", "sndlib/polska", str(target))
    assert status == 2
    assert "exists; use --force to overwrite it" in err
    assert target.read_text() == "mine"
    assert optcp("topology", "convert", "sndlib/polska", str(target), "--force")[0] == 0
