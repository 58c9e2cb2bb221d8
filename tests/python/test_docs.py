"""The documentation against the program: tables, lists, counts and links of pages are what is there.

Tables have marks as HTML comments before them, such as ``choices``, ``arrows`` and ``ranges``.
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
    """Each key's cells in docs/reference/tcp.md."""
    return {
        row[0].strip("`"): [cell.strip("`") for cell in row[1:-1]] for row in rows("docs/reference/tcp.md", "choices")
    }


@pytest.fixture(scope="module")
def program(choices):
    """What the real module says of itself, and of the tables of docs/reference/tcp.md written as scenarios."""
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
    head = text("docs/reference/tcp.md").split("<!-- choices")[1].split("\n\n")[1].splitlines()[0]
    return [cell.strip(" `") for cell in head.strip("|").split("|")[1:-1]]


def test_the_table_of_metrics_is_that_of_their_definitions():
    page = runpy.run_path(str(ROOT / "docs" / "reference" / "metrics.py"))["page"]
    assert text("docs/reference/metrics.md") == page(text("docs/reference/metrics.md"))


# Tables


def test_every_choice_of_tcp_is_on_its_page(program, choices):
    known = set(program["schema"]["$defs"]["TcpTable"]["properties"]) - {"profile"}
    assert set(choices) == known


def test_the_page_of_tcp_has_every_profile_and_the_values_of_the_default(program):
    names = [entry["name"] for entry in program["catalogue"] if entry["family"] == "profiles"]
    part = text("docs/reference/tcp.md").split("## Profiles")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE) == names
    assert profiles() == names[:1]
    for profile in profiles():
        assert program["worlds"][f"{profile} by page"] == program["worlds"][f"{profile} by program"], profile


def test_every_member_of_the_families_of_tcp_is_on_its_page(program, choices):
    page = text("docs/reference/tcp.md")
    families = {}
    for entry in program["catalogue"]:
        families.setdefault(entry["family"], []).append(entry["name"])
    of_tcp = [name for name in families if name in choices]
    assert set(re.findall(r"^### `([a-z0-9_]+)`", page, re.MULTILINE)) == set(of_tcp)
    for family in of_tcp:
        part = page.split(f"### `{family}`")[1].split("\n#")[0]
        assert re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE) == families[family]


def test_every_key_of_scenario_files_is_on_their_page(program):
    page, schema = text(SCENARIOS), program["schema"]
    mentioned = set(re.findall(r"`([a-z_]+)`", page))
    assert set(schema["properties"]) <= mentioned
    sections = {"NodesEntry": "nodes", "LinksEntry": "links", "FlowsEntry": "flows", "FailureEntry": "failures"}
    sections |= {"TrafficEntry": "traffic", "RiskEntry": "risks"}
    sections |= {"ProtectionEntry": "protection", "LossesEntry": "losses", "ObserveEntry": "observe"}
    sections |= {"BundleEntry": "bundles", "BurstsEntry": "bursts"}
    sections = {name: f"[[{section}]]" for name, section in sections.items()} | {
        "CoreTable": "[core]",
        "MeasureTable": "[measure]",
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
        part = page.split(f"## `{section}`")[1].split("\n##")[0]
        listed = set(re.findall(r"^\| `([a-z_]+)` \|", part, re.MULTILINE))
        assert set(schema["$defs"][name]["properties"]) <= listed, section


def test_every_observation_distribution_and_unit_is_on_the_page_of_scenarios(program):
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


def test_the_table_of_warnings_is_the_registry(program):
    listed = [entry for entry in program["catalogue"] if entry["family"] == "warnings"]
    rows = [f"| `{one['name']}` | {one['summary'][0].upper()}{one['summary'][1:]}. |" for one in listed]
    table = text(SCENARIOS).split("<!-- warnings:")[1].split("\n\n")[1]
    assert table.splitlines()[2:] == rows


def test_every_warning_of_the_front_end_is_registered_or_of_the_outage_page(program):
    known = {entry["name"] for entry in program["catalogue"] if entry["family"] == "warnings"}
    on_page = set(re.findall(r"`([a-z-]+)`", text("docs/howto/outage.md")))
    for source in (ROOT / "python/optcp").rglob("*.py"):
        for name in re.findall(r"\bWarned\(\s*\"([a-z-]+)\"", source.read_text(encoding="utf-8")):
            assert name in (on_page if source.parent.name == "outage" else known), f"{source}: {name}"


def test_every_exhibit_is_on_the_page_of_their_results(tmp_path):
    listed = re.findall(r"^  (\S+/\S+)", run("optcp list exhibits", tmp_path).stdout, re.MULTILINE)
    assert listed
    assert [name for name in listed if f"| `{name}` |" not in text("docs/details/exhibits.md")] == []


def test_ranges_of_unstated_parameters_are_those_of_the_exhibits():
    table = text("docs/details/sensitivity.md").split("<!-- ranges:")[1].split("\n\n")[1]
    head, _, *lines = ([cell.strip(" `") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines())
    for column, name in enumerate(head[1:], start=1):
        shown = {line[0]: line[column].replace("\\|", "|") for line in lines if line[column] != "-"}
        assert shown == {one.name: str(one.range) for one in space(select([name])[0], {}, {})}, name


def test_what_came_out_of_studies_is_as_stored(tmp_path):
    page = "docs/details/sensitivity.md"
    shutil.unpack_archive(ROOT / "docs/details/sensitivity.zip", tmp_path)
    studies = sensitivities(tmp_path)
    assert {study.exhibit for study in studies} == set(re.findall(r"<!-- effects of (\S+):", text(page)))
    for study in studies:
        assert rows(page, f"effects of {study.exhibit}") == [
            [f"`{one.parameter}`", bounds(one.total), bounds(one.main)] for one in study.ranking
        ]
        points = 2 * study.design["samples"]
        assert rows(page, f"conclusions of {study.exhibit}") == [
            [one["name"], bounds(one["mean"]), *(f"{100 * one[part] / points:.0f} %" for part in ("above", "below"))]
            for one in study.contrasts
        ]


def test_arrows_between_crates_are_those_of_the_manifests():
    table = rows("docs/developers/architecture.md", "arrows")
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


# What the pages list, and how many


def after(name, words):
    """The sentence or list item of a page that begins with some words, in one line."""
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
def test_the_readme_lists_every_member_of_a_family(program, family, words):
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


def test_every_name_of_the_catalogue_is_on_a_page_of_reference(program):
    pages = "".join(text(page) for page in (SCENARIOS, "docs/reference/tcp.md", "docs/reference/routing.md"))
    missing = [
        one for one in program["catalogue"] if f"`{one['name']}`" not in pages and f'"{one["name"]}"' not in pages
    ]
    assert missing == []


def test_collections_of_networks_and_shells_of_satellites_are_listed():
    (row,) = re.findall(r"^\| `name` \|.*TopoHub.*$", text(SCENARIOS), re.MULTILINE)
    assert {name for name in topologies.networks() if f"`{name}`" not in row} == set()
    (row,) = re.findall(r"^\| another shell \|.*$", text("docs/howto/constellation.md"), re.MULTILINE)
    assert {name for name in SHELLS if f"`{name}`" not in row} == set()


def test_every_extra_is_on_the_page_of_installing():
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    listed = [row[0].strip("`") for row in table_under("docs/install.md", "## Extras")]
    assert listed == ["none", *(name for name in listed[1:])]
    assert set(listed) - {"none"} == set(extras) - {"dev"}


def table_under(page, head):
    """The rows of the first table under a heading."""
    lines = text(page).split(f"{head}\n")[1].split("|---", 1)[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_public_name_of_python_is_on_its_page():
    table = text("docs/reference/api.md").split("| name | what it is |")[1].split("\n\n")[0].splitlines()[2:]
    named = {name for row in table for name in in_code(row.split(" | ")[0])}
    assert named == set(optcp.__all__)
    assert [name for name in named if not hasattr(optcp, name)] == []


def test_every_public_attribute_has_a_text_of_its_own():
    """Without one, help() and the reference show the text of the type of its default value."""
    for name in optcp.__all__:
        kind = getattr(optcp, name)
        if not dataclasses.is_dataclass(kind):
            continue
        tree = ast.parse(inspect.getsource(kind)).body[0].body
        said = {
            one.target.id
            for one, text in itertools.pairwise(tree)
            if isinstance(one, ast.AnnAssign) and isinstance(text, ast.Expr)
        }
        shown = {one.name for one in dataclasses.fields(kind) if hasattr(kind, one.name) and one.name[0] != "_"}
        assert shown <= said, name


def test_every_experiment_is_in_the_help_of_evidence(tmp_path):
    shown = run("optcp evidence --help", tmp_path).stdout
    assert [one.name for one in EXPERIMENTS if one.name not in re.findall(r"[\w-]+", shown)] == []


def test_every_file_that_draws_during_a_run_is_in_the_table_of_draws():
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
            # A field that others may set is of what a run starts from, not of its state.
            if re.search(r"^    (stream: (Option<)?Stream|draw: Draw)\b", code, re.MULTILINE):
                found.add(str(file.relative_to(ROOT / "crates")))
    assert listed == found
    page = text(SCENARIOS).split("While the run goes on,")[1].split("\n## ")[0]
    kinds = {"red", "pie", "jitter", "bbr", "bbr3", "cdg", "nv"} | {
        name.replace("_", "-") for name in re.findall(r"loss/(\w+)\.rs", " ".join(found))
    }
    assert {kind for kind in kinds if f"`{kind}`" not in page} == set()


def test_counts_of_scripts_are_those_of_the_files():
    scripts = len(list((ROOT / "tests" / "packetdrill").rglob("*.pkt")))
    words = r"own (\d+) scripts in `tests/packetdrill`, one directory per mechanism"
    said = [int(count) for page in NAMES for count in re.findall(words, text(page))]
    assert said == [scripts]


def test_cpu_hours_of_the_long_runs_are_those_of_the_files():
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


def test_cited_sections_of_rfcs_are_in_the_table_of_their_headings():
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
    for part in ("**Question.**", "**Answer.**", "## Method", "## Findings", "## Reproduce", "## Caveats"):
        assert part in page, part
    assert f"../details/{name}.md" in page
    prose = re.sub(r"^\|.*$|^!\[.*$|\]\([^)]*\)", "", BLOCK.sub("", page), flags=re.MULTILINE)
    assert 400 <= len(prose.split()) <= 600


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
