"""Values of links that a scheduled change can replace during a run."""

from __future__ import annotations

import copy
from typing import Any

CHANGING = ("rate_bps", "delay_ps", "queue_packets", "queue_bytes")
"""Properties of a direction that schedules can change."""


def changed_links(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, str]]:
    """Return the scheduled changes that turn one scenario into another; empty if they differ in anything else.

    Parameters
    ----------
    before, after
        Scenarios with all defaults filled in.
    """
    if len(before["links"]) != len(after["links"]):
        return []
    changes = []
    rest = copy.deepcopy(after)
    for old, new, left in zip(before["links"], after["links"], rest["links"], strict=True):
        for way, direction in (("forward", "forward"), ("reverse", "backward")):
            values = _changes(old[way], new[way])
            if values:
                changes.append({"link": new["name"], "direction": direction, **values})
                for name in CHANGING:
                    left[way].pop(name, None)
                    if name in old[way]:
                        left[way][name] = old[way][name]
    return changes if rest == before else []


def _changes(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    """Return the keys of a scheduled change of one direction."""
    changes = {}
    if old["rate_bps"] != new["rate_bps"]:
        changes["rate"] = f"{new['rate_bps']} bps"
    # A delay that is a distribution is drawn at the start of a run.
    if old["delay_ps"] != new["delay_ps"] and not isinstance(new["delay_ps"], dict):
        changes["delay"] = f"{new['delay_ps']} ps"
    limits = [{name: one[name] for name in CHANGING[2:] if name in one} for one in (old, new)]
    if limits[0] != limits[1]:
        ((name, limit),) = limits[1].items()
        unit = "packets" if name == "queue_packets" else "B"
        changes["queue"] = "unlimited" if limit is None else f"{limit} {unit}"
    return changes
