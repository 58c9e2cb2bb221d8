"""Errors as JSON values: kind, message, and the places of a wrong scenario."""

from __future__ import annotations

import errno
import re
from typing import Any

from optcp import _core
from optcp.errors import InputError, RunFailed, told
from optcp.mcp.fence import REASON, Outside

INPUT, OUTSIDE, LIMIT, FAILED = "input", "outside", "limit", "failed"
"""Kinds of problems: invalid input, a path outside the directory, a limit, a failed run."""

MARK = "  × "  # noqa: RUF001 - as messages begin
PLACE = re.compile(r"╭─\[(.*):(\d+):(\d+)\]")
LABEL = re.compile(r"╰── (.*)")
SOURCE = re.compile(r"^\s*(\d+) │ (.*)$", re.MULTILINE)
HELP = re.compile(r"^  help: (.*(?:\n {8}.*)*)", re.MULTILINE)
NEAREST = re.compile(r"did you mean ['`](.+?)['`]\?")
EXPECTED = re.compile(r"\bexpected ([^;\n]+)")
OPTION = re.compile(r"^--?([\w-]+)|^(\w+) (?:'[^']*'|[^\s:]+):")
"""Option, or argument before its value."""
IN_FILE = re.compile(r"^['`]?([^\s'`:]+\.\w+)['`]?(?:, line |:)(\d+)")
KEY = re.compile(r"""^\s*(?:--set\s+)?([\w.$"' -]+?)\s*=""")
TOO_LARGE = "File too large"


def problem(kind: str, message: str, places: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return a problem as JSON values."""
    return {"kind": kind, "message": message.strip("\n"), "places": places or []}


def of_error(error: BaseException) -> dict[str, Any] | None:
    """Return the problem that an exception reports; None for a defect of the program."""
    message = told(error)
    if isinstance(error, MemoryError):
        return problem(LIMIT, "the memory limit of the server (`--memory`) is too small for this call")
    if (isinstance(error, OSError) and error.errno == errno.EFBIG) or TOO_LARGE in message:
        return problem(LIMIT, "the disk limit of the server (`--disk`) is too small for this call")
    outside = isinstance(error, Outside) or REASON in message
    if isinstance(error, _core.ScenarioError):
        return problem(OUTSIDE if outside else INPUT, message, of_scenario(message))
    if isinstance(error, InputError):
        return problem(OUTSIDE if outside else INPUT, message, [of_message(message)])
    return problem(OUTSIDE if outside else FAILED, message) if isinstance(error, RunFailed | OSError) else None


def of_scenario(message: str) -> list[dict[str, Any]]:
    """Return the places in the message of a ``ScenarioError``: file, line, column, key, expected and nearest name."""
    found = []
    for text in f"\n{message}".split(f"\n{MARK}")[1:]:
        place, label, remedy = PLACE.search(text), LABEL.search(text), HELP.search(text)
        line = place[2] if place else ""
        source = next((shown for number, shown in SOURCE.findall(text) if number == line), "")
        key = KEY.match(source)
        helped = " ".join(remedy[1].split()) if remedy else ""
        near = NEAREST.search(helped)
        told_line = " ".join(part.strip(" │") for part in text.partition("╭─")[0].splitlines()).strip()
        found.append(
            {
                "problem": told_line,
                "file": place[1] if place else None,
                "line": int(line) if place else None,
                "column": int(place[3]) if place else None,
                "key": key[1].strip("\"' ") if key else None,
                "expected": label[1] if label else None,
                "nearest": near[1] if near else None,
                "help": helped or None,
            }
        )
    return found


def of_message(message: str) -> dict[str, Any]:
    """Return the place in another message: the option, or file and line, expected and nearest name."""
    option, file = OPTION.match(message), IN_FILE.match(message)
    expected, near = EXPECTED.search(message), NEAREST.search(message)
    return {
        "problem": message,
        "file": file[1] if file else None,
        "line": int(file[2]) if file else None,
        "column": None,
        "key": (option[1] or option[2]) if option else None,
        "expected": expected[1] if expected else None,
        "nearest": near[1] if near else None,
        "help": None,
    }
