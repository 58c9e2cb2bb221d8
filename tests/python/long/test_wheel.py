"""Wheels in clean environments outside the checkout: optcp alone, with its papers, and with oldest and newest packages.

`make test-wheel` runs this; it builds the wheels, and packages come from the registry.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from optcp.web.playground import simulator

ROOT = Path(__file__).parents[3]
TUTORIAL = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
INSTALLING = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKED = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE))
EXTRAS = ("plot", "frames", "tle", "gym")
"""Extras tested with the oldest packages; with the newest, `notebook` includes the first two."""
TESTED = (
    "test_stats",
    "test_cells",
    "test_lean",
    "test_map",
    "test_tables",
    "test_report",
    "test_tles",
    "test_foreign",
    "test_gym",
)
"""Tests of tests/python that together use every library of the ranges."""
MISSING = "Error: matplotlib is not installed: pip install 'optcp[plot]'\n"


class Environment:
    """Virtual environment with an empty folder for commands."""

    def __init__(self, folder):
        self.folder = folder / "work"
        self.folder.mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        self.bin = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")

    def install(self, *what):
        # Source packages would need a compiler, so refuse them.
        self("python", "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary", ":all:", *what)

    def __call__(self, program, *arguments, status=0):
        command = [self.bin / program, *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout[-3000:] + done.stderr[-3000:]
        return done


def oldest():
    """Return the lower bound of every range."""
    ranges = [*PROJECT["dependencies"], *(item for extra in EXTRAS for item in PROJECT["optional-dependencies"][extra])]
    return [re.sub(r">=([^,]+).*", r"==\1", item) for item in ranges]


@pytest.fixture(scope="module")
def wheel():
    (file,) = (ROOT / "target" / "dist").glob("optcp-*.whl")
    return file


@pytest.fixture(scope="module")
def papers_wheel():
    (file,) = (ROOT / "target" / "dist").glob("optcp_papers-*.whl")
    return file


def test_the_wheel_of_the_core_has_no_paper(wheel, papers_wheel):
    with zipfile.ZipFile(wheel) as core, zipfile.ZipFile(papers_wheel) as papers:
        assert not [name for name in core.namelist() if name.startswith("optcp_papers")]
        modules = {name for name in papers.namelist() if name.endswith(".py")}
    checkout = {str(file.relative_to(ROOT / "papers")) for file in (ROOT / "papers" / "optcp_papers").rglob("*.py")}
    assert modules == checkout


def test_the_page_of_installing_says_how_large_the_wheel_is(wheel):
    """The tolerance is a tenth, because compilers differ."""
    size = re.search(r"^\| wheel of `optcp`,.* unpacked \| ([\d.]+); ([\d.]+) \|$", INSTALLING, re.MULTILINE)
    with zipfile.ZipFile(wheel) as archive:
        files = [item for item in archive.infolist() if not item.filename.endswith(".wasm.gz")]
    found = [sum(getattr(file, what) for file in files) / 1e6 for what in ("compress_size", "file_size")]
    assert found == pytest.approx([float(size[1]), float(size[2])], rel=0.1)


def installed_environment(folder, wheel, *, extras=(), versions=()):
    result = Environment(folder)
    result.install(f"{wheel}[{','.join(extras)}]" if extras else wheel, *versions)
    (result.folder / "ring.toml").write_text(
        re.search(r"<!-- complete: ring.toml -->\n```toml\n(.*?)```", TUTORIAL, re.DOTALL)[1], encoding="utf-8"
    )
    return result


@pytest.fixture(scope="module")
def folder():
    # Use a temporary directory of its own, because each environment takes 0.5 GB and pytest keeps some.
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture(scope="module")
def alone(folder, wheel):
    return installed_environment(folder / "alone", wheel)


@pytest.fixture(scope="module", params=["oldest", "newest"])
def ranged(request, folder, wheel, papers_wheel):
    extras, versions = (EXTRAS, oldest()) if request.param == "oldest" else (("notebook", *EXTRAS[2:]), ())
    place = "--find-links", papers_wheel.parent
    return installed_environment(
        folder / request.param, wheel, extras=(*extras, "papers"), versions=(*versions, *place)
    ), request.param


def shows_the_ring(environment):
    command = "optcp run ring.toml --runs 10 --out ring"
    printed = re.search(rf"<!-- output: {re.escape(command)} -->\n```text\n(.*?)```", TUTORIAL, re.DOTALL)[1]
    assert environment(*command.split()).stdout == printed


def test_the_wheel_alone_runs_the_readme(alone):
    shows_the_ring(alone)


def test_wheel_without_papers_names_their_package(alone):
    for command in (["reproduce", "gmpls/table3"], ["evidence"], ["run", "gmpls-section5"]):
        assert "pip install 'optcp[papers]'" in alone("optcp", *command, status=2).stderr


@pytest.fixture(scope="module")
def with_papers(folder, wheel, papers_wheel):
    # The registry may lack the packages, so pip also searches the wheel's directory.
    return installed_environment(
        folder / "papers", wheel, extras=["papers"], versions=["--find-links", papers_wheel.parent]
    )


def test_the_papers_reproduce_a_table_with_the_verdicts_of_the_baseline(with_papers):
    done = with_papers("optcp", "reproduce", "gmpls/table3", "--quick", "--check")
    assert "the report has no figures: matplotlib is not installed" in done.stderr
    assert (with_papers.folder / "results" / "gmpls" / "table3.json").is_file()


def test_wheel_without_extras_names_extra_for_figures(alone):
    alone("optcp", "run", "single-failure", "--out", "first")
    assert alone("optcp", "trace", "first", status=2).stderr == MISSING


def test_the_wheels_have_every_scenario_and_exhibit(with_papers):
    for family in ("scenarios", "exhibits"):
        command = [sys.executable, "-m", "optcp", "list", family]
        here = subprocess.run(command, capture_output=True, text=True, check=True)
        assert with_papers("optcp", "list", family).stdout == here.stdout


def test_the_wheel_alone_has_the_playground_that_the_checkout_has(alone):
    done = alone("optcp", "playground", "germany50", status=0 if simulator() else 2)
    assert (alone.folder / "playground.html").is_file() == (simulator() is not None), done.stderr


def test_oldest_and_newest_dependencies_give_readme_numbers(ranged):
    environment, _ = ranged
    shows_the_ring(environment)


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("optcp trace ring --cell 'switch_delay=50 ms' --seed 1 --out goodput.png", "goodput.png"),
        ("optcp plot ring --y goodput_bps", "ring/plots/goodput_bps-switch_delay.svg"),
        ("optcp report ring", "ring/report/index.html"),
        ("optcp map local-or-ti-lfa --out map.svg", "map.svg"),
        ("optcp animate ring.toml --out ring.html", "ring.html"),
        ("optcp sensitivity gmpls/table3 --samples 2 --seeds 2 --out space", "space/sensitivity/gmpls/table3.json"),
    ],
)
def test_oldest_and_newest_dependencies_draw_and_write(ranged, command, made):
    environment, _ = ranged
    environment(*shlex.split(command))
    assert (environment.folder / made).stat().st_size > 0


def test_the_notebook_runs(ranged):
    environment, which = ranged
    if which == "oldest":
        pytest.skip("JupyterLab is of no range that a result depends on")
    # A notebook writes its results next to itself.
    place = environment.folder / "notebook"
    place.mkdir()
    shutil.copy(ROOT / "docs" / "tutorials" / "ring.ipynb", place)
    environment("jupyter", "nbconvert", "--to", "notebook", "--execute", "--inplace", place / "ring.ipynb")
    cells = json.loads((place / "ring.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert {"execute_result", "stream"} & {output["output_type"] for output in outputs}


def test_oldest_and_newest_dependencies_pass_tests(ranged):
    environment, which = ranged
    environment.install(*(f"{name}=={LOCKED[name]}" for name in ("hypothesis", "pyarrow", "pytest", "syrupy")))
    # Warnings of an old library about a newer Python are not our bugs.
    warnings = ("-W", "default") if which == "oldest" else ()
    files = [ROOT / "tests" / "python" / f"{name}.py" for name in TESTED]
    options = ["--quiet", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", f"--rootdir={ROOT}", *warnings]
    environment("python", "-m", "pytest", *options, *files)
