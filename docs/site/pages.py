"""The pages of the site, as one folder of Markdown that Sphinx builds.

Pages keep their places in the repository. On the site, long pages become one page per chapter, and notebooks become
pages. Links lead to the new places. Other files that a page links to are copied to the site.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import tomllib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import reference
import tries

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[2]
NAVIGATION = Path(__file__).with_name("navigation.toml")
HOME = "docs/index.md"
MOST_WORDS = 1800
"""A page with more is cut into chapters: some seven minutes of reading."""
PICTURE = 60
"""Words that a picture counts as."""
MOST_TABLE = 500
"""Words of a table of results; a longer one is folded."""
DETAILS = "docs/details/"
UNSEARCHED = (DETAILS, "CHANGELOG.md")
"""Sources that contain nearly every word: search leaves them out."""
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
FENCE = re.compile(r"^( *)(`{3,}|:{3,})[^\n]*\n.*?^\1\2$|<!--.*?-->", re.DOTALL | re.MULTILINE)
HEAD = re.compile(r"^(#+) (.+)$", re.MULTILINE)


def navigation() -> dict[str, dict[str, str]]:
    """By section, the files of its pages and their names in the menu."""
    return tomllib.loads(NAVIGATION.read_text(encoding="utf-8"))


def prose(text: str) -> str:
    """The text with what is fenced blanked, so that places stay the same."""
    return FENCE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def anchors(text: str) -> list[str]:
    """The anchor of every heading, as repositories show them."""
    slugs = [reference.anchor(head) for _, head in HEAD.findall(prose(text))]
    before = (slugs[:at].count(slug) for at, slug in enumerate(slugs))
    return [f"{slug}-{count}" if count else slug for slug, count in zip(slugs, before, strict=True)]


def target(source: str) -> PurePosixPath:
    """Where a file of the repository is in the site."""
    place = PurePosixPath(source)
    if place.parts[0] == "docs":
        place = PurePosixPath(*place.parts[1:])
    if place.suffix == ".ipynb":
        return place.with_suffix(".md")
    return PurePosixPath("overview.md") if source == "README.md" else place


def chapters(place: PurePosixPath, text: str, most: int = MOST_WORDS) -> dict[PurePosixPath, str]:
    """The page, or what is before its first chapter and a page for each chapter, in the order of the text."""
    starts = [head.start() for head in HEAD.finditer(prose(text)) if head[1] == "##"]
    if not starts or len(text.split()) + PICTURE * text.count("![") <= most:
        return {place: text}
    found = {place: ""}
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        part = text[start:end]
        for head in reversed(list(HEAD.finditer(prose(part)))):
            part = part[: head.start()] + part[head.start() + 1 :]
        found |= chapters(place.with_suffix("") / f"{anchors(part)[0].strip('-')}.md", part)
    listed = [f"{one.relative_to(place.parent)}" for one in found if one.parent == place.with_suffix("")]
    head = text[: starts[0]]
    # Some long pages begin with a list of their chapters.
    found[place] = head + contents("In this part", listed, *[":hidden:"] * (head.count("](#") > 2))
    return found


def contents(caption: str, entries: list[str], *more: str) -> str:
    """A menu, which Sphinx makes."""
    options = [*more, ":titlesonly:", ":maxdepth: 1", f":caption: {caption}"]
    return "\n".join([":::{toctree}", *options, "", *entries, ":::", ""])


def fold(text: str) -> str:
    """The text with long tables folded."""

    def folded(found: re.Match[str]) -> str:
        if len(found[0].split()) <= MOST_TABLE:
            return found[0]
        rows = len(found[0].splitlines()) - 2
        return f"<details><summary>Table of {rows} rows</summary>\n\n{found[0]}\n</details>\n"

    return TABLE.sub(folded, text)


def notebook(path: Path, folder: Path) -> str:
    """A notebook as a page; its pictures go into the folder."""
    lines = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            lines.append(source)
            continue
        lines.append(f"```python\n{source}\n```")
        for at, shown in enumerate(cell["outputs"]):
            data = shown.get("data", {"text/plain": shown.get("text", "")})
            if "image/png" in data:
                picture = folder / f"{path.stem}-{cell['id']}-{at}.png"
                picture.write_bytes(base64.b64decode("".join(data["image/png"])))
                lines.append(f"![what the cell above draws]({picture.name})")
            elif "text/html" in data:
                lines.append(f"````{{raw}} html\n<div class='output'>{''.join(data['text/html'])}</div>\n````")
            else:
                lines.append(f"```text\n{''.join(data['text/plain']).rstrip()}\n```")
    shutil.copyfile(path, folder / path.name)
    lines.insert(1, f"[This page as a notebook]({path.name})")
    return "\n\n".join(lines) + "\n"


def listing(source: str) -> str:
    """A page for a folder that pages name: its files."""
    files = sorted(path for path in (ROOT / source).rglob("*") if path.is_file())
    names = [path.relative_to(ROOT / source).as_posix() for path in files]
    return "\n".join([f"# Files in `{source}`", "", *(f"* [{name}]({name})" for name in names), ""])


class Site:
    """The folder of Markdown that is made.

    Parameters
    ----------
    folder
        Where.
    playground
        Whether the site has the simulator for browsers, as ``playground.html``.
    """

    def __init__(self, folder: Path, playground: bool) -> None:
        self.folder = folder
        self.playground = playground
        self.pages: dict[PurePosixPath, str] = {}
        self.sources: dict[PurePosixPath, str] = {}
        """Which file of the repository a page is a part of."""
        self.places: dict[tuple[str, str], str] = {}
        """Where the anchors of each file are, and the file itself (the empty anchor)."""

    def add(self, source: str, text: str, most: int = MOST_WORDS) -> None:
        """Take a file of the repository, in chapters if it is long."""
        found = chapters(target(source), text, most)
        self.pages |= found
        self.sources |= dict.fromkeys(found, source)
        heads = [f"{place}#{anchor}" for place, part in found.items() for anchor in anchors(part)]
        self.places |= {(source, anchor): head for anchor, head in zip(anchors(text), heads, strict=True)}
        self.places[source, ""] = str(target(source))

    def link(self, page: PurePosixPath, link: str) -> str:
        """Where a link of a page leads on the site."""
        if re.match(r"[a-z]+:", link):
            return link
        path, _, anchor = link.partition("#")
        source = self.sources[page]
        if source.endswith(".ipynb") and (self.folder / page.parent / path).is_file():
            return link
        if path:
            source = os.path.relpath(ROOT / Path(source).parent / path, ROOT)
        if (source, "") not in self.places:
            return os.path.relpath(self.carry(source), page.parent)
        place = self.places[source, anchor]
        goal, _, inner = place.partition("#")
        return f"#{inner}" if goal == str(page) and inner else os.path.relpath(place, page.parent)

    def carry(self, source: str) -> PurePosixPath:
        """Take a file, or the files of a folder, along."""
        place = target(source) if source.startswith("docs/") else PurePosixPath("files", source)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, self.folder / place, dirs_exist_ok=True)
            page = f"---\norphan: true\nnosearch: true\n---\n{listing(source)}"
            (self.folder / place / "index.md").write_text(page, encoding="utf-8")
            return place / "index.md"
        place = place.with_name(Path(source).name)
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, self.folder / place)
        return place

    def finished(self, place: PurePosixPath) -> str:
        """A page with links that lead there, and with long tables folded."""
        text, source = self.pages[place], self.sources[place]
        for found in reversed(list(LINK.finditer(prose(text)))):
            text = text[: found.start()] + self.link(place, found[0]) + text[found.end() :]
        if self.playground:
            text = tries.framed(text, place)
        if source.startswith(DETAILS):
            text = fold(text)
        if source.startswith(UNSEARCHED):
            return f"---\nnosearch: true\n---\n{text}"
        return text

    def write(self) -> None:
        """Write all pages."""
        for place in self.pages:
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / place).write_text(self.finished(place), encoding="utf-8")


def below(source: str, entries: Iterable[str]) -> list[str]:
    """Return the entries in the folder of which a page is the index: its menu has them."""
    place = PurePosixPath(source)
    if place.name != "index.md":
        return []
    return [one for one in entries if one != source and PurePosixPath(one).parent == place.parent]


def write(folder: Path, playground: bool) -> Site:
    """Make the folder of pages."""
    site = Site(folder, playground)
    menus = []
    for section, entries in navigation().items():
        for source in entries:
            if source in reference.PAGES:
                site.add(source, *reference.PAGES[source]())
            elif source.endswith(".ipynb"):
                (folder / target(source)).parent.mkdir(parents=True, exist_ok=True)
                site.add(source, notebook(ROOT / source, folder / target(source).parent))
            else:
                inner = [f"{entries[one]} <{PurePosixPath(one).name}>" for one in below(source, entries)]
                menu = f"\n{contents('In this part', inner, ':hidden:')}" if inner else ""
                site.add(source, (ROOT / source).read_text(encoding="utf-8") + menu)
        hidden = {one for source in entries for one in below(source, entries)}
        named = [f"{name} <{target(source)}>" for source, name in entries.items() if source not in hidden]
        menus.append(contents(section, named, ":hidden:"))
    site.add(HOME, "\n".join([(ROOT / HOME).read_text(encoding="utf-8"), *menus]))
    site.write()
    return site
