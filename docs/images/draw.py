"""Draw the pictures of the documentation from stored results.

Usage, after ``optcp reproduce gmpls --seeds 600 --out DIR``: ``python docs/images/draw.py DIR``. The figures are those
of the report; only the ink is fixed, because a picture in a Markdown page does not follow light and dark.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from optcp.papers.model import Result
from optcp.plots import gmpls

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
WANTED = {"gmpls/fig7-10+10-mean over seeds": "gmpls-fig7.png", "gmpls/table3": "gmpls-table3.png"}


def save(figure: Figure, name: str, _label: str) -> str:
    """Stand in for ``optcp.plots.svg.render``: write a wanted figure as PNG on white."""
    if name in WANTED:
        FigureCanvasAgg(figure)
        buffer = io.BytesIO()
        # The program's version would change the bytes without changing the picture.
        figure.savefig(buffer, format="png", dpi=110, facecolor="white", metadata={"Software": None})
        Image.open(buffer).convert("RGB").quantize(64).save(HERE / WANTED[name], optimize=True)
    return ""


def main() -> None:
    """Draw every wanted figure."""
    directory = Path(sys.argv[1])
    with mock.patch.object(gmpls, "render", save):
        for name, draw in (("fig7", gmpls.fig7), ("table3", gmpls.table3)):
            draw(Result.from_json((directory / "gmpls" / f"{name}.json").read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
