"""Assumptions of ``optcp outage`` that can be set: meaning, bounds and values."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from optcp.errors import InputError, nearest
from optcp.outage.mechanisms import HOLD_OFF, LINE_RATE, RESERVED
from optcp.outage.world import SIZES, Assumptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LONG_MS = 500.0
"""Detection time in ms above which runs are longer."""


@dataclass(frozen=True)
class Setting:
    """Numeric assumption that can be set.

    Attributes
    ----------
    summary
        Meaning and unit.
    above
        Exclusive lower bound.
    most
        Inclusive upper bound.
    least
        Inclusive lower bound, which replaces ``above``.
    whole
        Whether it is an integer.
    """

    summary: str
    above: float = 0.0
    most: float = math.inf
    least: float | None = None
    whole: bool = False

    @property
    def expected(self) -> str:
        """Expected values, in words."""
        kind = "a whole number" if self.whole else "a number"
        low = f"above {self.above:g}" if self.least is None else f"from {self.least:g}"
        return f"{kind} {low}" + ("" if math.isinf(self.most) else f" to {self.most:g}")

    def read(self, text: str) -> float:
        """Return the number of a text.

        Raises
        ------
        ValueError
            If the text is not such a number.
        """
        value = int(text) if self.whole else float(text)
        enough = value > self.above if self.least is None else value >= self.least
        if not (math.isfinite(value) and enough and value <= self.most):
            raise ValueError
        return value


SETTINGS: dict[str, Setting] = {
    "rate_mbps": Setting("rate of every link, or of the fastest one if the file has rates, in Mb/s", most=100_000),
    "peak": Setting("utilisation of the busiest link before failures", most=1),
    "flow_mbps": Setting("maximum rate of the host of a long flow, in Mb/s"),
    "short_share": Setting("share of short flows in the traffic", least=0, most=0.99),
    "short_mbps": Setting("rate of the hosts that send short flows, in Mb/s"),
    "clamp_mb": Setting("maximum size of a short flow, in MB"),
    "detour": Setting("ratio of fibre length to the link length of the network", least=1, most=10),
    "queue_ms": Setting("queue limit of a port, as transmission time in ms", most=10_000),
    "hosts_seed": Setting("seed of the pairs of long flows", least=0, whole=True),
    "warm_up_s": Setting("time of the failure, in s", least=1.5, most=1000),
    "window_s": Setting("time over which losses are counted, in s", most=10_000),
    "detection_ms": Setting("detection time of failures, in ms (BFD: 3 ms to 3 s)", least=0, most=60_000),
    "optical_detection_ms": Setting("detection of a failed fibre in the optical layer, in ms", least=0, most=60_000),
    "optical_protection_ms": Setting("switchover of optical protection, in ms (G.873.1: 50 ms)", least=0, most=60_000),
    "optical_restoration_s": Setting("path computation and set-up of optical restoration, in s", least=0, most=3600),
    "hold_off_ms": Setting("hold-off of the IP layer above the optical layer, in ms", least=0, most=60_000),
    "cuts_a_1000_km": Setting("fibre cuts per 1000 km and year, for nines", most=1000),
}
PROTECTION, RESTORATION = "optical-protection", "optical-restoration"
NEEDS = {
    "optical_detection_ms": (PROTECTION, RESTORATION),
    "optical_protection_ms": (PROTECTION,),
    "optical_restoration_s": (RESTORATION,),
    "hold_off_ms": (f"+{HOLD_OFF}+",),
    "circuits": ("1+1", "1:1"),
}
"""Parts of the names of mechanisms that use an assumption; others are used by all."""
CHOICES: dict[str, tuple[tuple[str, ...], str]] = {
    "sizes": (tuple(SIZES), "distribution of the sizes of short flows"),
    "circuits": (
        (RESERVED, LINE_RATE),
        "rate of the circuits of 1:1 and 1+1: the share that their flows have of the working links (reserved), or the "
        "whole rate of the failed link for each (line-rate)",
    ),
}
"""Assumptions that are names: their values and meaning."""


@dataclass(frozen=True)
class Assumed(Assumptions):
    """Assumptions of the scenarios, detection time and cut rate.

    Attributes
    ----------
    detection_ms
        Detection time of failures, in ms.
    cuts_a_1000_km
        Fibre cuts per 1000 km and year.
    circuits
        ``capacity`` of mechanisms with dedicated backups, "reserved" or "line-rate".
    """

    detection_ms: float = 10.0
    cuts_a_1000_km: float = 2.7
    circuits: str = RESERVED

    @classmethod
    def read(cls, settings: Mapping[str, str]) -> Assumed:
        """Read assumptions of ``--set``; others keep their defaults.

        Raises
        ------
        InputError
            If a name is unknown or a value invalid.
        """
        found = {name: _value(name, text) for name, text in settings.items()}
        return cls(**found)  # type: ignore[arg-type]

    @staticmethod
    def is_used(name: str, mechanisms: Iterable[str]) -> bool:
        """Return whether one of these mechanisms uses an assumption."""
        return name not in NEEDS or any(part in mechanism for part in NEEDS[name] for mechanism in mechanisms)

    def check(self, settings: Iterable[str], mechanisms: Sequence[str]) -> None:
        """Refuse given assumptions that no mechanism uses."""
        for name in settings:
            if not self.is_used(name, mechanisms):
                example = NEEDS[name][0] if name != "hold_off_ms" else f"ti-lfa+{HOLD_OFF}+{PROTECTION}"
                raise InputError(f"--set {name}: no mechanism uses it; add one, such as --mechanism {example}")

    @property
    def world(self) -> Assumptions:
        """Assumptions of the scenarios; with slow detection, losses count for three times that plus 4 s at least."""
        same = Assumptions(**{name: getattr(self, name) for name in Assumptions.names()})
        if self.detection_ms <= LONG_MS:
            return same
        return replace(same, window_s=max(self.window_s, 3 * self.detection_ms / 1000 + 4))


def _value(name: str, text: str) -> float | str:
    known = [one.name for one in fields(Assumed)]
    if name not in known:
        raise InputError(f"--set {name}: unknown assumption; {nearest(name, known)}")
    if name in CHOICES:
        values, summary = CHOICES[name]
        if text not in values:
            raise InputError(f"--set {name}={text}: no such value; {nearest(text, values)} ({summary})")
        return text
    setting = SETTINGS[name]
    try:
        return setting.read(text)
    except (ValueError, OverflowError):
        raise InputError(f"--set {name}={text}: expected {setting.expected} ({setting.summary})") from None
