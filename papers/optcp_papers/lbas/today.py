"""Extension of the paper: effect of anycast switching with current senders, in the smaller copy of the network."""

from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Key, Options, Settings
from optcp_papers.lbas import smaller
from optcp_papers.lbas.rows import both_modes, curves

METRICS = {"utilisation_pct": "utilisation", "dropped_pct": "dropped bytes", "queue_pct": "queue"}
NOTE = (
    "Lightpaths of 100 Mb/s, 60 s without the first 6 s. Utilisation in % of the rate, dropped bytes in % of those "
    "offered to the lightpaths, the mean queue in % of the buffer of C RTT / 10. Differences are paired by seed."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return every sender in every combination, with and without anycast switching."""

    def settings(profile: str, bundling_degree: int, flows_per_lightpath: int, anycast: str) -> Settings:
        return {**smaller.SENDERS[profile], **smaller.network(bundling_degree, flows_per_lightpath, anycast)}

    first = 1 if options.size.is_quick else None
    axes = {
        "profile": tuple(smaller.SENDERS),
        "bundling_degree": smaller.BUNDLING_DEGREES[:first],
        "flows_per_lightpath": smaller.FLOWS[:first],
        "anycast": ("yes", "no"),
    }
    return {"long flows": smaller.grid("lbas, smaller copy", axes, settings, chosen, options)}


SETUP = smaller.setup(grids, runs=8)


def find(found: Found) -> Findings:
    """Return rows by sender and combination, and differences paired by seed."""

    def key(place: Key) -> Key:
        return {name: place[name] for name in ("bundling_degree", "flows_per_lightpath", "profile")}

    rows = both_modes(found.only.once(smaller.measured), key)
    series = [
        curve
        for metric, label in METRICS.items()
        for curve in curves(rows, metric, "bundling_degree", ("bundling degree", label), ("", "%"))
    ]
    return Findings(rows, series=series, notes=[NOTE])


TODAY = Exhibit(
    "lbas/today",
    "Utilisation, drops and queue with today's senders, smaller copy of the network",
    "beyond the paper",
    SETUP,
    find,
)
