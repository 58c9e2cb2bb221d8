"""Table 3: switch delays compared by goodput in the first 1.5 s."""

import itertools

from optcp import stats
from optcp.papers.kit import Cells, Differences, Estimates, Exhibit, Findings, Found, Key, Part, judge, rows, tables
from optcp_papers.gmpls.paper import PAPER_RUNS, WHY_CHANGED
from optcp_papers.gmpls.section5 import DELTA_MS, READINGS_NOTE, SETUP, World, worlds

WHY_STATED = (
    "With the stated 100+100 flows at the assumed 10 Mb/s the delays hardly differ: independent ns-2 runs "
    "with as many flows also gain about 1 % or less. Ties and order are therefore chance."
)
WHY_FEW = (
    "This table is the most sensitive to parameters. With 10+10 flows independent ns-2 runs also gain at every delay, "
    "but most at 250 ms. No tested setting of ns-2 gives the published peak at 50 ms together with the other values."
)
DELAYED = DELTA_MS[1:]


def find(found: Found) -> Findings:
    """Return one row per (interpretation, delay, metric)."""

    def why(key: Key) -> str:
        """Return the known reason for a difference; it depends on whether there are more than 50 flows per class."""
        known = WHY_STATED if int(str(key["flows"]).partition("+")[0]) > 50 else WHY_FEW
        return WHY_CHANGED if found.changed else known

    shown = worlds(found)
    return Findings(
        rows=[
            row
            for reading, world in shown.items()
            for row in rows(metrics(world), tables("gmpls")["table3"], why, {"flows": reading})
        ],
        claims={
            "shortest-is-best": {reading: gain_falls(world) for reading, world in shown.items()},
            "worse-and-best-shares": {reading: shares_as_printed(world) for reading, world in shown.items()},
        },
        notes=[READINGS_NOTE],
    )


def metrics(world: World) -> dict[str, Estimates]:
    """Return the mean gain over an immediate switchover, and how often a delay is worse than it and is best."""
    # Delay 0 is the reference, so its gain and its share of worse runs are exactly 0.
    worse = (world.ratio < 1).share().times(100)
    return {
        "rel_goodput_pct": (100 * (world.ratio - 1)).mean().known(0.0, delta_ms=0),
        "worse_than_zero_pct": worse.known(0.0, delta_ms=0),
        "best_pct": world.good.wins("delta_ms").share().times(100),
    }


def gain_falls(world: World) -> list[Part]:
    """Judge: 50 ms gains most and the gain falls with every longer delay."""
    gain = 100 * (world.ratio - 1)
    return [
        judge.paired_part(
            f"f({item} ms) minus f({longer} ms)", gain.at(delta_ms=item), gain.at(delta_ms=longer), "above", "points"
        )
        for item, longer in pairs()
    ]


def shares_as_printed(world: World) -> list[Part]:
    """Judge: the shares in columns 2 and 3 of Table 3, and their order."""
    printed, n = tables("gmpls")["table3"], len(world.ratio.seeds)
    worse, best = world.ratio < 1, world.good.wins("delta_ms")

    def against(name: str, cells: Cells, column: str, delta: int) -> Part:
        share = printed[column][DELTA_MS.index(delta)]
        return judge.printed_share_part(
            f"{name}, {delta} ms", cells.at(delta_ms=delta).values.sum(), n, share, PAPER_RUNS
        )

    parts = [against("worse than 0 ms", worse, "worse_than_zero_pct", delta) for delta in DELAYED]
    parts += [against("best", best, "best_pct", delta) for delta in DELTA_MS]
    for item, longer in pairs():
        test = stats.mcnemar(worse.at(delta_ms=longer), worse.at(delta_ms=item))
        title = f"share worse, {longer} ms minus {item} ms (McNemar p = {test.p:.2g})"
        parts.append(judge.side_part(title, test.times(100), "above", "points"))
    return [*parts, judge.share_part("best, 50 ms, above 50 %", best.at(delta_ms=50).values.sum(), n, 0.5)]


def conclusions(found: Found) -> Differences:
    """Return the conclusions of sections 5.1 and 5.2: a delayed switchover gains, 50 ms most, longer delays less."""
    shown: dict[str, Cells] = {}
    for reading, world in worlds(found).items():
        # Name the interpretation of the flow count only if there are several.
        name = "" if len(found.done) == 1 else f"{reading} flows, "
        gain, worse = 100 * (world.ratio - 1), 100 * (world.ratio < 1)
        best = 100 * world.good.wins("delta_ms").at(delta_ms=DELAYED[0])
        shown |= {f"{name}gain at {delta} ms (%)": gain.at(delta_ms=delta) for delta in DELAYED}
        for item, longer in pairs():
            difference = gain.at(delta_ms=item) - gain.at(delta_ms=longer)
            shown[f"{name}gain, {item} ms minus {longer} ms (points)"] = difference
        for entry, longer in pairs():
            difference = worse.at(delta_ms=longer) - worse.at(delta_ms=entry)
            shown[f"{name}runs worse than 0 ms, {longer} ms minus {entry} ms (points)"] = difference
        shown[f"{name}runs in which {DELAYED[0]} ms is best, above half (points)"] = best - 50
    return {name: cells.values for name, cells in shown.items()}


def pairs() -> list[tuple[int, int]]:
    """Return each delay above zero with the next longer one."""
    return list(itertools.pairwise(DELAYED))


TABLE3 = Exhibit(
    "gmpls/table3", "Comparison of protection switch delays", "section 5.2, Table 3", SETUP, find, conclusions
)
