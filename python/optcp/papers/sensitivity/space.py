"""The space of an exhibit's unstated parameters, as declared beside its assumptions or as ``--over`` says."""

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
    """One parameter that a study varies, with its range."""

    parameter: Assumed
    plausible: Plausible

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.parameter.name

    @property
    def range(self) -> Range:
        """Its values."""
        return self.plausible.values


@dataclass(frozen=True)
class Space:
    """All parameters that a study varies, independently of each other, in the order of the assumptions."""

    dimensions: tuple[Dimension, ...]

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self.dimensions)

    def __len__(self) -> int:
        return len(self.dimensions)

    @property
    def names(self) -> list[str]:
        """The parameters' names."""
        return [dimension.name for dimension in self]

    def at(self, place: Sequence[float]) -> dict[str, Value]:
        """The setting at a place of the unit cube.

        Parameters
        ----------
        place
            One share of its range a parameter, 0 to 1.
        """
        return {one.name: one.range.at(float(share)) for one, share in zip(self, place, strict=True)}


def space(exhibit: Exhibit, over: Mapping[str, str], settings: Mapping[str, str]) -> Space:
    """The declared ranges of an exhibit, or those that ``--over`` names; what ``--set`` fixes is left out.

    Parameters
    ----------
    over
        Parameter to the text of a range; an empty text stands for the declared range. Empty: all declared ones.
    settings
        ``--set``.

    Raises
    ------
    InputError
        If a name or a range makes no sense, or nothing is left to vary.
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
