"""Cost of buffers that are smaller than a switchover needs."""

import numpy as np

from optcp.outage import resampled
from optcp.outage.resampled import Resampled
from optcp.papers.kit import (
    Cells,
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Key,
    Options,
    Part,
    Row,
    Run,
    Setup,
    row,
    runs_of,
)
from optcp_papers.buffers.cells import Cell, after, at_protection, loads, shares
from optcp_papers.buffers.paper import ASSUMED, PAPER, TCP, not_run, scenario
from optcp_papers.outage.population import side

SEEDS, QUICK_SEEDS = 5, 2
CASES = (("0.3", "0.8"), ("0.6", "0.5"), ("0.6", "0.8"), ("0.9", "0.2"), ("0.9", "0.5"), ("0.9", "0.8"))
QUICK_CASES = (("0.6", "0.5"),)
UNLIMITED, HALF, RULE = "unlimited", "1/2", "rule"
PARTS = {"1": 1.0, HALF: 0.5, "1/4": 0.25, "1/8": 0.125}
"""Buffers as shares of the law's."""
LOSS_PCT = 5.0
NOTES = [
    "Commands with equal RTTs and loads above the protection link. `buffer` is a share of the law's buffer, or "
    "`rule`: BDP / sqrt(n). `less_pct` is the goodput of all flows in the first ten RTTs that it costs, relative "
    "to an unlimited buffer, and `dropped_pct` the share of packets that the link drops. Intervals are over "
    "cells.",
]


def grids(_: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid over buffers per congestion control and load."""
    result = {}
    for tcp, settings in TCP.items():
        for load, share in QUICK_CASES if options.size.is_quick else CASES:
            cell = Cell(float(load), float(share))
            packets = {name: max(1, round(part * cell.law_packets(tcp))) for name, part in PARTS.items()}
            packets[RULE] = round(cell.rule_packets)
            axis = {UNLIMITED: {}, **{name: {"parameters.queue": f"{n} packets"} for name, n in packets.items()}}
            world = {**settings, **loads()[load], **shares()[share]}
            made = options.grid(scenario("switchover"), world, {"buffer": axis}, f"buffers, {tcp}, shallow")
            result[f"{tcp} {load} {share}"] = made
    return result


def goodput_bytes(run: Run) -> float:
    """Return the new in-order bytes of all flows in the first ten RTTs."""
    table = run["goodput"]
    return float(table["bytes"][after(table)].sum())


def dropped_pct(run: Run) -> float:
    """Return the share of packets that the protection link drops in the first ten RTTs."""
    table = run["ports"]
    dropped, accepted = (float(table[name][at_protection(table)].sum()) for name in ("dropped", "packets"))
    return 100 * dropped / (dropped + accepted)


def find(found: Found) -> Findings:
    """Return goodput and drops by buffer, and judge the cost of half a buffer."""
    shown: list[Row] = []
    claims: dict[str, list[Part]] = {}
    for tcp in TCP:
        done = [one for name, one in found.done.items() if name.split()[0] == tcp]
        bytes_, drops = ([one.each(function) for one in done] for function in (goodput_bytes, dropped_pct))
        less = {name: _over(bytes_, name) for name in (*PARTS, RULE)}
        for name, value in less.items():
            key: Key = {"tcp": tcp, "buffer": name}
            shown.append(row(key, "less_pct", None, value.interval, ""))
            lost = resampled.mean([float(one.at(buffer=name).values.mean()) for one in drops], np.ones(len(drops)))
            shown.append(row(key, "dropped_pct", None, lost.interval, ""))
        claims[tcp] = [side("half of the buffer, minus 5 %", less[HALF] - LOSS_PCT, "below", "points")]
        if len(done) < len(CASES):
            claims[tcp].append(not_run("other loads"))
    return Findings(shown, {"buffers-half-is-cheap": claims}, [], NOTES)


def _over(bytes_: list[Cells], buffer: str) -> Resampled:
    """Return the goodput that a buffer costs, relative to an unlimited one, in %."""
    kept = [float((one.at(buffer=buffer) / one.at(buffer=UNLIMITED)).values.mean()) for one in bytes_]
    return resampled.mean(100 * (1 - np.array(kept)), np.ones(len(kept)))


SHALLOW = Exhibit(
    "buffers/shallow",
    "Cost of buffers that are smaller than a switchover needs",
    "docs/details/buffers.md, smaller buffers",
    Setup(PAPER, None, grids, runs_of(SEEDS, QUICK_SEEDS), ASSUMED),
    find,
)
