"""The senders whose long runs are compared: a line adds one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Variant:
    """A profile with one of the loss recoveries in it; the names are those of scenario files."""

    profile: str
    recovery: str

    @property
    def name(self) -> str:
        """As rows and figures name it."""
        return f"{self.profile} {self.recovery}"

    @property
    def settings(self) -> list[tuple[str, str]]:
        """Overrides of the scenarios ``tcp-*``, which have these parameters."""
        return [("parameters.profile", self.profile), ("parameters.recovery", self.recovery)]


VARIANTS = (
    Variant("ns2-2.35", "newreno"),
    Variant("ns2-2.35", "sack1"),
    Variant("rfc", "newreno"),
    Variant("rfc", "sack"),
)
