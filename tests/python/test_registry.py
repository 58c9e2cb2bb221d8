"""Papers outside of the package: a named folder, an entry point, and invalid papers."""

import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from optcp.common import installed
from optcp.errors import InputError
from optcp.papers import registry
from optcp.papers.printed import statements_of

EXAMPLE = Path(__file__).parents[2] / "docs" / "example-paper"


@pytest.fixture(autouse=True)
def _forgets():
    """Remove everything that a test adds."""
    yield
    registry._added.clear()
    registry.papers.cache_clear()


def test_a_folder_of_papers_is_added():
    registry.add(EXAMPLE)
    assert [item.id for item in registry.select(["ringpaper"])] == ["ringpaper/delay"]
    assert [statement.id for statement in statements_of("ringpaper/delay")] == [
        "fast-is-free",
        "slow-costs",
        "loss-grows",
    ]
    assert list(registry.papers())[-1] == "ringpaper"


def test_a_paper_itself_is_added():
    registry.add(EXAMPLE / "ringpaper")
    assert "ringpaper/delay" in registry.exhibits()


def test_an_entry_point_is_a_paper(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    point = EntryPoint("ringpaper", "ringpaper", installed.PAPERS)
    monkeypatch.setattr(registry, "offered", lambda group: {point.name: point} if group == "optcp.papers" else {})
    registry.papers.cache_clear()
    assert "ringpaper/delay" in registry.exhibits()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("EXHIBITS = ()", "the paper 'mine' has no EXHIBITS"),
        ("from ringpaper import EXHIBITS", "an exhibit 'ringpaper/delay'; expected mine/"),
    ],
)
def test_invalid_paper_has_a_message(tmp_path, monkeypatch, text, message):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text(text)
    with pytest.raises(InputError, match=message):
        registry.add(tmp_path)


def test_folder_without_paper_has_a_message(tmp_path):
    with pytest.raises(InputError, match="no paper here"):
        registry.add(tmp_path)


def test_incomplete_claim_has_a_message(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from types import SimpleNamespace\nEXHIBITS = (SimpleNamespace(id='mine/one'),)\n"
    )
    (folder / "claims.toml").write_text('claim = [{ id = "a", exhibit = "mine/one" }]')
    registry.add(tmp_path)
    with pytest.raises(InputError, match=r"claims\.toml: a claim without where, text, how"):
        statements_of("mine/one")


def test_the_example_of_the_docs_is_short_and_runs(command, tmp_path):
    files = [path for path in (EXAMPLE / "ringpaper").iterdir() if path.is_file()]
    assert sum(len(path.read_text().splitlines()) for path in files) < 60
    command("reproduce", "--papers", EXAMPLE, "ringpaper", "--quick", "--out", "out")
    result = json.loads((tmp_path / "out" / "ringpaper" / "delay.json").read_text())
    assert [claim["id"] for claim in result["claims"]] == ["fast-is-free", "slow-costs", "loss-grows"]
    assert len(result["rows"]) == 8
    page = (tmp_path / "out" / "report" / "index.html").read_text()
    assert "ringpaper/delay" in page
    assert "<svg" in page
