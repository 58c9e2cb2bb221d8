"""Cost of the reversion to a repaired path, by type of reversion and by recovery of the sender."""

import math

import numpy as np

from optcp.outage.study import SENDERS
from optcp.papers.assume import Assumed, built_in, not_negative, overrides, positive_int
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Axis, Cells, Grid, Options, Part, Run, Settings, StudyResult, judge, runs_of
from optcp_papers.outage.law import SEGMENT_BITS
from optcp_papers.outage.paper import PAPER, not_run, scenario

SEEDS, QUICK_SEEDS = 10, 2
RTT_MS = 40
CORE_MS = 4
"""One-way delay of the link that fails, in ms."""
DELTAS_MS, QUICK_DELTAS_MS = (1, 2, 5, 8, 10, 15, 20, 30), (2, 8, 20)
"""Additional one-way delay of the backup: below and above a quarter and a half of the minimum RTT."""
STAYS = "none"
RETURNS = {"first": (15.0, 21.0), "second": (33.0, 39.0)}
"""Interval from each repair to the next failure, or to the end of the run, in s."""
UNDO_OFF: Settings = {"profile": "linux-6", "dsack_undo": False, "timestamp_undo": False}
DAS = {"duplicate_acks": "das"}
RECOVERIES: dict[str, Settings] = {
    "newreno": SENDERS["newreno"],
    "sack": {**SENDERS["newreno"], "recovery": "sack"},
    "rack": UNDO_OFF,
    "rack+undo": SENDERS["cubic"],
    "das": {**SENDERS["newreno"], **DAS},
    "rack+undo, das": {**SENDERS["cubic"], **DAS},
}
REVERTS: dict[str, Settings] = {
    STAYS: {"protection.0.revert": "none"},
    "electrical": {"protection.0.revert": "electrical"},
    "optical": {"protection.0.revert": "optical"},
    "igp": {"protection": [], "parameters.path": "routed"},
}
JUDGED = "electrical"
"""Reversion that the claims use: nothing is lost, but packets on the working path overtake those on the backup."""

ASSUMED = (
    Assumed("rate_mbps", 20, positive_int, "parameters.rate"),
    Assumed("jitter_ms", 1.0, not_negative, "parameters.jitter"),
    built_in("igp", "detection 10 ms, flooding 2 ms, SPF 20 ms, tables within 20 to 200 ms"),
)
NOTES = [
    "One flow over a link that fails and is repaired twice. The backup is `d_ms` longer one way, and the RTT without "
    f"a queue is {RTT_MS} ms. The receive window equals what the backup holds. The host rate therefore limits the "
    "flow on both paths, and only failures and reversions cost goodput.",
    "`lost_mb`: in-order bytes in the six seconds after the repair, compared with the same flow that stays on the "
    "backup (`revert` none). The bytes that the shorter path delivers earlier (rate x d) are added to that flow, so "
    "a sender that a reversion does not disturb loses 0. The flow on the backup is at the host rate again by then, so "
    "a flow without any loss would be an equal reference. With `igp` the six seconds also start at the repair, "
    "although routers revert later.",
    "`spurious`: segments that the receiver got again. `overtaken`: segments that arrived after a later one, among "
    "those sent once (RFC 4737).",
    "The host holds segments for up to `jitter_ms`, and the next ones follow in a burst. This models that Linux hands "
    "over about a millisecond of segments together. With `--set jitter_ms=0` segments of both paths alternate evenly "
    "at the merge. Each duplicate ACK is then followed by a new one, and NewReno never receives three in a row.",
    "`rack` is linux-6 without `dsack_undo` and `timestamp_undo`; DSACK still widens its reordering window. `sack` "
    "is RFC 6675 with three duplicates and NewReno's timers and congestion control. `das` is NewReno with the receiver "
    "of the DAS paper.",
    "Claims use `revert` electrical, which loses nothing. The 2 % margin of `outage-das-needless` also refers to "
    "NewReno's loss. Losses are means over d, summed over both reversions.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid: sender recovery, reversion, and additional one-way delay of the backup.

    The reversion ``none`` is the reference. The window grows with the delay.
    """
    rate_mbps, jitter_ms = float(chosen["rate_mbps"]), float(chosen["jitter_ms"])
    quick = options.size.is_quick
    settings = overrides(ASSUMED, chosen)
    axes = {
        "recovery": {name: _sender(recovery) for name, recovery in RECOVERIES.items()},
        "revert": REVERTS,
        "d_ms": {d: backup_settings(d, rate_mbps, jitter_ms) for d in (QUICK_DELTAS_MS if quick else DELTAS_MS)},
    }
    return {"return": options.grid(scenario("return"), settings, axes, "outage return")}


def _sender(recovery: Settings) -> Settings:
    return {f"tcp.sender.{key}": value for key, value in recovery.items()}


def backup_settings(d_ms: int, rate_mbps: float, jitter_ms: float) -> dict[str, str]:
    """Return a backup that is ``d_ms`` longer than the link, and a window that fills it."""
    held_ms = RTT_MS + 2 * d_ms + jitter_ms
    window = 2 + math.ceil(held_ms * 1000 * rate_mbps / SEGMENT_BITS)
    return {"parameters.half": f"{500 * (CORE_MS + d_ms):.0f} us", "parameters.window": f"{window} segments"}


def bytes_after(run: Run) -> list[float]:
    """Return the in-order bytes after each repair."""
    return _behind(run, "bytes")


def spurious(run: Run) -> list[float]:
    """Return the number of segments received twice after each repair."""
    return _behind(run, "needless")


def _behind(run: Run, column: str) -> list[float]:
    first, failure, second = (
        float(run[name][column][0]) for name in ("first-return", "second-failure", "second-return")
    )
    return [first - failure, second]


def overtaken(run: Run) -> list[float]:
    """Return the number of segments after each repair that arrived after a later one."""
    at_s = run["events"].where(event="overtaken").seconds
    return [float(((begin <= at_s) & (at_s < end)).sum()) for begin, end in RETURNS.values()]


class Costs:
    """Cost of reversions, over ``recovery``, ``revert``, ``d_ms`` and ``return``.

    Attributes
    ----------
    lost_mb, spurious, overtaken
        Metrics as defined in ``NOTES``.
    """

    def __init__(self, done: StudyResult) -> None:
        returns = Axis("return", tuple(RETURNS))
        reverts = tuple(name for name in REVERTS if name != STAYS)
        delivered = done.each(bytes_after, returns)
        stays = delivered.at(revert=STAYS)
        self.lost_mb = (-1e-6 * (delivered - stays * (1 + earlier(stays)))).part(revert=reverts)
        self.spurious = done.each(spurious, returns).part(revert=reverts)
        self.overtaken = done.each(overtaken, returns).part(revert=reverts)


def earlier(stays: Cells) -> Cells:
    """Return the share of bytes that the shorter path delivers earlier, of those until the next failure."""
    axis = stays.axis("d_ms")
    (begin_s, end_s), *_ = RETURNS.values()
    shares = np.array([float(d) for d in axis.values]) / 1000 / (end_s - begin_s)
    return Cells(np.tile(shares, (len(stays.seeds), 1)), (axis,), stays.seeds)


def find(found: Found) -> Findings:
    """Return the cost of reversions, and judge whether current senders still need the DAS receiver."""
    costs = found.only.once(Costs)
    metrics = {name: getattr(costs, name).mean() for name in ("lost_mb", "spurious", "overtaken")}
    missing = [not_run("other lengths of the backup")] if len(costs.lost_mb.axis("d_ms")) < len(DELTAS_MS) else []
    rtt_kb = RTT_MS * found.number("rate_mbps") / 8
    claims = {
        "outage-revert-free": [*free(costs, rtt_kb), *missing],
        "outage-das-needless": [*needless(costs.lost_mb), *missing],
    }
    return Findings(rows(metrics), claims, [], NOTES)


def free(costs: Costs, rtt_kb: float) -> list[Part]:
    """Judge: with d up to a quarter RTT a reversion costs less than one RTT, and it always costs less than NewReno."""
    lost, again = 1000 * costs.lost_mb.at(revert=JUDGED), costs.spurious.at(revert=JUDGED, recovery="rack+undo")
    today, before = lost.at(recovery="rack+undo"), lost.at(recovery="newreno")
    parts = []
    for d in lost.axis("d_ms").values:
        if float(d) <= RTT_MS / 4:
            parts += [
                judge.equivalence_part(f"d {d} ms, {name} return", item.values, rtt_kb, "kB")
                for name in RETURNS
                for item in [today.at(d_ms=d, **{"return": name})]
            ]
            most = float(again.at(d_ms=d, **{"return": "second"}).values.max())
            parts.append(judge.exact_part(f"d {d} ms: {most:g} spurious at the second reversion", most == 0))
        one, other = (cells.at(d_ms=d).total("return").values for cells in (today, before))
        parts.append(judge.paired_part(f"d {d} ms, minus NewReno, both reversions", one, other, "below", "kB"))
    return parts


def needless(lost_mb: Cells) -> list[Part]:
    """Judge: NewReno with the DAS receiver loses as much as the current sender, which loses the same with it."""
    mean = 1000 * lost_mb.at(revert=JUDGED).total("return").mean_over("d_ms")
    newreno_kb = float(mean.at(recovery="newreno").values.mean())
    today = mean.at(recovery="rack+undo")
    minus_das = (today - mean.at(recovery="das")).values
    with_das = (mean.at(recovery="rack+undo, das") - today).values
    return [
        judge.equivalence_part("current sender minus das", minus_das, 0.1 * newreno_kb, "kB"),
        judge.equivalence_part("current sender with das minus without", with_das, 0.02 * newreno_kb, "kB"),
    ]


RETURN = Exhibit(
    "outage/return",
    "Cost of reversion to a repaired path",
    "docs/details/outage.md, the return",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED),
    find,
)
