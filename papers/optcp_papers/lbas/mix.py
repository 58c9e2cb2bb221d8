"""Extension of the paper: its long flows together with short flows and UDP, in the smaller copy of the network."""

import numpy as np

from optcp.data.axes import Axis
from optcp.data.labelled import cells_of
from optcp.data.table import Table
from optcp.data.times import seconds
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, key_value
from optcp.papers.kit import Bounded, Cells, Censored, Grid, Key, Options, Run, Samples, Series, Settings, StudyResult
from optcp_papers.lbas import outcome, smaller
from optcp_papers.lbas.paper import METRO_NODES, Cell
from optcp_papers.lbas.rows import DIFFERENCE, both_modes

FLOWS = smaller.FLOWS[0]
SENDERS = ("inet-2011", "linux-6")
SHORT_MEAN_BYTES, SHORT_LARGEST_BYTES, SHAPE = 50_000, 5_000_000, 1.2
ARRIVALS = {10: 25, 30: 75}
"""Short flows per second by their load in % of a lightpath; 50 kB with headers are 0.41 Mb."""
UDP_MBPS, UDP_BYTES = 5, 200
"""Rate of all sources that share a lightpath (Poisson), and packet size, about the size of voice packets."""
LAST_S, QUICK_LAST_S = 50, 10
"""Time of the last arrival of a short flow, so that almost all end before the run does."""
PS = 1e12
NOTE = (
    "10 long flows per lightpath. Short flows arrive as a Poisson process with Pareto sizes (mean 50 kB, index 1.2, "
    "maximum 5 MB) and a handshake. UDP of 5 Mb/s per lightpath has packets of 200 B, Poisson. Completion times are of "
    "short flows that start after the warm-up. Times of flows that are unfinished at the end of a run "
    f"(`unfinished_pct`) are lower bounds. Percentiles are per run. `{DIFFERENCE}` is paired by seed, with the same "
    "short flows and datagrams."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids with and without anycast switching, which have the same short flows and datagrams."""
    first, last_s = (1, QUICK_LAST_S) if options.size.is_quick else (None, LAST_S)

    def settings(profile: str, bundling_degree: int, short_flows_pct: int, anycast: str) -> Settings:
        network = smaller.network(bundling_degree, FLOWS, anycast)
        return {**smaller.SENDERS[profile], **network, **traffic(bundling_degree, short_flows_pct, last_s)}

    axes = {
        "profile": SENDERS[:first],
        "bundling_degree": smaller.BUNDLING_DEGREES[:first],
        "short_flows_pct": tuple(ARRIVALS)[:first],
        "anycast": ("yes", "no"),
    }
    return {"mix": smaller.grid("lbas, mix", axes, settings, chosen, options)}


def find(found: Found) -> Findings:
    """Return rows by sender, degree and load, and the distribution of completion times."""
    metrics, times_ms = found.only.once(measured)
    rows = both_modes({name: metrics.at(metric=name) for name in metrics.axis("metric").values})
    series = [
        _distribution(
            {axis.name: key_value(axis, i) for axis, i in zip(times_ms.axes, at, strict=True)},
            _pooled(times_ms.at(**where)),
        )
        for at, where in cells_of(times_ms.axes)
    ]
    return Findings(rows, series=series, notes=[NOTE])


def measured(done: StudyResult) -> tuple[Cells, Samples]:
    """Return the metrics of :func:`measure` over the axis ``metric``, and completion times in ms."""
    warm_up_s = seconds(done.grid.branches[0].scenario.summary()["parameters"]["warm_up"])
    runs = [[measure(run, warm_up_s) for run in of_seed] for _, of_seed in done]
    names = tuple(runs[0][0][0])
    times, bounds = (np.empty((len(runs), len(runs[0])), dtype=object) for _ in range(2))
    for at in np.ndindex(*times.shape):
        of_run = runs[at[0]][at[1]][1]
        times[at], bounds[at] = of_run.values, of_run.at_least
    shape = [len(runs), *(len(axis) for axis in done.axes)]
    metrics = np.array([[list(item.values()) for item, _ in of_seed] for of_seed in runs])
    cells = done.cells(metrics[..., 0], (Axis("metric", names),), at_least=metrics[..., 1])
    return cells, Samples(times.reshape(shape), done.axes, done.seeds, at_least=bounds.reshape(shape))


def _pooled(times: Samples) -> Censored:
    """Return the values of all seeds of a combination."""
    values, bounds = (
        np.concatenate(list(item))
        for item in (times.values, times.values if times.at_least is None else times.at_least)
    )
    return Censored(bounds, np.isfinite(values))


def traffic(bundling_degree: int, load_pct: int, last_s: int) -> Settings:
    """Return the settings of short flows and UDP."""
    paths = {
        "rightward": ["SL", "ML", "L", "R", "MR", "DR"],
        "leftward": ["SR", "MR", "R", "L", "ML", "DL"],
    }
    long = [{"group": group, "path": path, "tcp": "all", "start": "$start"} for group, path in paths.items()]
    sizes = {
        "kind": "pareto",
        "mean": f"{SHORT_MEAN_BYTES} B",
        "shape": SHAPE,
        "largest": f"{SHORT_LARGEST_BYTES} B",
    }
    short = [
        {
            "group": f"short-{group}",
            "path": path,
            "tcp": "all",
            "arrivals": f"{ARRIVALS[load_pct] * bundling_degree} flows/s",
            "until": f"{last_s} s",
            "sizes": sizes,
        }
        for group, path in paths.items()
    ]
    sources = METRO_NODES * Cell(bundling_degree, FLOWS, anycast=True).hosts
    udp = [
        {
            "group": f"udp-{group}",
            "path": path,
            "process": "poisson",
            "rate": f"{round(1e6 * UDP_MBPS / sources)} bps",
            "size": f"{UDP_BYTES} B",
        }
        for group, path in paths.items()
    ]
    ports = {"kind": "ports", "after": "$warm_up", "interval": "$batch"}
    observe = [
        {"name": "lightpaths", "links": ["lightpath"], **ports},
        {"name": "metro", "links": [["ML", "L"], ["MR", "R"]], **ports},
        {"name": "short", "kind": "completions", "groups": [f"short-{group}" for group in paths]},
        {"name": "udp", "kind": "datagrams", "interval": "1 s"},
    ]
    return {
        "tcp.all.handshake": True,
        "flows": [*long, *short],
        "traffic": udp,
        "observe": observe,
    }


def measure(run: Run, first_s: float) -> tuple[dict[str, Bounded], Censored]:
    """Return the metrics of a run, each with its lower bound, and the completion times of short flows in ms.

    Only flows that start after ``first_s`` count. Times of unfinished flows are censored.
    """
    short = run["short"]
    start = short["start_ps"].astype(np.float64) / PS
    counted = start >= first_s
    took_ms = 1000 * (short["time_ps"].astype(np.float64) / PS - start)
    times_ms = Censored(took_ms, short["finished"].astype(bool))[counted]
    result = {"completion_mean_ms": times_ms.mean()}
    result |= {f"completion_p{percent}_ms": times_ms.quantile(percent / 100) for percent in (50, 95, 99)}
    shares = {name: float(batch.mean()) for name, batch in smaller.shares(outcome.batches(run)).items()}
    known = {
        "unfinished_pct": 100 * times_ms.cut / times_ms.known.size,
        **udp(run["udp"], first_s),
        **shares,
    }
    return result | {name: (value, value) for name, value in known.items()}, times_ms


def udp(datagrams: Table, first_s: float) -> dict[str, float]:
    """Return loss and mean delay of datagrams after ``first_s``, a multiple of the observation's interval."""
    counted = datagrams.rows(datagrams["time_ps"] > first_s * PS)
    arrived, lost, delay_ps = (
        float(counted[name].astype(np.float64).sum()) for name in ("arrived_packets", "lost_packets", "delay_sum_ps")
    )
    return {"udp_loss_pct": 100 * lost / (arrived + lost), "udp_delay_ms": 1000 * delay_ps / PS / arrived}


def _distribution(key: Key, times_ms: Censored) -> Series:
    """Return the complementary distribution of completion times, at percentiles that thin out if it is dense.

    It starts at the minimum time and ends at the first censored value.
    """
    above = np.concatenate([np.arange(100, 10, -5), np.geomspace(10, 0.1, 21)])
    at_ms = [times_ms.values.min(), *(times_ms.quantile(1 - share / 100)[0] for share in above[1:])]
    points = [
        (round(float(ms), 3), round(float(share), 4)) for ms, share in zip(at_ms, above, strict=True) if ms < np.inf
    ]
    label = "short flows with a longer completion time"
    x, y = ([point[side] for point in points] for side in (0, 1))
    return Series(label, key, "completion time", "ms", label, "%", x, y)


MIX = Exhibit(
    "lbas/mix",
    "Short flows and UDP beside the long flows, smaller copy of the network",
    "beyond the paper",
    smaller.setup(grids, runs=8),
    find,
)
