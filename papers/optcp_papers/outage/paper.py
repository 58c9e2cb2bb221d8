"""Name and senders that all experiments of the study share."""

from pathlib import Path

from optcp.outage.study import SENDERS
from optcp.papers.judge import Part

PAPER = "What one optical failure costs the transfers of 2026 (a study of this project)"


def scenario(name: str) -> Path:
    """Return the path of a shipped scenario of this study."""
    return Path(__file__).with_name("scenarios") / f"outage-{name}.toml"


def senders(*names: str, table: str = "sender") -> dict[str, dict[str, str]]:
    """Return the axis ``sender`` of a grid."""
    return {name: {f"tcp.{table}.{key}": value for key, value in SENDERS[name].items()} for name in names or SENDERS}


def not_run(what: str) -> Part:
    """Return a placeholder for comparisons that quick runs omit."""
    return Part(f"{what}: not run", "undecided", not_run=True)
