"""Format of stored studies: keys by the contract, signed columns, axes, rows for all reasons."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from optcp import Study, _core, load
from optcp.common.plurals import count_noun
from optcp.study.form import FORMAT

CONTRACT = (Path(__file__).parents[2] / "docs/reference/contract.md").read_text(encoding="utf-8")
WORLD = """
title = "Two nodes, a link that fails, and all that is observed"
stop = "2 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "1 ms", queue = "20 packets" }]
flows = [
    { group = "long", path = ["A", "B"] },
    { group = "short", path = ["A", "B"], size = "20 kB", start = "0.5 s" },
]
failures = [{ link = ["A", "B"], at = "1 s", repair = "1.2 s" }]
observe = [
    { name = "goodput", kind = "goodput", interval = "100 ms" },
    { name = "queue", kind = "queue", interval = "100 ms" },
    { name = "sojourn", kind = "sojourn", interval = "100 ms" },
    { name = "ports", kind = "ports", interval = "100 ms" },
    { name = "ends", kind = "completions" },
    { name = "out", kind = "outages", after = "1 s" },
    { name = "drops", kind = "drops" },
    { name = "packets", kind = "packets" },
    { name = "tcp", kind = "tcp" },
    { name = "late", kind = "reordering" },
]
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("form")
    (folder / "world.toml").write_text(WORLD)
    over = {"links.0.delay": ["1 ms", "5 ms"], "links.0.queue": ["5 packets", "20 packets"]}
    return Study(load(folder / "world.toml"), over, seeds=1).run(folder / "study")


def listed(file):
    """Return the keys that the page lists for a file, including those of its tables."""
    (row,) = re.findall(rf"^\| `{re.escape(file)}` \|(.*)\|$", CONTRACT, re.MULTILINE)
    return set(re.findall(r"`([a-z0-9_]+)`", row))


def keys(path):
    said = json.loads(path.read_text())
    tables = said["files"].values() if "files" in said else ()
    return set(said) | {key for table in tables for key in table}


@pytest.mark.parametrize(
    ("file", "where"),
    [("study.json", "study.json"), ("cells/CELL.json", "cells/*.json"), ("parts/PART.json", "parts/*.json")],
)
def test_the_page_lists_every_key_of_a_stored_file_and_no_other(done, file, where):
    for path in done.store.root.glob(where):
        assert listed(file) == keys(path)


def test_the_page_names_the_format():
    assert re.findall(r"`format` \((\d+)\)", CONTRACT) == [str(FORMAT)] * 2


def test_integers_are_signed_except_seeds(done):
    run = load("single-failure").run()
    found = {
        (name, column): values.dtype for name in done.tables for column, values in done.table(name).to_numpy().items()
    }
    found |= {("fresh", column): values.dtype for name in run.names for column, values in run[name].to_numpy().items()}
    for (table, column), dtype in found.items():
        assert dtype.kind in "ifbO" or (column == "seed" and dtype == np.uint64), (table, column, dtype)
        if dtype.kind == "i":
            assert dtype == np.int64
    assert ("out", "gap_ps") in found
    out = done.table("out").to_numpy()
    usual_is_longer = out["usual_gap_ps"] - out["gap_ps"]
    assert (usual_is_longer < 0).any()
    assert (np.abs(usual_is_longer) < 2 * 10**12).all()


def test_series_of_a_fresh_run_are_signed_as_well():
    run = load("single-failure").run()
    for name in run:
        for column, values in run[name].to_numpy().items():
            assert values.dtype.kind in "ifbO", (name, column, values.dtype)


def test_arrow_and_parquet_have_the_same_types(done):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("out", "ports", "runs"):
        stream = pyarrow.table(done.table(name)).schema
        file = parquet.read_schema(next((done.store.root / name).glob("*.parquet")))
        for field in file:
            if not pyarrow.types.is_string(field.type):
                assert field.type == stream.field(field.name).type
                assert not pyarrow.types.is_unsigned_integer(field.type) or field.name == "seed"


def test_an_axis_has_one_name_in_tables_and_tidy_columns(done):
    axes = ["delay_s", "queue_packets"]
    for name in done.tables:
        assert list(done.table(name).columns)[:4] == [*axes, "cell", "seed"]
        assert set(done.table(name).columns) - set(axes) <= _core.columns()
    cells = done.metric("goodput_bps")
    assert list(cells.columns()) == ["seed", *axes, "group", "goodput_bps"]
    assert list(cells.mean().columns())[:2] == axes
    assert set(cells.columns()["delay_s"]) == {0.001, 0.005}
    assert "time_s" in done["goodput"].cells().columns()


def test_every_run_has_one_row_per_drop_reason(done):
    scalars = done.table("scalars").where(metric="drops")
    reasons = scalars.distinct("of")
    pages = (Path(__file__).parents[2] / "docs/reference/scenarios").glob("*.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert {"queue-full", "link-down", "ttl-expired"} <= set(reasons)
    assert all(f"`{reason}`" in text for reason in reasons)
    assert len(scalars) == 4 * len(reasons)
    assert scalars.where(of="ttl-expired")["value"].tolist() == [0] * 4
    # The mean over runs in pandas would ignore a missing row.
    for cell, seed in ((branch, 1) for branch in done.grid.branches):
        drops = done.run(cell, seed).drops
        rows = scalars.where(cell=cell.id)
        assert {reason: count for reason, count in zip(rows["of"], rows["value"], strict=True) if count} == drops
    shown = done.metric("drops").axes[-1].values
    assert "ttl-expired" not in shown
    assert set(shown) == {reason for reason in reasons if scalars.where(of=reason)["value"].any()}


@pytest.mark.parametrize(("count", "text"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs")])
def test_counts_agree_with_their_nouns(count, text):
    assert count_noun(count, "run") == text


def test_commands_use_singular_for_one_run(optcp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "world.toml").write_text(WORLD)
    said = [optcp("run", "world.toml", *more) for more in (["--dry-run"], [], [], ["--quiet"], ["--top", "1"])]
    said += [optcp("report", "results/world"), optcp("animate", "results/world"), optcp("validate", "world.toml")]
    for status, out, err in said:
        assert status == 0
        assert not re.search(
            r"(?<![\d.])1 (runs|cells|seeds|nodes|links|flows|workers|blocks|tasks|packets)\b", out + err
        )
    assert "1/1 run, " in said[1][2]
    assert said[1][1].endswith("1 run stored in results/world\n")
