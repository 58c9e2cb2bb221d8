"""Parts that the experiments over all failures of real networks share, by mechanism and sender."""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from optcp.outage import study
from optcp.outage.events import Event
from optcp.outage.mechanisms import LINE_RATE
from optcp.outage.metrics import METRICS
from optcp.outage.network import Network
from optcp.outage.resampled import Resampled
from optcp.outage.study import Costs
from optcp.outage.world import Assumptions, World
from optcp.papers.assume import Assumed, built_in, positive, positive_int, share
from optcp.papers.kit import Axes, Chosen, Grid, Key, Options, Part, Row, Settings, Size, judge, row

NETWORKS = {name: f"sndlib/{name}" for name in ("abilene", "geant", "nobel-eu", "germany50")}
QUICK_NETWORK = "abilene"

CUT_NOTE = (
    "Flows that are stalled or unfinished at the end of a run have longer stalls and completion times than observed. "
    "Affected values are printed as lower bounds."
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
    """Return a network of the study."""
    return Network.find(NETWORKS[name])


def assumptions(chosen: Chosen, **changed: float) -> Assumptions:
    """Return the assumptions of the scenarios."""
    known = {name: chosen[name] for name in Assumptions.names() if name in chosen}
    return replace(Assumptions(**known), **changed)  # type: ignore[arg-type]


def mechanisms(names: Iterable[str], assumed: Assumptions) -> dict[str, Settings]:
    """Return the axis ``mechanism``; a reserved circuit has the whole rate of the link that it replaces."""
    return study.mechanisms(names, assumed, circuits=LINE_RATE)


@functools.cache
def world(name: str, assumed: Assumptions) -> World:
    """Return the scenario of a network."""
    return World.of(network(name), assumed)


def grid(
    title: str, of: World, axes: Axes, options: Options,
    settings: Settings | None = None,
) -> Grid:  # fmt: skip
    """Return a grid over scenarios of one network."""
    return study.grid(title, of, axes, settings, digest=options.digest, fork=options.fork, check=options.check)


def seeds(_: str, size: Size) -> int:
    """Return one seed, because the failures are the sample."""
    return size.seeds or 1


def side(name: str, value: Resampled, towards: judge.Side, unit: str) -> Part:
    """Judge whether a statistic of failures lies above or below zero."""
    if _is_open(value, 0.0):
        return judge.Part(_cut_text(name, value, unit), "undecided")
    # Resamples without a known value count for both sides.
    seen = value.samples if value.lows is None or value.estimate < 0 else value.lows
    known = replace(value, samples=np.where(np.isnan(seen), 0.0, seen), lows=None)
    return _bounded(judge.side_part(name, known.comparison, towards, unit), name, value, unit)


def inside(name: str, value: Resampled, margin: float, unit: str) -> Part:
    """Judge whether a statistic lies within ``+-margin``."""
    if _is_open(value, margin):
        return judge.Part(_cut_text(name, value, unit), "undecided")
    # Resamples without a known value count against the estimate.
    against = margin if abs(value.estimate) < margin else 0.0
    seen = value.samples if value.lows is None or value.estimate < margin else value.lows
    samples = np.where(np.isnan(seen), against, seen)
    part = judge.within_part(name, samples, value.estimate, value.n, (-margin, margin), 1, unit)
    return _bounded(part, name, value, unit)


def _bounded(part: Part, name: str, value: Resampled, unit: str) -> Part:
    """Return the part, with the lower bound in its text if the statistic is censored."""
    return part if math.isfinite(value.estimate) else replace(part, text=_cut_text(name, value, unit))


def _is_open(value: Resampled, threshold: float) -> bool:
    """Return whether a censored statistic may lie on either side of a threshold."""
    if math.isfinite(value.estimate):
        return False
    return value.estimate != math.inf or value.at_least is None or value.at_least <= threshold


def _cut_text(name: str, value: Resampled, unit: str) -> str:
    if value.at_least is None:
        return f"{name}: not known, censored by the end of runs"
    return (
        f"{name}: more than {judge.number(value.at_least)} {unit}".rstrip()
        + f", n = {value.n}, censored by the end of runs"
    )


def per_cent_of(value: Resampled, of: Resampled) -> Resampled:
    """Return a statistic in % of another one of the same failures."""
    return (value / of).times(100)


def cut(name: str) -> tuple[Event, ...]:
    """Return every link of a network of the study, except bridges."""
    return study.cut(network(name))


def rows_of(of: Costs, at: tuple[str, ...], key: Key, names: Sequence[str] = tuple(METRICS)) -> list[Row]:
    """Return the rows of a combination, without those that have no value."""
    result = {name: METRICS[name](of, at) for name in names}
    return [row(key, name, None, item.interval, "") for name, item in result.items() if not np.isnan(item.estimate)]
