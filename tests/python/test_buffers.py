"""Study of the buffer that a switchover needs."""

import itertools
import math

import numpy as np
import pytest

from optcp import Study
from optcp.papers.options import Options
from optcp_papers.buffers.cells import BDP_PACKETS, Cell, loads, shares
from optcp_papers.buffers.fluid import fluid_bytes
from optcp_papers.buffers.law import Flows, switchover_bytes, utilisation
from optcp_papers.buffers.network import world
from optcp_papers.buffers.paper import TCP, scenario
from optcp_papers.buffers.shallow import dropped_pct
from optcp_papers.buffers.switchover import peak_bdp


def test_utilisation_matches_formulas_by_hand():
    # A window between half a BDP and a BDP has a mean of three quarters.
    assert utilisation("reno", 1, 0) == pytest.approx(0.75)
    assert utilisation("reno", 1, 1) == 1
    # Mean of 1 - 0.3 (1 - t)^3.
    assert utilisation("cubic", 1, 0) == pytest.approx(0.925)
    assert utilisation("cubic", 1, 3 / 7) == 1
    # One RTT in eight at 3/4, and 0.2 s of 10.2 s without data.
    assert utilisation("bbr", 1, 0) == pytest.approx((1 - 1 / 32) / 1.02)
    # 3 sqrt(3) / (2 sqrt(2)) = 1.8371, and erf(1.8371 / 1.01) = 0.98990 by a table of the normal distribution.
    assert utilisation("reno", 10_000, 0.01) == pytest.approx(0.98990, abs=1e-5)


@pytest.mark.parametrize("b", [0.1, 0.25, 0.4, 0.8])
@pytest.mark.parametrize("tcp", ["reno", "cubic"])
def test_utilisation_matches_window_steps(tcp, b):
    """A window of 10,000 packets per BDP, moved in small steps, sends at most a BDP per RTT."""
    packets, most = 10_000.0, 10_000 * (1 + b)
    if tcp == "reno":
        windows = np.arange(most / 2, most)
        sent, time = windows.sum(), np.maximum(1.0, windows / packets).sum()
        share = sent / packets / time
    else:
        t = (np.arange(100_000) + 0.5) / 100_000
        share = np.minimum(1.0, most * (1 - 0.3 * (1 - t) ** 3) / packets).mean()
    assert utilisation(tcp, 1, b) == pytest.approx(min(1.0, share), rel=1e-3)


def test_queue_of_bbr_is_two_bdp_minus_the_pipe_or_what_ten_round_trips_bring():
    rate, rtt, capacity = 1e7, 0.04, 2e8
    bdp = capacity * rtt / 8
    for count, expected in ((20, 0), (21, 0.05 * 10), (28, 2 * 1.4 - 1)):
        flows = [Flows(count, rate, rtt, rtt)]
        assert switchover_bytes("bbr", flows, capacity, rtt) == pytest.approx(expected * bdp)
    assert fluid_bytes("bbr", [Flows(21, rate, rtt, rtt)], capacity, rtt) == pytest.approx(0.5 * bdp)
    # 28 flows do not reach the equilibrium of 1.8 + 1.4 x 8 / 33 - 1 / 33 within ten RTTs.
    assert 1.8 * bdp < fluid_bytes("bbr", [Flows(28, rate, rtt, rtt)], capacity, rtt) < 2.11 * bdp


def test_longer_backup_needs_less_buffer():
    rate, capacity = 1e7, 2e8
    for model in (switchover_bytes, fluid_bytes):
        for tcp in TCP:
            needed = [
                model(tcp, [Flows(12, rate, 0.04, 0.04), Flows(16, rate, before, 0.04)], capacity, 0.04)
                for before in (0.02, 0.04 / 1.47, 0.04)
            ]
            assert needed == sorted(needed)
            assert needed[0] < 0.8 * needed[2]


def run_with(tmp_path, tcp, queue):
    settings = {**TCP[tcp], **loads()["0.6"], **shares()["0.8"], "parameters.queue": queue}
    grid = Options().grid(scenario("switchover"), settings, {"parameters.working_delay": ["8 ms"]}, "buffers")
    done = Study(grid, seeds=1).run(tmp_path / f"{tcp}-{queue}", jobs=1)
    return done.run(grid.branches[0], 1)


@pytest.mark.parametrize("tcp", ["cubic", "bbr"])
def test_maximum_queue_is_the_smallest_buffer_without_drops(tmp_path, tcp):
    packets = round(peak_bdp(run_with(tmp_path, tcp, "unlimited")) * BDP_PACKETS)
    assert packets > BDP_PACKETS
    assert dropped_pct(run_with(tmp_path, tcp, f"{packets} packets")) == 0
    assert dropped_pct(run_with(tmp_path, tcp, f"{packets - 1} packets")) > 0


def test_cells_have_the_rates_of_their_names():
    cell = Cell(0.6, 0.5, 1.47)
    own, switched = cell.flows
    assert (own.count, switched.count) == (12, 10)
    assert switched.before_s == pytest.approx(0.04 / 1.47)
    assert cell.overloads
    assert not Cell(0.5, 0.5).overloads
    assert cell.rule_packets == pytest.approx(2e8 * 0.04 / 12_000 / math.sqrt(22))


def test_switchovers_on_germany50_move_flows_to_the_detour():
    of = world()
    a, b = of.links[0]
    moved = of.after(a, b)
    assert len(moved) == len(of.routes) == 150
    assert not any({(a, b), (b, a)} & set(itertools.pairwise(now)) for now, _ in moved)
    for route, (now, flow) in zip(of.routes, moved, strict=True):
        crosses = {(a, b), (b, a)} & set(itertools.pairwise(route))
        assert (now != route) == bool(crosses)
        assert (now[0], now[-1]) == (route[0], route[-1])
        assert flow.after_s > flow.before_s if crosses else flow.after_s == flow.before_s


def test_links_of_germany50_carry_at_most_four_fifths():
    of = world()
    counts = dict.fromkeys(of.rates_bps, 0)
    for route in of.routes:
        for hop in itertools.pairwise(route):
            counts[hop] += 1
    assert max(1e7 * count / of.rates_bps[hop] for hop, count in counts.items()) <= 0.8
