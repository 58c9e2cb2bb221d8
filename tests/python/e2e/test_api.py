"""Public module with the compiled simulator, each test in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
DOCTESTS = (
    "",
    ".scenarios.live",
    ".scenarios.run",
    ".scenarios.scenario",
    ".data.table",
    ".data.axes",
    ".data.cells",
    ".data.samples",
    ".data.compare",
    ".data.labelled",
    ".study.study",
    ".study.done",
)


def python(script: str, cwd: Path | None = None) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("module", DOCTESTS)
def test_docstring_examples_give_shown_output(module):
    script = f"import doctest, importlib; print(doctest.testmod(importlib.import_module('optcp{module}')))"
    assert re.search(r"failed=0, attempted=[1-9]", python(script))


@pytest.mark.parametrize("page", ["reference/api.md", "details/live-runs.md", "details/gym.md"])
def test_page_gives_shown_output(page, tmp_path):
    # Other blocks are the output of commands: test_docs_commands.py.
    text = re.sub(r"<!-- output: .*?```text\n.*?```", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    blocks, shown = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("python", "text"))
    assert python("\n".join(blocks), tmp_path) == "".join(shown)


def test_heavy_modules_are_imported_lazily():
    script = "import sys, optcp; print(sorted({'numpy', 'scipy', 'matplotlib', 'optcp._core'} & set(sys.modules)))"
    assert python(script) == "[]\n"


def test_every_public_name_exists():
    assert python("import optcp; print([name for name in dir(optcp) if getattr(optcp, name) is None])") == "[]\n"


def test_a_scenario_of_tables_is_that_of_the_text():
    script = """
import tomllib, optcp
text = optcp.load("germany50").to_toml()
print(optcp.Scenario.from_dict(tomllib.loads(text)).sha256 == optcp.Scenario.parse(text).sha256)
"""
    assert python(script) == "True\n"


def test_an_observation_goes_through_arrow_as_it_is():
    script = """
import optcp, pyarrow
run = optcp.load("single-failure").run(seed=3)
for name in run:
    table, arrow = run[name], pyarrow.table(run[name])
    assert arrow.column_names == list(table.columns) and arrow.num_rows == len(table)
    for column in table.columns:
        assert arrow[column].to_pylist() == table[column].tolist(), (name, column)
print(len(run))
"""
    assert python(script) == "6\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("optcp.load('sngle-failure')", "no file or shipped scenario named"),
        ("world.set('parameters.rat', '1 Mbps')", "[parameters] has no `rat`"),
        ("world.set('stop', None)", "None is not a value of a scenario"),
        ("world.run(seed=-1)", "seed -1: the smallest seed is 0"),
        ("world.run(seed=2**64)", "the largest seed is"),
        ("world.run(engine='quick')", "unknown engine 'quick'"),
        ("world.run()['goodpt']", "the run has no observation 'goodpt'; did you mean 'goodput'?"),
        ("world.run()['goodput']['byts']", "the table has no column 'byts'; did you mean 'bytes'?"),
        ("optcp.Scenario.parse('stop = 3')", "scenario.toml"),
    ],
)
def test_a_mistake_is_named(call, message):
    script = f"""
import optcp
world = optcp.load("single-failure")
try:
    {call}
except (optcp.InputError, optcp.ScenarioError) as error:
    print(error)
"""
    assert message in python(script)
