"""Name, scenarios and senders that all experiments of the study share."""

from pathlib import Path

from optcp.scenarios.scenario import Settings

PAPER = "Today's TCPs on links that are reconfigured (a study of this project)"

SENDERS: dict[str, Settings] = {
    "reno": {"congestion": "reno"},
    "cubic": {},
    "bbr3": {"profile": "linux-6-bbr", "congestion": "bbr3"},
    "prague": {"congestion": "prague", "ecn": "accurate", "pacing": "rate"},
}
"""Settings in a table of ``[tcp]`` with the profile ``linux-6``. Prague needs queues that mark."""


def scenario(name: str) -> Path:
    """Return the path of a shipped scenario of this study."""
    return Path(__file__).with_name("scenarios") / f"reconfigurable-{name}.toml"


def sender(name: str) -> Settings:
    """Return the settings of a sender: of the table ``sender``."""
    return {f"tcp.sender.{key}": value for key, value in SENDERS[name].items()}
