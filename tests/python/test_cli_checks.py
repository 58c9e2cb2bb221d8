"""`optcp conformance` and `optcp packetdrill`: output for endpoints with given answers."""

import json
from pathlib import Path

import pytest

from optcp import _core


def outcomes(text):
    """Return outcomes of cases in place of the simulator's; other tests use the real ones."""
    try:
        cases = json.loads(text)["scenarios"]
    except ValueError as error:
        raise _core.ScenarioError(f"not JSON: {error}") from None
    known = [case["id"] for case in cases if case["variant"] != "vegas"]
    one = {"completion_ack_s": 1.5, "retransmissions": 2, "timeouts": 0, "sequence": [[0.0, 0], [0.1, 1]]}
    stuck = {**one, "completion_ack_s": None}
    results = {name: stuck if name == "stuck" else one for name in known}
    return json.dumps(results), [f"case {case['id']}: no vegas" for case in cases if case["id"] not in known]


def ended(text, tolerance_us=None):
    """Return the outcome of a script, by its first word."""
    if text.startswith("fails"):
        at = {"line": 3, "at_s": 0.5, "expected": "> . 1:1001(1000) ack 1"}
        return {"result": "failed", **at, "happened": f"nothing within {tolerance_us} us"}
    if text.startswith("asks"):
        return {"result": "refused", "line": 2, "reason": "the system call `poll` is not simulated"}
    return {"result": "ok"}


@pytest.fixture(autouse=True)
def endpoints(monkeypatch):
    monkeypatch.setattr(_core, "conformance", outcomes)
    monkeypatch.setattr(_core, "packetdrill", ended)


def cases(*names):
    return json.dumps({"scenarios": [{"id": name, "variant": name} for name in names]})


def test_conformance(optcp, tmp_path, snapshot):
    (tmp_path / "cases.json").write_text(cases("reno", "stuck"))
    status, out, err = optcp("conformance", "cases.json", "--out", "results/out.json")
    assert (status, err) == (0, "")
    assert out == snapshot
    assert list(json.loads(Path("results/out.json").read_text())) == ["reno", "stuck"]


def test_a_refused_case_is_named_and_the_others_are_kept(optcp, tmp_path):
    (tmp_path / "cases.json").write_text(cases("reno", "vegas"))
    status, _, err = optcp("conformance", "cases.json", "--out", "out.json")
    assert (status, err) == (1, "Error: unsupported cases:\ncase vegas: no vegas\n")
    assert list(json.loads(Path("out.json").read_text())) == ["reno"]


@pytest.mark.parametrize("content", [None, b"{", b"\xff"], ids=["absent", "broken", "binary"])
def test_cases_that_cannot_be_read_leave_the_old_results(optcp, tmp_path, content):
    if content is not None:
        (tmp_path / "cases.json").write_bytes(content)
    (tmp_path / "out.json").write_text("old")
    status, out, err = optcp("conformance", "cases.json", "--out", "out.json")
    assert (status, out) == (2, "")
    assert err.startswith("Error: cases.json: ")
    assert (tmp_path / "out.json").read_text() == "old"


def scripts(tmp_path):
    for name, text in (("good", "runs"), ("bad", "fails"), ("odd", "asks for much")):
        (tmp_path / f"{name}.pkt").write_text(text)


def test_scripts_that_pass(optcp, tmp_path, snapshot):
    scripts(tmp_path)
    status, out, err = optcp("packetdrill", "good.pkt", "good.pkt")
    assert (status, err) == (0, "")
    assert out == snapshot


def test_a_script_that_fails_is_shown_with_its_line(optcp, tmp_path, snapshot):
    scripts(tmp_path)
    status, out, err = optcp("packetdrill", "good.pkt", "bad.pkt", "--tolerance", "5")
    assert status == 1
    assert out == snapshot
    assert err == (
        "bad.pkt:3: FAILED at 0.500000 s\n  expected: > . 1:1001(1000) ack 1\n  happened: nothing within 5000 us\n"
    )


def test_refused_scripts_leave_the_others_to_run(optcp, tmp_path):
    scripts(tmp_path)
    (tmp_path / "binary.pkt").write_bytes(b"\xff")
    names = ("odd.pkt", "bad.pkt", "absent.pkt", "binary.pkt")
    status, out, err = optcp("packetdrill", *names, "--json", "out.json")
    assert status == 2
    assert out.splitlines()[-1] == "1 failed, 3 refused"
    assert err.splitlines()[0] == "odd.pkt:2: refused: the system call `poll` is not simulated"
    assert "absent.pkt: refused: No such file or directory" in err
    written = json.loads((tmp_path / "out.json").read_text())
    assert [(item["file"], item["result"]) for item in written] == [
        ("odd.pkt", "refused"),
        ("bad.pkt", "failed"),
        ("absent.pkt", "refused"),
        ("binary.pkt", "refused"),
    ]
    assert written[1]["line"] == 3
    assert written[1]["reason"] is None
