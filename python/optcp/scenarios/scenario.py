"""Worlds: loaded, changed, looked at and run."""

from __future__ import annotations

import functools
import html
import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import _core
from optcp.common import arguments
from optcp.common.plurals import count_noun
from optcp.common.processors import check_threads
from optcp.data.table import PICOSECONDS_A_SECOND, Table
from optcp.errors import InputError
from optcp.scenarios.run import FreshRun
from optcp.scenarios.warned import ScenarioWarning, of_world

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

LAST_SEED = 2**64 - 1
"""Seeds are whole numbers of 64 bits."""

ENGINES = ("fast", "reference")
"""What can drive a run; the first is the default."""


Settings = Mapping[str, Any]
"""Key paths of a scenario, and their values: texts ("10 ms"), numbers, truth values, lists and tables."""

MOST_SETTINGS = 64
"""Levels of lists and tables in a value; no scenario has as many."""

WIDEST_BITS = 64
"""Of integers in a scenario."""

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def check_seed(seed: object) -> int:
    """Return a seed that the simulator can take.

    Raises
    ------
    InputError
        If it is no whole number, below zero or beyond the last one.
    """
    found = arguments.whole(seed, "seed")
    if found < 0:
        raise InputError(f"seed {arguments.shown(found)}: the smallest seed is 0")
    if found > LAST_SEED:
        raise InputError(f"seed {arguments.shown(found)}: the largest seed is {LAST_SEED} (2^64 - 1)")
    return found


def load(path: str | Path) -> Scenario:
    """Read a scenario.

    Parameters
    ----------
    path
        Its file, or the name of a shipped one (``optcp list scenarios``).

    Raises
    ------
    InputError
        If there is neither; the message names the nearest.
    ScenarioError
        If it is wrong; the message is that of ``optcp validate``.

    Examples
    --------
    >>> load("single-failure")
    One link fails, is protected, repaired and reverted to: 10 nodes, 10 links, 3 flows (protected, cross), 10 s
    """
    from optcp.scenarios.shipped import find

    return Scenario(_core.Scenario.load(str(find(str(arguments.path(path, "path"))))))


@dataclass(frozen=True, repr=False)
class Scenario:
    """One checked world, immutable: network, flows, failures, protection, and what to observe.

    :func:`load`, :meth:`parse` and :meth:`from_dict` make one.

    Parameters
    ----------
    core
        The world.
    """

    core: _core.Scenario

    def __post_init__(self) -> None:
        arguments.one_of(self.core, _core.Scenario, "core", "a scenario of optcp._core; load() and parse() make one")

    @classmethod
    def parse(cls, text: str, name: str = "scenario.toml") -> Scenario:
        """Read a scenario from the text of a file.

        Parameters
        ----------
        text
            TOML.
        name
            Stands for the file in messages; files that the text names are looked for beside it.

        Raises
        ------
        InputError
            If it is no text.
        ScenarioError
            If it is wrong.
        """
        return cls(_core.Scenario.parse(arguments.text(text, "text"), arguments.text(name, "name")))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], name: str = "scenario.toml") -> Scenario:
        """Make a scenario of what a file would say, as tables, lists, texts and numbers.

        Raises
        ------
        InputError
            If a value is none that TOML has.
        ScenarioError
            If it is wrong; the message shows it as TOML.
        """
        tables = arguments.mapping(content, "content", "a mapping of sections, as a scenario file has them")
        lines = [f"{_key(arguments.text(key, 'key'))} = {_toml(value)}\n" for key, value in tables.items()]
        return cls.parse("".join(lines), name)

    def set(self, key: str | Mapping[str, Any], value: object = None) -> Scenario:
        """Return the world with another value, or several.

        Parameters
        ----------
        key
            A key path such as ``parameters.rate`` or ``links.0.delay``, or a mapping of key paths to values.
        value
            As ``--set`` takes it ("10 ms"), or a number, truth value or list. An axis of ``[sweep]`` with this key is
            none any more.

        Raises
        ------
        InputError
            If a key is no text, or a value is none that TOML has.
        ScenarioError
            If there is no such key, or no such world.

        Examples
        --------
        >>> world = load("single-failure")
        >>> world.set("stop", "9 s").stop_s, world.stop_s
        (9.0, 10.0)
        """
        settings = key if isinstance(key, Mapping) else {arguments.text(key, "key"): value}
        return Scenario(self.core.override(written(settings)))

    def run(self, seed: int = 1, *, digest: bool = False, engine: str = "fast", threads: int = 1) -> FreshRun:
        """Run it once. Other threads go on meanwhile; Ctrl-C ends it.

        Parameters
        ----------
        seed
            Of all random draws, 0 to 2^64 - 1.
        digest
            Whether ``records_sha256`` is wanted, which takes longer.
        engine
            "fast" or "reference"; results are equal.
        threads
            Of this one run, 1 to the number of processors; 16 at most count. Results are equal, but for ``events``.
            More than one pays for a large world whose parts are milliseconds apart; beside other runs it does not.

        Raises
        ------
        InputError
            If there is no such seed or engine, not so many processors, or more threads than the engine can have.
        """
        seed, digest = check_seed(seed), arguments.flag(digest, "digest")
        engine = arguments.choice(engine, "engine", ENGINES)
        threads = arguments.whole(threads, "threads")
        check_threads(threads, engine)
        cancel = _core.Cancel()
        # Ctrl-C reaches the main thread of a process only while that one waits.
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(self.core.run, seed, digest=digest, engine=engine, threads=threads, cancel=cancel)
            try:
                return FreshRun(self, found.result())
            except KeyboardInterrupt:
                cancel.cancel()
                raise

    @functools.cached_property
    def resolved(self) -> dict[str, Any]:
        """The world with every default filled in."""
        found: dict[str, Any] = json.loads(self.core.resolved())
        return found

    @functools.cached_property
    def _summary(self) -> dict[str, Any]:
        return self.core.summary()

    @property
    def sha256(self) -> str:
        """What tells worlds apart: SHA-256 of the canonical form."""
        return self.core.sha256

    @property
    def title(self) -> str:
        """What the file says that it is about."""
        return str(self._summary["title"])

    @property
    def stop_s(self) -> float:
        """When a run ends, in seconds."""
        return float(self._summary["stop_s"])

    @property
    def observe(self) -> tuple[str, ...]:
        """The names of the observations."""
        return tuple(self._summary["observe"])

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters as written."""
        return dict(self._summary["parameters"])

    @property
    def axes(self) -> dict[str, tuple[str, ...]]:
        """The axes of ``[sweep]``: key path to values as written."""
        return {name: tuple(values) for name, values in self.core.axes}

    @property
    def warnings(self) -> tuple[ScenarioWarning, ...]:
        """What is possible and hardly meant, each with a name by which ``silence`` in the file leaves it out.

        Examples
        --------
        >>> [one.name for one in load("single-failure").set("links.0.delay", "4 s").warnings]
        ['long-delay', 'shallow-queue', 'short-run']
        """
        return of_world(self.core)

    @property
    def links(self) -> Table:
        """A row a direction of each link.

        ``port`` ("A->B"), ``from``, ``to``, ``rate_bps``, ``delay_s`` (NaN where it is drawn), and ``queue`` in
        ``queue_unit``, infinite where it is unlimited.
        """
        rows = []
        for link in self.resolved["links"]:
            a, b = link["ends"]
            for ends, way in (((a, b), link["forward"]), ((b, a), link["reverse"])):
                unit = "bytes" if "queue_bytes" in way else "packets"
                limit = way[f"queue_{unit}"]
                queue = np.inf if limit is None else float(limit)
                # A run draws what is a distribution here.
                delay_s = np.nan if isinstance(way["delay_ps"], dict) else way["delay_ps"] / PICOSECONDS_A_SECOND
                rows.append((link["name"], *ends, float(way["rate_bps"]), delay_s, queue, unit))
        return _table(("link", "from", "to", "rate_bps", "delay_s", "queue", "queue_unit"), rows)

    @property
    def flows(self) -> Table:
        """A row a flow that starts with the run: ``flow``, ``group``, ``tcp``, and ``path``, empty if it is routed."""
        rows = [
            (flow, group["group"], group.get("tcp", ""), " ".join(route.get("path", ())))
            for group in self.resolved["flows"]
            for route in group.get("routes", ())
            for flow in route["flows"]
        ]
        return _table(("flow", "group", "tcp", "path"), rows)

    def to_toml(self) -> str:
        """The scenario as a file; files that it names are looked for from where it was read."""
        return self.core.to_toml()

    def __repr__(self) -> str:
        summary = self._summary
        groups = ", ".join(summary["groups"])
        text = (
            f"{self.title}: {count_noun(summary['nodes'], 'node')}, {count_noun(summary['links'], 'link')}, "
            f"{count_noun(summary['flows'], 'flow')} ({groups}), "
            f"{self.stop_s:g} s"
        )
        return text + "".join(f"; {name}: {', '.join(values)}" for name, values in self.axes.items())

    def _repr_html_(self) -> str:
        from optcp.plots import network

        return f"<p>{html.escape(repr(self))}</p>{network.of_core(self.core)}"


def as_written(value: object) -> str:
    """A value as ``--set`` takes it."""
    return arguments.text(value, "value") if isinstance(value, str) else _toml(value)


def written(settings: Settings) -> list[tuple[str, str]]:
    """Settings as the compiled simulator takes them, and ``--set``."""
    return [(arguments.text(key, "key"), as_written(value)) for key, value in settings.items()]


def _toml(value: object, depth: int = 0) -> str:
    """A value as TOML, in one line."""
    if depth > MOST_SETTINGS:
        raise InputError(f"a value of a scenario has at most {MOST_SETTINGS} levels of lists and tables")
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(str(key))} = {_toml(one, depth + 1)}' for key, one in value.items())} }}"
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(_toml(one, depth + 1) for one in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= WIDEST_BITS):
        return str(value)
    if isinstance(value, str):
        return json.dumps(arguments.text(value, "value"), ensure_ascii=False).replace("\x7f", "\\u007f")
    raise InputError(
        f"{arguments.shown(value)} is no value of a scenario: "
        "expected a text, a number, true or false, a list or a table"
    )


def _key(name: str) -> str:
    """A key of a table, without quotes where TOML needs none."""
    return name if BARE_KEY.fullmatch(name) else _toml(name)


def _table(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Table:
    columns: dict[str, NDArray[Any] | tuple[NDArray[Any], list[str]]] = {}
    for place, name in enumerate(names):
        values = [row[place] for row in rows]
        if all(isinstance(value, str) for value in values):
            distinct = list(dict.fromkeys(values))
            codes = {text: code for code, text in enumerate(distinct)}
            columns[name] = (np.array([codes[value] for value in values], dtype=np.uint32), distinct)
        else:
            columns[name] = np.array(values)
    return Table(columns)
