"""Packet spraying: load of equal paths, and senders that take reordering for losses or not."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from optcp import Scenario, Study, load

SEEDS = 150
PATHS, FLOWS, LABELS = 4, 4, 256
# Four segments in flight find empty queues: nothing is overtaken or lost, and each label carries one segment.
QUIET = {"sweep": {}, "parameters.size": f"{LABELS} segments", "tcp.host.window_limit": 4}


def loads(repath: str, folder) -> np.ndarray:
    """Return the segments on each uplink of the sending leaf, one row per seed."""
    done = Study(load("spraying").set(QUIET | {"parameters.repath": repath}), {}, seeds=SEEDS).run(folder)
    table = done.table("uplinks")
    up = [str(port).startswith("leaf0->") for port in table["port"]]
    assert not np.asarray(table["dropped"]).any()
    return np.asarray(table["packets"])[up].reshape(SEEDS, PATHS)


def mean_of_maximum(balls: int) -> tuple[float, float]:
    """Return mean and standard deviation of the maximum of `balls` balls in PATHS bins, exactly.

    Independent Poisson counts with a given sum are multinomial.
    """
    counts = np.arange(balls + 1)
    poisson = stats.poisson.pmf(counts, balls / PATHS)
    total = stats.poisson.pmf(balls, balls)
    below = []
    for most in counts:
        two = np.convolve(*[np.where(counts <= most, poisson, 0)] * 2)[: balls + 1]
        below.append((two * two[::-1]).sum() / total)
    chance = np.diff(below, prepend=0)
    mean = (counts * chance).sum()
    return mean, ((counts - mean) ** 2 * chance).sum() ** 0.5


def test_exact_maximum_matches_enumeration():
    """All 256 ways in which four flows hash to four paths: 1, 2, 3 and 4 on one path in 24, 180, 48 and 4 of them."""
    most = [max(way.count(path) for path in way) for way in product(range(PATHS), repeat=FLOWS)]
    assert [most.count(n) for n in (1, 2, 3, 4)] == [24, 180, 48, 4]
    assert mean_of_maximum(FLOWS) == pytest.approx((float(np.mean(most)), float(np.std(most))))
    assert np.mean(most) == 2.125


def test_worst_loaded_link_of_ecmp_has_the_expected_number_of_flows(tmp_path):
    found = loads("none", tmp_path).max(axis=1)
    assert set(found) <= {LABELS * n for n in (1, 2, 3, 4)}
    mean, deviation = mean_of_maximum(FLOWS)
    assert abs(found.mean() / LABELS - mean) < 3.3 * deviation / SEEDS**0.5


def test_sprayed_load_is_multinomial(tmp_path):
    """Each of 256 labels of each flow hashes to a path: 1024 balls in four bins."""
    found = loads("packet", tmp_path)
    balls = FLOWS * LABELS
    assert (found.sum(axis=1) == balls).all()
    expected = balls / PATHS
    chi_square = ((found - expected) ** 2 / expected).sum()
    low, high = stats.chi2.ppf([0.0005, 0.9995], SEEDS * (PATHS - 1))
    assert low < chi_square < high
    mean, deviation = mean_of_maximum(balls)
    assert abs(found.max(axis=1).mean() - mean) < 3.3 * deviation / SEEDS**0.5
    assert mean / expected == pytest.approx(1.0647, abs=0.00005)


TWO_PATHS = """
stop = "2 s"
end_with_flows = true
nodes = [{{ names = ["A", "R", "S1", "S2", "T", "B"] }}]
links = [
    {{ chain = ["A", "R"], rate = "1 Gbps", delay = "25 us", queue = "unlimited" }},
    {{ chain = ["R", "S1", "T"], rate = "1 Gbps", delay = "50 us", queue = "unlimited" }},
    {{ chain = ["R", "S2"], rate = "1 Gbps", delay = "50 us", queue = "unlimited" }},
    {{ chain = ["S2", "T"], rate = "1 Gbps", delay = "{slow} us", queue = "unlimited" }},
    {{ chain = ["T", "B"], rate = "1 Gbps", delay = "25 us", queue = "unlimited" }},
]
routing = {{ ecmp = "hash-threshold" }}
tcp.host = {{ profile = "{profile}", repath = "packet", window_limit = 60, {more} }}
flows = [{{ group = "f", from = "A", to = "B", tcp = "host", size = "2000 segments" }}]
observe = [{{ name = "events", kind = "reordering" }}]
"""


def events(profile: str, extra_us: int, more: str = "") -> dict[str, int]:
    """Return the events of a run whose second path takes `extra_us` longer, with no lost packet."""
    text = TWO_PATHS.format(profile=profile, slow=50 + extra_us, more=more)
    run = Scenario.parse(text).run(seed=1)
    assert not any(run.drops.values())
    found = list(run["events"]["event"])
    return {name: found.count(name) for name in ("overtaken", "resent", "recovery", "timeout")}


@pytest.mark.parametrize("profile", ["rfc", "linux-6"])
def test_paths_of_equal_delay_overtake_nothing_without_queues(profile):
    """The first link spaces segments by 12 us, and all paths take the same time."""
    assert sum(events(profile, 0).values()) == 0


@pytest.mark.parametrize("extra_us", [12, 24, 36, 48])
def test_newreno_retransmits_if_three_segments_overtake(extra_us):
    """Segments follow each other at 12 us: n later ones overtake if the second path is n x 12 us longer."""
    found = events("rfc", extra_us)
    assert found["overtaken"] > 400
    assert (found["recovery"] > 0) == (found["resent"] > 0) == (extra_us // 12 >= 3)


def test_rack_takes_reordering_for_a_loss_only_until_it_knows_it():
    """RFC 8985: without known reordering the window is zero after three SACKed segments, then min_rtt / 4.

    The round trip is at least 2 x 150 us and four transmissions of 12 us: 87 us exceed the 48 and 60 us.
    """
    for extra_us in (48, 60):
        newreno = events("rfc", extra_us)
        rack = events("rfc", extra_us, 'recovery = "sack", loss_detection = "rack"')
        assert rack["recovery"] == rack["resent"] == 1
        assert newreno["recovery"] > 5
        assert rack["overtaken"] > newreno["overtaken"]
    assert events("rfc", 200, 'recovery = "sack", loss_detection = "rack"')["recovery"] > 1


def test_engines_agree_on_sprayed_flows():
    world = Scenario.parse(TWO_PATHS.format(profile="rfc", slow=98, more=""))
    fast, reference = (world.run(seed=1, digest=True, engine=engine) for engine in ("fast", "reference"))
    assert fast.records_sha256 == reference.records_sha256
