"""Picture of a session as SVG, for notebooks without a kernel."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from optcp.plots import network

if TYPE_CHECKING:
    from optcp.widget.session import Session

HEIGHT = 130
"""Height of the plot, in pixels."""
LEFT = 46
ASIDE = 5.0
"""Distance of a queue from its link, in pixels."""


def picture(session: Session) -> str:
    """Return the network with links by utilisation and with queues, and the goodput of all branches, as SVG."""
    frame = session.frame()
    use = {
        link["name"]: None if link["name"] in frame["down"] else max(both)
        for link, *both in zip(session.links, frame["use"][::2], frame["use"][1::2], strict=True)
    }
    plot, below = _plot(session, f"{frame['now']:.6g} s")
    bars = [
        _bar(session.places[port.ends[0]], session.places[port.ends[1]], min(share, 1.0))
        for port, share in zip(session.lines, frame["queue"], strict=True)
        if share > 0
    ]
    placed = session.places, session.height
    return network.of_use(session.nodes, session.links, placed, use, "".join(bars), (plot, below))


def _bar(begin: network.Place, end: network.Place, share: float) -> str:
    """Return the bar of a queue, as in the playground: at its node, next to the link."""
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    length = math.hypot(dx, dy) or 1.0
    x, y = begin[0] + ASIDE * dy / length, begin[1] - ASIDE * dx / length
    first = min(9 / length, 0.2)
    last = first + 0.4 * share
    return (
        f'<line x1="{x + first * dx:.1f}" y1="{y + first * dy:.1f}" x2="{x + last * dx:.1f}" y2="{y + last * dy:.1f}" '
        'stroke="#d98200" stroke-width="5" stroke-linecap="round"/>'
    )


def _plot(session: Session, said: str) -> tuple[str, float]:
    """Return the plot below the network as SVG, and its height."""
    top, stop_s = session.height + 14, session.network()["stop"]
    curves = {
        (group, number): (values["goodput"], branch.curves["end"])
        for number, branch in enumerate(session.branches, 1)
        for group, values in branch.curves["groups"].items()
    }
    most = max((max(points[1::2]) for points, _ in curves.values()), default=0) or 1.0
    base = top + HEIGHT
    parts = [
        f'<text x="{LEFT}" y="{top - 4:.0f}" fill="currentColor">'
        f"{html.escape(said)}; goodput in Mbit/s until {stop_s:g} s, maximum {most:.3g}</text>",
        f'<path d="M{LEFT},{top:.0f} V{base:.0f} H{network.WIDTH - LEFT}" fill="none" stroke="currentColor"/>',
    ]
    entries = []
    for number, ((group, branch), (points, end_s)) in enumerate(curves.items()):
        x = [LEFT + (network.WIDTH - 2 * LEFT) * at / stop_s for at in (*points[::2], end_s)]
        y = [base - HEIGHT * value / most for value in points[1::2]]
        steps = " ".join(f"V{value:.1f} H{end:.1f}" for value, end in zip(y, x[1:], strict=True))
        ink = network.INKS[number % len(network.INKS)]
        parts.append(f'<path d="M{x[0]:.1f},{y[0]:.1f} {steps}" fill="none" stroke="{ink}" stroke-width="1.5"/>')
        entries.append((ink, "", f"{group}, branch {branch}" if len(session.branches) > 1 else group))
    keys, below = network.keys(entries, base + 14)
    return "".join(parts) + keys, HEIGHT + 32 + below
