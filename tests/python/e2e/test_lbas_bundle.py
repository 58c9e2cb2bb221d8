"""Inelastic traffic with the compiled simulator, against closed forms and properties of any queue."""

import json

import pytest


def test_waits_are_those_of_queueing_theory(command, tmp_path):
    command("reproduce", "lbas/inelastic", "--quick", "--out", "out")
    rows = json.loads((tmp_path / "out" / "lbas/inelastic.json").read_text())["rows"]
    ratios = [row["measured"] for row in rows if row["metric"] == "of_closed_form_pct"]
    assert len(ratios) == 4
    assert ratios == pytest.approx([100] * 4, abs=4)
    changes = [row for row in rows if row["metric"] == "wait_packets" and row["key"]["anycast"] == "with minus without"]
    assert len(changes) == 27
    assert all(row["measured"] < 0 for row in changes)
