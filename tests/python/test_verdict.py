import ast
import math
import re

import pytest

from optcp.papers.baseline import CLAIM, stored
from optcp.papers.printed import statements, statements_of, tables
from optcp.papers.registry import exhibits, folder, names
from optcp.papers.verdict import row, tolerances, verdict
from optcp.stats import Interval

CLAIMS = [statement for paper in names() for statement in statements(paper)]


@pytest.mark.parametrize(
    ("measured", "half_width", "printed", "expected"),
    [
        (6.85, 1.0, 9.85, "match"),  # exactly T away
        (6.84, 1.0, 9.85, "near"),
        (3.85, 1.0, 9.85, "near"),  # exactly 2 T away
        (3.84, 1.0, 9.85, "differs"),
        (9.85, 3.0, 9.85, "match"),  # half-width exactly T decides
        (9.85, 3.01, 9.85, "undecided"),
        (20.0, 3.01, 9.85, "undecided"),
        (-2.0, 1.0, 1.75, "differs"),  # within 2 T, other sign
        (-1.0, 1.0, 1.75, "match"),  # within T the sign does not matter
        (-4.0, 1.0, 0.0, "near"),  # zero has either sign
        (9.85, math.inf, 9.85, "undecided"),
        (9.85, math.inf, None, "claim-only"),
    ],
)
def test_the_rule(measured, half_width, printed, expected):
    assert verdict(measured, half_width, printed, 3.0) == expected


def test_published_value_needs_a_tolerance():
    with pytest.raises(ValueError, match="needs a tolerance"):
        verdict(1.0, 0.1, 1.0, None)


def test_tolerances():
    assert tolerances() == {
        "rel_goodput_pct": 3.0,
        "worse_than_zero_pct": 8.0,
        "worse_than_1ms_pct": 8.0,
        "best_pct": 8.0,
        "one_run_gain_pct": 18.0,
        "progress_segments": 0.5,
        "crossing_burst_segments": 1.0,
        "opt_vs_el_pct": 0.5,
        "opt_better_pct": 8.0,
        "switch_delay_ms": 0.001,
        "delta_rtt_ms": 0.001,
        "goodput_kbps": 764.0,
        "gain_pct_max": 4.0,
        "throughput_gbps": 0.2,
        "queue_mb": 0.25,
        "drop_mbps": 6.0,
        "drop_node_mbps": 6.0,
        "hurst": 0.05,
        "packets_per_s": 18.0,
        "packet_bits": 20.0,
        "circuit_util_pct": 2.0,
        **{f"{quantile}_{of}_us": 3.0 for quantile in ("p50", "p99") for of in ("all", "circuit", "packet")},
    }


def test_a_difference_needs_a_reason():
    far = Interval(50.0, 49.0, 51.0, 9)
    with pytest.raises(ValueError, match="give a reason"):
        row({"delta_ms": 50}, "rel_goodput_pct", 9.85, far, "")
    assert row({"delta_ms": 50}, "rel_goodput_pct", 9.85, far, "known").why == "known"
    near = Interval(9.0, 8.5, 9.5, 9)
    assert row({"delta_ms": 50}, "rel_goodput_pct", 9.85, near, "known").why == ""


def test_a_row_of_one_run_has_no_interval():
    one = row({}, "f_mean_pct", None, Interval(1.0, -math.inf, math.inf, 1), "")
    assert one.ci95 == (None, None)
    assert one.verdict == "claim-only"


def test_published_values_match_papers():
    table = tables("gmpls")["table3"]
    assert table["rel_goodput_pct"] == [0.00, 9.85, 4.99, 4.39, 1.75]
    assert table["worse_than_zero_pct"] == [0.00, 24.00, 36.67, 42.67, 49.33]
    assert table["best_pct"] == [20.00, 64.67, 9.33, 5.33, 0.67]


def test_ids_of_claims_are_kebab_case_and_unique_in_an_exhibit():
    names = [(claim.exhibit, claim.id) for claim in CLAIMS]
    assert len(set(names)) == len(names)
    assert [name for _, name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


@pytest.mark.parametrize("paper", names())
def test_every_claim_is_named_by_the_judges_of_its_paper(paper):
    sources = folder(paper).glob("*.py")
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in sources]
    keys = [key for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys]
    keys += [node.slice for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    names = {key.value for key in keys if isinstance(key, ast.Constant)}
    assert [statement.id for statement in statements(paper) if statement.id not in names] == []


def test_every_claim_is_judged_and_every_judged_claim_is_in_the_toml():
    """The committed baseline holds what the judges returned, for every experiment at both sizes."""
    claims = {exhibit: {statement.id for statement in statements_of(exhibit)} for exhibit in exhibits()}
    # The claims of figure 16 about both figures also judge figure 15 of the OBS paper.
    claims["obs/fig15"] |= claims["obs/fig16"] - {"correlation-benefit"}
    judged = {
        (exhibit, size): {name for kind, name in verdicts if kind == CLAIM}
        for exhibit, sizes in stored().items()
        for size, verdicts in sizes.items()
    }
    assert judged == {(exhibit, size): claims[exhibit] for exhibit, size in judged}
    assert {exhibit for exhibit, _ in judged} >= {claim.exhibit for claim in CLAIMS}


def test_every_claim_exists():
    assert len(CLAIMS) > 80
    assert all(statement.exhibit.startswith(f"{paper}/") for paper in names() for statement in statements(paper))
    counts = {name: len(statements_of(f"gmpls/{name}")) for name in ("fig7", "fig8", "table3")}
    assert counts == {"fig7": 6, "fig8": 1, "table3": 2}
