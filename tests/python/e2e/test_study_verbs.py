"""What is made of finished studies: comparisons, figures and reports."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import stats

AXIS = "switch_delay=0 ms"


def python(*arguments: str, cwd: Path | None = None, status: int = 0) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def optcp(*arguments: str, status: int = 0) -> str:
    return python("-m", "optcp", *arguments, status=status)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    directory = tmp_path_factory.mktemp("study") / "out"
    script = """
import sys, optcp
done = optcp.Study("single-failure", {"parameters.switch_delay": ["0 ms", "50 ms", "1 s"]}, seeds=5).run(sys.argv[1])
print(done.compare(at={"switch_delay": "0 ms"}).csv(), end="")
"""
    return directory, python("-c", script, str(directory))


def test_a_comparison_is_that_of_a_paired_t_test(study):
    directory, _ = study
    script = """
import json, sys, optcp
cells = optcp.StudyResult.open(sys.argv[1]).metric("goodput_bps").at(group="protected")
print(json.dumps(cells.values.tolist()))
"""
    values = np.array(json.loads(python("-c", script, str(directory))))
    printed = optcp("compare", str(directory), "--at", AXIS, "--metric", "goodput_bps", "--format", "csv")
    rows = [row for row in csv.DictReader(io.StringIO(printed)) if row["group"] == "protected"]
    assert [row["switch_delay"] for row in rows] == ["50 ms", "1 s"]
    for row, place in zip(rows, (1, 2), strict=True):
        test = stats.ttest_rel(values[:, place], values[:, 0])
        interval = test.confidence_interval(0.95)
        gap = values[:, place].mean() - values[:, 0].mean()
        # All five seeds differ in one direction, so the sign-flip test has p = 2 / 2^5.
        p = max(test.pvalue, 2 / 2**5)
        expected = [values[:, place].mean(), values[:, 0].mean(), gap, interval.low, interval.high, p]
        names = ("value", "reference", "difference", "low", "high", "p")
        assert [float(row[name]) for name in names] == pytest.approx(expected)
        assert (row["n"], float(row["relative_pct"])) == ("5", pytest.approx(100 * gap / values[:, 0].mean()))


def test_the_command_and_the_module_say_the_same(study):
    directory, table = study
    assert optcp("compare", str(directory), "--at", AXIS, "--format", "csv") == table


def test_a_long_table_is_folded(study):
    script = """
import sys, optcp
from optcp.data.compare import Comparison
from optcp.cli.options import console
from optcp.study.compared import show_comparison
found = optcp.StudyResult.open(sys.argv[1]).compare(at={"switch_delay": "0 ms"})
show_comparison(console(), Comparison(found.rows * 2, found.at), 60)
print(2 * len(found.rows))
"""
    *table, more, rows = python("-c", script, str(study[0])).splitlines()
    assert len(table) == 2 + 60
    assert more == f"{int(rows) - 60} more rows: use --all, or --metric METRIC for one metric"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["compare", "--at", "switch_dely=0 ms"],
            "the study does not sweep this parameter; did you mean 'switch_delay'?",
        ),
        (["compare", "--at", "switch_delay=5 ms"], "has no value '5 ms'; did you mean '0 ms'?"),
        (["compare", "--at", "switch_delay"], "--at switch_delay: expected NAME=VALUE"),
        (
            ["compare", "--at", AXIS, "--metric", "goodput_bp"],
            "unknown metric; did you mean 'goodput_bps'?",
        ),
        (["plot", "--y", "goodput_bps", "--x", "delay"], "--x delay: the study does not sweep this parameter"),
        (["plot", "--y", "goodput_bps", "--of", "protectd"], "did you mean 'protected'?"),
        (["plot", "--y", "drop_share", "--of", "cross"], "--of cross: drop_share has one value per run"),
        (["plot", "--y", "drop_share", "--out", "a.gif"], "a.gif: expected a file that ends in .svg, .pdf, .png"),
    ],
)
def test_a_mistake_is_named(study, arguments, message):
    assert message in optcp(arguments[0], str(study[0]), *arguments[1:], status=2)


@pytest.mark.parametrize(("columns", "width_in"), [("1", 3.5), ("2", 7.16)])
def test_a_figure_has_the_width_of_columns_in_every_form(study, tmp_path, columns, width_in):
    common = ["plot", str(study[0]), "--y", "goodput_bps", "--minus", AXIS, "--columns", columns, "--out"]
    files = {form: tmp_path / f"a.{form}" for form in ("svg", "pdf", "png")}
    for file in files.values():
        assert optcp(*common, str(file)) == f"{file}\n"
    svg = files["svg"].read_text(encoding="utf-8")
    assert float(re.search(r'width="([\d.]+)pt"', svg)[1]) == pytest.approx(72 * width_in)
    assert "protected" in svg
    assert "[Mbit/s]" in svg
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", files["pdf"].read_bytes())
    assert float(box[1]) == pytest.approx(72 * width_in)
    with Image.open(files["png"]) as picture:
        assert picture.width == pytest.approx(150 * width_in, abs=1)


def test_a_report_has_what_says_where_it_comes_from_and_needs_no_network(study):
    directory, _ = study
    page = Path(optcp("report", str(directory)).removeprefix("report: ").strip()).read_text(encoding="utf-8")
    for part in (
        "map of the network",
        "switch_delay = 0 ms, paired by seed",
        "metrics_sha256",
        "optcp run",
        "goodput_bps",
    ):
        assert part in page
    assert not re.search(r"<script[^>]* src|<link|<img|@import", page)
    assert set(re.findall(r'(?:href|src)="([^#"][^"]*)"', page)) == set()
