"""Results of experiments in other formats; e2e/test_export.py tests studies."""

import json

import pytest

from optcp import export
from optcp.common import stored
from optcp.export.latex import latex
from optcp.papers.model import Result, Row


def test_latex_tables_have_every_row(results_directory):
    written = [path for path, _ in export.files(results_directory, "latex")]
    table = results_directory / "gmpls" / "table3.tex"
    assert table in written
    text = table.read_text()
    rows = json.loads((results_directory / "gmpls" / "table3.json").read_text())["rows"]
    assert text.count(r" \\" + "\n") == len(rows) + 1
    assert r"rel\_goodput\_pct" in text
    assert r"95 \% interval" in text
    for path in written:
        path.unlink()


def test_latex_tables_stay_valid_for_any_text():
    row = Row({"of": "[100 % < 5]\n\n|a|"}, "x_pct", None, 1.0, (None, None), 1, "claim-only")
    result = Result(
        "gmpls/new", "one\n\\input{x} 50 %", {}, {"name": "n", "seeds": {}, "paper_runs": None}, {}, {},
        [row], [], [], {"version": "1\n2", "git": "g", "seeds": None, "metrics_sha256": "0"}, [],
    )  # fmt: skip
    lines = latex(result).splitlines()
    assert lines[1].startswith("% one \\input{x} 50 %; ")
    assert lines[1].endswith("; optcp 1 2")
    assert lines[2].startswith("\\begin{tabular}")
    assert lines[6].startswith(r"{}[100 \% \textless{} 5] \textbar{}a\textbar{} & x\_pct & ")
    assert len(lines) == 9


@pytest.mark.parametrize("inside", ["gmpls/table3", "../../outside", "/outside", "das/fig1"])
def test_exports_are_named_after_input_file(results_directory, tmp_path, inside):
    folder = tmp_path / "in" / "results" / "gmpls"
    folder.mkdir(parents=True)
    text = (results_directory / "gmpls" / "table3.json").read_text()
    (folder / "table3.json").write_text(text)
    whole = stored.load(folder / "table3.json", json.loads)
    (folder / "table3-variant.json").write_text(
        stored.with_checksum(json.dumps(whole | {"exhibit": inside}, indent=1) + "\n")
    )
    for form, ending in (("csv", "csv"), ("parquet", "parquet"), ("latex", "tex")):
        written = [path for path, _ in export.files(folder.parent, form)]
        assert {folder / f"{stem}.{ending}" for stem in ("table3", "table3-variant")} <= set(written)
        assert all(path.parent == folder and path.is_file() for path in written)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
