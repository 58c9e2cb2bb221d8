"""Rates between two readings of the state of a live run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optcp.common import arguments
from optcp.data.table import Table
from optcp.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def utilisation(now: Table, since: Table) -> NDArray[np.float64]:
    """Return the utilisation of each port between two readings of ``LiveRun.ports``, shape (ports,).

    Raises
    ------
    InputError
        If ``since`` is no reading of the same ports, or a later one.
    """
    then = _earlier(now, since, "ports", {"accepted_bytes", "queue_bytes"})
    if len(then) != len(now):
        raise _refused(since, "ports")

    def left(table: Table) -> NDArray[Any]:
        left: NDArray[Any] = table.numbers("accepted_bytes") - table.numbers("queue_bytes").astype(float)
        return left

    return _over(8 * (left(now) - left(then)), now["rate_bps"] * _passed_s(now, then))


def goodput(now: Table, since: Table) -> NDArray[np.float64]:
    """Return the goodput of each flow between two readings of ``LiveRun.flows`` in bit/s, shape (flows,).

    Raises
    ------
    InputError
        If ``since`` is no reading of the flows of the same run, or a later one.
    """
    then = _earlier(now, since, "flows", {"flow", "delivered_bytes"})
    # New flows follow the earlier ones.
    names = list(then["flow"])
    if names != list(now["flow"])[: len(names)]:
        raise _refused(since, "flows")
    before = np.zeros(len(now))
    before[: len(then)] = then.numbers("delivered_bytes")
    return _over(8 * (now.numbers("delivered_bytes") - before), np.full(len(now), _passed_s(now, then)))


def _earlier(now: Table, since: Table, kind: str, columns: set[str]) -> Table:
    then = arguments.one_of(since, Table, "since", f"a table that `{kind}` returned")
    if not {"time_ps", *columns} <= set(then.columns):
        raise _refused(since, kind)
    if len(then) and len(now) and then.seconds[0] > now.seconds[0]:
        raise InputError("since: the reading is later than the run")
    return then


def _refused(since: Table, kind: str) -> InputError:
    return arguments.refused(since, "since", f"a table that `{kind}` returned")


def _passed_s(now: Table, then: Table) -> float:
    return float(now.seconds[0] - then.seconds[0]) if len(now) and len(then) else 0.0


def _over(amounts: NDArray[Any], most: NDArray[Any]) -> NDArray[np.float64]:
    """Return the quotients, NaN where the divisor is zero."""
    found: NDArray[np.float64] = np.divide(amounts, most, out=np.full(len(most), np.nan), where=most > 0)
    return found
