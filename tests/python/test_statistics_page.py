"""Tables of docs/details/statistics.md: they match a simulation, and show the promises of intervals and tests."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "details"
TEXT = (DOCS / "statistics.md").read_text(encoding="utf-8")


def rows(name):
    """Return the values of each row of a table, by its first cell."""
    part = TEXT.split(f"<!-- {name}: begin -->\n")[1].split(f"<!-- {name}: end -->")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[2:]]
    assert lines
    return {first: cells for first, *cells in lines}


def numbers(cells):
    """Return the percentages in cells (coverage, or two kinds of error); cells without an interval have none."""
    return [float(item) for cell in cells for item in re.findall(r"[0-9.]+", re.sub(r"\(.*?\)", "", cell))]


def test_computed_and_quick_tables_match_page():
    page = runpy.run_path(str(DOCS / "statistics.py"))["page"]
    assert page(TEXT, ["shares", "exact", "bounded", "tails"]) == TEXT


@pytest.mark.parametrize("name", ["medians", "tails", "shares"])
def test_distribution_free_intervals_cover_95_percent(name):
    # 4000 draws: two standard errors are 0.7 points.
    for law, cells in rows(name).items():
        assert all(value >= 94.3 for value in numbers(cells)), law


def test_quantiles_of_all_flows_cover_93_percent():
    for law, cells in rows("pooled").items():
        assert all(value >= 93 for value in numbers(cells)), law


def test_interval_of_a_normal_mean_is_exact():
    assert all(abs(value - 95) < 0.7 for value in numbers(rows("means")["normal"]))


def test_effects_cover_93_percent():
    for name, cells in rows("indices").items():
        assert all(value >= 93 for value in numbers(cells)), name


@pytest.mark.parametrize(("name", "most"), [("errors", 6.0), ("exact", 5.0)])
def test_tests_have_at_most_5_percent_errors(name, most):
    # 4000 draws: three standard errors are 1.0 points; computed values have no such error.
    for law, cells in rows(name).items():
        assert all(value <= most for value in numbers(cells)), law


def test_equivalence_has_at_most_5_percent_errors():
    # 2000 draws: three standard errors are 1.5 points.
    for law, cells in rows("equivalences").items():
        assert all(value <= 6.5 for value in numbers(cells)), law
