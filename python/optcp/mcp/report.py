"""Messages from the process of a call to the server, one JSON value per line."""

from __future__ import annotations

import json
import threading
import time
from typing import IO, Any

EVERY_S = 0.2
"""Minimum time between two messages on progress, in s."""


class Report:
    """Sender of progress, which implements :class:`optcp.study.pool.Progress`.

    Parameters
    ----------
    stream
        Stream to the server.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream, self._sending = stream, threading.Lock()
        self._total = self._done = 0
        self._share, self._sent_s = 0.0, 0.0

    def send(self, kind: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Send one message."""
        with self._sending:
            # NaN and infinite numbers are not JSON.
            self._stream.write(json.dumps({kind: value}, ensure_ascii=False, allow_nan=False) + "\n")
            self._stream.flush()

    def start(self, total: int, kept: int) -> None:
        """Report the number of missing runs."""
        self._total, self._done, self._share = total - kept, 0, 0.0
        self._tell(0.0)

    def advance(self, runs: int) -> None:
        """Report finished runs."""
        self._done += runs
        self._tell(self._done / self._total)

    def simulated(self, share: float) -> None:
        """Report the simulated share of the missing runs."""
        self._tell(share)

    def stop(self) -> None:
        """Do nothing: the result follows."""

    def _tell(self, share: float) -> None:
        # Progress must increase, and many messages would only cost time.
        now_s = time.monotonic()
        if share < self._share or (share < 1 and now_s - self._sent_s < EVERY_S and self._sent_s):
            return
        self._share, self._sent_s = share, now_s
        message = f"{self._done} of {self._total} runs, {share:.0%} simulated"
        self.send("progress", {"done": share * self._total, "total": self._total, "message": message})
