"""Graphs 5-2 to 5-4: CUBIC over the size of a static virtual output queue."""

import itertools

import numpy as np

from optcp.papers.exhibit import Chosen, Differences, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Cells, Grid, Options, Part, judge, tables
from optcp_papers.rdcn.measured import circuit_util_pct, latencies_us
from optcp_papers.rdcn.world import ASSUMED, PAPER, SMALL, grid, seeds, week

PACKETS = (4, 8, 16, 32, 64, 128)
GRID = "voq"
PACKET_US, EMPTY_US = 7.2, 24.4
"""Transmission time of a full segment at 10 Gb/s, and total delay of the empty packet network."""
WHY = (
    "The delay of hosts is not stated and affects this result: at 32 packets an independent program yields 79.4, "
    "77.4, 72.3 and 65.3 % with 0.2, 0.6, 1.5 and 3 us."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid over sizes, which apply to all queues."""
    axes = {"voq": {str(packet): {"parameters.voq": f"{packet} packets"} for packet in PACKETS}}
    return {GRID: grid("voq", axes, chosen, options, week(chosen))}


def find(found: Found) -> Findings:
    """Return utilisation and transit times, by size."""
    done = found.only
    util, times = done.once(circuit_util_pct), done.once(latencies_us)
    printed = {
        name: values
        for name, values in tables("rdcn")["voq_sweep_cubic"].items()
        if name in ("circuit_util_pct", *times)
    }
    one = tables("rdcn")["voq16_cubic_classes"]
    for name, value in one.items():
        printed[name] = [value if size == SMALL else None for size in PACKETS]
    metrics = {"circuit_util_pct": util.mean(), **{name: cells.mean() for name, cells in times.items()}}
    return Findings(
        rows(metrics, printed, WHY),
        {
            "rdcn-bigger-voq-fills-circuit": fills(util),
            "rdcn-bigger-voq-costs-latency": costs(times),
            "rdcn-circuit-median-low": median(times["p50_circuit_us"]),
            "rdcn-circuit-tail-is-the-night": tail(times),
        },
        notes=[f"Utilisation: {distance(util, printed['circuit_util_pct'])}."],
    )


def conclusions(found: Found) -> Differences:
    """Return the gain of each doubling of the queue, until the circuit is full."""
    util = found.only.once(circuit_util_pct)
    return {
        f"{larger} packets less {smaller} (points)": (util.at(voq=larger) - util.at(voq=smaller)).values
        for smaller, larger in itertools.pairwise(packet for packet in PACKETS if packet <= 64)
    }


def distance(util: Cells, printed: list[float | None]) -> str:
    """Describe the distance of the whole sweep from the published values."""
    known = [place for place, value in enumerate(printed) if value is not None]
    gap = util.values.mean(axis=0)[known] - np.array([printed[place] for place in known], dtype=np.float64)
    return f"{np.sqrt(np.mean(gap**2)):.2f} points root mean square from print, at most {np.abs(gap).max():.2f}"


def fills(util: Cells) -> list[Part]:
    """Judge: utilisation rises up to 64 packets, and is above 99 % from there on."""
    rising = util.part(voq=[str(packet) for packet in PACKETS if packet <= 64])
    parts = trend("utilisation", rising, "up", "points")
    for size in (64, 128):
        parts.append(above(f"{size} packets, above 99 %", util.at(voq=size) - 99, "points"))
    return parts


def costs(times: dict[str, Cells]) -> list[Part]:
    """Judge: times rise, and the tail over the packet network is the delay of a full queue."""
    parts = [*trend("median", times["p50_all_us"], "up", "us"), *trend("tail", times["p99_all_us"], "up", "us")]
    for size in PACKETS:
        gap = times["p99_packet_us"].at(voq=size) - (PACKET_US * size + EMPTY_US)
        parts.append(judge.equivalence_part(f"{size} packets, tail minus a full queue", gap.values, 4, "us"))
    return parts


def median(times: Cells) -> list[Part]:
    """Judge: the median equals an empty circuit's up to 32 packets, and is several times as long at 128."""
    parts = [below(f"{size} packets, below 40 us", times.at(voq=size) - 40, "us") for size in PACKETS if size <= 32]
    return [*parts, above("128 packets, above 100 us", times.at(voq=128) - 100, "us")]


def tail(times: dict[str, Cells]) -> list[Part]:
    """Judge: packets that waited through the night before the day arrive 5 to 20 us later."""
    parts = []
    for size in (4, 8, 16):
        gap = times["p99_circuit_us"].at(voq=size) - times["p99_packet_us"].at(voq=size)
        parts += [
            above(f"{size} packets, above 5 us", gap - 5, "us"),
            below(f"{size} packets, below 20 us", gap - 20, "us"),
        ]
    return parts


def trend(name: str, cells: Cells, side: str, unit: str) -> list[Part]:
    """Judge TREND along the only axis."""
    (axis,) = cells.axes
    return judge.trend_parts(name, list(axis.values), list(cells.values.T), side, unit)  # type: ignore[arg-type]


def above(name: str, cells: Cells, unit: str) -> Part:
    """Judge PAIRED above zero."""
    return judge.difference_part(name, cells, "above", unit)


def below(name: str, cells: Cells, unit: str) -> Part:
    """Judge PAIRED below zero."""
    return judge.difference_part(name, cells, "below", unit)


VOQ = Exhibit(
    "rdcn/voq",
    "CUBIC over the size of the virtual output queue",
    "graphs 5-2 to 5-4",
    Setup(PAPER, 1, grids, seeds, ASSUMED),
    find,
    conclusions,
)
