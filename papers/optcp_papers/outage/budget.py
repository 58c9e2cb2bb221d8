"""Budget of an outage: recovery time of each mechanism, delay added by the sender, and cost for one flow."""

from dataclasses import dataclass

import numpy as np

from optcp import stats
from optcp.data.table import PICOSECONDS_A_SECOND as PS
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, runs_of
from optcp.papers.kit import (
    Assumed,
    Grid,
    Key,
    Options,
    Part,
    Row,
    Run,
    Settings,
    StudyResult,
    judge,
    positive_int,
    row,
)
from optcp_papers.outage import law, path
from optcp_papers.outage.paper import PAPER, not_run, scenario

SEEDS, QUICK_SEEDS = 20, 2
RTTS_MS = (5, 20, 80)
QUICK_RTT_MS = 20
SENDERS = ("newreno", "cubic", "bbr")
DETECTION_S = 0.01
MSS_MB = 1.448e-3
FAILURE_S = 4.0
BACK_SHARE = 0.95
"""Share of its previous rate, over two RTTs, at which a flow counts as recovered."""

WITHOUT = "no failure"

HOST, NEAR, CORE, FAR = 0.1, 0.2, 0.2, 0.4
"""Shares of the one-way delay: a host, the path before the link, the link, and the path after it."""
END_TO_END = ("I", "Y", "E")


def _protected(scheme: str, backup: tuple[str, ...] = END_TO_END, **more: str) -> Settings:
    entry = {"flows": "long", "scheme": scheme, "link": ["A", "B"], "backup": backup, "switch_delay": "$detection"}
    return {"parameters.path": "shortest", "protection": [{**entry, **more}]}


MECHANISMS: dict[str, Settings] = {
    "none": {},
    "ti-lfa": {"routing.repair": "ti-lfa", "routing.converge": "synchronized"},
    "local": _protected("local", ("A", "X", "B")),
    "path": _protected("path", signal_processing="1 ms"),
    "1:1": _protected("1:1", signal_processing="1 ms"),
    "1+1": _protected("1+1", capacity="shared"),
    "restoration, 8 s": _protected("restoration", signal_processing="1 ms", computation="8 s"),
    "controller, 5 s": {"routing.spf": "5 s", "routing.update": "0 s"},
}
SLOW_S = {"restoration, 8 s": 20.0, "controller, 5 s": 14.0, "no failure": 20.0}
AT_BACK = {"1+1": "E", "path": "I", "1:1": "I", "restoration, 8 s": "I"}
"""Node that switches data, if it is not the one before the link."""

DETOUR_RTTS_MS = (120, 160, 240)
DETOUR_RATES_MBPS = (50, 100)
DETOUR_RTT_MS = 20
DETOUR_SEEDS = 5
AFTER_S = (2.0, 9.0)
"""Interval after the switchover in which the share of the old rate counts, in s."""
AGGREGATION_S = 0.1
"""Additional time at its rate that BBR allows for aggregated ACKs, in s."""

ASSUMED = (Assumed("rate_mbps", 20, positive_int),)
NOTES = [
    "One flow limited by its host, with a receive window of what the path holds (BBR: none), and a failure up to one "
    "RTT later than 4 s. All paths are as long as the failed one. Times count from the failure: `detect_ms` is "
    "assumed; `notify_ms` lasts until segments are switched. `wait_ms` lasts until the sender sends a segment that "
    "gets through (a probe, an RTO, or with an ACK clock the first retransmission). `repair_ms` lasts until the last "
    "retransmission of that recovery, `regrow_ms` until the flow has 95 % of its previous rate over two RTTs.",
    "`lost_mb` is the in-order bytes missing relative to the same run without the failure, until recovery. "
    "`predicted_*` are the closed forms for the sender's own smoothed RTT and last transmission. There is none for "
    "NewReno with continuing ACKs, which may repair so slowly that its RTO fires.",
    "`detour`: the backup is longer, the host's queue holds one product of rate and RTT, and the window is unlimited. "
    "`share_pct` is the share of the old rate in seconds 2 to 9 after the switchover. "
    "`bound_pct` is min(1, (2 R_old + 100 ms) / R_new), `window_pct` is 2 R_old / R_new. `back_s` is the first time "
    "with 90 % for one second.",
]


def way(rtt_ms: float, rate_bps: float) -> law.Way:
    """Return the path of a propagation RTT."""
    half_s = rtt_ms / 2000
    return law.Way((HOST + NEAR) * half_s, CORE * half_s, (FAR + HOST) * half_s, rate_bps)


def laid(path_: law.Way) -> dict[str, str]:
    """Return the scenario settings of a path, with detours that are equally long."""
    whole_s = path_.near_s + path_.core_s + path_.far_s
    lengths = {
        "host": HOST * whole_s,
        "near": NEAR * whole_s,
        "core": CORE * whole_s,
        "half_core": CORE * whole_s / 2,
        "far": FAR * whole_s,
        "half_around": (NEAR + CORE + FAR) * whole_s / 2,
    }
    return {
        "parameters.rate": f"{path_.rate_bps:.0f} bps",
        "parameters.window": f"{path_.window} segments",
        # The initial ssthresh is the capacity of the path, so a loss reduces the window from that value.
        "tcp.sender.initial_ssthresh": f"{path_.window} segments",
        **{f"parameters.{name}": f"{1e6 * item:.0f} us" for name, item in lengths.items()},
    }


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per RTT, over mechanisms and senders, and the grids of longer backups."""
    rate_bps = 1e6 * float(chosen["rate_mbps"])
    result = {}
    for rtt_ms in (QUICK_RTT_MS,) if options.size.is_quick else RTTS_MS:
        later = {"failures.0.later": f"uniform(0 s, {rtt_ms} ms)", "observe": observing(rtt_ms)}
        settings = {**laid(way(rtt_ms, rate_bps)), **later}
        acting = {**MECHANISMS, WITHOUT: {"failures": []}}
        axes = {
            "mechanism": {name: {**entry, "stop": f"{stop_s(name, rtt_ms):g} s"} for name, entry in acting.items()},
            "sender": {name: path.sender(name) for name in SENDERS},
        }
        result[f"{rtt_ms} ms"] = options.grid(scenario("budget"), settings, axes, f"outage budget at {rtt_ms} ms")
    if options.size.is_quick:
        return result
    for rate_mbps in DETOUR_RATES_MBPS:
        old = way(DETOUR_RTT_MS, 1e6 * rate_mbps)
        queue = {"links.0.queue": f"{old.window} packets", "parameters.window": "unlimited", "stop": "44 s"}
        longer = {
            "rtt_ms": {detour_rtts_m: _longer(detour_rtts_m) for detour_rtts_m in DETOUR_RTTS_MS},
            "sender": {name: path.sender(name) for name in ("cubic", "bbr")},
        }
        settings = {**laid(old), **MECHANISMS["local"], **queue}
        result[f"detour at {rate_mbps} Mb/s"] = options.grid(
            scenario("budget"), settings, longer, f"outage detour at {rate_mbps} Mb/s"
        )
    return result


def observing(rtt_ms: float) -> list[Settings]:
    """Return the observations: goodput, retransmissions and RTOs, and packets around the failure."""
    # Start early enough: ACKs of segments that were observed when sent must arrive before the failure, with queues.
    before_s, after_s = FAILURE_S - 6 * rtt_ms / 1000 - 0.05, FAILURE_S + 8 * rtt_ms / 1000
    return [
        {"name": "goodput", "kind": "goodput", "interval": "1 ms"},
        {"name": "events", "kind": "reordering"},
        {"name": "packets", "kind": "packets", "after": f"{before_s:g} s", "until": f"{after_s:g} s"},
    ]


def _longer(rtt_ms: int) -> dict[str, str]:
    """Return half the delay of the detour around the link, which makes the RTT ``rtt_ms``."""
    half_us = 1000 * (rtt_ms - DETOUR_RTT_MS) / 4 + 1000 * CORE * DETOUR_RTT_MS / 4
    return {"parameters.half_core": f"{half_us:.0f} us"}


def stop_s(mechanism: str, rtt_ms: float) -> float:
    """Return the end of a run, by which the window has recovered in every case, in s."""
    return FAILURE_S + SLOW_S.get(mechanism, 4.0) + (14.0 if rtt_ms > 40 else 4.0)


@dataclass(frozen=True)
class Phases:
    """Phases of one flow's recovery, in ms and MB; closed forms are NaN if there is none.

    Attributes
    ----------
    detect_ms, notify_ms, wait_ms, repair_ms, regrow_ms
        Durations of the consecutive phases, from the failure on.
    lost_mb
        In-order bytes missing when the flow has recovered.
    predicted_network_mb, predicted_wait_mb, predicted_regrow_mb
        Closed forms: while the path is broken, until the flow sends again, and until it has recovered.
    instant_off_pct
        Relative error of the closed form for the time at which the flow sends again.
    """

    detect_ms: float
    notify_ms: float
    wait_ms: float
    repair_ms: float
    regrow_ms: float
    lost_mb: float
    predicted_network_mb: float
    predicted_wait_mb: float
    predicted_regrow_mb: float
    instant_off_pct: float

    @property
    def predicted_lost_mb(self) -> float:
        """Sum of the predicted losses of all phases."""
        return self.predicted_network_mb + self.predicted_wait_mb + self.predicted_regrow_mb


def observed_outage(run: Run, mechanism: str, path_: law.Way, failed_s: float) -> law.Outage:
    """Return the outage of the path, and the node that switches it."""
    until = {cut["ack"]: cut["until_ps"] / PS - failed_s for cut in run.cuts}
    whole_s = path_.near_s + path_.core_s + path_.far_s
    host_s = HOST * whole_s
    at = AT_BACK.get(mechanism, "A")
    to_switch_s = {"A": path_.near_s, "I": host_s, "E": whole_s - host_s}[at] + path_.spacing_s
    # ACKs are switched at the other end: arrival time of the last ACK that had passed, and distance to the sender.
    last_ack_s, back_s = {
        "A": (2 * path_.far_s, path_.core_s + path_.near_s),
        "I": (path_.far_s + host_s, whole_s - host_s),
        "E": (path_.far_s + whole_s - host_s, host_s),
    }[at]
    return law.Outage(until[False], until[True], to_switch_s, last_ack_s, back_s)


def phases(run: Run, twin: Run, mechanism: str, who: str, path_: law.Way) -> Phases:
    """Evaluate a run; losses are relative to its twin without the failure."""
    failed_s = min(cut["from_ps"] for cut in run.cuts) / PS
    seen = path.seen_at(run, path_, failed_s)
    outage = observed_outage(run, mechanism, path_, failed_s)
    timers = path.timers(who, seen).expiring_at(seen.resume_s)
    known = law.wait(path_, timers, seen.last_sent_s, outage)
    short = law.shortfall(path_, known, seen.last_sent_s, timers.srtt_s, outage, law.REGROWTHS[who])
    clocked = known.case not in ("probe", "timeout")
    resumed_s = seen.repair_s if np.isnan(seen.resume_s) else seen.resume_s
    repaired_s = path.repaired_s(run, failed_s, seen.repair_s)
    rate_mb_s, back_s, lost_mb = _goodput(run, twin, path_, failed_s, repaired_s)
    predictable = who != "newreno" or known.case == "timeout"
    segment_mb = MSS_MB if who != "newreno" else 1.46e-3
    network_mb = rate_mb_s * outage.data_s
    expected_s = known.repair_s if clocked else known.resume_s
    return Phases(
        detect_ms=1000 * DETECTION_S,
        notify_ms=1000 * (outage.data_s - DETECTION_S),
        wait_ms=1000 * (resumed_s - outage.data_s),
        repair_ms=1000 * (repaired_s - resumed_s),
        regrow_ms=1000 * (back_s - repaired_s),
        lost_mb=lost_mb,
        predicted_network_mb=network_mb if predictable else np.nan,
        predicted_wait_mb=segment_mb * short.silent - network_mb if predictable else np.nan,
        predicted_regrow_mb=segment_mb * short.regrow if predictable else np.nan,
        instant_off_pct=100 * (resumed_s / expected_s - 1),
    )


def _goodput(run: Run, twin: Run, path_: law.Way, failed_s: float, repaired_s: float) -> tuple[float, float, float]:
    """Return the previous rate in MB/s, the recovery time from the failure in s, and the missing bytes in MB."""
    got = run["goodput"]["bytes"].astype(np.float64) / 1e6
    step_s = run["goodput"].interval_s or 0.0
    before = slice(round((FAILURE_S - 1) / step_s), round(FAILURE_S / step_s))
    rate = float(got[before].sum()) / (step_s * (before.stop - before.start))
    width = max(1, round(max(2 * path_.rtt_s, 0.02) / step_s))
    smooth = np.convolve(got, np.ones(width), "valid") / (width * step_s)
    from_ = round((failed_s + repaired_s + path_.rtt_s / 2) / step_s)
    back = np.flatnonzero(smooth[from_:] >= BACK_SHARE * rate)
    back_s = (from_ + int(back[0])) * step_s - failed_s if back.size else np.nan
    # Count until recovery, not to the end: BBR drains the path every 10 s, at different times in the two runs.
    counted = slice(before.stop, from_ + int(back[0]) + width if back.size else len(got))
    whole = twin["goodput"]["bytes"].astype(np.float64) / 1e6
    missing = float((whole[counted] - got[counted]).sum())
    return rate, back_s, missing


METRICS = (
    "detect_ms", "notify_ms", "wait_ms", "repair_ms", "regrow_ms", "lost_mb", "predicted_lost_mb",
    "predicted_network_mb", "predicted_wait_mb", "predicted_regrow_mb", "instant_off_pct",
)  # fmt: skip


def find(found: Found) -> Findings:
    """Return the budget of each mechanism and sender, with closed forms, and the results of longer backups."""
    rate_bps = 1e6 * found.number("rate_mbps")
    shown: list[Row] = []
    detours: dict[int, StudyResult] = {}
    for key, done in found.done.items():
        if key.startswith("detour"):
            detours[int(key.split()[2])] = done
            continue
        rtt_ms = int(key.partition(" ")[0])
        shown += rtt_rows(rtt_ms, done, way(rtt_ms, rate_bps))
    parts: list[Part] = []
    for rate_mbps, done in detours.items():
        rows_, judged = detour_rows(rate_mbps, done)
        shown += rows_
        parts += judged
    return Findings(shown, {"outage-bbr-long-detour": parts or [not_run("longer backups")]}, [], NOTES)


def rtt_rows(rtt_ms: int, done: StudyResult, path_: law.Way) -> list[Row]:
    """Return the rows of one RTT."""
    by_cell: dict[tuple[str, str], list[Phases]] = {(item, who): [] for item in MECHANISMS for who in SENDERS}
    # Runs of one seed are stored together, so read them seed by seed.
    for seed in done.seeds:
        runs = {tuple(done.grid.written(branch)): done.run(branch, seed) for branch in done.grid.branches}
        for (mechanism, who), outcomes in by_cell.items():
            outcomes.append(phases(runs[mechanism, who], runs[WITHOUT, who], mechanism, who, path_))
    shown = []
    for (mechanism, who), each in by_cell.items():
        key: Key = {"rtt_ms": rtt_ms, "mechanism": mechanism, "sender": who}
        for metric in METRICS:
            values = np.array([getattr(item, metric) for item in each])
            if not np.isnan(values).any():
                shown.append(row(key, metric, None, stats.mean(values), ""))
        off = np.array([100 * (cost.predicted_lost_mb / cost.lost_mb - 1) for cost in each])
        if not np.isnan(off).any():
            shown.append(row(key, "off_pct", None, stats.mean(off), ""))
    return shown


def detour_rows(rate_mbps: int, done: StudyResult) -> tuple[list[Row], list[Part]]:
    """Return a flow's share of its old rate on a longer backup, and judge whether BBR starves there."""
    shown: list[Row] = []
    parts: list[Part] = []
    old_s = way(DETOUR_RTT_MS, 1e6 * rate_mbps).rtt_s
    shares = done.each(share_pct, name="share_pct", unit="%")
    backs = done.each(back_s, name="back_s", unit="s")
    for rtt in shares.axis("rtt_ms").values:
        new_s = old_s + (int(rtt) - DETOUR_RTT_MS) / 1000
        window_pct, bound_pct = 200 * old_s / new_s, 100 * min(1.0, (2 * old_s + AGGREGATION_S) / new_s)
        for who in shares.axis("sender").values:
            key: Key = {"rate_mbps": rate_mbps, "rtt_ms": int(rtt), "sender": who}
            shown.append(row(key, "share_pct", None, shares.at(rtt_ms=rtt, sender=who).mean().interval(), ""))
            shown.append(row(key, "back_s", None, backs.at(rtt_ms=rtt, sender=who).mean().interval(), ""))
            if who == "bbr":
                shown.append(row(key, "window_pct", None, stats.exact(window_pct), ""))
                shown.append(row(key, "bound_pct", None, stats.exact(bound_pct), ""))
        bbr = shares.at(rtt_ms=rtt, sender="bbr")
        name = f"{rate_mbps} Mb/s, {rtt} ms: share minus {window_pct:.0f} %"
        starved = judge.equivalence_part(name, bbr - window_pct, 10, "points")
        above = judge.difference_part(f"{name} (bound {bound_pct:.0f} %)", bbr - (bound_pct - 10), "below", "points")
        # A share above the bound minus ten points refutes the claim, regardless of the equivalence test.
        parts.append(above if above.holds is False else starved)
    return shown, parts


def share_pct(run: Run) -> float:
    """Return the flow's share of its old rate in the seconds after the switchover, in %."""
    got, step_s, switched_s = _rates(run)
    before = got[round((FAILURE_S - 1) / step_s) : round(FAILURE_S / step_s)].mean()
    first, last = (round((switched_s + after_) / step_s) for after_ in AFTER_S)
    return float(100 * got[first:last].mean() / before)


def back_s(run: Run) -> float:
    """Return the time from the switchover to the first second with 90 % of the old rate, or to the end of the run."""
    got, step_s, switched_s = _rates(run)
    before = got[round((FAILURE_S - 1) / step_s) : round(FAILURE_S / step_s)].mean()
    second = round(1 / step_s)
    smooth = np.convolve(got, np.ones(second), "valid") / second
    first = round(switched_s / step_s)
    back = np.flatnonzero(smooth[first:] >= 0.9 * before)
    return float((int(back[0]) if back.size else len(got) - first) * step_s)


def _rates(run: Run) -> tuple[np.ndarray, float, float]:
    """Return goodput by interval, the interval in s, and the time of the failure in s."""
    goodput = run["goodput"]
    return goodput["bytes"].astype(np.float64), goodput.interval_s or 0.0, min(cut["from_ps"] for cut in run.cuts) / PS


BUDGET = Exhibit(
    "outage/budget",
    "The budget of an outage",
    "docs/details/outage.md, the budget",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS, {"detour": (DETOUR_SEEDS, QUICK_SEEDS)}), ASSUMED),
    find,
)
