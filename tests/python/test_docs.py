"""The documentation against the program: what a page shows must be what happens.

Marks in the pages, as HTML comments before a fenced block:

``complete: NAME``
    a whole scenario file; it is valid.
``output: COMMAND``
    what the command prints, run beside the page's complete scenarios.
``excerpt: COMMAND``
    lines that the command prints.
``message``
    what ``validate`` says of the page's last complete scenario after the change named above the block.
``choices``, ``arrows`` and ``ranges``
    tables that are compared with the program.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow.parquet
import pytest

from optcp import _core
from optcp.papers.registry import select
from optcp.results import sensitivities
from optcp.sensitivity.space import space
from optcp.tables import bounds

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
COMPLETE = re.compile(r"<!-- complete: (\S+) -->\n```toml\n(.*?)```", re.DOTALL)
SHOWN = re.compile(r"<!-- (output|excerpt): (.+?) -->\n```text\n(.*?)```", re.DOTALL)
MESSAGE = re.compile(r"`([^`\n]+)` written as `([^`\n]+)`:\n\n<!-- message -->\n```text\n(.*?)```", re.DOTALL)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")

WORLD = """stop = "1 s"
[tcp.x]
{table}
[[nodes]]
names = ["A", "B"]
[[links]]
chain = ["A", "B"]
rate = "1 Mbps"
delay = "1 ms"
queue = "9 packets"
[[flows]]
group = "g"
path = ["A", "B"]
tcp = "x"
"""

ASK = """
import json, sys
from optcp import _core
worlds = json.load(sys.stdin)
def choices(text):
    return json.loads(_core.Scenario.parse(text, "world", []).resolved())["tcp"]["x"]
answer = {name: choices(text) for name, text in worlds.items()}
print(json.dumps({"catalogue": _core.catalogue(), "schema": json.loads(_core.schema()), "worlds": answer}))
"""


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def run(command, cwd, status=0):
    done = subprocess.run(
        [sys.executable, "-m", "optcp", *shlex.split(command)[1:]],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done


def lines(block):
    return [line.rstrip() for line in block.strip("\n").splitlines()]


def rows(page, mark):
    """The cells of the first table after a mark, without its head."""
    table = text(page).split(f"<!-- {mark}: ")[1].split("|---", 1)[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table]


def save_scenarios(page, directory):
    found = COMPLETE.findall(text(page))
    for name, content in found:
        (directory / name).write_text(content, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def choices():
    """Each key's cells in docs/tcp.md."""
    return {row[0].strip("`"): [cell.strip("`") for cell in row[1:-1]] for row in rows("docs/tcp.md", "choices")}


@pytest.fixture(scope="module")
def program(choices):
    """What the real module says of itself, and of the tables of docs/tcp.md written as scenarios."""
    worlds = {}
    for index, profile in enumerate(profiles()):
        written = [f'{key} = "{cells[index]}"' for key, cells in choices.items()]
        written = [re.sub(r'"(true|false)"', r"\1", line) for line in written]
        # Started from another profile, so that a value which is missing on the page shows.
        other = "ns2-2001" if profile == "rfc" else "rfc"
        worlds[f"{profile} by page"] = WORLD.format(table="\n".join([f'profile = "{other}"', *written]))
        worlds[f"{profile} by program"] = WORLD.format(table=f'profile = "{profile}"')
    done = subprocess.run(
        [sys.executable, "-c", ASK], input=json.dumps(worlds), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def profiles():
    head = text("docs/tcp.md").split("<!-- choices")[1].split("\n\n")[1].splitlines()[0]
    return [cell.strip(" `") for cell in head.strip("|").split("|")[1:-1]]


# Scenarios, output and messages


@pytest.mark.parametrize("page", ["README.md", "docs/scenarios.md"])
def test_complete_scenarios_are_valid(page, tmp_path):
    found = save_scenarios(page, tmp_path)
    assert found
    for name, _ in found:
        assert f"{name}: valid" in run(f"optcp validate {name}", tmp_path).stdout


@pytest.mark.parametrize("page", NAMES)
def test_output_is_what_the_command_prints(page, tmp_path):
    save_scenarios(page, tmp_path)
    for kind, command, block in SHOWN.findall(text(page)):
        printed = lines(run(command, tmp_path).stdout)
        if kind == "output":
            assert lines(block) == printed
        else:
            # The width of columns depends on the rows that are left out.
            known = [line.split() for line in printed]
            assert [line for line in lines(block) if line.split() not in known] == []


def test_each_mistake_has_the_message_that_the_page_shows(tmp_path):
    page = "docs/scenarios.md"
    name, good = save_scenarios(page, tmp_path)[-1]
    mistakes = MESSAGE.findall(text(page))
    assert len(mistakes) == 5
    for right, wrong, message in mistakes:
        assert good.count(right) == 1, right
        (tmp_path / name).write_text(good.replace(right, wrong), encoding="utf-8")
        assert lines(run(f"optcp validate {name}", tmp_path, status=2).stderr) == lines(message)


def test_a_run_writes_what_the_pages_name(tmp_path):
    save_scenarios("docs/scenarios.md", tmp_path)
    run("optcp run lab.toml --out out", tmp_path)
    out = tmp_path / "out"
    about = json.loads((out / "study.json").read_text())
    assert len(about["cells"]) == 4
    found = {path.name for path in out.iterdir()} - set(about["observe"])
    pages = (("docs/scenarios.md", "## What a run writes"), ("docs/contract.md", "## A study"))
    parts = [text(page).split(head)[1].split("\n## ")[0] for page, head in pages]
    for part in parts:
        assert [name for name in found if f"`{name}" not in part] == []
        scalars = pyarrow.parquet.read_table(out / "scalars").column_names
        assert [name for name in scalars if f"`{name}`" not in part and name not in about["axes"]] == []
    assert [key for key in about if key != "sha256" and f"`{key}`" not in parts[1]] == []
    for metric in _core.metrics():
        assert (
            f"| `{metric['name']}` | {metric['unit'] or '-'} | {metric['of'] or '-'} | {metric['summary']} |"
            in parts[1]
        )
    kinds = text("docs/scenarios.md").split("| kind | what it gives")[1].split("\n\n")[0]
    columns = set(re.findall(r"`([a-z_]+)`", kinds)) | {"cell", "seed", *about["axes"]}
    for name in about["observe"]:
        assert set(pyarrow.parquet.read_table(out / name).column_names) <= columns, name


# Commands


def commands(page):
    """Every command line in a fenced block without a language, by the way that it is written there."""
    for language, block in BLOCK.findall(text(page)):
        for line in [] if language else block.splitlines():
            words = line.split("  #")[0].strip().removeprefix(".venv/bin/")
            if re.match(r"(optcp|make) ", words):
                yield words


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/scenarios.md",
        "docs/papers/gmpls.md",
        "docs/start.md",
        "docs/howto/sweep.md",
        "docs/howto/topology.md",
        "docs/howto/look.md",
    ],
)
def test_commands_exist_with_their_options(page, tmp_path):
    save_scenarios(page, tmp_path)
    makefile = text("Makefile")
    shown = sorted(set(commands(page)))
    assert shown
    helps = {}
    for command in shown:
        words = shlex.split(command)
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), command
            continue
        verb = words[1]
        if verb not in helps:
            helps[verb] = run(f"optcp {verb} --help", tmp_path).stdout
        for option in (word for word in words if word.startswith("--")):
            assert f"{option} " in helps[verb].replace(",", " ").replace("/", " "), command
        if verb == "run":
            run(f"{command} --dry-run", tmp_path)
        # These take what others have made, or write into the home directory.
        elif verb not in ("reproduce", "sensitivity", "trace", "compare", "plot", "completion"):
            run(command, tmp_path)


def test_the_contract_lists_every_command_and_option(tmp_path):
    page = text("docs/contract.md").split("## Commands")[1].split("```")[1]
    verbs = re.findall(r"^  ([a-z]+)  ", run("optcp --help", tmp_path).stdout, re.MULTILINE)
    assert sorted(verbs) == sorted(re.findall(r"^optcp ([a-z]+)", page, re.MULTILINE))
    for verb in verbs:
        options = set(re.findall(r"--[a-z-]+", run(f"optcp {verb} --help", tmp_path).stdout.split("Options:")[1]))
        mine = page.split(f"optcp {verb}")[1].split("\noptcp")[0]
        assert options - {"--help"} == set(re.findall(r"--[a-z-]+", mine)), verb


# Tables


def test_every_choice_of_tcp_is_on_its_page(program, choices):
    known = set(program["schema"]["$defs"]["TcpTable"]["properties"]) - {"profile"}
    assert set(choices) == known


def test_the_page_of_tcp_has_every_profile_and_the_values_of_the_default(program):
    names = [entry["name"] for entry in program["catalogue"] if entry["family"] == "profiles"]
    part = text("docs/tcp.md").split("## Profiles")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE) == names
    assert profiles() == names[:1]
    for profile in profiles():
        assert program["worlds"][f"{profile} by page"] == program["worlds"][f"{profile} by program"], profile


def test_every_member_of_the_families_of_tcp_is_on_its_page(program, choices):
    page = text("docs/tcp.md")
    families = {}
    for entry in program["catalogue"]:
        families.setdefault(entry["family"], []).append(entry["name"])
    of_tcp = [name for name in families if name in choices]
    assert set(re.findall(r"^### `([a-z0-9_]+)`", page, re.MULTILINE)) == set(of_tcp)
    for family in of_tcp:
        part = page.split(f"### `{family}`")[1].split("\n#")[0]
        assert re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE) == families[family]


def test_every_key_of_scenario_files_is_on_their_page(program):
    page, schema = text("docs/scenarios.md"), program["schema"]
    mentioned = set(re.findall(r"`([a-z_]+)`", page))
    assert set(schema["properties"]) <= mentioned
    sections = {"NodesEntry": "nodes", "LinksEntry": "links", "FlowsEntry": "flows", "FailureEntry": "failures"}
    sections |= {"TrafficEntry": "traffic", "RiskEntry": "risks"}
    sections |= {"ProtectionEntry": "protection", "LossesEntry": "losses", "ObserveEntry": "observe"}
    sections |= {"BundleEntry": "bundles", "BurstsEntry": "bursts"}
    sections = {name: f"[[{section}]]" for name, section in sections.items()} | {
        "CoreTable": "[core]",
        "RoutingTable": "[routing]",
        "TopologyTable": "[topology]",
    }
    tables = {name for name, entry in schema["$defs"].items() if "properties" in entry} - {"TcpTable"}
    # These are tables inside an entry; their keys stand in the part of that entry.
    parts = sections | {"Reverse": "[[links]]", "EachWay": "[[protection]]", "HelloEntry": "[[protection]]"}
    parts |= {"ReverseBursts": "[[bursts]]", "SizesTable": "sizes", "WriteEntry": "[[flows]]", "PairsTable": "pairs"}
    parts |= {"QueueTable": "queue", "VoqEntry": "[[voqs]]", "VoqReverse": "[[voqs]]"}
    parts |= {"ForwardingTable": "[forwarding]", "ForwardingEntry": "[forwarding]"}
    parts |= {"ScheduleEntry": "[[schedules]]", "ChangeEntry": "[[schedules]]", "GeneratorEntry": "generator"}
    assert tables == set(parts)
    for name, section in parts.items():
        part = page.split(f"### `{section}`")[1].split("\n##")[0]
        listed = set(re.findall(r"^\| `([a-z_]+)` \|", part, re.MULTILINE))
        assert set(schema["$defs"][name]["properties"]) <= listed, section


def test_every_observation_distribution_and_unit_is_on_the_page_of_scenarios(program):
    page = text("docs/scenarios.md")
    for entry in program["catalogue"]:
        if entry["family"] in {
            "protection",
            "reversion",
            "backup-capacity",
            "backups",
            "paths",
            "path-metrics",
            "pair-weights",
            "warnings",
            "fast-reroute",
            "fast-reroute-protection",
            "convergence",
            "tunnel-ttl",
            "failed-packets",
            "failed-directions",
            "losses",
            "lossy-packets",
            "processes",
            "queues",
            "codepoints",
            "sizes",
            "observations",
            "distributions",
            "units",
        }:
            assert f"`{entry['name']}`" in page, entry


def test_the_table_of_warnings_is_the_registry(program):
    listed = [entry for entry in program["catalogue"] if entry["family"] == "warnings"]
    rows = [f"| `{one['name']}` | {one['summary'][0].upper()}{one['summary'][1:]}. |" for one in listed]
    table = text("docs/scenarios.md").split("<!-- warnings:")[1].split("\n\n")[1]
    assert table.splitlines()[2:] == rows


def test_every_warning_of_the_front_end_is_registered_or_of_the_outage_page(program):
    known = {entry["name"] for entry in program["catalogue"] if entry["family"] == "warnings"}
    on_page = set(re.findall(r"`([a-z-]+)`", text("docs/howto/outage.md")))
    for source in (ROOT / "python/optcp").rglob("*.py"):
        for name in re.findall(r"\bWarned\(\s*\"([a-z-]+)\"", source.read_text(encoding="utf-8")):
            assert name in (on_page if source.parent.name == "outage" else known), f"{source}: {name}"


def test_every_exhibit_is_in_the_contract(tmp_path):
    listed = re.findall(r"^  (\S+/\S+)", run("optcp list exhibits", tmp_path).stdout, re.MULTILINE)
    assert listed
    assert [name for name in listed if f"| `{name}` |" not in text("docs/contract.md")] == []


def test_ranges_of_unstated_parameters_are_those_of_the_exhibits():
    table = text("docs/papers/sensitivity.md").split("<!-- ranges:")[1].split("\n\n")[1]
    head, _, *lines = ([cell.strip(" `") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines())
    for column, name in enumerate(head[1:], start=1):
        shown = {line[0]: line[column].replace("\\|", "|") for line in lines if line[column] != "-"}
        assert shown == {one.name: str(one.range) for one in space(select([name])[0], {}, {})}, name


@pytest.mark.parametrize("study", sensitivities(ROOT / "docs" / "papers"), ids=lambda study: study.exhibit)
def test_what_came_out_of_studies_is_as_stored(study):
    page = "docs/papers/sensitivity.md"
    assert rows(page, f"effects of {study.exhibit}") == [
        [f"`{one.parameter}`", bounds(one.total), bounds(one.main)] for one in study.ranking
    ]
    points = 2 * study.design["samples"]
    assert rows(page, f"conclusions of {study.exhibit}") == [
        [one["name"], bounds(one["mean"]), *(f"{100 * one[part] / points:.0f} %" for part in ("above", "below"))]
        for one in study.contrasts
    ]


def test_arrows_between_crates_are_those_of_the_manifests():
    table = rows("docs/architecture.md", "arrows")
    written = {crate.strip("`"): set(re.findall(r"`([a-z]+)`", uses)) for crate, uses in table}
    found = {}
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        uses = tomllib.loads(manifest.read_text(encoding="utf-8")).get("dependencies", {})
        found[manifest.parent.name] = {name.removeprefix("optcp-") for name in uses if name.startswith("optcp-")}
    assert written == found
    order = list(written)
    assert [(a, b) for a in order for b in written[a] if order.index(b) >= order.index(a)] == []


def test_every_family_of_names_is_in_the_catalogue(program):
    declared = set()
    for source in (ROOT / "crates").glob("*/src/**/*.rs"):
        declared |= set(re.findall(r'enum \w+ \("([a-z_-]+)"\) \{', source.read_text(encoding="utf-8")))
    listed = {entry["family"] for entry in program["catalogue"]}
    assert declared | {"distributions", "units"} == listed


def test_files_and_python_are_the_business_of_the_front_alone():
    for crate in ("units", "des", "tcp", "net", "optical", "routing", "traffic", "engine"):
        manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
        assert {"toml", "miette", "serde_json", "pyo3", "numpy"}.isdisjoint(manifest["dependencies"]), crate


# Links and words


def anchors(page):
    """The anchors that a Markdown page offers for its headings."""
    heads = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", NAMES)
def test_relative_links_lead_somewhere(name):
    page = ROOT / name
    prose = BLOCK.sub("", text(name))
    for link in LINK.findall(prose):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_pictures_are_small():
    for picture in (ROOT / "docs" / "images").glob("*.png"):
        assert picture.stat().st_size < 300_000, picture.name
