"""Rotor fabric: completion times over rotating circuits, with the bounds that the circuits set."""

import numpy as np
from numpy.typing import NDArray

from optcp.data.censored import UNDEFINED, Bounded, Censored, each
from optcp.papers.assume import Assumed, built_in, not_negative, overrides, positive, positive_int
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, behind, rows
from optcp.papers.kit import Axis, Cells, Grid, Options, Part, Row, Run, Settings, difference_part, runs_of
from optcp.stats.quantiles import sample_quantile
from optcp_papers.outage.paper import not_run
from optcp_papers.reconfigurable.circuits import Circuit
from optcp_papers.reconfigurable.paper import PAPER, scenario

SEEDS, QUICK_SEEDS = 10, 1
WORKLOADS = ("web-search", "data-mining")
LOADS, QUICK_LOADS = ("0.01", "0.1", "0.25", "0.4"), ("0.1",)
MOST_PCT = 95
LOW, JUDGED, HIGH = "0.01", "0.1", "0.4"
ONE, PINNED, SPREAD = "one", "pinned", "spread"
HOPS: dict[str, Settings] = {
    ONE: {},
    PINNED: {"flows.0.path": "valiant", "flows.0.via": "T"},
    SPREAD: {
        "voqs": [{"name": "q", "mesh": "T", "served": "none", "queue": "$queue"}],
        "schedules.0.generator.two_hops": True,
    },
}
"""Forwarding: a packet waits for its circuit; a hash chooses a rack per flow; or packets use any available circuit."""
CLASSES = {"short": (0.0, 100e3), "medium": (100e3, 1e6), "long": (1e6, np.inf)}
"""Classes of payload size in bytes: lower bound (inclusive) and upper bound (exclusive)."""
MEASURED = ("fct_p50_us", "fct_p99_us", "bound_p50_us", "bound_p99_us", "unfinished_pct", "flows")
QUANTILES = (0.5, 0.99)
HEADERS = 1500 / 1448
"""Wire size over payload of a full segment with timestamps."""


def drawn(pairs: int) -> Settings:
    """Return settings that draw pairs of hosts, equal in all runs; 0 means all pairs."""
    return {"flows.0.pairs.count": pairs, "flows.0.pairs.seed": 1} if pairs else {}


ASSUMED = (
    Assumed("racks", 36, positive_int, "parameters.racks"),
    Assumed("hosts_a_rack", 2, positive_int),
    Assumed("switches", 2, positive_int, "schedules.0.generator.switches"),
    Assumed("day_us", 90.0, positive, "schedules.0.generator.day"),
    Assumed("night_us", 10.0, positive, "schedules.0.generator.night"),
    Assumed("queue_packets", 150, positive_int, "parameters.queue"),
    Assumed("min_rto_ms", 10.0, positive, "tcp.sender.min_rto"),
    Assumed("pairs", 0, not_negative, lambda value: drawn(int(value))),
    built_in("rates", "10 Gb/s, hosts and circuits; 0.5 us a link"),
    built_in("sender", "linux-6 (CUBIC) with drop-tail queues, flows between all pairs of hosts"),
    built_in("arrivals", "for 100 ms; runs of 120 ms"),
)
NOTES = [
    "`load` is the load of the hosts' links. `fct` is the time until the receiver has a flow's last byte. Completion "
    "times of flows that are unfinished at the end of a run are lower bounds, and affected quantiles are printed as "
    "lower bounds. `unfinished_pct` is the share of unfinished flows.",
    "`bound` is the completion time of flows of the same sizes that have their circuits alone and send at full rate "
    "immediately, averaged over the phase of the cycle: the cost of the schedule without queues and TCP. With `spread` "
    "it includes the hosts' rate, and the second circuit of the last part.",
    "`carried_pct` is delivered payload over the payload that flows had to send. `used_pct` is it over the capacity of "
    "the circuits' days: a fabric in which every packet takes two hops is full at 50.",
    "`one`: each packet waits for the circuit to its rack. `pinned`: each flow goes over a third rack, which a hash "
    "chooses (Valiant). `spread`: packets take the available circuit to any rack, and wait there (RotorNet "
    "without its offers: no rack asks for free queue space).",
    "The full fabric, with a cycle of the same 18 slots, is `--set racks=108 --set hosts_a_rack=6 --set switches=6 "
    "--set pairs=20000`.",
]


def circuit(chosen: Chosen) -> Circuit:
    """Return the circuit between two racks by the schedule."""
    day_s, night_s = float(chosen["day_us"]) / 1e6, float(chosen["night_us"]) / 1e6
    slots = int(chosen["racks"]) // int(chosen["switches"])
    return Circuit(10e9, day_s, slots * (day_s + night_s), int(chosen["switches"]))


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grid over workloads, loads and hops."""
    quick = options.size.is_quick
    hosts = int(chosen["racks"]) * int(chosen["hosts_a_rack"])
    settings = {**overrides(ASSUMED, chosen), "parameters.hosts": hosts}
    if quick:
        settings |= {"parameters.until": "20 ms", "parameters.length": "30 ms", "observe.1.interval": "10 ms"}
    axes = {
        "sizes": {name: {"flows.0.sizes.kind": name} for name in WORKLOADS},
        "load": {load: {"parameters.load": load} for load in (QUICK_LOADS if quick else LOADS)},
        "hops": HOPS,
    }
    return {"rotor": options.grid(scenario("rotor"), settings, axes, "reconfigurable rotor")}


def flows(run: Run) -> tuple[Censored, NDArray[np.float64]]:
    """Return completion times in us (unfinished flows are censored), and sizes in bytes of payload."""
    ends = run["ends"]
    start, end = (ends[key].astype(np.float64) / 1e6 for key in ("start_ps", "time_ps"))
    return Censored(end - start, ends["finished"].astype(bool)), ends["bytes"].astype(np.float64)


def by_class(found: Found) -> Cells:
    """Return the completion times of flows of each class, and their bounds."""
    of_schedule = circuit(found.chosen)

    def of(run: Run) -> list[list[Bounded]]:
        took, sizes = flows(run)
        hops = next((name for name in (SPREAD, PINNED) if HOPS[name].keys() <= run.cell.keys()), ONE)
        measured: list[list[Bounded]] = []
        for low, high in CLASSES.values():
            here = (sizes >= low) & (sizes < high)
            if not here.any():
                measured.append([*[UNDEFINED] * (len(MEASURED) - 1), (0.0, 0.0)])
                continue
            alone = of_schedule.alone_s(sizes[here] * HEADERS, hops=1 if hops == ONE else 2, spread=hops == SPREAD)
            fct = [took[here].quantile(q) for q in QUANTILES]
            known = [*(sample_quantile(1e6 * alone.ravel(), q) for q in QUANTILES)]
            known += [100 * took[here].cut / float(here.sum()), float(here.sum())]
            measured.append([*fct, *((value, value) for value in known)])
        return measured

    return each(found.only, of, Axis("flows_of", tuple(CLASSES)), Axis("metric", MEASURED))


def carried(found: Found) -> Cells:
    """Return the delivered payload over the offered payload and over the capacity of the circuits, in %."""
    chosen = found.chosen
    racks, switches = int(chosen["racks"]), int(chosen["switches"])
    share = float(chosen["day_us"]) / (float(chosen["day_us"]) + float(chosen["night_us"]))
    # One of the matchings, of which there are as many as racks, connects a rack to itself.
    can_bps = racks * switches * 10e9 * share * (1 - 1 / racks)

    def of(run: Run) -> NDArray[np.float64]:
        _, sizes = flows(run)
        came = float(run["goodput"]["bytes"].astype(np.float64).sum())
        length_s = run.scenario["stop_ps"] / 1e12
        return np.array([100 * came / sizes.sum(), 100 * came * HEADERS * 8 / (can_bps * length_s)])

    return found.only.each(of, Axis("metric", ("carried_pct", "used_pct")))


def find(found: Found) -> Findings:
    """Return completion times by size with their bounds, and the carried load."""
    cells, whole = by_class(found), carried(found)
    found_rows: list[Row] = []
    for name in CLASSES:
        mean = {metric: cells.at(flows_of=name, metric=metric).mean() for metric in MEASURED}
        found_rows += [row for row in rows(mean, key=behind({"flows_of": name})) if row.n]
    found_rows += rows({metric: whole.at(metric=metric).mean() for metric in ("carried_pct", "used_pct")})
    return Findings(found_rows, claims(cells, whole), notes=NOTES)


def claims(cells: Cells, whole: Cells) -> dict[str, list[Part]]:
    """Return the claims, without those about loads that quick runs omit."""
    fct, bound = (cells.at(metric=metric, load=JUDGED) for metric in ("fct_p50_us", "bound_p50_us"))
    carries = whole.at(metric="carried_pct", sizes="web-search")

    def longer(flows_of: str, sizes: str, one: str, other: str) -> Cells:
        here = fct.at(flows_of=flows_of, sizes=sizes)
        return here.at(hops=one) - here.at(hops=other)

    short = {"flows_of": "short"}
    found = {
        "reconfigurable-rotor-short-waits-for-its-circuit": [
            difference_part(f"{sizes}, {hops}", twice_the_bound, "above", "us")
            for sizes in WORKLOADS
            for hops in (ONE, PINNED)
            for twice_the_bound in [(fct - bound * 2).at(sizes=sizes, hops=hops, **short)]
        ],
        "reconfigurable-rotor-spreading-helps-long": [
            difference_part("web-search", longer("long", "web-search", SPREAD, ONE), "below", "us")
        ],
        "reconfigurable-rotor-pinning-helps-nobody": [
            *(
                difference_part(f"{sizes}, short", longer("short", sizes, PINNED, ONE), "above", "us")
                for sizes in WORKLOADS
            ),
            difference_part("web-search, long", longer("long", "web-search", PINNED, ONE), "above", "us"),
        ],
        "reconfigurable-rotor-two-hops-fail-at-high-load": [not_run("all loads")],
        "reconfigurable-rotor-everything-arrives": [not_run("all loads")],
    }
    if HIGH in carries.axis("load").values:
        high = carries.at(load=HIGH)
        found["reconfigurable-rotor-two-hops-fail-at-high-load"] = [
            difference_part(hops, high.at(hops=ONE) - high.at(hops=hops), "above", "points")
            for hops in (PINNED, SPREAD)
        ]
        found["reconfigurable-rotor-everything-arrives"] = [
            difference_part(f"{hops}, load {load}", carries.at(hops=hops, load=load) - MOST_PCT, "above", "points")
            for hops in HOPS
            for load in (LOW, JUDGED)
        ]
    return found


ROTOR = Exhibit(
    "reconfigurable/rotor",
    "Flows of a datacenter over circuits that come in turn",
    "docs/details/reconfigurable.md, rotor",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED),
    find,
)
