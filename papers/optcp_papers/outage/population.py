"""Every failure of real networks, by mechanism and sender: what exhibits over a population of failures share."""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from optcp.outage import study
from optcp.outage.events import Event
from optcp.outage.network import Network
from optcp.outage.resampled import Resampled
from optcp.outage.study import METRICS, Costs
from optcp.outage.world import Assumptions, World
from optcp.papers.assume import Assumed, built_in, positive, positive_int, share
from optcp.papers.kit import Axes, Chosen, Grid, Key, Options, Part, Row, Settings, Size, judge, row

NETWORKS = {name: f"sndlib/{name}" for name in ("abilene", "geant", "nobel-eu", "germany50")}
QUICK_NETWORK = "abilene"

CUT_NOTE = (
    "The end of a run cuts the outage of a flow that is silent then, and the completion time of a flow that has not "
    "ended: it is longer than seen. A value that falls there is printed by its lower bound."
)

ASSUMED = (
    Assumed("rate_mbps", 100, positive_int),
    Assumed("peak", 0.6, share),
    Assumed("flow_mbps", 4.0, positive),
    Assumed("short_share", 0.2, share),
    Assumed("sizes", "web-search", str),
    Assumed("clamp_mb", 5.0, positive),
    Assumed("detour", 1.3, positive),
    Assumed("queue_ms", 40.0, positive),
    Assumed("hosts_seed", 1, positive_int),
    built_in("detection_ms", "10"),
    built_in("convergence", "2 ms a hop, SPF 20 ms, tables within 20 to 200 ms"),
)


@functools.cache
def network(name: str) -> Network:
    """A network of the study."""
    return Network.find(NETWORKS[name])


def assumptions(chosen: Chosen, **changed: float) -> Assumptions:
    """What the worlds stand on."""
    known = {name: chosen[name] for name in Assumptions.names() if name in chosen}
    return replace(Assumptions(**known), **changed)  # type: ignore[arg-type]


def mechanisms(names: Iterable[str], assumed: Assumptions) -> dict[str, Settings]:
    """The axis ``mechanism``; a reserved circuit has the whole rate of the link that it replaces."""
    return study.mechanisms(names, assumed, circuits="line-rate")


@functools.cache
def world(name: str, assumed: Assumptions) -> World:
    """The world of a network."""
    return World.of(network(name), assumed)


def grid(
    title: str, of: World, axes: Axes, options: Options,
    settings: Settings | None = None,
) -> Grid:  # fmt: skip
    """A grid of worlds of one network."""
    return study.grid(title, of, axes, settings, digest=options.digest, fork=options.fork, check=options.check)


def seeds(_: str, size: Size) -> int:
    """One draw of hosts: failures are the unit."""
    return size.seeds or 1


def side(name: str, value: Resampled, towards: judge.Side, unit: str) -> Part:
    """Judge whether a statistic of failures lies above or below zero."""
    if _is_open(value, 0.0):
        return judge.Part(_cut_text(name, value, unit), "undecided")
    # A resample of which nothing is known counts for both sides.
    seen = value.samples if value.lows is None or value.estimate < 0 else value.lows
    known = replace(value, samples=np.where(np.isnan(seen), 0.0, seen), lows=None)
    return _bounded(judge.side_part(name, known.comparison, towards, unit), name, value, unit)


def inside(name: str, value: Resampled, margin: float, unit: str) -> Part:
    """Judge whether it lies within ``+-margin``."""
    if _is_open(value, margin):
        return judge.Part(_cut_text(name, value, unit), "undecided")
    # A resample of which nothing is known counts against what all failures show.
    against = margin if abs(value.estimate) < margin else 0.0
    seen = value.samples if value.lows is None or value.estimate < margin else value.lows
    samples = np.where(np.isnan(seen), against, seen)
    part = judge.within_part(name, samples, value.estimate, value.n, (-margin, margin), 1, unit)
    return _bounded(part, name, value, unit)


def _bounded(part: Part, name: str, value: Resampled, unit: str) -> Part:
    """The part, of a statistic that is cut with its lower bound."""
    return part if math.isfinite(value.estimate) else replace(part, text=_cut_text(name, value, unit))


def _is_open(value: Resampled, threshold: float) -> bool:
    """Whether the end of runs cuts a statistic so that it may lie on either side of a threshold."""
    if math.isfinite(value.estimate):
        return False
    return value.estimate != math.inf or value.at_least is None or value.at_least <= threshold


def _cut_text(name: str, value: Resampled, unit: str) -> str:
    if value.at_least is None:
        return f"{name}: not known, the end of runs cuts it"
    return (
        f"{name}: more than {judge.number(value.at_least)} {unit}".rstrip()
        + f", n = {value.n}, the end of runs cuts it"
    )


def per_cent_of(value: Resampled, of: Resampled) -> Resampled:
    """A statistic in per cent of another one of the same failures."""
    return (value / of).times(100)


def cut(name: str) -> tuple[Event, ...]:
    """Every link of a network of the study but for bridges."""
    return study.cut(network(name))


def rows_of(of: Costs, at: tuple[str, ...], key: Key, names: Sequence[str] = tuple(METRICS)) -> list[Row]:
    """The rows of a cell; those without a value are left out."""
    found = {name: METRICS[name](of, at) for name in names}
    return [row(key, name, None, one.interval, "") for name, one in found.items() if not np.isnan(one.estimate)]
