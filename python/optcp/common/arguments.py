"""Conversion and checks of arguments of public functions.

A converter takes a value and its name, and returns the value in the required type. Otherwise it raises an error with
the name, the expectation and the value. NumPy scalars are accepted; truth values are not numbers.
"""

from __future__ import annotations

import contextlib
import math
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

T = TypeVar("T")

MOST_SHOWN = 60
"""Maximum number of characters of a value in a message."""
MOST_BYTES = 255
"""Maximum length of a file name, in bytes."""


def shown(value: object) -> str:
    """Return a value for a message, on one line and shortened."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # Python prints no integer of more than 4300 digits
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def refused(value: object, name: str, expected: str) -> InputError:
    """Return the error for an argument of another kind."""
    return InputError(f"{name}: expected {expected}, got {shown(value)}")


def one_of(value: object, kinds: type[T] | tuple[type[T], ...], name: str, expected: str) -> T:
    """Return a value that is an instance of a class."""
    if isinstance(value, kinds):
        return value
    raise refused(value, name, expected)


def whole(value: object, name: str, least: int | None = None, most: int | None = None) -> int:
    """Return a whole number within optional bounds."""
    bounds = "" if least is None else f" of {least} or more" if most is None else f" from {least} to {most}"
    expected = f"a whole number{bounds}"
    if isinstance(value, (bool, np.bool_, np.ndarray)):
        raise refused(value, name, expected)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise refused(value, name, expected) from None
    if (least is not None and number < least) or (most is not None and number > most):
        raise refused(number, name, expected)
    return number


def number(value: object, name: str, expected: str = "a number") -> float:
    """Return a finite number as float."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        try:
            found = float(value)
        except OverflowError:
            raise refused(value, name, expected) from None
        if math.isfinite(found):
            return found
    raise refused(value, name, expected)


def between(value: object, name: str, low: float, high: float) -> float:
    """Return a number between two exclusive bounds."""
    expected = f"a number between {low:g} and {high:g}"
    found = number(value, name, expected)
    if not low < found < high:
        raise refused(value, name, expected)
    return found


def flag(value: object, name: str) -> bool:
    """Return a truth value."""
    return bool(one_of(value, (bool, np.bool_), name, "True or False"))


def text(value: object, name: str) -> str:
    """Return a text of valid Unicode."""
    found = one_of(value, str, name, "a text")
    if not found.isascii():
        try:
            found.encode()
        except UnicodeEncodeError:
            raise refused(value, name, "Unicode text") from None
    return found


def choice(value: object, name: str, known: Sequence[str]) -> str:
    """Return one of some known words."""
    word = text(value, name)
    if word not in known:
        raise InputError(f"unknown {name} {shown(word)}; {nearest(word, known)}")
    return word


def several(value: object, name: str, expected: str = "a list") -> list[Any]:
    """Return the items of an iterable other than a text or mapping."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        with contextlib.suppress(TypeError):  # an array of no dimension
            return list(value)
    raise refused(value, name, expected)


def wholes(value: object, name: str) -> tuple[int, ...]:
    """Return a tuple of whole numbers."""
    # Fast path for the seeds of arithmetic results.
    if type(value) is tuple and set(map(type, value)) <= {int}:
        return value
    return tuple(whole(one, name) for one in several(value, name, "a list of whole numbers"))


def texts(value: object, name: str) -> list[str]:
    """Return a list of texts."""
    return [text(one, name) for one in several(value, name, "a list of texts")]


def mapping(value: object, name: str, expected: str = "a mapping") -> Mapping[Any, Any]:
    """Return a mapping."""
    return one_of(value, Mapping, name, expected)


def function(value: Callable[..., T], name: str) -> Callable[..., T]:
    """Return a function."""
    if not callable(value):
        raise refused(value, name, "a function")
    return value


def path(value: object, name: str) -> Path:
    """Return a path from a text or an object of :mod:`pathlib`."""
    found: object = value
    if isinstance(value, os.PathLike):
        found = os.fspath(value)
    if isinstance(found, str) and found and "\0" not in found:
        with contextlib.suppress(UnicodeEncodeError):
            if max(map(len, os.fsencode(found).split(b"/"))) <= MOST_BYTES:
                return Path(found)
    raise refused(value, name, "a path")


def shaped(value: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an array of numbers with this shape."""
    array = values(value, name)
    if array.shape != shape:
        raise InputError(f"{name}: expected an array of shape {shape}, got {array.shape}")
    return array


def values(value: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return an array of numbers."""
    try:
        found = np.asarray(value)
        if found.dtype.kind in "biufO" and value is not None:
            return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise refused(value, name, "an array of numbers")
