"""Scale-down of rates: cost of a failure per unit of capacity, from 25 to 400 Mb/s."""

import itertools

from optcp.outage.metrics import outages
from optcp.outage.study import Costs, CostsOf, failing, sender
from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Key, Options, Part, Setup, row
from optcp_papers.outage.paper import PAPER, not_run
from optcp_papers.outage.population import (
    ASSUMED,
    assumptions,
    cut,
    grid,
    inside,
    network,
    per_cent_of,
    rows_of,
    seeds,
    world,
)

NETWORK = "abilene"
RATES_MBPS = (25, 50, 100, 200, 400)
QUICK_RATES_MBPS = (25, 100)
SENDERS = ("cubic", "bbr")
MECHANISM = {"routing.repair": "ti-lfa", "routing.converge": "synchronized"}
MARGIN_PCT = 15.0
SHOWN = ("lost_mb", "outage_p50_ms", "outage_p99_ms")
NOTES = [
    "Every link of abilene except the bridge, with TI-LFA. The link rate is scaled, and the number of flows with it; "
    "each flow is as fast as before. `lost_mb_a_gbps` is the cost of a failure over the link rate in Gb/s.",
]


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per rate, over senders and failures."""
    result = {}
    for rate in QUICK_RATES_MBPS if options.size.is_quick else RATES_MBPS:
        assumed = assumptions(chosen, rate_mbps=float(rate))
        axes = {
            "sender": {who: sender(who) for who in (SENDERS[:1] if options.size.is_quick else SENDERS)},
            "failure": failing(cut(NETWORK), assumed),
        }
        result[str(rate)] = grid(f"abilene at {rate} Mb/s", world(NETWORK, assumed), axes, options, MECHANISM)
    return result


def find(found: Found) -> Findings:
    """Return the cost at each rate, and judge whether it is the same."""
    by_rate = {int(rate): done.once(CostsOf(network(NETWORK), cut(NETWORK))) for rate, done in found.done.items()}
    shown = []
    for rate, costs in by_rate.items():
        for at in costs.cells:
            key: Key = {"rate_mbps": rate, "sender": at[0]}
            shown += rows_of(costs, at, key, SHOWN)
            a_gbps = costs.mean(at, lambda cost: cost.total_mb).times(1000 / rate)
            shown.append(row(key, "lost_mb_a_gbps", None, a_gbps.interval, ""))
            shown.append(row(key, "flows", None, costs.mean(at, lambda item: float(item.flows)).interval, ""))
    missing = [not_run("other rates")] if len(by_rate) < len(RATES_MBPS) else []
    senders = dict.fromkeys(at[0] for at in by_rate[min(by_rate)].cells)
    claims = {"outage-scale-free": {who: [*scale_free(by_rate, who), *missing] for who in senders}}
    return Findings(shown, claims, [], NOTES)


def scale_free(by_rate: dict[int, Costs], who: str) -> list[Part]:
    """Judge: neighbouring rates cost the same per unit of capacity within 15 %, and so do the extremes."""
    parts = []
    rates = sorted(by_rate)
    lost = {rate: by_rate[rate].mean((who,), lambda cost: cost.total_mb).times(1 / rate) for rate in rates}
    silent = {rate: by_rate[rate].quantile((who,), outages, 0.5) for rate in rates}
    for low, high in itertools.pairwise(rates):
        for name, of in (("lost a unit", lost), ("median outage", silent)):
            more = per_cent_of(of[high] - of[low], of[low])
            parts.append(inside(f"{name}, {high} against {low} Mb/s", more, MARGIN_PCT, "%"))
    return parts


SCALE = Exhibit(
    "outage/scale",
    "How far rates may be scaled down",
    "docs/details/outage.md, scaling",
    Setup(PAPER, None, grids, seeds, ASSUMED),
    find,
)
