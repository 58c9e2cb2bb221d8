"""Extension of the paper: burst assembly by size, or by timer and size (hybrid)."""

from optcp.papers import over
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows, runs_of
from optcp.papers.kit import Cells, Grid, Key, Options, Settings, StudyResult, curves_over
from optcp_papers.obs.lossless import OBSERVE
from optcp_papers.obs.paper import (
    BESIDE,
    PAPER,
    RECOVERY,
    SEGMENT_BYTES,
    WORLD,
    goodput_mbps,
    grid,
    numbers,
    parts,
    segments_per_burst,
    settings,
)

RUNS = 50
"""Half the number of files of the paper."""
QUICK_RUNS = 2
SIZES = numbers("size_segments", (1, 2, 4, 9, 22, 44, 88))
"""Burst sizes in full segments; 44 are a window."""
TIMERS_S = (1e-3, 1e-2)
"""Timers of hybrid assembly, with which the paper's flow is a medium and a fast one."""
PRODUCTS = ((numbers("timer_s", TIMERS_S), BESIDE, RECOVERY, SIZES), (RECOVERY, SIZES))
"""Axes of hybrid assembly, and of assembly by size alone."""
NOTE = (
    "Both directions have the same assembly, so 37 ACKs of 40 B count as one segment. By size alone without "
    "background, a flow would wait for its RTO at each end of a window, so this case is omitted. `timer_s` 0: none."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the paper's files over assemblers with a size limit, with the paper's loss probability."""

    def cell(recovery: str, size_segments: int, background: str = "yes", timer_s: float = 0) -> Settings:
        entry = {
            "link": ["E", "F"],
            "assembly": "hybrid" if timer_s else "size",
            "size": f"{size_segments * SEGMENT_BYTES} B",
            **({"timer": f"{round(1e6 * timer_s)} us"} if timer_s else {}),
            "offset": "$offset",
            "loss_probability": "$loss_probability",
        }
        return {**settings(timer_s or TIMERS_S[0], background, "none", recovery), "bursts": [entry]}

    more = {"parameters.loss_probability": 0.001, "observe": OBSERVE}
    return {"transfers": grid("obs/assembly", PRODUCTS, cell, more, chosen, options)}


def find(found: Found) -> Findings:
    """Return goodput and segments per burst."""
    measured = found.only.once(measure)
    by_metric = {
        name: [row for cells in products for row in rows({name: cells.mean()}, key=key)]
        for name, products in measured.items()
    }
    x = over.Axis("burst size", "segments")
    shown = {"goodput_mbps": over.Axis("goodput", "Mb/s"), "segments_per_burst": over.Axis("segments per burst", "")}
    series = [curve for name, y in shown.items() for curve in curves_over(by_metric[name], SIZES.name, x, y)]
    return Findings([row for of_metric in by_metric.values() for row in of_metric], {}, series, [NOTE])


def measure(done: StudyResult) -> dict[str, list[Cells]]:
    """Return goodput in Mb/s and segments per burst, of hybrid assembly and by size alone."""
    products = parts(done, PRODUCTS)
    return {
        "goodput_mbps": [goodput_mbps(product) for product in products],
        "segments_per_burst": [segments_per_burst(product) for product in products],
    }


def key(at: Key) -> Key:
    """Return the key of rows."""
    return {
        "size_segments": at["size_segments"],
        "assembly": "hybrid" if "timer_s" in at else "size",
        "timer_s": at.get("timer_s", 0),
        "background": at.get("background", "yes"),
        "recovery": at["recovery"],
    }


ASSEMBLY = Exhibit(
    "obs/assembly",
    "Goodput and segments a burst with assembly by size and hybrid assembly",
    "beyond the paper",
    Setup(PAPER, None, grids, runs_of(RUNS, QUICK_RUNS), WORLD),
    find,
)
