"""`optcp outage`: a small network from end to end, default assumptions, and refused input."""

import csv
import json
import re
from dataclasses import fields

import pytest

from optcp.outage import study
from optcp.outage.asked import OutageQuery
from optcp.outage.assumed import CHOICES, SETTINGS, Assumed
from optcp.outage.capacity import spare_of
from optcp.outage.network import Network
from optcp.outage.result import WORST, Result, grid_of
from optcp.outage.world import Assumptions, World, matrix_of
from optcp.plots import outage_pdf
from optcp.study import StudyResult

# TopoHub does not close its data files.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

LINKS = [("A", "B", 100), ("B", "C", 200), ("C", "D", 300), ("D", "A", 400), ("D", "E", 50)]
DEMANDS = "from,to,weight\nA,B,3\nC,A,1.5\nD,E,1\n"
ASKED = ("--mechanism", "none", "--mechanism", "1+1", "--jobs", "1")
SET = ("--set", "rate_mbps=20", "--set", "window_s=1")


@pytest.fixture
def ring(tmp_path, monkeypatch):
    """Write four towns in a ring, a fifth after a bridge, and a matrix."""
    nodes = "".join(f'  node [ id {at} label "{name}" ]\n' for at, name in enumerate("ABCDE"))
    place = "ABCDE".index
    edges = "".join(f"  edge [ source {place(a)} target {place(b)} length {km} ]\n" for a, b, km in LINKS)
    (tmp_path / "ring.gml").write_text(f"graph [\n{nodes}{edges}]\n")
    (tmp_path / "demands.csv").write_text(DEMANDS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_own_network_from_end_to_end(optcp, ring):
    status, out, err = optcp("outage", "ring.gml", "--demands", "demands.csv", *ASKED, *SET)
    assert status == 0, err
    directory = ring / "results" / "outage-ring"
    text = (directory / "outage.json").read_text()
    found = json.loads(text)
    assert (found["network"], found["demands"], found["left_out"]) == ("ring.gml", "demands.csv", ["D-E"])
    assumed = {item["name"]: (item["value"], item["default"]) for item in found["assumed"]}
    assert (assumed["rate_mbps"], assumed["peak"]) == ((20, False), (0.6, True))
    # The costs equal those that the functions calculate from the stored runs.
    asked = OutageQuery.of("ring.gml", "demands.csv", ["none", "1+1"], settings={"rate_mbps": "20", "window_s": "1"})
    done = StudyResult.open(directory)
    assert len(done.grid.branches) == 2 * (1 + 4)
    costs = study.CostsOf(asked.network, asked.events)(done)
    values = {(row["mechanism"], row["metric"]): row for row in found["rows"]}
    for mechanism in asked.mechanisms:
        of = costs.cells[mechanism,]
        by_hand = sum(cost.total_mb * event.km for cost, event in zip(of, asked.events, strict=True)) / 1000
        row = values[mechanism, "lost_mb"]
        assert row["value"] == pytest.approx(by_hand)
        assert (row["n"], row["ci95"]) == (4, [None, None]), "four failures are too few for an interval"
        listed = [item["lost_mb"] for item in found["costs"] if item["mechanism"] == mechanism]
        assert listed == pytest.approx([cost.total_mb for cost in of])
    units = {row["metric"]: row["unit"] for row in found["rows"]}
    assert all(units.values())
    ends = {
        "lost_mb": "MB",
        "hit_pct": "%",
        "outage_p50_ms": "ms",
        "unfinished": "flows",
        "nines_tcp": "1",
        "spare_x": "1",
    }
    assert ends.items() <= units.items()
    assert values["none", "network_p50_ms"]["value"] > 100 > values["1+1", "network_p50_ms"]["value"]
    spare = spare_of(asked.network, asked.assumed.world, [event.name for event in asked.events])
    assert values["1+1", "spare_x"]["value"] == pytest.approx(spare["1+1"].spare)
    # The worst failures by mechanism, on the terminal and on the page.
    page = (directory / "index.html").read_text()
    worst = sorted((item["lost_mb"], item["failure"]) for item in found["costs"] if item["mechanism"] == "none")
    assert re.search(rf"^failure +none +1\+1\n{worst[-1][1]} ", out, re.MULTILINE)
    for shown in ("peak = 0.6", "no mechanism can replace them (bridges): D-E", "without disjoint paths"):
        assert shown in page
        assert shown in err
    assert "<svg" in page
    # The controls of the map have the same costs.
    explored = json.loads(re.search(r'id="explored">(.*?)</script>', page)[1])
    assert [one["name"] for one in explored["failures"]] == [event.name for event in asked.events]
    shown = [one["lost"] for mechanism in asked.mechanisms for one in explored["costs"][mechanism]]
    assert shown == pytest.approx([item["lost_mb"] for item in found["costs"]], abs=5e-4)
    assert "rate_mbps" not in err
    # Repeating the command makes no runs.
    before = {path: path.stat().st_mtime_ns for path in directory.rglob("parts/*.json")}
    status, again, _ = optcp("outage", "ring.gml", "--demands", "demands.csv", *ASKED, *SET)
    assert (status, again) == (0, out)
    assert before == {path: path.stat().st_mtime_ns for path in directory.rglob("parts/*.json")}
    assert (directory / "outage.json").read_text() == text


def test_added_mechanism_reuses_runs_and_gravity_warns(optcp, ring):
    first = ("--mechanism", "ti-lfa", "--jobs", "1", *SET, "--out", "out")
    assert optcp("outage", "ring.gml", *first)[0] == 0
    runs = set((ring / "out" / "parts").glob("*.json"))
    status, _, err = optcp("outage", "ring.gml", "--mechanism", "none", *first)
    assert status == 0
    assert "demands = gravity" in err
    assert runs < set((ring / "out" / "parts").glob("*.json"))
    # Another query for the same directory is another study.
    status, _, err = optcp("outage", "ring.gml", *first, "--set", "peak=0.3")
    assert status == 2
    assert "the directory holds another study" in err
    assert optcp("outage", "ring.gml", *first, "--set", "peak=0.3", "--force")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sndlib/abilen"], "did you mean 'sndlib/abilene'?"),
        (["absent.gml"], "cannot read `absent.gml`"),
        (["single-failure"], "got a scenario; run it with `optcp run single-failure`"),
        (["world.toml"], "got a scenario; run it with `optcp run world.toml`"),
        (["ring.gml", "--mechanism", "tilfa"], "did you mean 'ti-lfa'?"),
        (["ring.gml", "--set", "detection=3"], "did you mean 'detection_ms'?"),
        (["ring.gml", "--set", "peak=2"], "expected a number above 0 to 1"),
        (["ring.gml", "--set", "hosts_seed=1.5"], "expected a whole number from 0"),
        (["ring.gml", "--set", "sizes=hadop"], "did you mean 'hadoop'?"),
        (["ring.gml", "--set", "circuits=line"], "did you mean 'line-rate'?"),
        (["ring.gml", "--mechanism", "local", "--set", "circuits=line-rate"], "such as --mechanism 1+1"),
        (["ring.gml", "--set", "flow_mbps=0.0001"], "raise flow_mbps"),
        (["ring.gml", "--demands", "bad.csv"], "`bad.csv`, line 2: expected `from,to,weight`"),
        (["ring.gml", "--demands", "foreign.csv"], "`foreign.csv`, line 1: column `to`: no node 'Z' in ring.gml"),
        (["ring.gml", "--demands", "word.csv"], "`word.csv`, line 1: column `weight`: expected a number"),
        (["ring.xml"], "`ring.xml`: its outermost element is `network`"),
        (["ring.gml", "--failures", "ducts"], "node positions are unknown"),
        (["ring.gml", "--failures", "doubles", "--set", "window_s=1"], "fails up to 2 s later"),
    ],
    ids=lambda item: " ".join(item) if isinstance(item, list) else "",
)
def test_bad_input_is_status_2_and_writes_nothing(optcp, ring, arguments, said):
    (ring / "bad.csv").write_text("A,B,1\nA,B\n")
    (ring / "foreign.csv").write_text("A,Z,1\n")
    (ring / "word.csv").write_text("A,B,abc\n")
    (ring / "ring.xml").write_text("<network/>")
    before = sorted(ring.rglob("*"))
    status, out, err = optcp("outage", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert sorted(ring.rglob("*")) == before


def test_every_assumption_can_be_set_and_is_described():
    assert set(SETTINGS) | set(CHOICES) == {one.name for one in fields(Assumed)}
    assert all(getattr(Assumed(), name) == values[0] for name, (values, _) in CHOICES.items())
    defaults = Assumed()
    assert all(item.read(str(getattr(defaults, name))) == getattr(defaults, name) for name, item in SETTINGS.items())
    # A long detection time extends the window.
    assert Assumed.read({"detection_ms": "3000"}).world.window_s == 13


def test_circuits_have_a_share_of_the_link_or_its_whole_rate(ring):
    """Links of 100 Mb/s. Two demands of 30 Mb/s each share the link A-B, so that its peak is 60 Mb/s."""
    (ring / "two.csv").write_text("A,B,1\nA,C,1\n")
    for circuits, mbps in (("reserved", 50), ("line-rate", 100)):
        asked = OutageQuery.of("ring.gml", "two.csv", ["1+1", "none"], settings={"circuits": circuits})
        (ring / "matrix.csv").write_text(matrix_of(asked.network))
        links = grid_of(asked, "matrix.csv").branches[0].resolved["links"]
        rates = [one["forward"]["rate_bps"] for one in links if one["name"].startswith("reserved")]
        assert set(rates) == {mbps * 1e6}
        # The share is an assumption like others: a result without it is not understood.
        assert ("circuits", circuits, False) in [(one["name"], one["value"], one["default"]) for one in asked.listed()]
    unset = [one.message for one in OutageQuery.of("ring.gml", "two.csv", ["1+1"]).default_assumptions()]
    assert any(text.startswith("circuits = reserved (default)") for text in unset)
    unused = OutageQuery.of("ring.gml", "two.csv", ["none"]).listed()
    assert "circuits" not in {one["name"] for one in unused}


def test_scenarios_have_given_demands(ring):
    network = Network.find("ring.gml", "demands.csv")
    world = World.of(network, Assumptions(rate_mbps=20), "between.csv")
    assert 'matrix = "between.csv"' in world.text
    assert set(world.long) <= set(network.demands)


def test_demands_accept_file_names_and_any_unit(ring):
    (ring / "named.gml").write_text(
        (ring / "ring.gml").read_text().replace('"A"', '"A Coruña"').replace("length 100", "length 100 capacity 400"),
        encoding="utf-8",
    )
    (ring / "named.csv").write_text("A Coruña;B;0.0004\nB;A-Coruña;0.0001\nA-Coruña;B;0.0012\n", encoding="utf-16")
    network = Network.find("named.gml", "named.csv")
    # Rows of one pair add up, under either name.
    assert network.demands[("A-Coruña", "B")] == 16 * network.demands[("B", "A-Coruña")]
    warned = {item.name: item.message for item in OutageQuery.of("named.gml", "named.csv").of_file()}
    assert warned == {
        "rates-not-read": "the links of named.gml have `capacity`, which is ignored: each has 100 Mb/s (rate_mbps)"
    }


def test_nodes_and_pairs_of_links_fail_too(optcp, ring):
    for failures in ("nodes", "doubles"):
        asked = OutageQuery.of("ring.gml", mechanisms=["ti-lfa"], failures=failures)
        assert len({event.name for event in asked.events}) == len(asked.events)
        assert not asked.left_out
    set_ = ("--set", "rate_mbps=10", "--set", "window_s=1")
    status, out, _ = optcp("outage", "ring.gml", "--failures", "nodes", "--mechanism", "ti-lfa", "--jobs", "1", *set_)
    assert status == 0
    assert "nines" not in out
    assert "spare" not in out.partition("Spare")[0]
    assert len("ABCDE") < WORST


def test_own_demands_need_no_file():
    asked = OutageQuery.of("sndlib/abilene", mechanisms=["none"])
    assert asked.own_demands
    assert not any("gravity" in str(item) for item in asked.default_assumptions())
    assert len(grid_of(asked).branches) == 1 + 14


def test_tables_state_the_cost_to_each_demand(optcp, ring):
    """The tables repeat the results as CSV and sheets; demands are derived again from the packets of the runs."""
    status, out, err = optcp("outage", "ring.gml", "--demands", "demands.csv", *ASKED, *SET)
    assert status == 0, err
    directory = ring / "results" / "outage-ring"
    read = {path.stem: list(csv.DictReader(path.open(encoding="utf-8-sig"))) for path in directory.glob("tables/*.csv")}
    assert (directory / "tables" / "demands.csv").read_bytes().startswith(b"\xef\xbb\xbf"), "Excel needs the mark"
    changed = [row for row in read.pop("loads") if (row["kind"], row["failure"]) == ("after convergence", "A-B")]
    assert {name: len(rows) for name, rows in read.items()} == {
        "mechanisms": 2, "failures": 2 * 4, "demands": 2 * 3, "links": 2 * 5
    }  # fmt: skip
    done, found = StudyResult.open(directory), json.loads((directory / "outage.json").read_text())
    none, *failing = done.grid.branches[:5]
    twin = done.run(none, 1)
    ends = {route["flows"][0]: (route["path"][1], route["path"][-2])
            for entry in twin.scenario["flows"] if entry["group"] == "long" for route in entry["routes"]}  # fmt: skip
    of_none = {(row["from"], row["to"]): row for row in read["demands"] if row["mechanism"] == "none"}
    assert set(of_none) == {("A", "B"), ("C", "A"), ("D", "E")}
    # Four long flows of 4 Mb/s share 22 Mb/s, so the smallest demand has none.
    assert of_none.pop(("D", "E"))["worst failure"] == ""
    for pair, row in of_none.items():
        longest = 0.0
        for branch in failing:
            seen = done.run(branch, 1)["outages"]
            for at, flow in enumerate(seen["flow"].tolist()):
                if ends.get(flow) == pair and flow in {cut["flow"] for cut in done.run(branch, 1).cuts}:
                    longest = max(longest, (float(seen["gap_ps"][at]) - float(seen["usual_gap_ps"][at])) / 1e9)
        assert float(row["longest stall (ms)"]) == pytest.approx(longest)
    # Each failure loses as much as its demands together.
    asked = OutageQuery.of("ring.gml", "demands.csv", ["none", "1+1"], settings={"rate_mbps": "20", "window_s": "1"})
    for cells in study.CostsOf(asked.network, asked.events)(done).cells.values():
        for cost in cells:
            assert sum(one.lost_mb for one in cost.demands.values()) == pytest.approx(cost.total_mb)
    # The load before failures: 60 % of 20 Mb/s on A to B, and half and a third of that by weight.
    loads = {(row["from"], row["to"]): float(row["load (Mb/s)"]) for row in read["links"]}
    assert loads["A", "B"] == pytest.approx(12)
    assert loads["D", "E"] == pytest.approx(4)
    assert loads["B", "A"] == pytest.approx(6)
    # Without A-B, 12 go from A over D and C to B, and 6 from C over D to A.
    after = {(row["from"], row["to"]): float(row["load after (Mb/s)"]) for row in changed}
    assert after == pytest.approx({("A", "D"): 12, ("D", "C"): 12, ("C", "B"): 12, ("C", "D"): 6, ("D", "A"): 6})
    detour = next(row for row in read["links"] if (row["from"], row["to"]) == ("D", "A"))
    assert float(detour["highest load, local detour (Mb/s)"]) == pytest.approx(6)
    worst = max(of_none.values(), key=lambda row: float(row["data lost in it (MB)"]))
    assert re.search(rf"^{worst['from']} to {worst['to']} .* {worst['worst failure']} ", out, re.MULTILINE)
    assert len(found["by_demand"]) == 6
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(directory / "outage.xlsx")
    assert book.sheetnames == ["mechanisms", "failures", "demands", "links", "loads"]
    assert book["demands"]["B2"].value == read["demands"][0]["from"]


def test_summary_is_two_pages_and_the_same_again(optcp, ring):
    pytest.importorskip("matplotlib")
    for place in ("one", "two"):
        status, out, err = optcp("outage", "ring.gml", "--demands", "demands.csv", *ASKED, *SET, "--out", "out")
        assert status == 0, err
        (ring / "out" / "outage.pdf").rename(ring / f"{place}.pdf")
    assert "outage.pdf" in out
    text = (ring / "one.pdf").read_bytes()
    assert text == (ring / "two.pdf").read_bytes()
    assert re.search(rb"/Count 2\b", text), "two pages"
    asked = OutageQuery.of("ring.gml", "demands.csv", ["none", "1+1"], settings={"rate_mbps": "20", "window_s": "1"})
    said = " ".join(outage_pdf.findings(Result.of(asked, StudyResult.open(ring / "out"))))
    found = json.loads((ring / "out" / "outage.json").read_text())
    values = {row["mechanism"]: row["value"] for row in found["rows"] if row["metric"] == "lost_mb"}
    assert f"The mean loss of data per failure is {values['none']:.3g} MB with none." in said
    assert f"The lowest is {min(values.values()):.3g} MB, with 1+1." in said
