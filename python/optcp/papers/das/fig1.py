"""Figure 1: what routers do about a failure that ends before the hold-down timer, and about one that outlasts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optcp import stats
from optcp.papers import judge
from optcp.papers.assume import Assumed, built_in, not_negative, overrides, positive
from optcp.papers.base import Evaluation, Exhibit, exhibit
from optcp.papers.das.paper import PAPER, PS, scenario
from optcp.papers.model import Series
from optcp.papers.verdict import row
from optcp.study import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optcp.papers.assume import Value
    from optcp.papers.base import Options, Size
    from optcp.papers.judge import Part
    from optcp.papers.model import Key, Row
    from optcp.study import Done, RunData

RUNS = 100
QUICK_RUNS = 8
TRANSIENT, PERSISTENT, OWN = "transient", "persistent", "persistent, own updates"
CELLS: dict[str, list[tuple[str, str]]] = {
    TRANSIENT: [("parameters.works_at", "4 s")],
    PERSISTENT: [("parameters.works_at", "12 s")],
    OWN: [("parameters.works_at", "12 s"), ("parameters.converge", "own")],
}
"""A failure of 2 s and one of 10 s against a hold-down of 5 s; and routers that do not wait for each other."""
FAILURE_S = 2.0
REPAIR_S = {TRANSIENT: 4.0, PERSISTENT: 12.0, OWN: 12.0}
ROUTERS = ("A", "B", "C", "D")
CAUSES = ("failure", "repair", "convergence")


@exhibit
class Fig1(Exhibit):
    """The control actions of every run, and whether packets looped."""

    id = "das/fig1"
    title = "A transient and a persistent failure under fast reroute"
    paper = PAPER
    where = "section I, Fig. 1"
    paper_runs = 1
    assumed = (
        Assumed("hold_down_s", 5.0, positive, lambda value: [("routing.hold_down", f"{value:g} s")]),
        Assumed("detection_ms", 10.0, not_negative, lambda value: [("routing.detection", f"{value:g} ms")]),
        Assumed("flooding_ms", 5.0, not_negative, lambda value: [("routing.flooding", f"{value:g} ms")]),
        Assumed("spf_ms", 50.0, not_negative, lambda value: [("routing.spf", f"{value:g} ms")]),
        Assumed(
            "update_within_ms",
            1000.0,
            positive,
            lambda value: [("routing.update", f"uniform({min(100.0, float(value)):g} ms, {value:g} ms)")],
        ),
        built_in("backup", "remote LFA, A-B-D-C"),
    )

    def studies(self, chosen: Mapping[str, Value], options: Options) -> dict[str, Grid]:
        """One study a kind of failure."""
        common = overrides(self.assumed, chosen)
        return {
            name: Grid.grid(
                scenario("fig1"),
                [*common, *settings],
                title=f"das fig1, {name}",
                digest=options.digest,
                fork=options.fork,
            )
            for name, settings in CELLS.items()
        }

    def seeds(self, study: str, size: Size) -> int:
        """A seed draws how long each router takes to rewrite its table; the paper draws one timeline."""
        del study
        return size.of(RUNS, QUICK_RUNS)

    def evaluate(self, chosen: Mapping[str, Value], done: Mapping[str, Done]) -> Evaluation:
        """Updates and lost packets by kind of failure, the claim, and the timeline of the first seed."""
        del chosen
        runs = {name: [run for _, (run,) in study] for name, study in done.items()}
        rows: list[Row] = []
        series: list[Series] = []
        for name, of_kind in runs.items():
            key: Key = {"failure": name}
            for metric in ("announcements", "on_failure", "on_repair", "on_convergence"):
                values = [_routing(run)[metric] for run in of_kind]
                rows.append(row(key, metric, None, stats.mean(values), ""))
            expired = [run.drops.get("ttl-expired", 0) for run in of_kind]
            rows.append(row(key, "ttl_expired", None, stats.mean(expired), ""))
            hit = stats.wilson(int(np.count_nonzero(expired)), len(expired)).times(100)
            rows.append(row(key, "loops_pct", None, hit, ""))
            series += _timeline(key, of_kind[0])
        judged = judge.judge_each(self.id, {"short-failures-silent": {"#, one flow": announces_what_lasts(runs)}})
        note = (
            "Forwarding entries that routers rewrite, between all nodes. The backup of A-C is a tunnel; when A has "
            "converged before B, packets go to B outside of it, and B sends them back. `loops_pct` is the share of "
            "runs in which a time to live of 64 was used up."
        )
        return Evaluation(rows, judged, series, [note])


def _routing(run: RunData) -> dict[str, Any]:
    if run.routing is None:
        raise ValueError("the scenario has routing")
    return run.routing


def _instants_s(run: RunData, cause: str) -> list[float]:
    return [step["at_ps"] / PS for step in _routing(run)["steps"] if step["cause"] == cause]


def _timeline(key: Key, run: RunData) -> list[Series]:
    """Who rewrote how many entries when, and the flow's goodput."""
    found = []
    for cause in CAUSES:
        steps = [step for step in _routing(run)["steps"] if step["cause"] == cause]
        x = [round(step["at_ps"] / PS, 6) for step in steps]
        y = [float(ROUTERS.index(step["router"])) for step in steps]
        of_cause: Key = {**key, "routers": " ".join(ROUTERS), "seed": run.seed}
        found.append(Series(cause, of_cause, "time", "s", "router", "", x, y))
    goodput = run.series["goodput"]["bytes"][0].astype(float)
    x = [round(0.1 * (i + 1), 3) for i in range(goodput.size)]
    y = [round(value * 8 / 0.1 / 1e6, 4) for value in goodput.tolist()]
    found.append(Series("goodput", {**key, "seed": run.seed}, "time", "s", "goodput", "Mb/s", x, y))
    return found


def announces_what_lasts(runs: Mapping[str, list[RunData]]) -> list[Part]:
    """Judge: the short failure is not announced, the long one is, and no packet loops if all routers act together."""
    short, long, own = (runs[name] for name in CELLS)

    def count(of: list[RunData], holds: list[bool]) -> str:
        return f"in {sum(holds)} of {len(of)} runs"

    quiet = [_routing(run)["announcements"] == _routing(run)["on_convergence"] == 0 for run in short]
    same = [_routing(run)["on_failure"] == _routing(run)["on_repair"] > 0 for run in short]
    told = [_routing(run)["announcements"] > 0 for run in long]
    # Packets leave the backup where its head rewrites its entries: at the last update of all, or later.
    together = [
        len(set(of_failure)) == 1
        for run in long
        for of_failure in [[at for at in _instants_s(run, "convergence") if at <= REPAIR_S[PERSISTENT]]]
    ]
    unexpired = ["ttl-expired" not in run.drops for run in long]
    looped = ["ttl-expired" in run.drops for run in own]
    return [
        judge.exact_part(f"2 s: no routing update {count(short, quiet)}", all(quiet)),
        judge.exact_part(f"2 s: every rewritten entry is written back {count(short, same)}", all(same)),
        judge.exact_part(f"10 s: announced {count(long, told)}", all(told)),
        judge.exact_part(f"10 s: the backup's head acts with the last router {count(long, together)}", all(together)),
        judge.exact_part(f"10 s: no packet's time to live is used up {count(long, unexpired)}", all(unexpired)),
        judge.exact_part(f"10 s, own updates: packets loop until they expire {count(own, looped)}", any(looped)),
    ]
