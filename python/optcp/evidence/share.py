"""How two flows of unlike round trips share a drop-tail link."""

from __future__ import annotations

import functools
import json
import math
from typing import TYPE_CHECKING

from optcp import stats
from optcp.evidence import outside
from optcp.evidence.base import Experiment, Result, Row, Setting, cells, experiment, provenance
from optcp.evidence.variants import VARIANTS
from optcp.study import Study, execute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.study import Done

SCENARIO = "tcp-share"
DRAWS = outside.DATA / "share-draws.json"
"""Delays of the near and the far flow's own link in ms, and their starts in s, by base round trip of the far one."""
HOST_TIMES = ("0", "1.2")
"""How long a host keeps a packet at most, in ms."""
SHARE, QUOTIENT = "near / far", "ours / ns-2.35"


@functools.cache
def draws() -> dict[str, list[tuple[float, float, float, float]]]:
    """The draws that ns-2 has run too."""
    listed = json.loads(DRAWS.read_text(encoding="utf-8"))
    return {round_trip: [tuple(draw) for draw in of_round_trip] for round_trip, of_round_trip in listed.items()}


@experiment
class Share(Experiment):
    """Ratio of goodputs by ratio of round trips."""

    name = "share"
    title = "Two flows of unlike round trips"
    value = "geometric mean"
    unit_n = "draws"
    digits = 2
    about = (
        "Two greedy flows share a drop-tail link of 10 Mb/s with a queue of 84 packets of 1500 bytes, the packet in "
        "transmission included. The near flow has a base round trip of 40 ms, the far one of 80, 160 or 320 ms. "
        "Goodput of the near flow divided by that of the far one, from 50 s to 500 s. The scenario is `tcp-share`.",
        "Nothing but starts and the last digits of delays is random about such a pair, and they decide whom the full "
        "queue hits (S. Floyd, V. Jacobson, On traffic phase effects in packet-switched gateways, 1992): with a far "
        "round trip of 80 ms the near flow gets from a third of to six times what the far one gets. Both are drawn, "
        "and ns-2.35 has run the same draws: the rows `ours / ns-2.35` compare draw by draw.",
        "A host that keeps each packet for a random time up to one transmission time of the shared link (`jitter` of "
        "its link, 1.2 ms; ns-2's `overhead_`) keeps the flows out of step. The given figures do not say whether their "
        "senders had such a time; they stand beside both. The random times of ns-2.35 are its own, so draw by draw "
        "the two programs can be compared only without them.",
    )

    def run(self, setting: Setting) -> Result:
        """Two rows a variant and round trip; ``setting.seeds`` is the number of draws."""
        wanted = {
            (variant.name, round_trip, host_time): cells(
                SCENARIO,
                [[*variant.settings, *_settings(draw, host_time)] for draw in of_round_trip[: setting.seeds]],
                f"share: {variant.name}, {round_trip} ms, host time {host_time} ms",
            )
            for variant in VARIANTS
            for round_trip, of_round_trip in draws().items()
            for host_time in HOST_TIMES
        }
        tasks = [Study(study, seeds=(1,)) for study in wanted.values()]
        done = dict(zip(wanted, execute(tasks, setting.root, setting.jobs, setting.progress), strict=True))
        rows: list[Row] = []
        for (variant, round_trip, host_time), study in done.items():
            key = {"variant": variant, "far RTT (ms)": round_trip, "host time (ms)": host_time}
            logs = _log_shares(study)
            rows.append(self.row({**key, "figure": SHARE}, _geometric(logs)))
            theirs = outside.ns2_values(self.name, key)
            if theirs and host_time == "0":
                quotients = [ours - other for ours, other in zip(logs, theirs[: len(logs)], strict=True)]
                same = outside.Figure(outside.THIS_WORLD, self.name, key, "1", 1.0, 1.0)
                rows.append(self.row({**key, "figure": QUOTIENT}, _geometric(quotients), [same]))
        return self.result(rows, provenance(SCENARIO, {" ".join(name): study for name, study in done.items()}))


def _settings(draw: tuple[float, float, float, float], host_time_ms: str) -> list[tuple[str, str]]:
    near_ms, far_ms, near_s, far_s = draw
    return [
        ("parameters.near_delay", f"{near_ms} ms"),
        ("parameters.far_delay", f"{far_ms} ms"),
        ("parameters.near_start", f"{near_s} s"),
        ("parameters.far_start", f"{far_s} s"),
        ("parameters.host_time", f"{host_time_ms} ms"),
    ]


def _log_shares(study: Done) -> list[float]:
    """The logarithm of the ratio of goodputs, by draw."""
    (_, runs), *_ = study
    sums = [run.series["goodput"]["bytes"][:, 1:].sum(axis=1) for run in runs]
    return [math.log(int(near) / int(far)) for near, far in sums]


def _geometric(logs: Sequence[float]) -> stats.Interval:
    mean = stats.mean(logs)
    return stats.Interval(math.exp(mean.estimate), math.exp(mean.low), math.exp(mean.high), mean.n)
