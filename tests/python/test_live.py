"""Live runs: equality with runs in one piece, state calculated by hand, and messages."""

import contextlib
import threading

import numpy as np
import pytest

import optcp
from optcp.errors import InputError

WORLD = """
stop = "5 s"
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chain = ["A", "B", "C"], rate = "10 Mbps", delay = "5 ms", queue = "20 packets" }]
flows = [{ group = "g", path = ["A", "B", "C"], tcp = "rfc" }]
observe = [
  { name = "good", kind = "goodput", interval = "100 ms" },
  { name = "tcp", kind = "tcp" },
  { name = "drops", kind = "drops" },
]
"""
OVERLOAD = """
stop = "1 s"
nodes = [{ names = ["A", "B"] }]
links = [{ chain = ["A", "B"], rate = "10 Mbps", delay = "1 ms", queue = "100 packets" }]
traffic = [{ group = "load", path = ["A", "B"], process = "constant", rate = "2000 packets/s", size = "1250 B" }]
"""
ENGINES = ("fast", "reference")


def digests(run):
    return run.records_sha256, run.metrics_sha256


def other(engine):
    return ENGINES[1 - ENGINES.index(engine)]


@pytest.fixture
def world():
    return optcp.Scenario.parse(WORLD)


@pytest.mark.parametrize("engine", ENGINES)
def test_run_in_steps_and_its_forks_equal_run_in_one_piece(world, engine):
    whole = digests(world.run(digest=True, engine=other(engine)))
    run = world.start(digest=True, engine=engine)
    forks = []
    for step in range(1, 50):
        run.advance(step / 10)
        forks.append(run.fork())
    assert {digests(one.finish()) for one in [run, *forks[::7]]} == {whole}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("key", "values"),
    [("rate", ["5 Mbps", "20 Mbps"]), ("delay", ["20 ms", "1 ms"]), ("queue", ["5 packets", "60 packets"])],
)
def test_change_of_all_links_equals_schedule_in_the_file(world, engine, key, values):
    run, written = world.start(digest=True, engine=engine), WORLD
    for at, value in zip(("2.3 s", "3 s"), values, strict=True):
        run.advance(at)
        run.change(f"links.0.{key}", value)
        changes = ", ".join(f'{{ at = "{at}", link = {link}, {key} = "{value}" }}' for link in (["A", "B"], ["B", "C"]))
        written += f"[[schedules]]\nchanges = [{changes}]\n"
    assert digests(run.finish()) == digests(optcp.Scenario.parse(written).run(digest=True, engine=other(engine)))


@pytest.mark.parametrize("engine", ENGINES)
def test_failure_and_repair_equal_those_in_the_file(world, engine):
    run = world.start(digest=True, engine=engine)
    run.advance(2)
    run.fail("A", "B")
    run.advance(2.25)
    assert [run.port(name)["up"] for name in ("A->B", "B->C")] == [False, True]
    run.repair("A-B")
    assert run.port("A->B")["up"] is False, "the repair is an event at this time"
    run.advance("2250000000001 ps")
    assert run.port("A->B")["up"]
    written = WORLD + '[[failures]]\nlink = ["A", "B"]\nat = "2 s"\nrepair = "2.25 s"\n'
    assert digests(run.finish()) == digests(optcp.Scenario.parse(written).run(digest=True, engine=other(engine)))


@pytest.mark.parametrize("engine", ENGINES)
def test_added_flow_equals_flow_in_the_file(world, engine):
    run = world.start(digest=True, engine=engine)
    run.advance(2)
    run.add_flow(group="new", path=["A", "B", "C"], tcp="rfc", size="100 kB")
    assert [(row["flow"], row["state"]) for row in run.flows] == [("g/A/0", "active"), ("new/A/0", "waiting")]
    ended = run.advance_until(completed="new/A/0")
    new = 'tcp = "rfc" }, { group = "new", path = ["A", "B", "C"], tcp = "rfc", size = "100 kB", start = "2 s" }]'
    written = WORLD.replace('tcp = "rfc" }]', new)
    ends = optcp.Scenario.parse(written.replace("observe = [", 'observe = [{ name = "ends", kind = "completions" },'))
    run.advance(5)
    assert run.flow("new/A/0").state == "finished"
    assert digests(run.finish()) == digests(optcp.Scenario.parse(written).run(digest=True, engine=other(engine)))
    assert ended.condition == "completed"
    (end_ps,) = ends.run()["ends"].where(flow="new/A/0")["time_ps"]
    assert 0 <= ended.time_ps - int(end_ps) <= 40 * 10**9, "the sender completes with the last ACK"


def test_paths_of_a_virtual_output_queue_can_be_switched():
    text = """
stop = "60 ms"
nodes = [{ names = ["a", "core", "light", "b"] }]
links = [{ chains = [["a", "core", "b"], ["a", "light", "b"]], rate = "1 Gbps", delay = "10 us", queue = "99 packets" }]
flows = [{ group = "f", path = ["a", "b"] }]
[[voqs]]
name = "voq"
between = ["a", "b"]
ways = { packet = ["a", "core", "b"], circuit = ["a", "light", "b"] }
served = "packet"
queue = "100 packets"
"""
    run = optcp.Scenario.parse(text).start(digest=True)
    run.advance("20 ms")
    assert run.port("a->light")["accepted"] == 0
    run.schedule("voq", served="circuit")
    run.advance("40 ms")
    assert run.port("a->light")["accepted"] > 0
    written = text + '[[schedules]]\nchanges = [{ at = "20 ms", link = "voq", served = "circuit" }]\n'
    assert digests(run.finish()) == digests(optcp.Scenario.parse(written).run(digest=True, engine="reference"))


@pytest.mark.parametrize("engine", ENGINES)
def test_window_doubles_each_rtt_on_an_idle_link(engine):
    """The RTT is 100 ms and 2 * 12 us; ``rfc`` starts with 3 segments of 1460 B, and each ACK adds one."""
    text = WORLD.replace("10 Mbps", "1 Gbps").replace("5 ms", "25 ms").replace("20 packets", "1000 packets")
    run = optcp.Scenario.parse(text).start(engine=engine)
    for rtts in range(5):
        run.advance(0.05 + 0.101 * rtts)
        flow = run.flow("g/A/0")
        assert flow.cwnd_bytes == 3 * 2**rtts * 1460
        assert flow.flight == 3 * 2**rtts
        assert (flow.state, flow.phase, flow.rtos, flow.retransmissions) == ("active", "slow-start", 0, 0)
        assert flow.sent == 3 * (2 ** (rtts + 1) - 1)
        assert np.isnan(flow.srtt_s) if rtts == 0 else flow.srtt_s == pytest.approx(0.1, rel=0.01)


@pytest.mark.parametrize("engine", ENGINES)
def test_queue_of_an_overloaded_link_grows_by_half_of_the_arrivals(engine):
    """A packet takes 1 ms, and two arrive in this time, the first at 0 ms."""
    run = optcp.Scenario.parse(OVERLOAD).start(engine=engine)
    run.advance("20.25 ms")
    start = run.ports
    port = run.port("A->B")
    assert (port["accepted"], port["queue_packets"], port["queue_bytes"]) == (41, 21, 21 * 1250)
    assert (port["rate_bps"], port["dropped"], port["marked"], port["up"]) == (10**7, 0, 0, True)
    stop = run.advance_until(queue=("A->B", 30))
    assert (stop.condition, stop.time_s) == ("queue", 0.0285), "58 packets have arrived, and 28 have left"
    run.advance("50.25 ms")
    assert run.utilisation(start).tolist() == [1.0, 0.0]
    assert np.isnan(run.utilisation(run.ports)).all()
    assert run.advance_until(dropped=1).time_ps == pytest.approx(100e9, abs=0.5e9)
    assert run.port("A->B")["queue_packets"] == 100


@pytest.mark.parametrize("engine", ENGINES)
def test_conditions_stop_at_events_of_the_observations(world, engine):
    whole = world.run(digest=True)
    run = world.start(digest=True, engine=engine)
    drops = whole["drops"]["time_ps"]
    assert run.advance_until(dropped=1) == ("dropped", drops[0])
    assert run.now_ps == drops[0] + 1
    assert run.advance_until("4 s", dropped=5) == ("dropped", drops[5])
    tcp = whole["tcp"]
    assert run.fork().advance_until(rto=1) == ("rto", tcp["time_ps"][tcp.is_("phase", "loss")][0])
    assert run.advance_until("2 s", completed="g/A/0") == ("time", 2 * 10**12)
    assert digests(run.finish()) == digests(whole)


def test_state_equals_last_observation_of_sender(world):
    run = world.start()
    run.advance("3 s")
    rows = world.run()["tcp"]
    last = np.flatnonzero(rows["time_ps"] < 3 * 10**12)[-1]
    flow = run.flow("g/A/0")
    assert (flow.cwnd_bytes, flow.ssthresh_bytes) == (rows["cwnd_bytes"][last], rows["ssthresh_bytes"][last])
    assert flow.phase == rows["phase"][last]


@pytest.mark.parametrize("engine", ENGINES)
def test_set_window_is_sent_per_rtt_and_grows_by_one_segment(engine):
    """The RTT is 100 ms, and the capacity 833 segments per RTT."""
    text = WORLD.replace("10 Mbps", "100 Mbps").replace("5 ms", "25 ms").replace("20 packets", "1000 packets")
    run = optcp.Scenario.parse(text).start(engine=engine)
    for segments in (20, 60, 50):
        run.advance(run.now + 0.3)
        run.set_cwnd("g/A/0", segments * 1460)
        run.advance(run.now + 0.3)
        flow = run.flow("g/A/0")
        assert (flow.phase, flow.rtos, flow.retransmissions) == ("avoidance", 0, 0)
        assert flow.ssthresh_bytes == segments * 1460
        assert segments + 2 < flow.cwnd_bytes / 1460 < segments + 4.5
        assert segments + 2 <= flow.flight <= segments + 4
    run.set_cwnd("g/A/0", 1)
    assert run.flow("g/A/0").cwnd_bytes == 1460
    for value in (0, 1.5, 2**33):
        with pytest.raises(InputError, match="cwnd_bytes: expected a whole number from 1 to 4294967296"):
            run.set_cwnd("g/A/0", value)


def test_windows_are_repeated_when_the_past_is_simulated_again(world):
    def windows(run):
        for at in (1, 1.5, 2):
            run.advance(at)
            run.set_cwnd("g/A/0", int(20e3 * at))

    run, written = world.start(digest=True), WORLD
    windows(run)
    for at in ("3 s", "4 s"):
        run.advance(at)
        run.change("links.0.rate", f"{at[0]} Mbps")
        changes = ", ".join(
            f'{{ at = "{at}", link = {link}, rate = "{at[0]} Mbps" }}' for link in (["A", "B"], ["B", "C"])
        )
        written += f"[[schedules]]\nchanges = [{changes}]\n"
    expected = optcp.Scenario.parse(written).start(digest=True, engine="reference")
    windows(expected)
    live = run.finish()
    assert digests(live) == digests(expected.finish())
    assert digests(live) != digests(optcp.Scenario.parse(written).run(digest=True))


def test_read_state_does_not_depend_on_engine(world):
    fast, reference = (world.start(engine=engine) for engine in ENGINES)
    for step in range(1, 40):
        for run in (fast, reference):
            run.advance(step * 0.0777)
        assert list(fast.ports) == list(reference.ports)
        assert repr(fast.flows) == repr(reference.flows)


def test_past_cannot_change(world):
    run = world.start(digest=True)
    run.advance("2 s")
    for key, value in [("flows.0.tcp", "linux-6"), ("flows.0.start", "1 s"), ("links.0.jitter", "1 ms")]:
        with pytest.raises(InputError, match=r"would affect the run .* and the run is at 2 s; rates, delays"):
            run.change(key, value)
    with pytest.raises(optcp.ScenarioError, match="unknown key"):
        run.change("link.0.rate", "1 Mbps")
    with pytest.raises(optcp.ScenarioError, match="unknown node or group `D`"):
        run.fail("A", "D")
    with pytest.raises(InputError, match=r"cannot advance to 1\.5 s: the run is at 2 s"):
        run.advance("1.5 s")
    assert digests(run.finish()) == digests(world.run(digest=True))


def test_messages_name_the_nearest(world):
    run = world.start()
    with pytest.raises(InputError, match="there is no TCP flow 'g/A/1'; did you mean 'g/A/0'"):
        run.flow("g/A/1")
    with pytest.raises(InputError, match="there is no port 'A->C'; did you mean"):
        run.port("A->C")
    with pytest.raises(InputError, match="dropped: expected a whole number from 1"):
        run.advance_until(dropped=0)
    with pytest.raises(InputError, match="since: expected a table that `ports` returned"):
        run.utilisation(run.flows)


def test_ended_run_refuses_everything_but_closing(world):
    with world.start() as run:
        run.advance(1)
    uses = (
        run.fork, run.finish, lambda: run.advance(2), lambda: run.now, lambda: run.flow("g/A/0"), lambda: run.ports,
        lambda: run.change("stop", "6 s"), run.advance_until, lambda: run.fail("A", "B"),
    )  # fmt: skip
    for use in uses:
        with pytest.raises(InputError, match="the run has ended"):
            use()
    run.close()
    finished = world.start()
    finished.finish()
    with pytest.raises(InputError, match="the run has ended"):
        finished.finish()


def test_use_by_two_threads_does_not_disturb_a_run(world):
    run = world.set({"stop": "1000 s", "observe": []}).start()
    thread = threading.Thread(target=lambda: run.advance("200 s"))
    thread.start()
    while thread.is_alive():
        with contextlib.suppress(InputError):
            run.flow("g/A/0")
    thread.join()
    assert run.now == 200


VOQ = """
stop = "8 s"
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chains = [["A", "B"], ["A", "C", "B"]], rate = "10 Mbps", delay = "5 ms", queue = "20 packets" }]
failures = [{ link = ["A", "B"], at = "3 s", repair = "5 s" }, { link = ["A", "B"], at = "6 s", repair = "6.005 s" }]
flows = [{ group = "g", path = ["A", "voq", "B"], tcp = "rfc" }]

[[voqs]]
name = "voq"
between = ["A", "B"]
ways = { backup = ["A", "C", "B"], working = ["A", "B"] }
served = "working"
queue = "30 packets"
"""


class Switchover:
    """Serves the backup path during a failure."""

    def __init__(self):
        self.seen = []

    def on_failure(self, run, ports):
        self.seen.append(("failure", run.now_ps, ports))
        run.schedule("voq", served="backup")

    def on_repair(self, run, ports):
        self.seen.append(("repair", run.now_ps, ports))
        run.schedule("voq", served="working")


def test_policy_equals_schedule_at_the_times_of_detection():
    """The failure of 5 ms is shorter than its detection."""
    run, policy = optcp.Scenario.parse(VOQ).start(digest=True), Switchover()
    run.follow(policy, detection="10 ms")
    ports = ("A->B", "B->A")
    assert policy.seen == [("failure", 3_010 * 10**9, ports), ("repair", 5_010 * 10**9, ports)]
    schedule = """
    [[schedules]]
    changes = [
      { link = "voq", at = "3.01 s", served = "backup" },
      { link = "voq", at = "5.01 s", served = "working" },
    ]
    """
    planned = optcp.Scenario.parse(VOQ + schedule).run(digest=True)
    assert run.finish().records_sha256 == planned.records_sha256


def test_policy_reports_failures_that_it_causes():
    class Cascade:
        def __init__(self):
            self.seen = []

        def on_failure(self, run, ports):
            self.seen.append((run.now, ports[0]))
            if len(self.seen) == 1:
                run.fail("A", "C")

        def on_repair(self, run, ports):
            pass

    policy = Cascade()
    optcp.Scenario.parse(VOQ).start().follow(policy, "4 s", detection="20 ms")
    assert policy.seen == [(3.02, "A->B"), (3.04, "A->C")]


PROTECTED = """
stop = "4 s"
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chains = [["A", "B"], ["A", "C", "B"]], rate = "10 Mbps", delay = "5 ms", queue = "20 packets" }]
flows = [{ group = "g", path = ["A", "B"], tcp = "rfc" }]

[[protection]]
flows = "g"
link = ["A", "B"]
backup = ["A", "C", "B"]
switch_delay = "10 ms"
revert = "electrical"
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_commands_equal_those_of_scenario(engine):
    run = optcp.Scenario.parse(PROTECTED).start(digest=True, engine=engine)
    working, backup = (["A->B"], ["B->A"]), (["A->C", "C->B"], ["B->C", "C->A"])
    for time, protection, command, before, after in (
        ("1 s", "g", "forced-switch", working, backup),
        ("2 s", 0, "clear", backup, working),
    ):
        run.advance(time)
        assert (run.path("g/A/0"), run.path("g/A/0", acks=True)) == before
        run.command(protection, command)
        run.advance(run.now + 1e-9)
        assert (run.path("g/A/0"), run.path("g/A/0", acks=True)) == after
    written = PROTECTED + 'commands = [{ at = "1 s", command = "forced-switch" }, { at = "2 s", command = "clear" }]'
    finished = run.finish()
    assert digests(finished) == digests(optcp.Scenario.parse(written).run(digest=True, engine=other(engine)))
    assert [(one["at_ps"], one["to"]) for one in finished.switches] == [
        (10**12, "backup"),
        (10**12, "backup"),
        (2 * 10**12, "working"),
        (2 * 10**12, "working"),
    ]


def test_commands_to_unknown_protections_are_refused(world):
    run = optcp.Scenario.parse(PROTECTED).start()
    for protection, message in (("gg", "did you mean 'g'"), (1, "from 0 to 0")):
        with pytest.raises(InputError, match=message):
            run.command(protection, "clear")
    with pytest.raises(optcp.ScenarioError, match="did you mean `lockout`"):
        run.command("g", "lock-out")
    with pytest.raises(InputError, match=r"no \[\[protection\]\]"):
        world.start().command("g", "clear")


FORWARDED = """
stop = "3 s"
nodes = [{ names = ["A", "B", "C"] }]
links = [{ chains = [["A", "B"], ["A", "C", "B"]], rate = "10 Mbps", delay = "5 ms", queue = "20 packets" }]
failures = [{ link = ["A", "B"], at = "1 s" }]
flows = [{ group = "g", from = "A", to = "B", tcp = "rfc" }]

[forwarding]
entries = [
  { node = "A", to = "B", next = "B" },
  { node = "B", to = "A", next = "A" },
CHANGES]
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_controller_reroutes_after_detection(engine):
    class Controller:
        def on_failure(self, run, ports):
            assert ports == ("A->B", "B->A")
            run.forward("A", "B", "C > B")
            run.forward("B", "A", "C > A")

        def on_repair(self, run, ports):
            raise AssertionError

    run = optcp.Scenario.parse(FORWARDED.replace("CHANGES", "")).start(digest=True, engine=engine)
    run.follow(Controller(), "2 s", detection="50 ms")
    assert (run.path("g/A/0"), run.path("g/A/0", acks=True)) == (["A->C", "C->B"], ["B->C", "C->A"])
    changes = (
        '{ at = "1.05 s", node = "A", to = "B", next = "C > B" },\n'
        '{ at = "1.05 s", node = "B", to = "A", next = "C > A" },\n'
    )
    planned = optcp.Scenario.parse(FORWARDED.replace("CHANGES", changes)).run(digest=True, engine=other(engine))
    assert digests(run.finish()) == digests(planned)


def test_forwarding_of_routed_network_is_refused(world):
    with pytest.raises(InputError, match="forwarding"):
        world.start().forward("A", "C", "B")


def test_path_follows_served_queue():
    run = optcp.Scenario.parse(VOQ).start()
    assert run.path("g/A/0")[-1] == "A->B"
    run.schedule("voq", served="backup")
    run.advance("1 ms")
    assert run.path("g/A/0")[-2:] == ["A->C", "C->B"]


def test_goodput_is_data_over_time(world):
    run = world.start()
    run.advance("1 s")
    before = run.flows
    assert np.isnan(run.goodput(before)).all()
    run.add_flow(group="later", path=["A", "B", "C"], tcp="rfc")
    run.advance("3 s")
    data = [run.flow("g/A/0").delivered_bytes - before["delivered_bytes"][0], run.flow("later/A/0").delivered_bytes]
    np.testing.assert_allclose(run.goodput(before), [8 * bytes_ / 2 for bytes_ in data])
    with pytest.raises(InputError, match="a table that `flows` returned"):
        run.goodput(run.ports)


def test_policy_without_methods_is_refused(world):
    with pytest.raises(InputError, match=r"policy\.on_failure"):
        world.start().follow(object())
