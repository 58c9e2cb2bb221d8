"""Behaviour without matplotlib: commands that draw name the required extra, all others work."""

import subprocess
import sys

import pytest

WITHOUT = "import sys; sys.modules['matplotlib'] = None; from optcp.cli.main import main; sys.exit(main())"
MISSING = "matplotlib is not installed: pip install 'optcp[plot]'"


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")

    def run(*arguments):
        command = [sys.executable, "-c", WITHOUT, *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    done = run("run", "single-failure", "--runs", "2", "--out", "first")
    assert done.returncode == 0, done.stderr
    return run, folder


@pytest.mark.parametrize("verb", [["trace", "first"], ["plot", "first", "--y", "goodput_bps"]])
def test_a_verb_that_draws_names_the_extra(bare, verb):
    run, _ = bare
    done = run(*verb)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Error: {MISSING}\n")


def test_a_method_that_draws_names_the_extra(bare):
    _, folder = bare
    code = f"""
import sys
sys.modules["matplotlib"] = None
import optcp
from optcp.data.axes import Axis
world = optcp.load("single-failure")
estimates = optcp.Cells([[1, 2], [3, 4]], (Axis("x", ("1", "2")),), (1, 2)).mean()
for draw in (lambda: world.run(1).plot("tcp"), lambda: estimates.plot(x="x")):
    try:
        draw()
    except optcp.InputError as error:
        assert str(error) == {MISSING!r}, error
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


@pytest.mark.parametrize(("verb", "begins"), [("map", "<svg"), ("animate", "<!doctype html>")])
def test_pictures_that_are_made_of_text_need_no_extra(bare, verb, begins):
    run, folder = bare
    done = run(verb, "single-failure", "--out", f"{verb}.out")
    assert done.returncode == 0, done.stderr
    assert (folder / f"{verb}.out").read_text(encoding="utf-8").startswith(begins)


@pytest.mark.parametrize(
    ("verb", "page"),
    [
        (["report", "first"], "first/report/index.html"),
        (["reproduce", "gmpls/fig4", "--quick", "--out", "results"], "results/report/index.html"),
    ],
)
def test_a_report_without_figures_says_so(bare, verb, page):
    run, folder = bare
    done = run(*verb)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, f"the report has no figures: {MISSING}")
    assert "This page has no figures: matplotlib is not installed" in (folder / page).read_text(encoding="utf-8")
