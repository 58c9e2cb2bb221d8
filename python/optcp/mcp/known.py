"""Stored studies below the directory of the server, found by every name that an answer gave them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from optcp.errors import InputError, RunFailed, closest
from optcp.mcp.fence import Outside, inside
from optcp.mcp.numbers import SHORT, Digests
from optcp.mcp.scenarios import SUFFIX, title_of
from optcp.study.done import StudyResult
from optcp.study.form import IDENTITY
from optcp.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEEPEST = 4
"""Maximum number of folders above the file of a study, so that a search ends soon."""
DIGEST = re.compile(rf"[0-9a-f]{{8,{SHORT}}}|[0-9a-f]{{64}}")
MOST_NAMED = 10
"""Maximum number of studies in a message."""


def find(name: str) -> Path:
    """Return the directory of the stored study that a name stands for.

    Parameters
    ----------
    name
        Directory of the study, its last part, or a path in it. Or title, digest or scenario of the study, or digest of
        a run.

    Raises
    ------
    InputError
        If no study or several studies have the name; the message has the nearest names.
    """
    if found := _by_path(name):
        return found
    titles = dict(_studies())
    ways = (
        [one for one in titles if one.name == Path(name).name],
        [one for one, title in titles.items() if title == name],
        _by_digest(name, titles),
        [one for one, title in titles.items() if title in (title_of(name), title_of(f"{name}{SUFFIX}"))],
    )
    for same in ways:
        if len(same) == 1:
            return same[0]
        if same:
            raise InputError(f"directory {name!r}: several studies have this name; {_listed(same, titles)}")
    known = {str(one): str(one) for one in titles}
    known |= {one.name: str(one) for one in titles} | {title: str(one) for one, title in titles.items()}
    close = closest(name, known)
    near = f"did you mean {known[close]!r}? " if close else ""
    more = _listed(titles, titles) if titles else "tools `run` and `outage` create studies"
    raise InputError(f"directory {name!r}: no such study; {near}{more}")


def _by_path(name: str) -> Path | None:
    """Return the study of a path that leads to it or into it."""
    try:
        path = inside(name, "directory")
    except Outside:
        raise
    except InputError:  # no path, but it may be a title
        return None
    return next((one for one in (path, *path.parents) if one.name and (one / IDENTITY).is_file()), None)


def _studies() -> Iterator[tuple[Path, str]]:
    """Yield the directories of all stored studies with their titles."""
    folders = [Path()]
    while folders:
        folder = folders.pop(0)
        for one in sorted(folder.iterdir()):
            if one.is_symlink() or not one.is_dir() or one.name.startswith("."):
                continue
            if not (one / IDENTITY).is_file():
                folders += [one] if len(one.parts) < DEEPEST else []
                continue
            try:
                yield one, str(Store(one).read_identity()["title"])
            except (InputError, RunFailed):  # damaged, or of another version
                continue


def _by_digest(name: str, titles: Mapping[Path, str]) -> list[Path]:
    if not DIGEST.fullmatch(name):
        return []
    found = []
    for one in titles:
        digests = Digests(StudyResult.open(one))
        if any(each.startswith(name) for each in (digests.every(), *digests.single())):
            found.append(one)
    return found


def _differences(some: list[Path]) -> dict[Path, str]:
    """Return what distinguishes studies of one title: settings that they do not share."""
    settings = {one: Store(one).read_identity()["settings"] for one in some}
    shared = set.intersection(*({(name, str(value)) for name, value in of.items()} for of in settings.values()))
    return {
        one: ", ".join(f"{name} = {value}" for name, value in of.items() if (name, str(value)) not in shared)
        for one, of in settings.items()
    }


def _listed(some: Mapping[Path, str] | list[Path], titles: Mapping[Path, str]) -> str:
    shown = [*some][:MOST_NAMED]
    alike = len({titles[one] for one in shown}) == 1 and len(shown) > 1
    differing = _differences(shown) if alike else {}
    named = [f"{str(one)!r} ({differing.get(one) or titles[one]})" for one in shown]
    more = f", ... ({len(some)} in all)" if len(some) > MOST_NAMED else ""
    return f"there are: {', '.join(named)}{more}"
