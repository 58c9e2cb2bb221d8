"""Reading stored results back: what is wrong with a file is said in the file's own terms."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeVar

from optcp.errors import RunFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

T = TypeVar("T")


def load(path: Path, parse: Callable[[str], T], away: str = "it") -> T:
    """Read a file whose text ``parse`` understands; ``away`` is what to delete where it does not.

    Raises
    ------
    RunFailed
        If it does not, which ``parse`` says by a ValueError.
    """
    try:
        return parse(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise RunFailed(f"{path}: not JSON (byte {error.start + 1}); delete {away} and run again") from error
    except ValueError as error:
        raise RunFailed(f"{path}: {error}; delete {away} and run again") from error


def table(text: str) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    ValueError
        If the text is none.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON (line {error.lineno}, column {error.colno})") from error
    if not isinstance(data, dict):
        raise ValueError("a JSON object with keys is expected")
    return data


def need(data: dict[str, Any], names: Iterable[str], place: str = "") -> None:
    """Make sure that keys are there.

    Raises
    ------
    ValueError
        If one is missing.
    """
    for name in names:
        if name not in data:
            raise ValueError(f"the key `{place}{name}` is missing")


def one(cls: type[T], data: dict[str, Any], place: str = "") -> T:
    """Make a dataclass of the keys of a JSON object.

    Raises
    ------
    ValueError
        If a key is missing or unknown.
    """
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    need(data, (name for name, field in known.items() if field.default is field.default_factory is MISSING), place)
    for name in data:
        if name not in known:
            raise ValueError(f"the key `{place}{name}` is unknown")
    return cls(**data)


def several(cls: type[T], data: dict[str, Any], name: str) -> list[T]:
    """Make a dataclass of each JSON object in the list of this name.

    Raises
    ------
    ValueError
        If the list or a key is missing, or something else is in its place.
    """
    need(data, [name])
    listed = data[name]
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise ValueError(f"`{name}` is no list of objects")
    return [one(cls, entry, f"{name}[{index}].") for index, entry in enumerate(listed)]
