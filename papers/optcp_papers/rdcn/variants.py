"""Graphs 4-2 and 7-2: TCP variants on a small queue, and on one that grows 1200 us before its day."""

from optcp.papers.kit import Cells, Chosen, Exhibit, Findings, Found, Grid, Options, Part, Setup, rows, tables
from optcp_papers.rdcn.measured import circuit_util_pct, latencies_us
from optcp_papers.rdcn.voq import above, below
from optcp_papers.rdcn.world import ASSUMED, PAPER, grid, seeds, sender, week

STATIC, LEAD_US = "static", 1200
NOT_LOSS_BASED = ("bbr", "nv", "vegas")
MOST_PCT = 60
WHY = (
    "The variants are those of Linux 6 with its loss recovery. The paper's kernel was 4.15, and sent segments in "
    "bursts (segmentation offload)."
)
NOTE = (
    "DCTCP: the marking threshold stays at 10 packets when the queue is large; the emulator's rose to 31. `bbr` "
    "is version 1, as in 4.15."
)


def variants() -> list[str]:
    """Return the variants of the paper, in its order."""
    result: list[str] = tables("rdcn")["static16_all"]["tcp"]
    return result


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return a grid over variants and leads."""
    leads = {STATIC: week(chosen).settings, str(LEAD_US): week(chosen, resize_us=LEAD_US).settings}
    axes = {"tcp": {name: sender(name) for name in variants()}, "resize_us": leads}
    return {"variants": grid("variants", axes, chosen, options)}


def find(found: Found) -> Findings:
    """Return utilisation and tail latencies, by variant and lead."""
    done = found.only
    util, times = done.once(circuit_util_pct), done.once(latencies_us)
    printed = [[value, None] for value in tables("rdcn")["static16_all"]["circuit_util_pct"]]
    metrics = {"circuit_util_pct": util.mean(), "p99_all_us": times["p99_all_us"].mean()}
    static, resized = util.at(resize_us=STATIC), util.at(resize_us=str(LEAD_US))
    mean = float(static.values.mean())
    return Findings(
        rows(metrics, {"circuit_util_pct": printed}, WHY),
        {
            "rdcn-no-variant-copes": [
                below(f"{name}, below {MOST_PCT} %", static.at(tcp=name) - MOST_PCT, "points") for name in variants()
            ],
            "rdcn-reno-beats-cubic": [
                above("Reno less CUBIC", static.at(tcp="reno") - static.at(tcp="cubic"), "points")
            ],
            "rdcn-resize-helps-everyone": [
                above(name, resized.at(tcp=name) - static.at(tcp=name), "points") for name in variants()
            ],
            "rdcn-cubic-gains-least-of-loss-based": gains_least(resized),
        },
        notes=[NOTE, f"Mean over the variants on the small queue: {mean:.2f} %, published 49.39."],
    )


def gains_least(resized: Cells) -> list[Part]:
    """Judge: every other loss-based variant has a higher utilisation than CUBIC."""
    cubic = resized.at(tcp="cubic")
    others = [name for name in variants() if name not in (*NOT_LOSS_BASED, "cubic")]
    return [above(f"{name} minus CUBIC", resized.at(tcp=name) - cubic, "points") for name in others]


VARIANTS = Exhibit(
    "rdcn/variants",
    "TCP variants on a small queue, and on one that becomes large",
    "graphs 4-2 and 7-2",
    Setup(PAPER, 1, grids, seeds, ASSUMED),
    find,
)
