"""Effect of each unstated parameter of the paper, varied one at a time in the smaller copy of the network."""

from optcp.papers.kit import Chosen, Exhibit, Findings, Found, Grid, Options, Settings
from optcp_papers.lbas import smaller
from optcp_papers.lbas.rows import both_modes

INTERPRETATIONS: dict[str, Settings] = {
    "as assumed": {},
    "profile = rfc": smaller.SENDERS["rfc"],
    "profile = rfc, timeout_basis = flight-size": smaller.SENDERS["rfc, timeout_basis = flight-size"],
    # Windows are a tenth of the paper's: 5 segments correspond to the 45 of an older INET.
    "initial_ssthresh_segments = 5": {"parameters.initial_ssthresh": "5 segments"},
    "start_spread_s = 6": {"parameters.start": "uniform(0 s, 6 s)"},
    "delay_80_to_120_ms = one-way": {"parameters.source_delay": "uniform(80 ms, 120 ms)"},
    "lightpath_delay_ms = 10": {"parameters.lightpath_delay": "10 ms"},
    "buffer = 83 packets": {"parameters.buffer": "83 packets"},
    "far_buffer = unlimited": {"parameters.far_buffer": "unlimited"},
    "K = 2": {"parameters.K": 2, "parameters.hosts": 5},
}
"""Settings of each interpretation; buffers and windows match the smaller copy."""
NOTE = (
    "b_D = 2, 10 flows per lightpath; one unstated parameter at a time differs from the assumed value. Windows and "
    "buffers are those of the copy: an initial ssthresh of 5 segments corresponds to 45."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the first combination under each interpretation, with and without anycast switching."""

    def settings(choice: str, anycast: str) -> Settings:
        return {**smaller.network(2, smaller.FLOWS[0], anycast), **INTERPRETATIONS[choice]}

    axes = {"choice": tuple(INTERPRETATIONS)[: 3 if options.size.is_quick else None], "anycast": ("yes", "no")}
    return {"choices": smaller.grid("lbas, choices", axes, settings, chosen, options)}


def find(found: Found) -> Findings:
    """Return the rows by interpretation."""
    return Findings(both_modes(found.only.once(smaller.measured)), notes=[NOTE])


CHOICES = Exhibit(
    "lbas/choices",
    "Effect of each unstated parameter, smaller copy of the network",
    "beyond the paper",
    smaller.setup(grids, runs=8),
    find,
)
