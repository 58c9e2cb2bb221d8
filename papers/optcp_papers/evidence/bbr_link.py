"""Measurement of the states of one BBR flow on its own link, for all versions of BBR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from optcp import stats
from optcp.scenarios.run import Run
from optcp.stats.quantiles import sample_quantile
from optcp.study import Study
from optcp_papers.evidence import outside
from optcp_papers.evidence.base import Figures, Found, Runs, Studies

SCENARIO = "tcp-bbr"
SEEDS = 10
MSS_BYTES = 1460
PRODUCT = 40
"""Segments per minimum RTT of 40 ms, one per ms."""
ROUND_TRIP_MS = 40.0
ROUNDS = 7
"""Number of STARTUP round trips that the fast link does not limit."""
LINKS = {
    "slow": {},
    "fast": {"parameters.rate": "1200 Mbps", "parameters.delay": "19.995 ms", "stop": "1 s"},
    "long": {"parameters.delay": "99.4999984 ms"},
}
"""Links: the link of the scenario, one with a hundred times the rate, and one with five times the RTT."""

Measured = dict[tuple[str, str], Any]
"""Figures by state and name."""


def printed(value: float, digits: int) -> tuple[str, float, float]:
    """Return the shown form of an external figure, and its range."""
    text = f"{value:.{digits}f}"
    return text, *outside.printed_range(text)


@dataclass(frozen=True)
class Wanted:
    """Figure of the state machine, with the test that also derives it by hand, and its external values."""

    state: str
    figure: str
    test: str
    draft: tuple[str, float, float] | None = None
    worked: tuple[str, float, float] | None = None


GROWTH = (
    Wanted("STARTUP", "sent in the third round trip / in the second", "", printed(2.0, 2)),
    Wanted("STARTUP", "sent in a round trip / in the one before, from then on", "", printed(2.0, 2)),
)
"""Figures of :func:`startup` other than the pacing gain."""


@dataclass(frozen=True)
class Version:
    """Version of BBR.

    Attributes
    ----------
    name
        Name of its experiment.
    sources
        The draft, and values worked from it by hand.
    settings
        Scenario settings that select it.
    links
        Links of its runs, and the figures of each.
    wanted
        Figures in the order of the page.
    """

    name: str
    sources: tuple[str, str]
    settings: Mapping[str, str]
    links: Mapping[str, Callable[[Run], Measured]]
    wanted: tuple[Wanted, ...]

    def runs(self) -> Runs:
        """Return the source of the figures."""
        return Runs(SCENARIO, self._studies, self._find)

    def _studies(self, seeds: int | None) -> Studies:
        links: dict[str, dict[str, str]] = {name: {**LINKS[name], **self.settings} for name in self.links}
        return {name: Study(SCENARIO, {"link": {name: link}}, seeds=seeds or SEEDS) for name, link in links.items()}

    def _find(self, done: Found) -> Figures:
        """Return the figures of a single flow, by state."""
        found: list[Measured] = []
        for seed in zip(*(done[name] for name in self.links), strict=True):
            runs = zip(self.links.values(), seed, strict=True)
            found.append({key: value for measure, (_, (run,)) in runs for key, value in measure(run).items()})
        for item in self.wanted:
            key = {
                "state": item.state,
                "figure": item.figure,
                "test": f"`{item.test}`" if item.test else "this experiment",
            }
            beside = zip(self.sources, (item.draft, item.worked), strict=True)
            more = tuple(outside.Figure(source, self.name, key, *figure) for source, figure in beside if figure)
            yield key, stats.mean([of_seed[item.state, item.figure] for of_seed in found]), *more


def sender(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times of the sender's changes in ms, its flight and its window in segments."""
    of = run["sender"]
    window = np.rint(of["cwnd_bytes"] / MSS_BYTES).astype(int)
    return of["time_ps"] / 1e9, of["flight_segments"].astype(int), window


def sent_ms(run: Run) -> np.ndarray:
    """Return the times at which segments were sent, in ms."""
    sent = run["packets"].where(event="sent")
    return np.asarray(sent["time_ps"][~sent["ack"]] / 1e9)


def startup(run: Run) -> Measured:
    """Return the figures of the fast link: growth in STARTUP, and its pacing gain in the second round trip.

    A round trip ends with the ACK of the first segment that was sent in it. The gain multiplies a rate of one initial
    window per round trip until more has been delivered.
    """
    sent, acked = sent_ms(run), run["packets"].where(event="acked")
    acked_ms, acked_to = acked["time_ps"] / 1e9, acked["seq"]
    rounds, begin_ms, first = [], 0.0, 0
    for _ in range(ROUNDS):
        end_ms = acked_ms[acked_to > first][0]
        rounds.append(int(((sent >= begin_ms) & (sent < end_ms)).sum()))
        begin_ms, first = end_ms, first + rounds[-1]
    second = np.diff(sent[rounds[0] : rounds[0] + rounds[1]])
    early, later = (item.figure for item in GROWTH)
    return {
        ("STARTUP", early): rounds[2] / rounds[1],
        ("STARTUP", later): (rounds[-1] / rounds[2]) ** (1 / (ROUNDS - 3)),
        ("STARTUP", "pacing gain"): ROUND_TRIP_MS / rounds[0] / sample_quantile(second, 0.5),
    }


def stays(inside: np.ndarray, at_ms: np.ndarray) -> list[tuple[float, float]]:
    """Return start and end of each finished period in which ``inside`` is true."""
    edges = np.diff(inside.astype(int))
    return list(zip(at_ms[1:][edges == 1], at_ms[1:][edges == -1], strict=False))
