"""Scenarios: loading, changing, inspecting and running."""

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

    from optcp.scenarios.live import LiveRun

LAST_SEED = 2**64 - 1
"""Maximum seed."""

ENGINES = ("fast", "reference")
"""Simulation engines; the first is the default."""


Settings = Mapping[str, Any]
"""Values by key path: texts ("10 ms"), numbers, truth values, lists and tables."""

MOST_SETTINGS = 64
"""Maximum nesting depth of lists and tables in a value."""

WIDEST_BITS = 64
"""Maximum width of integers in a scenario, in bits."""

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def check_seed(seed: object) -> int:
    """Return the seed as an integer from 0 to ``LAST_SEED``.

    Raises
    ------
    InputError
        If it is not a whole number in this range.
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
        Scenario file, or name of a shipped scenario (``optcp list scenarios``).

    Raises
    ------
    InputError
        If it does not exist; the message names the nearest.
    ScenarioError
        If it is invalid; the message is the same as from ``optcp validate``.

    Examples
    --------
    >>> load("single-failure")
    One link fails, is protected, repaired and reverted to: 10 nodes, 10 links, 3 flows (protected, cross), 10 s
    """
    from optcp.scenarios.shipped import find

    return Scenario(_core.Scenario.load(str(find(str(arguments.path(path, "path"))))))


@dataclass(frozen=True, repr=False)
class Scenario:
    """Checked, immutable scenario: network, flows, failures, protection and observations.

    Use :func:`load`, :meth:`parse` or :meth:`from_dict` to create one.

    Parameters
    ----------
    core
        Scenario of the compiled simulator.
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
            Scenario as TOML.
        name
            File name in messages; files that the text names are searched next to it.

        Raises
        ------
        InputError
            If ``text`` is not a text.
        ScenarioError
            If the scenario is invalid.
        """
        return cls(_core.Scenario.parse(arguments.text(text, "text"), arguments.text(name, "name")))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], name: str = "scenario.toml") -> Scenario:
        """Create a scenario from tables, lists, texts and numbers, structured as a scenario file.

        Raises
        ------
        InputError
            If TOML cannot represent a value.
        ScenarioError
            If the scenario is invalid; the message shows it as TOML.
        """
        tables = arguments.mapping(content, "content", "a mapping of sections, as a scenario file has them")
        lines = [f"{_key(arguments.text(key, 'key'))} = {_toml(value)}\n" for key, value in tables.items()]
        return cls.parse("".join(lines), name)

    def set(self, key: str | Mapping[str, Any], value: object = None) -> Scenario:
        """Return the scenario with one or several values changed.

        Parameters
        ----------
        key
            Key path such as ``parameters.rate`` or ``links.0.delay``, or mapping of key paths to values.
        value
            Text as for ``--set`` ("10 ms"), number, truth value or list. An axis of ``[sweep]`` with this key is
            removed.

        Raises
        ------
        InputError
            If a key is not a text, or TOML cannot represent a value.
        ScenarioError
            If a key does not exist, or the changed scenario is invalid.

        Examples
        --------
        >>> world = load("single-failure")
        >>> world.set("stop", "9 s").stop_s, world.stop_s
        (9.0, 10.0)
        """
        settings = key if isinstance(key, Mapping) else {arguments.text(key, "key"): value}
        return Scenario(self.core.override(written(settings)))

    def run(self, seed: int = 1, *, digest: bool = False, engine: str = "fast", threads: int = 1) -> FreshRun:
        """Run the scenario once.

        Other Python threads continue during the run. Ctrl-C stops it.

        Parameters
        ----------
        seed
            Seed of all random draws, 0 to 2^64 - 1.
        digest
            Whether to compute ``records_sha256``, which takes longer.
        engine
            "fast" or "reference"; results are equal.
        threads
            Number of threads of this run, from 1 to the number of processors; at most 16 are used. Results are equal
            except for ``events``. More than one helps for large networks whose parts are milliseconds apart, but not
            next to other runs.

        Raises
        ------
        InputError
            If the seed, engine or number of threads is invalid.
        """
        seed, digest = check_seed(seed), arguments.flag(digest, "digest")
        engine = arguments.choice(engine, "engine", ENGINES)
        threads = arguments.whole(threads, "threads")
        check_threads(threads, engine)
        cancel = _core.Cancel()
        # Python handles Ctrl-C in the main thread, which must therefore wait here.
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(self.core.run, seed, digest=digest, engine=engine, threads=threads, cancel=cancel)
            try:
                return FreshRun(self, found.result())
            except KeyboardInterrupt:
                cancel.cancel()
                raise

    def start(self, seed: int = 1, *, digest: bool = False, engine: str = "fast") -> LiveRun:
        """Return a run at time zero, to advance, fork and change.

        Parameters
        ----------
        seed, digest, engine
            As for :meth:`run`.

        Raises
        ------
        InputError
            If the seed or engine is invalid.
        """
        from optcp.scenarios.live import LiveRun

        seed, digest = check_seed(seed), arguments.flag(digest, "digest")
        engine = arguments.choice(engine, "engine", ENGINES)
        return LiveRun(self, _core.LiveRun.start(self.core, seed, digest=digest, engine=engine))

    @functools.cached_property
    def resolved(self) -> dict[str, Any]:
        """Scenario with all defaults filled in."""
        found: dict[str, Any] = json.loads(self.core.resolved())
        return found

    @functools.cached_property
    def _summary(self) -> dict[str, Any]:
        return self.core.summary()

    @property
    def sha256(self) -> str:
        """SHA-256 of the canonical form; equal for equal scenarios."""
        return self.core.sha256

    @property
    def title(self) -> str:
        """Title of the scenario."""
        return str(self._summary["title"])

    @property
    def stop_s(self) -> float:
        """End of a run, in s."""
        return float(self._summary["stop_s"])

    @property
    def observe(self) -> tuple[str, ...]:
        """Names of the observations."""
        return tuple(self._summary["observe"])

    @property
    def parameters(self) -> dict[str, str]:
        """Parameters as written."""
        return dict(self._summary["parameters"])

    @property
    def axes(self) -> dict[str, tuple[str, ...]]:
        """Swept parameters: key path to values as written."""
        return {name: tuple(values) for name, values in self.core.axes}

    @property
    def warnings(self) -> tuple[ScenarioWarning, ...]:
        """Warnings about probable mistakes; ``silence`` in the file suppresses them by name.

        Examples
        --------
        >>> [one.name for one in load("single-failure").set("links.0.delay", "4 s").warnings]
        ['long-delay', 'shallow-queue', 'short-run']
        """
        return of_world(self.core)

    @property
    def links(self) -> Table:
        """Links, one row per direction.

        Columns: ``link``, ``from``, ``to``, ``rate_bps``, ``delay_s`` (NaN if random), ``queue`` (limit, infinite if
        unlimited) and ``queue_unit``.
        """
        rows = []
        for link in self.resolved["links"]:
            a, b = link["ends"]
            for ends, direction in (((a, b), link["forward"]), ((b, a), link["reverse"])):
                unit = "bytes" if "queue_bytes" in direction else "packets"
                limit = direction[f"queue_{unit}"]
                queue = np.inf if limit is None else float(limit)
                # A delay that is a distribution is drawn by each run.
                delay_ps = direction["delay_ps"]
                delay_s = np.nan if isinstance(delay_ps, dict) else delay_ps / PICOSECONDS_A_SECOND
                rows.append((link["name"], *ends, float(direction["rate_bps"]), delay_s, queue, unit))
        return _table(("link", "from", "to", "rate_bps", "delay_s", "queue", "queue_unit"), rows)

    @property
    def flows(self) -> Table:
        """Configured flows, one row each: ``flow``, ``group``, ``tcp`` and ``path`` (empty if routed)."""
        rows = [
            (flow, group["group"], group.get("tcp", ""), " ".join(route.get("path", ())))
            for group in self.resolved["flows"]
            for route in group.get("routes", ())
            for flow in route["flows"]
        ]
        return _table(("flow", "group", "tcp", "path"), rows)

    def to_toml(self) -> str:
        """Return the scenario as TOML; file names in it are relative to the original file."""
        return self.core.to_toml()

    def __deepcopy__(self, memo: dict[int, Any]) -> Scenario:
        """Return itself, because a scenario is immutable."""
        return self

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
    """Return a value as text for ``--set``."""
    return arguments.text(value, "value") if isinstance(value, str) else _toml(value)


def written(settings: Settings) -> list[tuple[str, str]]:
    """Return settings as (key, text) pairs for the compiled simulator."""
    return [(arguments.text(key, "key"), as_written(value)) for key, value in settings.items()]


def _toml(value: object, depth: int = 0) -> str:
    """Return a value as TOML on one line."""
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
        f"{arguments.shown(value)} is not a value of a scenario: "
        "expected a text, a number, true or false, a list or a table"
    )


def _key(name: str) -> str:
    """Return a TOML key, quoted only if necessary."""
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
