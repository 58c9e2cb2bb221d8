"""CSV files: content that a spreadsheet would execute becomes text, numbers stay numbers."""

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from optcp import Study, load
from optcp.common import spreadsheet
from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.data.compare import compare
from optcp.export import Chosen, comma

FORMULAS = (
    "=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=HYPERLINK(\"x\")", "-", "+", "=",
    "\N{FULLWIDTH EQUALS SIGN}1", "\N{FULLWIDTH PLUS SIGN}1", "\N{FULLWIDTH HYPHEN-MINUS}1", "-5 ms", "- 5", "--5",
)  # fmt: skip
PLAIN = ("", "A->B", "5 ms", "-5", "+5", "-0.5", "-1e-9", "-inf", "nan", "1+1", "a=b", "größe", "'quoted", "x@y")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("text", FORMULAS)
def test_executable_text_gets_leading_apostrophe(text):
    (row,) = csv.reader(io.StringIO(spreadsheet.written([[text, "next"]]), newline=""))
    assert row[0].startswith("'")
    assert row[0][1:] == re.sub("\r\n?", "\n", text)
    assert row[1] == "next"


@pytest.mark.parametrize("text", PLAIN)
def test_other_texts_are_unchanged(text):
    assert list(csv.reader([spreadsheet.written([["first", text]])])) == [["first", text]]


def test_numbers_stay_numbers():
    row = [-1, -0.5, np.float64(-2.5), np.int64(-3), None, True]
    assert spreadsheet.written([row]) == "-1,-0.5,-2.5,-3,,True\n"


def test_a_carriage_return_begins_no_row():
    text = spreadsheet.written([["a\r=1", "b"]])
    assert "\r" not in text
    assert len(list(csv.reader(io.StringIO(text, newline="")))) == 1


def test_comparisons_are_harmless():
    axes = (Axis("=name", ("-2+3", "=1")),)
    text = compare({"@metric": Cells([[1, 2]], axes, (1,))}, at={"=name": "-2+3"}).csv()
    assert text.startswith("metric,'=name,")
    assert text.splitlines()[1].startswith("'@metric,'=1,")


def test_tables_of_a_study_are_harmless(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    over = {"=name": {"=1+1": {"parameters.switch_delay": "0 ms"}, "-5": {"parameters.switch_delay": "50 ms"}}}
    done = Study(load("single-failure"), over, seeds=1).run("study")
    written = {path.name: path.read_text() for path, _ in comma.files(done.store.root, Chosen())}
    rows = list(csv.reader(io.StringIO(written["scalars.csv"])))
    assert rows[0][0] == "'=name"
    assert {row[0] for row in rows[1:]} == {"'=1+1", "-5"}
    assert not written["scalars.csv"].startswith("\N{ZERO WIDTH NO-BREAK SPACE}")


def test_the_page_of_exhibits_writes_csv_in_the_same_way():
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    page = (ROOT / "python/optcp/web/templates/page.js").read_text()
    function = page[page.index("const quoted") : page.index("const csv")]
    texts = [*FORMULAS, *(text for text in PLAIN if text not in ("", "-inf", "nan"))]
    script = f"{function}; console.log(JSON.stringify({json.dumps(texts)}.map(quoted).concat([-5, -0.5].map(quoted))))"
    found = json.loads(subprocess.run([node, "-e", script], capture_output=True, text=True, check=True).stdout)
    assert found == [spreadsheet.written([[text]]).removesuffix("\n") for text in texts] + [
        "-5", "-0.5",
    ]  # fmt: skip
