"""Evidence from outside: the rule, the tables, and the page that is made from stored results."""

import dataclasses
import json
import math
import re
from pathlib import Path

import pytest

from optcp import stats
from optcp.errors import InputError
from optcp.evidence import EXPERIMENTS, bbr_share, friendliness, outside, page
from optcp.evidence.base import Result
from optcp.evidence.run import select
from optcp.evidence.variants import VARIANTS

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "tests" / "packetdrill"
STORED = ROOT / "docs" / page.FOLDER


@pytest.fixture(scope="module")
def results():
    return {result.experiment: result for result in page.read_results(STORED)}


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("1.31", 1.305, 1.315), ("1.000", 0.9995, 1.0005), ("2.9 to 3.2", 2.9, 3.2), ("7", 6.5, 7.5)],
)
def test_a_printed_figure_has_half_a_unit_of_its_last_digit_either_way(text, low, high):
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
        (-math.inf, math.inf, "undecided"),
    ],
)
def test_the_rule_compares_an_interval_with_a_range(low, high, verdict):
    """The range is 2 to 3: near is down to 1.9 and up to 3.15."""
    one = outside.Figure("somebody", "x", {}, "2 to 3", 2.0, 3.0)
    assert one.verdict(stats.Interval(2.5, low, high, 5)) == verdict


def test_a_figure_belongs_to_the_rows_whose_key_holds_its_own():
    one = outside.Figure("somebody", "loss", {"variant": "a", "p": "0.01"}, "1", 0.5, 1.5)
    assert one.about("loss", {"variant": "a", "p": "0.01", "ack": "delayed"})
    assert not one.about("loss", {"variant": "a", "p": "0.001"})
    assert not one.about("buffer", {"variant": "a", "p": "0.01"})


def test_the_page_is_made_from_the_stored_results():
    """Renew it: `make evidence`."""
    written = (ROOT / "docs" / "tcp-evidence.md").read_text(encoding="utf-8")
    assert written == page.render(page.read_results(STORED))


def test_every_experiment_is_stored_and_reads_back(results):
    assert list(results) == [one.name for one in EXPERIMENTS]
    for one, result in zip(EXPERIMENTS, results.values(), strict=True):
        assert result.rows
        assert result.title == one.title
        assert result.about == list(one.about)
        assert Result.from_json(result.to_json()) == result


def test_every_variant_has_its_rows(results):
    for name in ("loss", "delayed-ack", "buffer", "share"):
        assert {row.key["variant"] for row in results[name].rows} == set(VARIANTS)


def test_every_outside_figure_of_a_variant_stands_beside_a_row(results):
    for one in outside._figures():
        if one.key["variant"] in VARIANTS and one.experiment in results:
            rows = [row for row in results[one.experiment].rows if one.about(one.experiment, row.key)]
            assert rows, one
            for row in rows:
                assert (one.source, one.text) in [(each.source, each.text) for each in row.outside]


def test_every_member_of_the_families_of_tcp_has_an_entry(command):
    listed = re.split(r"^(\S+):\n", command("list").stdout, flags=re.MULTILINE)[1:]
    families = dict(zip(listed[::2], listed[1::2], strict=True))
    keys = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/tcp.md").read_text(encoding="utf-8"), re.MULTILINE)
    known = {
        (family, line.split()[0])
        for family, lines in families.items()
        if family in {"profiles", *keys}
        for line in lines.splitlines()
    }
    written = [(one.family, one.name) for one in page.mechanisms()]
    # Beside the members of families: mechanisms that a key turns on.
    switches = {(family, name) for family, name in written if family not in families}
    assert {family for family, _ in switches} <= set(keys)
    assert set(written) == known | switches
    assert len(written) == len(set(written))


def test_what_an_entry_names_is_there(results):
    for one in page.mechanisms():
        for each in one.evidence:
            assert sum(bool(place) for place in (each.result, each.test, each.scripts, each.page)) == 1, one
            if each.result is not None:
                assert page.matching(each, results[each.result]), one
            if each.test is not None:
                file, _, name = each.test.partition("::")
                assert re.search(rf"\b(fn|def) {name}\(", (ROOT / file).read_text(encoding="utf-8")), one
            for script in each.scripts:
                assert (SCRIPTS / f"{script}.pkt").is_file(), one
            if each.page is not None:
                assert (ROOT / "docs" / each.page.partition("#")[0]).is_file(), one


def test_every_script_speaks_for_a_mechanism():
    named = {script for one in page.mechanisms() for each in one.evidence for script in each.scripts}
    assert named == {f"{script.parent.name}/{script.stem}" for script in SCRIPTS.glob("*/*.pkt")}


def test_a_mechanism_says_how_many_of_its_scripts_pass(results):
    """Of two scripts of RACK one fails: the figure says so."""
    stored = results["packetdrill"]
    failing = dataclasses.replace(stored, provenance={**stored.provenance, "failed": ["rack/one"]})
    evidence = page.Evidence("packetdrill scripts", "RFC 8985", scripts=("rack/one", "rack/two"))
    assert page._figure(evidence, {"packetdrill": failing}) == (
        "[Packetdrill scripts](#packetdrill-scripts): 1 of 2 pass: `rack/one`, `rack/two`"
    )


def test_the_response_functions_are_those_of_the_rfc():
    """RFC 9438 section 5.1, worked outside this code: analytic.json."""
    stored = json.loads((ROOT / "tests" / "reference" / "tcp" / "analytic.json").read_text(encoding="utf-8"))
    vectors = stored["rfc9438"]["average_window_deterministic_loss"]
    assert len(vectors) == 10
    for one in vectors:
        windows = friendliness.at_equal_probability(one["p"], one["rtt_s"])
        assert windows == pytest.approx((one["reno"], one["cubic_C0_4"]), abs=0.06)


def test_flows_that_lose_at_the_same_instants_share_by_the_cube_of_the_interval():
    """Every 10 s at a round trip of 0.1 s: Reno climbs 100 segments to 200, 150 on average; CUBIC's peak is
    0.4 * 10^3 / 0.3 = 1333.3 and its mean 1233.3. On average 1383.3 segments are under way, 13 833 a second; the
    peaks fill 150 packets of buffer beside. Every second it is 15 segments against 1.2: the Reno-friendly region.
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
def test_the_model_of_bbr_beside_others_is_that_of_the_paper(queue, share):
    """By hand: of 67 packets, 2.01 products, the others have 1/2 - 0.24876 - 0.05970; BBR is silent for 0.3204 s."""
    assert bbr_share.model(queue) == pytest.approx(share, abs=5e-6)
