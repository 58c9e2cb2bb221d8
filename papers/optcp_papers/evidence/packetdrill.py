"""The project's own packetdrill scripts: number that pass, by behaviour."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

from optcp.checks import packetdrill
from optcp.errors import InputError
from optcp_papers.evidence.base import Experiment, Row, counted

SCRIPTS = Path("tests") / "packetdrill"
SOURCE = "RFCs and Linux, by script"


def script_name(path: Path) -> str:
    """Return the name of a script in the table of mechanisms: behaviour and situation."""
    return f"{path.parent.name}/{path.stem}"


def count() -> tuple[list[Row], dict[str, Any]]:
    """Count the scripts that pass, one row per behaviour."""
    scripts = sorted(SCRIPTS.glob("*/*.pkt"))
    if not scripts:
        raise InputError(f"{SCRIPTS}: there are no scripts here; run this in a checkout of the sources")
    digest = hashlib.sha256(b"".join(script.read_bytes() for script in scripts))
    failed = [script for script in scripts if packetdrill.run(script, None).result != "ok"]
    fail = Counter(script.parent.name for script in failed)
    rows = [
        counted({"behaviour": behaviour}, cases - fail[behaviour], cases, SOURCE)
        for behaviour, cases in Counter(script.parent.name for script in scripts).items()
    ]
    return rows, {"cases_sha256": digest.hexdigest(), "failed": [script_name(script) for script in failed]}


PACKETDRILL = Experiment(
    name="packetdrill",
    title="Packetdrill scripts",
    value="scripts that pass",
    unit_n="scripts",
    digits=0,
    source=count,
    about=(
        "Scripts in the language of packetdrill are in `tests/packetdrill`, one directory per behaviour. They act as "
        "the peer and the application, and specify the segments of an endpoint with their times. They are the "
        "project's own. Each names the section of an RFC, or the behaviour of Linux, from which its values were "
        "derived by hand. `optcp packetdrill` runs them, and public ones, against the simulated endpoint "
        "([how](../developers/packetdrill.md)).",
    ),
)
