"""Registry of papers: papers of installed packages and of ``--papers DIR``.

A paper is a package with ``EXHIBITS`` and ``claims.toml`` (its statements); if it publishes values, it also has
``tables.toml`` and ``tolerances.toml``. An installed package registers a paper with an entry point in the group
``optcp.papers``. The entry point has the name of the paper and refers to its package.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from optcp.common.installed import PAPERS, offered
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from optcp.papers.exhibit import Exhibit

NONE = "no papers are installed: `pip install 'optcp[papers]'` installs OpTCP's own, and --papers DIR adds others"

_added: dict[str, ModuleType] = {}


@functools.cache
def papers() -> dict[str, ModuleType]:
    """The package of each paper by name.

    Raises
    ------
    InputError
        If a paper cannot be imported, or two have the same name.
    """
    found: dict[str, ModuleType] = {}
    for name, point in offered(PAPERS).items():
        try:
            module = point.load()
        except Exception as error:  # code of a paper can raise anything
            raise InputError(f"the paper {name!r} of {point.value} cannot be imported: {error}") from error
        _place(found, name, module)
    for name, module in _added.items():
        _place(found, name, module)
    return found


def names() -> list[str]:
    """Names of all papers, without importing them."""
    return [*offered(PAPERS), *_added]


def _place(found: dict[str, ModuleType], name: str, module: ModuleType) -> None:
    if name in found:
        raise InputError(f"two papers are named {name!r}")
    listed = getattr(module, "EXHIBITS", None)
    if not listed:
        raise InputError(f"the paper {name!r} has no EXHIBITS, a tuple of optcp.papers.exhibit.Exhibit")
    for exhibit in listed:
        if exhibit.id.partition("/")[0] != name:
            raise InputError(f"the paper {name!r} has an exhibit {exhibit.id!r}; expected {name}/...")
    found[name] = module


def add(directory: Path) -> None:
    """Register the paper in a directory, or all papers in its subdirectories.

    Raises
    ------
    InputError
        If there is no paper, or one cannot be imported.
    """
    folders = [directory] if (directory / "__init__.py").is_file() else sorted(directory.glob("*/"))
    inits = [folder / "__init__.py" for folder in folders if (folder / "__init__.py").is_file()]
    if not inits:
        raise InputError(f"--papers {directory}: no paper here; a paper is a folder with an __init__.py")
    for init in inits:
        name = init.parent.resolve().name
        spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(init.parent)])
        if spec is None or spec.loader is None or not name.isidentifier():
            raise InputError(f"--papers {directory}: {name!r} cannot be the name of a package")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # code of a paper can raise anything
            del sys.modules[name]
            raise InputError(
                f"--papers {directory}: {init} cannot be imported: {type(error).__name__}: {error}"
            ) from error
        _added[name] = module
    papers.cache_clear()
    papers()


def folder(paper: str) -> Path:
    """Directory of the files of a paper."""
    return Path(str(papers()[paper].__file__)).parent


def exhibits() -> dict[str, Exhibit]:
    """All exhibits by id, in the order of papers and of their lists.

    Raises
    ------
    InputError
        If two exhibits have the same id.
    """
    found: dict[str, Exhibit] = {}
    for paper in papers().values():
        for one in paper.EXHIBITS:
            if one.id in found:
                raise InputError(f"two exhibits are named {one.id!r}")
            found[one.id] = one
    return found


def select(names: Sequence[str]) -> list[Exhibit]:
    """Select exhibits by id. The name of a paper selects all of its exhibits; no names select all exhibits.

    Raises
    ------
    InputError
        If a name is unknown.
    """
    known = exhibits()
    if not known:
        raise InputError(NONE)
    chosen: dict[str, Exhibit] = {}
    for name in names or papers():
        found = {name: known[name]} if name in known else {}
        if name in papers():
            found = {id_: one for id_, one in known.items() if id_.startswith(f"{name}/")}
        if not found:
            raise InputError(f"unknown experiment {name!r}; {nearest(name, [*known, *papers()])}")
        chosen |= found
    return list(chosen.values())
