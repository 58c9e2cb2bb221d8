"""One year of failures: availability of pairs for the network and for TCP."""

import math
from collections.abc import Mapping
from dataclasses import replace

from optcp.outage.availability import nines, unprotected_ms, year
from optcp.outage.durations import DURATIONS, LogNormal
from optcp.outage.study import Costs
from optcp.papers.kit import Assumed, Exhibit, Findings, Found, Key, Part, Row, judge, positive, row
from optcp.stats import Interval
from optcp_papers.outage.links import SETUP, every_cost
from optcp_papers.outage.paper import not_run
from optcp_papers.outage.population import NETWORKS

REPAIRED_SLOWLY = ("restoration, 2 s", "restoration, 8 s")
REPAIRED_FAST = ("ti-lfa", "1+1")
SLOW_NINES, SLOW_MARGIN, FAST_NINES = 0.16, 0.05, 0.5
WAITS = "repair only"
"""Name, in place of a mechanism, of flows that wait for the repair."""


def _durations(text: str) -> str:
    """Return the name of a distribution of failure durations."""
    if text not in DURATIONS:
        raise ValueError(f"expected {' or '.join(DURATIONS)}")
    return text


ASSUMED = (
    *SETUP.assumed,
    Assumed("cuts_a_1000_km", 2.7, positive),
    Assumed("durations", "backbone", _durations),
)
NOTES = [
    "One year of failures of single links without bridges. Each link fails in proportion to its length, at the assumed "
    "rate of cuts. `nines_net` is -log10 of the share of the year for which a flow's path, or the path of its ACKs, "
    "was broken. `nines_tcp` is -log10 of the share for which the flow was stalled. Both are means over the long "
    "flows, which are drawn in proportion to demands. `tcp_alone_s` is the time per year that TCP adds. Failures do "
    "not overlap. Flows that were still stalled at the end of a run count up to there: `tcp_alone_s` and `nines_lost` "
    "are then lower bounds, and `nines_tcp` is an upper bound. `nines_net_drawn` is `nines_net` if repairs end "
    "failures after a time drawn from `durations`. `repaired_first_pct` is the share of path outages that such a "
    f"repair ends. The rows of `{WAITS}` have affected flows that wait for the repair.",
]


def find(found: Found) -> Findings:
    """Return the nines of the network and of TCP, by mechanism."""
    by_network = every_cost(found)
    rate = found.number("cuts_a_1000_km")
    drawn = DURATIONS[str(found.chosen["durations"])]
    shown: list[Row] = []
    for name, costs in by_network.items():
        for who, mechanism in costs.cells:
            one = year(costs, (who, mechanism), rate)
            key: Key = {"network": name, "sender": who, "mechanism": mechanism}
            of_tcp = row(key, "nines_tcp", None, one.nines_tcp.interval, "")
            more = {
                "nines_lost": (one.nines_net - one.nines_tcp).interval,
                "tcp_alone_s": (one.tcp_ms - one.network_ms).times(1e-3).interval,
            }
            if one.is_cut:
                of_tcp = replace(of_tcp, measured=None, at_most=of_tcp.measured, ci95=(None, None))
                more = {
                    name: Interval(math.inf, -math.inf, math.inf, bound.n, bound.estimate)
                    for name, bound in more.items()
                }
            shown += [row(key, "nines_net", None, one.nines_net.interval, ""), of_tcp]
            shown += [row(key, name, None, interval, "") for name, interval in more.items()]
            if drawn is not None:
                shown += drawn_rows(key, costs, rate, drawn)
    missing = [not_run("other networks")] if len(by_network) < len(NETWORKS) else []
    claims: dict[str, Mapping[str, list[Part]]] = {
        "outage-tcp-nines": {name: [*tcp_nines(costs, rate), *missing] for name, costs in by_network.items()}
    }
    return Findings(shown, claims, [], NOTES)


def drawn_rows(key: Key, costs: Costs, rate: float, drawn: LogNormal) -> list[Row]:
    """Return the nines of the network with drawn durations, and once per network without any recovery."""
    at = (str(key["sender"]), str(key["mechanism"]))
    net = year(costs, at, rate, drawn).nines_net.interval
    repaired_first = costs.mean(at, lambda one: sum(100 * drawn.shorter(ms / 1000) for ms in one.network_ms))
    share = (repaired_first / costs.mean(at, lambda one: one.network_ms.size)).interval
    result = [row(key, "nines_net_drawn", None, net, ""), row(key, "repaired_first_pct", None, share, "")]
    if at == next(iter(costs.cells)):
        waiting = nines(unprotected_ms(costs, at, rate, drawn)).interval
        result.append(row({**key, "mechanism": WAITS}, "nines_net_drawn", None, waiting, ""))
    return result


def tcp_nines(costs: Costs, rate: float) -> list[Part]:
    """Judge: TCP loses 0.16 nines if recovery takes seconds, and at least half a nine if it takes 50 ms."""
    parts = []
    for mechanism in (*REPAIRED_SLOWLY, *REPAIRED_FAST):
        at = ("cubic", mechanism)
        if at not in costs.cells:
            continue
        one = year(costs, at, rate)
        less = one.nines_net - one.nines_tcp
        aim = SLOW_NINES + SLOW_MARGIN if mechanism in REPAIRED_SLOWLY else FAST_NINES
        if one.is_cut and less.estimate < aim:
            parts.append(judge.Part(f"{mechanism}: at least {less.estimate:+.2f} nines of {aim:g}", "undecided"))
            continue
        if mechanism in REPAIRED_SLOWLY:
            off = less - SLOW_NINES
            bounds = (-SLOW_MARGIN, SLOW_MARGIN)
            parts.append(
                judge.within_part(
                    f"{mechanism}: nines lost minus {SLOW_NINES}", off.samples, off.estimate, off.n, bounds, 1, ""
                )
            )
        else:
            test = (less - FAST_NINES).comparison
            parts.append(judge.side_part(f"{mechanism}: nines lost minus {FAST_NINES}", test, "above", ""))
    return parts


AVAILABILITY = Exhibit(
    "outage/availability",
    "A year of failures, as the network sees it and as TCP does",
    "docs/details/outage.md, availability",
    replace(SETUP, assumed=ASSUMED),
    find,
)
