"""Name and assumptions that all experiments of the study share."""

from pathlib import Path

from optcp.papers.judge import Part
from optcp.papers.kit import Settings, built_in

PAPER = "How much buffer does a switchover need? (a study of this project)"
ACCESS_MBPS = 10
TCP: dict[str, Settings] = {
    "reno": {"parameters.congestion": "reno"},
    "cubic": {"parameters.congestion": "cubic"},
    "bbr": {"parameters.congestion": "bbr"},
}
"""Congestion controls, all with the other options of Linux 6."""

ASSUMED = (
    built_in("access", "each flow has an access link of 10 Mb/s with a buffer of one BDP"),
    built_in("window", "first ten RTTs of the protection path"),
)


def scenario(name: str) -> Path:
    """Return the path of a shipped scenario of this study."""
    return Path(__file__).with_name("scenarios") / f"buffers-{name}.toml"


def not_run(what: str) -> Part:
    """Return a placeholder for comparisons that quick runs omit."""
    return Part(f"{what}: not run", "undecided", not_run=True)
