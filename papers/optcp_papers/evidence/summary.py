"""Summary of all evidence: counts by run, signed differences, and the largest ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optcp.stats.quantiles import sample_quantile
from optcp_papers.evidence import kernel, outages, outside
from optcp_papers.evidence.base import Result, Row
from optcp_papers.evidence.kernel_worlds import World, worlds
from optcp_papers.evidence.page import table

NEAR_SHARE = 0.01
"""Relative distance from the kernel's range within which a completion time counts as near."""
WORST = 10
CONTROLS = "controls"
RECORDED = {kernel.SOURCE, *outages.SOURCES.values()}
"""Sources that are counted by run."""

HEAD = """\
# TCP: evidence from outside

Each part of the TCP model is compared with sources outside of this project: runs of other programs, recorded kernels,
scripts and published figures. [Details](tcp-evidence-details.md) has every comparison and the rule of agreement. The
page [TCP](../reference/tcp.md) describes each mechanism.
"""
KERNEL = """\
## Recorded Linux kernels

A run is one set-up with one congestion control, simulated with ten seeds and recorded three to five times. Its figures
are completion time, losses, retransmissions, ssthresh, window and, after an outage, the stall.
"""
LIMITS = """\
* **Two kernels.** Linux 6.18 with 250 Hz and no `fq`, and after outages also Linux 6.1 with 1000 Hz, partly with `fq`.
  Both have a link between two TUN devices and no GRO, which servers often have.
* **Order of rules and runs.** Most rules of `linux-6` were written after the general set-ups had been recorded. The
  rules on timers, F-RTO and timestamps follow an outside report of 466 recorded runs. They were written before the
  set-ups with outages were recorded. Rules for probes, duplicates and partial ACKs were written after. No constant was
  fitted.
* **Changed ACKs.** With a large receive buffer the recorded kernel acknowledges nearly every segment. Those runs set
  `ack = "every-packet"`, so they do not test the delayed ACKs of `linux-6`.
* **Phase effects.** Hosts have no jitter here. Where several BBR flows share a full queue, a host jitter of 10 us
  restores the kernel's shares of losses and the length of STARTUP.
"""


@dataclass(frozen=True)
class KernelRun:
    """Rows of one flow of a recorded set-up under one congestion control."""

    experiment: str
    name: str
    world: World
    control: str
    rows: Mapping[str, Row]

    def gap(self, quantity: str) -> float:
        """Return the relative distance of a time from the kernel's range, with its sign; 0 within."""
        row = self.rows[quantity]
        return outside.gap(row.value, row.outside[0].text) or 0.0

    def difference(self, quantity: str) -> float:
        """Return the relative distance of a figure from the middle of the kernel's range, with its sign."""
        row = self.rows[quantity]
        middle = sum(outside.printed_range(row.outside[0].text)) / 2
        return row.value / middle - 1

    def is_within(self) -> bool:
        """Return whether every figure agrees with the kernel."""
        return all(row.outside[0].verdict == "agrees" for row in self.rows.values())

    def is_unchanged(self) -> bool:
        """Return whether it runs the profile without another ACK rule."""
        return not self.world.large_buffer


def kernel_runs(results: Sequence[Result]) -> list[KernelRun]:
    """Return the flows of all experiments with recorded kernels."""
    runs: dict[tuple[str, ...], dict[str, Row]] = {}
    for result in results:
        if result.experiment in {kernel.KERNEL.name, *outages.RUNS}:
            for row in result.rows:
                key = (result.experiment, row.key["world"], row.key["control"], row.key.get("flow", ""))
                runs.setdefault(key, {})[row.key["quantity"]] = row
    return [
        KernelRun(experiment, name, worlds(experiment)[name], control, rows)
        for (experiment, name, control, _), rows in runs.items()
    ]


def render(results: Sequence[Result]) -> str:
    """Render the page."""
    runs = kernel_runs(results)
    recorded = [KERNEL, _groups(runs), _worst(runs)] if runs else []
    parts = [HEAD, _sources(results), *recorded, _controls(results), "## Limits\n", LIMITS]
    return "\n".join(part for part in parts if part)


def _sources(results: Sequence[Result]) -> str:
    """Render the number of comparisons by kind of source, without recorded kernels."""
    groups: dict[str, list[str]] = {"ns-2 and ns-3": [], "papers, RFCs and drafts": [], "Linux 6.1 and 6.12": []}
    for result in results:
        for item in (item for row in result.rows for item in row.outside if item.sharp is not None):
            if item.source in outside.worked_here() or item.source in RECORDED:
                continue
            name = "ns-2 and ns-3" if item.source.startswith("ns-") else "papers, RFCs and drafts"
            groups["Linux 6.1 and 6.12" if item.source.startswith("Linux") else name].append(item.verdict)
    lines = [
        [name, str(len(found)), *(str(found.count(verdict)) for verdict in ("agrees", "near", "differs"))]
        for name, found in groups.items()
    ]
    shown = table(["source", "figures", "agree", "within 5 %", "differ"], lines)
    return f"## Other programs and publications\n\n{shown}"


def _groups(runs: Sequence[KernelRun]) -> str:
    """Render counts and signed medians of the runs of each kind."""
    general = [run for run in runs if run.experiment not in outages.RUNS]
    groups = {
        "`linux-6` unchanged": [run for run in general if run.is_unchanged()],
        "with an ACK per segment": [run for run in general if not run.is_unchanged()],
        "outages, an ACK per segment": [run for run in runs if run.experiment == outages.NAME],
        "the same at 1000 Hz": [run for run in runs if run.experiment == outages.NAME_1000_HZ],
    }
    lines = []
    for name, listed in ((name, listed) for name, listed in groups.items() if listed):
        near = sum(abs(run.gap("completion (s)")) <= NEAR_SHARE for run in listed)
        median = _median([run.difference("completion (s)") for run in listed])
        stalls = [run.difference("stall (s)") for run in listed if "stall (s)" in run.rows]
        stall = f"{100 * _median(stalls):+.2f} %" if stalls else "-"
        within = sum(run.is_within() for run in listed)
        lines.append([name, str(len(listed)), str(within), str(near), f"{100 * median:+.2f} %", stall])
    headings = [
        "runs",
        "number",
        "all figures in range",
        "completion in range or 1 %",
        "median difference",
        "median of stalls",
    ]
    acks = [run.gap("new ACK (s)") for run in runs if run.experiment in outages.RUNS]
    resumed = sum(abs(gap) <= 2 * NEAR_SHARE for gap in acks)
    return (
        f"{table(headings, lines)}\nDifferences are from the middle of the kernel's range, of completion times and of "
        f"stalls. After an outage the first ACK of new data is within the range or 2 % in {resumed} of {len(acks)} "
        "runs.\n"
    )


def _median(values: Sequence[float]) -> float:
    return sample_quantile(np.asarray(values), 0.5)


def _figures(runs: Sequence[KernelRun]) -> Iterator[tuple[float, KernelRun, str]]:
    for run in runs:
        for quantity in ("completion (s)", "stall (s)"):
            if quantity in run.rows:
                yield run.gap(quantity), run, quantity


def _worst(runs: Sequence[KernelRun]) -> str:
    """Render the largest distances of times from the kernel's range."""
    ordered = sorted(_figures(runs), key=lambda item: -abs(item[0]))[:WORST]
    lines = [
        [
            f"`{run.name}`",
            run.control,
            quantity,
            f"{run.rows[quantity].value:.3f}",
            run.rows[quantity].outside[0].text,
            f"{100 * gap:+.1f} %",
        ]
        for gap, run, quantity in ordered
    ]
    headings = ["set-up", "control", "figure", "ours", "kernel", "misses by"]
    return f"The largest differences of a time:\n\n{table(headings, lines)}"


def _controls(results: Sequence[Result]) -> str:
    """Render the controls of Linux 6.1 with the most figures that differ."""
    counts: dict[str, list[str]] = {}
    for result in results:
        if result.experiment == CONTROLS:
            for row in result.rows:
                counts.setdefault(row.key["control"], []).extend(item.verdict for item in row.outside)
    shares = [(name, found.count("differs"), len(found)) for name, found in counts.items()]
    listed = [f"`{name}` in {differ} of {all_}" for name, differ, all_ in shares if all_ and differ / all_ > 1 / 4]
    if not listed:
        return ""
    return (
        f"Some congestion controls of Linux 6.1 differ in more than a quarter of their figures: {', '.join(listed)}.\n"
    )
