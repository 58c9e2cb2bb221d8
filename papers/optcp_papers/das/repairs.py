"""Extension of the paper: suppression at the receiver compared with the senders' own measures against reordering."""

from dataclasses import dataclass, replace

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Cells, Grid, Key, Options, Row, Settings, StudyResult, built_in, curves_over, runs_of
from optcp.papers.over import Axis
from optcp_papers.das.paper import PAPER, scenario

RUNS = 10
QUICK_RUNS = 2
SACK = {"tcp.all.profile": "rfc", "tcp.all.recovery": "sack"}
STAMPS = {"tcp.all.timestamps": True}
SENDERS: dict[str, Settings] = {
    "NewReno": {"tcp.all.profile": "rfc"},
    "SACK": SACK,
    "SACK, DSACK undo": {**SACK, "tcp.all.dsack_undo": True},
    "SACK, timestamp undo": {**SACK, **STAMPS, "tcp.all.timestamp_undo": True},
    "SACK, F-RTO": {**SACK, "tcp.all.frto": True},
    "SACK, RACK": {**SACK, "tcp.all.loss_detection": "rack"},
    "linux-6": {"tcp.all.profile": "linux-6"},
}
RECEIVERS = ("plain", "das", "das-bounded")
SUPPRESSED = ("NewReno", "SACK", "linux-6")
"""Senders that also run with the suppressing receivers."""
DIFFERENCES_MS = (1, 5, 20, 60)
DURATIONS_S = (0.2, 2.0)
QUICK_DURATION_S = 2.0
FAILURE_S = 5.0
AFTER_S = 2.0
WAYS = {
    f"{sender}; {receiver}": (sender, receiver)
    for sender in SENDERS
    for receiver in (RECEIVERS if sender in SUPPRESSED else RECEIVERS[:1])
}
"""All pairs (sender, receiver), ordered by sender."""

ASSUMED = (
    built_in("bottleneck_bps", "20000000"),
    built_in("window_segments", "80"),
    built_in("mss_bytes", "1460"),
    built_in("starts", "uniform(0 s, 0.1 s)"),
    built_in("failure_at_s", "5"),
)


def study(duration_s: float) -> str:
    """Return the name of the grid of a failure's duration."""
    return f"failure of {duration_s:g} s"


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per duration of the failure, over the paths' difference and the ways."""
    del chosen

    def make_grid(duration_s: float) -> Grid:
        works_at_s = FAILURE_S + duration_s
        failure = {"parameters.works_at": f"{works_at_s:g} s", "stop": f"{works_at_s + AFTER_S:g} s"}
        axes = {
            "failure_s": {f"{duration_s:g}": failure},
            "difference_ms": {
                differences_m: {"parameters.difference": f"{differences_m} ms"} for differences_m in DIFFERENCES_MS
            },
            "way": {
                way: {**SENDERS[sender], "tcp.all.duplicate_acks": "every" if receiver == "plain" else receiver}
                for way, (sender, receiver) in WAYS.items()
            },
        }
        return options.grid(scenario("repairs"), {}, axes, f"das repairs, {study(duration_s)}")

    return {study(duration_s): make_grid(duration_s) for duration_s in DURATIONS_S}


@dataclass(frozen=True)
class World:
    """Results for one duration of the failure, over ``failure_s`` (one value), ``difference_ms`` and ``way``.

    Attributes
    ----------
    mbps
        Goodput after the repair, in Mb/s.
    recoveries, timeouts, resent
        Number of recoveries, RTOs and retransmissions after the repair.
    """

    mbps: Cells
    recoveries: Cells
    timeouts: Cells
    resent: Cells


def measure(done: StudyResult) -> World:
    """Evaluate the finished runs of a duration.

    Raises
    ------
    ValueError
        If a run has losses, which this experiment must not have.
    """
    drops = done.table("scalars").where(metric="drops")
    # The table has one row per run and reason.
    if dropped := sorted({reason for reason, count in zip(drops["of"], drops["value"], strict=True) if count}):
        raise ValueError(f"the study must have no losses, but has {', '.join(dropped)}")
    (duration_s,) = done.axes[0].numbers or ()
    repair_s = FAILURE_S + duration_s
    payload = done["goodput"].between(repair_s, repair_s + AFTER_S).total("group")
    recoveries, timeouts, resent = (
        done["reordering"].count(event=event, after=repair_s) for event in ("recovery", "timeout", "resent")
    )
    return World(payload * 8 / AFTER_S / 1e6, recoveries, timeouts, resent)


def find(found: Found) -> Findings:
    """Return rows per (sender, receiver, difference, duration), and curves over the difference."""
    shown, series = [], []
    for done in (done for done in found.done.values() if done.seeds):
        of_duration = all_rows(done.once(measure))
        shown += of_duration
        of_goodput = [row for row in of_duration if row.metric == "goodput_mbps"]
        x, y = Axis("additional backup delay", "ms"), Axis("goodput", "Mb/s")
        series += [replace(curve, ci95=[]) for curve in curves_over(of_goodput, "difference_ms", x, y)]
    note = (
        f"Goodput is of the {AFTER_S:g} s after the repair. `gain_pct` is relative to the same sender with the "
        "plain receiver, or to SACK for a variant of it, paired by seed. No run loses a packet, "
        "so every recovery, RTO and retransmission is spurious. The model has no sender that "
        "raises its threshold of three duplicates (RFC 4653, or Linux's estimate of reordering)."
    )
    return Findings(shown, {}, series, [note])


def base(way: str) -> str:
    """Return the reference of a gain: the sender, or SACK for its variants, with the plain receiver."""
    sender, _ = WAYS[way]
    return f"{sender if sender in SUPPRESSED else 'SACK'}; plain"


def all_rows(world: World) -> list[Row]:
    """Return goodput, spurious recoveries and gain, and retransmissions and RTOs if there are any."""
    result = []
    (failure,) = world.mbps.axis("failure_s").values
    for difference in DIFFERENCES_MS:
        for way, (sender, receiver) in WAYS.items():
            here: dict[str, str | float] = {"failure_s": failure, "difference_ms": difference}
            mbps, recoveries, timeouts, resent = (
                cells.at(way=way, **here) for cells in (world.mbps, world.recoveries, world.timeouts, world.resent)
            )
            metrics = {
                "goodput_mbps": mbps.mean(),
                "false_retransmit_share_pct": (recoveries + timeouts > 0).share().times(100),
            }
            if base(way) != way:
                metrics["gain_pct"] = (100 * (mbps / world.mbps.at(way=base(way), **here) - 1)).mean()
            if resent.values.any():
                metrics["resent_segments"] = resent.mean()
            if timeouts.values.any():
                metrics["timeouts"] = timeouts.mean()
            key: Key = {
                "sender": sender,
                "receiver": receiver,
                "difference_ms": difference,
                "failure_s": float(failure),
            }
            result += rows(metrics, key=key)
    return result


REPAIRS = Exhibit(
    "das/repairs",
    "Suppression against undo, F-RTO and RACK: cost of reversion to a shorter path",
    "beyond the paper",
    Setup(PAPER, None, grids, runs_of(RUNS, QUICK_RUNS, {study(DURATIONS_S[0]): (RUNS, 0)}), ASSUMED),
    find,
)
