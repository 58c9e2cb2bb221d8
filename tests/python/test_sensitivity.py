"""Most influential unstated parameter: known functions, the design, published values, and the command."""

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import command_in
from handmade import of_goodput
from optcp import _core
from optcp.common import stored
from optcp.errors import InputError, RunFailed
from optcp.papers import verdict
from optcp.papers.model import Row
from optcp.papers.plausible import PARTS, Choices, Span
from optcp.papers.registry import select
from optcp.papers.sensitivity import compatible, indices
from optcp.papers.sensitivity.answer import SettingResult
from optcp.papers.sensitivity.contrast import pooled
from optcp.papers.sensitivity.design import design, places
from optcp.papers.sensitivity.indices import effects
from optcp.papers.sensitivity.result import Result
from optcp.papers.sensitivity.slices import slices
from optcp.papers.sensitivity.space import space
from optcp.papers.sensitivity.survival import survival
from optcp.stats import Interval
from optcp_papers import gmpls
from optcp_papers.gmpls import section6
from optcp_papers.gmpls.section5 import SETUP
from optcp_papers.gmpls.table3 import TABLE3

# Functions whose effects are known


def ishigami(u):
    """Return the function of T. Ishigami and T. Homma (1990) with a = 7 and b = 0.1, on the unit cube."""
    x = math.pi * (2 * u - 1)
    return np.sin(x[..., 0]) + 7 * np.sin(x[..., 1]) ** 2 + 0.1 * x[..., 2] ** 4 * np.sin(x[..., 0])


def ishigami_known():
    a, b = 7, 0.1
    first = 0.5 * (1 + b * math.pi**4 / 5) ** 2
    second = a**2 / 8
    both = b**2 * math.pi**8 * (1 / 18 - 1 / 50)
    variance = first + second + both
    return [first / variance, second / variance, 0], [(first + both) / variance, second / variance, both / variance]


COEFFICIENTS = np.array([0, 1, 4.5, 9])


def sobol_g(u):
    """Return I. M. Sobol's product of (|4 u - 2| + a) / (1 + a)."""
    return np.prod((np.abs(4 * u - 2) + COEFFICIENTS) / (1 + COEFFICIENTS), axis=-1)


def sobol_g_known():
    alone = 1 / (3 * (1 + COEFFICIENTS) ** 2)
    variance = np.prod(1 + alone) - 1
    total = [item * np.prod(1 + np.delete(alone, index)) / variance for index, item in enumerate(alone)]
    return list(alone / variance), total


@pytest.mark.parametrize(
    ("function", "known"), [(ishigami, ishigami_known()), (sobol_g, sobol_g_known())], ids=["ishigami", "sobol-g"]
)
@pytest.mark.parametrize("samples", [256, 1024])
def test_known_effects_lie_in_intervals(function, known, samples):
    u = places(len(known[0]), samples)
    y = function(u)
    found = effects(y[0][None], y[1][None], y[2:, None])
    for parameter, wanted in enumerate(zip(*known, strict=True)):
        for interval, value in zip(found.interval(0, parameter), wanted, strict=True):
            assert interval.low <= value <= interval.high
            assert interval.high - interval.low < 0.45 * math.sqrt(256 / samples)


def test_effects_of_several_responses_match_each_response():
    u = places(3, 64)
    one, other = ishigami(u), u[..., 1]
    both = np.stack([one, other])
    found = effects(both[:, 0], both[:, 1], np.moveaxis(both[:, 2:], 0, 1))
    alone = effects(one[0][None], one[1][None], one[2:, None])
    for one, other in zip(found.interval(0, 0), alone.interval(0, 0), strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
    assert found.main[1, [0, 2]] == pytest.approx([0, 0], abs=1e-12)
    assert found.total[1] == pytest.approx([0, 1, 0], abs=0.1)
    average = found.over([0, 1], 1)[1].estimate
    assert average == pytest.approx((found.total[0, 1] + found.total[1, 1]) / 2)


# Ranges, spaces, designs


def test_range_values_match_hand_calculation():
    assert [Span(0, 10).at(share) for share in (0, 0.5, 1)] == [0, 5, 10]
    assert [Span(1, 100, log=True).at(share) for share in (0, 0.5, 1)] == [1, 10, 100]
    assert [Span(1, 3, whole=True).at(share) for share in (0, 0.34, 0.99, 1)] == [1, 2, 3, 3]
    assert Span(1, 2, log=True).at(0.5) == 1.41
    assert [Choices(("a", "b", "c")).at(share) for share in (0, 0.34, 0.67, 1)] == ["a", "b", "c", "c"]
    assert Span(1, 10_000, log=True).parts() == ["1 to 10", "10 to 100", "100 to 1000", "1000 to 10000"]
    assert [Span(1, 10_000, log=True).part(value) for value in (1, 9.9, 10, 5000, 10_000)] == [0, 0, 1, 3, 3]
    assert Choices((10, 100)).part(100) == 1


@given(st.floats(0, 1), st.booleans(), st.booleans())
def test_value_lies_in_its_range_and_stratum(share, log, whole):
    span = Span(15, 200, log, whole)
    value = span.at(share)
    assert 15 <= value <= 200
    # Rounding can move a value over one edge at most.
    assert abs(span.part(value) - min(PARTS - 1, int(share * PARTS))) <= 1


@pytest.mark.parametrize("make", [lambda: Span(2, 1), lambda: Span(0, 1, log=True), lambda: Choices((1, 1))])
def test_invalid_ranges_are_refused(make):
    with pytest.raises(ValueError, match=r"range|choices"):
        make()


def test_parameter_space_is_declared_or_from_command():
    table3 = select(["gmpls/table3"])[0]
    declared = space(table3, {}, {})
    assert declared.names == [
        *("backbone_bps", "access_share", "queue_packets", "packet_bytes", "window_packets"),
        *("tick_ms", "min_rto_ms", "partial_ack", "start_spread_ms", "flows"),
    ]
    assert space(table3, {}, {"flows": "10+10"}).names == [name for name in declared.names if name != "flows"]
    own = space(table3, {"queue_packets": "20..80 log", "tick_ms": "", "profile": "rfc|ns2-2001"}, {})
    assert [str(item.range) for item in own] == ["20..80 log", "rfc|ns2-2001", "10|100|500"]
    assert own.at([0.5, 0.9, 0.1]) == {"queue_packets": 40, "profile": "ns2-2001", "tick_ms": 10}


@pytest.mark.parametrize(
    ("over", "settings", "message"),
    [
        ({"queue_packet": "1..2"}, {}, "did you mean 'queue_packets'"),
        ({"queue_packets": "80..20"}, {}, "from a lower to a higher"),
        ({"queue_packets": "1.5..20"}, {}, "positive whole number"),
        ({"queue_packets": "20"}, {}, "at least two"),
        ({"link_delay_ms": ""}, {}, "declares no range"),
        ({"queue_packets": ""}, {"queue_packets": "5"}, "both fixed by --set and varied"),
        ({}, {"queue_packet": "5"}, "did you mean 'queue_packets'"),
    ],
)
def test_invalid_spaces_are_refused(over, settings, message):
    with pytest.raises(InputError, match=message):
        space(select(["gmpls/table3"])[0], over, settings)


def test_experiment_without_ranges_has_a_message():
    without = tuple(item for item in SETUP.assumed if item.plausible is None)
    exhibit = replace(TABLE3, setup=replace(SETUP, assumed=without))
    with pytest.raises(InputError, match="declares no plausible ranges"):
        space(exhibit, {}, {})


def test_the_design_exchanges_one_parameter_at_a_time():
    u = places(3, 8)
    assert u.shape == (5, 8, 3)
    for parameter in range(3):
        same = [index for index in range(3) if index != parameter]
        assert (u[2 + parameter][:, same] == u[0][:, same]).all()
        assert (u[2 + parameter][:, parameter] == u[1][:, parameter]).all()
    # A Sobol sequence puts one of eight points into each eighth of every axis.
    assert all(sorted((8 * u[row, :, axis]).astype(int)) == list(range(8)) for row in (0, 1) for axis in range(3))
    assert (places(3, 8) == u).all()


def test_equal_design_points_share_a_setting():
    found = design(space(select(["gmpls/table3"])[0], {"partial_ack": "reset|keep", "tick_ms": "10|100"}, {}), 8)
    assert len(found.settings) == 4
    assert (found.a.shape, found.b.shape, found.ab.shape) == ((8,), (8,), (2, 8))


def test_a_parameter_that_a_small_sample_never_exchanges_is_named():
    over = {"partial_ack": "reset|keep", "tick_ms": "10|100"}
    # In both samples the sequence's four points have the same half of the second axis.
    u = places(2, 4)
    assert ((u[3, :, 1] < 0.5) == (u[0, :, 1] < 0.5)).all()
    narrow = space(select(["gmpls/table3"])[0], over, {})
    assert design(narrow, 4).idle == (narrow.names[1],)
    assert design(narrow, 8).idle == ()


def test_too_small_sample_has_a_message(optcp):
    words = ("sensitivity", "gmpls/table3", "--over", "flows=10+10|20+20", "--over", "backbone_bps=5e6|1e7")
    status, _, err = optcp(*words, "--samples", "2", *SMALL[2:])
    assert status == 0
    assert "warning: --samples 2 are too few to vary " in err


@pytest.mark.parametrize("samples", [1, 3, 48])
def test_samples_are_a_power_of_two(samples):
    with pytest.raises(InputError, match="power of two"):
        places(2, samples)


# Published values, slices, conclusions


def row(measured, half_width, paper, n=150, metric="rel_goodput_pct"):
    return Row({"delta_ms": 50}, metric, paper, measured, (measured - half_width, measured + half_width), n, "near")


def test_distance_to_published_values_matches_hand_calculation():
    # Standard error 1 from 150 runs, as many as behind the published value: together the square root of 2.
    assert compatible.distance(row(13.0, 1.959964, 9.85), 0.005, 150) == pytest.approx(3.145 / math.sqrt(2))
    # With a tenth of the runs, the published value's own error is the square root of a tenth of ours.
    assert compatible.distance(row(13.0, 1.959964, 9.85, 15), 0.005, 150) == pytest.approx(3.145 / math.sqrt(1.1))
    assert compatible.distance(row(9.854, 0.0, 9.85), 0.005, 150) == 0
    assert compatible.distance(row(9.86, 0.0, 9.85), 0.005, 150) == math.inf


def test_bound_and_rounding():
    assert compatible.bound(1) == pytest.approx(1.959964)
    assert compatible.bound(10) == pytest.approx(2.7996, abs=1e-3)  # 0.95 ** 0.1 = 0.994884, two-sided
    assert compatible.rounding([9.85, 5, 4.4]) == pytest.approx(0.005)
    assert compatible.rounding([20, 30]) == 0.5
    assert compatible.rounding([48.6681323576, 21.5]) == pytest.approx(5e-7)


def test_rows_without_simulated_value_are_not_compared():
    answers = [SettingResult({"a": row(1, 0, 0), "b": row(item, 2, 2.5), "c": row(1, 1, None)}, {}) for item in (1, 2)]
    roundings = compatible.compared(answers)
    assert list(roundings) == ["b"]
    fit = compatible.fit(answers[0], roundings, 150)
    assert (fit.worst, fit.values, fit.within, fit.compatible) == ("b", 1, 1, True)
    assert not compatible.fit(SettingResult({"b": row(7, 1, 2.5)}, {}), roundings, 150).compatible


def test_profile_and_slices_by_hand():
    over = space(select(["gmpls/table3"])[0], {"tick_ms": "10|100"}, {})
    settings = [{"tick_ms": 10.0}, {"tick_ms": 100.0}]
    fits = {0: compatible.Fit(1.0, "a", 1, 1), 1: compatible.Fit(3.0, "a", 0, 1)}
    uniform = np.array([0, 0, 1])
    first, second = compatible.profile(over, settings, fits, uniform)["tick_ms"]
    assert (first.misfit, first.share.estimate, first.share.n) == (1.0, 1.0, 2)
    assert (second.misfit, second.share.estimate, second.settings) == (3.0, 0.0, 1)
    parts = slices(over, settings, uniform, np.array([5.0, 7.0]))["tick_ms"]
    assert [(name, mean.estimate) for name, mean in parts] == [("10.0", 5.0), ("100.0", 7.0)]
    empty = slices(over, settings, np.array([0]), np.array([5.0, 7.0]))["tick_ms"]
    assert empty[1] == ("100.0", None)
    alone = compatible.profile(over, settings, fits, np.array([0]))["tick_ms"][1].share
    assert math.isnan(alone.estimate)
    assert (alone.low, alone.high) == (0, 1)


@pytest.mark.parametrize(
    ("judged", "word"),
    [
        ([True, True], "everywhere"),
        ([True, "undecided"], "nowhere refuted"),
        ([False, "undecided"], "nowhere shown"),
        ([False], "nowhere"),
        ([True, False], "in places"),
        (["undecided"], "undecided"),
    ],
)
def test_survival(judged, word):
    assert survival("text", judged).word == word


def test_pooled_conclusion_matches_hand_calculation():
    # Significantly above, significantly below, two that are neither; the means 3, -1, 1 and 0 have mean 0.75.
    found = pooled([Interval(3, 1, 5, 9), Interval(-1, -2, -0.5, 9), Interval(1, -1, 3, 9), Interval(0, 0, 0, 9)])
    assert (found.above, found.below, found.undecided) == (1, 1, 2)
    assert found.mean.estimate == 0.75
    # Their standard deviation is the square root of (2.25^2 + 1.75^2 + 0.25^2 + 0.75^2) / 3, t(3) at 97.5 % 3.1824.
    assert found.mean.high - 0.75 == pytest.approx(3.1824 * math.sqrt(8.75 / 3 / 4), abs=1e-3)
    assert found.positive.estimate == 2.5 / 4


def test_conclusions_of_the_three_exhibits_by_hand():
    # Two seeds; f at 0, 50, 250, 500 and 1000 ms.
    ratio = np.array([[1, 1.5, 1.25, 1.5, 0.75], [1, 1.25, 1.25, 0.75, 0.5]])
    done = of_goodput({"delta_ms": (0, 50, 250, 500, 1000)}, 1000 * ratio)
    slides, table3, table5 = select(["slides/best-delay", "gmpls/table3", "gmpls/table5"])
    found = slides.contrasts(defaults(slides), {"10+10": done})
    assert {name: list(values) for name, values in found.items()} == {
        "gain at 50 ms (%)": [50, 25],
        "gain at 250 ms (%)": [25, 25],
        "gain at 500 ms (%)": [50, -25],
        "gain at 1000 ms (%)": [-25, -50],
        "gain, 50 ms minus 250 ms (points)": [25, 0],
        "gain, 250 ms minus 500 ms (points)": [-25, 50],
        "gain, 500 ms minus 1000 ms (points)": [75, 25],
    }
    more = table3.contrasts(defaults(table3), {"20+20": done})
    # A tie shares its run equally.
    assert {name: list(values) for name, values in more.items() if name not in found} == {
        "runs worse than 0 ms, 250 ms minus 50 ms (points)": [0, 0],
        "runs worse than 0 ms, 500 ms minus 250 ms (points)": [0, 100],
        "runs worse than 0 ms, 1000 ms minus 500 ms (points)": [100, 0],
        "runs in which 50 ms is best, above half (points)": [0, 0],
    }
    assert set(found) < set(more)
    # f at d = 1, 2, 10, 20, 50, 100 ms; the loss is the same at every delta but at 100 ms.
    over_d = np.ones((2, 6, 5)) * np.array([1, 1, 0.75, 0.5, 0.25, 0.25])[None, :, None]
    over_d[:, 5, -1] = 0
    axes = {"d_ms": section6.D_MS, "delta_ms": section6.DELTA_MS}
    found = table5.contrasts(defaults(table5), {section6.GRID: of_goodput(axes, 1000 * over_d.reshape(2, -1))})
    assert len(found) == 4 * 3
    assert list(found["loss at d = 10 ms, delta = 5 ms (%)"]) == [25, 25]
    assert [list(values) for name, values in found.items() if "minus" in name] == [[0, 0]] * 3 + [[25, 25]]


def defaults(exhibit):
    return {parameter.name: parameter.default for parameter in exhibit.assumed}


# The command

WORDS = ("sensitivity", "gmpls/table3", "--set", "flows=10+10", "--over", "queue_packets", "--over", "backbone_bps")
SMALL = ("--samples", "4", "--seeds", "3", "--out", "out", "--jobs", "2")
FILE = Path("out/sensitivity/gmpls/table3.json")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Return the directory and output of the command."""
    place = tmp_path_factory.mktemp("sensitivity")
    return place, command_in(place, *WORDS, *SMALL).stdout


@pytest.fixture
def stored_runs(ran, optcp):
    """Return the command with all of its runs stored."""
    shutil.copytree(ran[0] / "out", "out")
    return optcp


@pytest.fixture
def table3(monkeypatch):
    """Replace Table 3 of the paper."""

    def change(**values):
        changed = replace(TABLE3, **values)
        listed = tuple(changed if exhibit.id == TABLE3.id else exhibit for exhibit in gmpls.EXHIBITS)
        monkeypatch.setattr(gmpls, "EXHIBITS", listed)

    return change


def test_the_verb_prints_writes_and_continues(ran, stored_runs, calls):
    _, out = ran
    assert "…" not in out
    assert "most influential parameters" in out
    assert "240 of 240 runs simulated" in out
    text = FILE.read_text()
    found = json.loads(text)
    assert found["design"] == {"samples": 4, "points": 16, "settings": 16, "seeds": 3, "runs": 16 * 3 * 5}
    assert {item["parameter"] for item in found["ranking"]} == {"queue_packets", "backbone_bps"}
    assert found["fixed"] == {"flows": "10+10"}
    assert found["print"]["values"] == 13
    assert all(item["above"] + item["below"] <= 8 for item in found["responses"])
    # Shares of runs are never below zero.
    assert all(
        item["below"] == 0 for item in found["responses"] if item["name"].endswith(("worse_than_zero_pct", "best_pct"))
    )
    assert all(item["holds"] + item["fails"] + item["undecided"] == 8 for item in found["claims"])
    # A gain is a response and a conclusion.
    gain = next(item["mean"] for item in found["responses"] if item["name"].endswith("delta_ms=50 rel_goodput_pct"))
    assert found["contrasts"][0]["name"] == "gain at 50 ms (%)"
    assert found["contrasts"][0]["mean"][0] == pytest.approx(gain, abs=1e-3)
    assert all(item["above"] + item["below"] + item["undecided"] == 8 for item in found["contrasts"])
    assert {path.name for path in FILE.parent.iterdir()} == {
        *("table3.json", "table3-effects.svg", "table3-conclusions.svg", "table3-compatible.svg"),
        *(f"table3-slices-{metric}.svg" for metric in ("rel_goodput_pct", "worse_than_zero_pct", "best_pct")),
    }
    status, out, _ = stored_runs(*WORDS, *SMALL)
    assert status == 0
    assert "0 of 240 runs simulated" in out
    assert calls == []
    assert FILE.read_text() == text


def test_too_few_samples_give_no_effects(stored_runs):
    code, out, _ = stored_runs(*WORDS, *SMALL)
    assert code == 0
    assert "4 samples are too few for effects: use --samples 32 or more" in out
    effects_ = json.loads(FILE.read_text())["effects"]
    assert {tuple(item[kind]) for item in effects_ for kind in ("main", "total")} == {(None, None, None)}


def test_effects_and_their_intervals_lie_between_0_and_1():
    # By chance the estimator gives shares outside of these bounds.
    u = places(3, 32)
    y = ishigami(u)
    found = effects(y[0][None], y[1][None], y[2:, None])
    assert found.main.min() < 0 or found.total.max() > 1 or found.main_samples.min() < 0
    for parameter in range(3):
        for item in found.interval(0, parameter):
            assert 0 <= item.low <= item.estimate <= item.high <= 1


def test_irrelevant_parameter_has_no_effect(stored_runs, table3, monkeypatch):
    monkeypatch.setattr(indices, "FEWEST", 4)

    def find(found):
        gain = math.log(found.number("backbone_bps"))
        values = [
            verdict.row({"delta_ms": 50}, "rel_goodput_pct", 9.85, Interval(gain, gain - 1, gain + 1, 3), "made up")
        ]
        return replace(TABLE3.find(found), rows=values)

    table3(find=find)
    assert stored_runs(*WORDS, *SMALL)[0] == 0
    found = json.loads(FILE.read_text())
    assert found["ranking"][0]["parameter"] == "backbone_bps"
    (queue,) = (item for item in found["effects"] if item["parameter"] == "queue_packets")
    (backbone,) = (item for item in found["effects"] if item["parameter"] == "backbone_bps")
    # Four samples are too few for an interval.
    assert (queue["total"], queue["main"]) == ([0, None, None], [0, None, None])
    assert backbone["total"][0] > 0


@pytest.mark.parametrize("nothing_fits", [False, True])
def test_settings_are_run_again_on_seeds_of_their_own(stored_runs, calls, monkeypatch, table3, nothing_fits):
    table3(setup=replace(SETUP, runs=16))
    if nothing_fits:
        monkeypatch.setattr(compatible, "bound", lambda values, level=0.95: -1.0)
    assert stored_runs(*WORDS, *SMALL)[0] == 0
    first = json.loads(FILE.read_text())
    assert calls == []
    status, out, _ = stored_runs(*WORDS, *SMALL, "--confirm")
    assert status == 0
    assert "of them re-run with more seeds" in out
    found = json.loads(FILE.read_text())
    again = found["print"]["confirmed"]
    assert len(again) == (first["print"]["compatible"] or 5)
    assert [item["setting"] for item in again[:5]] == [item["setting"] for item in found["print"]["best"][: len(again)]]
    # An eighth, a quarter, a half and all of 16 cases, after the three of the design.
    assert {item["seeds"] for item in again} <= {2, 4, 8, 16}
    assert sorted(seed for seed, _ in calls) == sorted(seed for item in again for seed in range(4, 4 + item["seeds"]))
    assert found["design"]["runs"] == first["design"]["runs"] + 5 * sum(item["seeds"] for item in again)
    assert {value["n"] for item in again for value in item["values"].values()} == {item["seeds"] for item in again}
    assert all(item["seeds"] == 16 for item in again if item["compatible"])
    if nothing_fits:
        assert {item["seeds"] for item in again} == {2}


def test_extensions_have_no_published_agreement(stored_runs, table3):
    table3(setup=replace(SETUP, runs=None))
    status, out, _ = stored_runs(*WORDS, *SMALL, "--confirm")
    assert status == 0
    assert "most influential parameters" in out
    assert "settings that match the published values" not in out


def test_a_result_is_read_back(ran):
    file = ran[0] / FILE
    assert stored.with_checksum(stored.load(file, Result.from_json).to_json()) == file.read_text()
    with pytest.raises(ValueError, match="the key `exhibit` is missing"):
        Result.from_json("{}")


def test_the_report_shows_a_study(stored_runs, table3):
    table3(setup=replace(SETUP, runs=16))
    assert stored_runs(*WORDS, *SMALL, "--confirm")[0] == 0
    status, out, _ = stored_runs("report", "out")
    assert (status, out) == (0, "report: out/report/index.html\n")
    page = Path("out/report/index.html").read_text()
    found = json.loads(FILE.read_text())
    # The first figure, and the folded ones.
    assert page.count("<figure>") + page.count("data-html>") == 6
    assert f"all {found['print']['values']} published values" in page
    digest, statement = found["provenance"]["metrics_sha256"], found["claims"][0]["text"]
    for words in ("flows = 10+10", "significantly above", statement, digest):
        assert words in page
    for item in found["contrasts"]:
        assert item["name"] in page
    ids = set(re.findall(r'\bid="([^"]+)"', page))
    assert set(re.findall(r"url\(#([^)]+)\)", page)) | set(re.findall(r'href="#([^"]+)"', page)) <= ids


def test_rows_keep_their_name_where_the_flows_vary(optcp):
    words = ("sensitivity", "gmpls/table3", "--over", "flows=10+10|20+20", "--over", "backbone_bps=5e6|1e7")
    assert optcp(*words, "--samples", "2", *SMALL[2:])[0] == 0
    assert "delta_ms=50 rel_goodput_pct" in json.loads(FILE.read_text())["values"]


def test_failing_setting_is_named_and_replaced_by_next_sample(stored_runs, table3):
    seen = []

    def refuse(found):
        seen.append(found.chosen["queue_packets"])
        if len(seen) == 1:
            raise RunFailed("no goodput at all")
        return TABLE3.find(found)

    table3(find=refuse)
    status, out, _ = stored_runs(*WORDS, *SMALL)
    assert status == 0
    assert "not evaluated: " in out
    found = json.loads(FILE.read_text())
    assert [item["why"] for item in found["left_out"]] == ["no goodput at all"]
    assert found["left_out"][0]["setting"]["queue_packets"] == seen[0]
    assert all(column[0] is None for column in found["values"].values())


def test_invalid_scenario_is_named_with_varied_parameters(optcp, table3, calls):
    def refuse(chosen, options):
        if chosen["queue_packets"] > 30:
            raise _core.ScenarioError("the queue is too long")
        return SETUP.grids(chosen, options)

    table3(setup=replace(SETUP, grids=refuse))
    words = ("sensitivity", "gmpls/table3", "--set", "flows=10+10", "--over", "queue_packets=20|40")
    status, _, err = optcp(*words, *SMALL)
    assert status == 2
    assert "Error: --set flows=10+10 with queue_packets = 40: invalid scenario\nthe queue is too long" in err
    assert calls == []


def test_command_fails_if_no_setting_can_be_evaluated(stored_runs, table3):
    def refuse(found):
        raise RunFailed("no goodput at all")

    table3(find=refuse)
    status, _, err = stored_runs(*WORDS, *SMALL)
    assert status == 1
    assert "narrow the ranges" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gmpls"], "gmpls is a paper; name one of its experiments: gmpls/aqm, gmpls/every-scheme, gmpls/fig4"),
        (["gmpls/table33"], "did you mean 'gmpls/table3'"),
        (["gmpls/table3", "--over", "queue_packets=200..15"], "from a lower to a higher"),
        (["gmpls/table3", "--samples", "6"], "power of two"),
        (["gmpls/table3", "--seeds", "1"], "expected 2 or more"),
        (["gmpls/table3", "--over", "queue_packet=1..2"], "did you mean 'queue_packets'"),
    ],
)
def test_bad_input_is_status_2(optcp, arguments, message, calls):
    status, out, err = optcp("sensitivity", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert calls == []
    assert not Path("results").exists()
