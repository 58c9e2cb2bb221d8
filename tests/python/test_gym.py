"""Environments: Gymnasium's own check, values by hand from live runs, and forks."""

import sys
import time

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import optcp
from optcp.errors import InputError
from optcp.gym import Outage, ProtectionEnv, WindowEnv

FLOWS = optcp.Scenario.parse("""
stop = "5 s"
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chain = ["A", "B", "C"], rate = "20 Mbps", delay = "10 ms", queue = "500 packets" }]
flows = [{ group = "g", path = ["A", "B", "C"], per_source = 2, tcp = "linux-6", start = "uniform(0 s, 0.5 s)" }]
""")
TWO_PATHS = """
stop = "8 s"
nodes = [{ names = ["P", "R2", "R3", "R5", "Q"] }]
links = [
    { chains = [["P", "R2"], ["R3", "Q"]], rate = "1 Gbps", delay = "1 ms", queue = "1000 packets" },
    { chains = [["R2", "R3"], ["R2", "R5", "R3"]], rate = "20 Mbps", delay = "5 ms", queue = "50 packets" },
]
flows = [{ group = "f", path = ["P", "R2", "voq", "R3", "Q"], tcp = "linux-6" }]
[[voqs]]
name = "voq"
between = ["R2", "R3"]
ways = { backup = ["R2", "R5", "R3"], working = ["R2", "R3"] }
served = "working"
queue = "100 packets"
"""
NAMES = ["g/A/0", "g/A/1"]
BACKUP, WORKING = 0, 1


def windows(**settings):
    return WindowEnv(FLOWS, NAMES, **settings)


def protection(**settings):
    times = {"start": "2 s", "set_up": "20 ms", **settings}
    outages = times.pop("outages", lambda draws: [Outage("R2-R3", 0.13, draws.choice([0.2, 1.0]))])
    return ProtectionEnv(optcp.Scenario.parse(TWO_PATHS), ["R2-R3"], outages, **times)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("Window", {"world": FLOWS, "flows": NAMES, "seeds": range(1, 4)}),
        (
            "Protection",
            {
                "world": optcp.Scenario.parse(TWO_PATHS),
                "links": ["R2-R3"],
                "outages": lambda draws: [Outage("R2-R3", draws.uniform(0.1, 0.3), 0.2)],
            },
        ),
    ],
)
def test_registered_environment_passes_the_check_of_gymnasium(name, settings):
    """Warnings are errors here."""
    check_env(gymnasium.make(f"optcp.gym:optcp/{name}-v0", **settings).unwrapped)


@pytest.mark.parametrize("make", [windows, protection])
def test_reset_takes_less_than_one_millisecond(make):
    env, taken = make(), []
    for _ in range(100):
        start = time.perf_counter()
        env.reset()
        taken.append(time.perf_counter() - start)
    assert min(taken) < 1e-3


def test_windows_observation_and_reward_are_those_of_a_live_run():
    env = windows(start="2 s", interval="200 ms", delay_weight=0.5)
    first, _ = env.reset(seed=1)
    second, reward, *_ = env.step(np.array([1.0, -0.5], np.float32))
    run = FLOWS.start(1)
    run.advance("2 s")
    before = [run.flow(name) for name in NAMES]
    assert first[:, 0].tolist() == pytest.approx([state.cwnd_bytes / 1e3 for state in before])
    assert first[:, [1, 4]].tolist() == [[0, 0], [0, 0]]
    for name, state, factor in zip(NAMES, before, (2, 2**-0.5), strict=True):
        run.set_cwnd(name, round(factor * state.cwnd_bytes))
    run.advance("2.2 s")
    utility = 0.0
    for row, name, old in zip(second, NAMES, before, strict=True):
        state = run.flow(name)
        rate = 8e-6 * (state.delivered_bytes - old.delivered_bytes) / 0.2
        least_s = min(old.srtt_s, state.srtt_s)
        retransmissions = state.retransmissions - old.retransmissions
        expected = [state.cwnd_bytes / 1e3, rate, 1e3 * state.srtt_s, 1e3 * least_s, retransmissions]
        assert row.tolist() == pytest.approx(expected)
        utility += np.log2(max(rate, 1e-3)) - 0.5 * np.log2(state.srtt_s / least_s)
    assert reward == pytest.approx(utility)


def test_failure_report_and_switchover_happen_at_their_times():
    """The link fails at 2.13 s, between the second and third step, and is reported 10 ms later."""
    env = protection(outages=lambda _: [Outage("R2-R3", 0.13, 0.3)])
    seen, _ = env.reset(seed=1)
    assert seen[:3].tolist() == [0, 0, WORKING]
    observed = []
    for step in range(12):
        seen, reward, *_ = env.step([BACKUP if step >= 3 else WORKING])
        assert reward == pytest.approx(0.05 * seen[4])
        observed.append(seen[:3].tolist())
    down = [index for index, (reported, *_) in enumerate(observed) if reported]
    assert down == list(range(2, 8))
    assert observed[2] == pytest.approx([1, 0.01, WORKING])
    assert observed[3] == pytest.approx([1, 0.06, BACKUP])
    assert observed[8] == pytest.approx([0, 0.01, BACKUP])
    env.step([BACKUP])
    assert env.run.port("R5->R3")["accepted"] > 0
    changes = '{ at = "2.13 s", link = "R2-R3", state = "down" }, { at = "2.17 s", link = "voq", served = "backup" }'
    written = f"{TWO_PATHS}[[schedules]]\nchanges = [{changes}, {{ at = '2.43 s', link = 'R2-R3', state = 'up' }}]\n"
    expected = optcp.Scenario.parse(written).start(1)
    expected.advance(env.run.now)
    assert list(env.run.ports) == list(expected.ports)
    assert repr(env.run.flows) == repr(expected.flows)


def rest(env, action):
    rewards, ends = [], False
    while not ends:
        _, reward, terminated, ends, _ = env.step(action)
        assert not terminated
        rewards.append(reward)
    return rewards


@pytest.mark.parametrize(("make", "action"), [(windows, np.array([0.1, -0.1])), (protection, np.array([BACKUP]))])
def test_forks_continue_independently_from_the_same_state(make, action):
    env = make(end="4 s")
    env.reset(seed=5)
    for _ in range(4):
        env.step(action)
    fork = env.fork()
    rewards = rest(env, action)
    assert rest(fork.fork(), action) == rewards
    assert rest(fork, 0 * action + 1) != rewards
    assert fork.reset()[0].tolist() == env.reset()[0].tolist(), "both draw the next episode alike"


def test_vector_of_forks_equals_its_environments():
    env = protection()
    vector = gymnasium.vector.SyncVectorEnv([env.fork] * 3)
    seen, _ = vector.reset(seed=7)
    actions = np.array([[BACKUP], [WORKING], [BACKUP]])
    for _ in range(8):
        seen, rewards, *_ = vector.step(actions)
    for number, action in enumerate(actions):
        env.reset(seed=7 + number)
        for _ in range(8):
            alone, reward, *_ = env.step(action)
        assert (seen[number].tolist(), rewards[number]) == (alone.tolist(), reward)


def test_window_stays_within_its_bounds():
    env = windows(interval="20 ms")
    for action in (-1.0, 1.0):
        env.reset()
        for _ in range(40):
            env.step(np.full(2, action))
            assert all(1448 <= env.run.flow(name).cwnd_bytes <= 2**33 for name in NAMES)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WindowEnv(FLOWS, "g/A/2"), "there is no TCP flow 'g/A/2'"),
        (lambda: WindowEnv(FLOWS, NAMES, seeds=()), "seeds: expected at least one seed"),
        (lambda: WindowEnv(FLOWS, NAMES, end="1.05 s"), r"start < start \+ interval <= end <= stop"),
        (lambda: WindowEnv("single-failure", NAMES), "world: expected a scenario"),
        (lambda: windows().step([0, 0]), r"call reset\(\) before the first step"),
        (lambda: ProtectionEnv(FLOWS, ["A-B"], list), r"expected a scenario with \[\[voqs\]\]"),
        (lambda: ProtectionEnv(FLOWS, ["A-C"], list), "there is no link 'A-C'; did you mean"),
        (lambda: protection(set_up="50 ms"), "set_up: expected a shorter time than `interval`"),
        (lambda: protection(outages=lambda _: [Outage("R2-R5", 0, 1)]).reset(), "unknown link 'R2-R5'"),
    ],
)
def test_wrong_use_is_answered_with_a_message(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("action", [[2], [0, 1], 0.5])
def test_action_outside_its_space_is_refused(action):
    env = protection()
    env.reset()
    with pytest.raises(InputError, match="action: expected"):
        env.step(action)


def test_without_gymnasium_the_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "optcp.gym")
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(InputError, match=r"gymnasium is not installed: pip install 'optcp\[gym\]'"):
        __import__("optcp.gym")
