"""Documentation compared with the program: tables, lists, counts and links of pages.

HTML comments such as ``choices``, ``arrows`` and ``ranges`` mark the tables.
"""

import ast
import dataclasses
import inspect
import itertools
import json
import re
import runpy
import shutil
import subprocess
import sys
import tomllib

import pytest

import optcp
from doc_pages import BLOCK, NAMES, ROOT, SCENARIOS, rows, run, text
from optcp.common.terminal import bounds
from optcp.constellation.shells import SHELLS
from optcp.papers.registry import names, select
from optcp.papers.results import sensitivities
from optcp.papers.sensitivity.space import space
from optcp.scenarios import topologies
from optcp_papers.evidence import EXPERIMENTS

NUMBERS = dict(enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]))
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


@pytest.fixture(scope="module")
def choices():
    """Return the cells of each key in docs/reference/tcp.md."""
    return {
        row[0].strip("`"): [cell.strip("`") for cell in row[1:-1]] for row in rows("docs/reference/tcp.md", "choices")
    }


@pytest.fixture(scope="module")
def program(choices):
    """Return the real module's description of itself, and of the tables of docs/reference/tcp.md as scenarios."""
    worlds = {}
    for index, profile in enumerate(profiles()):
        written = [f'{key} = "{cells[index]}"' for key, cells in choices.items()]
        written = [re.sub(r'"(true|false)"', r"\1", line) for line in written]
        # Start from another profile, so that a value missing on the page is detected.
        other = "ns2-2001" if profile == "rfc" else "rfc"
        worlds[f"{profile} by page"] = WORLD.format(table="\n".join([f'profile = "{other}"', *written]))
        worlds[f"{profile} by program"] = WORLD.format(table=f'profile = "{profile}"')
    done = subprocess.run(
        [sys.executable, "-c", ASK], input=json.dumps(worlds), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def profiles():
    head = text("docs/reference/tcp.md").split("<!-- choices")[1].split("\n\n")[1].splitlines()[0]
    return [cell.strip(" `") for cell in head.strip("|").split("|")[1:-1]]


def test_metrics_table_matches_definitions():
    page = runpy.run_path(str(ROOT / "docs" / "reference" / "metrics.py"))["page"]
    assert text("docs/reference/metrics.md") == page(text("docs/reference/metrics.md"))


# Tables


def test_every_tcp_option_is_documented(program, choices):
    known = set(program["schema"]["$defs"]["TcpTable"]["properties"]) - {"profile"}
    assert set(choices) == known


def test_tcp_page_has_all_profiles_and_defaults(program):
    names = [entry["name"] for entry in program["catalogue"] if entry["family"] == "profiles"]
    part = text("docs/reference/tcp.md").split("## Profiles")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE) == names
    assert profiles() == names[:1]
    for profile in profiles():
        assert program["worlds"][f"{profile} by page"] == program["worlds"][f"{profile} by program"], profile


def test_every_tcp_family_option_is_documented(program, choices):
    page = text("docs/reference/tcp.md")
    families = {}
    for entry in program["catalogue"]:
        families.setdefault(entry["family"], []).append(entry["name"])
    of_tcp = [name for name in families if name in choices]
    assert set(re.findall(r"^### `([a-z0-9_]+)`", page, re.MULTILINE)) == set(of_tcp)
    for family in of_tcp:
        part = page.split(f"### `{family}`")[1].split("\n#")[0]
        assert re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE) == families[family]


def test_every_scenario_key_is_documented(program):
    page, schema = text(SCENARIOS), program["schema"]
    details = ("applications", "mptcp", "optical-layer", "switches", "token-buckets")
    page += "".join(text(f"docs/details/{name}.md") for name in details)
    mentioned = set(re.findall(r"`([a-z_]+)`", page))
    assert set(schema["properties"]) <= mentioned
    sections = {"NodesEntry": "nodes", "LinksEntry": "links", "FlowsEntry": "flows", "FailureEntry": "failures"}
    sections |= {"TrafficEntry": "traffic", "ApplicationEntry": "applications", "RiskEntry": "risks"}
    sections |= {"ProtectionEntry": "protection", "LossesEntry": "losses", "ObserveEntry": "observe"}
    sections |= {"BundleEntry": "bundles", "BurstsEntry": "bursts", "SwitchEntry": "switches", "BucketEntry": "buckets"}
    sections = {name: f"[[{section}]]" for name, section in sections.items()} | {
        "CoreTable": "[core]",
        "MeasureTable": "[measure]",
        "OpticalTable": "[optical]",
        "RoutingTable": "[routing]",
        "TopologyTable": "[topology]",
    }
    tables = {name for name, entry in schema["$defs"].items() if "properties" in entry} - {"TcpTable"}
    # These are tables inside an entry; their keys are documented with that entry.
    parts = sections | {
        "Reverse": "[[links]]",
        "EachWay": "[[protection]]",
        "HelloEntry": "[[protection]]",
        "CommandEntry": "[[protection]]",
        "FibreEntry": "[optical]",
        "ObjectEntry": "[[applications]]",
    }
    parts |= {
        "ReverseBursts": "[[bursts]]",
        "BurstClassEntry": "[[bursts]]",
        "SizesTable": "sizes",
        "WriteEntry": "[[flows]]",
        "PairsTable": "pairs",
        "MultipathTable": "multipath",
    }
    parts |= {"QueueTable": "queue", "VoqEntry": "[[voqs]]", "VoqReverse": "[[voqs]]"}
    parts |= {"ForwardingTable": "[forwarding]", "ForwardingEntry": "[forwarding]"}
    parts |= {"ScheduleEntry": "[[schedules]]", "ChangeEntry": "[[schedules]]", "GeneratorEntry": "generator"}
    assert tables == set(parts)
    for name, section in parts.items():
        part = page.split(f"## `{section}`")[1].split("\n##")[0]
        listed = set(re.findall(r"^\| `([a-z_]+)` \|", part, re.MULTILINE))
        assert set(schema["$defs"][name]["properties"]) <= listed, section


def test_every_observation_distribution_and_unit_is_documented(program):
    page = text(SCENARIOS)
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


def test_warnings_table_matches_registry(program):
    listed = [entry for entry in program["catalogue"] if entry["family"] == "warnings"]
    rows = [f"| `{item['name']}` | {item['summary'][0].upper()}{item['summary'][1:]}. |" for item in listed]
    table = text(SCENARIOS).split("<!-- warnings:")[1].split("\n\n")[1]
    assert table.splitlines()[2:] == rows


def test_every_front_end_warning_is_documented(program):
    known = {entry["name"] for entry in program["catalogue"] if entry["family"] == "warnings"}
    on_page = set(re.findall(r"`([a-z-]+)`", text("docs/howto/outage.md")))
    for source in (ROOT / "python/optcp").rglob("*.py"):
        for name in re.findall(r"\bWarned\(\s*\"([a-z-]+)\"", source.read_text(encoding="utf-8")):
            assert name in (on_page if source.parent.name == "outage" else known), f"{source}: {name}"


def test_every_experiment_is_on_results_page(tmp_path):
    listed = re.findall(r"^  (\S+/\S+)", run("optcp list exhibits", tmp_path).stdout, re.MULTILINE)
    assert listed
    assert [name for name in listed if f"| `{name}` |" not in text("docs/details/exhibits.md")] == []


def test_documented_parameter_ranges_match_experiments():
    table = text("docs/details/sensitivity.md").split("<!-- ranges:")[1].split("\n\n")[1]
    head, _, *lines = ([cell.strip(" `") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines())
    for column, name in enumerate(head[1:], start=1):
        shown = {line[0]: line[column].replace("\\|", "|") for line in lines if line[column] != "-"}
        assert shown == {item.name: str(item.range) for item in space(select([name])[0], {}, {})}, name


def test_documented_study_results_match_stored_results(tmp_path):
    page = "docs/details/sensitivity.md"
    shutil.unpack_archive(ROOT / "docs/details/sensitivity.zip", tmp_path)
    studies = sensitivities(tmp_path)
    assert {study.exhibit for study in studies} == set(re.findall(r"<!-- effects of (\S+):", text(page)))
    for study in studies:
        assert rows(page, f"effects of {study.exhibit}") == [
            [f"`{item.parameter}`", bounds(item.total), bounds(item.main)] for item in study.ranking
        ]
        points = 2 * study.design["samples"]
        assert rows(page, f"conclusions of {study.exhibit}") == [
            [
                contrast["name"],
                bounds(contrast["mean"]),
                *(f"{100 * contrast[part] / points:.0f} %" for part in ("above", "below")),
            ]
            for contrast in study.contrasts
        ]


def test_crate_diagram_matches_manifests():
    table = rows("docs/developers/architecture.md", "arrows")
    written = {crate.strip("`"): set(re.findall(r"`([a-z]+)`", uses)) for crate, uses in table}
    found = {}
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        uses = tomllib.loads(manifest.read_text(encoding="utf-8")).get("dependencies", {})
        found[manifest.parent.name] = {name.removeprefix("optcp-") for name in uses if name.startswith("optcp-")}
    assert written == found
    order = list(written)
    assert [(a, b) for a in order for b in written[a] if order.index(b) >= order.index(a)] == []


def test_every_name_family_is_in_catalogue(program):
    declared = set()
    for source in (ROOT / "crates").glob("*/src/**/*.rs"):
        declared |= set(re.findall(r'enum \w+ \("([a-z_-]+)"\) \{', source.read_text(encoding="utf-8")))
    listed = {entry["family"] for entry in program["catalogue"]}
    assert declared | {"distributions", "units"} == listed


def test_only_front_end_crates_use_files_and_python():
    for crate in ("units", "des", "tcp", "net", "optical", "routing", "traffic", "engine"):
        manifest = tomllib.loads((ROOT / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
        assert {"toml", "miette", "serde_json", "pyo3", "numpy"}.isdisjoint(manifest["dependencies"]), crate


# Lists and counts of the pages


def after(name, words):
    """Return the sentence or list item of a page that starts with some words, in one line."""
    part = text(name).split(words, 1)[1]
    return " ".join(re.split(r"\n\n|\n\* |\.\n", part)[0].split())


def in_code(prose):
    return set(re.findall(r"`([^`]+)`", prose))


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("queues", "[queue disciplines](docs/reference/scenarios/queues.md#queue):"),
        ("congestion", "| [congestion control](docs/reference/tcp.md#congestion-how-the-window-grows) |"),
        ("profiles", "[profiles](docs/reference/tcp.md#profiles):"),
    ],
)
def test_readme_lists_every_option_of_family(program, family, words):
    listed = after("README.md", words).split("](")[0]
    names = {entry["name"] for entry in program["catalogue"] if entry["family"] == family}
    assert {name for name in names if f"`{name}`" not in listed} == set()


def test_the_readme_lists_every_paper_and_how_many():
    listed, _, studies = after("README.md", "(`gmpls`,").partition("studies of the project")
    papers, own = in_code(listed) | {"gmpls"}, in_code(studies.split(")")[0])
    assert papers | own == set(names())
    assert papers & own == set()
    assert f"{NUMBERS[len(papers)]} papers (" in text("README.md")
    assert f"{NUMBERS[len(own)].capitalize()} studies of the project" in " ".join(text("README.md").split())
    assert f"{NUMBERS[len(papers)]} papers run again" in text("docs/index.md")
    assert set(names()) <= set(re.findall(r"docs/results/([a-z]+)\.md", text("README.md")))


def test_the_readme_counts_the_comparisons_of_the_evidence():
    line = after("docs/details/tcp-evidence-details.md", "* Comparisons with figures from outside:")
    number, *counts = map(int, re.findall(r"\d+", line))
    agree, near, differ = (sharp + wide for sharp, wide in zip(counts[:3], counts[3:], strict=True))
    assert number == agree + near + differ
    stated = f"of {number} comparisons, {agree} agree, {near} are near and {differ} differ"
    assert stated in text("README.md")
    assert f"{number} comparisons with" in text("docs/details/index.md")


def test_every_catalogue_name_is_in_reference(program):
    details = ("docs/details/applications.md", "docs/details/token-buckets.md")
    named = (SCENARIOS, "docs/reference/tcp.md", "docs/reference/routing.md", *details)
    pages = "".join(text(page) for page in named)
    missing = [
        item for item in program["catalogue"] if f"`{item['name']}`" not in pages and f'"{item["name"]}"' not in pages
    ]
    assert missing == []


def test_collections_of_networks_and_shells_of_satellites_are_listed():
    (row,) = re.findall(r"^\| `name` \|.*TopoHub.*$", text(SCENARIOS), re.MULTILINE)
    assert {name for name in topologies.networks() if f"`{name}`" not in row} == set()
    (row,) = re.findall(r"^\| another shell \|.*$", text("docs/howto/constellation.md"), re.MULTILINE)
    assert {name for name in SHELLS if f"`{name}`" not in row} == set()


def test_every_extra_is_on_install_page():
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    listed = [row[0].strip("`") for row in table_under("docs/install.md", "## Extras")]
    assert listed == ["none", *(name for name in listed[1:])]
    assert set(listed) - {"none"} == set(extras) - {"dev"}


def table_under(page, head):
    """Return the rows of the first table under a heading."""
    lines = text(page).split(f"{head}\n")[1].split("|---", 1)[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_public_python_name_is_documented():
    table = text("docs/reference/api.md").split("| name | content |")[1].split("\n\n")[0].splitlines()[2:]
    named = {name for row in table for name in in_code(row.split(" | ")[0])}
    assert named == set(optcp.__all__)
    assert [name for name in named if not hasattr(optcp, name)] == []


def test_every_public_attribute_is_documented():
    """Without a text, help() and the reference show the documentation of the default value's type."""
    for name in optcp.__all__:
        kind = getattr(optcp, name)
        if not dataclasses.is_dataclass(kind):
            continue
        tree = ast.parse(inspect.getsource(kind)).body[0].body
        said = {
            item.target.id
            for item, text in itertools.pairwise(tree)
            if isinstance(item, ast.AnnAssign) and isinstance(text, ast.Expr)
        }
        shown = {field.name for field in dataclasses.fields(kind) if hasattr(kind, field.name) and field.name[0] != "_"}
        assert shown <= said, name


def test_evidence_help_lists_every_experiment(tmp_path):
    shown = run("optcp evidence --help", tmp_path).stdout
    assert [experiment.name for experiment in EXPERIMENTS if experiment.name not in re.findall(r"[\w-]+", shown)] == []


def test_every_file_with_random_draws_is_documented():
    listed = in_code(
        " ".join(
            row[0]
            for row in table_under(
                "docs/developers/architecture.md", "<!-- draws: checked by tests/python/test_docs.py -->\n"
            )
        )
    )
    found = set()
    for crate in ("net", "traffic", "engine", "tcp", "optical", "routing"):
        for file in (ROOT / "crates" / crate / "src").rglob("*.rs"):
            code = file.read_text(encoding="utf-8").split("mod tests {")[0]
            # A public field is part of the input of a run, not of its state.
            if re.search(r"^    (stream: (Option<)?Stream|draw: Draw)\b", code, re.MULTILINE):
                found.add(str(file.relative_to(ROOT / "crates")))
    assert listed == found
    page = text(SCENARIOS).split("While the run goes on,")[1].split("\n## ")[0]
    kinds = {"red", "pie", "jitter", "bbr", "bbr3", "cdg", "nv"} | {
        name.replace("_", "-") for name in re.findall(r"loss/(\w+)\.rs", " ".join(found))
    }
    assert {kind for kind in kinds if f"`{kind}`" not in page} == set()


def test_script_counts_match_files():
    scripts = len(list((ROOT / "tests" / "packetdrill").rglob("*.pkt")))
    words = r"own (\d+) scripts in `tests/packetdrill`, one directory per mechanism"
    said = [int(count) for page in NAMES for count in re.findall(words, text(page))]
    assert said == [scripts]


def test_cpu_hours_of_long_runs_match_files():
    long_runs = (ROOT / "papers" / "optcp_papers" / "lbas" / "data").glob("*/*.json")
    hours = sum(json.loads(file.read_text(encoding="utf-8"))["cpu_seconds"] for file in long_runs) / 3600
    page = after("docs/details/lbas.md", "no interpretation has its\n")
    assert re.search(r"([\d.]+) CPU\s+hours", page)[1] == f"{hours:.1f}"


@pytest.mark.parametrize(
    ("words", "family"),
    [
        (r"(\d+) scenarios are included", "scenarios"),
        (r"(\d+) warnings report", "warnings"),
        (r"(\w+) protection schemes", "protection"),
        (r"ECMP with (\w+) hash methods", "ecmp"),
        (r"(\d+) congestion controls", "congestion"),
        (r"(\w+) queue disciplines", "queues"),
        (r"with (\w+) selection methods", "selection"),
        (r"(\d+) kinds of observation", "observations"),
        (r"re-runs (\d+) experiments", "exhibits"),
    ],
)
def test_counts_of_the_changelog_are_those_of_the_lists(words, family):
    said = re.search(words, text("CHANGELOG.md"))[1].lower()
    _, *listed = run(f"optcp list {family}", ROOT).stdout.splitlines()
    assert said in (str(len(listed)), NUMBERS.get(len(listed)))


def test_the_changelog_counts_the_networks():
    said = int(re.search(r"(\d+) networks are available", text("CHANGELOG.md"))[1])
    assert said == sum(len(found) for found in topologies.networks().values())


SECTION = r"(?:\d+|[A-H](?![a-z]))(?:\.\d+)*"
CITED = re.compile(rf"RFC (\d{{3,5}}),? (?:[Ss]ection|[Aa]ppendix) ({SECTION})")
SEVERAL = re.compile(rf"RFC (\d{{3,5}}),? sections ({SECTION}(?:(?:, | and | to ){SECTION})*)")


def test_cited_rfc_sections_exist():
    known = tomllib.loads((ROOT / "tests" / "python" / "rfc_sections.toml").read_text(encoding="utf-8"))
    unchecked = {str(number) for number in known.pop("unchecked")}
    assert unchecked & set(known) == set()
    cited, wrong = set(), []
    files = [ROOT / name for name in NAMES]
    files += [path for part in ("crates", "papers", "python", "tests/packetdrill") for path in (ROOT / part).rglob("*")]
    for file in files:
        if file.suffix not in (".md", ".rs", ".py", ".toml", ".pkt"):
            continue
        prose = " ".join(file.read_text(encoding="utf-8").split())
        found = CITED.findall(prose)
        for number, sections in SEVERAL.findall(prose):
            found += [(number, section) for section in re.findall(SECTION, sections)]
        cited |= {number for number, _ in found}
        wrong += [
            (str(file.relative_to(ROOT)), number, section)
            for number, section in found
            if number not in unchecked and section not in known.get(number, ())
        ]
    assert wrong == []
    assert cited == unchecked | set(known)


# Results


@pytest.mark.parametrize("name", names())
def test_results_page_states_five_findings_with_their_commands(name):
    page = text(f"docs/results/{name}.md")
    findings = re.findall(r"^\d\. \*\*.*?(?=^\d\. |\n\n)", page, re.DOTALL | re.MULTILINE)
    assert len(findings) == 5
    for finding in findings:
        (command,) = re.findall(r"`optcp reproduce ([^`]+)`", finding)
        assert select(command.split(" --")[0].split()), finding
    for part in ("**Question.**", "**Answer.**", "## Method", "## Findings", "## Reproduce", "## Limitations"):
        assert part in page, part
    assert f"../details/{name}.md" in page
    prose = re.sub(r"^\|.*$|^!\[.*$|\]\([^)]*\)", "", BLOCK.sub("", page), flags=re.MULTILINE)
    assert 400 <= len(prose.split()) <= 600


# Links and words


def anchors(page):
    """Return the anchors that a Markdown page offers for its headings."""
    heads = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", NAMES)
def test_relative_links_resolve(name):
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
