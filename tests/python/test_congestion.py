"""Congestion controls in Python: agreement with built-in ones, forks, compiled hooks and messages."""

import ctypes
import re
import subprocess
import traceback
from pathlib import Path

import numpy as np
import pytest
from numba import carray, cfunc, float64, types, void

import optcp
from link_program import NEEDS_CC
from optcp.congestion import ACK, CONNECTION, compiled
from optcp.errors import InputError

WORLD = """
stop = "20 s"
nodes = [{{ names = ["A", "B", "C"] }}]
links = [{{ chain = ["A", "B", "C"], rate = "20 Mbps", delay = "10 ms", queue = "30 packets" }}]
failures = [{{ link = ["A", "B"], at = "9 s", repair = "10.2 s" }}]
flows = [{{ group = "g", path = ["A", "B", "C"], tcp = "t", per_source = 2, start = "uniform(0 s, 1 s)" }}]
observe = [{{ name = "tcp", kind = "tcp" }}]
[tcp.t]
profile = "{profile}"
congestion = "{congestion}"
"""
SACK = 'recovery = "sack"\n'
RFC_9438 = 'cubic_version = "rfc9438"\nfast_convergence = false\nslow_start = "standard"\n'
EXAMPLES = "python:congestion_controls."
EXAMPLES_DIRECTORY = Path(__file__).parents[2] / "docs/details"
C = """
#include <math.h>
#include <stdint.h>
typedef struct { int64_t now_ps, srtt_ps; double mss, cwnd, ssthresh, pacing_rate, own[32]; } connection;
typedef struct { int64_t acked, delivered, marked; double counted; int64_t rtt_ps, una, next, limited; } ack;
void on_ack(connection *c, const ack *a) {
    c->cwnd += fmin(a->counted * c->mss * c->mss / c->cwnd, c->mss);
}
double on_loss(connection *c, double basis) { c->own[0] += 1; return basis / 2; }
"""


@cfunc(void(types.voidptr, types.voidptr))
def numba_on_ack(connection, ack):
    c, a = carray(connection, 1, CONNECTION)[0], carray(ack, 1, ACK)[0]
    c.cwnd += min(a.counted * c.mss * c.mss / c.cwnd, c.mss)


@cfunc(float64(types.voidptr, float64))
def numba_on_loss(connection, basis):
    return basis / 2


class Plain(optcp.CongestionControl):
    """Reno."""


class InNumba(optcp.CongestionControl):
    on_ack = compiled(numba_on_ack)
    on_loss = compiled(numba_on_loss)


class Counting(optcp.CongestionControl):
    """Grows by less with each ACK, so that the state of a fork matters."""

    def __init__(self):
        self.acks = []

    def on_ack(self, ack):
        self.acks.append(ack.acked)
        self.cwnd += self.mss / len(self.acks)


class Wrong(optcp.CongestionControl):
    def on_ack(self, ack):
        if self.now_ps > 2 * 10**12:
            raise ZeroDivisionError("on purpose")


class NotANumber(optcp.CongestionControl):
    def on_ack(self, ack):
        self.cwnd = float("nan")


class Text(optcp.CongestionControl):
    def on_loss(self, basis):
        return "half"


class Truth(optcp.CongestionControl):
    def on_loss(self, basis):
        return True


class Assigns(optcp.CongestionControl):
    def on_loss(self, basis):
        self.ssthresh = basis / 2


class Misspelt(optcp.CongestionControl):
    def on_los(self, basis):
        return basis / 2


class Unpaced(optcp.CongestionControl):
    def on_delivery(self, delivery):
        self.cwnd = 10 * self.mss


@pytest.fixture(autouse=True)
def beside_the_examples(monkeypatch):
    monkeypatch.chdir(EXAMPLES_DIRECTORY)


def world(congestion, more="", profile="rfc"):
    return optcp.Scenario.parse(WORLD.format(profile=profile, congestion=congestion) + more)


def here(name):
    return f"python:{__name__}.{name}"


def records(scenario, engine="fast"):
    return scenario.run(5, digest=True, engine=engine).records_sha256


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize(
    ("profile", "more", "built_in", "own"),
    [
        ("rfc", "", "reno", EXAMPLES + "Aimd"),
        ("rfc", SACK, "reno", EXAMPLES + "Aimd"),
        ("rfc", SACK, "reno", here("Plain")),
        ("rfc", SACK, "reno", here("InNumba")),
        ("rfc", RFC_9438, "cubic", EXAMPLES + "Cubic"),
        ("linux-6", RFC_9438, "cubic", EXAMPLES + "Cubic"),
    ],
)
def test_class_equals_built_in_control_event_by_event(engine, profile, more, built_in, own):
    assert records(world(own, more, profile), engine) == records(world(built_in, more, profile))


@NEEDS_CC
def test_functions_of_c_equal_built_in_control(tmp_path, monkeypatch):
    (tmp_path / "hooks.c").write_text(C)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "hooks.so", "hooks.c", "-lm"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "hooks.so"))
    (tmp_path / "in_c.py").write_text(
        "import ctypes, optcp\n"
        "from optcp.congestion import compiled\n"
        f"library = ctypes.CDLL({str(tmp_path / 'hooks.so')!r})\n"
        "class InC(optcp.CongestionControl):\n"
        "    on_ack, on_loss = compiled(library.on_ack), compiled(library.on_loss)\n"
    )
    monkeypatch.chdir(tmp_path)
    assert records(world("python:in_c.InC", SACK)) == records(world("reno", SACK))
    assert compiled(library.on_ack).address == ctypes.cast(library.on_ack, ctypes.c_void_p).value


def test_layouts_are_those_of_c():
    assert (CONNECTION.itemsize, ACK.itemsize) == (8 * (6 + 32), 8 * 8)
    assert CONNECTION.fields["own"][1] == 48


def test_fork_has_state_of_its_own():
    scenario = world(here("Counting"))
    whole = records(scenario)
    run = scenario.start(5, digest=True)
    run.advance("5 s")
    fork = run.fork()
    fork.advance("9 s")
    assert [run.finish().records_sha256, fork.finish().records_sha256] == [whole, whole]


def test_copa_keeps_a_short_queue():
    """Arun and Balakrishnan 2018, section 2: n flows with delta = 0.5 keep 1 to 2.5 times n / delta packets queued."""
    text = WORLD.format(profile="linux-6", congestion="python-paced:congestion_controls.Copa")
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("failures"))
    text = text.replace('queue = "30 packets"', 'queue = "200 packets"')
    run = optcp.Scenario.parse(text).start(5)
    run.advance("10 s")
    before, drops = run.ports, run.port("A->B")["dropped"]
    queues = []
    while run.now < 19.99:
        run.advance(run.now + 0.005)
        queues.append(run.port("A->B")["queue_packets"])
    assert 2 <= np.mean(queues) <= 10
    assert run.utilisation(before)[0] > 0.97
    assert run.port("A->B")["dropped"] == drops
    delivered = run.flows.numbers("delivered_bytes")
    assert delivered.min() > 0.6 * delivered.max()


def test_exception_ends_the_run_with_its_traceback_and_time():
    with pytest.raises(ZeroDivisionError, match="on purpose") as raised:
        world(here("Wrong")).run(5)
    assert raised.value.__notes__[0].startswith(f"raised by {__name__}.Wrong.on_ack at 2.0")
    assert "in on_ack" in "".join(traceback.format_exception(raised.value))
    run = world(here("Wrong")).start(5)
    with pytest.raises(ZeroDivisionError):
        run.advance("5 s")
    with pytest.raises(InputError, match="the run has ended"):
        run.advance("6 s")


def test_threads_do_not_change_the_result():
    scenario = world(EXAMPLES + "Aimd")
    assert scenario.run(5, digest=True, threads=2).records_sha256 == records(scenario)
    with pytest.raises(ZeroDivisionError):
        world(here("Wrong")).run(5, threads=2)


def test_window_that_is_no_number_is_an_error():
    with pytest.raises(ValueError, match="cwnd is NaN: expected a number of bytes"):
        world(here("NotANumber")).run(5)


@pytest.mark.parametrize(
    ("congestion", "message"),
    [
        ("python:congestion_controls.Cubc", "did you mean 'Cubic'"),
        ("python:nowhere.Class", "there is no module `nowhere` next to the scenario"),
        ("python:optcp.Scenario", "is no subclass of optcp.CongestionControl"),
        ("python:broken.Class", r"SyntaxError: .* \(broken.py, line 2\)"),
        ("python:raising.Class", r"`raising.Class\(\)` raises KeyError: 'x' \(raising.py, line 4\)"),
        (here("Misspelt"), "has the unknown hook `on_los`; did you mean 'on_loss'"),
        (here("Unpaced"), "has `on_delivery`: write `python-paced:"),
        ("python-paced:congestion_controls.Copa", 'needs `recovery = "sack"`'),
    ],
)
def test_errors_of_scenarios_name_the_fault(congestion, message, tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("import optcp\nclass Class(optcp.CongestionControl)\n")
    (tmp_path / "raising.py").write_text(
        "import optcp\nclass Class(optcp.CongestionControl):\n    def __init__(self):\n        {}['x']\n"
    )
    if congestion.startswith(("python:broken", "python:raising")):
        monkeypatch.chdir(tmp_path)
    with pytest.raises(optcp.ScenarioError) as raised:
        world(congestion)
    assert re.search(message, " ".join(str(raised.value).replace("│", " ").split()))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Text", "returned <class 'str'>: expected ssthresh in bytes, or None"),
        ("Truth", "returned <class 'bool'>: expected ssthresh in bytes, or None"),
        ("Assigns", "sets cwnd or ssthresh: return the new ssthresh instead"),
    ],
)
def test_wrong_result_of_a_hook_is_an_error(name, message):
    with pytest.raises((TypeError, ValueError), match=message) as raised:
        world(here(name)).run(5)
    assert f"{name}.on_loss at " in raised.value.__notes__[0]


def test_command_shows_where_a_hook_failed(tmp_path, command):
    (tmp_path / "w.toml").write_text(WORLD.format(profile="rfc", congestion="python:wrong.Class"))
    (tmp_path / "wrong.py").write_text(
        "import optcp\nclass Class(optcp.CongestionControl):\n    def on_loss(self, basis):\n        return basis / 0\n"
    )
    result = command("run", "w.toml", "--out", "out", status=1)
    for part in ("ZeroDivisionError", "wrong.py", "line 4", "in on_loss", "raised by wrong.Class.on_loss at"):
        assert part in result.stderr


def test_function_without_address_is_refused():
    with pytest.raises(InputError, match="function"):
        compiled(len)


def test_changed_file_is_another_scenario(tmp_path):
    """The digest of a scenario covers the source of its classes, so that kept results are not reused."""
    (tmp_path / "w.toml").write_text(WORLD.format(profile="rfc", congestion="python:edited.Class"))
    source = "import optcp\nclass Class(optcp.CongestionControl):\n    def on_loss(self, b):\n        return {} * b\n"
    digests = []
    for share in (0.5, 0.8, 0.5):
        (tmp_path / "edited.py").write_text(source.format(share))
        run = optcp.load(tmp_path / "w.toml").run(5, digest=True)
        digests.append((run.scenario_sha256, run.records_sha256))
    assert digests[0] == digests[2]
    assert digests[0][0] != digests[1][0]
    assert digests[0][1] != digests[1][1]
