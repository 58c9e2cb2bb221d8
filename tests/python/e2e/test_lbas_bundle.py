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


def test_order_is_kept_over_two_bundles_and_with_a_hash(command, tmp_path):
    command("reproduce", "lbas/row", "--quick", "--out", "out")
    rows = json.loads((tmp_path / "out" / "lbas/row.json").read_text())["rows"]
    overtaken = {row["key"]["selection"]: row["measured"] for row in rows if row["metric"] == "overtaken_pct"}
    assert {way for way, share in overtaken.items() if share == 0} == {"anycast", "flow-hash"}


def test_lost_goodput_is_that_of_the_lost_capacity(command, tmp_path):
    command("reproduce", "lbas/failing", "--quick", "--out", "out")
    rows = json.loads((tmp_path / "out" / "lbas/failing.json").read_text())["rows"]
    lost = {row["key"]["failed"]: row["measured"] for row in rows if row["metric"] == "goodput_lost_pct"}
    # One of five lightpaths for 10 of 20 s.
    assert lost == {0: 0, 1: pytest.approx(10, abs=2)}
    packets = {row["key"]["failed"]: row["measured"] for row in rows if row["metric"] == "lost_packets"}
    assert packets[0] == 0 < packets[1]


def test_switches_without_speed_up_carry_less(command, tmp_path):
    command("reproduce", "lbas/switch", "--quick", "--out", "out")
    rows = json.loads((tmp_path / "out" / "lbas/switch.json").read_text())["rows"]
    for mode in ("yes", "no"):
        used = {
            row["key"]["switch"]: row["measured"]
            for row in rows
            if row["metric"] == "utilisation_pct" and row["key"]["anycast"] == mode
        }
        # One iteration of iSLIP, and cells that fill 97.7 % of their slots.
        assert 0 < used["iSLIP, speed-up 1"] < min(used["output queueing"], used["iSLIP, speed-up 2"])
