"""Session of the widget without a browser: messages in, states out, and runs equal to those of Python calls."""

import json
import re
import sys
import time
from types import SimpleNamespace

import pytest

import optcp
import optcp.widget
from optcp.errors import InputError
from optcp.widget import session as module
from optcp.widget.picture import picture
from optcp.widget.session import MAX_BRANCHES, Session

WORLD = optcp.load("single-failure").set("failures", [])
CUT = {"ask": "toggle", "link": "R2-R3"}


@pytest.fixture
def started():
    """Return a session at 2 s."""
    run = WORLD.start(seed=7, digest=True)
    run.advance("2 s")
    return Session(run)


def ask(session, *messages):
    """Answer messages, each until the widget is at its target."""
    for message in messages:
        session.answer(message)
        while session.frame()["busy"]:
            session.answer({"ask": "continue"})
    return session.frame()


def digest(run):
    return run.finish().records_sha256


def test_cut_and_repair_equal_fail_and_repair(started):
    assert ask(started, CUT)["down"] == ["R2-R3"]
    assert ask(started, {"ask": "advance", "seconds": 1.5}, CUT)["down"] == []
    run = WORLD.start(seed=7, digest=True)
    run.advance("2 s")
    run.fail("R2-R3")
    run.advance("3.500000000001 s")
    run.repair("R2-R3")
    assert started.run.scenario.to_toml() == run.scenario.to_toml()
    assert digest(started.run) == digest(run) != digest(WORLD.start(seed=7, digest=True))


def test_fork_equals_fork_of_run_and_leaves_first_run_unchanged(started):
    frame = ask(started, {"ask": "fork"}, CUT, {"ask": "step"}, {"ask": "step"})
    assert (frame["shown"], frame["now"]) == (1, 2.1)
    assert started.runs[1] is started.run
    assert [branch["end"] for branch in started.curves] == [2.1, 2.1]
    assert started.curves[0] != started.curves[1]
    fork = WORLD.start(seed=7, digest=True)
    fork.advance("2 s")
    fork.fail("R2", "R3")
    assert [digest(run) for run in started.runs] == [WORLD.run(seed=7, digest=True).records_sha256, digest(fork)]


def test_shown_branch_is_the_one_that_is_cut(started):
    ask(started, {"ask": "fork"}, {"ask": "show", "branch": 0}, CUT)
    assert started.frame()["down"] == ["R2-R3"]
    assert ask(started, {"ask": "show", "branch": 1})["down"] == []
    assert ask(started, {"ask": "show", "branch": 2})["shown"] == 1


def test_goodput_of_curves_is_that_of_the_observation(started):
    session = Session(WORLD.set("observe", [{"name": "g", "kind": "goodput", "interval": "50 ms"}]).start(seed=7))
    ask(session, {"ask": "advance", "seconds": 3})
    table = session.run.finish()["g"].where(group="protected")
    points = session.curves[0]["groups"]["protected"]["goodput"]
    assert points[::2] == pytest.approx([0.05 * i for i in range(60)])
    assert points[1::2] == pytest.approx(8e-6 * table.numbers("bytes")[:60] / 0.05, abs=1e-4)


def test_samples_are_sent_once_and_are_the_curves(started):
    ask(started, {"ask": "advance", "seconds": 0.2})
    samples = started.take_samples()
    assert [one["end"] for one in samples] == pytest.approx([2.05, 2.1, 2.15, 2.2])
    for group, curves in started.curves[0]["groups"].items():
        for quantity, points in curves.items():
            sent = [part for one in samples for part in (one["start"], one["values"][group][quantity])]
            assert sent == points
    assert started.take_samples() == []


def test_frame_has_utilisation_and_queue_of_each_port(started):
    before = started.run.ports
    frame = ask(started, {"ask": "step"})
    names = [port.name for port in started.lines]
    state = dict(zip(started.run.ports["port"], started.run.utilisation(before), strict=True))
    assert frame["use"] == pytest.approx([state[name] for name in names], abs=1e-3)
    queued = started.run.port("R5->R6")["queue_packets"] / 30
    assert frame["queue"][names.index("R5->R6")] == pytest.approx(queued, abs=1e-3)
    json.dumps([frame, started.network(), started.curves])


def test_slice_of_a_long_advance_ends_in_bounded_time(started):
    session = Session(WORLD.set("stop", "4 h").start(seed=7))
    begin = time.perf_counter()
    session.answer({"ask": "advance", "seconds": 10_000})
    assert time.perf_counter() - begin < 10 * module.SLICE_S
    frame = session.frame()
    assert frame["busy"]
    assert 0 < frame["now"] < 10_000
    session.answer({"ask": "pause"})
    assert not session.frame()["busy"]


def test_errors_are_shown_and_change_nothing(started):
    ended = ask(started, {"ask": "advance", "seconds": 100}, CUT)
    assert (ended["now"], ended["said"], ended["down"]) == (10, "the run is at its end", [])
    for _ in range(MAX_BRANCHES):
        frame = ask(started, {"ask": "fork"})
    assert frame["said"] == "the widget compares at most 4 branches"
    assert len(started.runs) == MAX_BRANCHES
    world = optcp.load("single-failure")
    frame = ask(Session(world.start(seed=7)), CUT)
    assert frame["said"] != ""
    assert frame["down"] == []


def test_finished_run_keeps_its_last_state(started):
    before = ask(started, CUT)
    started.run.finish()
    frame = ask(started, {"ask": "step"})
    assert frame["said"].startswith("the run has ended")
    assert {key: frame[key] for key in ("now", "down", "use")} == {key: before[key] for key in ("now", "down", "use")}
    assert repr(started) == "widget with 1 branch at 2 s"


def test_wrong_arguments_are_named():
    with pytest.raises(InputError, match=r"run: expected a live run; Scenario.start\(\) makes one, got 3"):
        Session(3)
    with pytest.raises(InputError, match="interval: expected a time above zero"):
        Session(WORLD.start(), "11 s")


def test_picture_shows_the_cut_and_both_branches(started):
    ask(started, {"ask": "fork"}, CUT, {"ask": "step"})
    text = picture(started)
    assert "R2-R3: down" in text
    assert re.search(r"P-R1: utilisation \d+%", text)
    assert "protected, branch 1" in text
    assert "cross, branch 2" in text
    assert "2.05 s; goodput in Mbit/s until 10 s" in text


def test_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(InputError, match="pip install 'optcp\\[widget\\]'"):
        optcp.widget.show(WORLD.start())


def test_messages_of_a_notebook_are_answered(monkeypatch):
    pytest.importorskip("anywidget")
    from optcp.widget import view

    session = Session(WORLD.start(seed=7))
    widget = view.NetworkWidget(session)
    sent, stills = [], []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))
    widget.still = SimpleNamespace(update=lambda data, raw: stills.append(data))
    for message in ({"ask": "advance", "seconds": 0.1}, {"ask": "pause"}):
        widget._answer(widget, message, [])
    assert [len(content["samples"]) for content in sent] == [2]
    assert (widget.frame["asked"], widget.frame["now"]) == ("pause", 0.1)
    assert widget.curves is session.curves
    assert len(stills) == 1
    assert "network.js" not in widget._esm
    assert "class NetworkView" in widget._esm
