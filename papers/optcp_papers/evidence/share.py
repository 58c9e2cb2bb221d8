"""Share of a drop-tail link between two flows of different RTTs."""

from __future__ import annotations

import json

import numpy as np

from optcp import stats
from optcp.study import Study
from optcp_papers.evidence import outside
from optcp_papers.evidence.base import Experiment, Figures, Found, Runs, Studies, geometric
from optcp_papers.evidence.variants import VARIANTS

SCENARIO = "tcp-share"
DRAWS = outside.DATA / "share-draws.json"
"""Random draws that ns-2 has also run, by base RTT of the far flow.

They are the delays of the access links of the near and the far flow in ms, and their starts in s.
"""
HOST_TIMES = ("0", "1.2")
"""Maximum delay of a packet in a host, in ms."""


def studies(seeds: int | None) -> Studies:
    """Return one study per variant, RTT of the far flow and host time; ``seeds`` is the number of draws."""
    return {
        (variant, round_trip, host_time): Study(
            SCENARIO,
            {"draw": {f"{n}": {**settings, **_drawn(draw, host_time)} for n, draw in enumerate(of_round_trip[:seeds])}},
            title=f"{variant}, {round_trip} ms, host time {host_time} ms",
        )
        for variant, settings in VARIANTS.items()
        for round_trip, of_round_trip in json.loads(DRAWS.read_text(encoding="utf-8")).items()
        for host_time in HOST_TIMES
    }


def _drawn(draw: list[float], host_time_ms: str) -> dict[str, str]:
    near_ms, far_ms, near_s, far_s = draw
    return {
        "parameters.near_delay": f"{near_ms} ms",
        "parameters.far_delay": f"{far_ms} ms",
        "parameters.near_start": f"{near_s} s",
        "parameters.far_start": f"{far_s} s",
        "parameters.host_time": f"{host_time_ms} ms",
    }


def find(done: Found) -> Figures:
    """Yield the ratio of goodputs by ratio of RTTs, and our ratio divided by the ratio of ns-2, by draw."""
    for (variant, round_trip, host_time), runs in done.items():
        key = {"variant": variant, "far RTT (ms)": round_trip, "host time (ms)": host_time}
        goodput = runs["goodput"].between("50 s", "500 s")
        logs = (goodput.at(group="near") / goodput.at(group="far")).each(np.log).values[0]
        yield {**key, "figure": "near / far"}, geometric(stats.mean(logs))
        theirs = outside.ns2_values("share", key)
        if theirs and host_time == "0":
            same = outside.Figure(outside.THIS_WORLD, "share", key, "1", 1.0, 1.0)
            quotient = geometric(stats.mean(logs - theirs[: len(logs)]))
            yield {**key, "figure": "ours / ns-2.35"}, quotient, same


SHARE = Experiment(
    name="share",
    title="Two flows of unlike round trips",
    value="geometric mean",
    unit_n="draws",
    digits=2,
    source=Runs(SCENARIO, studies, find),
    about=(
        "Two greedy flows share a drop-tail link of 10 Mb/s with a queue of 84 packets of 1500 bytes, including the "
        "packet in transmission. The near flow has a base RTT of 40 ms, the far one of 80, 160 or 320 ms. The figure "
        "is the goodput of the near flow divided by the goodput of the far one, from 50 s to 500 s. The scenario is "
        "`tcp-share`.",
        "Only start times and small parts of delays are random for such a pair, and they decide which flow the full "
        "queue affects. The effect is known: Floyd and Jacobson, On traffic phase effects in packet-switched "
        "gateways, 1992. With a far RTT of 80 ms the near flow has between a third of and six times the goodput of "
        "the far one. Both are drawn at random, and ns-2.35 has run the same draws: the rows `ours / ns-2.35` compare "
        "them by draw.",
        "Hosts that delay each packet by a random time desynchronise the flows. The maximum is one transmission time "
        "of the shared link, 1.2 ms (`jitter` of the host's link; ns-2's `overhead_`). The published figures do not "
        "state whether their senders had such a delay; they are compared with both. The random delays of ns-2.35 are "
        "its own, so the two programs can be compared by draw only without them.",
    ),
)
