"""Compiled simulator: scenarios, runs and observations.

Names ending in ``_s`` are float seconds, names ending in ``_ps`` integer picoseconds. Sizes are in bytes, rates in bits
per second. A run depends only on scenario, seed and version.
"""

import os
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

__all__ = [
    "Ack",
    "Cancel",
    "Cancelled",
    "CongestionControl",
    "Delivery",
    "Dumbbell",
    "Emulation",
    "FlowState",
    "Graph",
    "LiveRun",
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
    "store_run",
    "version",
    "write_parquet",
    "write_pcapng",
]

class ScenarioError(ValueError):
    """Invalid scenario file or override.

    ``str(error)`` is the complete message, possibly on several lines: file, line, caret, expectation, nearest name.
    """

class Cancelled(Exception):  # noqa: N818 - named after the event
    """Interruption of a run by :class:`Cancel`; there is no result."""

@final
class Cancel:
    """Shared flag that stops runs; each run checks it every few thousand events and reports its progress."""

    def __new__(cls) -> Cancel: ...
    def cancel(self) -> None:
        """Stop every run with this flag by :class:`Cancelled`."""

    @property
    def is_set(self) -> bool:
        """Whether the flag is set."""

    @property
    def simulated_s(self) -> float:
        """Total simulated time of the runs, in s; time shared by branches counts once."""

@final
class Scenario:
    """Parsed and checked scenario, immutable."""

    @property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of :meth:`resolved` without title and defaults."""

    @property
    def axes(self) -> list[tuple[str, list[str]]]:
        """Axes of ``[sweep]`` in file order: key path and values as written, without overridden keys."""

    @property
    def warnings(self) -> list[tuple[str, str, str]]:
        """Warnings about probable mistakes that the file does not silence: (name, message, place)."""

    def silences(self, name: str) -> bool:
        """Whether the file silences warnings with this name."""

    @staticmethod
    def load(path: str, overrides: list[tuple[str, str]] = ...) -> Scenario:
        """Read a scenario file.

        ``overrides`` are pairs of key path and value as written, such as ``("parameters.backbone", "20 Mbps")``. Raises
        :class:`ScenarioError`.
        """

    @staticmethod
    def parse(text: str, name: str, overrides: list[tuple[str, str]] = ...) -> Scenario:
        """Read a scenario from text; ``name`` is the file name in messages. Raises :class:`ScenarioError`."""

    def override(self, settings: list[tuple[str, str]]) -> Scenario:
        """Return the scenario with other settings, as in :meth:`load`; an overridden axis of ``[sweep]`` is removed.

        Raises :class:`ScenarioError`.
        """

    def settings(self) -> list[tuple[str, str]]:
        """Return key paths and values as written, without title and sweep."""

    def to_toml(self) -> str:
        """Return the scenario as TOML; file names in it are relative to the original file."""

    def summary(self) -> dict[str, Any]:
        """Return a summary of the scenario.

        ``title``, ``nodes``, ``links``, ``flows`` (numbers), ``groups`` (names), ``stop_s``, ``observe`` (names),
        ``parameters`` (name to text).
        """

    def spare(self) -> list[dict[str, Any]]:
        """Return the spare capacity of each ``[[protection]]`` entry and flow group.

        Each entry has ``protection`` (index of its first backup path), ``flows`` (empty for links under routers),
        ``scheme``, ``capacity`` and ``rate_bps`` (slowest protected path).

        ``working_links`` and ``spare_links`` are the numbers of link directions that backup paths bypass and use.
        ``working_bps`` is the sum of the bypassed rates. ``spare_bps`` is the capacity that backup paths need, summed
        over their links; for reserved ones, the circuit rates.
        """

    def coverage(self) -> dict[str, int] | None:
        """Return the coverage of fast reroute; None without ``[routing]``.

        Router-destination pairs are counted in ``pairs`` and ``protectable`` (connected after failure of the first
        link). ``protected`` counts those with a backup, ``node_protected`` those whose backup also avoids the next
        router, and ``tunnels`` the tunnels. Used link directions are counted in ``links`` and ``links_protected`` (for
        all destinations).
        """

    def written_routes(self) -> dict[str, list[tuple[int, list[str]]]]:
        """Return the routes of flows under explicit forwarding tables: by flow, (time in ps, nodes) of each change."""

    def hashed(self, seed: int) -> dict[str, Any] | None:
        """Return the ECMP choices of the run with this seed before failures; None unless ``[routing]`` has ``ecmp``.

        ``ways``: by flow or source, ``path`` (nodes), ``ports``, and ``acks`` (ports of its ACKs); of randomly drawn
        flows, each route counts as one. ``spread``: (router, destination, [(port, flows), ...]) for routers with
        several next hops that flows traverse.
        """

    def backups(self) -> list[dict[str, Any]]:
        """Return the route and backup of each router and destination; empty without ``[routing]``.

        Each entry has ``router``, ``destination``, ``cost`` (shortest path) and ``next`` (ports to the next routers;
        several with ECMP). ``mechanism`` is the type of the backup (``ecmp``: next hops protect each other). ``backup``
        lists the ports up to ``end``, the node where ordinary forwarding continues. ``protects`` is "link" or "node".
        Without a backup, these are None and ``backup`` is empty.
        """

    def resolved(self) -> str:
        """Return canonical JSON with all defaults filled in."""

    def run(
        self,
        seed: int,
        *,
        digest: bool = False,
        engine: str = "fast",
        threads: int = 1,
        cancel: Cancel | None = None,
    ) -> Run:
        """Run the scenario once, without the GIL. Raises :class:`Cancelled`.

        ``digest`` also computes ``records_sha256``. Results do not depend on ``threads``. ``engine`` is ``fast``,
        ``reference`` or ``calendar`` (``fast`` without windows).
        """

@final
class FlowState:
    """State of a TCP connection at one time."""

    @property
    def state(self) -> str:
        """Stage: "waiting" before the first segment, "active", "finished" or "aborted"."""

    @property
    def phase(self) -> str:
        """Phase: "slow-start", "avoidance", "recovery" (fast recovery) or "loss" (after an RTO)."""

    @property
    def cwnd_bytes(self) -> float:
        """Congestion window, including the inflation of fast recovery."""

    @property
    def ssthresh_bytes(self) -> float:
        """Slow-start threshold, infinite before the first reduction."""

    @property
    def srtt_s(self) -> float:
        """Smoothed RTT; NaN before the first sample."""

    @property
    def rto_s(self) -> float:
        """RTO, including backoff."""

    @property
    def flight(self) -> int:
        """Number of unacknowledged segments."""

    @property
    def delivered_bytes(self) -> int:
        """In-order data at the receiver."""

    @property
    def sent(self) -> int:
        """Number of segments sent, including retransmissions."""

    @property
    def retransmissions(self) -> int:
        """Number of retransmitted segments."""

    @property
    def rtos(self) -> int:
        """Number of RTOs that fired."""

@disjoint_base
class CongestionControl:
    """State of a connection, which hooks read and change."""

    def __new__(cls, *_arguments: object, **_named: object) -> Self: ...
    @property
    def now_ps(self) -> int:
        """Current time in ps."""

    @property
    def srtt_ps(self) -> int | None:
        """Smoothed RTT in ps, once measured."""

    @property
    def mss(self) -> float:
        """Maximum segment size in bytes."""

    @property
    def cwnd(self) -> float:
        """Congestion window in bytes."""

    @cwnd.setter
    def cwnd(self, value: float) -> None: ...
    @property
    def ssthresh(self) -> float:
        """Slow-start threshold in bytes; infinite until the first loss by default."""

    @ssthresh.setter
    def ssthresh(self, value: float) -> None: ...
    @property
    def pacing_rate(self) -> float | None:
        """Pacing rate in bytes per second; ``None`` for 2 or 1.2 windows per RTT."""

    @pacing_rate.setter
    def pacing_rate(self, value: float | None) -> None: ...
    @property
    def own(self) -> list[float]:
        """Values of compiled hooks, shape (32,)."""

    @own.setter
    def own(self, value: list[float]) -> None: ...

@final
class Ack:
    """ACK of new data outside recovery. Counts are in segments."""

    @property
    def acked(self) -> int:
        """Newly acknowledged segments."""

    @property
    def delivered(self) -> int:
        """Newly reported segments, cumulatively or by SACK."""

    @property
    def marked(self) -> int:
        """Newly reported segments that were marked."""

    @property
    def counted(self) -> float:
        """Segments that count for congestion avoidance, after slow start."""

    @property
    def rtt_ps(self) -> int | None:
        """RTT sample in ps, if any."""

    @property
    def una(self) -> int:
        """Number of the first unacknowledged segment."""

    @property
    def next(self) -> int:
        """Number of the next new segment."""

    @property
    def limited(self) -> bool:
        """Whether the window limits sending, so that it may grow."""

@final
class Delivery:
    """Delivery reported by any ACK. Counts are in segments."""

    @property
    def delivered(self) -> int:
        """Newly delivered segments."""

    @property
    def lost(self) -> int:
        """Segments newly detected as lost."""

    @property
    def prior_in_flight(self) -> int:
        """Segments in flight before the ACK."""

    @property
    def in_flight(self) -> int:
        """Segments in flight after the ACK."""

    @property
    def rtt_ps(self) -> int | None:
        """Latest RTT sample in ps, if any."""

    @property
    def rate(self) -> float | None:
        """Delivery rate in bytes per second, if sampled."""

    @property
    def prior_delivered(self) -> int:
        """Segments delivered before the interval of the rate; -1 without a sample."""

    @property
    def total_delivered(self) -> int:
        """Segments delivered on this connection."""

    @property
    def app_limited(self) -> bool:
        """Whether something other than the network limited the rate."""

    @property
    def recovery(self) -> int:
        """0 without a recovery, 1 during a recovery, 2 after an RTO."""

@final
@final
class Emulation:
    """Run with real packets, in real time. Linux only.

    The TCP flows between the given nodes do not start. They carry real packets in both directions instead.
    """

    def __new__(cls, scenario: Scenario, seed: int, nodes: list[str], *, waiting: bool = False) -> Emulation:
        """Prepare a run. With ``waiting``, time passes only while all programs of the machine wait.

        Raises :class:`optcp.InputError` if a flow between the nodes cannot carry real packets.
        """

    def flows(self) -> list[dict[str, Any]]:
        """Return the flows: ``name``, ``group``, ``tcp``, ``from``, ``to``, ``start_ps``, ``bytes`` and ``mtu``."""

    def run(
        self,
        taps: list[tuple[str, list[str], int]],
        cancel: Cancel,
        *,
        capture: str | os.PathLike[str] | None = None,
    ) -> tuple[Run, dict[str, Any]]:
        """Execute the run, once.

        Each tap is a node, its addresses, and the descriptor of an attached TUN device, non-blocking, which the run
        closes. The run ends within 20 ms after ``cancel`` is set, with a result. ``capture`` is a file in pcapng format
        to write. Other threads may use the interpreter meanwhile.

        Returns the result and ``ended_s``, ``packets`` and ``refused`` (packets that left the simulation), and their
        lateness ``median_s``, ``p999_s`` and ``max_s``.

        Raises :class:`optcp.InputError` if a packet is for a node to which no flow leads, and :class:`OSError` if a
        device cannot be read or written.
        """

class LiveRun:
    """Run in progress. Each method raises :class:`optcp.InputError` after the end of the run."""

    @staticmethod
    def start(scenario: Scenario, seed: int, *, digest: bool = False, engine: str = "fast") -> LiveRun:
        """Return a run at time zero; the arguments are the same as for :meth:`Scenario.run`."""

    @property
    def now_ps(self) -> int:
        """Current time, before which everything has been simulated."""

    @property
    def stop_ps(self) -> int:
        """Last simulated time."""

    def advance(self, until_ps: int) -> None:
        """Simulate everything before a time, without the GIL; a signal ends the run with its exception."""

    def fork(self) -> LiveRun:
        """Return an independent copy."""

    def change(self, scenario: Scenario) -> int | None:
        """Continue as a run of another scenario.

        Returns the time up to which both are equal if the run is past it; the run is unchanged then.
        """

    def finish(self) -> Run:
        """Simulate the rest, without the GIL, and end the run."""

    def close(self) -> None:
        """End the run without a result, if it has not ended."""

    def advance_until(
        self,
        until_ps: int,
        *,
        completed: int | None = None,
        dropped: int | None = None,
        rto: int | None = None,
        queue: tuple[int, int] | None = None,
    ) -> tuple[str, int] | None:
        """Advance until a condition holds; flows and ports are numbers.

        Returns the name of the condition and the time of its event in ps, or None at ``until_ps``.
        """

    def flow_names(self) -> tuple[list[str], list[str]]:
        """Return names and groups of the TCP connections, by number."""

    def flow(self, number: int) -> FlowState:
        """Return the state of a TCP connection."""

    def path(self, number: int, acks: bool) -> list[int]:
        """Return the numbers of the ports that data or ACKs of a TCP connection would visit now."""

    def set_cwnd(self, number: int, cwnd_bytes: float) -> None:
        """Set cwnd and ssthresh of a TCP connection."""

    def flows(self) -> dict[str, NDArray[Any] | tuple[NDArray[np.uint32], list[str]]]:
        """Return the attributes of :class:`FlowState` of all TCP connections, as columns."""

    def failed(self) -> list[tuple[str, int, int | None]]:
        """Return port, time in ps and repair in ps of each failure of the run, in order of time."""

    def port_names(self) -> list[str]:
        """Return the names of the ports, by number."""

    def ports(self, ports: list[int]) -> dict[str, NDArray[Any]]:
        """Return the states of ports as columns, in this order."""

@final
class Run:
    """Result of one run."""

    @property
    def seed(self) -> int:
        """Seed of the run."""

    @property
    def scenario_sha256(self) -> str:
        """Digest of the scenario."""

    @property
    def records_sha256(self) -> str | None:
        """Digest of all simulated events; None without ``digest=True``."""

    @property
    def metrics_sha256(self) -> str:
        """Digest of all reduced values."""

    @property
    def counts(self) -> dict[str, int]:
        """Counts ``sent``, ``delivered``, ``dropped``, ``in_flight`` (data and ACKs), ``packet_hops``, ``events``."""

    @property
    def waiting(self) -> str:
        """Number of logical processes at the end of the run, or the reason why one event queue was used."""

    @property
    def forked_at_s(self) -> float | None:
        """Time up to which the run was shared with other branches, or None."""

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Failed ports in order of time, each with ``port``, ``at_ps`` and ``repair_ps`` (None: never)."""

    def table(self, name: str) -> tuple[dict[str, str], dict[str, NDArray[Any] | tuple[NDArray[Any], list[str]]]]:
        """Return the metadata and columns of a table: a standard table or an observation.

        Numbers and truth values are arrays; a column of texts is (codes uint32[n], distinct texts). Observations with
        an interval have one row per interval of each group, port or fibre. Their columns are ``time_ps`` (end of the
        interval; the last one ends with the run), ``group``, ``port`` or ``fibre``, and the values. Their metadata has
        ``optcp.interval_ps``. Raises :class:`KeyError`.
        """

@final
class Dumbbell:
    """Benchmark workload: greedy flows over a dumbbell with 10 Mb/s of bottleneck per flow.

    ``tcp`` is ``newreno``, ``sack``, ``linux-6`` or ``bbr``. The constructor performs the set-up. Raises ValueError for
    another name, and for zero flows or seconds.
    """

    def __new__(cls, tcp: str, flows: int, seconds: int, engine: str = "fast", threads: int = 1) -> Dumbbell: ...
    def run(self) -> tuple[int, float, int]:
        """Run it once; return packet-hops, data utilisation of the bottleneck in the second half (0 to 1), events."""

@final
class Graph:
    """Graph of numbered nodes, and links (node, node, cost) with the same cost in both directions.

    The constructor and all methods raise ValueError for a node that does not exist.
    """

    def __new__(cls, nodes: int, links: list[tuple[int, int, int]]) -> Graph: ...
    def bridges(self) -> list[bool]:
        """Return for each link whether it is a bridge."""

    def paths(self, pairs: list[tuple[int, int]]) -> list[list[int]]:
        """Return the nodes of the path of minimum cost for each pair, including both ends; empty without a path."""

    def pair_hops(self, pairs: list[tuple[int, int]]) -> list[list[int]]:
        """Return the hops of the two paths of minimum total cost that share only bridges, for each pair.

        The shorter path comes first, and bridges count only there. Both are 0 without a path.
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
    """Run each branch with the same seed; return the runs in order. ``engine`` is ``fast`` or ``reference``.

    With ``fork``, branches whose scenarios agree up to a time share the simulation up to there; results are equal.
    Releases the GIL. Raises :class:`Cancelled`.
    """

def arrow_stream(columns: dict[str, Any]) -> object:
    """Return columns of equal length as an Arrow stream in a PyCapsule.

    Columns are arrays of uint64, uint32, bool or float64, lists of texts, or (codes uint32[n], distinct texts), which
    become dictionaries. Raises :class:`TypeError` for other columns and :class:`ValueError` for different lengths.
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
    """Perform runs of a study and write their tables below ``root``, part by part, without the GIL.

    ``axes`` are column names. ``cells`` has, per parameter combination, its id, its values (numbers in SI units or
    texts) and its scenario. ``todo`` lists, in the order of runs, seeds with the indices of their combinations; it
    alone determines which runs share a part. Returns path and content of the manifests, or of all files without
    ``root``.

    Raises :class:`Cancelled`, :class:`OSError` for a file that cannot be written, and :class:`ValueError` for an
    invalid index. Completed parts stay.
    """

def read_tables(
    files: list[tuple[str, str]], columns: list[str] | None = None
) -> tuple[dict[str, str], dict[str, NDArray[Any] | tuple[NDArray[Any], list[str]]]]:
    """Read and concatenate files of one table, each given by path and SHA-256, in the form of :meth:`Run.table`.

    Raises :class:`ValueError` ("path: problem") for a changed file.
    """

def check_files(files: list[tuple[str, str]]) -> tuple[int, str] | None:
    """Check files, each given by path and SHA-256; return index and problem of the first changed one, or None."""

def metrics() -> list[dict[str, Any]]:
    """Return all metrics of the table ``scalars``, in the order of tables.

    Keys: ``name``, ``unit``, ``of`` (label with one value each), ``bounds`` (minimum and maximum possible value) and
    ``summary``. ``absent`` is the condition without a value, ``unfinished`` the treatment of unfinished flows.
    ``measured`` tells whether the metric covers only the period of ``[measure]``.
    """

def columns() -> set[str]:
    """Return the names of all columns of tables, without axes."""

def product_limit(seconds: NDArray[np.float64], ended: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the weight of each duration under the product-limit estimator of Kaplan and Meier (1958).

    Censored durations have weight zero. The weight missing to 1 belongs to durations above the maximum.
    """

def hurst(counts: NDArray[np.float64]) -> dict[str, float] | None:
    """Estimate the Hurst parameter of counts per slot; return None for fewer than 512 slots or constant counts.

    ``local_whittle`` is Robinson's estimate of 1995 over the n^0.65 lowest frequencies, and ``standard_error`` its
    asymptotic error. ``aggregated_variance`` is the estimate from the slope of a variance-time plot.
    """

def store_run(
    axes: list[str], cell: tuple[str, list[float | str], Scenario], run: Run, root: str | os.PathLike[str]
) -> str:
    """Write the tables of one run below ``root``, as :func:`run_block` does, and return the path of the manifest.

    Raises :class:`OSError` if a file cannot be written.
    """

def write_parquet(columns: dict[str, NDArray[Any] | list[str]], metadata: dict[str, str]) -> bytes:
    """Return a Parquet file with the columns of :func:`arrow_stream`.

    Raises :class:`TypeError` for other columns and :class:`ValueError` for different lengths.
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
    """Return a pcapng capture of IPv4 headers followed by TCP or UDP headers, without payloads.

    ``hosts`` are addresses with names. ``connections`` are address and port of sender and receiver and whether they use
    UDP. Each has the negotiated options: MSS, window in bytes, window scaling, SACK, and whether SYNs announce SACK.
    ``sacks`` are blocks of bytes. ``frames`` has columns of equal length n in time order:

    - ``time_ps`` uint64;
    - ``interface``, ``connection``, ``sack`` and ``comment`` uint32: indices of these lists (2^32 - 1: none);
    - ``backward`` bool: towards the sender; ``opens`` bool: a SYN;
    - ``number`` uint32: the first byte, or the next expected byte of backward packets;
    - ``payload_bytes`` uint16;
    - ``marking`` uint8: the ECN field of IP in the two lowest bits, then ECE, CWR and AE;
    - ``stamp`` and ``echo`` uint32, if ``stamped`` bool.

    Raises :class:`ValueError` for an invalid index or a packet of more than 65535 bytes, and :class:`TypeError` for
    columns of other types.
    """

def great_circle_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the distance of two (longitude, latitude) places in km, on a sphere of the mean radius of the earth."""

def quantity(text: str) -> tuple[float, str] | None:
    """Return amount and unit of a text: "s", "bit/s", "B", "packets" or "" (plain number); None for other texts."""

def schema() -> str:
    """Return the JSON Schema of scenario files as text."""

def catalogue() -> list[dict[str, str]]:
    """Return all registered policies, profiles, metrics and units: ``family``, ``name``, ``summary``, ``source``."""

def profiles() -> list[dict[str, Any]]:
    """Return all TCP profiles: ``name``, ``summary``, ``source`` and ``choices``.

    A choice is (key, value as in a scenario, reason). ``rfc`` comes first with all choices; other profiles list their
    differences from ``rfc``.
    """

def conformance(text: str) -> tuple[str, list[str]]:
    """Run single-flow conformance cases.

    ``text`` is a JSON object whose ``scenarios`` lists the cases. The results are JSON by case: ``completion_ack_s`` or
    null, ``retransmissions``, ``timeouts``, and ``sequence`` of [seconds, segment]. A case that needs an unsupported
    feature has no result, but a sentence in the second value. Raises :class:`ScenarioError` for text of another form.
    Releases the GIL.
    """

def packetdrill(text: str, tolerance_us: int | None = None) -> dict[str, Any]:
    """Run a packetdrill script.

    The tolerance of times is ``tolerance_us`` microseconds. The default is the script's own tolerance, or 4000. Returns
    ``result``: "ok"; "failed" with ``line``, ``at_s``, ``expected`` and ``happened``; or "refused" with ``line`` and
    ``reason``. Releases the GIL.
    """

def version() -> str:
    """Return the version; an optional part after ``+`` names the git commit."""
