"""Figure 4 and equations 1 to 3: new data in NewReno's recovery, against single-flow runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.assume import Assumed, built_in, overrides, positive_int
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.gmpls import section3
from optcp.papers.gmpls.paper import PAPER
from optcp.papers.gmpls.section3 import LAW_WINDOWS, LAWFUL, OTHER_WINDOWS, PROFILES, QUICK_WINDOWS, TIMER, bursts
from optcp.papers.model import Series
from optcp.papers.verdict import row

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.gmpls.section3 import Burst
    from optcp.papers.judge import Part
    from optcp.papers.model import Key, Row
    from optcp.study import Done, Grid

SHOWN_WINDOW = 20
SHOWN_BURSTS = {"B > ssthresh": (12, 14, 16), "B < ssthresh": (3, 5, 8)}
ROW_BURSTS = {10: (3, 7), 20: (4, 8, 12, 16), 40: (8, 16, 24, 36)}
ROUND_TRIP_ERROR = 0.01
"""Of a round trip: what a window's transmission adds to the propagation."""
_WHY_NO_NEW = (
    "This profile takes the whole inflation of the window off at a partial ACK (ns-2 without partial window "
    "deflation), so that a recovery sends hardly anything new; the law counts on the inflation to stay. ns2-2001 "
    "keep is the same profile with the inflation retained."
)
_WHY_BUFFERED = (
    "Equation 3 lets slow start send everything outstanding again and lets it double without limit. In the runs the "
    "receiver has buffered what followed the burst, so that the ACK jumps once the hole is filled, and growth slows at "
    "ssthresh: which one wins then turns at another burst."
)


@exhibit
class Fig4(Exhibit):
    """Retransmissions and new segments per round trip, their sum, and the burst at which a restart is faster."""

    id = "gmpls/fig4"
    title = "New data in fast recovery after a burst of losses, and when slow start is faster"
    paper = PAPER
    where = "section 3, equations 1 to 3, Fig. 4"
    paper_runs = 1
    assumed = (
        Assumed("packet_bytes", 1000, positive_int, lambda value: [("tcp.single.mss", f"{value} B")]),
        Assumed("rate_bps", 1_000_000_000, positive_int, lambda value: [("parameters.rate", f"{value} bps")]),
        built_in("round_trip_ms", "100"),
        built_in("ssthresh", "floor(W / 2)"),
        built_in("limited_transmit", "no"),
        built_in("lost", "the first B of W segments sent at once"),
        built_in("restart", "a timer of 99 ms, just before the duplicate ACKs"),
        built_in("wait", "the profile's own timer after the last ACK, measured; the restart's curve that much later"),
    )

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """The timers, W = 10, 20, ..., 60 under every interpretation, and all other W under the one of the law."""
        common = overrides(self.assumed, chosen)
        found = {TIMER: section3.timer_study(common, options)}
        for profile in PROFILES:
            found[f"{profile}, W = 10, 20, ..., 60"] = section3.study(profile, QUICK_WINDOWS, common, options)
        for windows in OTHER_WINDOWS:
            name = f"{LAWFUL}, W = {windows[0]} to {windows[-1]}"
            found[name] = section3.study(LAWFUL, windows, common, options)
        return found

    def seeds(self, study: str, size: Size) -> int:
        """One: nothing is random. A quick look leaves most windows out."""
        return 0 if size.is_quick and " to " in study else 1

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """The law by window and burst, and the crossing by window."""
        del chosen
        measured: dict[str, dict[int, dict[int, Burst]]] = {profile: {} for profile in PROFILES}
        for name, study in done.items():
            if name != TIMER:
                measured[name.partition(",")[0]] |= study.once(section3.measure)
        measured = {profile: dict(sorted(by_window.items())) for profile, by_window in measured.items()}
        waits = section3.waits_in_round_trips(done[TIMER])
        judged = judge.judge_all(self.id, _JUDGES, {name: (measured[name], waits[name]) for name in PROFILES})
        rows: list[Row] = []
        series: list[Series] = []
        for profile in PROFILES:
            rows += _progress_rows(profile, measured[profile]) + _crossing_rows(
                profile, measured[profile], waits[profile]
            )
            series += _round_trips(profile, measured[profile][SHOWN_WINDOW])
            series += _crossings(profile, measured[profile], waits[profile])
        note = (
            "Own timers after the last ACK: "
            + ", ".join(f"{name} {waits[name] * section3.ROUND_TRIP_S * 1000:.0f} ms" for name in PROFILES)
            + ". The figure is lost: `paper` is what the printed equations 2 and 3 give. All interpretations use whole "
            "segments for ssthresh, as the law does, and no limited transmit."
        )
        return Evaluation(rows, judged, series, [note])


Measured = tuple["dict[int, dict[int, Burst]]", float]


def follows_the_law(context: Measured) -> list[Part]:
    """Judge: B round trips, one retransmission each, new segments by the law, their sum by equation 2."""
    measured, _ = context
    parts = []
    for window in LAW_WINDOWS:
        wrong: dict[str, list[int]] = {name: [] for name in ("retransmissions", "duration", "new segments", "sum")}
        for burst in bursts(window):
            seen = measured[window][burst].recovery
            if seen.retransmissions.size != burst or (seen.retransmissions != 1).any():
                wrong["retransmissions"].append(burst)
            if abs(seen.round_trips - burst) > ROUND_TRIP_ERROR:
                wrong["duration"].append(burst)
            if not np.array_equal(seen.new, section3.law_new(window, burst)):
                wrong["new segments"].append(burst)
            if seen.new.sum() != section3.law_progress(window, burst):
                wrong["sum"].append(burst)
        for name, at in wrong.items():
            text = (
                f"W = {window}, {name}: as the law for {len(bursts(window)) - len(at)} of {len(bursts(window))} bursts"
            )
            parts.append(judge.exact_part(text, not at))
    return parts


def crosses_where_equation_3_says(context: Measured) -> list[Part]:
    """Judge: the largest burst for which recovery gets further is within 1 of equation 3, without the wait."""
    measured, wait = context
    far, told = [], []
    for window, by_burst in measured.items():
        found = section3.crossing(window, by_burst)
        printed, corrected = (section3.law_crossing(window, printed=flag) for flag in (True, False))
        waiting = section3.crossing(window, by_burst, wait)
        if min(abs(found - printed), abs(found - corrected)) > 1:
            far.append(window)
        if window in QUICK_WINDOWS:
            told.append(
                f"W = {window}: {found} ({'none' if waiting == window - 3 else waiting} with the wait), "
                f"equation 3 {printed} as printed, {corrected} over mbz round trips"
            )
    text = (
        f"crossing burst within 1 of equation 3, as printed or over mbz round trips, for {len(measured) - len(far)} of "
        f"{len(measured)} windows "
        f'({", ".join(told)}; a wait of {wait:.1f} round trips; "none": recovery is never behind)'
    )
    return [judge.exact_part(text, not far)]


_JUDGES = {
    "recovery-law": follows_the_law,
    "largest-burst": crosses_where_equation_3_says,
}


def _progress_rows(profile: str, measured: Mapping[int, Mapping[int, Burst]]) -> list[Row]:
    rows = []
    for window, chosen in ROW_BURSTS.items():
        for burst in chosen:
            key: Key = {"profile": profile, "window": window, "burst": burst}
            total = float(measured[window][burst].recovery.new.sum())
            rows.append(
                row(key, "progress_segments", section3.law_progress(window, burst), stats.exact(total), _WHY_NO_NEW)
            )
    return rows


def _crossing_rows(profile: str, measured: Mapping[int, Mapping[int, Burst]], wait: float) -> list[Row]:
    rows = []
    for window in QUICK_WINDOWS:
        by_burst = dict(measured[window])
        key: Key = {"profile": profile, "window": window}
        found = float(section3.crossing(window, by_burst))
        printed = float(section3.law_crossing(window, printed=True))
        why = _WHY_NO_NEW if profile == "ns2-2001" else _WHY_BUFFERED
        rows.append(row(key, "crossing_burst_segments", printed, stats.exact(found), why))
        waiting = float(section3.crossing(window, by_burst, wait))
        rows.append(row(key, "crossing_burst_with_wait_segments", None, stats.exact(waiting), ""))
    return rows


def _round_trips(profile: str, measured: Mapping[int, Burst]) -> list[Series]:
    """New segments over the number of the round trip, for some bursts of the shown window, beside the law."""
    found = []
    for panel, chosen in SHOWN_BURSTS.items():
        for burst in chosen:
            key: Key = {
                "profile": profile,
                "window": SHOWN_WINDOW,
                "burst": burst,
                "panel": panel,
            }
            axes = ("round trip of recovery", "RTT", "new segments", "segments")
            new = measured[burst].recovery.new
            law = section3.law_new(SHOWN_WINDOW, burst)
            found.append(
                Series("runs", key, *axes, list(map(float, range(1, new.size + 1))), new.astype(float).tolist())
            )
            found.append(
                Series("law", key, *axes, list(map(float, range(1, law.size + 1))), law.astype(float).tolist())
            )
    return found


def _crossings(profile: str, measured: Mapping[int, Mapping[int, Burst]], wait: float) -> list[Series]:
    """The crossing burst over W: runs without and with the wait, equation 3 as printed and corrected."""
    axes = ("segments in flight, W", "segments", "largest burst for which recovery is not behind", "segments")
    x = [float(window) for window in measured]
    curves = {
        "runs, no wait": [section3.crossing(w, by_burst) for w, by_burst in measured.items()],
        "runs, with the timer's wait": [section3.crossing(w, by_burst, wait) for w, by_burst in measured.items()],
        "equation 3 as printed": [section3.law_crossing(w, printed=True) for w in measured],
        "equation 3 over mbz round trips": [section3.law_crossing(w, printed=False) for w in measured],
        "longest burst there can be": [w - section3.FEWEST_DUPLICATES for w in measured],
    }
    key: Key = {"profile": profile}
    return [Series(name, key, *axes, x, list(map(float, values))) for name, values in curves.items()]
