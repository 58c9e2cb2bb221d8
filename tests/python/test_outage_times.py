"""`optcp outage` with a traffic matrix per time of day: demands, loads and weights by hand, and refused input."""

import csv
import json
import re

import pytest

from optcp.errors import InputError
from optcp.outage.asked import OutageQuery
from optcp.outage.capacity import volumes
from optcp.outage.day import Day
from optcp.outage.network import Network
from optcp.outage.result import Result
from optcp.scenarios import topologies

LINKS = "from,to,rate (Gbps),length (km)\nA,B,10,100\nB,C,10,100\nC,A,10,100\n"
DAY = """from,to,time,volume (Gbps)
A,B,8:00,2
A,B,20:00,6
B,C,08:00,1
A,B,20:00,2
A,C,20:00,4
A,B,06:30,1
"""
SET = ("--mechanism", "ti-lfa", "--set", "rate_mbps=20", "--set", "window_s=1", "--jobs", "1", "--out", "out")


@pytest.fixture
def triangle(tmp_path, monkeypatch):
    """Write three towns, each linked to the others."""
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    (tmp_path / "day.csv").write_text(DAY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def peaks(**given):
    asked = OutageQuery.by_time("links.csv", "day.csv", settings=given)
    return {time: one.assumed.peak for time, one in asked.items()}


def test_each_time_has_its_matrix(triangle):
    assert topologies.times("day.csv", "scenario.toml") == ["06:30", "08:00", "20:00"]
    gbps = {
        time: {pair: bps / 1e9 for pair, bps in one.network.demands.items()}
        for time, one in OutageQuery.by_time("links.csv", "day.csv").items()
    }
    # Rows of one pair are added at each time.
    assert gbps == {
        "06:30": {("A", "B"): 1}, "08:00": {("A", "B"): 2, ("B", "C"): 1}, "20:00": {("A", "B"): 8, ("A", "C"): 4}
    }  # fmt: skip


def test_load_follows_the_time_of_day(triangle):
    assert peaks() == pytest.approx({"06:30": 0.1, "08:00": 0.2, "20:00": 0.8})
    # A given peak applies to the busiest time.
    assert peaks(peak="0.4") == pytest.approx({"06:30": 0.05, "08:00": 0.1, "20:00": 0.4})
    asked = OutageQuery.by_time("links.csv", "day.csv", settings={"rate_mbps": "20"})
    mbps = {time: volumes(one.network, one.assumed.world) for time, one in asked.items()}
    assert mbps["08:00"] == pytest.approx({("A", "B"): 4, ("B", "C"): 2})
    assert mbps["20:00"] == pytest.approx({("A", "B"): 16, ("A", "C"): 8})


def test_weights_of_all_times_have_one_unit(triangle):
    # Rates unknown, no unit; decimals at one time only.
    (triangle / "links.csv").write_text(LINKS.replace(",10,", ",,"), encoding="utf-8")
    (triangle / "day.csv").write_text("from;to;time;weight\nA;B;02:00;0.00015\nA;B;14:00;3\n", encoding="utf-8")
    assert peaks() == pytest.approx({"02:00": 0.6 * 0.00005, "14:00": 0.6})
    found = OutageQuery.by_time("links.csv", "day.csv")["02:00"]
    summary = next(one["summary"] for one in found.listed() if one["name"] == "peak")
    assert summary == "utilisation of the busiest link before failures; 0.6 at the busiest time"


def test_hours_weight_the_stalls_of_a_year(triangle):
    asked = OutageQuery.by_time("links.csv", "day.csv", ["none"])
    results = {}
    for time, one in asked.items():
        results[time] = Result(one, None, {}, {})
    day = Day(results)
    # 06:30 to 08:00, 08:00 to 20:00, and 20:00 to 06:30.
    assert day.hours == {"06:30": 1.5, "08:00": 12, "20:00": 10.5}
    assert Day({"20:00": results["20:00"]}).hours == {"20:00": 24}


def test_day_from_end_to_end(optcp, triangle):
    status, out, err = optcp("outage", "links.csv", "--demands", "day.csv", *SET)
    assert status == 0, err
    assert re.search(r"^20:00 +10\.5 +0\.8 ", out, re.MULTILINE)
    read = {}
    for path in (triangle / "out").glob("tables/*"):
        with path.open(encoding="utf-8-sig") as file:
            read[path.stem] = list(csv.DictReader(file))
    # The loads before and after the failure of A-B, by time: 1, 2 and 8 Gb/s over C, with 1 and 4 Gb/s there; 20 Mb/s
    # stand for 10 Gb/s.
    after = {
        (row["time"], row["from"], row["to"]): (float(row["load before (Mb/s)"]), float(row["load after (Mb/s)"]))
        for row in read["loads"]
        if (row["kind"], row["failure"]) == ("after convergence", "A-B")
    }
    assert after == {
        ("06:30", "A", "C"): pytest.approx((0, 2)), ("06:30", "C", "B"): pytest.approx((0, 2)),
        ("08:00", "A", "C"): pytest.approx((0, 4)), ("08:00", "C", "B"): pytest.approx((0, 4)),
        ("20:00", "A", "C"): pytest.approx((8, 24)), ("20:00", "C", "B"): pytest.approx((0, 16)),
    }  # fmt: skip
    # The worst time of a demand has its largest loss, and its year is the mean of the times by hours.
    worst = {(row["from"], row["to"]): row for row in read["worst-times"]}
    rows = [row for row in read["demands"] if (row["from"], row["to"]) == ("A", "B")]
    assert {row["time"] for row in rows} == {"06:30", "08:00", "20:00"}
    largest = max(rows, key=lambda row: float(row["data lost in it (MB)"] or 0))
    found = worst["A", "B"]
    assert (found["worst time"], found["data lost in it (MB)"]) == (largest["time"], largest["data lost in it (MB)"])
    hours = {"06:30": 1.5, "08:00": 12, "20:00": 10.5}
    known = [(hours[row["time"]], float(row["stall time (s a year)"])) for row in rows if row["stall time (s a year)"]]
    mean = sum(weight * seconds for weight, seconds in known) / sum(weight for weight, _ in known)
    assert float(found["stall time (s a year)"]) == pytest.approx(mean)
    # The page and the JSON of all times have the same values.
    document = json.loads((triangle / "out" / "outage.json").read_text())
    assert document["demands"] == "day.csv"
    assert {one["time"]: (one["hours_a_day"], one["directory"]) for one in document["times"]} == {
        "06:30": (1.5, "06-30"), "08:00": (12, "08-00"), "20:00": (10.5, "20-00")
    }  # fmt: skip
    evening = json.loads((triangle / "out" / "20-00" / "outage.json").read_text())
    assert document["times"][2]["costs"] == evening["costs"]
    (same,) = (one for one in document["worst_times"] if one["pair"] == ["A", "B"])
    assert (same["time"], same["worst"]) == (found["worst time"], found["worst failure"])
    assert same["seconds_a_year"] == pytest.approx(mean)
    page = (triangle / "out" / "index.html").read_text()
    assert '<a href="20-00/index.html">20:00</a>' in page
    assert "demands: day.csv, 3 times of day" in page
    assert "--out out</code>" in page
    assert "--time" not in page.partition("<h3>Reproduce</h3>")[2].partition("</p>")[0]
    explored = json.loads(re.search(r'id="explored">(.*?)</script>', page)[1])
    assert list(explored["costs"]) == ["ti-lfa at 06:30", "ti-lfa at 08:00", "ti-lfa at 20:00"]
    lost = [one["lost_mb"] for one in evening["costs"]]
    assert [one["lost"] for one in explored["costs"]["ti-lfa at 20:00"]] == pytest.approx(lost, abs=5e-4)
    # One time alone is the same study.
    status, out, err = optcp("outage", "links.csv", "--demands", "day.csv", "--time", "20:00", *SET[:-1], "one")
    assert status == 0, err
    of_day, alone = ((triangle / path / "outage.json").read_text() for path in ("out/20-00", "one"))
    assert json.loads(alone)["demands"] == "day.csv at 20:00"
    assert {**json.loads(alone), "sha256": ""} == {**json.loads(of_day), "sha256": ""}
    assert "--time 20:00 --out out/20-00" in (triangle / "out" / "20-00" / "index.html").read_text()


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        (DAY, ["--time", "21:00"], "--time 21:00: expected one of 06:30, 08:00, 20:00"),
        ("A,B,1\n", ["--time", "21:00"], "--time 21:00: the demands have no column `time`"),
        (DAY + "A,C,24:00,1\n", [], "line 8: column `time`: expected a time of day such as `20:00`, found `24:00`"),
        (DAY + "A,C,1\n", [], "line 8: column `time`: expected a time of day such as `20:00`, found `A,C,1`"),
        (DAY + "A,Z,20:00,1\n", [], "line 8: column `to`: no node 'Z' in links.csv"),
        (DAY + "A,B,20:00,x\n", [], "line 8: column `volume (Gbps)`: expected a number"),
        (DAY + "A,B,23:00,0\n", [], "no pair of nodes has a weight above zero at 23:00"),
    ],
)
def test_wrong_times_are_status_2_and_write_nothing(optcp, triangle, text, arguments, said):
    (triangle / "day.csv").write_text(text, encoding="utf-8")
    before = sorted(triangle.rglob("*"))
    status, out, err = optcp("outage", "links.csv", "--demands", "day.csv", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert sorted(triangle.rglob("*")) == before


def test_times_next_to_links_are_reported(triangle):
    (triangle / "day.csv").rename(triangle / "demands.csv")
    network = Network.find("links.csv")
    assert not network.has_demands()
    assert "`demands.csv` has times of day" in network.topology().notes[0]
    with pytest.raises(InputError, match="found 4 fields"):
        Network.find("links.csv", "demands.csv")


def test_demands_keep_the_nodes_next_to_the_links(optcp, triangle):
    # Without nodes.csv, the scenarios would have no lengths.
    (triangle / "links.csv").write_text("from,to\nA,B\nB,C\nC,A\n", encoding="utf-8")
    (triangle / "nodes.csv").write_text("name,lon,lat\nC,1,50\nA,2,50\nB,2,51\n", encoding="utf-8")
    (triangle / "other.csv").write_text("A,B,1\nB,C,1\n", encoding="utf-8")
    status, _, err = optcp("outage", "links.csv", "--demands", "other.csv", *SET)
    assert status == 0, err
