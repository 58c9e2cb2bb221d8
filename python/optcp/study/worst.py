"""Worst time of a link failure: one run is forked at many times, and the link fails in each fork."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich.table import Table

from optcp.common import arguments
from optcp.common.terminal import show_table
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.errors import InputError, nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from optcp.scenarios.live import LiveRun
    from optcp.scenarios.scenario import Scenario

BACKOFF = 1.5
"""Minimum growth of the RTO of a flow in RTO backoff."""
LEAST_DEVIATIONS = 2.0
"""Minimum number of standard deviations above the mean of a quantity that explains a time."""
MOST_TIMES = 100_000
"""Maximum number of times of one search."""


class Cut(NamedTuple):
    """Failure at one time, compared with the same run without failure after the same window."""

    at_s: float
    """Time of the failure, in s."""
    lost_mb: float
    """In-order data of the counted flows that the run without failure delivers in addition, in MB."""
    stalled: int
    """Number of counted flows without new in-order data in the second half of the window."""
    backed_off: int
    """Number of counted flows whose RTO at the end of the window is at least 1.5 times its value at the failure."""
    rtos: int
    """Number of RTOs of the counted flows in the window."""
    dropped: int
    """Number of packets of all traffic that are dropped in the window."""


REASONS = {
    "stalled": "stalled flows",
    "backed_off": "flows in RTO backoff",
    "rtos": "RTOs",
    "dropped": "dropped packets",
}
"""Quantities that can explain a time, by attribute of :class:`Cut`."""


def times(stop_ps: int, start_ps: int, end_ps: int | None, step_ps: int, window_ps: int) -> range:
    """Return the times of failures in ps, whose windows end with the run at the latest.

    Raises
    ------
    InputError
        If there is no such time, or more than :data:`MOST_TIMES`.
    """
    last_ps = stop_ps - window_ps
    end_ps = last_ps if end_ps is None else end_ps
    if not start_ps <= end_ps <= last_ps:
        raise InputError(
            f"expected --from <= --to <= {last_ps / PICOSECONDS_A_SECOND:g} s, the end of the run without --window"
        )
    found = range(start_ps, end_ps + 1, max(step_ps, 1))
    if len(found) > MOST_TIMES:
        raise InputError(f"--every: expected at most {MOST_TIMES} times, got {len(found)}")
    return found


def search(world: Scenario, link: str, group: str | None, seed: int, at_ps: range, window_ps: int) -> list[Cut]:
    """Return the cost of a failure of a link at each time. Failures of the scenario are removed.

    Parameters
    ----------
    group
        Group of the counted flows; by default all TCP flows.

    Raises
    ------
    InputError
        If there is no such link or group, or no TCP flow.
    """
    world = world.set({"failures": [], "observe": []})
    known = [one["name"] for one in world.resolved["links"]]
    if link not in known:
        raise InputError(f"there is no link {arguments.shown(link)}; {nearest(link, known)}")
    run, later = world.start(seed), world.start(seed)
    counted = _counted(run, group)
    cuts = []
    for time_ps in at_ps:
        run.advance(f"{time_ps} ps")
        later.advance(f"{time_ps + window_ps} ps")
        with run.fork() as cut:
            before, dropped = cut.flows, _dropped(cut)
            cut.fail(link)
            cut.advance(f"{time_ps + window_ps // 2} ps")
            half = _delivered(cut)
            cut.advance(f"{time_ps + window_ps} ps")
            after, delivered = cut.flows, _delivered(cut)
            found = (
                delivered == half,
                after.numbers("rto_s") >= BACKOFF * before.numbers("rto_s"),
                after.numbers("rtos") - before.numbers("rtos"),
            )
            stalled, backed_off, rtos = (int(values[counted].sum()) for values in found)
            lost_mb = float((_delivered(later) - delivered)[counted].sum()) / 1e6
            at_s = time_ps / PICOSECONDS_A_SECOND
            cuts.append(Cut(at_s, lost_mb, stalled, backed_off, rtos, _dropped(cut) - dropped))
    return cuts


def _counted(run: LiveRun, group: str | None) -> NDArray[np.bool_]:
    """Return which flows are counted, shape (flows,)."""
    groups = run.flows["group"].tolist()
    if not groups:
        raise InputError("the scenario has no TCP flow")
    if group is not None and group not in groups:
        raise InputError(f"there is no group {arguments.shown(group)} of TCP flows; {nearest(group, groups)}")
    return np.array([group in (None, one) for one in groups])


def _delivered(run: LiveRun) -> NDArray[np.float64]:
    return run.flows.numbers("delivered_bytes").astype(np.float64)


def _dropped(run: LiveRun) -> int:
    return int(run.ports.numbers("dropped").sum())


def reason(cuts: list[Cut], worst: Cut) -> str:
    """Return the quantity of a time that exceeds its mean by most standard deviations, and at least two."""
    found: list[tuple[float, str]] = []
    for name, words in REASONS.items():
        values = np.array([getattr(cut, name) for cut in cuts], dtype=float)
        mean, deviation = float(values.mean()), float(values.std())
        value = getattr(worst, name)
        if value - mean > LEAST_DEVIATIONS * deviation:
            found.append(((value - mean) / deviation, f"{value} {words} (mean {mean:.3g})"))
    return max(found)[1] if found else "no counted quantity far above its mean"


def show(console: Console, cuts: list[Cut], top: int) -> None:
    """Print the worst times, and a summary over all times."""
    ranked = sorted(cuts, key=lambda cut: (-cut.lost_mb, cut.at_s))
    table = Table(box=None, pad_edge=False)
    for head in ("time (s)", "data lost (MB)", *REASONS.values()):
        table.add_column(head, justify="right")
    for cut in ranked[:top]:
        table.add_row(f"{cut.at_s:g}", f"{cut.lost_mb:.3f}", *(str(getattr(cut, name)) for name in REASONS))
    show_table(console, table)
    lost = np.array([cut.lost_mb for cut in cuts])
    spread = f", standard deviation {lost.std(ddof=1):.3f} MB" if len(cuts) > 1 else ""
    console.print(f"mean of {len(cuts)} times: {lost.mean():.3f} MB{spread}")
    if len(cuts) > 2 and lost[:-1].std() > 0 and lost[1:].std() > 0:
        console.print(f"correlation of successive times: {np.corrcoef(lost[:-1], lost[1:])[0, 1]:.2f}")
    console.print(f"worst time: {ranked[0].at_s:g} s, with {reason(cuts, ranked[0])}")
