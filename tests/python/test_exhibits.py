"""Experiments end to end: JSON form, tables, baseline, registry."""

import hashlib
import json

import numpy as np
import pytest

from conftest import MADE
from handmade import of_goodput
from optcp import _core
from optcp.common import stored
from optcp.common.terminal import rate_text
from optcp.errors import InputError
from optcp.papers import assume, baseline, histogram
from optcp.papers.model import Result, finite
from optcp.papers.options import Options, Size
from optcp.papers.registry import exhibits, select
from optcp.papers.reproduce import Request, reproduce
from optcp.papers.show import show_result
from optcp_papers import gmpls
from optcp_papers.gmpls import section5
from optcp_papers.gmpls.fig8 import FIG8

IDS = [*MADE]
ALL = list(baseline.stored())
"""Every experiment in the committed baselines, which are sorted by name."""


@pytest.fixture
def results(results_directory):
    return {id_: stored.load(results_directory / f"{id_}.json", Result.from_json) for id_ in IDS}


def test_the_form_of_the_contract(results_directory):
    for id_ in IDS:
        result = json.loads((results_directory / f"{id_}.json").read_text())
        assert result["exhibit"] == id_
        assert set(result["source"]) == {"paper", "where"}
        assert result["assumed"] == {
            "backbone_bps": 10_000_000,
            "access_share": 0.9,
            "queue_packets": 50,
            "link_delay_ms": 1.0,
            "packet_bytes": 1000,
            "window_packets": 30,
            "profile": "ns2-2001",
            "flows": "100+100, 10+10",
            "tick_ms": "profile",
            "min_rto_ms": "profile",
            "partial_ack": "profile",
            "start_spread_ms": 500,
        }
        for row in result["rows"]:
            assert {"key", "metric", "paper", "measured", "ci95", "n", "verdict"} <= set(row)
            assert len(row["ci95"]) == 2
            assert row["n"] == 4
        for claim in result["claims"]:
            assert {"text", "where", "holds", "evidence"} <= set(claim)
            assert claim["holds"] in (True, False, "undecided")
        provenance = result["provenance"]
        assert (provenance["version"], provenance["git"]) == tuple(_core.version().split("+", 1))
        assert provenance["seeds"] == [1, 4]
        assert provenance["records_sha256"] is None
        assert len(provenance["scenario_sha256"]) == len(provenance["metrics_sha256"]) == 64
        assert len(provenance["cells"]) == 10


def test_table3_has_every_row(results):
    rows = results["gmpls/table3"].rows
    keys = [(row.key["flows"], row.key["delta_ms"], row.metric) for row in rows]
    metrics = ("rel_goodput_pct", "worse_than_zero_pct", "best_pct")
    assert keys == [(f, d, m) for f in ("100+100", "10+10") for d in (0, 50, 250, 500, 1000) for m in metrics]
    by_key = dict(zip(keys, rows, strict=True))
    assert by_key["10+10", 50, "rel_goodput_pct"].paper == 9.85
    assert by_key["10+10", 50, "worse_than_zero_pct"].paper == 24.0
    assert by_key["10+10", 1000, "best_pct"].paper == 0.67
    zero = by_key["100+100", 0, "rel_goodput_pct"]
    assert (zero.measured, zero.ci95, zero.verdict) == (0.0, (0.0, 0.0), "match")
    for flows in ("100+100", "10+10"):
        assert sum(by_key[flows, d, "best_pct"].measured for d in (0, 50, 250, 500, 1000)) == pytest.approx(100)
    for row in rows:
        assert (row.verdict == "differs") == bool(row.why)


def test_table3_worse_is_strict_and_ties_share():
    chosen = {parameter.name: parameter.default for parameter in section5.ASSUMED}
    (exhibit,) = select(["gmpls/table3"])
    done = {"10+10": of_goodput({"delta_ms": section5.DELTA_MS}, np.full((3, 5), 1000))}
    values = {(row.key["delta_ms"], row.metric): row.measured for row in exhibit.evaluate(chosen, done).rows}
    assert values[50, "worse_than_zero_pct"] == 0
    assert values[50, "best_pct"] == 20
    assert values[0, "best_pct"] == 20


def test_fig7_series(results):
    series = results["gmpls/fig7"].series
    assert len(series) == 2 * 5 * 3 * 2
    first = series[0]
    assert (first.x[0], first.x[-1], len(first.x)) == (4.51, 10.0, 550)
    assert len(first.ci95) == len(first.y) == 550
    assert series[1].name == "example run, seed 1"
    switched, fixed, total = (series[i] for i in (1, 3, 5))
    assert [curve.key["class"] for curve in (switched, fixed, total)] == ["switched", "fixed", "total"]
    assert total.y == pytest.approx([a + b for a, b in zip(switched.y, fixed.y, strict=True)], abs=0.011)


def test_histogram_by_hand():
    edges, shares = histogram.histogram(np.array([94.9, 95.0, 99.99, 100.0, 112.0]), 5)
    assert edges.tolist() == [90, 95, 100, 105, 110]
    assert shares.tolist() == [20, 40, 20, 0, 20]


def test_the_same_study_gives_the_same_bytes(results_directory, tmp_path, silent, calls):
    reproduce(Request(select(["gmpls/fig8"]), Size("seeds=4", 4)), tmp_path, 1, silent)
    assert len(calls) == 8
    again = (tmp_path / "gmpls" / "fig8.json").read_bytes()
    assert again == (results_directory / "gmpls" / "fig8.json").read_bytes()


def test_the_three_exhibits_share_their_runs(tmp_path, silent, calls):
    reproduce(Request(select(IDS), Size("seeds=2", 2), first_seed=5), tmp_path, 2, silent)
    assert sorted(seed for seed, _ in calls) == [5, 5, 6, 6]
    assert silent.started == [(20, 0)]


def test_digests_are_computed_on_request(tmp_path, silent):
    request = Request(select(["gmpls/fig8"]), Size("seeds=2", 2), options=Options(digest=True))
    (forked,) = reproduce(request, tmp_path / "a", 2, silent)
    unforked_request = Request(request.exhibits, request.size, options=Options(digest=True, fork=False))
    (unforked,) = reproduce(unforked_request, tmp_path / "b", 1, silent)
    assert len(forked.provenance["records_sha256"]) == 64
    assert forked == unforked


def test_digests_are_hashed_by_cell_then_seed(tmp_path, silent):
    (exhibit,) = select(["gmpls/fig8"])
    request = Request([exhibit], Size("seeds=2", 2), settings={"flows": "10+10"})
    (result,) = reproduce(request, tmp_path, 2, silent)
    chosen = assume.values(exhibit.assumed, request.settings)
    branches = exhibit.studies(chosen, Options())["10+10"].branches
    digests = [branch.scenario.run(seed).metrics_sha256 for branch in branches for seed in (1, 2)]
    expected = hashlib.sha256(b"".join(map(bytes.fromhex, digests))).hexdigest()
    assert result.provenance["metrics_sha256"] == expected
    scenarios = [bytes.fromhex(branch.scenario.sha256) for branch in branches]
    assert result.provenance["scenario_sha256"] == hashlib.sha256(b"".join(scenarios)).hexdigest()


def test_one_seed_decides_nothing_and_still_works(tmp_path, silent):
    results = reproduce(Request(select(IDS), Size("seeds=1", 1)), tmp_path, 1, silent)
    text = (tmp_path / "gmpls" / "fig8.json").read_text()
    assert "Infinity" not in text
    assert "NaN" not in text
    assert results[1].rows[0].ci95 == (None, None)


def test_sizes():
    assert section5.SETUP.seeds("100+100", Size("default")) == section5.SETUP.seeds("10+10", Size("default")) == 150
    assert section5.SETUP.seeds("100+100", Size("quick")) == 20
    assert section5.SETUP.seeds("10+10", Size("quick")) == 40
    assert section5.SETUP.seeds("50+50", Size("quick")) == 20
    assert section5.SETUP.seeds("10+10", Size("seeds=600", 600)) == 600


def test_settings_reach_the_scenario(tmp_path, silent):
    request = Request(select(["gmpls/fig8"]), Size("seeds=1", 1), settings={"backbone_bps": "2e7", "flows": "20+20"})
    (result,) = reproduce(request, tmp_path, 1, silent)
    assert result.assumed["backbone_bps"] == 20_000_000
    assert result.changed == {"backbone_bps": 10_000_000, "flows": "100+100, 10+10"}
    assert [cell["study"] for cell in result.provenance["cells"]] == ["20+20"] * 5


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (assume.positive_int, "50", 50),
        (assume.positive_int, "2e7", 20_000_000),
        (assume.not_negative, "0", 0.0),
        (assume.positive, "0.5", 0.5),
        (assume.share, "1", 1.0),
    ],
)
def test_reading_settings(read, text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (assume.positive_int, "0"),
        (assume.positive_int, "1.5"),
        (assume.positive_int, "nan"),
        (assume.positive, "0"),
        (assume.positive, "inf"),
        (assume.not_negative, "-1"),
        (assume.share, "1.1"),
        (assume.share, "0"),
        (assume.share, "10 ms"),
    ],
)
def test_invalid_settings_are_refused(read, text):
    with pytest.raises(ValueError, match="expected"):
        read(text)


def test_selecting():
    assert sorted(item.id for item in select([])) == sorted(ALL)
    first, *others = (item.id for item in select(["gmpls/table3", "gmpls"]))
    assert first == "gmpls/table3"
    assert sorted(others) == [id_ for id_ in sorted(ALL) if id_.startswith("gmpls") and id_ != "gmpls/table3"]
    with pytest.raises(InputError, match="did you mean 'gmpls/fig7'"):
        select(["gmpls/fig77"])


def test_experiments_with_equal_names_are_refused(monkeypatch):
    monkeypatch.setattr(gmpls, "EXHIBITS", (*gmpls.EXHIBITS, FIG8))
    with pytest.raises(InputError, match="two exhibits are named 'gmpls/fig8'"):
        exhibits()


def test_results_read_back(results, results_directory):
    for id_, result in results.items():
        assert stored.with_checksum(result.to_json()) == (results_directory / f"{id_}.json").read_text()
    for text in ("[]", "{}", '{"rows": 1}', "not JSON"):
        with pytest.raises(ValueError, match=r".+"):
            Result.from_json(text)


def test_numbers_of_results():
    assert finite(1.23456) == 1.2346
    assert str(finite(-0.00001)) == "0.0"
    assert finite(float("inf")) is None


def test_tables(results, text_console, snapshot):
    for result in results.values():
        show_result(text_console, result)
    text = text_console.file.getvalue()
    assert max(len(line) for line in text.splitlines()) <= 100
    assert text == snapshot


@pytest.mark.parametrize(
    ("bps", "text"),
    [(999.4, "999 bps"), (1e3, "1.000 kbps"), (7.63e6, "7.630 Mbps"), (1e10, "10.000 Gbps"), (float("inf"), "-")],
)
def test_rates(bps, text):
    assert rate_text(bps) == text


def test_baseline_changes(results, tmp_path, monkeypatch):
    file = tmp_path / "baseline.csv"
    monkeypatch.setattr(baseline, "place", lambda _: file)
    assert baseline.read(file) == {}
    result = results["gmpls/table3"]
    baseline.renew([result])
    known = baseline.read(file)
    assert baseline.changes(known, result) == []
    assert baseline.missing(known, IDS, "seeds=4") == IDS[:2]
    assert baseline.missing(known, IDS, "quick") == IDS
    verdicts = known["gmpls/table3"]["seeds=4"]
    claim, row = (baseline.CLAIM, result.claims[0].id), (baseline.VALUE, result.rows[3].name)
    right = verdicts[claim]
    verdicts[claim] = "true" if right == "undecided" else "undecided"
    del verdicts[row]
    verdicts[baseline.VALUE, "gone"] = "match"
    verdicts[baseline.UNPUBLISHED, ""] = "70"
    digest = verdicts[baseline.DIGEST, ""]
    assert digest == result.provenance["metrics_sha256"]
    verdicts[baseline.DIGEST, ""] = "00"
    assert baseline.changes(known, result) == [
        f"gmpls/table3, {claim[1]}: {verdicts[claim]} in the baseline, now {right}",
        f"gmpls/table3, metrics_sha256: 00 in the baseline, now {digest}",
        "gmpls/table3, unpublished values: 70 in the baseline, now 0",
        "gmpls/table3, gone: match in the baseline, now absent",
        f"gmpls/table3, {row[1]}: absent in the baseline, now {result.rows[3].verdict}",
    ]
    del verdicts[baseline.DIGEST, ""]
    assert not [line for line in baseline.changes(known, result) if "metrics_sha256" in line], (
        "not stored, not compared"
    )
    before = file.read_text()
    baseline.renew([result])
    assert file.read_text() == before
