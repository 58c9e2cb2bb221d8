"""Goodput and RTT for four pairs of cities and six senders, in the published window and over a day."""

import functools

import numpy as np
from numpy.typing import NDArray

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, behind, once, rows
from optcp.papers.kit import Axis, Cells, Grid, Options, Part, Run, Series, StudyResult, difference_part, finite
from optcp_papers.leo import windows
from optcp_papers.leo.paper import ASSUMED, PAPER, SENDERS, rate, sender
from optcp_papers.leo.worlds import Made, Worlds, chosen_rate, empty_ms, first_link, grid, over, queue, waits

QUICK_WINDOWS = 2
PUBLISHED = str(windows.PUBLISHED_S)
CURVE_S = 1.0
"""Intervals of curves."""
MEASURED = (
    "goodput_mbps", "rtt_mean_ms", "rtt_max_ms", "needless", "overtaken", "resent", "recoveries", "timeouts", "dropped",
)  # fmt: skip
NOTES = [
    "Intervals of `window` = day are over windows that start at random times of a day; published is one run.",
    "An RTT includes the path, transmission times, and the wait in the sender's queue. `needless` "
    "are segments that the receiver got again; `recoveries` are started for losses, real or not.",
]


def pair_scenario(pair: str, name: str, at_s: int, rate_mbps: float, packets: float) -> Made:
    """Return the scenario of a pair, a sender and a window."""
    result = windows.window(pair, at_s)
    observe = [
        {"name": "seen", "kind": "outages", "after": "0 s"},
        {"name": "events", "kind": "reordering"},
        {"name": "goodput", "kind": "goodput", "interval": f"{CURVE_S:g} s"},
        {"name": "wait", "kind": "sojourn", "links": [first_link(result)], "interval": f"{windows.STEP_S:g} s"},
    ]
    return result, rate_mbps, {**queue(packets), **sender(SENDERS[name]), "observe": observe}


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grid of senders over pairs and windows, the published one first."""
    drawn = options.size.of(windows.DRAWN, QUICK_WINDOWS)
    rate_mbps, packets = chosen_rate(chosen), float(chosen["queue_packets"])
    worlds: Worlds = {
        (pair, name, str(at_s)): functools.partial(pair_scenario, pair, name, at_s, rate_mbps, packets)
        for pair in windows.PAIRS
        for name in SENDERS
        for at_s in (windows.PUBLISHED_S, *windows.WINDOWS_S[:drawn])
    }
    return {"pairs": grid("leo pairs", worlds, ("pair", "sender", "window"), options)}


def round_trips(run: Run, rate_mbps: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the number of segments that left the sender's queue per step, and mean and maximum of their RTTs in ms."""
    found = windows.window(run.cell["pair"], int(run.cell["window"]))
    count, mean, longest = waits(run, found)
    base = empty_ms(found.series, rate_mbps)
    return np.where(np.isnan(base), 0, count), np.stack([base + mean, base + longest])


def measure(run: Run, rate_mbps: float) -> NDArray[np.float64]:
    """Return all :data:`MEASURED`."""
    seen, events = run["seen"], run["events"]
    count, (mean, longest) = round_trips(run, rate_mbps)
    sent = count > 0
    return np.array(
        [
            8 * float(seen["bytes"].sum()) / windows.LENGTH_S / 1e6,
            float((count[sent] * mean[sent]).sum() / count.sum()),
            float(longest[sent].max()),
            float(seen["needless"].sum()),
            float(len(events.where(event="overtaken"))),
            float(seen["resent"].sum()),
            float(len(events.where(event="recovery"))),
            float(len(events.where(event="timeout"))),
            float(run.drops.get("queue-full", 0)),
        ]
    )


def find(found: Found) -> Findings:
    """Return all metrics by pair and sender, and curves of the published window."""
    rate_mbps = found.number("rate_mbps")
    cells = found.only.each(lambda run: measure(run, rate_mbps), Axis("metric", MEASURED))
    drawn = [at for at in cells.axis("window").values if at != PUBLISHED]
    day, published = over(cells.part(window=drawn), "window"), cells.at(window=PUBLISHED)
    found_rows = [
        row
        for name, of in (("published", published), ("day", day))
        for row in rows({metric: of.at(metric=metric).mean() for metric in MEASURED}, key=behind({"window": name}))
    ]
    return Findings(found_rows, claims(day), curves(found.only, rate_mbps), NOTES)


def curves(done: StudyResult, rate_mbps: float) -> list[Series]:
    """Return RTTs and goodput over the published window, by pair and sender, and the RTT of the path without queues."""
    drawn = []
    a_second = round(CURVE_S / windows.STEP_S)
    for branch in done.grid.branches:
        pair, name, at_s = (branch.key[part] for part in ("pair", "sender", "window"))
        if at_s != PUBLISHED:
            continue
        run = done.run(branch, done.seeds[0])
        count, (mean, _) = round_trips(run, rate_mbps)
        sums = (count * np.where(count > 0, mean, 0)).reshape(-1, a_second).sum(axis=1)
        counts = count.reshape(-1, a_second).sum(axis=1)
        rtt = [float(item / of) if of else None for item, of in zip(sums, counts, strict=True)]
        if name == next(iter(SENDERS)):
            base = empty_ms(windows.window(pair, windows.PUBLISHED_S).series, rate_mbps).reshape(-1, a_second)[:, 0]
            drawn.append(_curve("round trip", {"pair": pair, "sender": "path"}, base.tolist(), "ms"))
        drawn.append(_curve("round trip", {"pair": pair, "sender": name}, rtt, "ms"))
        mbps = (8 * run["goodput"]["bytes"].astype(np.float64) / CURVE_S / 1e6).tolist()
        drawn.append(_curve("goodput", {"pair": pair, "sender": name}, mbps, "Mb/s"))
    return drawn


def _curve(name: str, key: dict[str, str | int | float], values: list[float | None], unit: str) -> Series:
    """Return a curve over time, without times that have no value."""
    points = [
        (CURVE_S * at, finite(value)) for at, value in enumerate(values) if value is not None and np.isfinite(value)
    ]
    x, y = zip(*points, strict=True)
    return Series(name, key, "time", "s", name, unit, list(x), list(y))


def claims(day: Cells) -> dict[str, list[Part]]:
    """Return all claims, over windows of the day."""
    goodput, rtt = day.at(metric="goodput_mbps"), day.at(metric="rtt_mean_ms")
    each = list(windows.PAIRS)

    def less(of: Cells, more: str, fewer: str, pair: str) -> Cells:
        return (of.at(sender=more) - of.at(sender=fewer)).at(pair=pair)

    return {
        "leo-vegas-gives-up-capacity": [
            difference_part(pair, less(goodput, "newreno", "vegas", pair), "above", "Mb/s") for pair in each
        ],
        "leo-linux-gets-what-newreno-gets": [
            difference_part(pair, less(goodput, "linux", "newreno", pair), "above", "Mb/s") for pair in each
        ],
        "leo-bbr-fills-a-path-that-moves": [
            difference_part(
                f"{name}, {pair}",
                (goodput.at(sender=name) - 0.95 * goodput.at(sender="newreno")).at(pair=pair),
                "above",
                "Mb/s",
            )
            for name in ("bbr", "bbr3")
            for pair in each
        ],
        "leo-bbr-keeps-queues-short": [
            difference_part(
                f"{name}, {pair}", (0.8 * rtt.at(sender="newreno") - rtt.at(sender=name)).at(pair=pair), "above", "ms"
            )
            for name in ("bbr", "bbr3")
            for pair in each
        ],
    }  # fmt: skip


PAIRS = Exhibit(
    "leo/pairs",
    "TCP goodput over moving satellites, by pair and sender",
    "docs/details/leo.md, pairs",
    Setup(PAPER, None, grids, once, (rate(10.0), *ASSUMED)),
    find,
)
