"""Execution of conformance cases for ``optcp conformance``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp import _core
from optcp.common.files import write_text
from optcp.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """Result of one case."""

    name: str
    completion_s: float | None
    transmissions: int
    retransmissions: int
    timeouts: int


def conform(cases: Path, out: Path) -> tuple[list[Outcome], list[str]]:
    """Run the cases of a file, and write their results.

    Returns
    -------
    list, list
        Outcome of each case, in the order of the names. Then a sentence for each case that was refused and is not in
        the results.

    Raises
    ------
    InputError
        If the file cannot be read or is not of the form.
    OSError
        If the results cannot be written; an older file of results is then left as it was.
    """
    try:
        text = cases.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{cases}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{cases}: not UTF-8 text: {error}") from None
    try:
        results, refused = _core.conformance(text)
    except _core.ScenarioError as error:
        raise InputError(f"{cases}: {error}") from None
    write_text(out, results + "\n")
    outcomes = [
        Outcome(name, one["completion_ack_s"], len(one["sequence"]), one["retransmissions"], one["timeouts"])
        for name, one in json.loads(results).items()
    ]
    return outcomes, refused
