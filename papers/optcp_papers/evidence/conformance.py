"""Recorded single-flow cases: number that agree with ns-2.35, judged by the program that came with the records."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optcp.checks.conformance import conform
from optcp.errors import InputError, RunFailed
from optcp_papers.evidence.base import Experiment, Row, counted

REFERENCE = Path("tests") / "reference" / "tcp"
FILES = ("scenarios.json", "more-cases.json", "more-sack-cases.json")
SOURCE = "ns-2.35, recorded"

Case = dict[str, Any]


@dataclass(frozen=True)
class Member:
    """Option of a family, and the condition for cases that exercise it."""

    family: str
    name: str
    at_work: Callable[[Case], bool]


def _newreno_repairs(case: Case) -> bool:
    return bool(case["variant"] == "newreno" and case["expect"]["retransmissions"] > 0)


def _starts_with_a_loss(case: Case) -> bool:
    first = int(case["tcp"]["handshake"])
    return any(segment in (first, first + 1) and nth == 1 for segment, nth in case["drops"])


MEMBERS = (
    Member("profiles", "ns2-2.35", lambda case: True),  # noqa: ARG005 - all cases start from it
    Member("recovery", "tahoe", lambda case: case["variant"] == "tahoe"),
    Member("recovery", "reno", lambda case: case["variant"] == "reno"),
    Member("recovery", "newreno", lambda case: case["variant"] == "newreno"),
    Member("recovery", "sack1", lambda case: case["variant"] == "sack"),
    Member("congestion", "reno", lambda case: True),  # noqa: ARG005 - as above
    Member("newreno_timer", "impatient", lambda case: _newreno_repairs(case) and case["tcp"]["newreno_impatient"]),
    Member("newreno_timer", "patient", lambda case: _newreno_repairs(case) and not case["tcp"]["newreno_impatient"]),
    Member("partial_ack", "deflate", lambda case: _newreno_repairs(case) and case["expect"]["retransmissions"] > 1),
    Member("recovery_exit", "unchanged", _newreno_repairs),
    Member("reduction_basis", "window", lambda case: case["expect"]["retransmissions"] > case["expect"]["timeouts"]),
    Member("timeout_basis", "window", lambda case: case["expect"]["timeouts"] > 0),
    Member("halving", "whole-ssthresh", lambda case: not case["tcp"].get("integer_halving")),
    Member("halving", "whole", lambda case: bool(case["tcp"].get("integer_halving"))),
    Member("rtt", "bsd-ticks", lambda case: case["expect"]["timeouts"] > 0),
    Member("first_loss", "ns2", _starts_with_a_loss),
    Member("ack", "every-packet", lambda case: not case["tcp"]["delayed_ack"]),
    Member("ack", "delayed", lambda case: case["tcp"]["delayed_ack"]),
)
"""Options that cases can test; one case can test several."""


def count() -> tuple[list[Row], dict[str, Any]]:
    """Count the agreeing cases, one row per option."""
    if not REFERENCE.is_dir():
        raise InputError(f"{REFERENCE}: there are no recorded cases here; run this in a checkout of the sources")
    cases: list[Case] = []
    agreeing: set[str] = set()
    refused: set[str] = set()
    digest = hashlib.sha256()
    for file in FILES:
        text = (REFERENCE / file).read_text(encoding="utf-8")
        digest.update(text.encode())
        listed = json.loads(text)["scenarios"]
        with tempfile.TemporaryDirectory() as place:
            agree, not_run = compared(REFERENCE / file, listed, Path(place))
        cases += listed
        agreeing |= agree
        refused |= not_run
    rows = []
    for member in MEMBERS:
        mine = {case["id"] for case in cases if member.at_work(case)}
        if member.family != "recovery":
            mine -= refused
        key = {"family": member.family, "member": member.name}
        rows.append(counted(key, len(mine & agreeing), len(mine), SOURCE))
    return rows, {"cases_sha256": digest.hexdigest(), "files": list(FILES)}


def compared(cases: Path, listed: list[Case], place: Path) -> tuple[set[str], set[str]]:
    """Return the cases that agree, judged by the reference's own program, and those that cannot run.

    That program reads recorded transmissions from the directory ``traces`` next to it. Running a copy of it also
    provides those that are written in the case itself.
    """
    shutil.copytree(REFERENCE / "traces", place / "traces")
    shutil.copy(REFERENCE / "compare.py", place)
    for case in listed:
        recorded = case["expect"].get("sequence")
        if recorded:
            with (place / "traces" / f"{case['id']}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([("time_s", "seq"), *recorded])
    outcomes, _ = conform(cases, place / "results.json")
    command = [sys.executable, str(place / "compare.py"), str(place / "results.json"), str(cases.resolve())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own file
    agree = set(re.findall(r"^(\S+) +ok$", done.stdout, re.MULTILINE))
    if f"{len(agree)} agree" not in done.stdout:
        raise RunFailed(f"{REFERENCE / 'compare.py'}: {done.stderr or done.stdout}")
    return agree, {case["id"] for case in listed} - {outcome.name for outcome in outcomes}


CONFORMANCE = Experiment(
    name="conformance",
    title="Recorded cases",
    value="cases that agree",
    unit_n="cases",
    digits=0,
    source=count,
    about=(
        "Single flows with scripted losses, recorded with ns-2.35 (`tests/reference/tcp`). `optcp conformance` runs "
        "them. The program that came with the records, `compare.py`, compares completion time, retransmissions, "
        "timeouts, and each transmission with its time if recorded. A row counts the cases that exercise an option; a "
        "case counts in several rows. A case whose loss recovery does not exist here only counts in the row of that "
        "recovery, as one that does not agree.",
    ),
)
