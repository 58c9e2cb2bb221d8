"""Write the table of metrics.md from the definitions of the metrics: ``python docs/reference/metrics.py``."""

from __future__ import annotations

from pathlib import Path

from optcp import _core

PAGE = Path(__file__).parent / "metrics.md"
BEGIN, END = "<!-- metrics: begin -->\n", "<!-- metrics: end -->\n"


def table() -> str:
    """Make the table: a row per metric, in the order of the tables of results."""
    lines = [
        "| metric | unit | one per | range | definition | no value if | unfinished flows | `[measure]` |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in _core.metrics():
        low, high = (f"{bound:g}" for bound in one["bounds"])
        bounds = "any" if low == "-inf" else f"{low} or more" if high == "inf" else f"{low} to {high}"
        cells = (f"`{one['name']}`", one["unit"] or "-", one["of"] or "-", bounds)
        about = (one["summary"], one["absent"], one["unfinished"], "yes" if one["measured"] else "-")
        lines.append(f"| {' | '.join((*cells, *about))} |")
    return "".join(f"{line}\n" for line in lines)


def page(text: str) -> str:
    """Put the table into the text of the page."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
