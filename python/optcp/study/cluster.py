"""Connection to a running Dask cluster: ``--dask ADDRESS``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from optcp.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 10
"""Timeout of the connection to a scheduler in seconds."""


def connected(address: str) -> Client:
    """Return a client of the cluster whose scheduler has this address.

    Raises
    ------
    InputError
        If no scheduler answers, or Dask is not installed.
    """
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ModuleNotFoundError as error:
        raise InputError("--dask needs Dask's distributed scheduler: install optcp[dask]") from error
    # The study reports its own errors; these loggers would add tracebacks.
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # Check the address first: a client that failed to connect is slow to close.
        get_address_host_port(address)
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"--dask {address}: no scheduler answers there ({error})") from error


def workers(client: Client) -> tuple[int, int]:
    """Current number of workers of a cluster, and the sum of their threads."""
    threads: dict[str, int] = client.nthreads()
    return len(threads), sum(threads.values())
