"""Circuit that is available on one day in eight: utilisation by TCP and day length."""

import numpy as np
from numpy.typing import NDArray

from optcp.papers.assume import Assumed, built_in, not_negative, overrides, positive, positive_int
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Axis, Cells, Grid, Options, Part, Run, Settings, difference_part, runs_of
from optcp_papers.outage.paper import not_run
from optcp_papers.reconfigurable.paper import PAPER, SENDERS, scenario

SEEDS, QUICK_SEEDS = 10, 1
DAYS_US = (10, 30, 100, 300, 1000, 3000, 10_000)
QUICK_DAYS_US = (30, 300, 3000)
SLOTS = 8
NIGHT_SHARE = 1 / 9
"""Of a day."""
LEAST_MS, QUICK_LEAST_MS = 160, 40
LEAST_WEEKS, QUICK_LEAST_WEEKS = 16, 4
"""Minimum measured time, and minimum number of measured weeks."""
CIRCUIT_BPS, PACKET_BPS = 80e9, 10e9
PAYLOAD_SHARE = 8948 / 9000
CIRCUIT, PACKET, QUEUE = "circuit:tor2->tor3", "tor2->core", "voq:tor2->tor3"
MEASURED = ("circuit_util_pct", "packet_util_pct", "drop_pct")
FULL_PCT = 90
NAMES = ("cubic", "bbr3", "prague", "tdtcp")
WITH: dict[str, Settings] = {"tdtcp": {"path_state": "per-network"}}
"""Settings in addition to the study's: TDTCP is CUBIC with separate state per network."""

ASSUMED = (
    Assumed("queue_packets", 80, positive_int),
    Assumed("mark_packets", 9, positive_int),
    Assumed("notify_us", 5.0, not_negative, "parameters.notify"),
    Assumed("host_delay_us", 5.0, positive, "parameters.host_delay"),
    Assumed("min_rto_ms", 10.0, positive, "tcp.sender.min_rto"),
    built_in("networks", "a packet network of 10 Gb/s and 5 us twice, a circuit of 80 Gb/s and 30 us; 9000 B packets"),
    built_in(
        "week", "eight slots, each a night and a day nine times as long; the circuit, for data and ACKs, in the last"
    ),
    built_in("long_flows", "16, from a host of 40 Gb/s each"),
)
NOTES = [
    "`circuit_util_pct` and `packet_util_pct` are payload over the capacity of each network while it serves the queue, "
    "in the last two thirds of a run. If days are shorter than an RTT, only queued packets fill a circuit.",
    f"The measured time is at least {LEAST_MS} ms, and at least {LEAST_WEEKS} weeks.",
]


def week_us(day_us: float) -> float:
    """Return the time from one day with the circuit to the next."""
    return SLOTS * day_us * (1 + NIGHT_SHARE)


def schedule(day_us: int, least_ms: float, least_weeks: int) -> Settings:
    """Return the schedule of the queue, and the length of a run in whole weeks; the first third is warm-up."""
    slot_ps, night_ps = (round(1e6 * day_us * share) for share in (1 + NIGHT_SHARE, NIGHT_SHARE))
    last_ps = (SLOTS - 1) * slot_ps
    served = {0: "packet", last_ps: "none", last_ps + night_ps: "circuit"}
    changes = [{"at": f"{at} ps", "link": "voq", "served": by} for at, by in served.items()]
    weeks = max(least_weeks, round(least_ms * 1e9 / (SLOTS * slot_ps)))
    return {
        "schedules": [{"period": f"{SLOTS * slot_ps} ps", "changes": changes}],
        "parameters.warm": f"{(weeks // 2) * SLOTS * slot_ps} ps",
        "parameters.measured": f"{weeks * SLOTS * slot_ps} ps",
        "parameters.length": f"{(weeks // 2 + weeks) * SLOTS * slot_ps} ps",
    }


def sender(name: str, chosen: Chosen) -> Settings:
    """Return the settings of a sender, and of the queue that it needs."""
    queue: str | Settings = f"{chosen['queue_packets']} packets"
    table = {**SENDERS.get(name, {}), **WITH.get(name, {})}
    if table.get("ecn"):
        queue = {"kind": "step", "limit": queue, "threshold": f"{chosen['mark_packets']} packets"}
    return {"parameters.queue": queue, **{f"tcp.sender.{key}": value for key, value in table.items()}}


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grid of senders over day lengths."""
    quick = options.size.is_quick
    least = (QUICK_LEAST_MS, QUICK_LEAST_WEEKS) if quick else (LEAST_MS, LEAST_WEEKS)
    axes = {
        "sender": {name: sender(name, chosen) for name in NAMES},
        "day_us": {day: schedule(day, *least) for day in (QUICK_DAYS_US if quick else DAYS_US)},
    }
    return {"days": options.grid(scenario("days"), overrides(ASSUMED, chosen), axes, "reconfigurable days")}


def used(found: Found) -> Cells:
    """Return the utilisation of each network, and the share of packets that the queue drops, in %."""
    shares = {CIRCUIT: (1 - NIGHT_SHARE / (1 + NIGHT_SHARE)) / SLOTS, PACKET: (SLOTS - 1) / SLOTS}

    def of(run: Run) -> NDArray[np.float64]:
        counted, resolved = run["ports"], run.scenario
        after_ps = next(item["after_ps"] for item in resolved["observe"] if item["name"] == "ports")
        length_s = (resolved["stop_ps"] - after_ps) / 1e12
        carried = {
            port: 8 * PAYLOAD_SHARE * float(counted.where(port=port)["bytes"].sum()) for port in (CIRCUIT, PACKET)
        }
        queue = counted.where(port=QUEUE)
        dropped, accepted = (float(queue[key].sum()) for key in ("dropped", "packets"))
        return np.array(
            [
                100 * carried[CIRCUIT] / (CIRCUIT_BPS * shares[CIRCUIT] * length_s),
                100 * carried[PACKET] / (PACKET_BPS * shares[PACKET] * length_s),
                100 * dropped / (dropped + accepted),
            ]
        )

    return found.only.each(of, Axis("metric", MEASURED))


def find(found: Found) -> Findings:
    """Return the utilisation of both networks by sender and day length, and the day length that fills the circuit."""
    cells = used(found)
    util = cells.at(metric="circuit_util_pct")
    found_rows = rows({metric: cells.at(metric=metric).mean() for metric in MEASURED})
    note = f"Minimum day length with a full circuit: {fills_from(util)}."
    return Findings(found_rows, claims(util), notes=[*NOTES, note])


def fills_from(util: Cells) -> str:
    """Return the minimum day length from which mean utilisation stays at least :data:`FULL_PCT`, by sender."""
    days = util.axis("day_us").values
    said = []
    for name in util.axis("sender").values:
        used_pct = [float(util.at(sender=name, day_us=day).values.mean()) for day in days]
        short = [place for place, value in enumerate(used_pct) if value < FULL_PCT]
        first = short[-1] + 1 if short else 0
        said.append(f"{name} {days[first]} us" if first < len(days) else f"{name} none")
    return ", ".join(said)


def claims(util: Cells) -> dict[str, list[Part]]:
    """Return the claims; quick runs do not judge."""
    days = set(util.axis("day_us").values)
    if not {str(day) for day in DAYS_US} <= days:
        return {
            id_: [not_run("all days")]
            for id_ in (
                "reconfigurable-days-long-days-are-filled",
                "reconfigurable-days-short-days-are-filled-by-the-queue",
                "reconfigurable-days-worst-in-between",
                "reconfigurable-days-tdtcp-fills-sooner",
            )
        }
    at = {day: util.at(day_us=day) for day in ("10", "300", "1000", "10000")}
    return {
        "reconfigurable-days-long-days-are-filled": [
            difference_part(name, at["10000"].at(sender=name) - FULL_PCT, "above", "points") for name in NAMES
        ],
        "reconfigurable-days-short-days-are-filled-by-the-queue": [
            difference_part(name, at["10"].at(sender=name) - FULL_PCT, "above", "points") for name in NAMES
        ],
        "reconfigurable-days-worst-in-between": [
            difference_part(f"{name}, minus {day} us", (at[day] - at["300"]).at(sender=name), "above", "points")
            for name in NAMES
            for day in ("10", "10000")
        ],
        "reconfigurable-days-tdtcp-fills-sooner": [
            difference_part(f"{day} us", at[day].at(sender="tdtcp") - at[day].at(sender="cubic"), "above", "points")
            for day in ("300", "1000")
        ],
    }


DAYS = Exhibit(
    "reconfigurable/days",
    "Which TCP fills a circuit, by how long its day lasts",
    "docs/details/reconfigurable.md, days",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED),
    find,
)
