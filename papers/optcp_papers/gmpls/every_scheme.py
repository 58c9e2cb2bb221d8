"""Extension of the paper: its four scenarios under every protection scheme, with its own and current TCP."""

from optcp.papers.assume import built_in, overrides
from optcp.papers.kit import (
    Chosen,
    Exhibit,
    Findings,
    Found,
    Grid,
    Options,
    Row,
    Settings,
    Setup,
    StudyResult,
    rows,
    runs_of,
)
from optcp_papers.gmpls import section8
from optcp_papers.gmpls.paper import PAPER, PAPER_RUNS
from optcp_papers.gmpls.section8 import DELTA_MS, LOCAL_BACKUP, PATH_BACKUP, SCENARIOS, SWITCH_OVER_S, Delays

SCHEMES = ("local", "loopback-variant", "loopback", "path", "1:1", "1+1", "restoration")
PROFILES = ("ns2-2001", "linux-6")
COMPUTATION = "50 ms"
PROCESSING = "1 ms"
QUICK_SEEDS = 6

NOTE = (
    "The paper has local, path, loopback and loopback-variant only. Compare schemes within one profile: a linux-6 "
    "packet carries 52 bytes of headers in addition to 1000 bytes of data. A full access link therefore yields a "
    "goodput of 95 %, and more in a window that fills earlier gaps."
)

ASSUMED = (
    *(parameter for parameter in section8.ASSUMED if parameter.name not in ("profile", "switch_delay_ms")),
    built_in("switch_delay_ms", str(DELTA_MS[0])),
    built_in("restoration", f"{COMPUTATION} of computation, {PROCESSING} at each node that receives a message"),
)


def scheme(name: str) -> Settings:
    """Return the settings of a scheme."""
    restoring = {"protection.0.computation": COMPUTATION, "protection.0.signal_processing": PROCESSING}
    return {
        "parameters.scheme": name,
        "parameters.backup": LOCAL_BACKUP if name == "local" else PATH_BACKUP,
        "parameters.switch_delay": f"{DELTA_MS[0]} ms",
        **(restoring if name == "restoration" else {}),
    }


def grids(chosen: Chosen, options: Options) -> dict[str, Grid]:
    """Return one grid per profile: every scheme in every scenario until 7.5 s."""
    base = {
        **overrides(ASSUMED, chosen),
        "stop": f"{SWITCH_OVER_S[1]:g} s",
        "protection.0.revert": "none",
        "failures": [{"link": ["L1", "L2"], "at": "5 s"}],  # the run ends before the repair
        "observe": [{"name": "goodput", "kind": "goodput", "interval": "100 ms"}],
    }
    axes = {
        "scenario": {scenario: Delays.of(scenario).settings for scenario in SCENARIOS},
        "scheme": {name: scheme(name) for name in SCHEMES},
    }

    def profile_grid(profile: str) -> Grid:
        settings = {**base, "tcp.all.profile": profile}
        return options.grid(section8.SCENARIO, settings, axes, f"gmpls every scheme, {profile}")

    return {profile: profile_grid(profile) for profile in PROFILES}


def find(found: Found) -> Findings:
    """Return goodput in (5 s, 7.5 s] in % of the access bandwidth, and the difference from local protection."""
    access_bps = found.number("access_share") * found.number("backbone_bps")
    return Findings(
        [row for profile, done in found.done.items() for row in compared(profile, done, access_bps)], notes=[NOTE]
    )


def compared(profile: str, done: StudyResult, access_bps: float) -> list[Row]:
    """Return two rows per scenario and scheme."""
    start_s, end_s = SWITCH_OVER_S
    pct = done["goodput"].between(start_s, end_s).total("group") / (access_bps / 8 * (end_s - start_s) / 100)
    minus_local = pct - pct.at(scheme="local")
    return rows({"switchover_pct": pct.mean(), "minus_local_points": minus_local.mean()}, key={"profile": profile})


EVERY_SCHEME = Exhibit(
    "gmpls/every-scheme",
    "Every protection scheme on the paper's scenarios",
    "beyond the paper, on section 8's topology",
    Setup(PAPER, None, grids, runs_of(PAPER_RUNS, QUICK_SEEDS), ASSUMED),
    find,
)
