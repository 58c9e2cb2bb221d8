"""The scripts of benches/claims state what the documentation states."""

import importlib
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    """Import a script by name."""
    monkeypatch.syspath_prepend(str(ROOT / "benches/claims"))
    return importlib.import_module


def cells(page, first):
    """Return the cells of the row of a table that begins with these words."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| {first}"))
    return [cell.strip() for cell in row.strip("|").split("|")][1:]


def test_speeds_are_those_of_the_readme(script):
    stated = script("speed").STATED
    own = ("OpTCP, NewReno", "OpTCP, Linux 6 with CUBIC", "OpTCP, Linux 6 with BBR")
    for flows, cell in zip((10, 100, 1000), cells("README.md", "OpTCP: NewReno"), strict=True):
        assert [stated[name][flows] for name in own] == [float(value) for value in cell.split("/")]
    for name, row in (("ns-2, NewReno", "ns-2.35"), ("ns-3, NewReno with SACK", "ns-3-dev")):
        assert list(stated[name].values()) == [float(cell) for cell in cells("README.md", row)]


def test_memory_is_that_of_the_page(script):
    text = (ROOT / "docs/developers/performance.md").read_text(encoding="utf-8")
    found = re.search(r"is (\d+) kB per flow with `linux-6` and (\d+) kB with BBR", text)
    assert {"linux-6": int(found[1]), "bbr": int(found[2])} == script("memory").STATED


def test_table_shows_what_was_not_measured(script, capsys):
    claim = script("claim")
    claim.show("Speed", [claim.Claim("ns-2", "5.4", ""), claim.Claim("OpTCP", "83", "80")], "n = 3")
    lines = capsys.readouterr().out.splitlines()
    assert any(re.search(r"ns-2 +. 5\.4 +. not measured", line) for line in lines)
    assert any(re.search(r"OpTCP +. 83 +. 80", line) for line in lines)
    assert lines[-1] == "n = 3"


def test_process_is_measured(script):
    process = script("claim").run(sys.executable, "-c", "print(sum(range(3_000_000)))")
    assert process.output == "4499998500000\n"
    assert 0 < process.cpu_s < process.wall_s + 0.1
    assert process.memory_mb > 1
