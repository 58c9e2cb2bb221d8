"""Study of repair by hosts and by the network."""

import numpy as np
import pytest

from optcp import Study
from optcp.papers.options import Options
from optcp_papers.prr import mixture
from optcp_papers.prr.cases import CASES, DUCT_RESTORED, FORWARD, NOTHING, axes
from optcp_papers.prr.law import stuck_both_ways, stuck_one_way
from optcp_papers.prr.stalls import Costs, CostsOf, Stalls, together
from optcp_papers.prr.world import FAILS_S, REPAIRED_S, Sessions, world

SHARES = [0.25, 0.5, 0.75]
SMALL = Sessions(long=8, rpc=24, video=8, peak=0.25, hosts_seed=1)


@pytest.mark.parametrize("p", SHARES)
def test_shares_of_stuck_flows_match_formulas_by_hand(p):
    """One transmission must arrive if the first path of ACKs works, else three, and the third draws a working path."""
    works = 1 - p
    assert [stuck_one_way(p, k) for k in (1, 2, 3)] == pytest.approx([p, p * p, p * p * p])
    expected = [1 - works**2, 1 - works * (1 - p**2), 1 - works * (1 - p**3) - p * works**3 * works]
    assert [stuck_both_ways(p, k) for k in (1, 2, 3)] == pytest.approx(expected)
    # With draws at the first duplicate, each round trip fails independently.
    assert [stuck_both_ways(p, k, draws_at=2) for k in (1, 2, 5)] == pytest.approx(
        [(1 - works**2) ** k for k in (1, 2, 5)]
    )


def costs(**stalls):
    """Return costs of two failures of weights 1 and 3, from the stalls of RPC sessions in ms by case and repathing."""
    empty = np.array([])
    cells = {
        tuple(at.split("/")): [Stalls({"rpc": np.array(ms, dtype=float), "long": empty, "video": empty}, 0.0)
                               for ms in both]
        for at, both in stalls.items()
    }  # fmt: skip
    return Costs(np.array([1.0, 3.0]), cells)


def test_means_are_weighted_by_failure():
    of = costs(**{"a/none": [[1000, 3000], [2000]], "a/rto": [[1000, 1000], [500]]})
    # Sums are 4 and 2 s, of 2 sessions and 1: (1 x 4 + 3 x 2) / 4 s, over (1 x 2 + 3 x 1) / 4 sessions.
    assert of.total_s(("a", "none")).estimate == pytest.approx(2.5)
    assert of.mean_ms(("a", "none"), "rpc").estimate == pytest.approx(2000)
    assert of.longer_pct(("a", "none"), "rpc", 1500).estimate == pytest.approx(100 * (1 * 1 + 3 * 1) / (1 * 2 + 3 * 1))
    assert of.reduction_pct("a").estimate == pytest.approx(100 * (1 - (2 + 3 * 0.5) / (4 + 3 * 2)))


def test_networks_have_equal_weights_together():
    one, two = costs(**{"a/none": [[4000], [0]]}), costs(**{"a/none": [[0], [4000]]})
    assert together([one, two]).total_s(("a", "none")).estimate == pytest.approx((1 + 3) / 2)


def test_mixture_weights_the_cases_by_their_shares():
    cases = dict(zip(mixture.MIXTURE, ([100], [4000], [8000], [4000]), strict=True))
    left = ("restoration, 2 s", FORWARD)
    of = costs(
        **{f"{case}/none": [ms, ms] for case, ms in cases.items()},
        **{f"{case}/rto": [[ms[0] / 4] if case in left else ms] * 2 for case, ms in cases.items()},
    )
    before, after = 0.8 * 0.1 + 0.1 * 4 + 0.05 * 8 + 0.05 * 4, 0.8 * 0.1 + 0.1 * 1 + 0.05 * 2 + 0.05 * 4
    assert sum(mixture.MIXTURE.values()) == pytest.approx(1)
    assert mixture.removed_pct(of).estimate == pytest.approx(100 * (1 - after / before))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    of = world("abilene", SMALL)
    names = (NOTHING, "ti-lfa, 10 ms", "1+1", DUCT_RESTORED, FORWARD)
    grid = Options().grid(of.core, {}, axes({name: CASES[name] for name in names}, of, 5), "prr")
    return CostsOf(of)(Study(grid, seeds=1).run(tmp_path_factory.mktemp("prr"), jobs=1))


def stalls(found, case, repath, kind):
    return np.concatenate([one.ms[kind] for one in found.cells[case, repath]])


def test_sessions_without_any_repair_stall_until_the_failure_ends(found):
    lasts_ms = 1000 * (REPAIRED_S - FAILS_S)
    for kind in ("rpc", "long"):
        ms = stalls(found, NOTHING, "none", kind)
        assert ms.size > 5
        # A request waits up to 150 ms. The failure may start before ACKs of segments in flight arrive.
        assert ms.min() > lasts_ms - 400
        assert ms.max() < 2.3 * lasts_ms


def test_repathing_changes_nothing_if_both_links_fail_or_backups_are_fast(found):
    for case in (DUCT_RESTORED, "ti-lfa, 10 ms", "1+1"):
        for kind in ("rpc", "long"):
            none, rto = (stalls(found, case, repath, kind) for repath in ("none", "rto"))
            assert none.size > 5
            np.testing.assert_allclose(none, rto, atol=5)


def test_repathing_shortens_stalls_on_a_link_that_drops_one_direction(found):
    none, rto = (stalls(found, FORWARD, repath, "rpc") for repath in ("none", "rto"))
    assert none.size > 5
    assert (rto <= none + 5).mean() > 0.9
    assert rto.mean() < none.mean() / 2
