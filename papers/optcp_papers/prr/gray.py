"""Gray failures: one of two parallel links drops packets, and no router detects it."""

from optcp.papers.kit import Exhibit, Findings, Found, Part
from optcp_papers.outage.population import inside, side
from optcp_papers.prr.cases import FORWARD, GRAY
from optcp_papers.prr.links import LONG_MS, SETUP, every_cost, missing, rows_of
from optcp_papers.prr.stalls import Costs

NOTES = [
    "As in prr/links; for 5 s the link silently drops all packets of one direction, or a share of the packets in both "
    "directions. No mechanism of the network reacts. Affected sessions stall for a second or more without repathing "
    "if all packets of this direction, or of both, are dropped. "
]


def find(found: Found) -> Findings:
    """Return stalls by gray failure and repathing, and judge the claims about them."""
    by_network = every_cost(found)
    shown = [item for name, costs in by_network.items() for item in rows_of(costs, {"network": name}, tuple(GRAY))]
    rest = missing(by_network)
    claims = {
        "prr-gray-one-per-cent": {name: [*one_per_cent(costs), *rest] for name, costs in by_network.items()},
        "prr-gray-direction-left-in-a-second": {name: [*left(costs), *rest] for name, costs in by_network.items()},
    }
    return Findings(shown, claims, [], NOTES)


def one_per_cent(costs: Costs) -> list[Part]:
    """Judge: repathing changes the bytes of long flows over a link that drops 1 % by less than 5 %."""
    none, rto = (costs.per_failure(("1 %", repath), lambda one: one.mb) for repath in ("none", "rto"))
    return [inside("more bytes with repathing", ((rto - none) / none).times(100), 5, "%")]


def left(costs: Costs) -> list[Part]:
    """Judge: a tenth of the RPC sessions or less stalls for more than a second."""
    late = costs.longer_pct((FORWARD, "rto"), "rpc", LONG_MS)
    return [side("stalled for more than 1 s, minus 10 %", late - 10.0, "below", "points")]


GRAY_FAILURES = Exhibit(
    "prr/gray",
    "Failures that no router detects",
    "docs/details/prr.md, gray failures",
    SETUP,
    find,
)
