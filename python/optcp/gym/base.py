"""Common part of the environments: runs that episodes fork, time steps, and forks of environments."""

from __future__ import annotations

import abc
import copy
from typing import TYPE_CHECKING, Any, Self

import gymnasium
import numpy as np

from optcp.common import arguments
from optcp.data.table import PICOSECONDS_A_SECOND
from optcp.data.times import Instant, picoseconds
from optcp.errors import InputError
from optcp.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from optcp.scenarios.live import LiveRun

MOST = 1e9
"""Upper bound of observed values without a physical bound; larger values are observed as this bound."""


class LiveEnv(gymnasium.Env, abc.ABC):  # type: ignore[misc] # pyproject.toml excludes the types of an optional library
    """Environment over a live run; subclasses define spaces, actions, observations and rewards.

    The constructor simulates the scenario until ``start``, once per seed and without observations. Each episode
    continues a fork of one of these runs, and is truncated at its last step.

    Parameters
    ----------
    world
        Scenario.
    start
        Simulated time at which episodes begin.
    interval
        Simulated time per step.
    end
        Simulated time at which episodes are truncated; by default the end of the run.
    seeds
        Seeds of the scenario; each episode draws one.

    Raises
    ------
    InputError
        If a time is invalid, or an episode has no step.
    """

    def __init__(
        self, world: Scenario, *, start: Instant, interval: Instant, end: Instant | None, seeds: Iterable[int]
    ) -> None:
        world = arguments.one_of(world, Scenario, "world", "a scenario").set("observe", [])
        self.start_ps, self.interval_ps = picoseconds(start), picoseconds(interval)
        last_ps = picoseconds(world.stop_s)
        self.end_ps = last_ps if end is None else picoseconds(end)
        if not self.start_ps < self.start_ps + self.interval_ps <= self.end_ps <= last_ps:
            raise InputError("expected start < start + interval <= end <= stop of the scenario")
        self._trunks = [world.start(seed) for seed in arguments.wholes(seeds, "seeds")]
        if not self._trunks:
            raise InputError("seeds: expected at least one seed")
        for trunk in self._trunks:
            trunk.advance(_text(self.start_ps))
        self._run: LiveRun | None = None

    @property
    def run(self) -> LiveRun:
        """Run of the current episode; changes of it affect this episode only.

        Raises
        ------
        InputError
            Before the first :meth:`reset`.
        """
        if self._run is None:
            raise InputError("call reset() before the first step")
        return self._run

    @property
    def interval_s(self) -> float:
        """Simulated time per step, in s."""
        return self.interval_ps / PICOSECONDS_A_SECOND

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode: fork one of the prepared runs.

        Parameters
        ----------
        seed
            Seed of the environment's random draws; see :meth:`gymnasium.Env.reset`.
        options
            Without effect.

        Returns
        -------
        tuple
            First observation, and an empty mapping.
        """
        super().reset(seed=seed, options=options)
        drawn = int(self.np_random.integers(len(self._trunks)))
        self._run = self._trunks[drawn].fork()
        self._begin()
        return self._observation(), {}

    def step(self, action: object) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Apply an action and simulate one interval.

        Returns
        -------
        tuple
            Observation, reward, ``False`` (episodes have no terminal state), whether the episode ends here, and an
            empty mapping.
        """
        until_ps = self.run.now_ps + self.interval_ps
        self._act(action)
        self._advance(until_ps)
        observation = self._observation()
        return observation, self._reward(), False, until_ps + self.interval_ps > self.end_ps, {}

    def fork(self) -> Self:
        """Return an independent environment in the same state, which continues from the same simulated bits."""
        fork = copy.copy(self)
        fork._run = None if self._run is None else self._run.fork()
        fork._np_random = copy.deepcopy(self._np_random)
        fork.action_space = copy.deepcopy(self.action_space)
        return fork

    def _advance(self, until_ps: int) -> None:
        """Simulate everything before a time."""
        self.run.advance(_text(until_ps))

    @abc.abstractmethod
    def _begin(self) -> None:
        """Prepare an episode."""

    @abc.abstractmethod
    def _act(self, action: Any) -> None:  # noqa: ANN401 - an element of the action space
        """Apply an action now."""

    @abc.abstractmethod
    def _observation(self) -> NDArray[np.float32]:
        """Return the observation of the last interval."""

    @abc.abstractmethod
    def _reward(self) -> float:
        """Return the reward of the last interval."""


def bounded(values: NDArray[Any]) -> NDArray[np.float32]:
    """Return observed values within the bounds of their space; NaN is observed as zero."""
    found: NDArray[np.float32] = np.clip(np.nan_to_num(values, nan=0.0, posinf=MOST), 0, MOST).astype(np.float32)
    return found


def _text(time_ps: int) -> str:
    return f"{time_ps} ps"
