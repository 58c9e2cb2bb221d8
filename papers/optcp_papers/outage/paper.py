"""What all exhibits of the study share: its name and its senders."""

from pathlib import Path

from optcp.outage.study import SENDERS
from optcp.papers.judge import Part

PAPER = "What one optical failure costs the transfers of 2026 (a study of this project)"


def scenario(name: str) -> Path:
    """A shipped scenario of this study."""
    return Path(__file__).with_name("scenarios") / f"outage-{name}.toml"


def senders(*names: str, table: str = "sender") -> dict[str, dict[str, str]]:
    """An axis ``sender`` of a grid."""
    return {name: {f"tcp.{table}.{key}": value for key, value in SENDERS[name].items()} for name in names or SENDERS}


def not_run(what: str) -> Part:
    """Stands for comparisons whose runs a quick look leaves out."""
    return Part(f"{what}: not run", "undecided", not_run=True)
