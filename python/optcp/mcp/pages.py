"""Pages of the documentation, divided into chapters, for ``search_docs``.

An installed package has them as one compressed file, which ``docs/site/pack.py`` writes before a wheel is built. A
checkout reads them from ``docs``.
"""

from __future__ import annotations

import functools
import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKED = Path(__file__).with_name("pages.json.gz")
PAGES = Path(__file__).parents[3] / "docs"
FOLDERS = ("concepts", "details", "howto", "reference", "results")
"""Folders of the documentation that are packed, besides the pages above them."""
LEFT_OUT = (
    "das.md", "exhibits.md", "gallery.md", "gmpls.md", "index.md", "lbas.md", "leo.md", "obs.md", "paper-parts.md",
    "rdcn.md", "reconfigurable.md", "sensitivity.md", "slides.md", "tcp-evidence-details.md", "tcp-evidence.md",
    "todays-tcp.md",
)  # fmt: skip
"""Pages that only list evidence or the results of experiments, and indices."""
HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
LONGEST = 3000
"""Maximum number of characters of a passage; longer chapters are divided at paragraphs."""


@functools.cache
def pages() -> tuple[tuple[str, str, str], ...]:
    """Return source, title and text of each chapter of the documentation; none in a package without pages."""
    if PACKED.is_file():
        return tuple((one[0], one[1], one[2]) for one in json.loads(gzip.decompress(PACKED.read_bytes())))
    return tuple(chapters(PAGES))


def chapters(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield source, title and text of each chapter of the pages in a folder."""
    files = [*folder.glob("*.md"), *(file for name in FOLDERS for file in folder.glob(f"{name}/**/*.md"))]
    for file in sorted(files):
        # Pages of results have the names of the pages with their details.
        if file.name not in LEFT_OUT or file.parent.name not in ("details", "docs"):
            source = file.relative_to(folder.parent).as_posix()
            yield from _chapters(source, file.read_text(encoding="utf-8"))


def _chapters(source: str, page: str) -> Iterator[tuple[str, str, str]]:
    text = COMMENT.sub("", page)
    found = list(HEADING.finditer(text))
    ends = [*(one.start() for one in found[1:]), len(text)]
    whole = found[0][1] if found else source
    for heading, end in zip(found, ends, strict=True):
        title = heading[1] if heading[1] == whole else f"{whole}: {heading[1]}"
        for part in _parts(text[heading.end() : end].strip()):
            yield source, title.replace("`", ""), part


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts of limited length, divided between lines."""
    part: list[str] = []
    for line in text.splitlines():
        if part and sum(map(len, part)) + len(line) > LONGEST:
            yield "\n".join(part)
            part = []
        part.append(line)
    if part:
        yield "\n".join(part)


def packed(folder: Path) -> bytes:
    """Return the pages in a folder as one compressed file; the same pages give the same bytes."""
    text = json.dumps(list(chapters(folder)), ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), 9, mtime=0)
