"""Stored results with checksums, and checks of their JSON structure with precise messages."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import types
from dataclasses import MISSING, fields, is_dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from optcp.errors import Damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

T = TypeVar("T")

PLAIN = {bool: "truth value", int: "whole number", float: "number", str: "text", type(None): "null"}
MOST = 2**64
"""Exclusive bound of the magnitude of integers, which covers seeds and table columns."""


CHANGED = "changed since it was written: its checksum does not fit"
SEAL = re.compile(r',\n "sha256": "([0-9a-f]{64})"\n}\n\Z')
"""Last key of a file with checksum: the SHA-256 of the text without this key."""


def sha256(content: bytes | memoryview) -> str:
    """Return the SHA-256 of the content of a file."""
    return hashlib.sha256(content).hexdigest()


def with_checksum(text: str) -> str:
    """Return the text of a multi-line JSON object with its checksum, as :func:`load` requires."""
    body = text.removesuffix("\n}\n")
    return f'{body},\n "sha256": "{sha256(text.encode())}"\n}}\n'


def load(path: Path, parse: Callable[[str], T], away: str = "it", *, seal: bool = True) -> T:
    """Read and parse a file; with ``seal`` it needs the checksum of :func:`with_checksum`.

    Parameters
    ----------
    away
        Object to delete, for the error message.

    Raises
    ------
    Damaged
        If the checksum is wrong or ``parse`` raises ValueError.
    """
    try:
        text = path.read_bytes().decode()
        found = SEAL.search(text) if seal else None
        if found:
            text = text[: found.start()] + "\n}\n"
            if sha256(text.encode()) != found[1]:
                raise ValueError(CHANGED)
        content = parse(text)
        if seal and not found:
            raise ValueError("without a checksum, so not written by this version of optcp")
    except UnicodeDecodeError as error:
        raise Damaged(path, f"not JSON (byte {error.start + 1})", away) from error
    except ValueError as error:
        raise Damaged(path, error, away) from error
    return content


def table(text: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises
    ------
    ValueError
        If the text is not a JSON object.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON (line {error.lineno}, column {error.colno})") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(data, dict):
        raise ValueError("a JSON object with keys is expected")
    return data


def need(data: Mapping[str, Any], names: Iterable[str], place: str = "") -> None:
    """Check that keys exist.

    Raises
    ------
    ValueError
        If a key is missing.
    """
    for name in names:
        if name not in data:
            raise ValueError(f"the key `{place}{name}` is missing")


def one(cls: type[T], data: dict[str, Any], place: str = "") -> T:
    """Create a dataclass from a JSON object, with values of the types of the fields.

    Fields can be Any, None, bool, int, float, str, a Literal, a union, ``list[T]``, a tuple, ``dict[str, V]``, a
    dataclass or a TypedDict. A TypedDict can have further keys.

    Raises
    ------
    ValueError
        If a key is missing or unknown, or a value is of another type.
    """
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    need(data, (name for name, field in known.items() if field.default is field.default_factory is MISSING), place)
    for name in data:
        if name not in known:
            raise ValueError(f"the key `{place}{name}` is unknown")
    hints = _hints(cls)  # type: ignore[arg-type]
    return cls(**{name: typed(hints[name], value, f"{place}{name}") for name, value in data.items()})


def typed(hint: Any, value: Any, place: str) -> Any:  # noqa: ANN401, PLR0911 - any type, one return per kind
    """Check the type of a JSON value, and convert it to a tuple or dataclass if required.

    Raises
    ------
    ValueError
        If the type is wrong.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return _any(value, place)
    if hint in PLAIN or hint is None:
        return _plain(hint or type(None), value, place)
    if origin is Literal:
        return _literal(arguments, value, place)
    if origin in (Union, types.UnionType):
        return _union(arguments, value, place)
    if origin is NotRequired:
        return typed(arguments[0], value, place)
    if origin is list:
        return [typed(arguments[0], entry, f"{place}[{index}]") for index, entry in enumerate(_list(value, place))]
    if origin is tuple:
        return _tuple(arguments, value, place)
    if not isinstance(value, dict):
        raise _no("object", place)
    if origin is dict:
        return {name: typed(arguments[1], entry, f"{place}.{name}") for name, entry in value.items()}
    if is_typeddict(hint):
        return shaped(hint, value, f"{place}.")
    if not is_dataclass(hint):
        raise TypeError(f"{place}: values of {hint} are not stored")
    return one(hint, value, f"{place}.")  # type: ignore[arg-type]


def shaped(shape: Any, data: dict[str, Any], place: str = "") -> dict[str, Any]:  # noqa: ANN401 - as typed
    """Check a JSON object against a TypedDict, allowing further keys, and return it unchanged.

    Raises
    ------
    ValueError
        If a key is missing or a value has another type.
    """
    hints = _hints(shape)
    need(data, (name for name, hint in hints.items() if get_origin(hint) is not NotRequired), place)
    for name, hint in hints.items():
        if name in data:
            typed(hint, data[name], f"{place}{name}")
    return data


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def _no(what: str, place: str) -> ValueError:
    return ValueError(f"`{place}` is no {what}")


def _plain(kind: type, value: object, place: str) -> object:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and kind in (int, float) and not -MOST < value < MOST:  # type: ignore[operator]
        raise ValueError(f"`{place}` is too large")
    fits = type(value) is kind or (kind is float and whole)
    # JSON has no infinity, but Python's parser accepts it.
    if not fits or (isinstance(value, float) and not math.isfinite(value)):
        raise _no(PLAIN[kind], place)
    return value


def _any(value: Any, place: str) -> Any:  # noqa: ANN401
    """Check any JSON value."""
    for name, entry in value.items() if isinstance(value, dict) else ():
        _any(entry, f"{place}.{name}")
    for index, entry in enumerate(value) if isinstance(value, list) else ():
        _any(entry, f"{place}[{index}]")
    return value if isinstance(value, dict | list) else _plain(type(value), value, place)


def _literal(known: tuple[Any, ...], value: object, place: str) -> object:
    # 1 == True in Python, but not in JSON.
    if not any(type(value) is type(one) and value == one for one in known):
        raise ValueError(f"`{place}` is none of {', '.join(json.dumps(one) for one in known)}")
    return value


def _union(members: tuple[Any, ...], value: object, place: str) -> object:
    said = []
    for member in members:
        try:
            return typed(member, value, place)
        except ValueError as error:
            said.append((member, error))
    if all(member in PLAIN for member in members):
        raise _no(" or ".join(PLAIN[member] for member in members), place)
    # For an optional value, report the error of the value, not that it could be omitted.
    raise next(error for member, error in said if member is not type(None))


def _list(value: object, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise _no("list", place)
    return value


def _tuple(parts: tuple[Any, ...], value: object, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) != len(parts):
        raise _no(f"list of {len(parts)}", place)
    return tuple(
        typed(part, entry, f"{place}[{index}]") for index, (part, entry) in enumerate(zip(parts, value, strict=True))
    )
