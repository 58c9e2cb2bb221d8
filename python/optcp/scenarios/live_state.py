"""State of a live run: flows, paths and ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common import arguments
from optcp.data.table import PICOSECONDS_A_SECOND, Table
from optcp.errors import InputError, nearest
from optcp.scenarios import readings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optcp import _core


class LiveState:
    """State of a live run at its current time.

    Parameters
    ----------
    core
        Run of the compiled simulator.
    """

    def __init__(self, core: _core.LiveRun) -> None:
        self._core = core
        self._name()

    def _name(self) -> None:
        names, groups = self._core.flow_names()
        self._flows = {name: number for number, name in enumerate(names)}
        self._ports = {name: number for number, name in enumerate(self._core.port_names())}
        distinct = list(dict.fromkeys(groups))
        codes = np.array([distinct.index(group) for group in groups], dtype=np.uint32)
        self._groups = codes, distinct

    @property
    def now_ps(self) -> int:
        """Current time in ps: everything before it has been simulated."""
        return self._core.now_ps

    @property
    def now(self) -> float:
        """Current time in s; :attr:`now_ps` is exact."""
        return self.now_ps / PICOSECONDS_A_SECOND

    def flow(self, name: str) -> _core.FlowState:
        """Return the state of a flow: attributes with the names of the columns of :attr:`flows`.

        Raises
        ------
        InputError
            If there is no such TCP flow; the message names the nearest.
        """
        return self._core.flow(self._flow(name))

    def path(self, flow: str, *, acks: bool = False) -> list[str]:
        """Return the ports that packets of a flow would visit if the network did not change from now on.

        The path ignores failures that have not been detected. It ends early at a node without a route, and at a virtual
        output queue that no path serves. A bundle stands for the first link that it may choose.

        Parameters
        ----------
        flow
            Name of the flow.
        acks
            Whether to return the path of the ACKs instead.

        Raises
        ------
        InputError
            If there is no such TCP flow; the message names the nearest.
        """
        names = list(self._ports)
        return [names[number] for number in self._core.path(self._flow(flow), arguments.flag(acks, "acks"))]

    @property
    def flows(self) -> Table:
        """State of each TCP flow now.

        Columns: ``time_ps``, ``flow``, ``group``, ``state`` ("waiting", "active", "finished" or "aborted") and
        ``phase``. Windows are as in observations of the kind ``tcp``: ``cwnd_bytes``, ``ssthresh_bytes`` and ``flight``
        (segments).
        ``srtt_s`` (NaN before a sample) and ``rto_s`` are timers. ``delivered_bytes`` (in order at the receiver),
        ``sent``, ``retransmissions`` (segments) and ``rtos`` count from the start of the run.
        """
        names = list(self._flows)
        own = {"flow": (np.arange(len(names), dtype=np.uint32), names), "group": self._groups}
        return self._table({**own, **self._core.flows()}, len(names))

    @property
    def ports(self) -> Table:
        """State of each port now.

        Columns: ``time_ps``, ``port``, ``up`` and ``rate_bps``. ``queue_packets`` and ``queue_bytes`` include the
        packet in transmission. ``accepted``, ``accepted_bytes``, ``dropped``, ``dropped_bytes`` (at the port or on the
        link) and ``marked`` count from the start of the run.
        """
        return self._read_ports(list(self._ports))

    def port(self, name: str) -> dict[str, Any]:
        """Return the row of one port in :attr:`ports`.

        Raises
        ------
        InputError
            If there is no such port; the message names the nearest.
        """
        self._port(name)
        return next(iter(self._read_ports([name])))

    def utilisation(self, since: Table) -> NDArray[np.float64]:
        """Return the utilisation of each port since an earlier reading of :attr:`ports`, shape (ports,).

        Bytes that left the queue, divided by the current rate and the time; NaN if no time has passed.

        Raises
        ------
        InputError
            If the table is no reading of the ports of this run, or a later one.
        """
        return readings.utilisation(self.ports, since)

    def goodput(self, since: Table) -> NDArray[np.float64]:
        """Return the goodput of each flow since an earlier reading of :attr:`flows`, in bit/s, shape (flows,).

        In-order data at the receiver, divided by the time; NaN if no time has passed. Flows that were added since have
        zero before.

        Raises
        ------
        InputError
            If the table is no reading of the flows of this run, or a later one.
        """
        return readings.goodput(self.flows, since)

    def _flow(self, name: str) -> int:
        number = self._flows.get(arguments.text(name, "flow"))
        if number is None:
            raise InputError(f"there is no TCP flow {arguments.shown(name)}; {nearest(name, self._flows)}")
        return number

    def _port(self, name: str) -> int:
        number = self._ports.get(arguments.text(name, "port"))
        if number is None:
            raise InputError(f"there is no port {arguments.shown(name)}; {nearest(name, self._ports)}")
        return number

    def _read_ports(self, names: list[str]) -> Table:
        own = {"port": (np.arange(len(names), dtype=np.uint32), names)}
        return self._table({**own, **self._core.ports([self._ports[name] for name in names])}, len(names))

    def _table(self, columns: dict[str, Any], rows: int) -> Table:
        return Table({"time_ps": np.full(rows, self.now_ps, dtype=np.uint64), **columns})
