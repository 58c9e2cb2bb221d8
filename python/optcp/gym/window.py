"""Environment of a window controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from optcp.common import arguments
from optcp.gym.base import MOST, LiveEnv, bounded
from optcp.scenarios.live import MOST_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from optcp.data.times import Instant
    from optcp.scenarios.scenario import Scenario

LEAST_RATE = 1e-3
"""Minimum rate in the reward, in Mbit/s."""


class WindowEnv(LiveEnv):
    """Control of the congestion windows of TCP flows.

    An action contains one number a per flow, from -1 to 1. It multiplies the flow's window by 2^a at the start of the
    step, as Orca does with a larger exponent. A window is at least one segment and at most 2^32 bytes. The flow's own
    congestion control continues from there; ``congestion = "reno"`` adds about one segment per RTT.

    An observation has one row per flow, with these columns:

    * 0: cwnd, in kB
    * 1: rate of in-order data at the receiver in the last interval, in Mbit/s
    * 2: smoothed RTT, in ms
    * 3: minimum smoothed RTT of the episode, in ms
    * 4: retransmissions in the last interval, in segments

    The reward of a step is the sum of log2(rate) - ``delay_weight`` * log2(smoothed RTT / minimum) over the flows, with
    rates in Mbit/s of at least 0.001.

    Parameters
    ----------
    world
        Scenario.
    flows
        Name of a flow, or several. They must be active at ``start``.
    delay_weight
        Weight of delay in the reward.
    start, interval, end, seeds
        As for :class:`LiveEnv`.

    Raises
    ------
    InputError
        If an argument is invalid, or a flow does not exist.

    References
    ----------
    S. Abbasloo, C.-Y. Yen and H. J. Chao, *Classic Meets Modern: a Pragmatic Learning-Based Congestion Control for the
    Internet*, SIGCOMM 2020 (action).
    K. Winstein and H. Balakrishnan, *TCP ex Machina: Computer-Generated Congestion Control*, SIGCOMM 2013 (reward).
    """

    def __init__(
        self,
        world: Scenario,
        flows: str | Sequence[str],
        *,
        delay_weight: float = 1.0,
        start: Instant = "1 s",
        interval: Instant = "100 ms",
        end: Instant | None = None,
        seeds: Iterable[int] = (1,),
    ) -> None:
        self.flows = [flows] if isinstance(flows, str) else arguments.texts(flows, "flows")
        self.delay_weight = arguments.number(delay_weight, "delay_weight")
        super().__init__(world, start=start, interval=interval, end=end, seeds=seeds)
        for trunk in self._trunks:
            for name in self.flows:
                trunk.flow(name)
        self.action_space = spaces.Box(-1, 1, (len(self.flows),), np.float32)
        self.observation_space = spaces.Box(0, MOST, (len(self.flows), 5), np.float32)

    def _begin(self) -> None:
        self._minimum_s = np.full(len(self.flows), np.inf)
        self._rates, self._retransmissions = np.zeros((2, len(self.flows)))
        self._read()

    def _read(self) -> None:
        """Read the flows, and the change since the last reading."""
        states = [self.run.flow(name) for name in self.flows]
        self._srtt_s = np.array([state.srtt_s for state in states])
        self._minimum_s = np.fmin(self._minimum_s, self._srtt_s)
        self._cwnd_bytes = np.array([state.cwnd_bytes for state in states])
        self._counts = np.array([(state.delivered_bytes, state.retransmissions) for state in states])

    def _act(self, action: Any) -> None:  # noqa: ANN401
        factors = 2.0 ** np.clip(arguments.shaped(action, "action", (len(self.flows),)), -1, 1)
        for name, window in zip(self.flows, self._cwnd_bytes * factors, strict=True):
            self.run.set_cwnd(name, round(min(max(window, 1), MOST_COUNT)))

    def _advance(self, until_ps: int) -> None:
        before = self._counts
        super()._advance(until_ps)
        self._read()
        delivered, self._retransmissions = (self._counts - before).T
        self._rates = 8e-6 * delivered / self.interval_s

    def _observation(self) -> NDArray[np.float32]:
        columns = (self._cwnd_bytes / 1e3, self._rates, 1e3 * self._srtt_s, 1e3 * self._minimum_s)
        return bounded(np.column_stack([*columns, self._retransmissions]))

    def _reward(self) -> float:
        delays = np.nan_to_num(np.log2(self._srtt_s / self._minimum_s))
        return float(np.sum(np.log2(np.maximum(self._rates, LEAST_RATE)) - self.delay_weight * delays))
