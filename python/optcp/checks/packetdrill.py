"""Execution of packetdrill scripts for ``optcp packetdrill``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from optcp import _core
from optcp.common.files import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """Result of one script.

    Attributes
    ----------
    line, at_s
        Where it stopped, and when in its own time, in seconds.
    expected, happened
        Expected and actual event of the failed line.
    reason
        Why a script was refused.
    """

    file: str
    result: Literal["ok", "failed", "refused"]
    line: int | None = None
    at_s: float | None = None
    expected: str | None = None
    happened: str | None = None
    reason: str | None = None

    def message(self) -> str:
        """Return the failure with its position; empty for a passed script."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        if self.result == "failed":
            return f"{place}: FAILED at {self.at_s:.6f} s\n  expected: {self.expected}\n  happened: {self.happened}\n"
        return f"{place}: refused: {self.reason}\n" if self.result == "refused" else ""


def run(file: Path, tolerance_us: int | None) -> Outcome:
    """Run a script; an unreadable script counts as refused."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        return Outcome(str(file), "refused", reason=error.strerror)
    except UnicodeDecodeError as error:
        return Outcome(str(file), "refused", reason=f"not UTF-8 text: {error}")
    return Outcome(str(file), **_core.packetdrill(text, tolerance_us))


def write(outcomes: Sequence[Outcome], out: Path) -> None:
    """Write the results as JSON, in order."""
    write_text(out, json.dumps([asdict(outcome) for outcome in outcomes], indent=1) + "\n")
