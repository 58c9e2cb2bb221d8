"""Starting scenarios of the playground: small, and each shows its effect."""

import itertools
import tomllib
from collections import Counter

import numpy as np
import pytest

from optcp import Scenario
from optcp.constellation import series, shell, station
from optcp.scenarios import shipped
from optcp.web.playground import starts

TEXTS = {start.name.removesuffix(".toml"): start.text for start in starts()}
PICTURES = {"goodput": "goodput", "cwnd": "tcp", "queue": "queue"}
PS_A_SECOND = 1e12


def run(name, *, seed=1, also="", **settings):
    """Return a run with further observations and other parameters."""
    keys = [(key if "." in key else f"parameters.{key}", value) for key, value in settings.items()]
    return Scenario.parse(TEXTS[name] + also, f"{name}.toml").set(dict(keys)).run(seed)


def mbps(run):
    """Return goodput of each interval by group."""
    goodput = run["goodput"]
    return {
        group: goodput.where(group=group)["bytes"] * 8e-6 / goodput.interval_s for group in goodput.distinct("group")
    }


def mean_mbps(run, from_s, until_s):
    """Return mean goodput by group in a part of the run."""
    first, last = (round(at / run["goodput"].interval_s) for at in (from_s, until_s))
    return {group: rates[first:last].mean() for group, rates in mbps(run).items()}


def observing(kind):
    return f'\n[[observe]]\nname = "{kind}"\nkind = "{kind}"\n'


def test_ring_is_first_then_one_scenario_per_study():
    assert list(TEXTS) == ["ring", "gmpls", "bundle", "fast-reroute", "days-and-nights", "satellite"]
    assert TEXTS["ring"].startswith(shipped.scenarios()["ring"].read_text(encoding="utf-8")[:60])


@pytest.mark.parametrize("name", TEXTS)
def test_worlds_are_small_and_have_the_three_pictures(name):
    world = Scenario.parse(TEXTS[name], name)
    assert world.warnings == ()
    assert len(TEXTS[name].encode()) < 6000
    shown = world.run(1)
    assert PICTURES.items() <= {item["name"]: item["kind"] for item in world.resolved["observe"]}.items()
    assert 40 <= len(np.unique(shown["goodput"]["time_ps"])) <= 100
    assert len(shown["cwnd"].distinct("flow")) <= 4
    assert shown["queue"]["mean_packets"].max() > 1
    assert "\n#" in TEXTS[name].partition("title =")[0]


def test_gmpls_flow_stalls_during_switch_delay():
    late, soon = (mbps(run("gmpls", switch_delay=delay)) for delay in ("1 s", "0 ms"))
    for group in ("switched", "watched"):
        assert late[group][51:60].max() == 0
        assert soon[group][51:60].max() > 0
    assert late["fixed"][51:60].mean() > 1.5 * soon["fixed"][51:60].mean()


def test_gmpls_gains_by_a_short_delay_as_table_3_has_it():
    def good(delay):
        runs = [run("gmpls", seed=seed, switch_delay=delay) for seed in range(1, 41)]
        return np.mean([sum(mean_mbps(item, 5, 6.5).values()) for item in runs])

    assert 1.02 < good("50 ms") / good("0 ms") < 1.15


def test_a_bundle_shares_its_lightpaths_where_each_place_has_one_of_its_own():
    most = 20 * 1452 / 1500
    shared, own = run("bundle"), run("bundle", selection="destination")
    before, behind = mean_mbps(own, 5, 10), mean_mbps(own, 11, 20)
    assert max(before.values()) < 1.01 * most
    # Two lightpaths remain, and places 0 and 2 are even: their flows take the first of these.
    assert behind["to-M0"] + behind["to-M2"] == pytest.approx(most, rel=0.06)
    assert behind["to-M1"] == pytest.approx(most, rel=0.06)
    assert sum(mean_mbps(shared, 11, 20).values()) == pytest.approx(2 * most, rel=0.06)
    # Over nine seconds the flows of one seed share unequally.
    each = [mean_mbps(run("bundle", seed=seed), 11, 20) for seed in range(1, 5)]
    assert all(np.mean([rates[group] for rates in each]) == pytest.approx(2 * most / 3, rel=0.1) for group in each[0])


def test_the_least_work_is_chosen_packet_by_packet():
    def apart(run):
        first, second = (run["queue"].where(port=f"lightpath{number}:L->R")["mean_packets"] for number in range(2))
        return np.abs(second - first).max()

    # Packets of one size on lightpaths of one rate: no two queues differ by more than the arriving packet.
    assert apart(run("bundle")) <= 1 < apart(run("bundle", selection="destination"))


def test_suppression_prevents_harm_of_reordering():
    def events(**settings):
        found = run("fast-reroute", also=observing("reordering") + observing("packets"), **settings)
        assert found.counts["dropped"] == 0
        counts = Counter(found["reordering"].texts("event"))
        acks = found["packets"].where(event="acked")["seq"]
        windows = found["cwnd"]
        # There is one row per change, so without a change after the repair the last row holds.
        behind = np.append(windows["cwnd_bytes"][windows["time_ps"] > 4 * PS_A_SECOND], windows["cwnd_bytes"][-1])
        return counts, int((np.diff(acks) == 0).sum()), behind.min() / 1460

    plain, duplicates, least = events()
    # A packet leaves the narrow link every 0.6 ms: at most this many fit into the 20 ms of the longer detour.
    assert 0 < plain["overtaken"] <= 20 / 0.6
    assert (plain["recovery"], plain["timeout"]) == (1, 0)
    assert plain["resent"] > 0
    assert duplicates >= 3
    assert least == 40
    das, kept_back, least = events(**{"flows.0.tcp": "das"})
    assert das == {"overtaken": plain["overtaken"]}
    assert kept_back < duplicates
    assert least >= 80


def test_no_data_at_night_and_retcp_uses_more_of_circuit():
    def rates(**settings):
        """Return rates by week: in packet days, in the second half of the night, and on the circuit's day."""
        whole = mbps(run("days-and-nights", **settings))["bulk"].reshape(3, 32)
        return whole[:, 8:24].mean(1), whole[:, 25], whole[:, 27:].mean(1)

    by_day, by_night, circuit = rates()
    # Without HyStart, which Linux only has for CUBIC, slow start ends with losses, whose bytes arrive a week later.
    assert by_day.mean() == pytest.approx(10 * 1448 / 1500, rel=0.03)
    assert by_night.max() == 0
    assert circuit.min() > 2.5 * by_day[0]
    cubic = rates(congestion="cubic")[2]
    assert (circuit > cubic).all()
    assert circuit.mean() > 1.4 * cubic.mean()


def milliseconds(text):
    value, unit = text.split()
    return float(value) * {"s": 1000, "ms": 1}[unit]


def delay_ms(world, ends, at_ms):
    """Return the delay of a link in the satellite scenario, from its text."""
    changes = [item for item in world["schedules"][0]["changes"] if set(item["link"]) == ends]
    if changes:
        at, delays = ([milliseconds(change[key]) for change in changes] for key in ("at", "delay"))
        return np.interp(at_ms, at, delays)
    chains = ((link, chain) for link in world["links"] for chain in link.get("chains", [link.get("chain")]))
    return next(milliseconds(link["delay"]) for link, chain in chains if ends in map(set, itertools.pairwise(chain)))


def test_satellites_match_shell_and_delays_nearly():
    found = series(shell("kuiper-630"), station("Manila"), station("Dalian"), length_s=30, first_s=15)
    world = tomllib.loads(TEXTS["satellite"])
    for step, (path, rtt_ms) in enumerate(zip(found.paths, found.rtt_ms, strict=True)):
        for start, end in (("Manila", "Dalian"), ("Dalian", "Manila")):
            entries = [item for item in world["forwarding"]["entries"] if item["node"] == start]
            entry = [item for item in entries if milliseconds(item["at"]) <= 100 * step][-1]
            way = [start, *entry["next"].split(" > ")]
            assert way[-1] == end
            satellites = tuple(int(node[1:]) for node in way if node.startswith("S"))
            assert satellites == (path if start == "Manila" else path[::-1])
            ends = [set(pair) for pair in itertools.pairwise(way)]
            assert sum(delay_ms(world, item, 100 * step) for item in ends) == pytest.approx(rtt_ms / 2, abs=0.01)


def test_the_first_segment_takes_the_delays_of_its_links_and_four_transmissions():
    packets = run("satellite", also=observing("packets"))["packets"]
    data = packets.rows((packets["seq"] == 1) & (packets["bytes"] == 1434) & ~packets["ack"])
    sent, arrived = (data.where(event=event).seconds[0] for event in ("sent", "arrived"))
    delays_ms = 3.393 + 4.313 + 2.695 + 4.143
    assert (arrived - sent) * 1000 == pytest.approx(delays_ms + 4 * 1434 * 8 / 10_000, abs=0.001)


def test_vegas_takes_the_longer_path_for_a_queue_and_reno_does_not():
    most = 10 * 1380 / 1434
    for congestion, share in (("vegas", 0.5), ("reno", 1)):
        found = run("satellite", congestion=congestion)
        assert mean_mbps(found, 3, 13)["transfer"] == pytest.approx(most, rel=0.01)
        assert mean_mbps(found, 15, 30)["transfer"] < 1.001 * share * most
    assert mean_mbps(found, 15, 30)["transfer"] > 0.99 * most
