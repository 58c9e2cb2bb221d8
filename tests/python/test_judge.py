import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optcp.papers import judge
from optcp.papers.judge import Part
from optcp.papers.printed import Statement

STATEMENT = Statement(id="so", exhibit="x/y", where="section 1", text="it is so", how="PAIRED")


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([Part("a", True, 0.001)], True),
        ([Part("a", False, 0.001)], False),
        ([Part("a", True, 0.2)], "undecided"),
        ([Part("a", True), Part("b", True)], True),
        ([Part("a", True), Part("b", False)], False),
        ([Part("a", "undecided"), Part("b", False)], False),  # false has priority over undecided
        ([Part("a", "undecided"), Part("b", True)], "undecided"),
        # Holm: a single p of 0.03 decides; with another test the smaller of two must be below 0.025.
        ([Part("a", True, 0.03)], True),
        ([Part("a", True, 0.03), Part("b", True, 0.04)], "undecided"),
        ([Part("a", True, 0.02), Part("b", True, 0.04)], True),
        # An exact part is not a test and uses no share of the 5 %.
        ([Part("a", True, 0.03), Part("b", True)], True),
        ([Part("a", False, 0.2, default=True)], True),
        ([Part("a", False, 0.001, default=True)], False),
    ],
)
def test_combining_parts(parts, expected):
    assert judge.combine(parts)[0] == expected


def test_evidence_lists_each_part():
    holds, evidence = judge.combine([Part("a: 1", True, 0.001), Part("b: 2", False, 0.9)])
    assert holds == "undecided"
    assert evidence == "a: 1 -> true; b: 2 -> undecided"


def test_paired_sides():
    low, high = [1.0, 1.1, 0.9, 1.0, 1.1, 0.9], [3.0, 3.2, 2.9, 3.1, 3.0, 3.1]
    assert judge.combine([judge.paired_part("x", high, low, "above", "%")])[0] is True
    assert judge.combine([judge.paired_part("x", low, high, "above", "%")])[0] is False
    assert judge.combine([judge.paired_part("x", low, high, "below", "%")])[0] is True
    assert judge.combine([judge.paired_part("x", low, low, "below", "%")])[0] == "undecided"


def test_trend_fails_only_on_significant_reverse_step():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.1, (5, 40))
    rising = [level + noise[i] for i, level in enumerate((1.0, 2.0, 2.0, 3.0))]
    steps = ["a", "b", "c", "d"]
    assert judge.combine(judge.trend_parts("x", steps, rising, "up", "s"))[0] is True
    assert judge.combine(judge.trend_parts("x", steps, rising, "down", "s"))[0] is False
    dent = [level + noise[i] for i, level in enumerate((1.0, 2.0, 1.5, 3.0))]
    assert judge.combine(judge.trend_parts("x", steps, dent, "up", "s"))[0] is False
    flat = [1.0 + noise[i] for i in range(4)]
    assert judge.combine(judge.trend_parts("x", steps, flat, "up", "s"))[0] == "undecided"


def test_share_above_a_half():
    assert judge.combine([judge.share_part("x", 90, 150, 0.5)])[0] is True
    assert judge.combine([judge.share_part("x", 60, 150, 0.5)])[0] is False
    assert judge.combine([judge.share_part("x", 80, 150, 0.5)])[0] == "undecided"
    assert judge.combine([judge.share_part("x", 75, 150, 0.5)])[0] == "undecided"


def test_a_printed_share_agrees_only_with_enough_runs():
    assert judge.combine([judge.printed_share_part("x", 36, 150, 24.0, 150)])[0] is True
    assert judge.combine([judge.printed_share_part("x", 90, 150, 24.0, 150)])[0] is False
    assert judge.combine([judge.printed_share_part("x", 5, 20, 24.0, 150)])[0] == "undecided"
    assert judge.combine([judge.printed_share_part("x", 18, 20, 24.0, 150)])[0] is False


def test_bootstrap_part():
    samples = np.full(1000, 1.2)
    assert judge.combine([judge.bootstrap_part("x", samples, 1.2, 9, 0.8, "s")])[0] is True
    assert judge.combine([judge.bootstrap_part("x", samples, 1.2, 9, 1.3, "s")])[0] is False
    mixed = np.array([0.5] * 500 + [1.2] * 500)
    assert judge.combine([judge.bootstrap_part("x", mixed, 1.2, 9, 0.8, "s")])[0] == "undecided"


def test_equivalence_part():
    assert judge.combine([judge.equivalence_part("x", [0.1, -0.1, 0.0, 0.1, -0.1, 0.0], 1.0, "points")])[0] is True
    assert judge.combine([judge.equivalence_part("x", [5.1, 4.9, 5.0, 5.1, 4.9, 5.0], 1.0, "points")])[0] is False
    few = [judge.paired_part("x", [3.0, 3.0], [1.0, 1.0], "above", "%")]
    assert judge.combine(few)[0] == "undecided", "two equal differences are no proof"


def test_readings_that_disagree_leave_a_claim_undecided():
    yes, no = [Part("a", True)], [Part("a", False)]
    assert judge.claim(STATEMENT, {"one": yes, "two": yes}).holds is True
    assert judge.claim(STATEMENT, {"one": no, "two": no}).holds is False
    split = judge.claim(STATEMENT, {"one": yes, "two": no})
    assert split.holds == "undecided"
    assert split.readings == {"one": True, "two": False}
    assert split.evidence == "[one: true] a -> true\n[two: false] a -> false"


@pytest.mark.parametrize(
    ("whole", "some", "expected"),
    [
        (Part("a", True), [], True),
        (Part("a", False), [], False),
        (Part("a", True), [Part("b", True)], True),
        # Simulated interpretations disagree, or do not decide on their own.
        (Part("a", True), [Part("b", False)], "undecided"),
        (Part("a", False), [Part("b", False)], False),
        (Part("a", True), [Part("b", True, 0.9)], "undecided"),
    ],
)
def test_interpretation_without_runs_does_not_block_claim(whole, some, expected):
    lacking = [Part("18 of 30 cells have not been run", "undecided", not_run=True), *some]
    found = judge.claim(STATEMENT, {"one": [whole], "two": lacking})
    assert found.holds == expected
    assert set(found.readings) == {"one", "two"}
    left_out = found.readings["two"] == "undecided" != found.holds
    assert ("does not count" in found.evidence) == left_out


def test_claim_stays_undecided_without_complete_interpretation():
    lacking = [Part("18 of 30 cells have not been run", "undecided", not_run=True), Part("a", True)]
    found = judge.claim(STATEMENT, {"one": lacking, "two": lacking})
    assert (found.holds, found.readings) == ("undecided", {"one": "undecided", "two": "undecided"})
    assert judge.claim(STATEMENT, {"one": [*lacking, Part("b", False)]}).holds is False


@given(st.lists(st.tuples(st.sampled_from([True, False, "undecided"]), st.none() | st.floats(0, 1)), min_size=1))
def test_more_doubt_never_decides_a_claim(parts):
    made = [Part(str(index), holds, p) for index, (holds, p) in enumerate(parts)]
    doubtful = [Part(part.text, part.holds, 1.0) for part in made]
    assert judge.combine(doubtful)[0] == "undecided"
    before = judge.combine(made)[0]
    after = judge.combine([*made, Part("new", True, 1.0)])[0]
    assert after == "undecided" or (after is False and before is False)


def test_a_bootstrapped_trend_compares_the_same_resamples():
    # The level of a seed varies much more than the step between curves: only paired resamples show the step.
    level = np.random.default_rng(2).normal(0, 10, (40, 1))

    def first_point(mean):
        return mean[:, 0]

    rising = [level + step for step in (0.0, 0.0, 0.5)]
    parts = judge.bootstrap_trend_parts("x", ["a", "b", "c"], rising, first_point, "up", "s")
    assert [part.text.partition(":")[0] for part in parts] == ["x, c minus a", "x, b minus a", "x, c minus b"]
    assert judge.combine(parts)[0] is True
    assert (
        judge.combine(judge.bootstrap_trend_parts("x", ["a", "b", "c"], rising, first_point, "down", "s"))[0] is False
    )
    broken = [level + step for step in (0.0, -0.5, 0.5)]
    assert judge.combine(judge.bootstrap_trend_parts("x", ["a", "b", "c"], broken, first_point, "up", "s"))[0] is False


def test_within_bounds():
    part = judge.within_part("ratio", np.full(999, 1.2), 1.2, 150, (0.67, 1.5), 2, "")
    assert part.text == "ratio: +1.20 [+1.20, +1.20], n = 150, bounds 0.67 and 1.5"
    assert judge.combine([part])[0] is True
    assert judge.combine([judge.within_part("ratio", np.full(999, 2.0), 2.0, 150, (0.67, 1.5), 2, "")])[0] is False
