"""Build the documentation as a site: ``make site``, then open target/site/html/index.html."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pages
import tries
from sphinx.cmd.build import build_main

from optcp.web import playground

HERE = Path(__file__).resolve().parent
SITE = pages.ROOT / "target" / "site"
SUMMARY = 220
"""Characters of a page that search shows."""
ICONS = re.compile(r'<svg [^>]*style="display: none;">.*?</symbol>\s*</svg>', re.DOTALL)
"""Icons of the theme, which every page would have."""
PREFORMATTED = re.compile(
    r"((?:<pre|<script|<style|<textarea)\b.*?(?:</pre>|</script>|</style>|</textarea>))", re.DOTALL
)


def summary(text: str) -> str:
    """The beginning of a page, as plain text."""
    plain = re.sub(r"^#.*$|^\|\W*$|^[*-] |!\[[^\]]*\]\([^)]*\)", "", pages.prose(text), flags=re.MULTILINE)
    plain = " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*|\\]", r"\1", plain).split())
    if not plain and "{eval-rst}" not in text:
        # A page of nothing but a listing.
        plain = " ".join(re.sub(r"^(#|```|<!--).*$", "", text, flags=re.MULTILINE).split())
    return plain if len(plain) <= SUMMARY else f"{plain[:SUMMARY].rsplit(' ', 1)[0]} …"


def shrink(html: Path) -> None:
    """Take away what no reader needs: source maps, indentation, icons per page, and the spaces of stored results."""
    for path in html.rglob("*.map"):
        path.unlink()
    icons = set()
    for path in html.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        icons |= set(ICONS.findall(text))
        # Every second part is one in which browsers keep spaces.
        parts = PREFORMATTED.split(ICONS.sub("", text))
        parts[::2] = (re.sub(r"\s*\n\s*", "\n", part) for part in parts[::2])
        path.write_text("".join(parts), encoding="utf-8")
    (shown,) = icons
    script = f'document.body.insertAdjacentHTML("afterbegin", {json.dumps(shown)});\n'
    (html / "_static" / "icons.js").write_text(script, encoding="utf-8")
    for path in (html / "_downloads").rglob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")), separators=(",", ":")), "utf-8")


def main(out: Path = SITE) -> int:
    """Build it; a broken link is an error."""
    for made in ("pages", "read", "html"):
        shutil.rmtree(out / made, ignore_errors=True)
    simulator = playground.simulator()
    site = pages.write(out / "pages", simulator is not None)
    folders = ["-c", HERE, "-d", out / "read", out / "pages", out / "html"]
    status = build_main(["-q", "-W", "--keep-going", *map(str, folders)])
    shrink(out / "html")
    names = {source: name for entries in pages.navigation().values() for source, name in entries.items()}
    texts = {
        str(place.with_suffix("")): [names.get(site.sources[place], ""), summary(text)]
        for place, text in site.pages.items()
    }
    script = f"const SUMMARIES = {json.dumps(texts)};\n"
    (out / "html" / "_static" / "summaries.js").write_text(script, encoding="utf-8")
    if simulator is not None:
        (out / "html" / tries.PLAYGROUND).write_text(playground.page(playground.starts(), simulator), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
