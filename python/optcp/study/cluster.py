"""A Dask cluster that somebody has started: ``--dask ADDRESS``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from optcp.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 10
"""A scheduler that does not answer in so many seconds is not there."""


def connected(address: str) -> Client:
    """A client of the cluster whose scheduler is at an address.

    Raises
    ------
    InputError
        If there is none, or Dask is not installed.
    """
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ModuleNotFoundError as error:
        raise InputError("--dask needs Dask's distributed scheduler: install optcp[dask]") from error
    # What ends a study is said by the study; these add tracebacks of their own.
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        # A client that was never whole takes long to go.
        get_address_host_port(address)
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"--dask {address}: no scheduler answers there ({error})") from error


def workers(client: Client) -> tuple[int, int]:
    """How many workers a cluster has now, and how many threads they have together."""
    threads: dict[str, int] = client.nthreads()
    return len(threads), sum(threads.values())
