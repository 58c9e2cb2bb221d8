"""Figures by axes: selection of drawn items, and labels of a page."""

import re
from types import SimpleNamespace

from optcp.papers.model import Row, Series
from optcp.plots.panels import distinct, each, marks, page, places, printed, where


def row(delay, flows, metric="gain", paper=None, value=1.0):
    return Row({"delay": delay, "flows": flows}, metric, paper, value, (value - 1, value + 1), 3, "claim-only")


ROWS = [row(0, "few"), row(5, "few", paper=2.0), row(0, "many"), row(5, "many"), row(5, "many", metric="share")]
CURVE = Series("goodput", {"delay": 5}, "time", "s", "goodput", "Mb/s", [0.0], [1.0])


def test_rows_and_curves_are_chosen_by_name_and_key():
    assert where(ROWS, "gain", flows="many") == ROWS[2:4]
    assert where(ROWS, delay=5, flows="many") == ROWS[3:]
    assert where([CURVE], "goodput", delay=5) == [CURVE]
    assert where([CURVE], "queue") == where([CURVE], delay=0) == []
    assert where(ROWS, "share", seed=None) == ROWS[4:]


def test_values_keep_their_order_and_missing_ones_are_left_out():
    assert distinct(ROWS, "flows") == ["few", "many"]
    assert distinct([CURVE], "flows") == []
    kinds = each(where(ROWS, "gain"), "flows", {"many": "red", "none": "green", "few": "blue"})
    assert [(value, colour, len(rows)) for value, colour, rows in kinds] == [("many", "red", 2), ("few", "blue", 2)]


def test_a_page_has_its_panels_labels_and_each_name_once():
    result = SimpleNamespace(exhibit="paper/table")
    with page(result, "What it shows.", (5, 3), 1, 2, part="left", sharey=True) as made:
        for panel in made.all:
            marks(panel, where(ROWS, "gain"), "flows", {"few": "#0072B2", "many": "#D55E00"}, "{} flows")
            printed(panel, where(ROWS, "gain", flows="few"))
            places(panel, distinct(ROWS, "delay"), "delay (ms)")
        made.label(y="gain (%)")
        made.legend(3)
    (figure,) = made.drawn
    texts = re.findall(r">([^<>]+)</text>", figure.svg)
    assert figure.caption == "What it shows."
    assert [texts.count(text) for text in ("few flows", "many flows", "published", "gain (%)", "delay (ms)")] == [
        1, 1, 1, 1, 2,
    ]  # fmt: skip
