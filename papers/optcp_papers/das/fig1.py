"""Figure 1: router behaviour for a failure that ends before the hold-down timer, and for one that outlasts it."""

from typing import Any

from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.papers.assume import Assumed, built_in, not_negative, overrides, positive
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows, runs_of
from optcp.papers.kit import Axis, Cells, Grid, Key, Options, Part, Run, Series, Settings, StudyResult, judge, stack
from optcp_papers.das.paper import PAPER, scenario

RUNS = 100
QUICK_RUNS = 8
TRANSIENT, PERSISTENT, OWN = "transient", "persistent", "persistent, own updates"
KINDS: dict[str, Settings] = {
    TRANSIENT: {"parameters.works_at": "4 s"},
    PERSISTENT: {"parameters.works_at": "12 s"},
    OWN: {"parameters.works_at": "12 s", "parameters.converge": "own"},
}
"""Kinds of failure: 2 s and 10 s against a hold-down of 5 s, and one with routers that update independently."""
FAILURE_S = 2.0
REPAIR_S = {TRANSIENT: 4.0, PERSISTENT: 12.0, OWN: 12.0}
ROUTERS = ("A", "B", "C", "D")
CAUSES = ("failure", "repair", "convergence")
COUNTS = ("announcements", *(f"on_{cause}" for cause in CAUSES), "ttl_expired", "convergence_instants")
"""Counters of a run: announced updates, rewritten entries by cause, and packets whose time to live expired. The last
counts the times before the repair of the long failure at which routers converge."""

ASSUMED = (
    Assumed("hold_down_s", 5.0, positive, "routing.hold_down"),
    Assumed("detection_ms", 10.0, not_negative, "routing.detection"),
    Assumed("flooding_ms", 5.0, not_negative, "routing.flooding"),
    Assumed("spf_ms", 50.0, not_negative, "routing.spf"),
    Assumed(
        "update_within_ms",
        1000.0,
        positive,
        lambda value: {"routing.update": f"uniform({min(100.0, float(value)):g} ms, {value:g} ms)"},
    ),
    built_in("backup", "remote LFA, A-B-D-C"),
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per kind of failure."""
    common = overrides(ASSUMED, chosen)
    return {
        name: options.grid(scenario("fig1"), {**common, **settings}, {}, f"das fig1, {name}")
        for name, settings in KINDS.items()
    }


def find(found: Found) -> Findings:
    """Return updates and lost packets by kind of failure, the claim, and the timeline of the first seed."""
    kinds = stack("failure", {name: done.once(measure) for name, done in found.done.items()})
    metrics = {name: kinds.at(what=name).mean() for name in COUNTS[:-1]}
    metrics["loops_pct"] = (kinds.at(what="ttl_expired") > 0).share().times(100)
    series = [
        curve for name, done in found.done.items() for curve in timeline({"failure": name}, done.runs(done.seeds[0])[0])
    ]
    note = (
        "Forwarding entries that routers rewrite, over all nodes. The backup of A-C is a tunnel. If A converges "
        "before B, packets reach B outside the tunnel, and B returns them. `loops_pct` is the share of "
        "runs in which a time to live of 64 expired."
    )
    claims = {"short-failures-silent": {"#, one flow": only_long_failure_is_announced(kinds)}}
    return Findings(rows(metrics), claims, series, [note])


def measure(done: StudyResult) -> Cells:
    """Return the counters of each run, over ``what`` (``COUNTS``)."""
    return done.each(counts, Axis("what", COUNTS))


def counts(run: Run) -> list[int]:
    """Return the counters ``COUNTS`` of a run."""
    routing = routing_results(run)
    converged = {step["at_ps"] for step in routing["steps"] if step["cause"] == "convergence"}
    down = [at for at in converged if at / PICOSECONDS_A_SECOND <= REPAIR_S[PERSISTENT]]
    updates = [int(routing[name]) for name in COUNTS[: 1 + len(CAUSES)]]
    return [*updates, run.drops.get("ttl-expired", 0), len(down)]


def routing_results(run: Run) -> dict[str, Any]:
    """Return the routing results of a run."""
    if run.routing is None:
        raise ValueError("the scenario has routing")
    return run.routing


def timeline(key: Key, run: Run) -> list[Series]:
    """Return the number of entries that each router rewrote over time, and the flow's goodput."""
    result = []
    for cause in CAUSES:
        steps = [step for step in routing_results(run)["steps"] if step["cause"] == cause]
        x = [round(step["at_ps"] / PICOSECONDS_A_SECOND, 6) for step in steps]
        y = [float(ROUTERS.index(step["router"])) for step in steps]
        of_cause: Key = {**key, "routers": " ".join(ROUTERS), "seed": run.seed}
        result.append(Series(cause, of_cause, "time", "s", "router", "", x, y))
    goodput = run["goodput"]["bytes"].astype(float)
    x = [round(0.1 * (i + 1), 3) for i in range(goodput.size)]
    y = [round(value * 8 / 0.1 / 1e6, 4) for value in goodput.tolist()]
    result.append(Series("goodput", {**key, "seed": run.seed}, "time", "s", "goodput", "Mb/s", x, y))
    return result


def only_long_failure_is_announced(kinds: Cells) -> list[Part]:
    """Judge: only the long failure is announced, and no packet loops if all routers update together."""
    short, long, own = ({what: kinds.at(failure=kind, what=what) for what in COUNTS} for kind in KINDS)
    written_back = (short["on_failure"] == short["on_repair"]) * (short["on_repair"] > 0)
    holds = {
        "2 s: no routing update": (short["announcements"] == 0) * (short["on_convergence"] == 0),
        "2 s: every rewritten entry is written back": written_back,
        "10 s: announced": long["announcements"] > 0,
        # Packets leave the backup when its head end rewrites its entries: at the last update of all, or later.
        "10 s: the backup's head end updates with the last router": long["convergence_instants"] == 1,
        "10 s: no packet's time to live expires": long["ttl_expired"] == 0,
    }
    n = len(kinds.seeds)
    parts = [
        judge.exact_part(f"{text} in {in_runs:.0f} of {n} runs", bool(in_runs == n))
        for text, cells in holds.items()
        for in_runs in [cells.values.sum()]
    ]
    looped = (own["ttl_expired"] > 0).values.sum()
    text = f"10 s, own updates: packets loop until their time to live expires in {looped:.0f} of {n} runs"
    return [*parts, judge.exact_part(text, bool(looped))]


FIG1 = Exhibit(
    "das/fig1",
    "A transient and a persistent failure under fast reroute",
    "section I, Fig. 1",
    Setup(PAPER, 1, grids, runs_of(RUNS, QUICK_RUNS), ASSUMED),
    find,
)
