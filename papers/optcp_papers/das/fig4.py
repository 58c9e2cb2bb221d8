"""Figure 4: gain in goodput over the number of measured connections, for both interpretations of the '#' network."""

from dataclasses import dataclass

from optcp.papers.assume import Assumed, overrides, positive_int
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, behind, rows
from optcp.papers.kit import Cells, Grid, Options, Part, Settings, StudyResult, curves_over, judge, runs_of, stack
from optcp.papers.over import Axis
from optcp_papers.das.paper import PAPER, WORLD, receivers, scenario

CONNECTIONS = range(1, 11)
QUICK_CONNECTIONS = (1, 10)
PAPER_RUNS = 15
QUICK_RUNS = 3
TOPOLOGIES: dict[str, Settings] = {
    "square": {},
    "diagonal": {"parameters.diagonal_cost": 1, "parameters.repair": "lfa"},
}
"""Networks: a plain '#' with the backup A-B-D-C in a tunnel, and one with the diagonal B-C and the backup A-B-C."""
LABELS = {"gain_pct": "gain in goodput", "false_recoveries_pct": "false recoveries per connection"}
ASSUMED = (
    *WORLD,
    Assumed("background_flows", 10, positive_int, "parameters.background"),
)


def study(topology: str, n: int) -> str:
    """Return the name of the grid of a topology and n."""
    return f"{topology}, n = {n}"


NOT_QUICK = {
    study(topology, n): (PAPER_RUNS, 0) for topology in TOPOLOGIES for n in CONNECTIONS if n not in QUICK_CONNECTIONS
}


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per (topology, n), over the receivers."""
    common = overrides(ASSUMED, chosen)
    axes = {"receiver": receivers("plain", "das")}

    def make_grid(topology: str, n: int) -> Grid:
        settings = {**common, **TOPOLOGIES[topology], "parameters.flows": n}
        return options.grid(scenario("fig4"), settings, axes, f"das fig4, {study(topology, n)}")

    return {study(topology, n): make_grid(topology, n) for topology in TOPOLOGIES for n in CONNECTIONS}


@dataclass(frozen=True)
class Network:
    """Results of a topology, over the simulated ``n``.

    Attributes
    ----------
    gain_pct
        Gain in goodput with DAS, in %.
    false_recoveries_pct
        Recoveries and RTOs per connection without DAS minus with DAS, in %; the difference are false ones.
    """

    gain_pct: Cells
    false_recoveries_pct: Cells


def network(payload: Cells, recoveries: Cells) -> Network:
    """Compare the receivers by in-order bytes and by recoveries and RTOs per connection."""
    plain, das = ({"receiver": name} for name in ("plain", "das"))
    return Network(
        gain_pct=100 * (payload.at(**das) / payload.at(**plain) - 1),
        false_recoveries_pct=100 * (recoveries.at(**plain) - recoveries.at(**das)),
    )


def measure(topology: str, found: Found) -> Network:
    """Evaluate the finished runs of a topology, without the n that were not simulated."""
    studies = {n: done for n in CONNECTIONS if (done := found.done[study(topology, n)]).seeds}
    payload = {str(n): done.once(payload_bytes) for n, done in studies.items()}
    recoveries = {str(n): done.once(recoveries_and_timeouts) / n for n, done in studies.items()}
    return network(stack("n", payload), stack("n", recoveries))


def payload_bytes(done: StudyResult) -> Cells:
    """Return the in-order bytes of the measured connections."""
    return done["goodput"].cells().total("group", "time")


def recoveries_and_timeouts(done: StudyResult) -> Cells:
    """Return the number of recoveries and RTOs of the measured connections over the run."""
    return done["reordering"].count(event=("recovery", "timeout"))


def find(found: Found) -> Findings:
    """Return the gain and the share of affected connections, by topology and n."""
    networks = {topology: measure(topology, found) for topology in TOPOLOGIES}
    shown, series = [], []
    for topology, item in networks.items():
        metrics = {metric: getattr(item, metric).mean() for metric in LABELS}
        of_topology = rows(metrics, key=behind({"topology": topology}))
        shown += of_topology
        for metric, label in LABELS.items():
            of_metric = [row for row in of_topology if row.metric == metric]
            series += curves_over(of_metric, "n", Axis("measured connections, n", ""), Axis(label, "%"))
    note = (
        "`false_recoveries_pct` is the number of recoveries and RTOs per connection with the plain receiver minus "
        "with DAS, in %. Reordering after the repair is the only cause, because no queue overflows."
    )
    claims = {"gain-falls-with-connections": {topology: falls_with_n(entry) for topology, entry in networks.items()}}
    return Findings(shown, claims, series, [note])


def falls_with_n(one: Network) -> list[Part]:
    """Judge: there is a gain at n = 1; gain and share of affected connections fall with n."""
    ns = one.gain_pct.axis("n").values
    steps = [f"n = {n}" for n in ns]
    first = one.gain_pct.at(n=1)
    gains, shares = ([cells.at(n=n) for n in ns] for cells in (one.gain_pct, one.false_recoveries_pct))
    return [
        judge.difference_part("gain at n = 1", first, "above", "%"),
        *judge.trend_parts("gain", steps, gains, "down", "points"),
        *judge.trend_parts("false recoveries", steps, shares, "down", "points"),
    ]


FIG4 = Exhibit(
    "das/fig4",
    "Gain in goodput over the number of observed connections",
    "section III, Figs. 3 and 4",
    Setup(
        PAPER, PAPER_RUNS, grids, runs_of(PAPER_RUNS, QUICK_RUNS, dict.fromkeys(NOT_QUICK, (PAPER_RUNS, 0))), ASSUMED
    ),
    find,
)
