"""Packages optcp and optcp-papers: the latter depends on the former, never the reverse."""

import ast
import json
import re
import tomllib
from pathlib import Path

import yaml

from optcp.common.installed import COMMANDS, PAPERS, offered
from optcp.papers import registry

ROOT = Path(__file__).parents[2]
OF_PAPERS = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_both_packages_have_one_version():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    assert OF_PAPERS["version"] == version
    assert OF_PAPERS["dependencies"] == [f"optcp=={version}"]


def recipe(name):
    return yaml.safe_load((ROOT / f"release/conda/{name}/recipe.yaml").read_text(encoding="utf-8"))


def test_recipe_requires_what_the_package_does():
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, made = package["project"], recipe("optcp")
    spaced = [re.sub(r"(?=[<>=])", " ", one, count=1) for one in project["dependencies"]]
    python = f"python {project['requires-python']}"
    assert made["requirements"]["run"] == [python, *spaced]
    assert python in made["requirements"]["host"]
    assert re.sub(r"(?=[<>=])", " ", package["build-system"]["requires"][0], count=1) in made["requirements"]["host"]


def test_recipes_and_metadata_have_the_version_and_texts_of_the_packages():
    version = OF_PAPERS["version"]
    assert {recipe(name)["context"]["version"] for name in ("optcp", "optcp-papers")} == {version}
    assert recipe("optcp-papers")["about"]["summary"] == OF_PAPERS["description"]
    archive = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    for name in ("title", "version", "license", "keywords"):
        assert archive[name] == citation[name], name
    assert archive["creators"] == [{"name": one["name"]} for one in citation["authors"]]


def test_both_packages_contain_the_licence():
    assert (ROOT / "papers/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_paper_for_joss_has_every_section_and_cites_what_it_lists():
    paper = (ROOT / "release/joss/paper.md").read_text(encoding="utf-8")
    body = paper.split("---", 2)[2]
    # https://joss.readthedocs.io/en/latest/paper.html, but for the disclosure of the submitting authors.
    required = {"Summary", "Statement of need", "State of the field", "Software design", "Research impact statement"}
    assert required <= set(re.findall(r"^# (.+)$", body, re.MULTILINE))
    assert 750 <= len(body.split()) <= 1750
    listed = re.findall(r"^@\w+\{(\w+),", (ROOT / "release/joss/paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"@(\w+)", body)) == set(listed)


def test_every_folder_with_claims_is_an_installed_paper():
    folders = {file.parent.name for file in (ROOT / "papers" / "optcp_papers").glob("*/claims.toml")}
    assert set(OF_PAPERS["entry-points"][PAPERS]) == folders == set(offered(PAPERS))
    assert set(OF_PAPERS["entry-points"][COMMANDS]) == set(offered(COMMANDS))


def test_the_core_imports_nothing_of_the_papers():
    for file in (ROOT / "python" / "optcp").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith("optcp_papers")], file


def test_without_papers_commands_say_what_brings_them(optcp, monkeypatch):
    monkeypatch.setattr(registry, "offered", lambda _: {})
    monkeypatch.setattr("optcp.scenarios.shipped.folders", dict)
    monkeypatch.setattr("optcp.cli.main.offered", lambda _: {})
    registry.papers.cache_clear()
    try:
        for words in (["reproduce"], ["reproduce", "gmpls"], ["run", "gmpls-section5"], ["evidence"]):
            status, out, err = optcp(*words)
            assert (status, out) == (2, ""), words
            assert "pip install 'optcp[papers]'" in err, words
        assert optcp("list", "exhibits") == (0, "exhibits:\n", "")
    finally:
        registry.papers.cache_clear()
