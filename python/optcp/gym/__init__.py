"""Gymnasium environments over live runs: a window controller, and a protection policy.

Each episode is a fork of a run that has been simulated once, so that :meth:`reset` takes less than a millisecond.
:meth:`fork` returns an environment in the same state, for vectors of environments and for search. Classes are also
registered, as ``optcp.gym:optcp/Window-v0`` and ``optcp.gym:optcp/Protection-v0``. The module needs Gymnasium:
``pip install 'optcp[gym]'``.

References
----------
M. Towers and others, *Gymnasium: A Standard Interface for Reinforcement Learning Environments*, 2024.
"""

from optcp.data.labelled import optional

gymnasium = optional("gymnasium")

from optcp.gym.base import LiveEnv  # noqa: E402 - after the message on a missing library
from optcp.gym.protection import Outage, ProtectionEnv  # noqa: E402
from optcp.gym.window import WindowEnv  # noqa: E402

for _name, _kind in (("Window", WindowEnv), ("Protection", ProtectionEnv)):
    gymnasium.register(f"optcp/{_name}-v0", entry_point=_kind)

__all__ = ["LiveEnv", "Outage", "ProtectionEnv", "WindowEnv"]
