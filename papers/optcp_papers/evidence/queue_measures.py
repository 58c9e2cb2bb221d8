"""Metrics of queues: lost packets and waiting times, shares, and oscillations of the length."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optcp.scenarios.run import Run
from optcp.stats.quantiles import sample_quantile

FIRST = 200
"""Number of lost packets whose numbers are compared."""
LOST, SAME, MARKED = "lost", "same of first lost", "marked"
MEDIAN, LATE, LATENESS = "median wait (ms)", "95 % wait (ms)", "drop behind law (ms)"
GOODPUT, QUEUE, LEAST, MOST = "goodput (Mb/s)", "mean queue", "5 % queue", "95 % queue"
SIGNALS, JAIN, SHARE = "drops and marks", "Jain index", "share"
DROPPED, MARKS, USE = "drops a packet", "marks a packet", "utilisation"
PEAK, SWING, PERIOD = "peak queue", "swing", "period (RTT)"
Name = tuple[str, str]
"""Case and quantity."""
Measured = Mapping[Name, float]


def lost(run: Run) -> tuple[list[int], list[float]]:
    """Return numbers of lost packets, in order of arrival, and times of drops by the AQM in ms."""
    packets = run["packets"]
    sent, dropped = packets["event"] == "sent", packets["event"] == "dropped"
    number = {item: place for place, item in enumerate(zip(packets["flow"][sent], packets["seq"][sent], strict=True))}
    numbers = sorted(number[item] for item in zip(packets["flow"][dropped], packets["seq"][dropped], strict=True))
    by_law = dropped & (packets["reason"] == "aqm")
    return numbers, (packets["time_ps"][by_law] / 1e9).tolist()


def same(numbers: list[int], differences: list[int], first: int) -> int:
    """Count the first lost packets that equal the packets of a record, which holds differences."""
    theirs = list(itertools.accumulate(differences, initial=-1))[1:]
    return sum(ours + first == other for ours, other in zip(numbers[:FIRST], theirs[:FIRST], strict=False))


def waits(run: Run, source: int) -> list[float]:
    """Return the waiting times of packets of a source in ms; the burst belongs to the first source."""
    packets = run["packets"]
    groups = {f"source{source}/S", *(f"burst{number}/S" for number in range(3) if not source)}
    mine = np.isin(packets["flow"], list(groups))
    came, left = mine & (packets["event"] == "queued"), mine & (packets["event"] == "transmitted")
    since = dict(
        zip(zip(packets["flow"][came], packets["seq"][came], strict=True), packets["time_ps"][came], strict=True)
    )
    size_ps = int(packets["bytes"][left][0]) * 800_000
    names = zip(packets["flow"][left], packets["seq"][left], packets["time_ps"][left], strict=True)
    return [(int(at) - size_ps - int(since[flow, seq])) / 1e9 for flow, seq, at in names]


def _quantile(values: list[float], part: float) -> float:
    """Return a quantile by the method of the recorders (`evidence/data`), whose figures are compared."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def unresponsive(run: Run, sources: int) -> dict[Name, float]:
    """Return lost and marked packets, and waiting times, by source if there are several."""
    numbers, _ = lost(run)
    result: dict[Name, float] = {("", LOST): len(numbers), ("", MARKED): int(np.sum(run["ports"]["marked"]))}
    for source in range(sources):
        case = f"source {source + 1}" if sources > 1 else ""
        values = waits(run, source)
        result[case, MEDIAN], result[case, LATE] = _quantile(values, 0.5), _quantile(values, 0.95)
    return result


def shares(run: Run, sources: int) -> Measured:
    """Return the share of the link that each source has from 1 s to 6 s."""
    packets = run["packets"]
    chosen = (packets["event"] == "transmitted") & (packets["time_ps"] > 1e12) & (packets["time_ps"] <= 6e12)
    flows, sizes = packets["flow"][chosen], packets["bytes"][chosen]
    return {(f"source {n + 1}", SHARE): sizes[flows == f"source{n}/S"].sum() * 8 / 5e7 for n in range(sources)}


def jain(shares: NDArray[np.float64]) -> float:
    """Return the fairness index of shares, 1 if all are equal (Jain, Chiu and Hawe 1984)."""
    return float(shares.sum() ** 2 / len(shares) / np.square(shares).sum())


def greedy(run: Run, rate_mbps: float) -> dict[Name, float]:
    """Return the metrics of flows and link after the warm-up."""
    ports, goodput = run["ports"], run["goodput"]
    row = {name: ports[name][ports["port"] == "L->R"][0] for name in ports.columns if name not in {"time_ps", "port"}}
    late = goodput["time_ps"] > goodput["time_ps"][0]
    groups = sorted(set(goodput["group"].tolist()))
    sums = np.array([goodput["bytes"][late & (goodput["group"] == group)].sum() for group in groups], float)
    span_s = float(ports["time_ps"][0] - goodput["time_ps"][0]) / 1e12
    size = row["bytes"] / row["packets"]
    arrived = row["packets"] + row["dropped"]
    return {
        ("", GOODPUT): sums.sum() * 8e-6 / span_s,
        ("", QUEUE): row["mean_bytes"] / size,
        ("", SIGNALS): row["dropped"] + row["marked"],
        ("", JAIN): jain(sums),
        ("", DROPPED): row["dropped"] / arrived,
        ("", MARKS): row["marked"] / arrived,
        ("", USE): row["bytes"] * 8e-6 / span_s / rate_mbps,
    }


def period(series: Any) -> int:  # noqa: ANN401 - numpy's array
    """Return the period in samples: the maximum of the autocorrelation after it first falls below 0."""
    wave = series - series.mean()
    alike = np.array([wave[: len(wave) - lag] @ wave[lag:] for lag in range(20, len(wave) // 4)])
    below = np.flatnonzero(alike < 0)
    return 20 + int(below[0] + np.argmax(alike[below[0] :])) if len(below) else 0


def waves(run: Run, *, round_trip_us: float, sample_us: float, lacks: int, warm_s: float) -> dict[Name, float]:
    """Return the queue length, without packets that the record does not count, and its oscillation.

    The RTT is that with a queue at the threshold.
    """
    queue = run["queue"]
    late = (queue["port"] == "L->R") & (queue["time_ps"] > warm_s * 1e12)
    series = np.maximum(queue["mean_packets"][late] - lacks, 0)
    result = {
        ("", LEAST): sample_quantile(series, 0.05),
        ("", MOST): sample_quantile(series, 0.95),
        ("", QUEUE): series.mean(),
    }
    if lag := period(series[:4000]):
        cut = series[: len(series) // lag * lag].reshape(-1, lag)
        result["", PEAK] = cut.max(axis=1).mean()
        result["", SWING] = np.ptp(cut, axis=1).mean()
        result["", PERIOD] = lag * sample_us / round_trip_us
    return result
