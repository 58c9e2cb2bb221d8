"""Execute notebooks and write what their cells show, as Jupyter would, which need not be there.

``python docs/tutorials/execute.py docs/tutorials/*.ipynb`` writes them in place; ``--out FOLDER`` elsewhere. Each runs
in an empty folder. tests/python/long/test_notebooks.py executes all of them and compares.
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")

from matplotlib import pyplot as plt
from PIL import Image


def lines(text: str) -> list[str]:
    """As files of notebooks have texts."""
    return text.splitlines(keepends=True)


def figures() -> list[dict[str, Any]]:
    """The figures that a cell has drawn, as outputs."""
    found = []
    for number in plt.get_fignums():
        buffer = io.BytesIO()
        plt.figure(number).savefig(
            buffer, format="png", dpi=110, facecolor="white", bbox_inches="tight", metadata={"Software": None}
        )
        small = io.BytesIO()
        Image.open(buffer).convert("RGB").quantize(64).save(small, format="png", optimize=True)
        data = {"image/png": base64.b64encode(small.getvalue()).decode(), "text/plain": ["<Figure>"]}
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
    plt.close("all")
    return found


def execute(cell: dict[str, Any], space: dict[str, Any]) -> list[dict[str, Any]]:
    """Execute one cell and return its outputs: printed text, value of the last expression, figures."""
    source = "".join(cell["source"])
    tree = ast.parse(source)
    # As in Jupyter, a semicolon at the end keeps the last value to itself.
    shows = isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";")
    last = ast.Expression(tree.body.pop().value) if shows else None  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), space)  # noqa: S102 - the cells of this notebook are trusted
        value = eval(compile(last, "cell", "eval"), space) if last else None  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = lines(value._repr_html_())
        at = cell["execution_count"]
        outputs.append({"output_type": "execute_result", "execution_count": at, "metadata": {}, "data": data})
    return outputs + figures()


def executed(path: Path) -> str:
    """The notebook with the outputs that it has now."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    space: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for number, cell in enumerate(code, start=1):
            cell["execution_count"] = number
            cell["outputs"] = execute(cell, space)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Execute what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    # Tables that a terminal is too narrow for would depend on where this runs.
    os.environ["COLUMNS"] = "100"
    for path in asked.notebooks:
        text = executed(path.resolve())
        ((asked.out or path.parent) / path.name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
