"""Damaged or foreign stored results: every place with a different value."""

import copy
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from optcp import export
from optcp.common import stored
from optcp.errors import RunFailed
from optcp.papers.model import Result
from optcp.papers.sensitivity.result import Result as Study
from optcp.report import build
from optcp_papers.evidence import page
from optcp_papers.evidence.base import Result as Evidence

ROOT = Path(__file__).parents[2]
MISSING = object()
OTHERS = (None, "text", 7, 0.5, True, [], [None], {}, {"a": None}, MISSING)


class Shape(TypedDict):
    n: int
    more: NotRequired[list[str]]


@dataclass(frozen=True)
class Inner:
    n: int
    x: float = 0.0


@dataclass(frozen=True)
class Outer:
    rows: list[Inner]
    anything: Any = None
    pair: tuple[float | None, str] | None = None
    words: Literal[True, "some"] = "some"
    named: dict[str, bool] = field(default_factory=dict)
    shape: Shape = field(default_factory=lambda: {"n": 1})
    inner: Inner | None = None


def outer(**values):
    return stored.one(Outer, {"rows": []} | values)


def test_lists_and_objects_are_converted():
    found = outer(rows=[{"n": 1, "x": 2}], pair=[None, "a"], inner={"n": 3}, shape={"n": 4, "other": []}, anything=[1])
    assert found == Outer([Inner(1, 2)], [1], (None, "a"), inner=Inner(3), shape={"n": 4, "other": []})


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"rows": None}, "`rows` is no list"),
        ({"rows": [3]}, r"`rows\[0\]` is no object"),
        ({"rows": [{"n": 1}, {"n": 1.5}]}, r"`rows\[1\]\.n` is no whole number"),
        ({"rows": [{"n": True}]}, r"`rows\[0\]\.n` is no whole number"),
        ({"rows": [{"n": 2**64}]}, r"`rows\[0\]\.n` is too large"),
        ({"rows": [{"n": 1, "x": float("inf")}]}, r"`rows\[0\]\.x` is no number"),
        ({"rows": [{"n": 1, "x": False}]}, r"`rows\[0\]\.x` is no number"),
        ({"rows": [{}]}, r"the key `rows\[0\]\.n` is missing"),
        ({"pair": [1, "a", 2]}, "`pair` is no list of 2"),
        ({"pair": ["a", "a"]}, r"`pair\[0\]` is no number or null"),
        ({"words": 1}, '`words` is none of true, "some"'),
        ({"named": {"a": "yes"}}, r"`named\.a` is no truth value"),
        ({"shape": []}, "`shape` is no object"),
        ({"shape": {}}, r"the key `shape\.n` is missing"),
        ({"shape": {"n": "1"}}, r"`shape\.n` is no whole number"),
        ({"shape": {"n": 1, "more": [1]}}, r"`shape\.more\[0\]` is no text"),
        ({"inner": {"n": None}}, r"`inner\.n` is no whole number"),
        ({"other": 1}, "the key `other` is unknown"),
    ],
)
def test_wrong_type_is_named(values, what):
    with pytest.raises(ValueError, match=f"^{what}$"):
        outer(**values)


def test_deeply_nested_object_has_a_message():
    with pytest.raises(ValueError, match="nested too deeply"):
        stored.table('{"a":' * 100_000)


def places(value, path=()):
    """Return every place in a JSON value, the outermost first."""
    yield path
    for name, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from places(inner, (*path, name))


def damaged(good, others):
    """Return the same JSON object with a different value in one place, for every place and value."""
    for path in places(good):
        for other in others:
            bad = copy.deepcopy(good)
            if not path:
                if other is not MISSING:
                    yield json.dumps(other)
                continue
            place = bad
            for name in path[:-1]:
                place = place[name]
            if other is MISSING:
                del place[path[-1]]
            else:
                place[path[-1]] = other
            yield json.dumps(bad)


def readable(parse, good, others=OTHERS):
    """Return the readable results that are damaged in one place; all others must be refused correctly."""
    refused = []
    for text in damaged(good, others):
        try:
            yield text, parse(text)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > len(others)


RESULT = {
    "exhibit": "gmpls/new",
    "title": "new",
    "source": {"paper": "a paper", "where": "figure 1"},
    "size": {"name": "quick", "seeds": {"a": 2}, "paper_runs": 150},
    "assumed": {"queue": 50},
    "changed": {"queue": 20},
    "rows": [
        {
            "key": {"flows": "5+5"},
            "metric": "loss_pct",
            "paper": 1.5,
            "measured": 1,
            "ci95": [0.5, None],
            "n": 2,
            "verdict": "match",
            "why": "",
        }
    ],
    "claims": [
        {
            "id": "it-holds",
            "text": "it holds",
            "where": "there",
            "holds": True,
            "evidence": "seen",
            "readings": {"a": "undecided"},
        }
    ],
    "notes": ["a note"],
    "provenance": {
        "version": "1",
        "git": "abc",
        "scenario_sha256": "12",
        "seeds": [1, 2],
        "records_sha256": None,
        "metrics_sha256": "34",
        "kept": [{"seed": 1}],
    },
    "series": [
        {
            "name": "curve",
            "key": {"flows": 5},
            "x_label": "time",
            "x_unit": "s",
            "y_label": "load",
            "y_unit": "%",
            "x": [1, 2],
            "y": [3, 4.5],
            "ci95": [[2, 4], [3, 5]],
        }
    ],
}


def test_a_damaged_result_is_refused_or_shown(tmp_path):
    file = tmp_path / "gmpls" / "new.json"
    file.parent.mkdir()
    loaded = 0
    for text, result in readable(Result.from_json, RESULT):
        loaded += 1
        build.render([result])
        file.write_text(stored.with_checksum(json.dumps(json.loads(text), indent=1) + "\n"))
        for form in ("csv", "parquet", "latex"):
            list(export.files(tmp_path, form))
    assert loaded > 0


@pytest.mark.parametrize("name", ["x", "y", "ci95"])
def test_a_curve_of_unequal_lengths_is_named(name):
    bad = copy.deepcopy(RESULT)
    bad["series"][0][name].pop()
    with pytest.raises(ValueError, match=r"`series\[0\]\.x` and `series\[0\]\.(y|ci95)` are not equally long"):
        Result.from_json(json.dumps(bad))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of matplotlib, about empty legends
def test_a_result_without_the_curves_of_its_figure_is_named():
    foreign = Result.from_json(json.dumps(RESULT | {"exhibit": "obs/fig5"}))
    with pytest.raises(RunFailed, match="the result of obs/fig5 lacks data of its figures"):
        build.render([foreign])


def small_study():
    studies = zipfile.ZipFile(ROOT / "docs/details/sensitivity.zip")
    study = json.loads(studies.read("sensitivity/gmpls/table3.json"))
    del study["sha256"]
    name = study["ranking"][0]["parameter"]
    study["space"] = {name: study["space"][name]}
    study["ranking"] = study["ranking"][:1]
    study["effects"] = study["effects"][:1]
    study["responses"] = study["responses"][:1]
    study["responses"][0]["slices"] = {name: study["responses"][0]["slices"][name][:1]}
    study["contrasts"], study["claims"] = study["contrasts"][:1], study["claims"][:1]
    study["settings"] = {name: study["settings"][name][:1]}
    study["values"] = {item: values[:1] for item, values in list(study["values"].items())[:1]}
    study["left_out"] = [{"setting": {name: 1}, "why": "no such world"}]
    found = study["print"]
    found["profile"] = {name: found["profile"][name][:1]}
    found["best"], found["confirmed"] = found["best"][:1], found["confirmed"][:1]
    for entry in (*found["best"], *found["confirmed"]):
        entry["setting"] = {name: entry["setting"][name]}
        entry.pop("values", None)
    return study


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("others", "drawn"), [(OTHERS, False), ((None, 7), True)])
def test_a_damaged_study_is_refused_or_shown(monkeypatch, others, drawn):
    # Pictures take long, so only some are drawn, and none is written.
    monkeypatch.setattr("optcp.plots.sensitivity.render", lambda *_: "<svg></svg>")
    if not drawn:
        monkeypatch.setattr("optcp.plots.sensitivity.figures", lambda _: [])
    for _, study in readable(Study.from_json, small_study(), others):
        build.render([], [study])


@pytest.mark.parametrize("name", ["packetdrill", "loss"])
def test_damaged_evidence_is_refused_or_shown(name):
    good = json.loads((ROOT / "docs/details/evidence" / f"{name}.json").read_text())
    good["rows"] = [next(row for row in good["rows"] if row["outside"] or name == "packetdrill")]
    if "cells" in good["provenance"]:
        good["provenance"]["cells"] = good["provenance"]["cells"][:1]
    else:
        good["provenance"]["failed"] = ["a/b"]
    for _, result in readable(Evidence.from_json, good):
        page.render([result])
