"""External evidence: the rule, the tables, and the page rendered from stored results."""

import dataclasses
import fnmatch
import json
import math
import re
from pathlib import Path

import pytest

from optcp import stats
from optcp.errors import InputError
from optcp_papers.evidence import EXPERIMENTS, bbr_share, friendliness, mechanisms, outside, page, public, summary
from optcp_papers.evidence.base import Result
from optcp_papers.evidence.run import select
from optcp_papers.evidence.variants import VARIANTS

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "tests" / "packetdrill"
STORED = ROOT / "docs" / "details" / page.FOLDER


@pytest.fixture(scope="module")
def results():
    return {result.experiment: result for result in page.read_results(STORED)}


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("1.31", 1.305, 1.315), ("1.000", 0.9995, 1.0005), ("2.9 to 3.2", 2.9, 3.2), ("7", 6.5, 7.5)],
)
def test_published_figure_has_rounding_range(text, low, high):
    assert outside.printed_range(text) == (low, high)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (2.2, 2.4, "agrees"),
        (1.0, 9.0, "agrees"),
        (1.5, 2.0, "agrees"),
        (1.8, 1.91, "near"),
        (1.8, 1.89, "differs"),
        (3.14, 3.3, "near"),
        (3.16, 3.3, "differs"),
    ],
)
def test_the_rule_compares_an_interval_with_a_range(low, high, verdict):
    """The range is 2 to 3: near extends down to 1.9 and up to 3.15."""
    one = outside.Figure("somebody", "x", {}, "2 to 3", 2.0, 3.0)
    assert one.verdict(stats.Interval(2.5, low, high, 5)) == verdict


@pytest.mark.parametrize(("value", "n", "verdict"), [(2.5, 1, "undecided"), (2.5, 5, "agrees"), (1.91, 5, "near")])
def test_equal_runs_give_a_point_interval(value, n, verdict):
    one = outside.Figure("somebody", "x", {}, "2 to 3", 2.0, 3.0)
    assert one.verdict(stats.Interval(value, -math.inf, math.inf, n)) == verdict
    assert one.verdict(stats.Interval(value, -math.inf, math.inf, 1, repeated=True)) == (
        "agrees" if value == 2.5 else "near"
    )


@pytest.mark.parametrize(
    ("low", "high", "n", "sharp"),
    [(9.8, 10.15, 5, True), (9.8, 10.3, 5, False), (-math.inf, math.inf, 1, False), (-math.inf, math.inf, 5, True)],
)
def test_a_comparison_is_sharp_below_a_tenth(low, high, n, sharp):
    """The range is 9.7 to 10.3, 6 % of its middle: an interval of 3.5 % makes 9.5 %, one of 5 % makes 11 %."""
    one = outside.Figure("somebody", "x", {}, "9.7 to 10.3", 9.7, 10.3)
    assert one.is_sharp(stats.Interval(10, low, high, n)) == sharp


def test_figure_applies_to_rows_that_include_its_key():
    one = outside.Figure("somebody", "loss", {"variant": "a", "p": "0.01"}, "1", 0.5, 1.5)
    assert one.about("loss", {"variant": "a", "p": "0.01", "ack": "delayed"})
    assert not one.about("loss", {"variant": "a", "p": "0.001"})
    assert not one.about("buffer", {"variant": "a", "p": "0.01"})


def test_the_page_is_made_from_the_stored_results():
    """`make evidence` renews the page."""
    stored_results = page.read_results(STORED)
    folder = ROOT / "docs" / "details"
    assert (folder / "tcp-evidence.md").read_text(encoding="utf-8") == summary.render(stored_results)
    assert (folder / "tcp-evidence-details.md").read_text(encoding="utf-8") == page.render(stored_results)


def test_summary_is_short():
    written = (ROOT / "docs" / "details" / "tcp-evidence.md").read_text(encoding="utf-8")
    assert sum(any(map(str.isalnum, word)) for word in written.split()) <= 600


def test_every_experiment_is_stored_and_reads_back(results):
    assert list(results) == [experiment.name for experiment in EXPERIMENTS]
    for item, result in zip(EXPERIMENTS, results.values(), strict=True):
        assert result.rows
        assert result.title == item.title
        assert result.about == list(item.about)
        assert Result.from_json(result.to_json()) == result


def test_every_variant_has_its_rows(results):
    for name in ("loss", "delayed-ack", "buffer", "share"):
        assert {row.key["variant"] for row in results[name].rows} == set(VARIANTS)


def test_every_external_figure_has_a_row(results):
    for figure in outside._figures():
        if figure.key["variant"] in VARIANTS and figure.experiment in results:
            rows = [row for row in results[figure.experiment].rows if figure.about(figure.experiment, row.key)]
            assert rows, figure
            for row in rows:
                assert (figure.source, figure.text) in [(each.source, each.text) for each in row.outside]


def test_every_tcp_family_option_has_an_entry(command):
    listed = re.split(r"^(\S+):\n", command("list").stdout, flags=re.MULTILINE)[1:]
    families = dict(zip(listed[::2], listed[1::2], strict=True))
    keys = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/reference/tcp.md").read_text(encoding="utf-8"), re.MULTILINE)
    known = {
        (family, line.split()[0])
        for family, lines in families.items()
        if family in {"profiles", *keys}
        for line in lines.splitlines()
    }
    written = [mechanism.key for mechanism in mechanisms.mechanisms()]
    # In addition to options of families: mechanisms that a key enables.
    switches = {(family, name) for family, name in written if family not in families}
    assert {family for family, _ in switches} <= set(keys)
    assert set(written) == known | switches
    assert len(written) == len(set(written))


def test_references_of_entries_exist(results):
    for mechanism in mechanisms.mechanisms():
        for each in mechanism.evidence:
            places = (each.result, each.test, each.scripts, each.public, each.page)
            assert sum(bool(place) for place in places) == 1, mechanism
            if each.result is not None:
                rows = mechanisms.matching(each, results[each.result])
                assert any(row.outside for row in rows), mechanism
            for pattern in each.public:
                assert fnmatch.filter(public.verdicts(), pattern), pattern
            if each.test is not None:
                file, _, name = each.test.partition("::")
                assert re.search(rf"\b(fn|def) {name}\(", (ROOT / file).read_text(encoding="utf-8")), mechanism
            for script in each.scripts:
                assert (SCRIPTS / f"{script}.pkt").is_file(), mechanism
            if each.page is not None:
                assert (ROOT / "docs" / "details" / each.page.partition("#")[0]).is_file(), mechanism


def test_every_script_is_evidence_for_a_mechanism():
    named = {script for mechanism in mechanisms.mechanisms() for each in mechanism.evidence for script in each.scripts}
    assert named == {f"{script.parent.name}/{script.stem}" for script in SCRIPTS.glob("*/*.pkt")}


def test_mechanism_line_counts_passing_scripts(results):
    """One of two scripts of RACK fails, and the line counts it."""
    stored = results["packetdrill"]
    failing = dataclasses.replace(stored, provenance={**stored.provenance, "failed": ["rack/one"]})
    evidence = mechanisms.Evidence("packetdrill scripts", "RFC 8985", scripts=("rack/one", "rack/two"))
    figure = "[Packetdrill scripts](#packetdrill-scripts): 1 of 2 pass: `rack/one`, `rack/two`"
    assert mechanisms.figures(evidence, {"packetdrill": failing}) == [(figure, True)]


def test_own_derivations_are_listed_separately(results):
    """A stored result with figures of both kinds has a line in both tables, each with its own verdicts."""
    evidence = mechanisms.Evidence("long runs", "the draft", result="bbr-states")
    (outer, not_here), (inner, here) = mechanisms.figures(evidence, results)
    assert (not_here, here) == (False, True)
    listed = [item for row in results["bbr-states"].rows for item in row.outside]
    sizes = [sum(map(int, re.findall(r"\b(\d+) (?:agree|near|differ)", figure))) for figure in (outer, inner)]
    assert sizes == [sum(item.source == source for item in listed) for source in ("BBR draft", "BBR draft, worked")]


def test_mechanism_without_external_evidence_is_marked(results):
    lines = mechanisms.shown(list(results.values()))
    written = (ROOT / "docs" / "details" / "tcp-evidence-details.md").read_text(encoding="utf-8")
    tables = re.findall(r"^## Mechanisms: .*?(?=^## )", written, re.MULTILINE | re.DOTALL)
    for (family, name), found in mechanisms.standing(lines).items():
        places = [
            f"`{family}` | `{name}`" in tables[0],
            f"`{family}` | `{name}`, nothing else |" in tables[1],
            f"`{family}` `{name}`" in tables[2],
        ]
        assert places.index(True) == ["outside", "here", "none"].index(found)


def test_the_page_counts_the_public_scripts_of_the_table():
    written = (ROOT / "docs" / "details" / "tcp-evidence-details.md").read_text(encoding="utf-8")
    section = written.partition(f"## {public.TITLE}\n")[2].partition("\n## ")[0]
    for suite in public.suites():
        assert len({script.path for script in suite.scripts}) == len(suite.scripts)
        numbers = [len(suite.scripts), *(public.count(suite)[verdict] for verdict in ("ok", "failed", "refused"))]
        (row,) = [line for line in section.splitlines() if f"| `{suite.repository}` |" in line]
        assert row.endswith("| " + " | ".join(map(str, numbers)) + " |")
        failed = [script for script in suite.scripts if script.verdict == "failed"]
        assert re.findall(rf"^\| {suite.name} \| `(\S+)` \|", section.partition("Failed:")[2], re.MULTILINE) == [
            script.path for script in failed
        ]
    refused = section.partition("Refused:")[2]
    assert sum(map(int, re.findall(r"^\| (\d+) \|", refused, re.MULTILINE))) == sum(
        public.count(suite)["refused"] for suite in public.suites()
    )


def test_every_runnable_public_script_is_evidence():
    patterns = [
        pattern for mechanism in mechanisms.mechanisms() for each in mechanism.evidence for pattern in each.public
    ]
    assert {name for pattern in patterns for name in fnmatch.filter(public.verdicts(), pattern)} == set(
        public.verdicts()
    )


def test_suites_are_run_and_stored(tmp_path, monkeypatch):
    """A suite of two of the project's scripts and an invalid one."""
    monkeypatch.setattr(public, "TABLE", tmp_path / "suites.json")
    folder = tmp_path / "scripts" / "deep"
    folder.mkdir(parents=True)
    good = SCRIPTS / "timeout" / "the-timer-doubles.pkt"
    (folder / "a.pkt").write_bytes(good.read_bytes())
    (folder / "b.pkt").write_bytes(good.read_bytes() + b"+0 %{ assert tcpi_unacked == 99 }%\n")
    (folder / "c.pkt").write_bytes(b"nothing\n")
    suite = public.Suite("some", "some/body", "1", "scripts", "", [])
    public.write([suite, suite])
    public.suites.cache_clear()
    try:
        public.main([f"some={folder.parent}"])
        public.suites.cache_clear()
        found = public.suites()[0]
        with pytest.raises(InputError, match="there is no suite 'sone'; did you mean 'some'"):
            public.main([f"sone={folder}"])
        with pytest.raises(InputError, match="there are no packetdrill scripts here"):
            public.main([f"some={tmp_path / 'nowhere'}"])
    finally:
        public.suites.cache_clear()
    assert [(script.path, script.verdict) for script in found.scripts] == [
        ("deep/a.pkt", "ok"),
        ("deep/b.pkt", "failed"),
        ("deep/c.pkt", "refused"),
    ]
    # `printf 'nothing\n' | git hash-object --stdin`
    assert found.scripts[2].blob == "9dafe9be2099"
    assert found.scripts[1].reason.startswith("expected tcpi_unacked == 99; happened tcpi_unacked = ")


def test_response_functions_match_rfc():
    """RFC 9438 section 5.1, calculated outside of this code: analytic.json."""
    stored = json.loads((ROOT / "tests" / "reference" / "tcp" / "analytic.json").read_text(encoding="utf-8"))
    vectors = stored["rfc9438"]["average_window_deterministic_loss"]
    assert len(vectors) == 10
    for vector in vectors:
        windows = friendliness.at_equal_probability(vector["p"], vector["rtt_s"])
        assert windows == pytest.approx((vector["reno"], vector["cubic_C0_4"]), abs=0.06)


def test_synchronised_losses_give_cubic_share():
    """Every 10 s at an RTT of 0.1 s: Reno climbs from 100 to 200 segments, mean 150; CUBIC's peak is
    0.4 * 10^3 / 0.3 = 1333.3 and its mean 1233.3. On average 1383.3 segments are in flight, 13 833 per second; the
    peaks fill a buffer of 150 packets. Every second it is 15 segments against 1.2: the Reno-friendly region.
    """
    law = friendliness.at_same_instants
    assert law(10, 0.1) == pytest.approx((150, 1233.333), abs=1e-3)
    assert law(1, 0.1) == pytest.approx((15, 15))
    assert friendliness.expected(law, 166e6, 0.1, 150) == pytest.approx(8.2222, abs=1e-3)
    assert friendliness.expected(law, 10e6, 0.04, 33) == 1


def test_an_unknown_experiment_is_named_with_the_nearest():
    with pytest.raises(InputError, match="there is no experiment 'los'; did you mean 'loss'"):
        select(["los"])


@pytest.mark.parametrize(("queue", "share"), [(17, 0.97396), (67, 0.78255), (1067, 0.44040)])
def test_bbr_share_model_matches_paper(queue, share):
    """By hand: of 67 packets, 2.01 products, the others have 1/2 - 0.24876 - 0.05970; BBR is silent for 0.3204 s."""
    assert bbr_share.model(queue) == pytest.approx(share, abs=5e-6)
