"""Study of reconfigurable links: its scenario matches its page, and a fluid has no shortfall."""

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from handmade import table
from optcp.outage.network import Network
from optcp.outage.world import MSS_SHARE
from optcp.papers.assume import values
from optcp.scenarios.scenario import load
from optcp_papers.reconfigurable import days
from optcp_papers.reconfigurable.circuits import PHASES, Circuit
from optcp_papers.reconfigurable.paper import scenario
from optcp_papers.reconfigurable.phases import A_SECOND, EVENTS, MEASURED, Timeline, back_s, measure, shares
from optcp_papers.reconfigurable.restoration import ASSUMED, AT, EARLY, LATE, NEVER, timeline

# TopoHub does not close its files.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")

US_A_KM = 6.5
CUT, DETOUR = ("Essen", "Dortmund"), ("Koeln", "Koblenz")
TIMES = Timeline(cut_s=2, works_s=4, step_s=6, end_s=8, gap_s=0.1)
RATE_BPS = 1e9


@pytest.fixture(scope="module")
def germany():
    return Network.find("sndlib/germany50")


def crosses(way, link):
    return link in itertools.pairwise(way)


def test_the_busiest_link_is_cut_and_the_largest_demands_cross_it(germany):
    ways = germany.paths(US_A_KM)
    loads = Counter()
    for pair, way in ways.items():
        for link in itertools.pairwise(way):
            loads[link] += germany.demands[pair]
    assert loads.most_common(1)[0][0] == CUT
    hit = [pair for pair, way in ways.items() if crosses(way, CUT)]
    own = [pair for pair, way in ways.items() if crosses(way, DETOUR) and not crosses(way, CUT)]
    listed = load(scenario("restoration")).flows
    routes = zip(listed["group"], listed["path"], strict=True)
    ends = [(group, (path.split()[1], path.split()[-1])) for group, path in routes]
    for group, pairs in (("hit", hit), ("own", own)):
        largest = sorted(pairs, key=lambda pair: -germany.demands[pair])[:6]
        assert sorted(pair for name, pair in ends if name == group) == sorted(largest)


def test_delays_that_a_run_draws_are_unknown_before():
    links = load(scenario("restoration")).links
    drawn = np.isnan(links["delay_s"])
    assert drawn.sum() == 24
    assert all(name.startswith(("hit", "own")) for name in links["link"][drawn])


def test_the_other_wavelength_is_as_long_as_the_detour(germany):
    way = germany.without("Dortmund-Essen").path(*CUT, US_A_KM)
    km = {frozenset(link[:2]): link[3] for link in germany.links}
    delay_ms = sum(km[frozenset(link)] for link in itertools.pairwise(way)) * US_A_KM / 1000
    assert values(ASSUMED, {})["way_ms"] == pytest.approx(delay_ms, abs=0.001)


@dataclass
class Order:
    """Times of arrivals of overtaken segments."""

    time_ps: list[int]

    def where(self, **_):
        return self

    def __getitem__(self, name):
        return np.array(getattr(self, name))


class Run(dict):
    """Run of flows with their fair rate, for any restored share."""

    def __init__(self, share, lag_s=0.0):
        since = {"timeouts": np.array([3, 2]), "resent": np.array([7, 0]), "needless": np.array([1, 0])}
        later = {name: np.array([1, 0]) for name in since}
        super().__init__({"since-cut": since, "since-works": later, "since-step": later, "order": Order([int(4.5e12)])})
        instants = (np.arange(8 * A_SECOND) + 0.5) / A_SECOND
        whole = RATE_BPS * MSS_SHARE / 8 / A_SECOND
        found = np.full((2, instants.size), whole)
        found[:, instants > TIMES.cut_s] = whole / 2
        found[0, instants > TIMES.works_s] = whole * share
        found[1, instants > TIMES.works_s + lag_s] = whole
        found[0, (instants > TIMES.step_s) & (instants < TIMES.step_s + TIMES.gap_s)] = 0
        found[0, instants > TIMES.step_s + TIMES.gap_s] = whole * share / 2
        self["goodput"] = table({"interval_s": 1 / A_SECOND, "groups": ["own", "hit"], "bytes": found[::-1]})


def measured(run, share):
    result = measure(run, TIMES, share, RATE_BPS)
    return {
        event: SimpleNamespace(**dict(zip(MEASURED, line, strict=True)))
        for event, line in zip(EVENTS, result, strict=True)
    }


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_fluid_has_no_shortfall(share):
    found = measured(Run(share), share)
    assert (found["before"].hit_pct, found["before"].own_pct) == pytest.approx((100, 100))
    for event in ("cut", "return", "step"):
        assert found[event].lost_ms == pytest.approx(0, abs=1e-9)
    assert (found["cut"].back_s, found["return"].back_s) == (0, 0)
    assert found["step"].back_s <= TIMES.gap_s
    assert sum(shares("return", share).values()) == 1 + share


def test_late_data_count_as_lost_until_arrival():
    found = measured(Run(0.5, lag_s=1.0), 0.5)["return"]
    assert found.lost_ms == pytest.approx(500)
    # Half of the rate until then: four tenths of half a second may be missing.
    assert found.back_s == pytest.approx(0.9)


def test_flows_that_never_recover_count_whole_phase():
    assert back_s([np.full(20, 0.89), np.ones(20)]) == 2


def test_run_without_step_has_no_step_metrics():
    short = replace(TIMES, end_s=TIMES.step_s, gap_s=0)
    found = measure(Run(0.5), short, 0.5, RATE_BPS)
    assert np.isnan(found[EVENTS.index("step")]).all()
    assert not np.isnan(found[EVENTS.index("return")]).any()


def test_counts_are_those_from_an_event_to_the_next():
    found = measured(Run(0.5), 0.5)
    assert (found["cut"].timeouts, found["cut"].resent, found["cut"].needless) == (4, 6, 0)
    assert (found["return"].timeouts, found["step"].timeouts) == (0, 1)
    assert (found["cut"].overtaken, found["return"].overtaken, found["step"].overtaken) == (0, 1, 0)


@pytest.mark.parametrize("at", [NEVER, EARLY, AT, LATE])
def test_scheduled_events_precede_end_of_run(at):
    settings = timeline(values(ASSUMED, {}), at).settings
    stop = float(settings["stop"].removesuffix(" s"))
    instants = [float(settings[f"parameters.{name}"].removesuffix(" s")) for name in ("cut", "works", "step", "light")]
    assert instants == sorted(instants)
    assert instants[-1] < stop
    assert load(scenario("restoration")).set(settings).stop_s == stop


def served(wire_bytes, first_s, second_s, circuit, step_s=1e-6):
    """Return the completion times of a fluid over one or two circuits, step by step, by phase of each cycle."""
    room, came, gone, time_s = circuit.bps / 8 * step_s, 0.0, 0.0, 0.0
    while (came if second_s is None else gone) < wire_bytes - 1e-6:
        if second_s is not None and (second_s + time_s) % circuit.cycle_s < circuit.day_s:
            gone = min(gone + room, came)
        if (first_s + time_s) % circuit.cycle_s < circuit.day_s:
            came = min(came + room, wire_bytes)
        time_s += step_s
    return time_s


@pytest.mark.parametrize("wire_bytes", [10e3, 100e3, 200e3])
def test_bounds_match_step_by_step_fluid(wire_bytes):
    circuit = Circuit(10e9, 90e-6, 1.8e-3, 2)
    phases_s = (np.arange(PHASES) + 0.5) / PHASES * circuit.cycle_s
    one, two = (circuit.alone_s(np.array([wire_bytes]), hops=hops)[0] for hops in (1, 2))
    for at in (0, 1, 5, 31):
        assert one[at] == pytest.approx(served(wire_bytes, phases_s[at], None, circuit), abs=2.5e-6)
        for behind in (0, 1, 30):
            expected = served(wire_bytes, phases_s[at], phases_s[behind], circuit)
            assert two[at, behind] == pytest.approx(expected, abs=2.5e-6)


def test_days_are_whole_weeks_of_eight_slots():
    settings = days.schedule(90, 160, 16)
    world = load(scenario("days"))
    for key, value in settings.items():
        world = world.set(key, value)
    resolved = world.resolved
    (schedule,) = resolved["schedules"]
    week_ps = 8 * 100 * 10**6
    assert schedule["period_ps"] == week_ps
    assert [step["after_ps"] for step in schedule["steps"]] == [0, 700 * 10**6, 710 * 10**6]
    (observed,) = (item for item in resolved["observe"] if item["name"] == "ports")
    assert resolved["stop_ps"] - observed["after_ps"] == 200 * week_ps
    assert resolved["stop_ps"] == 300 * week_ps
