"""Connection of a session to the notebook: traits, messages and the picture for notebooks without a kernel."""

from __future__ import annotations

import base64
import html
import uuid
from importlib import resources
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets
from IPython.display import display as show_output

from optcp.widget.picture import picture

if TYPE_CHECKING:
    from optcp.widget.session import Session

SCRIPTS = ("values.js", "charts.js", "layout.js", "network.js")
"""Drawing code of the playground."""


def _script() -> str:
    web = resources.files("optcp.web.playground") / "web"
    own = resources.files("optcp.widget") / "view.js"
    return "\n".join([*((web / name).read_text(encoding="utf-8") for name in SCRIPTS), own.read_text(encoding="utf-8")])


def _style() -> str:
    """Return the style of the playground's drawings, for elements in the widget only."""
    drawing = resources.files("optcp.web.playground") / "web" / "drawing.css"
    own = resources.files("optcp.widget") / "view.css"
    rules = drawing.read_text(encoding="utf-8").replace(":root", "&") + own.read_text(encoding="utf-8")
    return f".optcp-widget {{ {rules} }}"


class NetworkWidget(anywidget.AnyWidget):  # type: ignore[misc] # pyproject.toml excludes the types of an optional library
    """Widget of a session.

    Messages contain the new values of curves only. ``curves`` is complete for views that open later, and is sent when
    the run pauses, for notebooks that store the state of widgets.
    """

    _esm = _script()
    _css = _style()
    network = traitlets.Dict().tag(sync=True)
    frame = traitlets.Dict().tag(sync=True)
    # Changed in place: a list would be a copy.
    curves = traitlets.Any().tag(sync=True)

    def __init__(self, session: Session) -> None:
        self.session = session
        self.still_class = f"optcp-still-{uuid.uuid4().hex}"
        network = session.network() | {"still": self.still_class}
        super().__init__(network=network, frame=session.frame(), curves=session.curves)
        self.on_msg(self._answer)

    def _answer(self, _widget: object, message: dict[str, Any], _buffers: object) -> None:
        self.session.answer(message)
        playing = self.session.asked in ("advance", "continue")
        samples = self.session.take_samples()
        if not playing:
            self.send_state("curves")
        elif samples:
            self.send({"samples": samples})
        self.frame = self.session.frame()
        if not ((playing and self.frame["busy"]) or self.session.asked == "advance"):
            self.still.update(self._still(), raw=True)

    still: Any

    def display(self) -> None:
        """Display the widget, and its picture for notebooks without a kernel."""
        view = {
            "application/vnd.jupyter.widget-view+json": {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self.model_id,
            }
        }
        show_output(view | {"text/plain": ""}, raw=True)
        self.still = show_output(self._still(), raw=True, display_id=True)

    def _still(self) -> dict[str, str]:
        """Return the picture as an image that a living widget hides."""
        svg = base64.b64encode(picture(self.session).encode()).decode()
        source = f"data:image/svg+xml;base64,{svg}"
        alt = html.escape(f"Network and curves at {self.frame['now']:g} s")
        return {"text/html": f'<img class="{self.still_class}" alt="{alt}" src="{source}">', "text/plain": alt}


def display(session: Session) -> None:
    """Display a session in the notebook."""
    NetworkWidget(session).display()
