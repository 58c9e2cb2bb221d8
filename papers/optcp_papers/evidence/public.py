"""Public suites of packetdrill scripts, with the outcome of each script. The scripts are not part of the project."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from optcp import _core
from optcp.checks import packetdrill
from optcp.common import stored
from optcp.common.files import write_text
from optcp.errors import InputError, nearest
from optcp_papers.evidence import outside

TABLE = outside.DATA / "packetdrill-suites.json"
TITLE = "Public packetdrill scripts"
ABOUT = (
    "Public scripts that test the TCP of Linux: the kernel's own, and packetdrill's. They are not part of the "
    "project; `optcp packetdrill` runs them unchanged, with the profile `linux-6`. A script is refused, with its line "
    "and the reason, if it needs any feature that is not simulated, even at its end. "
    "`papers/optcp_papers/evidence/data/packetdrill-suites.json` holds the outcome of each script, and [packetdrill "
    "scripts](../developers/packetdrill.md#public-suites) describes how to reproduce that table."
)
BLOB_DIGITS = 12


@dataclass(frozen=True)
class Script:
    """Outcome of a script.

    Attributes
    ----------
    path
        Path in the suite's directory.
    blob
        First digits of its Git object name, which identify the text.
    reason
        Reason for refusal, or expected and actual behaviour.
    """

    path: str
    blob: str
    verdict: str
    line: int | None
    reason: str | None


@dataclass(frozen=True)
class Suite:
    """Scripts of one repository.

    Attributes
    ----------
    commit
        Commit or version.
    folder
        Directory of the scripts in the repository.
    version
        Version of ``optcp`` that ran them.
    """

    name: str
    repository: str
    commit: str
    folder: str
    version: str
    scripts: list[Script]


@functools.cache
def suites() -> tuple[Suite, ...]:
    """Read the table."""
    return tuple(stored.one(Suite, item) for item in stored.table(TABLE.read_text(encoding="utf-8"))["suites"])


def count(suite: Suite) -> Counter[str]:
    """Count the scripts of a suite by verdict."""
    return Counter(script.verdict for script in suite.scripts)


def verdicts() -> dict[str, str]:
    """Return the verdict of each script that is not refused, by ``suite/path``."""
    return {
        f"{suite.name}/{script.path}": script.verdict
        for suite in suites()
        for script in suite.scripts
        if script.verdict != "refused"
    }


def passed(patterns: Sequence[str]) -> str:
    """Describe how many scripts of some patterns pass, without those that are refused."""
    result = [
        verdict for name, verdict in verdicts().items() if any(fnmatchcase(name, pattern) for pattern in patterns)
    ]
    listed = ", ".join(f"`{pattern}`" for pattern in patterns)
    return f"[{TITLE}](#public-packetdrill-scripts): {result.count('ok')} of {len(result)} pass: {listed}"


def run(suite: Suite, folder: Path) -> Suite:
    """Run every script below a folder with the suite's scripts.

    Raises
    ------
    InputError
        If the directory has no scripts.
    """
    scripts = []
    for file in sorted(folder.rglob("*.pkt")):
        text = file.read_bytes()
        blob = hashlib.sha1(b"blob %d\0" % len(text) + text, usedforsecurity=False).hexdigest()[:BLOB_DIGITS]
        outcome = packetdrill.run(file, None)
        reason = outcome.reason
        if outcome.result == "failed":
            reason = f"expected {outcome.expected}; happened {outcome.happened}"
        path = file.relative_to(folder).as_posix()
        scripts.append(Script(path, blob, outcome.result, outcome.line, reason))
    if not scripts:
        raise InputError(f"{folder}: there are no packetdrill scripts here")
    return replace(suite, version=_core.version(), scripts=scripts)


def write(found: Sequence[Suite]) -> None:
    """Store the table, one line per script."""
    parts = []
    for suite in found:
        scripts = ",\n".join(f"  {json.dumps(asdict(script), ensure_ascii=False)}" for script in suite.scripts)
        head = json.dumps({name: value for name, value in asdict(suite).items() if name != "scripts"})
        parts.append(f' {head[:-1]}, "scripts": [\n{scripts}\n ]}}')
    write_text(TABLE, '{"suites": [\n' + ",\n".join(parts) + "\n]}\n")


def main(folders: Sequence[str]) -> None:
    """Run suites again, each given as ``name=folder``; the others stay unchanged.

    Raises
    ------
    InputError
        If a suite is unknown, or its folder contains no script.
    """
    known = {suite.name for suite in suites()}
    given = {name: folder for name, _, folder in (item.partition("=") for item in folders)}
    for name in given:
        if name not in known:
            raise InputError(f"there is no suite {name!r}; {nearest(name, known)}")
    write([run(suite, Path(given[suite.name])) if suite.name in given else suite for suite in suites()])


if __name__ == "__main__":
    main(sys.argv[1:])
