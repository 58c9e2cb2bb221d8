"""Space of the unstated parameters of an exhibit, as declared with its assumptions or by ``--over``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optcp.errors import InputError, nearest
from optcp.papers.plausible import Choices, Plausible, Range, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from optcp.papers.assume import Assumed, Value
    from optcp.papers.exhibit import Exhibit

FORMS = "expected LOW..HIGH, 'LOW..HIGH log' or ONE|OTHER|..., for example queue_packets=15..200"
FROM_COMMAND = "given by --over"


@dataclass(frozen=True)
class Dimension:
    """A varied parameter with its range."""

    parameter: Assumed
    plausible: Plausible

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self.parameter.name

    @property
    def range(self) -> Range:
        """Range of the parameter."""
        return self.plausible.values


@dataclass(frozen=True)
class Space:
    """All varied parameters, independent of each other, in the order of the assumptions."""

    dimensions: tuple[Dimension, ...]

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self.dimensions)

    def __len__(self) -> int:
        return len(self.dimensions)

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return [dimension.name for dimension in self]

    def at(self, place: Sequence[float]) -> dict[str, Value]:
        """The setting at a point of the unit cube.

        Parameters
        ----------
        place
            Coordinate of each parameter, 0 to 1.
        """
        return {one.name: one.range.at(float(share)) for one, share in zip(self, place, strict=True)}


def space(exhibit: Exhibit, over: Mapping[str, str], settings: Mapping[str, str]) -> Space:
    """Create the space of an exhibit from declared ranges or ``--over``, without parameters of ``--set``.

    Parameters
    ----------
    over
        Range of each parameter as text; an empty text selects the declared range. If empty, all declared ranges.
    settings
        Values of ``--set``.

    Raises
    ------
    InputError
        If a name or range is invalid, or no parameter is left to vary.
    """
    known = {parameter.name: parameter for parameter in exhibit.assumed}
    for option, names in (("--over", over), ("--set", settings)):
        for name in names:
            if name not in known:
                raise InputError(f"{option} {name}: {exhibit.id} assumes no such parameter; {nearest(name, known)}")
    for name in over:
        if name in settings:
            raise InputError(f"{name} is both fixed by --set and varied by --over")
    declared = {name: one.plausible for name, one in known.items() if one.plausible and name not in settings}
    dimensions = []
    for name, parameter in known.items():
        text = over.get(name)
        if text:
            dimensions.append(Dimension(parameter, Plausible(_range(parameter, text), FROM_COMMAND)))
        elif text is not None and name not in declared:
            raise InputError(f"--over {name}: {exhibit.id} declares no range for it; {FORMS}")
        elif name in declared and (text is not None or not over):
            dimensions.append(Dimension(parameter, declared[name]))
    if not dimensions:
        raise InputError(f"{exhibit.id} declares no plausible ranges; name some with --over")
    return Space(tuple(dimensions))


def _range(parameter: Assumed, text: str) -> Range:
    span = re.fullmatch(r"\s*(\S+?)\s*\.\.\s*(\S+?)(\s+log)?\s*", text)
    parts = [span[1], span[2]] if span else [part.strip() for part in text.split("|")]
    try:
        values = [parameter.read(part) for part in parts]
        if not span:
            return Choices(tuple(values))
        low, high = (float(value) for value in values)
        return Span(low, high, log=span[3] is not None, whole=all(isinstance(value, int) for value in values))
    except ValueError as error:
        raise InputError(f"--over {parameter.name}={text}: {error}; {FORMS}") from error
