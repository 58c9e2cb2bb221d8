"""Sentences on differences between runs, one template per metric.

Each template has the field ``{change}`` (such as "3.9 % lower" or "3.9 % more"). If the metric has a label (a group,
port, fibre or reason), it also has ``{label}``. The pair of words states the direction of an increase and of a
decrease.
"""

from __future__ import annotations

import math

MORE = ("more", "fewer")
HIGHER = ("higher", "lower")
LONGER = ("longer", "shorter")

TEMPLATES: dict[str, tuple[str, tuple[str, str]]] = {
    "goodput_bps": ("goodput of {label} was {change}", HIGHER),
    "active_goodput_bps": ("goodput of {label} during its active time was {change}", HIGHER),
    "active_from_s": ("the first flow of {label} started {change}", ("later", "earlier")),
    "active_to_s": ("the last flow of {label} finished {change}", ("later", "earlier")),
    "completion_mean_s": ("the mean completion time of {label} was {change}", LONGER),
    "completion_p50_s": ("the median completion time of {label} was {change}", LONGER),
    "completion_p95_s": ("the 95th percentile of completion times of {label} was {change}", LONGER),
    "completion_p99_s": ("the 99th percentile of completion times of {label} was {change}", LONGER),
    "completed_flows": ("{change} flows of {label} finished", MORE),
    "unfinished_flows": ("{change} flows of {label} did not finish", MORE),
    "operation_mean_s": ("the mean duration of operations of {label} was {change}", LONGER),
    "operation_p50_s": ("the median duration of operations of {label} was {change}", LONGER),
    "operation_p95_s": ("the 95th percentile of durations of operations of {label} was {change}", LONGER),
    "operation_p99_s": ("the 99th percentile of durations of operations of {label} was {change}", LONGER),
    "completed_operations": ("{change} operations of {label} finished", MORE),
    "unfinished_operations": ("{change} operations of {label} did not finish", MORE),
    "aborted_flows": ("{change} flows of {label} were aborted", MORE),
    "outage_p50_s": ("the median stall of affected flows of {label} was {change}", LONGER),
    "outage_longest_s": ("the maximum stall of affected flows of {label} was {change}", LONGER),
    "hit_flows": ("{change} flows of {label} lost packets to a failure or switchover (copies excluded)", MORE),
    "utilisation": ("utilisation of {label} was {change}", HIGHER),
    "hurst": ("the Hurst parameter of {label} was {change}", HIGHER),
    "hurst_error": ("the standard error of the Hurst parameter of {label} was {change}", HIGHER),
    "sojourn_mean_s": ("the mean queueing delay at {label} was {change}", LONGER),
    "sojourn_longest_s": ("the maximum queueing delay at {label} was {change}", LONGER),
    "queue_mean_packets": ("the mean queue at {label} was {change}", LONGER),
    "queue_max_packets": ("the maximum queue at {label} was {change}", LONGER),
    "bursts": ("{change} bursts requested a wavelength ({label})", MORE),
    "burst_loss": ("the share of blocked bursts ({label}) was {change}", HIGHER),
    "wavelength_utilisation": ("wavelength utilisation ({label}) was {change}", HIGHER),
    "drop_share": ("packet loss (copies excluded) was {change}", HIGHER),
    "drops": ("{change} packets were dropped ({label})", MORE),
    "sent": ("{change} packets were sent", MORE),
    "delivered": ("{change} packets were delivered", MORE),
    "dropped": ("{change} packets were dropped", MORE),
    "in_flight": ("{change} packets were in flight at the end of the run", MORE),
    "copied": ("{change} copies of packets were sent", MORE),
    "duplicated": ("{change} packets were duplicated by links", MORE),
    "copies_discarded": ("{change} copies of packets were discarded", MORE),
    "marked": ("{change} ECN marks were set", MORE),
    "packet_hops": ("{change} packets were transmitted, counted per hop", MORE),
    "events": ("{change} events were processed", MORE),
    "announcements": ("{change} link states were originated", MORE),
}
"""Template and direction words by metric."""


def changed(metric: str, relative_pct: float, label: str) -> str:
    """Return the sentence on a relative change of a metric, without its end.

    Parameters
    ----------
    relative_pct
        Change relative to the reference, in %.
    label
        Group, port, fibre or reason; empty if the metric has none.

    Examples
    --------
    >>> changed("drops", 93.59, "link-down"), changed("sent", -24.57, "")
    ('93.6 % more packets were dropped (link down)', '24.6 % fewer packets were sent')
    >>> changed("goodput_bps", -3.9, "bulk")
    'goodput of bulk was 3.90 % lower'
    """
    template, (increase, decrease) = TEMPLATES[metric]
    change = f"{significant(abs(relative_pct))} % {increase if relative_pct > 0 else decrease}"
    return template.format(change=change, label=label.replace("-", " ") if metric == "drops" else label)


def significant(value: float) -> str:
    """Return a number with three significant digits and no exponent; from 100 on a whole number.

    Examples
    --------
    >>> significant(93.59), significant(99.96), significant(0.000012345), significant(12345.6), significant(3)
    ('93.6', '100', '0.0000123', '12346', '3.00')
    """
    rounded = float(f"{value:.2e}")
    if rounded == 0 or not math.isfinite(rounded):
        return f"{value:.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(rounded))))}f}"
