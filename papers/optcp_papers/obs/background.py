"""Background traffic as simulated: Hurst parameter, packet rate, and packet size."""

from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, defined, rows, runs_of
from optcp.papers.kit import Grid, Options, Series, tables
from optcp_papers.obs.paper import PAPER, WORLD, grid

RUNS = 20
"""Number of estimates. One has a standard error of 0.03, their mean a fifth of that."""
QUICK_RUNS = 5
SLOTS = 8192
SLOT_MS = 250
"""Counting interval. Estimates require intervals above the onset of self-similarity, 100 ms."""
GROUP = "there"
WHY_HURST = "Estimates of a superposition of renewal processes approach H from above as intervals grow."
WHY_MEAN = "Traffic is long-range dependent, so even means over an hour vary."
WHY_BITS = "Sizes below 40 B and above 1500 B are not generated."
NOTE = (
    f"Local Whittle estimates from {SLOTS} counts of {SLOT_MS} ms, one per seed in `series` with its asymptotic "
    "interval; the row's interval is over the seeds."
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the sources of one direction, without the file."""
    listed = {"name": "background", "kind": "datagrams", "groups": [GROUP], "interval": f"{SLOT_MS} ms"}
    alone = {"flows": [], "end_with_flows": False, "stop": f"{SLOTS * SLOT_MS} ms", "observe": [listed]}
    return {"background": grid("obs/background", [()], dict, alone, chosen, options)}


def find(found: Found) -> Findings:
    """Return the estimates over the seeds with the published values, and the estimate of each seed."""
    done, printed = found.only, tables("obs")
    packets, size = (done["background"].cells(column).at(group=GROUP) for column in ("sent_packets", "sent_bytes"))
    hurst, error = (
        defined(done.metric(name).at(group=GROUP), "too few packets for an estimate of the Hurst parameter")
        for name in ("hurst", "hurst_error")
    )
    rate = packets.total("time") / (SLOTS * SLOT_MS / 1000)
    bits = 8 * size.total("time") / packets.total("time")
    measured = [
        *rows({"hurst": hurst.mean()}, {"hurst": printed["background_hurst"]}, WHY_HURST),
        *rows({"packets_per_s": rate.mean()}, {"packets_per_s": printed["background_packets_per_s"]}, WHY_MEAN),
        *rows({"packet_bits": bits.mean()}, {"packet_bits": printed["background_mean_packet_bits"]}, WHY_BITS),
    ]
    seeds, h = [float(seed) for seed in done.seeds], hurst.values
    ends = ((h + side * 1.96 * error.values).tolist() for side in (-1, 1))
    intervals = [(round(low, 4), round(high, 4)) for low, high in zip(*ends, strict=True)]
    curve = Series("hurst", {}, "seed", "", "Hurst parameter", "", seeds, h.round(4).tolist(), intervals)
    return Findings(measured, {}, [curve], [NOTE])


BACKGROUND = Exhibit(
    "obs/background",
    "The background traffic: Hurst parameter, rate and sizes",
    "section IV.A",
    Setup(PAPER, None, grids, runs_of(RUNS, QUICK_RUNS), WORLD),
    find,
)
