"""Site built and opened as files: pages fit, nothing is fetched, search works, the gallery can be reproduced."""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from conftest import command_in
from optcp.web.playground import simulator

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ROOT = Path(__file__).parents[3]
MOST_BYTES = 22_000_000
WIDTHS = (400, 1280)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "out"
    command = [sys.executable, str(ROOT / "docs" / "site" / "build.py"), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Sphinx treats warnings, such as those of broken links, as errors.
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "html"


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: pages are not opened")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # A container's only user is root, for whom Chromium refuses its sandbox.
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield chromium
        chromium.close()


@contextlib.contextmanager
def window(browser, width):
    """Return a window in which no page may have errors or request anything except files."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme="light")
    page = context.new_page()
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "request", lambda sent: None if sent.url.startswith(("file:", "data:", "blob:")) else errors.append(sent.url)
    )
    # Leaving a page while its playground starts aborts its requests.
    page.on("requestfailed", lambda sent: None if sent.url.startswith("blob:") else errors.append(sent.url))
    yield page
    context.close()
    assert errors == []


@pytest.fixture(params=WIDTHS)
def page(request, browser):
    with window(browser, request.param) as page:
        yield page


def test_the_site_is_small(built):
    assert sum(path.stat().st_size for path in built.rglob("*") if path.is_file()) < MOST_BYTES


def test_no_page_is_wider_than_the_window(browser, built):
    pages = sorted(built.rglob("*.html"))
    assert len(pages) > 200
    with window(browser, WIDTHS[0]) as page:
        for path in pages:
            page.goto(path.as_uri())
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                assert fits, (path.relative_to(built), width)


@pytest.mark.parametrize(
    ("words", "goal"),
    [
        ("ti-lfa", "reference/scenarios/routing.html"),
        ("switch_delay", "reference/scenarios/protection.html"),
        ("optcp export", "reference/commands/optcp-export.html"),
        ("quantile", "reference/python/optcpcells.html"),
    ],
)
def test_search_finds_from_files(page, built, words, goal):
    page.goto((built / "index.html").as_uri())
    menu = page.locator(".mobile-header label[for=__navigation]")
    if menu.is_visible():
        menu.click()
        page.wait_for_function("document.querySelector('.sidebar-search').getBoundingClientRect().left >= 0")
    page.locator(".sidebar-search").fill(words)
    page.locator(".sidebar-search").press("Enter")
    page.wait_for_selector("#search-results li")
    page.wait_for_function("document.querySelector('.search-summary').textContent.includes('finished')")
    assert page.locator("#search-results p.beginning").first.is_visible()
    page.locator(f'#search-results a[href^="{goal}"]').first.click()
    page.wait_for_url(f"{(built / goal).as_uri()}*")


@pytest.mark.skipif(simulator() is None, reason="no simulator is in this installation: `make playground`")
@pytest.mark.parametrize(
    ("place", "title"),
    [
        ("try.html", "Four transfers on a ring that is cut"),
        ("start.html", "Four transfers on a ring that is cut"),
        ("tutorials/cut.html", ""),
        ("howto/failures.html", ""),
        ("howto/constellation.html", "Manila to Dalian over satellites that move"),
        ("details/gmpls.html", "Protection switching onto a link that others use"),
    ],
)
def test_a_world_is_simulated_where_it_is_tried(page, built, place, title):
    page.goto((built / place).as_uri())
    frame = page.locator(".try iframe")
    frame.scroll_into_view_if_needed()
    world = page.frame_locator(".try iframe").locator(".world[data-answers]")
    world.wait_for()
    assert title in world.locator(".title").inner_text()
    alone = page.locator(".try a").get_attribute("href")
    assert alone == frame.get_attribute("src")
    assert ((built / place).parent / alone.partition("#")[0]).is_file()


def test_dark_and_light_are_switched_and_kept(page, built):
    page.goto((built / "tutorials" / "cut.html").as_uri())
    colour = "getComputedStyle(document.body).backgroundColor"
    halo = "getComputedStyle(document.querySelector('svg.optcp-map text')).stroke"
    light = page.evaluate(colour), page.evaluate(halo)
    while page.evaluate("document.body.dataset.theme") != "dark":
        page.locator(".theme-toggle:visible").first.click()
    dark = page.evaluate(colour), page.evaluate(halo)
    assert light[0] == light[1] != dark[0] == dark[1]
    page.goto((built / "start.html").as_uri())
    assert page.evaluate(colour) == dark[0]


def test_gallery_commands_reproduce_pictures(tmp_path):
    chapters = (ROOT / "docs" / "details" / "gallery.md").read_text(encoding="utf-8").split("\n## ")[1:3]
    shown = re.findall(r"images/([^)]+)\)\n\n```\n(.*?)\n```", "".join(chapters), re.DOTALL)
    assert len(shown) == 11
    for command in dict.fromkeys(command for _, commands in shown for command in commands.splitlines()):
        command_in(tmp_path, *shlex.split(command)[1:])
    for name, _ in shown:
        picture = ROOT / "docs" / "images" / name
        if name == "animation.png":  # a photograph of the page
            assert (tmp_path / "cut.html").is_file()
        elif picture.suffix == ".svg":
            assert (tmp_path / name).read_bytes() == picture.read_bytes()
        else:
            with Image.open(tmp_path / name) as made, Image.open(picture) as stored:
                assert made.size == stored.size


@pytest.mark.parametrize(
    ("place", "text", "source"),
    [
        ("tutorials/cut.html", "This page as a notebook", "docs/tutorials/cut.ipynb"),
        ("overview.html", "CITATION.cff", "CITATION.cff"),
        ("howto/own-paper.html", "docs/example-paper/ringpaper", "docs/example-paper/ringpaper/__init__.py"),
        ("howto/own-paper.html", "Exhibit", "python/optcp/papers/exhibit.py"),
    ],
)
def test_files_of_the_repository_travel_with_the_site(built, place, text, source):
    link = re.search(rf'href="([^"]+)"[^>]*>(?:<[^>]+>)*{re.escape(text)}', (built / place).read_text(encoding="utf-8"))
    assert ((built / place).parent / link[1]).read_bytes() == (ROOT / source).read_bytes()
