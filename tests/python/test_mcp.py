"""`optcp mcp` over real pipes, with the client library of the SDK: results, limits and cancellation."""

import base64
import doctest
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from scipy import stats

import optcp
from mcp_client import LINK, TRIANGLE, calls, problem, served, value, written
from optcp.mcp import numbers, outages, pages, parts, search, server, texts
from optcp.mcp.jobs import Jobs, Stopped
from optcp.mcp.limits import Limits
from optcp.mcp.parts import plain
from optcp.mcp.problems import of_scenario
from optcp.mcp.server import TOOLS

LOSSY = """title = "Lossy link"
stop = "4 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "5 ms", queue = "20 packets" }]
flows = [{ group = "long", path = ["A", "B"], tcp = "linux-6", start = "uniform(0 s, 0.5 s)" }]
losses = [{ link = ["A", "B"], kind = "independent", probability = "$loss" }]
parameters = { loss = 0.01 }
sweep = { parameters.loss = [0.001, 0.01] }
observe = [
  { name = "goodput", kind = "goodput", interval = "100 ms" },
  { name = "sender", kind = "tcp" },
]
"""
IDLE = """stop = "5 s"
nodes = [{ names = ["A", "B", "C", "D"] }]
links = [{ chains = [["A", "B", "D"], ["A", "C", "D"]], rate = "1 Mbps", delay = "5 ms", queue = "20 packets" }]
flows = [{ group = "file", path = ["A", "B", "D"], tcp = "rfc", size = "2 MB" }]
failures = [{ link = ["C", "D"], at = "1 s" }]
"""
"""2 MB take 16 s at 1 Mb/s, and no flow crosses the link that fails."""
LONG = """stop = "100000 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "1 Gbps", delay = "5 ms", queue = "1000 packets" }]
flows = [{ group = "g", path = ["A", "B"], tcp = "rfc" }]
observe = []
"""
"""A run of many hours of CPU time."""
PACKETS = LONG.replace("observe = []", 'observe = [{ name = "packets", kind = "packets" }]').replace(
    "100000 s", "$stop"
)


def t_interval(values):
    """Return mean and 95 % interval by the textbook."""
    mean, half = sum(values) / len(values), stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return mean, mean - half, mean + half


def test_every_tool_is_listed_with_its_schemas(tmp_path):
    async def work(client):
        return (await client.list_tools()).tools

    tools = served(tmp_path, work)
    assert [tool.name for tool in tools] == list(TOOLS)
    for tool in tools:
        assert tool.description.strip().endswith(".")
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert "title" not in {*tool.input_schema, *tool.output_schema}
    assert "title" in next(tool for tool in tools if tool.name == "run").output_schema["properties"]


def test_numbers_equal_a_calculation_by_hand_and_carry_unit_n_and_digest(tmp_path):
    written(tmp_path, link=LINK)
    (result,) = calls(tmp_path, ("run", {"scenario": "link.toml", "metrics": ["completion_mean_s"]}))
    found = value(result)
    # Transmission of 1 or 10 segments at 1 ms each, and propagation of 10 ms.
    assert [one["value"] for one in found["numbers"]] == pytest.approx([0.011, 0.020], abs=1e-12)
    for one, size in zip(found["numbers"], ("1 segments", "10 segments"), strict=True):
        assert (one["unit"], one["n"], one["low"], one["high"]) == ("s", 1, None, None)
        assert one["note"] == "single run: no interval"
        assert one["cell"] == {"size": size, "group": "file"}
        alone = optcp.Scenario.parse(LINK).set("parameters.size", size).run(1)
        assert one["digest"] == alone.metrics_sha256[:16]
    assert [one["digest"] for one in found["runs"]] == [one["digest"] for one in found["numbers"]]


def test_means_differences_and_traces_agree_with_single_runs(tmp_path):
    written(tmp_path, lossy=LOSSY)

    async def work(client):
        run = value(await client.call_tool("run", {"scenario": "lossy.toml", "runs": 8, "directory": "study"}))
        asked = {"directory": "study", "at": {"loss": "0.001"}, "metrics": ["goodput_bps"]}
        compared = value(await client.call_tool("compare", asked))
        asked = {"directory": "study", "observation": "sender", "cell": {"loss": "0.01"}, "seed": 3, "most": 5}
        traced = value(await client.call_tool("trace", asked))
        late = value(await client.call_tool("trace", asked | {"start": "2 s", "where": {"cause": "ack"}, "most": 300}))
        drawn = await client.call_tool("plot", {"directory": "study", "metric": "goodput_bps"})
        over_time = await client.call_tool("plot", asked_plot)
        again = value(await client.call_tool("run", {"scenario": "lossy.toml", "runs": 8, "directory": "study"}))
        return run, compared, traced, late, drawn, over_time, again

    asked_plot = {"directory": "study", "kind": "tcp", "cell": {"loss": "0.01"}, "seed": 3}
    run, compared, traced, late, drawn, over_time, again = served(tmp_path, work)
    alone = {
        loss: [optcp.Scenario.parse(LOSSY).set("parameters.loss", float(loss)).run(seed) for seed in range(1, 9)]
        for loss in ("0.001", "0.01")
    }
    # In-order bytes of the whole run, per second.
    rates = {loss: [float(one["goodput"]["bytes"].sum()) * 8 / 4 for one in runs] for loss, runs in alone.items()}
    means = [one for one in run["numbers"] if one["metric"] == "goodput_bps"]
    for one, loss in zip(means, alone, strict=True):
        assert [one["value"], one["low"], one["high"]] == [plain(end) for end in t_interval(rates[loss])]
        assert (one["unit"], one["n"]) == ("bit/s", 8)
        lines = "\n".join(each.metrics_sha256 for each in alone[loss])
        assert one["digest"] == hashlib.sha256(lines.encode()).hexdigest()[:16]
    (row,) = compared["differences"]
    gaps = [high - low for high, low in zip(rates["0.01"], rates["0.001"], strict=True)]
    assert [row["difference"], row["low"], row["high"]] == [plain(end) for end in t_interval(gaps)]
    assert (row["n"], row["digest"], row["reference_digest"]) == (8, means[1]["digest"], means[0]["digest"])
    sender = alone["0.01"][2]["sender"]
    assert traced["row_count"] == len(sender)
    assert traced["left_out"] == len(sender) - 5
    assert traced["digest"] == alone["0.01"][2].metrics_sha256[:16]
    assert traced["extremes"]["cwnd_bytes"]["max"] == sender.numbers("cwnd_bytes").max()
    at = list(traced["columns"]).index("time_s")
    assert [row[at] for row in traced["rows"]] == pytest.approx(sender.seconds[:5].tolist())
    assert (traced["columns"]["time_s"], traced["columns"]["cwnd_bytes"], traced["columns"]["cause"]) == ("s", "B", "")
    causes = sender["cause"][sender.seconds >= 2].tolist()
    assert late["row_count"] == causes.count("ack")
    for result in (drawn, over_time):
        value(result)
        assert base64.b64decode(result.content[-1].data).startswith(b"\x89PNG")
        assert result.content[-1].mime_type == "image/png"
    assert again["numbers"] == run["numbers"]


def test_each_other_tool_answers(tmp_path):
    (tmp_path / "triangle.gml").write_text(TRIANGLE)
    outage = {
        "network": "triangle.gml",
        "mechanisms": ["none", "local"],
        "assumptions": {"detection_ms": 25},
        "directory": "outage",
    }
    new, own, shown, valid, plan, cost, names, family, found, explained = map(
        value,
        calls(
            tmp_path,
            ("new", {"file": "mine.toml"}),
            ("new", {"file": "link.toml", "text": LINK}),
            ("show", {"scenario": "link.toml"}),
            ("validate", {"scenario": "link.toml", "settings": {"parameters.size": "3 segments"}}),
            ("plan", {"scenario": "link.toml", "runs": 7}),
            ("outage", outage),
            ("list", {}),
            ("list", {"family": "congestion", "contains": "cubic"}),
            ("search_docs", {"query": "minimum RTO of linux-6"}),
            ("explain_message", {"message": "only 2 seeds: intervals are wide [few-seeds]"}),
        ),
    )
    assert (new["flows"], new["sweep"]) == (4, {"parameters.switch_delay": ["0 ms", "50 ms", "1 s"]})
    assert (tmp_path / "mine.toml").is_file()
    assert own["written"] == ["link.toml"]
    assert shown["text"] == LINK == (tmp_path / "link.toml").read_text()
    assert valid["parameters"] == {"size": "3 segments"}
    assert valid["paths"] == [{"flow": "file/A/0", "group": "file", "tcp": "linux-6", "path": "A B"}]
    assert (plan["runs"], plan["missing_runs"], plan["seeds"], len(plan["combinations"])) == (14, 14, 7, 2)
    assert plan["cpu_s"] > 0
    assert not (tmp_path / "results").exists(), "a plan writes nothing"
    assert cost["failure_count"] == 3
    by_name = {(one["mechanism"], one["metric"]): one for one in cost["numbers"]}
    # Local protection switches when the failure is detected.
    local = by_name["local", "network_p50_ms"]
    assert (local["value"], local["unit"], local["n"]) == (25.0, "ms", 3)
    # Three failures are too few for an interval.
    lost = by_name["none", "lost_mb"]
    assert (lost["unit"], lost["n"], lost["low"], lost["high"]) == ("MB", 3, None, None)
    assert lost["note"] == "no interval: only 3 failures"
    assert cost["assumptions"]["detection_ms"] == 25
    assert "detection_ms" not in cost["defaults"]
    assert "peak" in cost["defaults"]
    stored = json.loads((tmp_path / "outage" / cost["files"]["outage"]).read_text())
    rows = {(one["mechanism"], one["metric"]): plain(one["value"]) for one in stored["rows"]}
    assert {name: one["value"] for name, one in by_name.items()}.items() <= rows.items()
    assert {one["name"] for one in names["names"]} >= {"congestion", "queues", "scenarios", "sndlib"}
    assert [one["name"] for one in family["names"]] == ["cubic"]
    assert any("min_rto = 200 ms" in one["text"] for one in found["passages"])
    assert [one["name"] for one in explained["warnings"]] == ["few-seeds"]
    assert any("seeds" in one["text"] for one in explained["passages"])


def test_warnings_come_first_and_unknown_values_are_null(tmp_path):
    written(tmp_path, idle=IDLE)
    (result,) = calls(tmp_path, ("run", {"scenario": "idle.toml", "runs": 3}))
    found = value(result)
    assert [one["name"] for one in found["warnings"]] == ["idle-failure", "identical-runs", "unfinished"]
    assert result.content[0].text.startswith("WARNING idle-failure, identical-runs, unfinished: ")
    assert result.content[1].text.startswith('{"warnings":[{"name":"idle-failure","message":"no traffic crosses `C-D`')
    mean = next(one for one in found["numbers"] if one["metric"] == "completion_mean_s")
    # The flow starts at 0 s and had not ended when the run ended at 5 s.
    assert (mean["value"], mean["at_least"], mean["n"]) == (None, 5.0, 1)
    assert (mean["low"], mean["high"]) == (None, None)
    assert "lower bound only" in mean["note"]
    assert "all seeds gave the same run, so n = 1" in mean["note"]


def test_wrong_arguments_and_scenarios_are_answered_with_places(tmp_path):
    written(tmp_path, link=LINK, wrong=LINK.replace("queue =", "queu ="))
    wrong, setting, argument, kind, tool, missing, family, study, both, overwrite, where = calls(
        tmp_path,
        ("validate", {"scenario": "wrong.toml"}),
        ("run", {"scenario": "link.toml", "settings": {"parameters.siez": "2 segments"}}),
        ("run", {"scenari": "link.toml"}),
        ("run", {"scenario": "link.toml", "runs": "many"}),
        ("runn", {}),
        ("run", {"scenario": "linc.toml"}),
        ("list", {"family": "qeues"}),
        ("compare", {"directory": "results/none", "at": {"size": "1 segments"}}),
        ("plot", {"directory": "results/none"}),
        ("new", {"file": "link.toml"}),
        ("run", {"scenario": "link.toml", "where": {"grup": "file"}}),
    )
    place = problem(wrong, "input")["places"][0]
    assert (place["file"], place["line"], place["nearest"]) == ("wrong.toml", 4, "queue")
    assert place["problem"] == "unknown key `queu`"
    place = problem(setting, "input")["places"][0]
    assert (place["key"], place["nearest"]) == ("parameters.siez", "size")
    assert problem(argument, "input")["places"][0]["nearest"] == "scenario"
    assert problem(kind, "input")["places"][0]["key"] == "runs"
    assert "did you mean 'run'?" in problem(tool, "input")["message"]
    assert "no file or shipped scenario named 'linc.toml'" in problem(missing, "input")["message"]
    assert problem(family, "input")["places"][0]["nearest"] == "queues"
    assert "no such study" in problem(study, "input")["message"]
    assert "expected `metric`" in problem(both, "input")["message"]
    place = problem(where, "input")["places"][0]
    assert (place["key"], place["nearest"]) == ("where", "group")
    assert "exists with other content" in problem(overwrite, "input")["message"]


def test_places_of_a_message_are_read():
    message = (
        "  \u00d7 `3` has no unit: expected a duration such as `5 ms`\n"
        "   ╭─[x.toml:1:8]\n 1 │ stop = 3\n   ·        ┬\n   ·        ╰── expected a duration such as `5 ms`\n"
        "   ╰────\n  help: units of a duration are ps, ns, us, ms, s, min, h\n"
    )
    (place,) = of_scenario(message)
    assert place == {
        "problem": "`3` has no unit: expected a duration such as `5 ms`",
        "file": "x.toml",
        "line": 1,
        "column": 8,
        "key": "stop",
        "expected": "expected a duration such as `5 ms`",
        "nearest": None,
        "help": "units of a duration are ps, ns, us, ms, s, min, h",
    }


@pytest.mark.parametrize(
    ("option", "stop", "said"),
    [
        (("--cpu", "4"), "100000 s", "more than 4 s of CPU time (`--cpu`)"),
        (("--memory", "512"), "100000 s", "more than 512 MB of memory (`--memory`)"),
        (("--disk", "1"), "3 s", "(`--disk`)"),
    ],
)
def test_limit_ends_a_call_and_the_server_goes_on(tmp_path, option, stop, said):
    written(tmp_path, long=LONG if "--cpu" in option else PACKETS + f'parameters = {{ stop = "{stop}" }}\n', link=LINK)
    long, after = calls(
        tmp_path, ("run", {"scenario": "long.toml"}), ("validate", {"scenario": "link.toml"}), options=option
    )
    message = problem(long, "limit")["message"]
    assert said in message
    # A client that calls again wants to know how far it came.
    assert "--disk" in option or "reached: 0 of 1 runs" in message
    assert value(after)["flows"] == 1


def workers(folder):
    """Return the processes of calls in a directory."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"optcp.mcp.worker" in (process / "cmdline").read_bytes() and (process / "cwd").readlink() == folder:
                found.append(process.name)
        except OSError:
            continue
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_long_run_reports_progress_and_ends_when_it_is_cancelled(tmp_path, mode):
    written(tmp_path, long=LONG, link=LINK)
    told = []

    async def work(client):
        enough = anyio.Event()

        async def progress(done, total, message):
            told.append((done, total, message))
            if len(told) == 3:
                enough.set()

        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run", {"scenario": "long.toml"}, None, progress)
            await enough.wait()
            running = workers(tmp_path)
            group.cancel_scope.cancel()
        with anyio.fail_after(10):
            while workers(tmp_path):
                await anyio.sleep(0.05)
        return running, await client.call_tool("validate", {"scenario": "link.toml"})

    running, after = served(tmp_path, work, mode=mode)
    assert len(running) == 1
    assert value(after)["flows"] == 1
    done = [one[0] for one in told]
    assert done == sorted(done)
    assert 0 <= done[0] <= done[-1] < 1
    assert {one[1] for one in told} == {1}
    assert "0 of 1 runs" in told[0][2]


def test_server_that_is_killed_takes_its_call_with_it(tmp_path):
    written(tmp_path, long=LONG)
    job = {
        "tool": "run",
        "arguments": {
            "scenario": "long.toml", "settings": None, "seed": 1, "runs": 1, "directory": None, "metrics": [],
            "where": {}, "skip": 0, "most": 9, "force": False,
        },
        "limits": {"cpu_s": 60, "memory_mb": 2048, "disk_mb": 9},
        "directory": str(tmp_path),
    }  # fmt: skip
    python_path = str(Path(optcp.__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "optcp.mcp.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": python_path},
    ) as process:  # fmt: skip
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        assert "progress" in json.loads(process.stdout.readline())
        process.stdin.close()  # as the end of the server does
        assert process.wait(timeout=20) == 1


def test_call_that_only_waits_ends_too(tmp_path, monkeypatch):
    written(tmp_path, long=LONG)
    monkeypatch.setattr("optcp.mcp.limits.WAITING", 0.05)
    jobs = Jobs(tmp_path, Limits(cpu_s=60))

    async def ignored(done, total, message):
        pass

    asked = {"scenario": "long.toml", "settings": None, "seed": 1, "runs": 1, "directory": None, "metrics": []}
    with pytest.raises(Stopped, match="took more than 3 s") as stopped:
        anyio.run(jobs.call, "run", asked | {"where": {}, "skip": 0, "most": 9, "force": False}, ignored)
    assert stopped.value.problem["kind"] == "limit"
    assert workers(tmp_path) == []


def test_missing_extra_and_directory_are_named(optcp, tmp_path, monkeypatch):
    assert optcp("mcp", "--directory", "nowhere")[2] == "Error: --directory nowhere: no such directory\n"
    monkeypatch.setitem(sys.modules, "mcp", None)
    status, _, err = optcp("mcp", "--directory", str(tmp_path))
    assert (status, err) == (2, "Error: mcp is not installed: pip install 'optcp[mcp]'\n")


def test_search_prefers_rare_words_and_titles():
    passages = [
        texts.Passage("a", "queue", "the queue of a link, and a queue"),
        texts.Passage("b", "window", "a window and a queue"),
        texts.Passage("c", "link", "the link has a delay"),
    ]
    index = search.Index(passages)
    assert [one.source for one in index.best("windows", 3)] == ["b"]
    assert [one.source for one in index.best("queue", 3)] == ["a", "b"]
    assert index.best("nothing", 3) == []
    # Words of the question count only if there are no others.
    assert [one.source for one in index.best("what is the window of a delay", 3)] == ["b", "c"]
    assert [one.source for one in index.best("the", 3)] == ["c", "a"]
    assert search.words("1+1 and 1:1") == ["1+1", "and", "1:1"]


def test_packed_pages_are_the_chapters_of_the_checkout(tmp_path, monkeypatch):
    content = pages.packed(pages.PAGES)
    assert content == pages.packed(pages.PAGES)
    assert len(content) < 250_000, "a wheel should stay small"
    chapters = list(pages.chapters(pages.PAGES))
    monkeypatch.setattr(pages, "PACKED", tmp_path / "pages.json.gz")
    pages.PACKED.write_bytes(content)
    assert list(pages.pages.__wrapped__()) == chapters
    _, title, text = next(one for one in chapters if one[0] == "docs/reference/scenarios/mistakes.md")
    assert (title, text[:15]) == ("Warnings and mistakes: Warnings", "`optcp validate")


def test_examples_of_docstrings_hold():
    for module in (numbers, outages, parts, search, server):
        assert doctest.testmod(module).attempted > 0
        assert doctest.testmod(module).failed == 0


def test_documentation_has_every_name_and_page():
    found = texts.passages({"run": "Run a scenario."})
    sources = {one.source for one in found}
    assert {"command", "metric", "scenario key", "shipped scenario", "docs/concepts/seeds.md"} <= sources
    assert max(len(one.text) for one in found) < 20_000
