"""Extension of Figure 2: suppression with each mechanism that the paper cites for the backup path."""

from dataclasses import dataclass

import numpy as np

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows
from optcp.papers.kit import Cells, Grid, Key, Options, Part, Row, Settings, Size, StudyResult, judge, overrides
from optcp_papers.das.fig2 import REPAIR_S, STOP_S, WATCHED_S
from optcp_papers.das.paper import PAPER, WORLD, kbps, receivers, scenario

STARTS, QUICK_STARTS = 100, 24

TRIANGLE, SQUARE = "triangle", "square"
NETWORKS: dict[str, Settings] = {TRIANGLE: {}, SQUARE: {"links.2.chain": ["B", "D", "C"]}}
BACKUP_COST = {TRIANGLE: 2, SQUARE: 3}
ECMP_SEED = 2
"""Seed of the hashes with which the flow and its ACKs use the link A-C while it works."""
TUNNELS = ("remote-lfa", "ti-lfa", "not-via")
PLAIN_PACKETS = ("lfa", "u-turn", "mrc", "fifr")
BLIND = "not-via, pipe"
"""The only tunnel that ends at C itself, so that it hides all additional hops of both networks."""


def ways(network: str) -> dict[str, Settings]:
    """Return the settings of each mechanism and TTL model on a network; LFA has no backup on the square."""
    ecmp = {
        "parameters.repair": "none",
        "parameters.direct_cost": BACKUP_COST[network],
        "routing.ecmp": "hash-threshold",
        "routing.ecmp_seed": ECMP_SEED,
    }
    found: dict[str, Settings] = {"ecmp": ecmp}
    found |= {name: {"parameters.repair": name} for name in PLAIN_PACKETS if (network, name) != (SQUARE, "lfa")}
    for name in TUNNELS:
        for ttl in ("uniform", "pipe"):
            found[f"{name}, {ttl}"] = {"parameters.repair": name, "routing.ttl": ttl}
    return found


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per network, over mechanism and receiver."""
    common = overrides(WORLD, chosen)

    def study(network: str, settings: Settings) -> Grid:
        axes = {"mechanism": ways(network), "receiver": receivers("plain", "das")}
        name = f"das mechanisms, {network}"
        return options.grid(scenario("mechanisms"), {**common, **settings}, axes, name)

    return {network: study(network, settings) for network, settings in NETWORKS.items()}


def seeds(name: str, size: Size) -> int:
    """Return the number of start times of a network, each a seed."""
    del name
    return size.of(STARTS, QUICK_STARTS)


@dataclass(frozen=True)
class World:
    """Results of a network, over ``mechanism`` and ``receiver``; each seed is a start time.

    Attributes
    ----------
    payload
        In-order bytes over the run.
    false
        Number of recoveries and RTOs that started within 1 s after the repair.
    """

    payload: Cells
    false: Cells


def measure(done: StudyResult) -> World:
    """Evaluate the finished runs of a network."""
    watched = {"after": REPAIR_S, "until": REPAIR_S + WATCHED_S}
    false = done["reordering"].count(event=("recovery", "timeout"), **watched)
    return World(done["goodput"].cells().total("group").total("time"), false)


def find(found: Found) -> Findings:
    """Return rows per (network, mechanism, receiver) and both claims."""
    worlds = {network: done.once(measure) for network, done in found.done.items()}
    shown: list[Row] = []
    for network, world in worlds.items():
        for mechanism in ways(network):
            shown += rows_of({"network": network, "mechanism": mechanism}, world)
    cells = [(network, mechanism) for network in worlds for mechanism in ways(network)]
    claims = {
        "seven-mechanisms": {
            f"{network}, {mechanism}": removes_false_retransmits(worlds[network], mechanism)
            for network, mechanism in cells
            if mechanism != BLIND
        },
        "hidden-hops": {network: changes_nothing(worlds[network]) for network in worlds},
    }
    note = (
        f"A false retransmit is a recovery or RTO that starts within {WATCHED_S:g} s after the repair, when nothing is "
        "lost. Shares are of all start times. Goodput counts headers, as ns-2's sink did, and "
        "the gain is the mean over start times with a false retransmit under the plain receiver. "
        "With `ecmp` the link A-C costs as much as the backup. On the square LFA has no backup. On the triangle B is a "
        "loop-free alternate, which remote LFA, TI-LFA and U-turns also use."
    )
    return Findings(shown, claims, [], [note])


def rows_of(key: Key, world: World) -> list[Row]:
    """Return shares and goodput of both receivers, and the gain of DAS in affected runs, for one mechanism."""
    here: dict[str, str | float] = {"mechanism": str(key["mechanism"])}
    result: list[Row] = []
    for receiver in ("plain", "das"):
        false, payload = (cells.at(receiver=receiver, **here) for cells in (world.false, world.payload))
        metrics = {
            "false_retransmit_share_pct": (false > 0).share().times(100),
            "goodput_kbps": kbps(payload, STOP_S).mean(),
        }
        result += rows(metrics, key={**key, "receiver": receiver})
    plain, das = (world.payload.at(receiver=receiver, **here) for receiver in ("plain", "das"))
    hit = world.false.at(receiver="plain", **here) > 0
    if hit.values.any():
        gain = (100 * (das / plain - 1)).where(hit)
        result += rows({"gain_pct": gain.mean()}, key={**key, "receiver": "das"})
    return result


def removes_false_retransmits(world: World, mechanism: str) -> list[Part]:
    """Judge: false retransmits with the plain receiver for some start time, none with DAS."""
    starts = len(world.false.seeds)
    plain, das = (
        int((world.false.at(receiver=name, mechanism=mechanism) > 0).values.sum()) for name in ("plain", "das")
    )
    return [
        judge.exact_part(f"starts with a false retransmit, plain: {plain} of {starts}", plain > 0),
        judge.exact_part(f"starts with a false retransmit, das: {das} of {starts}", das == 0),
    ]


def changes_nothing(world: World) -> list[Part]:
    """Judge: with a tunnel that hides all hops, DAS changes no start time, and some has a false retransmit."""
    starts = len(world.false.seeds)
    plain, das = (world.false.at(receiver=name, mechanism=BLIND).values for name in ("plain", "das"))
    same = int(np.equal(plain, das).sum())
    some = int((plain > 0).sum())
    return [
        judge.exact_part(f"starts with a false retransmit, plain: {some} of {starts}", some > 0),
        judge.exact_part(f"starts with as many false retransmits under das: {same} of {starts}", same == starts),
    ]


MECHANISMS = Exhibit(
    "das/mechanisms",
    "Suppression with each mechanism that finds the backup path",
    "beyond the paper, on section III",
    Setup(PAPER, None, grids, seeds, WORLD),
    find,
)
