"""Name and assumptions that all experiments of the study share."""

from pathlib import Path

from optcp.papers.judge import Part
from optcp.papers.kit import Assumed, Chosen, built_in, positive_int, share
from optcp_papers.prr.world import Sessions

PAPER = "Who repairs: hosts or the network? (a study of this project)"

ASSUMED = (
    Assumed("long", 24, positive_int),
    Assumed("rpc", 80, positive_int),
    Assumed("video", 20, positive_int),
    Assumed("peak", 0.25, share),
    Assumed("hosts_seed", 1, positive_int),
    built_in("paths", "two parallel links of equal cost between adjacent routers, in one duct"),
    built_in("repair", "failures that nobody repairs end after 5 s"),
)


def scenario(name: str) -> Path:
    """Return the path of a shipped scenario of this study."""
    return Path(__file__).with_name("scenarios") / f"prr-{name}.toml"


def sessions(chosen: Chosen, parallel: int = 2) -> Sessions:
    """Return the sessions of the scenarios."""
    numbers = {name: int(chosen[name]) for name in ("long", "rpc", "video", "hosts_seed")}
    return Sessions(**numbers, peak=float(chosen["peak"]), parallel=parallel)


def not_run(what: str) -> Part:
    """Return a placeholder for comparisons that quick runs omit."""
    return Part(f"{what}: not run", "undecided", not_run=True)
