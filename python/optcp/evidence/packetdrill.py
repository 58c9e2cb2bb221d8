"""The project's own packetdrill scripts: how many pass, by behaviour."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

from optcp import packetdrill
from optcp.errors import InputError
from optcp.evidence.base import Compared, Experiment, Result, Row, Setting, experiment

SCRIPTS = Path("tests") / "packetdrill"
SOURCE = "RFCs and Linux, by script"


def script_name(path: Path) -> str:
    """A script as the table of mechanisms names it: behaviour and situation."""
    return f"{path.parent.name}/{path.stem}"


@experiment
class Packetdrill(Experiment):
    """Scripts that pass, by behaviour."""

    name = "packetdrill"
    title = "Packetdrill scripts"
    value = "scripts that pass"
    unit_n = "scripts"
    digits = 0
    about = (
        "Scripts in the language of packetdrill (`tests/packetdrill`, one directory a behaviour) play the peer and the "
        "application, and say which segments an endpoint sends, and when. They are the project's own: each names the "
        "section of an RFC, or the behaviour of Linux, from which its values were worked by hand. `optcp packetdrill` "
        "runs them, and public ones too, against the simulated endpoint ([how](packetdrill.md)).",
    )

    def run(self, setting: Setting) -> Result:  # noqa: ARG002 - nothing is random, and it takes a second
        """One row a behaviour."""
        scripts = sorted(SCRIPTS.glob("*/*.pkt"))
        if not scripts:
            raise InputError(f"{SCRIPTS}: there are no scripts here; run this in a checkout of the sources")
        digest = hashlib.sha256()
        counts: Counter[str] = Counter()
        passed: Counter[str] = Counter()
        failed: list[str] = []
        for script in scripts:
            digest.update(script.read_bytes())
            behaviour = script.parent.name
            counts[behaviour] += 1
            if packetdrill.run(script, None).result == "ok":
                passed[behaviour] += 1
            else:
                failed.append(script_name(script))
        rows = [_row(behaviour, passed[behaviour], count) for behaviour, count in counts.items()]
        return self.result(rows, {"cases_sha256": digest.hexdigest(), "failed": failed})


def _row(behaviour: str, passed: int, count: int) -> Row:
    verdict = "agrees" if passed == count else "differs"
    return Row({"behaviour": behaviour}, passed, None, count, [Compared(SOURCE, f"{count}", verdict)])
