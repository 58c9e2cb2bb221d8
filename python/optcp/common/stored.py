"""Stored results: sealed when they are written; what is wrong with a file is said in the file's own terms."""

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
"""Whole numbers are below it on both sides of zero: seeds are, and columns of tables hold no more."""


CHANGED = "changed since it was written: its checksum does not fit"
SEAL = re.compile(r',\n "sha256": "([0-9a-f]{64})"\n}\n\Z')
"""The last key of a sealed file: the checksum of the text as it is without this key."""


def sha256(content: bytes | memoryview) -> str:
    """The checksum of a file's content."""
    return hashlib.sha256(content).hexdigest()


def with_checksum(text: str) -> str:
    """Add its checksum to the text of a JSON object of several lines: :func:`load` wants one."""
    body = text.removesuffix("\n}\n")
    return f'{body},\n "sha256": "{sha256(text.encode())}"\n}}\n'


def load(path: Path, parse: Callable[[str], T], away: str = "it", *, seal: bool = True) -> T:
    """Read a file whose text ``parse`` understands; ``away`` is what to delete where it does not.

    With ``seal`` it must be as :func:`with_checksum` made it.

    Raises
    ------
    Damaged
        If it is not, or ``parse`` does not understand it, which it says by a ValueError.
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
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(data, dict):
        raise ValueError("a JSON object with keys is expected")
    return data


def need(data: Mapping[str, Any], names: Iterable[str], place: str = "") -> None:
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
    """Make a dataclass of the keys of a JSON object, each value of the type that its field says.

    Fields may be Any, None, bool, int, float, str, a Literal, a union, ``list[T]``, a tuple, ``dict[str, V]``, a
    dataclass or a TypedDict. A TypedDict may have further keys.

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


def typed(hint: Any, value: Any, place: str) -> Any:  # noqa: ANN401, PLR0911 - any type; one return a kind of it
    """Make sure that a value out of JSON is of a type; what stands for a tuple or a dataclass becomes one.

    Raises
    ------
    ValueError
        If it is not.
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
    """Make sure that a JSON object is as a TypedDict says; it may have further keys, and stays as it is.

    Raises
    ------
    ValueError
        If a key is missing, or a value is of another type.
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
    # JSON knows no infinity, Python's reader does.
    if not fits or (isinstance(value, float) and not math.isfinite(value)):
        raise _no(PLAIN[kind], place)
    return value


def _any(value: Any, place: str) -> Any:  # noqa: ANN401
    """Anything that JSON can say."""
    for name, entry in value.items() if isinstance(value, dict) else ():
        _any(entry, f"{place}.{name}")
    for index, entry in enumerate(value) if isinstance(value, list) else ():
        _any(entry, f"{place}[{index}]")
    return value if isinstance(value, dict | list) else _plain(type(value), value, place)


def _literal(known: tuple[Any, ...], value: object, place: str) -> object:
    # 1 is True to Python, not to JSON.
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
    # Of a value that may be left out, what is wrong with the value says more than that it is not left out.
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
