"""Rules of the emulator, each in a scenario with a single run that only tests this rule."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup
from optcp.papers.kit import Grid, Options, Part, Row, Run, Settings, StudyResult, exact_part, once, overrides, row
from optcp.stats import exact
from optcp_papers.rdcn.measured import CLASSES, PS_A_US, WIRE_BYTES, circuit_pct
from optcp_papers.rdcn.world import (
    ASSUMED,
    DAY_US,
    DAYS,
    DILATION,
    MARK_ENDS,
    NIGHT_US,
    PAPER,
    SCENARIO,
    SMALL,
    Week,
    lasting,
    schedule,
    sender,
    voq,
)

SLOT_US = DAY_US + NIGHT_US
WEEK_US = DAYS * SLOT_US
NIGHT_AT, DAY_AT, DAY_ENDS = WEEK_US - SLOT_US - NIGHT_US, WEEK_US - SLOT_US, WEEK_US - NIGHT_US
"""Start of the night before the data's day, start of that day, and its end."""
MOST_ROUND_TRIPS = 10
LATE_US = {0: 0, 50: 150, 100: 100, 150: 50, 200: 0, 250: 150, 300: 100}
"""Time from the end of the day to the end of the emulator's marks, by lead."""
MARK_WEEKS, FULL_WEEKS, SERVED_WEEKS = 2, 30, 12
BACKLOG, SHRINKS_US = 30, 500
"""Number of packets in the queue when it shrinks, and time of this change."""
A_DAY, FULL_PCT = {"closed": 201, "open": 200}, {"closed": (99.85, 99.93), "open": (0.0, 99.42)}
"""Packets that a day carries, and the corresponding utilisation in %, by the end of a day."""
DATA, ACKS = ("voq:tor2->tor3", "tor3->b"), ("voq:tor3->tor2", "tor2->a")
"""Queue of each direction, and prefix of the names of the ports after the switch."""
SETTLED = ("acks", "night", "day_end", "acknowledge", "initial_window", "start_spread_ms", "weeks")
RULES_ASSUMED = tuple(parameter for parameter in ASSUMED if parameter.name not in SETTLED)
"""Assumptions that the scenarios do not set themselves."""
NOTES = [
    "Each rule is tested in a scenario with one run. Times are those of listed packets, in the "
    "paper's microseconds. The marks are observed in the ACKs that leave the switch, of 16 flows over a permanent "
    "circuit, so their times are known up to the next ACK."
]


def listed(*links: str | list[str]) -> list[Settings]:
    """Return an observation that lists all packets, also at these links."""
    return [{"name": "packets", "kind": "packets", "links": links}]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per rule."""

    def make_grid(name: str, settings: Settings, axis: str, values: Mapping[str, Settings]) -> Grid:
        every = {**overrides(RULES_ASSUMED, chosen), **settings}
        return options.grid(SCENARIO, every, {axis: values}, f"rdcn rules, {name}")

    alone = {"parameters.hosts": 1, "parameters.start": "0 s"}
    lit = {"schedules": [], "voqs.0.served": "circuit", "tcp.sender.ack": "every-packet"}
    waiting = schedule(
        [
            (0, voq("forward", served="none", queue="50 packets")),
            (SHRINKS_US, voq("forward", served="packet", queue=f"{SMALL} packets")),
        ]
    )
    marked = {
        **lit,
        **sender("retcp"),
        "voqs.0.reverse": {"served": "circuit"},
        "parameters.voq": "128 packets",
        # A mark may end after its week, so run one slot longer.
        **lasting(MARK_WEEKS * WEEK_US + SLOT_US),
        "observe": listed(["a", "tor2"]),
    }

    def until(end: str) -> dict[str, Settings]:
        """Return the settings of the marks only, by lead."""
        by_lead = {lead: Week(mark_us=lead, mark_end=end).marks for lead in LATE_US}
        return {str(lead): {"schedules": schedule(marks, WEEK_US)} for lead, marks in by_lead.items()}

    return {
        **{f"mark, {end}": make_grid(f"mark, {end}", marked, "lead_us", until(end)) for end in MARK_ENDS},
        "round trip": make_grid(
            "round trip",
            {
                **alone,
                **lit,
                "flows.0.size": "1 packets",
                **lasting(SHRINKS_US),
                "observe": [{"name": "transit", "kind": "transit", "links": ["voq"], "interval": "$length"}],
            },
            "acks_by",
            {name: {"voqs.0.reverse": {"served": name}} for name in ("packet", "circuit")},
        ),
        "service": make_grid(
            "service",
            {
                **Week().settings,
                **lasting(SERVED_WEEKS * WEEK_US),
                "observe": listed("voq", "circuit", ["tor2", "core"], ["core", "tor3"], ["a", "tor2"], ["tor3", "b"]),
            },
            "flows",
            {"ending": {"flows.0.size": "2 MB"}},
        ),
        "full day": make_grid(
            "full day",
            {
                "parameters.voq": "128 packets",
                **lasting(FULL_WEEKS * WEEK_US),
                "observe": [{"name": "load", "kind": "load", "links": ["circuit"], "interval": "96 ms"}],
            },
            "day_end",
            {name: Week(closed=name == "closed").settings for name in A_DAY},
        ),
        "shrink": make_grid(
            "shrink",
            {
                **alone,
                "tcp.sender.initial_window": BACKLOG,
                "flows.0.size": f"{BACKLOG} packets",
                **lasting(2 * SHRINKS_US),
                "observe": listed("voq", ["tor2", "core"]),
            },
            "queue",
            {"shrinks": {"schedules": waiting}},
        ),
    }


class Packets:
    """Packets that a run lists; arrays of equal length.

    Attributes
    ----------
    at_us
        Time in the paper's microseconds.
    event, port, seq, marked
        Event, port, segment number, and whether the packet had the flag ECE.
    """

    def __init__(self, run: Run) -> None:
        table = run["packets"]
        self.at_us = table["time_ps"] / PS_A_US
        self.event, self.port = np.array(table.texts("event")), np.array(table.texts("port"))
        self.seq = table["seq"]
        self.marked = np.array(table.texts("marking")) == "ece"

    def where(self, event: str, port: str) -> NDArray[np.bool_]:
        """Return the mask of an event at ports whose names start with ``port``."""
        result: NDArray[np.bool_] = (self.event == event) & np.char.startswith(self.port, port)
        return result


def runs(done: StudyResult) -> Iterator[tuple[str, Run]]:
    """Yield the only run of each combination, by the value of the only axis."""
    (seed,) = done.seeds
    for branch in done.grid.branches:
        (name,) = done.grid.written(branch)
        yield name, done.run(branch, seed)


def measured(rule: str, case: str, metric: str, value: float) -> Row:
    """Return a row of a value without randomness."""
    return row({"rule": rule, "case": case}, metric, None, exact(value), "")


def find(found: Found) -> Findings:
    """Return each rule with its results."""
    by_rule = {
        "rdcn-short-days": round_trips(found.done["round trip"]),
        "rdcn-rule-service": services(found.done["service"]),
        "rdcn-rule-201": full_days(found.done["full day"]),
        "rdcn-rule-mark": marks(found.done),
        "rdcn-rule-shrink": shrinks(found.done["shrink"]),
    }
    return Findings(
        [item for shown, _ in by_rule.values() for item in shown],
        {id_: parts for id_, (_, parts) in by_rule.items()},
        notes=NOTES,
    )


def round_trips(done: StudyResult) -> tuple[list[Row], list[Part]]:
    """Measure the RTT of a full segment on an empty switch, and the number of RTTs per day."""
    shown, parts = [], []
    for name, run in runs(done):
        round_trip_us = float(run["transit"]["longest_ps"].sum()) / PS_A_US
        shown += [
            measured("round trip", f"ACKs by {name}", "round_trip_us", round_trip_us),
            measured("round trip", f"ACKs by {name}", "round_trips_a_day", DAY_US / round_trip_us),
        ]
        times = DAY_US / round_trip_us
        parts.append(exact_part(f"ACKs by {name}: {times:.2f} RTTs per day", times < MOST_ROUND_TRIPS))
    return shown, parts


def services(done: StudyResult) -> tuple[list[Row], list[Part]]:
    """Compare the departures from the queues with the schedule, and count the packets that leave the switch."""
    ((_, run),) = runs(done)
    packets = Packets(run)
    shown, parts = [], []
    for name, (queue, behind), by_circuit, by_packet, own in (
        ("data", DATA, "circuit:tor2->tor3", "tor2->core", _data_turn),
        ("ACKs", ACKS, "circuit:tor3->tor2", "tor3->core", _ack_turn),
    ):
        left = packets.where("transmitted", queue)
        at_us, begins = packets.at_us[left] % WEEK_US, {}
        # A packet that leaves a queue starts at the port of its path at the same time.
        for way, port in (("circuit", by_circuit), ("packet", by_packet)):
            begins[way] = packets.at_us[packets.where("queued", port)] % WEEK_US
        wrong = sum(int(np.sum(~own(way, at))) for way, at in begins.items())
        in_night = int(np.sum((at_us >= NIGHT_AT) & (at_us < DAY_AT))) if name == "data" else 0
        out = int(np.sum(packets.where("queued", behind)))
        shown += [
            measured("service", name, "left_packets", at_us.size),
            measured("service", name, "came_out_packets", out),
            measured("service", name, "out_of_turn_packets", wrong),
        ]
        parts += [
            exact_part(f"{name}: {wrong} of {at_us.size} packets off schedule, {in_night} in the night", not wrong),
            exact_part(f"{name}: {out} of {at_us.size} packets that left the queue left the switch", out == at_us.size),
        ]
    return shown, parts


def _data_turn(way: str, at_us: NDArray[np.float64]) -> NDArray[np.bool_]:
    if way == "circuit":
        return (at_us >= DAY_AT) & (at_us <= DAY_ENDS)
    return (at_us <= NIGHT_AT) | (at_us >= DAY_ENDS)


def _ack_turn(way: str, at_us: NDArray[np.float64]) -> NDArray[np.bool_]:
    if way == "circuit":
        return (at_us <= NIGHT_AT) & (at_us % SLOT_US <= DAY_US)
    return (at_us >= NIGHT_AT) & (at_us <= DAY_ENDS)


def full_days(done: StudyResult) -> tuple[list[Row], list[Part]]:
    """Count the packets that each day carries if the queue is never empty."""
    shown, parts = [], []
    for name, run in runs(done):
        load = run["load"].where(port=CLASSES["circuit"])
        days = load["bytes"] / WIRE_BYTES
        percent = circuit_pct(float(load["bytes"].sum()), DAY_US * DILATION / 1e6 * len(days))
        low, high = FULL_PCT[name]
        shown += [
            measured("full day", f"{name} end", "least_packets", float(days.min())),
            measured("full day", f"{name} end", "most_packets", float(days.max())),
            measured("full day", f"{name} end", "circuit_util_pct", percent),
        ]
        every = bool((days == A_DAY[name]).all())
        parts += [
            exact_part(f"{name} end: {days.min():g} to {days.max():g} packets on each of {len(days)} days", every),
            exact_part(f"{name} end: {percent:.3f} %, bounds {low:g} and {high:g}", low <= round(percent, 2) <= high),
        ]
    return shown, parts


def marks(done: Mapping[str, StudyResult]) -> tuple[list[Row], list[Part]]:
    """Compare the flag of every ACK that leaves the switch with the rule, for both ends of the marks."""
    shown, parts = [], []
    for end in MARK_ENDS:
        for name, run in runs(done[f"mark, {end}"]):
            lead = int(name)
            late = LATE_US[lead] if end == "recomputed" else 0
            packets = Packets(run)
            acks = packets.where("queued", ACKS[1])
            at_us, marked = packets.at_us[acks], packets.marked[acks]
            ruled = np.zeros(at_us.size, dtype=np.bool_)
            for week in range(MARK_WEEKS):
                begins, ends = (week * WEEK_US + item for item in (DAY_AT - lead, DAY_ENDS + late))
                ruled |= (at_us >= begins) & (at_us < ends)
            turns = np.flatnonzero(np.diff(marked.astype(np.int64)))
            first, last = at_us[turns[0] + 1] - DAY_AT, at_us[turns[1]] - DAY_ENDS
            wrong = int(np.sum(marked != ruled))
            case = f"{lead} us, {end}"
            shown += [
                measured("mark", case, "first_marked_us", float(first)),
                measured("mark", case, "last_marked_us", float(last)),
                measured("mark", case, "wrong_acks", wrong),
            ]
            text = (
                f"{case}: {wrong} of {at_us.size} ACKs violate the rule, flags from {first:.1f} us after the "
                f"start of the day to {last:.1f} us after its end"
            )
            parts.append(exact_part(text, not wrong and turns.size == 2 * MARK_WEEKS))
    return shown, parts


def shrinks(done: StudyResult) -> tuple[list[Row], list[Part]]:
    """List the packets that leave a queue which shrinks below its current length."""
    ((_, run),) = runs(done)
    packets = Packets(run)
    waited = int(np.sum(packets.where("queued", DATA[0]) & (packets.at_us < SHRINKS_US)))
    left = packets.seq[packets.where("queued", CLASSES["packet"])]
    lost = packets.where("dropped", DATA[0])
    gone = packets.seq[lost]
    in_order = bool(waited == BACKLOG and np.array_equal(left, np.arange(SMALL)))
    at_once = bool(
        np.array_equal(np.sort(gone), np.arange(SMALL, BACKLOG)) and (packets.at_us[lost] == SHRINKS_US).all()
    )
    shown = [
        measured("shrink", f"to {SMALL} packets", "waited_packets", waited),
        measured("shrink", f"to {SMALL} packets", "left_packets", left.size),
        measured("shrink", f"to {SMALL} packets", "lost_packets", gone.size),
    ]
    return shown, [
        exact_part(f"the oldest {left.size} of {waited} packets leave in order", in_order),
        exact_part(f"the youngest {gone.size} are lost when the queue shrinks", at_once),
    ]


RULES = Exhibit(
    "rdcn/rules",
    "The emulator's rules, each in turn",
    "abstract; graphs 5-2 and 8-2; the emulator's code",
    Setup(PAPER, None, grids, once, RULES_ASSUMED),
    find,
)
