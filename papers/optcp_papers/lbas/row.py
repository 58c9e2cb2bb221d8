"""Several bundles in a row: the paper's condition for the order of packets, and the cost to TCP where it fails.

Flows cross one to three bundles of four lightpaths, each with separate Poisson traffic. The paper states that order
is kept if switches emulate output queueing and join the shortest queue. Starts are then in the order of arrival, so
that packets of one size keep their order on lightpaths of one length and rate.
"""

import itertools
from dataclasses import replace
from pathlib import Path

from optcp.data.axes import Axis
from optcp.papers.kit import (
    Cells,
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Key,
    Options,
    Part,
    Run,
    Settings,
    Setup,
    StudyResult,
    built_in,
    exact_part,
    rows,
    runs_of,
)
from optcp_papers.lbas.paper import PAPER
from optcp_papers.lbas.smaller import SENDERS

SCENARIO = Path(__file__).with_name("scenarios") / "row.toml"
BUNDLES = (1, 2, 3)
PROFILES = ("inet-2011", "linux-6")
KEPT, COUNTED, TURNS = "anycast", "fewest packets", "round-robin"
WAYS: dict[str, Settings] = {
    KEPT: {"parameters.selection": "anycast"},
    "anycast, lightpaths up to 0.1 ms apart": {
        "parameters.selection": "anycast",
        "parameters.lightpath_delay": "uniform(0 ms, 0.1 ms)",
    },
    "anycast, lightpaths up to 1 ms apart": {
        "parameters.selection": "anycast",
        "parameters.lightpath_delay": "uniform(0 ms, 1 ms)",
    },
    COUNTED: {"parameters.selection": "fewest-packets"},
    TURNS: {"parameters.selection": "round-robin"},
    "flow-hash": {"parameters.selection": "flow-hash"},
}
QUICK_STOP = "4 s"
WARM_UP_S = 5
QUICK_WARM_UP_S = 2
COUNTS = ("overtaken", "resent", "recovery", "timeout")
ASSUMED = (
    built_in("lightpaths", "4 of 50 Mb/s per bundle, buffers of C RTT / 10; a packet takes 0.24 ms"),
    built_in("traffic", "12 long flows, RTT 80 to 120 ms, and Poisson traffic of 60 Mb/s in each bundle"),
)
NOTE = (
    "Overtaken: segments sent once that arrived after a later one, in % of the delivered segments. `recoveries` "
    "(starts of loss recovery, with the reductions of the window) and `resent_pct` count the whole run. Goodput after "
    f"the first {WARM_UP_S} s, as a sum over the flows. `change_pct` of goodput is against anycast switching over "
    "equal lightpaths with as many bundles, paired by seed."
)


def grids(_chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return every selection for every sender and number of bundles."""
    quick = options.size.is_quick
    profiles, numbers = (PROFILES[:1], BUNDLES[:2]) if quick else (PROFILES, BUNDLES)
    cells = [
        {"parameters.lightpath_delay": "0 s", **SENDERS[profile], **WAYS[way], **entering(bundles)}
        for profile, way, bundles in itertools.product(profiles, WAYS, numbers)
    ]
    length = {"stop": QUICK_STOP} if quick else {}
    title = "lbas, bundles in a row"
    made = Grid.of_cells(SCENARIO, cells, length, title=title, digest=options.digest, fork=options.fork)
    axes = {"profile": profiles, "selection": WAYS, "bundles": numbers}
    return {"row": replace(made, named=tuple(Axis(name, tuple(map(str, of))) for name, of in axes.items()))}


def entering(bundles: int) -> Settings:
    """Return the settings of flows that cross the last ``bundles`` bundles."""
    first = 3 - bundles
    return {"parameters.first": f"C{first}", "flows.0.path": ["S", *(f"C{core}" for core in range(first, 4)), "D"]}


def measured(done: StudyResult) -> dict[str, Cells]:
    """Return goodput and the counts of segments, by metric."""
    stop_s = float(done.grid.branches[0].scenario.summary()["stop_s"])
    warm_up_s = QUICK_WARM_UP_S if stop_s <= WARM_UP_S else WARM_UP_S

    def of_run(run: Run) -> list[float]:
        table = run["goodput"]
        late = table["time_ps"] > warm_up_s * 10**12
        goodput = 8 * float(table["bytes"][late].sum()) / (stop_s - warm_up_s) / 1e6
        delivered = float(table["bytes"].sum()) / 1452
        counts = {name: len(run["reordering"].where(event=name)) for name in COUNTS}
        shares = [100 * counts[name] / delivered for name in ("overtaken", "resent")]
        return [goodput, *shares, counts["recovery"], counts["timeout"], counts["overtaken"]]

    names = ("goodput_mbps", "overtaken_pct", "resent_pct", "recoveries", "timeouts", "overtaken")
    cells = done.each(of_run, Axis("metric", names))
    return {name: cells.at(metric=name) for name in names}


def find(found: Found) -> Findings:
    """Return counts and goodput, the change of goodput, and the verdict on the order."""
    by_metric = found.only.once(measured)
    shown = {name: cells.mean() for name, cells in by_metric.items() if name != "overtaken"}
    goodput = by_metric["goodput_mbps"]
    change = 100 * (goodput / goodput.at(selection=KEPT) - 1)

    def key(place: Key) -> Key:
        return {name: place[name] for name in ("profile", "selection", "bundles")}

    result = [*rows(shown, key=key), *rows({"change_pct": change.mean()}, key=key)]
    return Findings(result, {"several-bundles-keep-order": order(by_metric["overtaken"])}, notes=[NOTE])


def order(overtaken: Cells) -> list[Part]:
    """Judge EXACT: nothing is overtaken with anycast switching over equal lightpaths; other balancing overtakes."""
    parts = []
    for profile in overtaken.axis("profile").values:
        for bundles in overtaken.axis("bundles").values:
            counts = {
                way: int(overtaken.at(profile=profile, bundles=bundles, selection=way).values.sum())
                for way in (KEPT, COUNTED, TURNS)
            }
            text = ", ".join(f"{way} {count}" for way, count in counts.items())
            holds = counts[KEPT] == 0 and min(counts[COUNTED], counts[TURNS]) > 0
            parts.append(exact_part(f"{profile}, {bundles} bundles, overtaken: {text}", holds))
    return parts


ROW = Exhibit(
    "lbas/row",
    "Several bundles in a row: order of packets, and its cost to TCP",
    "section 1, and beyond the paper",
    Setup(PAPER, None, grids, runs_of(8, 2), ASSUMED),
    find,
)
