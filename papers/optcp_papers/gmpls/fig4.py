"""Figure 4 and equations 1 to 3: new data in NewReno's recovery, compared with single-flow runs."""

import numpy as np

from optcp import stats
from optcp.papers.kit import Exhibit, Findings, Found, Key, Part, Row, Series, judge, row
from optcp_papers.gmpls.section3 import (
    FEWEST_DUPLICATES,
    LAW_WINDOWS,
    QUICK_WINDOWS,
    ROUND_TRIP_S,
    SETUP,
    World,
    bursts,
    crossing,
    law_crossing,
    law_new,
    law_progress,
    worlds,
)

SHOWN_WINDOW = 20
SHOWN_BURSTS = {"B > ssthresh": (12, 14, 16), "B < ssthresh": (3, 5, 8)}
ROW_BURSTS = {10: (3, 7), 20: (4, 8, 12, 16), 40: (8, 16, 24, 36)}
ROUND_TRIP_ERROR = 0.01
"""Tolerance in RTTs: the transmission time of a window adds to the propagation delay."""
WHY_NO_NEW = (
    "This profile removes the whole window inflation at a partial ACK (ns-2 without partial window deflation), so "
    "a recovery sends hardly any new data. The law assumes that the inflation stays. ns2-2001 keep is the same "
    "profile with the inflation kept."
)
WHY_BUFFERED = (
    "Equation 3 assumes that slow start retransmits everything outstanding and doubles without limit. In the runs the "
    "receiver has buffered the segments after the burst, so the ACK jumps once the gap is filled, and growth slows at "
    "ssthresh. The crossing therefore lies at another burst."
)


def find(found: Found) -> Findings:
    """Return the law by window and burst, and the crossing by window."""
    shown = worlds(found)
    timers = ", ".join(f"{profile} {world.wait * ROUND_TRIP_S * 1000:.0f} ms" for profile, world in shown.items())
    note = (
        f"RTOs after the last ACK: {timers}. The figure is lost: `paper` holds the values of the published equations 2 "
        "and 3. All interpretations use whole segments for ssthresh, as the law does, and no limited transmit."
    )
    return Findings(
        rows=[
            row
            for profile, world in shown.items()
            for row in progress_rows(profile, world) + crossing_rows(profile, world)
        ],
        claims={
            "recovery-law": {profile: follows_the_law(world) for profile, world in shown.items()},
            "largest-burst": {profile: crosses_where_equation_3_says(world) for profile, world in shown.items()},
        },
        series=[
            curve
            for profile, world in shown.items()
            for curve in round_trips(profile, world) + crossings(profile, world)
        ],
        notes=[note],
    )


def progress_rows(profile: str, world: World) -> list[Row]:
    """Return the new segments of whole recoveries, with equation 2 as the published value."""
    result = []
    for window, lengths in ROW_BURSTS.items():
        for burst in lengths:
            key: Key = {"profile": profile, "window": window, "burst": burst}
            total = stats.exact(float(world.windows[window][burst].recovery.new.sum()))
            result.append(row(key, "progress_segments", law_progress(window, burst), total, WHY_NO_NEW))
    return result


def crossing_rows(profile: str, world: World) -> list[Row]:
    """Return the largest burst for which recovery is not behind, with equation 3 as published, and with the RTO."""
    result = []
    why = WHY_NO_NEW if profile == "ns2-2001" else WHY_BUFFERED
    for window in QUICK_WINDOWS:
        by_burst = world.windows[window]
        key: Key = {"profile": profile, "window": window}
        at, waiting = (stats.exact(float(crossing(window, by_burst, wait))) for wait in (0.0, world.wait))
        result.append(row(key, "crossing_burst_segments", float(law_crossing(window, printed=True)), at, why))
        result.append(row(key, "crossing_burst_with_wait_segments", None, waiting, ""))
    return result


def round_trips(profile: str, world: World) -> list[Series]:
    """Return new segments over the round trip, for some bursts of the shown window, with the law."""
    labels = ("round trip of recovery", "RTT", "new segments", "segments")
    result = []
    for panel, lengths in SHOWN_BURSTS.items():
        for burst in lengths:
            key: Key = {"profile": profile, "window": SHOWN_WINDOW, "burst": burst, "panel": panel}
            curves = {
                "runs": world.windows[SHOWN_WINDOW][burst].recovery.new,
                "law": law_new(SHOWN_WINDOW, burst),
            }
            for name, new in curves.items():
                x = [float(number) for number in range(1, new.size + 1)]
                result.append(Series(name, key, *labels, x, new.astype(float).tolist()))
    return result


def crossings(profile: str, world: World) -> list[Series]:
    """Return the crossing burst over W: runs without and with the RTO, equation 3 as published and corrected."""
    labels = ("segments in flight, W", "segments", "largest burst for which recovery is not behind", "segments")
    windows = world.windows
    curves = {
        "runs, no wait": [crossing(window, by_burst) for window, by_burst in windows.items()],
        "runs, with the RTO": [crossing(window, by_burst, world.wait) for window, by_burst in windows.items()],
        "equation 3 as published": [law_crossing(window, printed=True) for window in windows],
        "equation 3 over mbz round trips": [law_crossing(window, printed=False) for window in windows],
        "maximum possible burst": [window - FEWEST_DUPLICATES for window in windows],
    }
    x = [float(window) for window in windows]
    return [Series(name, {"profile": profile}, *labels, x, list(map(float, y))) for name, y in curves.items()]


def follows_the_law(world: World) -> list[Part]:
    """Judge: B round trips, one retransmission each, new segments by the law, their sum by equation 2."""
    parts = []
    for window in LAW_WINDOWS:
        as_the_law = {"retransmissions": 0, "duration": 0, "new segments": 0, "sum": 0}
        for burst in bursts(window):
            seen = world.windows[window][burst].recovery
            as_the_law["retransmissions"] += seen.new.size == burst
            as_the_law["duration"] += abs(seen.round_trips - burst) <= ROUND_TRIP_ERROR
            as_the_law["new segments"] += np.array_equal(seen.new, law_new(window, burst))
            as_the_law["sum"] += bool(seen.new.sum() == law_progress(window, burst))
        every = len(bursts(window))
        for name, count in as_the_law.items():
            text = f"W = {window}, {name}: equal to the law for {count} of {every} bursts"
            parts.append(judge.exact_part(text, count == every))
    return parts


def crosses_where_equation_3_says(world: World) -> list[Part]:
    """Judge: without the RTO, the largest burst for which recovery gets further is within 1 of equation 3."""
    near, by_window = 0, []
    for window, by_burst in world.windows.items():
        found, waiting = crossing(window, by_burst), crossing(window, by_burst, world.wait)
        printed, corrected = (law_crossing(window, printed=flag) for flag in (True, False))
        near += min(abs(found - printed), abs(found - corrected)) <= 1
        if window in QUICK_WINDOWS:
            never = waiting == window - FEWEST_DUPLICATES
            by_window.append(
                f"W = {window}: {found} ({'none' if never else waiting} with the RTO), "
                f"equation 3 {printed} as published, {corrected} over mbz round trips"
            )
    text = (
        f"crossing burst within 1 of equation 3, as published or over mbz round trips, for {near} of "
        f"{len(world.windows)} windows "
        f'({", ".join(by_window)}; an RTO of {world.wait:.1f} round trips; "none": recovery is never behind)'
    )
    return [judge.exact_part(text, near == len(world.windows))]


FIG4 = Exhibit(
    "gmpls/fig4",
    "New data in fast recovery after a burst of losses, and when slow start is faster",
    "section 3, equations 1 to 3, Fig. 4",
    SETUP,
    find,
)
