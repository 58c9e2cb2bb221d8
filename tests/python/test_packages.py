"""Packages optcp and optcp-papers: the latter depends on the former, never the reverse."""

import ast
import tomllib
from pathlib import Path

from optcp.common.installed import COMMANDS, PAPERS, offered
from optcp.papers import registry

ROOT = Path(__file__).parents[2]
OF_PAPERS = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_both_packages_have_one_version():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    assert OF_PAPERS["version"] == version
    assert OF_PAPERS["dependencies"] == [f"optcp=={version}"]


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
