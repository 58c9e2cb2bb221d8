"""Commands of the pages: scenarios, output, messages, options, and studies in one directory.

Marks in the pages, as HTML comments before a fenced block:

``complete: NAME``
    whole scenario file; it must be valid.
``output: COMMAND``
    output of the command, run next to the page's complete scenarios.
``excerpt: COMMAND``
    lines of the command's output.
``message``
    message of ``validate`` for the page's last complete scenario after the change above the block.
"""

import json
import re
import shlex
from pathlib import Path

import pyarrow.parquet
import pytest

from doc_pages import BLOCK, NAMES, ROOT, SCENARIOS, run, save_scenarios, text

SHOWN = re.compile(r"<!-- (output|excerpt): (.+?) -->\n```text\n(.*?)```", re.DOTALL)
MESSAGE = re.compile(r"`([^`\n]+)` written as `([^`\n]+)`:\n\n<!-- message -->\n```text\n(.*?)```", re.DOTALL)


def lines(block):
    return [line.rstrip() for line in block.strip("\n").splitlines()]


@pytest.mark.parametrize("page", ["README.md", "docs/start.md", "docs/concepts/failure.md", SCENARIOS])
def test_complete_scenarios_are_valid(page, tmp_path):
    found = save_scenarios(page, tmp_path)
    assert found
    for name, _ in found:
        assert f"{name}: valid" in run(f"optcp validate {name}", tmp_path).stdout


@pytest.mark.parametrize("page", NAMES)
def test_documented_output_matches_command(page, tmp_path):
    save_scenarios(page, tmp_path)
    for kind, command, block in SHOWN.findall(text(page)):
        printed = lines(run(command, tmp_path).stdout)
        if kind == "output":
            assert lines(block) == printed
        else:
            # The column width depends on omitted rows.
            known = [line.split() for line in printed]
            assert [line for line in lines(block) if line.split() not in known] == []


def test_documented_error_messages_match(tmp_path):
    page = SCENARIOS
    name, good = save_scenarios(page, tmp_path)[-1]
    mistakes = MESSAGE.findall(text(page))
    assert len(mistakes) == 5
    for right, wrong, message in mistakes:
        assert good.count(right) == 1, right
        (tmp_path / name).write_text(good.replace(right, wrong), encoding="utf-8")
        assert lines(run(f"optcp validate {name}", tmp_path, status=2).stderr) == lines(message)


def test_run_writes_documented_files(tmp_path):
    save_scenarios(SCENARIOS, tmp_path)
    run("optcp run lab.toml --out out", tmp_path)
    out = tmp_path / "out"
    about = json.loads((out / "study.json").read_text())
    assert len(about["cells"]) == 4
    found = {path.name for path in out.iterdir()} - set(about["observe"])
    pages = ((SCENARIOS, "## What a run writes"), ("docs/reference/contract.md", "## A study"))
    parts = [text(page).split(head)[1].split("\n## ")[0] for page, head in pages]
    for part in parts:
        assert [name for name in found if f"`{name}" not in part] == []
        scalars = pyarrow.parquet.read_table(out / "scalars").column_names
        assert [name for name in scalars if f"`{name}`" not in part and name not in about["axes"]] == []
    assert [key for key in about if key != "sha256" and f"`{key}`" not in parts[1]] == []
    for part in (SCENARIOS, "docs/reference/contract.md"):
        assert "metrics.md)" in text(part)
    kinds = text(SCENARIOS).split("| kind | content")[1].split("\n\n")[0]
    columns = set(re.findall(r"`([a-z_]+)`", kinds)) | {"cell", "seed", *about["axes"]}
    for name in about["observe"]:
        assert set(pyarrow.parquet.read_table(out / name).column_names) <= columns, name


def commands(page):
    """Return every command line in a fenced block without a language, as written there."""
    for language, block in BLOCK.findall(text(page)):
        for line in [] if language else block.splitlines():
            words = line.split("  #")[0].strip().removeprefix(".venv/bin/")
            if re.match(r"(optcp|make) ", words):
                yield words


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        SCENARIOS,
        "docs/details/gmpls.md",
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
        verb = " ".join(words[1:3]) if words[1] in GROUPS else words[1]
        if verb not in helps:
            helps[verb] = run(f"optcp {verb} --help", tmp_path).stdout
        for option in (word for word in words if word.startswith("--")):
            assert f"{option} " in helps[verb].replace(",", " ").replace("/", " "), command
        if verb == "run":
            run(f"{command} --dry-run", tmp_path)
        # These commands need results of others, take minutes, or write into the home directory.
        elif words[1] not in NOT_RUN:
            run(command, tmp_path)


GROUPS = ("topology",)
"""Commands with commands of their own."""
NOT_RUN = ("reproduce", "sensitivity", "outage", "trace", "compare", "plot", "report", "completion", "topology")


def test_synopsis_lists_every_command_and_option(tmp_path):
    page = text("docs/details/files.md").split("## Synopsis")[1].split("```")[1]
    verbs = re.findall(r"^  ([a-z]+)  ", run("optcp --help", tmp_path).stdout, re.MULTILINE)
    assert sorted(verbs) == sorted(set(re.findall(r"^optcp ([a-z]+)", page, re.MULTILINE)))
    inner = {group: run(f"optcp {group} --help", tmp_path).stdout.partition("Commands:")[2] for group in GROUPS}
    inner = {group: re.findall(r"^  ([a-z]+)  ", shown, re.MULTILINE) for group, shown in inner.items()}
    verbs = [name for verb in verbs for name in ([f"{verb} {one}" for one in inner[verb]] if verb in inner else [verb])]
    for verb in verbs:
        options = set(re.findall(r"--[a-z-]+", run(f"optcp {verb} --help", tmp_path).stdout.split("Options:")[1]))
        mine = page.split(f"optcp {verb}")[1].split("\noptcp")[0]
        assert options - {"--help"} == set(re.findall(r"--[a-z-]+", mine)), verb


def picture_sources():
    """Return the scenarios in the commands of each gallery picture."""
    result, picture = {}, None
    for line in text("docs/details/gallery.md").splitlines():
        if shown := re.match(r"!\[.*\]\(\.\./images/([\w-]+\.\w+)\)$", line):
            picture = shown[1]
        elif command := re.match(r"optcp (?:run|animate|map|playground) ([\w./-]+)", line):
            result.setdefault(picture, set()).add(Path(command[1]).stem)
    return result


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/start.md",
        "docs/index.md",
        *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs" / "howto").glob("*.md")),
    ],
)
def test_a_picture_shows_the_scenario_that_the_page_names_before_it(page):
    sources = picture_sources()
    pictures = [
        item for item in re.finditer(r"!\[[^\]]*\]\([./\w]*images/([\w-]+\.\w+)\)", text(page)) if item[1] in sources
    ]
    for picture in pictures:
        before = text(page)[: picture.start()].rsplit("\n## ", 1)[-1]
        commands = re.findall(r"optcp (?:run|animate|map|playground) ([\w./-]*[a-z][\w./-]*)", before)
        # A page without a command before the picture links to the gallery, which has the commands.
        assert not commands or Path(commands[-1]).stem in sources[picture[1]], picture[1]


def studies_of(page):
    """Return the scenario and settings of the page's commands by directory of `--out`."""
    for command in [words for _, words in every_command(page)]:
        words = shlex.split(command.replace("\\|", "|"))
        if words[1:2] == ["run"] and "--out" in words and len(words) > 2:
            settings = {words[at + 1] for at, word in enumerate(words) if word == "--set"}
            yield words[words.index("--out") + 1], (words[2], frozenset(settings))


def every_command(page):
    """Return every command of a page in order, including those in a line of text: position and words."""
    result = []
    whole = text(page)
    for block in BLOCK.finditer(whole):
        if not block[1]:
            lines = (line.split("  #")[0].strip().removeprefix(".venv/bin/") for line in block[2].splitlines())
            result += [(block.start(), line) for line in lines if line.startswith("optcp ")]
    blank = BLOCK.sub(lambda block: " " * len(block[0]), whole)
    result += [(item.start(), " ".join(item[1].split())) for item in re.finditer(r"`(optcp [^`]+)`", blank)]
    result += [(item.start(), item[1]) for item in re.finditer(r"<!-- (?:output|excerpt): (optcp .+?) -->", whole)]
    return sorted(result, key=lambda item: item[0])


LOOK = "docs/howto/look.md"
HOWTO = sorted({str(page.relative_to(ROOT)) for page in (ROOT / "docs" / "howto").glob("*.md")} - {LOOK})
GUIDES = ["README.md", "docs/start.md", *HOWTO, LOOK, "docs/details/gallery.md"]
"""Pages in reading order; the page on run details uses the results of the other pages."""


def test_commands_put_one_study_into_a_directory():
    there = {}
    for page in GUIDES:
        for out, study in studies_of(page):
            assert there.setdefault(out, study) == study, (page, out)
