"""Arguments of public functions: each is converted, or refused with a sentence that names it and shows what was given.

Converters take the value and what it is called, and return it in the type that the function works with. NumPy's
scalars count as Python's; truth values are no numbers.
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
"""Characters of a value in a message."""
MOST_BYTES = 255
"""Of a name in a directory."""


def shown(value: object) -> str:
    """A value as messages show it, in one line and cut."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # Python prints no integer of more than 4300 digits
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def refused(value: object, name: str, expected: str) -> InputError:
    """The error of an argument that is something else."""
    return InputError(f"{name}: expected {expected}, got {shown(value)}")


def one_of(value: object, kinds: type[T] | tuple[type[T], ...], name: str, expected: str) -> T:
    """An instance of a class."""
    if isinstance(value, kinds):
        return value
    raise refused(value, name, expected)


def whole(value: object, name: str, least: int | None = None, most: int | None = None) -> int:
    """A whole number, within bounds where they are given."""
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
    """A finite number."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        try:
            found = float(value)
        except OverflowError:
            raise refused(value, name, expected) from None
        if math.isfinite(found):
            return found
    raise refused(value, name, expected)


def between(value: object, name: str, low: float, high: float) -> float:
    """A number above one bound and below another."""
    expected = f"a number between {low:g} and {high:g}"
    found = number(value, name, expected)
    if not low < found < high:
        raise refused(value, name, expected)
    return found


def flag(value: object, name: str) -> bool:
    """A truth value."""
    return bool(one_of(value, (bool, np.bool_), name, "True or False"))


def text(value: object, name: str) -> str:
    """A text of Unicode."""
    found = one_of(value, str, name, "a text")
    if not found.isascii():
        try:
            found.encode()
        except UnicodeEncodeError:
            raise refused(value, name, "Unicode text") from None
    return found


def choice(value: object, name: str, known: Sequence[str]) -> str:
    """One of some words."""
    word = text(value, name)
    if word not in known:
        raise InputError(f"there is no {name} {shown(word)}; {nearest(word, known)}")
    return word


def several(value: object, name: str, expected: str = "a list") -> list[Any]:
    """The items of a list, tuple, array or other iterable; a text or a mapping is none."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        with contextlib.suppress(TypeError):  # an array of no dimension
            return list(value)
    raise refused(value, name, expected)


def wholes(value: object, name: str) -> tuple[int, ...]:
    """Whole numbers."""
    # Results of arithmetic have the seeds of what they are made of.
    if type(value) is tuple and set(map(type, value)) <= {int}:
        return value
    return tuple(whole(one, name) for one in several(value, name, "a list of whole numbers"))


def texts(value: object, name: str) -> list[str]:
    """A list of texts."""
    return [text(one, name) for one in several(value, name, "a list of texts")]


def mapping(value: object, name: str, expected: str = "a mapping") -> Mapping[Any, Any]:
    """A mapping."""
    return one_of(value, Mapping, name, expected)


def function(value: Callable[..., T], name: str) -> Callable[..., T]:
    """A function."""
    if not callable(value):
        raise refused(value, name, "a function")
    return value


def path(value: object, name: str) -> Path:
    """A path, as text or as an object of :mod:`pathlib`."""
    found: object = value
    if isinstance(value, os.PathLike):
        found = os.fspath(value)
    if isinstance(found, str) and found and "\0" not in found:
        with contextlib.suppress(UnicodeEncodeError):
            if max(map(len, os.fsencode(found).split(b"/"))) <= MOST_BYTES:
                return Path(found)
    raise refused(value, name, "a path")


def shaped(value: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """An array of numbers of a shape."""
    array = values(value, name)
    if array.shape != shape:
        raise InputError(f"{name}: expected an array of shape {shape}, got {array.shape}")
    return array


def values(value: ArrayLike, name: str) -> NDArray[np.float64]:
    """An array of numbers."""
    try:
        found = np.asarray(value)
        if found.dtype.kind in "biufO" and value is not None:
            return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise refused(value, name, "an array of numbers")
