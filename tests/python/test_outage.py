"""Outage study: closed forms by hand, networks and their traffic, statistics over failures, losses of runs."""

import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest

import optcp
from optcp import stats
from optcp.errors import InputError
from optcp.outage import capacity, costs, events, resampled
from optcp.outage.mechanisms import MECHANISMS
from optcp.outage.network import Network, busiest, systematic
from optcp.outage.study import Costs, CostsOf, grid
from optcp.outage.world import Assumptions, World
from optcp.study import Study
from optcp_papers.outage import law, ranking

# TopoHub does not close its data files.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

# 20 Mb/s, 8 + 4 + 8 ms one way: segments of 1500 B every 0.6 ms, an RTT of 40.6 ms.
WAY = law.Way(0.008, 0.004, 0.008, 20e6)
LINUX = law.Timers(0.0406, 0.2406, 120.0, modern=True, ack_delay_s=0.04)
WHEEL = dataclasses.replace(LINUX, wheel=law.Wheel(0.004))
RFC = law.Timers(0.0406, 1.0, 60.0, modern=False)
LAST_S = 0.008


def comes_back(timers, length_s):
    return law.wait(WAY, timers, LAST_S, law.Outage.of_link(WAY, length_s))


def test_path_matches_hand_calculation():
    assert (WAY.rtt_s, WAY.to_failure_s) == pytest.approx((0.0406, 0.0086))
    assert WAY.window == 67


@pytest.mark.parametrize(
    ("timers", "length_s", "case", "timeouts", "resume_ms", "repair_ms"),
    [
        # The first segment that gets through is sent 8.6 ms before the repair; three duplicate ACKs take one RTT more.
        (RFC, 0.015, "near clock", 0, 6.4, 6.4 + 40.6 + 1.2),
        # RTOs of 1, 2, 4, 8 s, from the last ACK on.
        (RFC, 0.05, "timeout", 1, 1008, 1008 + 40.6),
        (RFC, 1.5, "timeout", 2, 3008, 3008 + 40.6),
        (RFC, 5.0, "timeout", 3, 7008, 7008 + 40.6),
        # The ACK that was delayed by 40 ms passes B at 56 ms, and reaches the sender 12 ms later.
        (LINUX, 0.05, "delayed ACK", 0, 68, 68 + 40.6),
        # A probe two RTTs after the last segment, and 1.2406 s of RTOs after it.
        (LINUX, 0.08, "probe", 0, 89.2, 89.2 + 40.6 + 30.75),
        (LINUX, 0.3, "timeout", 1, 329.8, 329.8 + 81.2),
        (LINUX, 0.6, "timeout", 2, 811.0, 811.0 + 81.2),
        # Ticks of 4 ms from the failure on. The probe is set at 8 ms for 83.2 ms, 21 ticks, and fires at tick 24. The
        # RTO of 61 ticks fires at tick 24 + 61 + 1, the next one of 122 ticks at the next multiple of 8 after 86 + 122.
        (WHEEL, 0.08, "probe", 0, 96, 96 + 40.6 + 30.75),
        (WHEEL, 0.3, "timeout", 1, 344, 344 + 81.2),
        (WHEEL, 0.6, "timeout", 2, 864, 864 + 81.2),
    ],
)
def test_flow_recovery_matches_hand_calculation(timers, length_s, case, timeouts, resume_ms, repair_ms):
    found = comes_back(timers, length_s)
    assert (found.case, found.timeouts) == (case, timeouts)
    assert (1000 * found.resume_s, 1000 * found.repair_s) == pytest.approx((resume_ms, repair_ms), abs=1e-9)


def test_acks_of_far_end_restart_flow():
    way = law.Way(0.002, 0.004, 0.014, 20e6)
    found = law.wait(way, LINUX, 0.002, law.Outage.of_link(way, 0.02))
    # The last acknowledgement of the receiver passes B at 28 ms; the first ACK after 20 ms is at the sender 6 ms later.
    assert (found.case, found.resume_s) == ("far clock", pytest.approx(0.026))


def test_stretch_of_long_outages_matches_page():
    # Steps of 1, 3, 7, ... units without an offset: the mean in each is (r - 1) / ln r, r = 3, 7/3, ...
    by_hand = []
    before = 1.0
    for after in (3.0, 7.0, 15.0):
        ratio = after / before
        by_hand.append((ratio - 1) / math.log(ratio))
        expiries = law.Timers(0.0, 1.0, math.inf, modern=False).expiries_s(0.0)
        assert law.mean_stretch(expiries, 0.0, before, after) == pytest.approx(by_hand[-1])
        before = after
    assert by_hand == pytest.approx([1.820, 1.574, 1.4995], abs=1e-3)
    assert [law.step_bound(k) for k in (1, 2, 3)] == pytest.approx([3, 7 / 3, 15 / 7])


def test_clock_of_a_timer_is_found_from_its_expiry():
    # The second RTO expires at 832 ms and fires up to 8 ticks later: 880 ms is a slot too late in any phase.
    outage = law.Outage.of_link(WAY, 0.6)
    for seen_s, predicted_s in ((0.836, 0.836), (0.848, 0.848), (0.864, 0.864), (0.880, 0.848)):
        found = WHEEL.expiring_at(seen_s)
        assert law.wait(WAY, found, LAST_S, outage).resume_s == pytest.approx(predicted_s)
    assert RFC.expiring_at(3.0) == RFC


def test_timeout_cost_of_newreno():
    waited = comes_back(RFC, 0.05)
    found = law.shortfall(WAY, waited, LAST_S, 0.0406, law.Outage.of_link(WAY, 0.05), law.REGROWTHS["newreno"])
    # From 12.6 ms before the failure to the RTO at 1008 ms; then slow start to 33, and one segment per round trip.
    assert found.silent == pytest.approx(1.0206 * 67 / 0.0406)
    half = 67 / 2
    assert found.regrow == pytest.approx(67 * math.log2(half) - (half - 1) + 67 * 67 / 8)


def test_networks_have_demands_or_a_message():
    abilene = Network.find("sndlib/abilene")
    assert (len(abilene.nodes), len(abilene.links), len(abilene.demands)) == (12, 15, 132)
    assert events.bridges(abilene) == {"ATLAM5-ATLAng"}
    with pytest.raises(InputError, match="did you mean"):
        Network.find("sndlib/abilen")


def test_pairs_are_drawn_by_their_demands():
    demands = {("a", "b"): 3.0, ("b", "c"): 1.0, ("c", "a"): 0.5}
    drawn = systematic(demands, 9, seed=5)
    assert [drawn.count(pair) for pair in demands] == [6, 2, 1]


def test_busiest_link_has_requested_load():
    assumed = Assumptions(peak=0.5, short_share=0.0, flow_mbps=1.0)
    network = Network.find("sndlib/abilene")
    world = World.of(network, assumed)
    wanted = {pair: float(world.long.count(pair)) for pair in dict.fromkeys(world.long)}
    # 1 Mb/s per flow, whole flows: within one flow, a link of 50 Mb/s.
    assert busiest(network.loads(6.5, wanted), lambda _: 1.0) == pytest.approx(50, abs=3)


def test_mean_size_matches_page():
    assert Assumptions().mean_size == pytest.approx(1.09e6, rel=0.01)
    assert Assumptions(clamp_mb=1000).mean_size == pytest.approx(1.71e6, rel=0.01)
    assert Assumptions(sizes="hadoop", clamp_mb=1000).mean_size == pytest.approx(120e3, rel=0.02)


def square(directory):
    """Write four towns in a ring, whose neighbours are 100, 200, 300 and 400 km apart."""
    file = directory / "square.gml"
    links = [("A", "B", 100), ("B", "C", 200), ("C", "D", 300), ("D", "A", 400)]
    nodes = "".join(f'  node [ id {at} label "{name}" ]\n' for at, name in enumerate("ABCD"))
    edges = "".join(f"  edge [ source {'ABCD'.index(a)} target {'ABCD'.index(b)} length {km} ]\n" for a, b, km in links)
    file.write_text(f"graph [\n{nodes}{edges}]\n")
    return Network.find(str(file))


def test_spare_capacity_of_a_ring_by_hand(tmp_path):
    network = square(tmp_path)
    one = {("A", "B"): 1.0}
    network = Network(network.kind, network.reference, network.nodes, network.links, one)
    loads = capacity.rerouted(network, Assumptions(), ["A-B"])
    # 60 Mb/s over one link need three other links.
    assert (loads.spare, loads.added, loads.busiest_detour("A-B")) == pytest.approx((3.0, 0.0, 0.6))
    spare = capacity.spare_of(network, Assumptions(), ["A-B"])
    assert spare["1+1"].spare == spare["local"].spare == 3.0


def test_working_path_has_less_delay(tmp_path):
    network = square(tmp_path)
    # From D to A over C and B are 600 km, over their own link 400; from A to C over D are 700, over B 300.
    assert network.pair_hops([("D", "A"), ("A", "C")], 5.0) == {("D", "A"): [1, 3], ("A", "C"): [2, 2]}
    links = tuple((a, b, name, 1000.0 if (a, b) == ("A", "D") else km) for a, b, name, km in network.links)
    longer = replace(network, links=links)
    assert longer.pair_hops([("D", "A")], 5.0) == {("D", "A"): [3, 1]}


def test_statistics_over_failures():
    values, weights = np.array([1.0, 2.0, 6.0]), np.array([1.0, 1.0, 2.0])
    found = resampled.mean(values, weights)
    assert found.estimate == pytest.approx(15 / 4)
    # Three failures are too few for an interval.
    assert found.interval == stats.Interval(15 / 4, -math.inf, math.inf, 3)
    # With equal resamples the difference of a statistic from itself is zero.
    many = resampled.mean(np.arange(9.0), np.ones(9))
    assert (many - many).interval == stats.Interval(0.0, 0.0, 0.0, 9)
    pooled = resampled.quantile([[1.0, 1.0], [], [9.0]], [1.0, 5.0, 4.0], 0.5)
    assert (pooled.estimate, pooled.n) == (9.0, 2)
    assert resampled.mean([np.nan, 3.0], [1.0, 1.0]).estimate == 3.0


def test_failure_cost_is_difference_to_twin():
    """On abilene: undisturbed flows elsewhere lose nothing, and without a mechanism everything is lost."""
    assumed = Assumptions(short_share=0.0, window_s=1.0)
    of = World.of(Network.find("sndlib/abilene"), assumed)
    chosen = [link for link in events.links(of.network) if link.name == "DNVRng-KSCYng"]
    axes = {
        "mechanism": {name: MECHANISMS[name].settings for name in ("none", "1+1")},
        "failure": {"none": {"failures": []}, chosen[0].name: chosen[0].settings(assumed.warm_up_s)},
    }
    done = Study(grid("test", of, axes), seeds=1).run()
    found = CostsOf(of.network, tuple(chosen))(done)
    none, both = (found.cells[name,][0] for name in ("none", "1+1"))
    assert none.total_mb == pytest.approx(none.lost_hit_mb + none.lost_bystanders_mb)
    assert none.lost_hit_mb > both.lost_hit_mb > 0
    assert (none.network_ms > 100).all()
    assert (none.outage_ms >= none.network_ms).all()
    assert (both.network_ms < 50).all()
    assert none.flows == both.flows == len(of.long)


def test_routes_name_ports_and_nodes():
    world = optcp.load("single-failure")
    done = Study(world, {}, seeds=1).run()
    (run,) = done.runs(1)
    ways = costs.routes(run)
    assert set(ways) == {name for entry in run.scenario["flows"] for way in entry["routes"] for name in way["flows"]}
    assert all(len(way.ports) == len(way.nodes) - 1 for way in ways.values())


def test_ducts_are_neighbours_by_bearing():
    geant = Network.find("sndlib/geant")
    assert len(events.ducts(geant)) == 62
    assert len(events.ducts(geant, events.LIKELY_DEGREES)) == 16


def test_failures_are_weighted_by_frequency():
    """Links of 100 and 300 km, ducts of 100 and 100 km; a fifth of failures are ducts."""
    happened = [events.Event(name, (name,), (), 0.0, km) for name, km in (("a", 100.0), ("b", 300.0))]
    happened += [events.Event(name, ("a", name), (), 0.0, 100.0) for name in ("c", "d")]
    of = Costs(None, tuple(happened), np.ones(4), {})
    chosen = {"shared_share": 0.2, "cuts_follow": "km"}
    assert ranking.weights(of, chosen) == pytest.approx([0.2, 0.6, 0.1, 0.1])
    assert ranking.weights(of, chosen | {"cuts_follow": "links"}) == pytest.approx([0.4, 0.4, 0.1, 0.1])
