import base64
import doctest
import json
import re
import shutil
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from optcp import _core
from optcp.common import stored
from optcp.errors import InputError
from optcp.papers import results
from optcp.papers.model import Claim, Result, Row
from optcp.papers.results import exhibits
from optcp.plots import figures
from optcp.report import build, sentences, worlds
from optcp.scenarios.shipped import find
from optcp.study import Grid


@pytest.fixture(scope="module")
def page(results_directory):
    return build.render(list(exhibits(results_directory).values()))


def test_every_metric_has_a_sentence():
    assert set(sentences.TEMPLATES) == {metric["name"] for metric in _core.metrics()}
    assert doctest.testmod(sentences).failed == 0


def test_cells_with_many_common_keys_are_listed_instead_of_swept():
    # Forty keys with two values each would have 2^40 combinations.
    cells = [{f"parameters.p{number}": value for number in range(40)} for value in (1, 2)]
    scenario = _core.Scenario.load(str(find("ring")))
    branches = Grid.of_cells(scenario, [{"title": "a"}, {"title": "b"}], {}, title="two").branches
    branches = tuple(replace(branch, key=cell) for branch, cell in zip(branches, map(texts, cells), strict=True))
    text = worlds.toml(Grid("two", branches), "first")
    assert text.startswith("# The first of 2 parameter combinations:")


def texts(cell):
    return {key: str(value) for key, value in cell.items()}


class Tags(HTMLParser):
    """Parser that collects attributes and checks that opened elements are closed."""

    VOID = frozenset({"meta", "wbr", "br", "hr", "img", "link", "input", "path", "use", "rect"})

    def __init__(self):
        super().__init__()
        self.open, self.attributes, self.tags = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_names_of_keys_are_words_with_units(page):
    assert "<th>δ (ms)</th>" in page


def test_the_page_needs_no_network(page):
    parser = Tags()
    parser.feed(page)
    assert parser.open == []
    assert not {"link", "iframe", "object", "img"} & set(parser.tags)
    for tag, name, value in parser.attributes:
        assert name != "src"
        if name in ("href", "xlink:href"):
            assert value.startswith("#"), (tag, name, value)
    assert not re.search(r"\b(fetch|import|XMLHttpRequest|WebSocket|eval)\b", page.rpartition("<script>")[2])
    assert "@import" not in page
    assert set(re.findall(r"https?://[^\"' <)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))


def test_references_inside_the_page_exist(page):
    ids = set(re.findall(r'\bid="([^"]+)"', page))
    wanted = set(re.findall(r"url\(#([^)]+)\)", page)) | set(re.findall(r'href="#([^"]+)"', page))
    assert wanted <= ids


def test_the_page_shows_every_row_claim_and_figure(page, results_directory):
    results = list(exhibits(results_directory).values())
    assert [result.exhibit for result in results] == ["gmpls/fig7", "gmpls/fig8", "gmpls/table3"]
    packed = re.findall(r"<script[^>]* data-html>([^<]+)</script>", page)
    folded = [zlib.decompress(base64.b64decode(text)).decode() for text in packed]
    assert page.count("<figure>") == len(results)
    assert len(folded) == 3
    assert all(item.strip().startswith("<figure>") for item in folded)
    assert page.count('<article class="claim" ') == sum(len(result.claims) for result in results)
    rows = [row for result in results for row in result.rows]
    assert page.count("<td><b>") == len(rows)
    assert page.count('<td class="left"><span class="chip') == sum(row.paper is not None for row in rows)
    for result in results:
        assert result.provenance["metrics_sha256"] in page
    assert "window_packets" in page


def test_the_same_results_give_the_same_bytes(page, results_directory):
    assert build.render(list(exhibits(results_directory).values())) == page


def test_figures_follow_the_page_colour(page):
    assert "currentColor" in page
    assert "#010203" not in page
    assert not re.search(r"\d{4}-\d\d-\d\dT", page)  # no date from matplotlib


@pytest.fixture
def two_exhibits(results_directory, tmp_path):
    (tmp_path / "gmpls").mkdir()
    for name in ("fig7", "table3"):
        shutil.copyfile(results_directory / "gmpls" / f"{name}.json", tmp_path / "gmpls" / f"{name}.json")
    return tmp_path


def test_a_report_with_a_simulator_opens_small_worlds_in_the_playground(two_exhibits):
    written = build.write_report(two_exhibits, b"any module")
    links = re.findall(r'<a href="([^"#]+)#w=([^"]+)"', written.read_text(encoding="utf-8"))
    assert [page for page, _ in links] == ["playground.html"] * 4  # two studies each
    assert base64.b64encode(b"any module").decode() in written.with_name("playground.html").read_text(encoding="utf-8")
    for _, text in links:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        start = json.loads(zlib.decompress(packed, -zlib.MAX_WBITS))
        assert "goodput" in _core.Scenario.parse(start["text"], start["name"]).summary()["observe"]


def test_a_report_without_a_simulator_has_no_playground(two_exhibits):
    written = build.write_report(two_exhibits, None)
    assert "playground" not in written.read_text(encoding="utf-8")
    assert [path.name for path in written.parent.iterdir()] == ["index.html"]


def test_text_of_result_is_escaped():
    nasty = "<i>&\"'"
    result = Result(
        exhibit="gmpls/new",
        title=nasty,
        source={"paper": nasty, "where": nasty},
        size={"name": "quick", "seeds": {"a": 1}, "paper_runs": 150},
        assumed={"x": nasty},
        changed={"x": 1},
        rows=[Row({"k": nasty}, "m", None, 1.0, (None, None), 1, "claim-only", nasty)],
        claims=[Claim(nasty, nasty, nasty, "undecided", nasty, {"a": "undecided"})],
        notes=[nasty],
        provenance={"version": "1", "git": "unknown", "seeds": [1, 1], "records_sha256": None},
        series=[],
    )
    page = build.render([result])
    assert "<i>" not in page
    assert "Changed by --set" in page
    assert figures(result) == []


def test_a_directory_without_results(tmp_path):
    with pytest.raises(InputError, match="no results of experiments"):
        build.write_report(tmp_path, b"any module")
    assert not (tmp_path / "report").exists()


WITHOUT = (
    b'{"exhibit": "a", "title": "a", "source": {"paper": "a", "where": "a"}, "assumed": {}, "changed": {},'
    b' "claims": [], "size": {"name": "a", "seeds": {}, "paper_runs": 1}, "notes": [], "provenance": {"version": "a",'
    b' "git": "a", "seeds": null, "metrics_sha256": "a"}, "series": [], "rows": %s}'
)
ROW = b'{"key": {}, "metric": "m", "paper": null, "measured": 1, "ci95": [0], "n": 1, "verdict": "claim-only"}'


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"{}", "the key `exhibit` is missing"),
        (b"[]", "a JSON object with keys is expected"),
        (b"xx", "not JSON (line 1, column 1)"),
        (b'{"rows": \xff}', "not JSON (byte 10)"),
        (WITHOUT % b"3", "`rows` is no list"),
        (WITHOUT % b"[3]", "`rows[0]` is no object"),
        (WITHOUT % b'[{"key": {}}]', "the key `rows[0].metric` is missing"),
        (WITHOUT % b'[{"size": 1}]', "the key `rows[0].key` is missing"),
        (WITHOUT % b"[%s]" % ROW, "`rows[0].ci95` is no list of 2"),
    ],
)
def test_a_result_that_cannot_be_read_is_named(optcp, tmp_path, content, what):
    (tmp_path / "gmpls").mkdir()
    (tmp_path / "gmpls" / "fig7.json").write_bytes(content)
    assert optcp("report", ".") == (1, "", f"Error: gmpls/fig7.json: {what}; delete it and run again\n")
    assert not (tmp_path / "report").exists()


def test_a_study_that_cannot_be_read_is_named(optcp, tmp_path):
    (tmp_path / "sensitivity" / "gmpls").mkdir(parents=True)
    (tmp_path / "sensitivity" / "gmpls" / "fig7.json").write_text("{}")
    what = "sensitivity/gmpls/fig7.json: the key `exhibit` is missing; delete it and run again"
    assert optcp("report", ".") == (1, "", f"Error: {what}\n")


def test_numbers_in_names_are_sorted_as_numbers():
    assert sorted(["fig10", "table3", "fig7", "section5.2"], key=results._natural) == [
        "fig7",
        "fig10",
        "section5.2",
        "table3",
    ]


def test_manually_changed_result_is_named(results_directory, optcp, tmp_path):
    file = tmp_path / "gmpls" / "table3.json"
    file.parent.mkdir()
    written = (results_directory / "gmpls" / "table3.json").read_text()
    file.write_text(written)
    assert optcp("report", ".")[0] == 0
    for text, what in (
        (written.replace('"verdict": "differs"', '"verdict": "match"', 1), stored.CHANGED),
        (json.dumps(json.loads(written) | {"sha256": ""}), "the key `sha256` is unknown"),
        (stored.SEAL.sub("\n}\n", written), "without a checksum, so not written by this version of optcp"),
    ):
        assert text != written
        file.write_text(text)
        for verb in (("report", "."), ("export", ".", "--format", "latex"), ("export", ".", "--format", "csv")):
            assert optcp(*verb) == (1, "", f"Error: gmpls/table3.json: {what}; delete it and run again\n")


def test_section_of_a_paper_repeats_no_sentence_of_the_summary(results_directory):
    results = list(exhibits(results_directory).values())
    section = build.render(results).partition('<section id="findings"')[2].partition("</section>")[0]
    paragraphs = re.findall(r"<p>(.*?)</p>", section, re.DOTALL)
    sentences_of = [one.strip() for text in paragraphs for one in re.split(r"(?<=\.)\s+(?=[A-Z])", text) if one.strip()]
    assert len(sentences_of) > 1
    assert len(set(sentences_of)) == len(sentences_of)
