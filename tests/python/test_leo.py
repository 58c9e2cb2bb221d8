"""Study of TCP over moving satellites: its paths, its twins, and metrics of a run by hand."""

from dataclasses import replace

import numpy as np
import pytest

from handmade import run
from optcp.constellation import forwarding, series
from optcp.data.axes import Axis
from optcp.data.cells import Cells
from optcp.papers.options import Size
from optcp.scenarios.scenario import Scenario
from optcp_papers.leo import changes, checks, pairs, windows
from optcp_papers.leo.paper import SENDERS, sender
from optcp_papers.leo.worlds import ACK_BITS, SEGMENT_BITS, empty_ms, over, scenario

CHANGES = changes.changes(2)
SEGMENT_MS = SEGMENT_BITS / 10_000


def first(kind):
    return next(change for change in CHANGES if change.kind == kind)


@pytest.mark.parametrize(("pair", "at_s"), [("manila", 0), ("rio", windows.WINDOWS_S[3])])
def test_stored_tables_match_computed_tables(pair, at_s):
    found = windows.window(pair, at_s)
    of_states = forwarding.tables(found.states(), [(0, 1)], windows.SHELL.size)
    assert [
        f"{pair},{at_s},{round((entry.at_s - at_s) / 0.1)},{entry.node},{entry.to},{entry.next}"
        for entry in of_states.entries
    ] == windows.rows(pair, at_s)
    start, end = found.stations
    assert found.series.paths == series(windows.SHELL, start, end, 200.0, first_s=at_s).paths


def test_every_window_is_stored_and_has_a_path():
    assert len(set(windows.WINDOWS_S)) == windows.DRAWN
    for pair in windows.PAIRS:
        for at_s in (windows.PUBLISHED_S, *windows.WINDOWS_S):
            found = windows.window(pair, at_s).series
            assert (len(found.paths), found.end_s) == (2000, at_s + 200)
            assert any(found.paths)


@pytest.mark.parametrize("kind", changes.KINDS)
def test_twin_continues_on_path_before_change(kind):
    one = first(kind)
    found, kept = one.around(kept=False).series, one.around(kept=True).series
    steps = round(changes.BEFORE_S / windows.STEP_S)
    assert float(found.seconds[steps]) == pytest.approx(one.start_s)
    assert found.paths[:steps] == kept.paths[:steps]
    assert set(kept.paths[steps:]) == {found.paths[steps - 1]} != set(found.paths[steps:])
    assert found.end_s == kept.end_s == pytest.approx(one.end_s + changes.BEHIND_S)
    # The path does not change again, and the twin's only grows by the movement of satellites.
    behind = {path for path, at in zip(found.paths, found.seconds, strict=True) if at >= one.end_s - 1e-6}
    assert len(behind) == 1
    assert np.abs(np.diff(kept.rtt_ms[steps - 1 :])).max() < 0.02
    if kind == "outage":
        assert (one.way_ms, one.of_class) == (0, "outage")
        assert found.paths[steps] == ()
    else:
        hops = len(found.paths[steps]) - len(found.paths[steps - 1])
        way_ms = (found.rtt_ms[steps] - kept.rtt_ms[steps]) / 2 + hops * SEGMENT_MS
        assert one.way_ms == pytest.approx(way_ms, abs=1e-6)


def test_a_run_and_its_twin_are_equal_up_to_the_change():
    one = first("longer")
    runs = [
        Scenario(scenario(*changes.change_scenario(one, kept, sender(SENDERS["linux"]), 10.0))).run()
        for kept in (False, True)
    ]
    seen = [run["seen"] for run in runs]
    before = [int(each["bytes_before"][0]) for each in seen]
    assert before[0] == before[1] > 0
    assert int(seen[0]["bytes"][0]) != int(seen[1]["bytes"][0])


def test_quick_runs_have_fewer_windows():
    assert (changes.drawn_windows(Size("quick")), changes.drawn_windows(Size("default"))) == (1, windows.DRAWN)
    assert changes.drawn_windows(Size("seeds=3", 3)) == 3


def test_round_trip_without_queues():
    found = windows.window("manila", 0).series
    # Three satellites, hence four links.
    assert empty_ms(found, 10.0)[0] == pytest.approx(found.rtt_ms[0] + 4 * (SEGMENT_BITS + ACK_BITS) / 1e4)
    dark = replace(found, paths=[(), *found.paths[1:]])
    assert np.isnan(empty_ms(dark, 10.0)[0])
    held = checks.holds(found, 10.0, 100)
    assert held[0] == pytest.approx(empty_ms(found, 10.0)[0] / SEGMENT_MS + 100)


def test_windows_replace_seeds_in_intervals():
    cells = Cells([[[1, 2, 3], [4, 5, 6]]], (Axis("sender", ("a", "b")), Axis("window", ("0", "7", "9"))), (1,))
    assert over(cells, "window").values.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert changes.those(over(cells, "window"), [True, False, True]).values.tolist() == [[1, 4], [3, 6]]


def test_round_trips_exclude_retransmitted_segments():
    full = SEGMENT_BITS // 8
    rows = [
        (0, "sent", 0, 54), (1, "sent", 0, full), (2, "sent", 1, full), (3, "sent", 2, full), (5, "acked", 2, 54),
        (6, "resent", 2, full), (9, "acked", 3, 54), (10, "sent", 3, full), (12, "acked", 4, 54),
    ]  # fmt: skip
    names = ("sent", "resent", "acked")
    series = {
        "time_ps": np.array([row[0] for row in rows]) * 10**12,
        "event": np.array([names.index(row[1]) for row in rows]),
        "events": names,
        "seq": np.array([row[2] for row in rows]),
        "bytes": np.array([row[3] for row in rows]),
    }
    sent, acknowledged = checks.round_trips(run({"packets": series}))
    assert (sent.tolist(), acknowledged.tolist()) == ([2, 10], [5, 12])


def test_senders_have_settings_of_ns_3_or_linux():
    found = {name: pairs.pair_scenario("paris", name, 0, 10.0, 100) for name in ("newreno", "linux", "bbr3")}
    tcp = {name: Scenario(scenario(*made)).resolved["flows"][0]["tcp"] for name, made in found.items()}
    assert set(tcp.values()) == {"long"}
    settings = {name: Scenario(scenario(*made)).resolved["tcp"]["long"] for name, made in found.items()}
    assert [settings[name]["congestion"] for name in found] == ["reno", "cubic", "bbr3"]
    assert [settings[name]["loss_detection"] for name in found] == ["duplicates", "rack", "rack"]
    assert {setting["mss_bytes"] for setting in settings.values()} == {1380}
