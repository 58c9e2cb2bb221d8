"""Extension of the paper: a fibre cut under TCP, over burst switches and over IP routers.

# Model

NSFNET with 14 nodes, each with a host that sends a flow to every other. The fibre between Urbana-Champaign and
Pittsburgh, which carries 24 of the 91 shortest routes, fails at 1 s and is repaired at 1.5 s. Nodes are burst switches
with four wavelengths of 1 Gb/s per fibre, or IP routers with links of 4 Gb/s. Each run is compared with the same run
without the failure.

# Parameters

Assembly timer and protection of the bursts; reaction of the routers.

# Limitations

One fibre, one outage and one load. Hosts' links are the bottleneck, so that detours have room.
"""

import functools
import itertools

import numpy as np

from optcp.papers import over
from optcp.papers.assume import Assumed, positive
from optcp.papers.exhibit import Chosen, Exhibit, Findings, Found, Setup, rows, runs_of
from optcp.papers.kit import Axis, Cells, Grid, Key, Options, Part, Run, Settings, StudyResult, curves_over, judge
from optcp_papers.obs.paper import PAPER, SCENARIO, grid, ms, numbers

RUNS, QUICK_RUNS = 30, 2
BURSTS, ROUTERS = "bursts", "routers"
CORE, IP = (SCENARIO.with_name(f"{name}.toml") for name in ("obs-cut", "obs-cut-ip"))
TIMERS_S = (1e-4, 1e-3, 1e-2)
NONE, DEFLECTION, BACKUP, COPIES = "none", "deflection", "1:1", "1+1"
CONVERGENCE, REROUTE = "convergence", "ti-lfa"
REPAIRS: dict[str, Settings] = {
    NONE: {},
    CONVERGENCE: {"routing.hold_down": "0 s", "routing.spf": "50 ms", "routing.update": "100 ms"},
    REROUTE: {"routing.repair": REROUTE},
}
"""Settings of the routers by reaction. Times of convergence are typical values."""
CUT = Axis("cut", ("no", "yes"))
PROTECTION = Axis("protection", (NONE, DEFLECTION, BACKUP, COPIES))
REPAIR = Axis("protection", tuple(REPAIRS))
TIMER = numbers("timer_s", TIMERS_S)
FAILED_S = 1.0
LIKE_IP_PCT, FREE_PCT, LIKE_REROUTE_PCT = 2.0, 0.5, 1.0
"""Margins of the claims, in percentage points of the data received without the cut."""
NOTE = (
    "`lost_mb` and `lost_pct`: data received from the cut to the end of the run, 2 s later, compared with the same run "
    "without the cut. `blocked_pct`: bursts per fibre that found no wavelength, with the cut."
)

WORLD = (
    Assumed("detection_ms", 10.0, positive, "parameters.detection"),
    Assumed("access_mbps", 100.0, positive, "parameters.access"),
)


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return the grids over burst switches and over routers, each with and without the cut."""

    def uncut(cut: str) -> Settings:
        return {} if cut == "yes" else {"failures": []}

    def bursts(protection: str, timer_s: float, cut: str) -> Settings:
        timer = {"parameters.timer": f"{round(1e6 * timer_s)} us"}
        return {**timer, "bursts.0.protection": protection, **uncut(cut)}

    def routers(protection: str, cut: str) -> Settings:
        return {**REPAIRS[protection], **uncut(cut)}

    made = functools.partial(grid, more={}, chosen=chosen, options=options, world=WORLD)
    return {
        BURSTS: made("obs/cut, bursts", [(PROTECTION, TIMER, CUT)], bursts, scenario=CORE),
        ROUTERS: made("obs/cut, routers", [(REPAIR, CUT)], routers, scenario=IP),
    }


def received(done: StudyResult) -> Cells:
    """Return the data received from the cut on, in MB."""
    return done.each(received_mb)


def received_mb(run: Run) -> float:
    """Return the data of a run that receivers got from the cut on, in MB."""
    goodput = run["goodput"]
    first = round(FAILED_S / (goodput.interval_s or 1.0))
    return float(goodput["bytes"][first:].astype(np.float64).sum()) / 1e6


def blocked(done: StudyResult) -> Cells:
    """Return the share of requests for a wavelength that were in vain, in %."""
    return done.each(blocked_pct)


def blocked_pct(run: Run) -> float:
    """Return this share of one run."""
    asked = float(run["fibres"]["bursts"].sum())
    return 100 * float(run["fibres"]["lost"].sum()) / asked


def lost(mb: Cells) -> Cells:
    """Return the data that a cut costs, in MB."""
    return mb.at(cut="no") - mb.at(cut="yes")


def lost_pct(mb: Cells) -> Cells:
    """Return the data that a cut costs, in % of the data without it."""
    return 100 * lost(mb) / mb.at(cut="no")


def find(found: Found) -> Findings:
    """Return the cost of the cut by timer and protection, the cost with routers, and the claims."""
    mb = {name: done.once(received) for name, done in found.done.items()}
    bursts, routers = (lost_pct(mb[name]) for name in (BURSTS, ROUTERS))
    blocked_ = found.done[BURSTS].once(blocked).at(cut="yes")
    of_bursts = rows(
        {"lost_mb": lost(mb[BURSTS]).mean(), "lost_pct": bursts.mean(), "blocked_pct": blocked_.mean()}, key=of(BURSTS)
    )
    of_routers = rows({"lost_mb": lost(mb[ROUTERS]).mean(), "lost_pct": routers.mean()}, key=of(ROUTERS))
    without = [
        *rows({"received_mb": mb[BURSTS].at(cut="no").mean()}, key=of(BURSTS)),
        *rows({"received_mb": mb[ROUTERS].at(cut="no").mean()}, key=of(ROUTERS)),
    ]
    shown = [item for item in of_bursts if item.metric == "lost_pct"]
    x, y = over.Axis("assembly timer", "s"), over.Axis("data lost by the cut", "%")
    claims = {
        "cut-like-ip": like_ip(bursts, routers),
        "cut-timer": [
            judge.paired_part(
                "unprotected, 10 ms minus 0.1 ms",
                bursts.at(protection=NONE, timer_s=TIMERS_S[-1]),
                bursts.at(protection=NONE, timer_s=TIMERS_S[0]),
                "above",
                "points",
            )
        ],
        "cut-order": in_order(bursts),
        "cut-copies-free": [
            judge.equivalence_part(f"{ms(timer)}: 1+1", bursts.at(protection=COPIES, timer_s=timer), FREE_PCT, "%")
            for timer in TIMERS_S
        ],
        "cut-deflection-like-reroute": [
            judge.equivalence_part(
                f"{ms(timer)}: deflection minus TI-LFA",
                bursts.at(protection=DEFLECTION, timer_s=timer) - routers.at(protection=REROUTE),
                LIKE_REROUTE_PCT,
                "points",
            )
            for timer in TIMERS_S
        ],
    }
    return Findings([*of_bursts, *of_routers, *without], claims, curves_over(shown, "timer_s", x, y), [NOTE])


def of(core: str) -> Key:
    """Return the leading part of row keys."""
    return {"core": core}


def like_ip(bursts: Cells, routers: Cells) -> list[Part]:
    """Judge: without a reaction, bursts lose as much as routers at every timer."""
    alike = routers.at(protection=NONE)
    return [
        judge.equivalence_part(
            f"{ms(timer)}: bursts minus routers",
            bursts.at(protection=NONE, timer_s=timer) - alike,
            LIKE_IP_PCT,
            "points",
        )
        for timer in TIMERS_S
    ]


def in_order(bursts: Cells) -> list[Part]:
    """Judge: at every timer no protection costs most, then 1:1, then deflection, then 1+1."""
    parts = []
    order = (NONE, BACKUP, DEFLECTION, COPIES)
    for timer in TIMERS_S:
        for worse, better in itertools.pairwise(order):
            first, second = (bursts.at(protection=item, timer_s=timer) for item in (worse, better))
            name = f"{ms(timer)}: {worse} minus {better}"
            parts.append(judge.paired_part(name, first, second, "above", "points"))
    return parts


CUT_EXHIBIT = Exhibit(
    "obs/cut",
    "Data that a fibre cut costs TCP over burst switches, against IP routers",
    "beyond the paper",
    Setup(PAPER, None, grids, runs_of(RUNS, QUICK_RUNS), WORLD),
    find,
)
