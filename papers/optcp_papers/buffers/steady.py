"""Utilisation of a link by long-lived flows, compared with the buffer rules of 2004 and 2021."""

import math

from optcp import stats
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
    Settings,
    Setup,
    equivalence_part,
    row,
    rows,
    runs_of,
)
from optcp_papers.buffers.law import NEEDED, PACKET_BYTES, utilisation
from optcp_papers.buffers.paper import PAPER, not_run, scenario

SEEDS, QUICK_SEEDS = 10, 3
RTT_S = 0.1
FLOWS = {1: (100, 350), 10: (250, 130), 100: (1000, 60), 1000: (10_000, 30)}
"""Packets per RTT of the link, and length of a run in s, by number of flows."""
WARM_UP_S = {1: 50, 10: 30, 100: 20, 1000: 10}
QUICK_FLOWS = (1, 10)
SHARES = {"1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0}
"""Buffers as multiples of the rule's buffer."""
SENDERS: dict[str, Settings] = {
    "reno": {"parameters.profile": "rfc", "parameters.congestion": "reno"},
    "cubic": {"parameters.profile": "linux-6", "parameters.congestion": "cubic"},
    "bbr": {"parameters.profile": "linux-6-bbr", "parameters.congestion": "bbr"},
}
MARGIN_PCT = 10.0
NOTES = [
    "n long-lived flows share a drop-tail link with a mean RTT of 100 ms (60 to 140 ms for ten flows and more). "
    "Buffers are multiples (`share`) of the rule's buffer: 1 BDP (NewReno), 3/7 (CUBIC) or 1/4 (BBR), over the "
    "root of n. `util_pct` is the simulated share of the link, `law_pct` the closed form, and `off_pct` their "
    "relative difference.",
]


def buffer_bdp(tcp: str, flows: int, share: str) -> float:
    """Return a buffer in BDP, from its multiple of the rule's buffer."""
    return SHARES[share] * NEEDED[tcp] / math.sqrt(flows)


def rate_bps(flows: int) -> float:
    """Return the rate of the link."""
    return 8 * PACKET_BYTES * FLOWS[flows][0] / RTT_S


def grids(_: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid over buffers per congestion control and number of flows."""
    result = {}
    for tcp, sender in SENDERS.items():
        for flows in QUICK_FLOWS if options.size.is_quick else FLOWS:
            bdp = PACKET_BYTES * FLOWS[flows][0]
            world: Settings = {
                **sender,
                "parameters.flows": flows,
                "parameters.rate": f"{rate_bps(flows):.0f} bps",
                "parameters.access_delay": "25 ms" if flows == 1 else "uniform(5 ms, 45 ms)",
                "stop": f"{FLOWS[flows][1]} s",
            }
            shares = tuple(SHARES)[:3] if flows == 1 else tuple(SHARES)[1:]
            buffers = {share: {"parameters.queue": f"{buffer_bdp(tcp, flows, share) * bdp:.0f} B"} for share in shares}
            made = options.grid(scenario("steady"), world, {"share": buffers}, f"buffers, {flows} {tcp}")
            result[f"{tcp} {flows}"] = made
    return result


def used(found: Found, tcp: str, flows: int) -> Cells:
    """Return the utilisation of the link per seed and buffer, from 0 to 1."""
    begin, end = WARM_UP_S[flows], FLOWS[flows][1]
    load = found.done[f"{tcp} {flows}"]["load"].between(f"{begin} s", f"{end} s").at(port="R->D")
    return 8 * load / (end - begin) / rate_bps(flows)


def find(found: Found) -> Findings:
    """Return utilisations by buffer, and compare them with the closed forms."""
    shown = []
    parts: dict[str, list[Part]] = {"buffers-one-reno": [], "buffers-many-reno": [], "buffers-cubic-and-bbr": []}
    for name in found.done:
        tcp, number = name.split()
        flows = int(number)
        share_used = used(found, tcp, flows)
        for share in share_used.axes[0].values:
            b = buffer_bdp(tcp, flows, share)
            law = utilisation(tcp, flows, b)
            here = share_used.at(share=share)
            off = 100 * (here.values / law - 1)
            key: Key = {"tcp": tcp, "flows": flows, "share": share}
            shown += rows({"util_pct": (100 * here).mean()}, key=key)
            shown += [row(key, "buffer_bdp", None, stats.exact(b), "")]
            shown += [row(key, "law_pct", None, stats.exact(100 * law), "")]
            shown += [row(key, "off_pct", None, stats.mean(off), "")]
            claim = "buffers-cubic-and-bbr"
            if tcp == "reno":
                claim = "buffers-one-reno" if flows == 1 else "buffers-many-reno"
            if share == "1" or claim == "buffers-one-reno":
                parts[claim].append(equivalence_part(f"{tcp}, n = {flows}, {share} of the rule", off, MARGIN_PCT, "%"))
    if len(found.done) < len(SENDERS) * len(FLOWS):
        for claim in ("buffers-many-reno", "buffers-cubic-and-bbr"):
            parts[claim].append(not_run("100 and 1000 flows"))
    return Findings(shown, parts, [], NOTES)


STEADY = Exhibit(
    "buffers/steady",
    "Utilisation by buffer, compared with the rules of 2004 and 2021",
    "docs/details/buffers.md, steady state",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS)),
    find,
)
