"""Scenarios that readers can try on the site: ``<!-- try: NAME -->`` on a page, which repositories do not show.

NAME is a scenario of the playground, or else a shipped scenario. On the site the playground appears there with this
scenario, or nothing if the installation has no simulator for browsers.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from optcp import _core
from optcp.scenarios.shipped import find
from optcp.web.playground import Start, address, read, starts
from optcp.web.playground.world import observed

if TYPE_CHECKING:
    from pathlib import PurePosixPath

PLAYGROUND = "playground.html"
"""Where the page of the simulator is on the site."""

MARK = re.compile(r"^<!-- try: (\S+) -->$", re.MULTILINE)
FRAME = """<div class="try">
<iframe src="{to}" title="{title}: simulated on this page" loading="lazy"></iframe>
<p>Simulated in your browser, packet by packet. <a href="{to}">Open it alone</a>.</p>
</div>"""


def world(name: str) -> Start:
    """Return the scenario of a mark, with all observations that the page draws."""
    for start in starts():
        if Path(start.name).stem == name:
            return start
    start = read(find(name))
    return replace(start, text=observed(_core.Scenario.load(str(find(name))), start.text))


def framed(text: str, place: PurePosixPath) -> str:
    """A page of the site with the playground at its marks."""

    def frame(found: re.Match[str]) -> str:
        start = world(found[1])
        to = "../" * (len(place.parts) - 1) + PLAYGROUND + address(start)
        (title,) = re.findall(r'^title = "(.*)"', start.text, re.MULTILINE)
        return FRAME.format(to=to, title=html.escape(title))

    return MARK.sub(frame, text)
