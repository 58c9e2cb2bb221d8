"""Readable names of columns: ``rel_goodput_pct`` becomes "relative goodput (%)"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

UNITS = {
    "pct": "%", "points": "percentage points", "ms": "ms", "s": "s", "bps": "bit/s", "kbps": "kbit/s", "mbps": "Mbit/s",
    "gbps": "Gbit/s", "kb": "kB", "mb": "MB", "bits": "bit", "bytes": "B", "segments": "segments", "packets": "packets",
}  # fmt: skip
"""Unit by suffix of a name."""
WORDS = {
    "rel": "relative", "opt": "optical", "el": "electrical", "vs": "against", "sd": "standard deviation", "delta": "δ",
    "rtt": "RTT", "ack": "ACK", "acks": "ACKs", "udp": "UDP", "ttl": "TTL", "rms": "RMS", "pct": "%",
    "p05": "5th percentile",
    "p50": "median", "p95": "95th percentile", "p99": "99th percentile", "l0": "L0", "l1": "L1", "l2": "L2", "l3": "L3",
    "l5": "L5", "a": "A", "b": "B",
}  # fmt: skip


def readable(name: str) -> str:
    """Return a name in words, with its unit in parentheses.

    >>> readable("rel_goodput_pct"), readable("delta_ms"), readable("flows")
    ('relative goodput (%)', 'δ (ms)', 'flows')
    """
    parts = name.split("_")
    unit = UNITS.get(parts[-1]) if len(parts) > 1 else None
    words = " ".join(WORDS.get(part, part) for part in (parts[:-1] if unit else parts))
    return f"{words} ({unit})" if unit else words


def column(name: str, values: Sequence[Any]) -> tuple[str, list[str]]:
    """Return the readable name of a key and its values; times below 1 s are in milliseconds.

    >>> column("timer_s", [1e-05, 0.1])
    ('timer (ms)', ['0.01', '100'])
    """
    times = [value for value in values if isinstance(value, float | int)]
    if name.endswith("_s") and len(times) == len(values) and 0 < max(times) < 1:
        return readable(f"{name.removesuffix('_s')}_ms"), [f"{1000 * value:g}" for value in times]
    return readable(name), [str(value) for value in values]


def listed(parts: Sequence[str]) -> str:
    """Return an enumeration such as "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def capital(sentence: str) -> str:
    """Return a sentence with a capital first letter."""
    return sentence[:1].upper() + sentence[1:]
