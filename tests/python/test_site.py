"""The documentation as a site, before it is built: nothing is missing, links lead somewhere, no page is too long."""

import base64
import importlib
import json
import os
import re
import shlex
import sys
import tomllib
import zlib
from pathlib import Path, PurePosixPath

import pytest

from optcp import _core
from optcp.cli import listing
from optcp.cli.main import cli

# TopoHub leaves the file open that it has read.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *DOCS.rglob("*.md"),
    *DOCS.rglob("*.ipynb"),
]
MOST_WORDS = 2000
"""On a page that is read, without its folded tables: eight minutes."""
MOST_READER_WORDS = 57_000
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)


@pytest.fixture(scope="module")
def pages():
    sys.path.insert(0, str(DOCS / "site"))
    yield importlib.import_module("pages")
    sys.path.remove(str(DOCS / "site"))


@pytest.fixture(scope="module")
def site(pages, tmp_path_factory):
    return pages.write(tmp_path_factory.mktemp("site"), playground=True)


def test_every_page_is_in_the_menu(pages):
    listed = [source for entries in pages.navigation().values() for source in entries]
    sources = {path.relative_to(ROOT).as_posix() for path in SOURCES}
    assert len(listed) == len(set(listed))
    assert set(listed) - set(pages.reference.PAGES) == sources - {pages.HOME}


def test_links_of_the_site_resolve(pages, site):
    anchors = {place: pages.anchors(text) for place, text in site.pages.items()}
    links = 0
    for place in site.pages:
        for found in pages.LINK.finditer(pages.prose((site.folder / place).read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", found[0]):
                continue
            path, _, anchor = found[0].partition("#")
            goal = PurePosixPath(os.path.normpath(place.parent / path)) if path else place
            assert (site.folder / goal).is_file(), (place, found[0])
            assert not anchor or anchor in anchors[goal], (place, found[0])
            links += 1
    assert links > 500


def test_no_page_exceeds_maximum_length(pages, site):
    for place, source in site.sources.items():
        # Of changes the newest are read, which come first; the pages of the program's own words are looked into.
        if source != "CHANGELOG.md" and source not in pages.reference.PAGES:
            text = FOLDED.sub("", (site.folder / place).read_text(encoding="utf-8"))
            assert len(text.split()) <= MOST_WORDS, place


def test_splitting_page_into_chapters_keeps_all_words(pages, site):
    for source in ("docs/reference/tcp.md", "docs/details/gmpls.md", "docs/developers/architecture.md"):
        parts = [text for place, text in site.pages.items() if site.sources[place] == source]
        assert len(parts) > 5
        words = re.sub(r":::\{toctree\}.*?^:::$|^#+", "", "\n".join(parts), flags=re.DOTALL | re.MULTILINE).split()
        assert words == re.sub(r"^#+", "", (ROOT / source).read_text(encoding="utf-8"), flags=re.MULTILINE).split()


def test_heading_in_code_block_does_not_start_chapter(pages):
    text = "# A\n\n" + "word " * 2000 + "\n\n## B\n\n```\n## not this\n```\n\n## B\n\nend\n"
    found = pages.chapters(PurePosixPath("a.md"), text)
    assert [str(place) for place in found] == ["a.md", "a/b.md"]


def test_playground_is_embedded_where_pages_request_it(pages, site):
    marks, frames = 0, 0
    for place, text in site.pages.items():
        marks += len(pages.tries.MARK.findall(text))
        written = (site.folder / place).read_text(encoding="utf-8")
        assert not pages.tries.MARK.search(written)
        for goal, packed in re.findall(r'<iframe src="([^"#]+)#w=([^"]+)"', written):
            assert os.path.normpath(place.parent / goal) == pages.tries.PLAYGROUND
            packed_text = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
            start = json.loads(zlib.decompress(packed_text, -zlib.MAX_WBITS))
            kinds = re.findall(r'^kind = "(\w+)"', start["text"].partition("[[observe]]")[2], re.MULTILINE)
            assert {"goodput", "tcp", "queue"} <= set(kinds)
            frames += 1
    assert frames == marks >= 7


def test_playground_is_omitted_without_simulator(pages, tmp_path):
    site = pages.write(tmp_path, playground=False)
    for place in site.pages:
        assert "<iframe" not in (site.folder / place).read_text(encoding="utf-8")


def test_the_reference_has_every_command_name_and_table(pages, site):
    whole = {source: "\n".join(text for place, text in site.pages.items() if site.sources[place] == source)
             for source in pages.reference.PAGES}  # fmt: skip
    for verb in cli.commands:
        assert f"Usage: optcp {verb} " in whole["docs/reference/commands.md"]
    for family, members in listing.families().items():
        for name, _ in members:
            assert f"| `{name}` | " in whole["docs/reference/names.md"], (family, name)
    for one in json.loads(_core.schema())["$defs"].values():
        for key in one.get("properties", ()):
            assert f"| `{key}`" in whole["docs/reference/schema.md"]


def test_pages_for_readers_stay_short():
    """Notebooks count without their outputs. The aim is 50 000 words: the bound may only shrink."""
    words = 0
    for path in SOURCES:
        part = path.relative_to(ROOT).as_posix()
        if part.startswith(("docs/details/", "docs/developers/", "CHANGELOG", "CONTRIBUTING")):
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        words += len(text.split())
    assert words <= MOST_READER_WORDS


def test_every_picture_is_in_the_gallery_with_commands():
    text = (DOCS / "details" / "gallery.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"!\[[^\]]+\]\(\.\./images/([^)]+)\)\n\n```\n(.*?)\n```", text, re.DOTALL))
    pictures = {path.name for path in (DOCS / "images").iterdir() if path.suffix in (".png", ".svg")}
    assert set(shown) == pictures == set(re.findall(r"\(\.\./images/([^)]+)\)", text))
    for name, commands in shown.items():
        *_, last = commands.splitlines()
        assert last.startswith("python docs/images/draw.py ") or last.endswith(f"--out {name}") or "animate" in last
        for words in map(shlex.split, commands.splitlines()):
            if words[0] == "optcp":
                known = {option for param in cli.commands[words[1]].params for option in param.opts}
                assert {word for word in words if word.startswith("--")} <= known, words


def test_notebook_uses_the_ring_of_the_tutorial():
    notebook = json.loads((DOCS / "tutorials" / "ring.ipynb").read_text(encoding="utf-8"))
    written = re.search(r'"""\\?\n(.*?)"""', "".join(notebook["cells"][1]["source"]), re.DOTALL)
    ring = re.search(r"<!-- complete: ring.toml -->\n```toml\n(.*?)```", (DOCS / "start.md").read_text(), re.DOTALL)
    assert tomllib.loads(written[1]) == tomllib.loads(ring[1])
