"""Answers of `optcp mcp`: units of all metrics, bounded length, parts of tables, and names of studies."""

import csv
import json

import pytest

from mcp_client import LINK, TRIANGLE, calls, problem, served, value, written
from optcp import _core
from optcp.mcp import parts
from optcp.mcp.calls import names
from optcp.mcp.calls.trace import unit_of
from optcp.mcp.search import Index
from optcp.mcp.texts import Passage
from optcp.outage.metrics import METRICS, UNITS

RANDOM = """title = "Transfers at random times"
stop = "3 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "5 ms", queue = "20 packets" }]
flows = [{ group = "g", path = ["A", "B"], tcp = "linux-6", size = "$size", start = "uniform(0 s, 0.5 s)" }]
parameters = { size = "100 kB" }
sweep = { parameters.size = ["100 kB", "200 kB"] }
observe = [
  { name = "goodput", kind = "goodput", interval = "100 ms" },
  { name = "load", kind = "load", interval = "100 ms" },
  { name = "queue", kind = "queue", interval = "100 ms" },
  { name = "sojourn", kind = "sojourn", interval = "100 ms" },
  { name = "stalls", kind = "outages", after = "1 s" },
  { name = "sender", kind = "tcp" },
]
"""
TEXTS = {
    "metrics_sha256", "route", "records_sha256", "scenario_sha256", "cause", "fibre", "metric", "of", "colour", "group",
    "flow", "port", "router", "from", "to", "event", "node", "session", "protection", "class", "unit", "reason",
    "phase", "sack", "marking", "finished", "ended", "aborted", "lost",
}  # fmt: skip
"""Columns with texts or truth values."""
BOUND = 7000
"""Longest answer in bytes, with warnings: an assistant pays for about one token per three bytes."""
OUTAGE = {"network": "triangle.gml", "mechanisms": ["none", "local"], "directory": "cost"}


def carries_all(one):
    """Whether a number has unit, n, interval or reason, and digest."""
    has_ends = one["low"] is not None and one["high"] is not None
    return bool(one["unit"]) and one["n"] >= 1 and (has_ends or one["note"]) and len(one["digest"]) == 16


def test_every_registered_metric_and_column_has_a_unit():
    listed = {
        one["name"]: one["summary"]
        for one in names.call(None, family="metrics", contains="", skip=0, most=999)["names"]
    }
    assert {one["name"] for one in _core.metrics()} | set(METRICS) <= set(listed)
    for name, summary in listed.items():
        unit = summary.rpartition("Unit: ")[2].rstrip(".").partition(",")[0]
        assert unit, name
        # A name with a unit at its end agrees with the unit.
        for end, unit_of_end in {
            "_s": "s",
            "_bps": "bit/s",
            "_packets": "packets",
            "_pct": "%",
            "_mb": "MB",
            "_ms": "ms",
        }.items():
            assert not name.endswith(end) or unit == unit_of_end, name
    assert all(UNITS.values())
    units = {name: unit_of(name) for name in _core.columns() - TEXTS}
    assert all(units.values())
    ends = {"cwnd_bytes": "B", "bytes": "B", "max_packets": "packets", "time_ps": "s", "utilisation": "1"}
    assert ends.items() <= units.items()


def test_every_number_of_every_metric_carries_unit_n_interval_and_digest(tmp_path):
    written(tmp_path, random=RANDOM)
    (tmp_path / "triangle.gml").write_text(TRIANGLE)
    every = sorted({one["name"] for one in _core.metrics()})
    run, cost, metrics = map(
        value,
        calls(
            tmp_path,
            ("run", {"scenario": "random.toml", "runs": 3, "most": 1000, "metrics": []}),
            ("outage", OUTAGE),
            ("outage", OUTAGE | {"table": "metrics", "most": 1000}),
        ),
    )
    (others,) = calls(
        tmp_path,
        ("run", {"scenario": "random.toml", "runs": 3, "most": 1000, "metrics": run["other_metrics"]}),
    )
    found = [*run["numbers"], *value(others)["numbers"]]
    assert len({one["metric"] for one in found}) > len(every) / 2
    assert {one["metric"] for one in metrics["numbers"]} <= set(UNITS)
    assert len({one["metric"] for one in metrics["numbers"]}) > 15
    for one in [*found, *cost["numbers"], *metrics["numbers"]]:
        assert carries_all({"note": "", **one}), one
    for one in (cost["worst_failures"], cost["worst_demands"]):
        assert one["n"] == 1
        assert one["note"].endswith("no interval")
        assert len(one["digest"]) == 16


def test_answers_without_a_number_of_entries_are_short_and_can_be_continued(tmp_path):
    sizes = ", ".join(f'"{size} kB"' for size in range(1, 30))
    written(tmp_path, many=RANDOM.replace('["100 kB", "200 kB"]', f"[{sizes}]"))
    asked = {"scenario": "many.toml", "directory": "many"}

    async def work(client):
        answers = {}
        for tool, arguments in (
            ("run", asked),
            ("plan", asked),
            ("compare", {"directory": "many", "at": {"size": "1 kB"}}),
            ("trace", {"directory": "many", "observation": "sender", "cell": {"size": "29 kB"}}),
            ("list", {"family": "profiles"}),
            ("search_docs", {"query": "failure of a link and goodput of flows"}),
            ("explain_message", {"message": "few-seeds identical-runs unfinished"}),
        ):
            answers[tool] = await client.call_tool(tool, arguments)
        pages = [value(answers["list"])]
        while pages[-1]["left_out"]:
            skip = sum(len(page["names"]) for page in pages)
            pages.append(value(await client.call_tool("list", {"family": "profiles", "skip": skip})))
        whole = value(await client.call_tool("list", {"family": "profiles", "most": 1000}))
        return answers, pages, whole

    answers, pages, whole = served(tmp_path, work)
    for tool, answer in answers.items():
        assert sum(len(one.text.encode()) for one in answer.content) < BOUND, tool
    assert value(answers["run"])["left_out"] > 0
    assert [one for page in pages for one in page["names"]] == whole["names"]
    assert whole["left_out"] == 0


def test_tables_of_an_outage_study_are_selected_sorted_and_equal_to_their_files(tmp_path):
    (tmp_path / "triangle.gml").write_text(TRIANGLE)
    tables = ("failures", "demands", "links", "loads", "assumptions")
    worst = {"table": "failures", "where": {"mechanism": "none"}, "columns": ["failure", "lost_mb"], "sort": "lost_mb"}
    cost, *found = calls(
        tmp_path,
        ("outage", OUTAGE),
        *(("outage", OUTAGE | {"table": name, "most": 1000}) for name in tables),
        ("outage", OUTAGE | worst | {"most": 1, "skip": 1}),
        ("outage", OUTAGE | {"table": "failures", "columns": ["lost"]}),
        ("outage", OUTAGE | {"table": "failures", "where": {"mechanism": "nome"}}),
        ("outage", OUTAGE | {"table": "fibres"}),
        ("outage", OUTAGE | {"sort": "lost_mb"}),
    )
    cost = value(cost)
    for name, answer in zip(tables, found, strict=False):
        table = value(answer)["table"]
        numbers = {
            column
            for at, column in enumerate(table["columns"])
            for row in table["rows"]
            if isinstance(row[at], int | float) and not isinstance(row[at], bool)
        }
        # Values of assumptions have their units in the summary.
        assert all(table["columns"][column] for column in numbers - {"value"}), name
        if name in cost["files"]:
            with (tmp_path / "cost" / cost["files"][name]).open(encoding="utf-8-sig", newline="") as file:
                assert len(list(csv.reader(file))) == 1 + table["row_count"] == 1 + len(table["rows"])
    stored = json.loads((tmp_path / "cost" / "outage.json").read_text())["costs"]
    lost = sorted(((one["lost_mb"], one["failure"]) for one in stored if one["mechanism"] == "none"), reverse=True)
    table = value(found[5])["table"]
    assert table["rows"] == [[lost[1][1], parts.plain(lost[1][0])]]
    assert (table["columns"], table["row_count"], table["left_out"]) == ({"failure": "", "lost_mb": "MB"}, 3, 1)
    # The summary has the same failures by mechanism.
    assert [row[:2] for row in cost["worst_failures"]["rows"]] == [[name, parts.plain(mb)] for mb, name in lost]
    assert "did you mean 'lost_mb'?" in problem(found[6], "input")["message"]
    assert "did you mean 'none'?" in problem(found[7], "input")["message"]
    assert "has no such table" in problem(found[8], "input")["message"]
    assert "the summary has no rows to select" in problem(found[9], "input")["message"]


def test_other_assumptions_do_not_meet_the_directory_of_another_study(tmp_path):
    (tmp_path / "triangle.gml").write_text(TRIANGLE)
    asked = {"network": "triangle.gml", "mechanisms": ["none"], "assumptions": {"window_s": 1}}
    first, second, third, again = map(
        value,
        calls(
            tmp_path,
            ("outage", asked),
            ("outage", asked | {"mechanisms": ["none", "ti-lfa"]}),
            ("outage", asked | {"assumptions": {"window_s": 1, "detection_ms": 50}}),
            ("outage", asked),
        ),
    )
    assert len({one["directory"] for one in (first, second, third)}) == 3
    assert again["directory"] == first["directory"]
    assert again["digest"] == first["digest"]


def test_a_study_is_found_by_every_name_of_an_answer(tmp_path):
    written(tmp_path, link=LINK, random=RANDOM)

    async def work(client):
        run = value(await client.call_tool("run", {"scenario": "link.toml"}))
        await client.call_tool("run", {"scenario": "random.toml", "directory": "own/deep"})
        at = {"at": {"size": "1 segments"}}
        wanted = [
            run["directory"],
            run["directory"].removeprefix("results/"),
            f"{tmp_path}/{run['directory']}",
            f"{run['directory']}/study.json",
            run["title"],
            run["digest"],
            run["digest"][:16],
            run["runs"][1]["digest"],
            run["numbers"][0]["digest"],
            "link.toml",
            "link",
        ]
        compared = [value(await client.call_tool("compare", {"directory": one, **at})) for one in wanted]
        wrong = [await client.call_tool("compare", {"directory": one, **at}) for one in ("results/one-lnik", "nothing")]
        traced = value(
            await client.call_tool("trace", {"directory": "deep", "observation": "sender", "cell": {"size": "100 kB"}})
        )
        await client.call_tool("run", {"scenario": "link.toml", "directory": "twice"})
        faster = {"links.0.rate": "24 Mbps"}
        await client.call_tool("run", {"scenario": "link.toml", "directory": "faster", "settings": faster})
        several = await client.call_tool("compare", {"directory": "One link", **at})
        return run, compared, wrong, traced, several

    run, compared, (near, far), traced, several = served(tmp_path, work)
    assert {one["directory"] for one in compared} == {run["directory"]}
    assert all(one["differences"] == compared[0]["differences"] for one in compared)
    assert traced["directory"] == "own/deep"
    assert f"did you mean {run['directory']!r}?" in problem(near, "input")["message"]
    for one in (far, several):
        assert repr(run["directory"]) in problem(one, "input")["message"]
    assert "several studies have this name" in several.structured_content["message"]
    assert "'twice'" in several.structured_content["message"]
    assert "'faster' (links.0.rate = 24 Mbps" in several.structured_content["message"]


def test_axes_have_their_short_name_or_key_path_in_every_tool(tmp_path):
    written(tmp_path, link=LINK)
    key = {"parameters.size": "1 segments"}
    asked = {"scenario": "link.toml", "metrics": ["completion_mean_s"]}
    run, compared, traced, drawn, wrong = calls(
        tmp_path,
        ("run", asked | {"where": key}),
        ("compare", {"directory": "link", "at": key}),
        ("trace", {"directory": "link", "observation": "slowest", "cell": key}),
        ("plot", {"directory": "link", "metric": "completion_mean_s", "x": "parameters.size"}),
        ("compare", {"directory": "link", "at": {"parameters.siez": "1 segments"}}),
    )
    assert [one["cell"]["size"] for one in value(run)["numbers"]] == ["1 segments"]
    assert value(compared)["reference"] == value(traced)["cell"] == {"size": "1 segments"}
    assert value(drawn)["file"].endswith(".png")
    assert "parameters.siez" in problem(wrong, "input")["message"]


def test_invalid_text_of_a_scenario_is_not_kept(tmp_path):
    wrong = LINK.replace("queue =", "queu =")
    first, second, third = calls(
        tmp_path,
        ("new", {"file": "mine.toml", "text": wrong}),
        ("new", {"file": "mine.toml", "text": LINK}),
        ("new", {"file": "mine.toml", "text": wrong, "force": True}),
    )
    assert problem(first, "input")["places"][0]["nearest"] == "queue"
    assert value(second)["written"] == ["mine.toml"]
    problem(third, "input")
    assert (tmp_path / "mine.toml").read_text() == LINK


@pytest.mark.parametrize("characters", [100, 300])
def test_long_passages_are_cut_to_the_lines_of_the_question(characters):
    lines = [f"line {number} about nothing in particular" for number in range(50)]
    lines[30] = "the minimum RTO of a sender"
    index = Index([Passage("page", "title", "\n".join(lines)), Passage("other", "x", "short")])
    (found,) = index.excerpts("minimum RTO", 1, characters)
    assert "the minimum RTO of a sender" in found.text
    assert len(found.text) <= characters + len("...  ...")
    assert index.excerpts("short", 1, characters)[0].text == "short"
