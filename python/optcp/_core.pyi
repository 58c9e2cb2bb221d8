"""The compiled simulator: scenarios, runs and what runs observed.

Times are seconds (float) where a name ends in ``_s`` and integer picoseconds where it ends in ``_ps``; sizes are
bytes, rates bits a second. A run depends on (scenario, seed, version) alone.
"""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Cancel",
    "Cancelled",
    "Dumbbell",
    "Graph",
    "Run",
    "Scenario",
    "ScenarioError",
    "arrow_stream",
    "catalogue",
    "check_files",
    "columns",
    "conformance",
    "great_circle_km",
    "hurst",
    "metrics",
    "packetdrill",
    "product_limit",
    "profiles",
    "quantity",
    "read_tables",
    "run_block",
    "run_branches",
    "schema",
    "version",
    "write_parquet",
    "write_pcapng",
]

class ScenarioError(ValueError):
    """A scenario file or an override is wrong.

    ``str(error)`` is the finished message for a person: file, line, caret, what was expected, the nearest valid name.
    It may have several lines.
    """

class Cancelled(Exception):  # noqa: N818 - says what happened
    """A run was interrupted through :class:`Cancel`; it has no result."""

@final
class Cancel:
    """A flag that several runs share; each looks at it every few thousand events, and says how far it is."""

    def __new__(cls) -> Cancel: ...
    def cancel(self) -> None:
        """Ask every run that holds this flag to stop with :class:`Cancelled`."""

    @property
    def is_set(self) -> bool:
        """Whether somebody has asked."""

    @property
    def simulated_s(self) -> float:
        """How much time the runs have simulated together, in seconds; what branches share counts once."""

@final
class Scenario:
    """One parsed and checked world, immutable."""

    @property
    def sha256(self) -> str:
        """SHA-256, in hexadecimal, of the world without its title: of :meth:`resolved` without defaults."""

    @property
    def axes(self) -> list[tuple[str, list[str]]]:
        """The file's ``[sweep]``: key path and values as written, in file order, but for keys that are overridden."""

    @property
    def warnings(self) -> list[tuple[str, str, str]]:
        """What is possible and hardly meant: name, message and place of each, but for those that the file silences."""

    def silences(self, name: str) -> bool:
        """Whether the file silences the warnings of this name."""

    @staticmethod
    def load(path: str, overrides: list[tuple[str, str]] = ...) -> Scenario:
        """Read a scenario file.

        ``overrides`` are pairs of a key path and a value as one would write it, for example
        ``("parameters.backbone", "20 Mbps")``. Raises :class:`ScenarioError`.
        """

    @staticmethod
    def parse(text: str, name: str, overrides: list[tuple[str, str]] = ...) -> Scenario:
        """Read a scenario from text; ``name`` stands for the file in messages. Raises :class:`ScenarioError`."""

    def override(self, settings: list[tuple[str, str]]) -> Scenario:
        """The same world with other settings, as in :meth:`load`; an axis of ``[sweep]`` that is set is none any more.

        Raises :class:`ScenarioError`.
        """

    def settings(self) -> list[tuple[str, str]]:
        """Key paths and values as written, of all that the file says but its title and its sweep."""

    def to_toml(self) -> str:
        """Write the scenario as a file; files that it names are looked for beside the one that it was read from."""

    def summary(self) -> dict[str, Any]:
        """What the world holds.

        ``title``, ``nodes``, ``links``, ``flows`` (numbers), ``groups`` (names), ``stop_s``, ``observe`` (names),
        ``parameters`` (name to text).
        """

    def spare(self) -> list[dict[str, Any]]:
        """What the backups of each ``[[protection]]`` need for a group.

        Each entry has ``protection`` (the place of its first backup), ``flows`` (empty for links under routers),
        ``scheme``, ``capacity``, ``rate_bps`` (of the slowest protected path), ``working_links`` and ``spare_links``
        (directions of links that backups go around, and that they need), ``working_bps`` (sum of the rates of the
        former), and ``spare_bps`` (capacity that backups need, summed over the latter: for reserved ones the rates of
        their circuits).
        """

    def coverage(self) -> dict[str, int] | None:
        """How much fast reroute protects; None without ``[routing]``.

        Numbers of pairs of a router and a destination: ``pairs`` in all, ``protectable`` (another path is left when the
        first link fails), ``protected`` (there is a backup), ``node_protected`` (it avoids the next router too),
        ``tunnels``; and of directions of links that are used: ``links``, ``links_protected`` (for all destinations).
        """

    def written_routes(self) -> dict[str, list[tuple[int, list[str]]]]: ...
    def hashed(self, seed: int) -> dict[str, Any] | None:
        """Which way flows that follow the routing go in the run with a seed before anything fails.

        ``ways``: by flow or source, ``path`` (nodes), ``ports``, and ``acks``, the ports of its ACKs; of flows that are
        drawn or come at random each route counts as one. ``spread``: (router, destination, [(port, flows), ...]) where
        flows come to a router that has several next hops. None unless ``ecmp`` stands in ``[routing]``.
        """

    def backups(self) -> list[dict[str, Any]]:
        """Each router's route and backup for each destination; none without ``[routing]``.

        Each entry has ``router``, ``destination``, ``cost`` (of the shortest path), ``next`` (the ports to the next
        router; several where flows are spread), and of the backup ``mechanism`` (``ecmp``: the
        next hops protect each other), ``backup`` (the ports up to where ordinary forwarding takes over),
        ``end`` (the node where it does) and ``protects`` ("link" or "node"); None, and no ports, if there is none.
        """

    def resolved(self) -> str:
        """Canonical JSON with every default filled in."""

    def run(
        self,
        seed: int,
        *,
        digest: bool = False,
        engine: str = "fast",
        threads: int = 1,
        cancel: Cancel | None = None,
    ) -> Run:
        """One run. ``digest`` also computes ``records_sha256``; results do not depend on ``threads``.

        ``engine`` is ``fast`` or ``reference``, or ``calendar``, which is ``fast`` without windows. Raises
        :class:`Cancelled`. Releases the GIL.
        """

@final
class Run:
    """The result of one run."""

    @property
    def seed(self) -> int:
        """The seed it was run with."""

    @property
    def scenario_sha256(self) -> str:
        """The scenario it was run from."""

    @property
    def records_sha256(self) -> str | None:
        """Digest of all records; None unless asked for with ``digest=True``."""

    @property
    def metrics_sha256(self) -> str:
        """Digest of all reduced values."""

    @property
    def counts(self) -> dict[str, int]:
        """``sent``, ``delivered``, ``dropped``, ``in_flight`` (packets, data and ACKs), ``packet_hops``, ``events``."""

    @property
    def waiting(self) -> str:
        """How packets waited for their turn at the end: in so many logical processes, or in one calendar and why."""

    @property
    def forked_at_s(self) -> float | None:
        """The instant up to which the run shared its warm-up with other branches, or None."""

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Which ports failed, in order of time; each entry has ``port``, ``at_ps``, ``repair_ps`` (None is never)."""

    def table(self, name: str) -> tuple[dict[str, str], dict[str, NDArray[Any] | tuple[NDArray[Any], list[str]]]]:
        """Return the metadata and the columns of a table: one that every study has, or an observation.

        Numbers and truth values are arrays; a column of texts is (codes uint32[n], distinct texts). Observations with
        an interval have one row per interval of each group, port or fibre, in this order: ``time_ps`` (end of the
        interval; the last one ends with the run), ``group``, ``port`` or ``fibre``, and the values. Their metadata has
        ``optcp.interval_ps``. Raises :class:`KeyError`.
        """

@final
class Dumbbell:
    """One run of the benchmark workload: greedy flows over a dumbbell, 10 Mb/s of bottleneck a flow.

    ``tcp`` is ``newreno``, ``sack``, ``linux-6`` or ``bbr``. Making it is the set-up. Raises ValueError for any other,
    and for no flows or no seconds.
    """

    def __new__(cls, tcp: str, flows: int, seconds: int, engine: str = "fast", threads: int = 1) -> Dumbbell: ...
    def run(self) -> tuple[int, float, int]:
        """Run it once: packet-hops, utilisation of the bottleneck by data in the second half (0 to 1), events."""

@final
class Graph:
    """A network: nodes by number, and links, each with its two nodes and what it costs in either direction.

    Raises ValueError, as its methods do, for a node that is not there.
    """

    def __new__(cls, nodes: int, links: list[tuple[int, int, int]]) -> Graph: ...
    def bridges(self) -> list[bool]:
        """Of each link: whether its ends are not joined without it."""

    def paths(self, pairs: list[tuple[int, int]]) -> list[list[int]]:
        """The nodes of the path of least cost from one node to another, both included; empty where there is none."""

    def pair_hops(self, pairs: list[tuple[int, int]]) -> list[list[int]]:
        """How many links the two paths between two nodes have that cost least together and share none but bridges.

        The shorter path is the first; bridges count in it alone. Both are 0 where there is no path.
        """

def run_branches(
    branches: list[Scenario],
    seed: int,
    *,
    fork: bool = True,
    digest: bool = False,
    engine: str = "fast",
    cancel: Cancel | None = None,
) -> list[Run]:
    """One run a branch, all with the same seed, in the order of ``branches``; ``engine`` is ``fast`` or ``reference``.

    Branches whose worlds agree up to an instant share that warm-up when ``fork`` is set; results are equal either
    way. Releases the GIL: call it from several threads. Raises :class:`Cancelled`.
    """

def arrow_stream(columns: dict[str, Any]) -> object:
    """Columns of one length as an Arrow stream, in a capsule of the name that the PyCapsule interface gives it.

    Arrays of uint64, uint32, bool or float64, lists of texts, or texts as (codes uint32[n], distinct texts), which
    become dictionaries. Raises :class:`TypeError` for other columns and :class:`ValueError` for unlike lengths.
    """

def run_block(
    axes: list[str],
    cells: list[tuple[str, list[float | str], Scenario]],
    todo: list[tuple[int, list[int]]],
    root: str | None,
    *,
    fork: bool = True,
    digest: bool = False,
    engine: str = "fast",
    threads: int = 1,
    cancel: Cancel | None = None,
) -> list[tuple[str, bytes]]:
    """Make the runs of a study's cells and seeds, and write their tables below ``root``, part by part, without the GIL.

    ``axes`` are columns, with a value a cell (a number in SI, or a text) in ``cells``: id, values, scenario. ``todo``
    is in the order of the runs: a seed, and the places of its cells; which runs share a part depends on it alone.
    Path and content of the manifests are returned; without ``root`` those of all files, as they are to be written.

    Raises :class:`Cancelled`, :class:`OSError` for a file that cannot be written, and :class:`ValueError` for a place
    without a cell; parts that were written stay.
    """

def read_tables(
    files: list[tuple[str, str]], columns: list[str] | None = None
) -> tuple[dict[str, str], dict[str, NDArray[Any] | tuple[NDArray[Any], list[str]]]]:
    """Read files of one table, each a path and its SHA-256, one after the other, as :meth:`Run.table` does.

    Raises :class:`ValueError` (path, a colon, and what is wrong) for one that is not as it was written.
    """

def check_files(files: list[tuple[str, str]]) -> tuple[int, str] | None:
    """Compare files, each a path and its SHA-256; the place of the first that differs, and what is wrong with it."""

def metrics() -> list[dict[str, Any]]:
    """Every metric of the table ``scalars``, in the order of tables.

    ``name``, ``unit``, ``of`` (of what there is one each), ``bounds`` (the lowest and highest value possible),
    ``summary``, ``absent`` (when a run has no value), ``unfinished`` (how flows count that have not ended with the run)
    and ``measured`` (whether it covers the part of the run that ``[measure]`` names).
    """

def columns() -> set[str]:
    """Names of all columns of tables, without those of axes."""

def product_limit(seconds: NDArray[np.float64], ended: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the share of all that each duration stands for, by the product-limit estimator of Kaplan and Meier (1958).

    A duration that had not ended has none; what is missing to 1 lasts longer than all of them.
    """

def hurst(counts: NDArray[np.float64]) -> dict[str, float] | None:
    """Estimate the Hurst parameter of counts per slot; None for fewer than 512 slots, or counts that are all alike.

    ``local_whittle`` is Robinson's estimate of 1995 over the n^0.65 lowest frequencies, ``standard_error`` its
    asymptotic error, and ``aggregated_variance`` what the slope of a variance-time plot says.
    """

def write_parquet(columns: dict[str, NDArray[Any] | list[str]], metadata: dict[str, str]) -> bytes:
    """Make a Parquet file of columns of one length: those of :func:`arrow_stream`.

    Raises :class:`TypeError` for other columns and :class:`ValueError` for unlike lengths.
    """

def write_pcapng(
    interfaces: list[str],
    hosts: list[tuple[tuple[int, int, int, int], str]],
    connections: list[
        tuple[
            tuple[tuple[int, int, int, int], int, tuple[int, int, int, int], int, bool],
            tuple[int, int, bool, bool, bool],
        ]
    ],
    sacks: list[list[tuple[int, int]]],
    comments: list[str],
    frames: dict[str, NDArray[Any]],
) -> bytes:
    """Make a capture (pcapng) of IPv4 headers with TCP or UDP behind them; payloads are left out.

    ``hosts`` are addresses with their names, ``connections`` address and port of the sender, of the receiver, and
    whether they are UDP, each with what the ends agree on: the MSS option, bytes of the window, whether it is
    scaled, whether ACKs report blocks, and whether SYNs say so. ``sacks`` are blocks of bytes. ``frames`` has
    columns of one length, in the order of time: ``time_ps`` uint64[n]; ``interface``, ``connection``, ``sack`` and
    ``comment`` uint32[n], places in these lists (2^32 - 1: none); ``backward`` bool[n], towards the sender;
    ``opens`` bool[n], a SYN; ``number`` uint32[n], the first byte, or of what goes backward the byte that is
    expected next; ``payload_bytes`` uint16[n]; ``marking`` uint8[n], the codepoint of IP in the two lowest bits,
    then ECE, CWR and AE; ``stamp`` and ``echo`` uint32[n] where ``stamped`` bool[n]. Raises :class:`ValueError` for
    a place that there is not, and for a packet of more than 65535 bytes; :class:`TypeError` for columns of other
    types.
    """

def great_circle_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The distance in km of two places, longitude and latitude in degrees, on a sphere of the earth's mean radius."""

def quantity(text: str) -> tuple[float, str] | None:
    """Read an amount and its unit: "s", "bit/s", "B", "packets" or "" (a plain number); None for other texts."""

def schema() -> str:
    """The JSON Schema of a scenario file, as text."""

def catalogue() -> list[dict[str, str]]:
    """Every registered policy, profile, metric and unit: ``family``, ``name``, ``summary``, ``source``."""

def profiles() -> list[dict[str, Any]]:
    """Every TCP profile: ``name``, ``summary``, ``source`` and ``choices``.

    A choice is (key, value as a scenario would write it, why). ``rfc`` comes first and has all of them; another
    profile has those that differ from ``rfc``.
    """

def conformance(text: str) -> tuple[str, list[str]]:
    """Run single-flow conformance cases.

    ``text`` is JSON: an object whose ``scenarios`` lists the cases. Returns the results as JSON, an object by case
    (``completion_ack_s`` or null, ``retransmissions``, ``timeouts``, ``sequence`` of [seconds, segment]), and a
    sentence for each case that asks for something that is not there; such a case has no result. Raises
    :class:`ScenarioError` where the text is not of the form. Releases the GIL.
    """

def packetdrill(text: str, tolerance_us: int | None = None) -> dict[str, Any]:
    """Run a packetdrill script.

    Times may be off by ``tolerance_us`` microseconds; by default by what the script says, else by 4000. Returns
    ``result``: "ok"; "failed" with ``line``, ``at_s``, ``expected`` and ``happened``; or "refused" with ``line`` and
    ``reason``. Releases the GIL.
    """

def version() -> str:
    """The version; the part after ``+``, where there is one, names the git commit it was built from."""
