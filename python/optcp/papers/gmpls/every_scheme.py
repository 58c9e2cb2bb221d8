"""Beyond the paper: its four scenarios under every protection scheme, with its own TCP and with today's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from optcp import stats
from optcp.papers import curve
from optcp.papers.assume import built_in, overrides
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.gmpls import section8
from optcp.papers.gmpls.paper import PAPER, PAPER_RUNS
from optcp.papers.gmpls.section8 import DELTA_MS, LOCAL_BACKUP, PATH_BACKUP, SCENARIOS, SWITCH_OVER_S, Delays
from optcp.papers.verdict import row
from optcp.papers.windows import bytes_between
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.model import Row
    from optcp.study import Done

SCHEMES = ("local", "loopback-variant", "loopback", "path", "1:1", "1+1", "restoration")
PROFILES = ("ns2-2001", "linux-6")
COMPUTATION = "50 ms"
PROCESSING = "1 ms"
QUICK_SEEDS = 6

NOTE = (
    "The paper has local, path, loopback and loopback-variant only. Compare schemes within a profile: a packet of "
    "linux-6 carries 52 bytes of headers beside the 1000 that count, so that it fills the access with a goodput of "
    "95 %, and more in a window in which holes from before are filled."
)


@exhibit
class EveryScheme(Exhibit):
    """Goodput of (5 s, 7.5 s] in per cent of the access bandwidth, and the difference from local protection."""

    id = "gmpls/every-scheme"
    title = "Every protection scheme on the paper's scenarios"
    paper = PAPER
    where = "beyond the paper, on section 8's topology"
    paper_runs = None
    assumed = (
        *(parameter for parameter in section8.ASSUMED if parameter.name not in ("profile", "switch_delay_ms")),
        built_in("switch_delay_ms", str(DELTA_MS[0])),
        built_in("restoration", f"{COMPUTATION} of computation, {PROCESSING} at each node that a message comes to"),
    )

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """A study a profile: every scheme in every scenario until 7.5 s."""
        base = [
            *overrides(self.assumed, chosen),
            ("stop", f"{SWITCH_OVER_S[1]:g} s"),
            ("protection.0.revert", "none"),
            ("failures", '[{ link = ["L1", "L2"], at = "5 s" }]'),  # the run ends before the repair
            ("observe", '[{ name = "goodput", kind = "goodput", interval = "100 ms" }]'),
        ]
        cells = [cell(scenario, scheme) for scenario in SCENARIOS for scheme in SCHEMES]
        return {
            profile: Grid.of_cells(
                section8.SCENARIO,
                cells,
                [*base, ("tcp.all.profile", profile)],
                title=f"gmpls every scheme, {profile}",
                digest=options.digest,
                fork=options.fork,
            )
            for profile in PROFILES
        }

    def seeds(self, study: str, size: Size) -> int:
        """As many as the paper's own, fewer for a quick look."""
        del study
        return size.of(PAPER_RUNS, QUICK_SEEDS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Two rows a (profile, scenario, scheme)."""
        access_bps = float(chosen["access_share"]) * float(chosen["backbone_bps"])
        full = access_bps / 8 * (SWITCH_OVER_S[1] - SWITCH_OVER_S[0]) / 100
        rows = [one for profile in PROFILES for one in _rows(profile, done[profile].once(measure) / full)]
        return Evaluation(rows, [], [], [NOTE])


def cell(scenario: str, scheme: str) -> dict[str, str]:
    """The settings of one branch."""
    restoring = {"protection.0.computation": COMPUTATION, "protection.0.signal_processing": PROCESSING}
    return {
        **Delays.of(scenario).settings,
        "parameters.scheme": scheme,
        "parameters.backup": json.dumps(LOCAL_BACKUP if scheme == "local" else PATH_BACKUP),
        "parameters.switch_delay": f"{DELTA_MS[0]} ms",
        **(restoring if scheme == "restoration" else {}),
    }


def measure(done: Done) -> NDArray[np.float64]:
    """Bytes in (5 s, 7.5 s], float64[seeds, scenarios, schemes]."""
    goodput = np.array([[run.series["goodput"]["bytes"][0] for run in runs] for _, runs in done]).astype(np.int64)
    good = bytes_between(goodput, curve.STEP_S, *SWITCH_OVER_S)
    return good.reshape(len(goodput), len(SCENARIOS), len(SCHEMES)).astype(np.float64)


def _rows(profile: str, pct: NDArray[np.float64]) -> list[Row]:
    rows = []
    for i, scenario in enumerate(SCENARIOS):
        for j, scheme in enumerate(SCHEMES):
            key = {"profile": profile, "scenario": scenario, "scheme": scheme}
            rows.append(row(dict(key), "switchover_pct", None, stats.mean(pct[:, i, j]), ""))
            gap = stats.paired(pct[:, i, j], pct[:, i, 0])
            rows.append(row(dict(key), "minus_local_points", None, gap.interval, ""))
    return rows
