"""What the return to a repaired path costs, by how packets return and how the sender takes what overtakes."""

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
"""The link that fails, one way."""
DELTAS_MS, QUICK_DELTAS_MS = (1, 2, 5, 8, 10, 15, 20, 30), (2, 8, 20)
"""How much longer the backup is, one way: below and above a quarter and a half of the least round trip."""
STAYS = "none"
RETURNS = {"first": (15.0, 21.0), "second": (33.0, 39.0)}
"""From the repair to the next failure, or to the end of the run, in seconds."""
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
"""The return of claims: nothing is lost, and what is sent over the working path overtakes what the backup holds."""

ASSUMED = (
    Assumed("rate_mbps", 20, positive_int, "parameters.rate"),
    Assumed("jitter_ms", 1.0, not_negative, "parameters.jitter"),
    built_in("igp", "detection 10 ms, flooding 2 ms, SPF 20 ms, tables within 20 to 200 ms"),
)
NOTES = [
    "One flow over a link that fails and is repaired twice; the backup is `d_ms` longer one way, and the round "
    f"trip without a queue is {RTT_MS} ms. The receiver's window is what the backup holds, so that the rate of the "
    "host limits the flow on both ways and only failures and returns cost it anything.",
    "`lost_mb`: in-order bytes of the six seconds behind the repair, against the same flow that stays on the "
    "backup (`revert` none), and what the shorter way brings earlier (rate x d), so that a sender which a return "
    "does not disturb has 0. It is at the host's rate again by then, so that a flow without any loss would serve "
    "as well. With `igp` the six seconds begin at the repair, too, though routers return later.",
    "`spurious`: segments that came to the receiver although they had come before. `overtaken`: segments that came "
    "after a later one, of those sent once (RFC 4737).",
    "The host holds segments for up to `jitter_ms` and those behind follow in a burst, which stands for the "
    "millisecond's worth that Linux hands over at once. With `--set jitter_ms=0` segments of both ways alternate "
    "evenly at the merge, each duplicate ACK is followed by a new one, and NewReno never sees three in a row.",
    "`rack` is linux-6 without `dsack_undo` and `timestamp_undo`; DSACK still widens its reordering window. `sack` "
    "is RFC 6675 with three duplicates and NewReno's timers and control, `das` NewReno with the fifth seed's "
    "receiver.",
    "Claims are judged with `revert` electrical, which loses nothing. Of `outage-das-needless` the margin of 2 per "
    "cent is of NewReno's loss, too, and losses are means over d of both returns together.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Every recovery, return and length of the backup."""
    rate_mbps, jitter_ms = float(chosen["rate_mbps"]), float(chosen["jitter_ms"])
    quick = options.size.is_quick
    settings = overrides(ASSUMED, chosen)
    axes = {
        "recovery": {name: _sender(of) for name, of in RECOVERIES.items()},
        "revert": REVERTS,
        "d_ms": {d: backup(d, rate_mbps, jitter_ms) for d in (QUICK_DELTAS_MS if quick else DELTAS_MS)},
    }
    return {"return": options.grid(scenario("return"), settings, axes, "outage return")}


def _sender(of: Settings) -> Settings:
    return {f"tcp.sender.{key}": value for key, value in of.items()}


def backup(d_ms: int, rate_mbps: float, jitter_ms: float) -> dict[str, str]:
    """A backup that is ``d_ms`` longer than the link, and a window that fills it."""
    held_ms = RTT_MS + 2 * d_ms + jitter_ms
    window = 2 + math.ceil(held_ms * 1000 * rate_mbps / SEGMENT_BITS)
    return {"parameters.half": f"{500 * (CORE_MS + d_ms):.0f} us", "parameters.window": f"{window} segments"}


def bytes_after(run: Run) -> list[float]:
    """In-order bytes behind each repair."""
    return _behind(run, "bytes")


def spurious(run: Run) -> list[float]:
    """Segments that came twice behind each repair."""
    return _behind(run, "needless")


def _behind(run: Run, column: str) -> list[float]:
    first, failure, second = (
        float(run[name][column][0]) for name in ("first-return", "second-failure", "second-return")
    )
    return [first - failure, second]


def overtaken(run: Run) -> list[float]:
    """Segments that came after a later one behind each repair."""
    at_s = run["events"].where(event="overtaken").seconds
    return [float(((begin <= at_s) & (at_s < end)).sum()) for begin, end in RETURNS.values()]


class Costs:
    """What returns cost, over ``recovery``, ``revert``, ``d_ms`` and ``return``.

    Attributes
    ----------
    lost_mb, spurious, overtaken
        As the notes have them.
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
    """What a return to the shorter way brings earlier, as a share of what comes until the next failure."""
    axis = stays.axis("d_ms")
    (begin_s, end_s), *_ = RETURNS.values()
    shares = np.array([float(d) for d in axis.values]) / 1000 / (end_s - begin_s)
    return Cells(np.tile(shares, (len(stays.seeds), 1)), (axis,), stays.seeds)


def find(found: Found) -> Findings:
    """What returns cost, and whether today's senders have for nothing what the fifth seed's receiver is for."""
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
    """Judge: up to a quarter of a round trip longer a return costs below one of them; and always below NewReno's."""
    lost, again = 1000 * costs.lost_mb.at(revert=JUDGED), costs.spurious.at(revert=JUDGED, recovery="rack+undo")
    today, before = lost.at(recovery="rack+undo"), lost.at(recovery="newreno")
    parts = []
    for d in lost.axis("d_ms").values:
        if float(d) <= RTT_MS / 4:
            parts += [
                judge.equivalence_part(f"d {d} ms, {name} return", one.values, rtt_kb, "kB")
                for name in RETURNS
                for one in [today.at(d_ms=d, **{"return": name})]
            ]
            most = float(again.at(d_ms=d, **{"return": "second"}).values.max())
            parts.append(judge.exact_part(f"d {d} ms: {most:g} spurious at the second return", most == 0))
        one, other = (cells.at(d_ms=d).total("return").values for cells in (today, before))
        parts.append(judge.paired_part(f"d {d} ms, less than NewReno, both returns", one, other, "below", "kB"))
    return parts


def needless(lost_mb: Cells) -> list[Part]:
    """Judge: NewReno with the fifth seed's receiver loses what today's sender loses, with that receiver and without."""
    mean = 1000 * lost_mb.at(revert=JUDGED).total("return").mean_over("d_ms")
    of = float(mean.at(recovery="newreno").values.mean())
    today = mean.at(recovery="rack+undo")
    with_das = (mean.at(recovery="rack+undo, das") - today).values
    return [
        judge.equivalence_part("today's sender less das", (today - mean.at(recovery="das")).values, 0.1 * of, "kB"),
        judge.equivalence_part("today's sender with das less without", with_das, 0.02 * of, "kB"),
    ]


RETURN = Exhibit(
    "outage/return",
    "What the return to a repaired path costs",
    "docs/details/outage.md, the return",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED),
    find,
)
