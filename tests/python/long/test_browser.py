"""Pages in a browser: no errors, nothing wider than the window, and all controls work."""

import csv
import itertools
import json
import os
import shutil

import pytest

from conftest import command_in
from optcp.papers.results import exhibits
from optcp.report import build
from optcp.web.playground import simulator

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: pages are not opened")
WIDTHS = (400, 1280)
LEAST_TEXT_PX = 11
WORLD = """
title = "a queue of one link"
stop = "3 s"
[parameters]
queue = "10 packets"
[[nodes]]
names = ["A", "R", "B"]
[[links]]
chain = ["A", "R", "B"]
rate = "10 Mbps"
delay = "5 ms"
queue = "$queue"
[[flows]]
group = "f"
path = ["A", "R", "B"]
start = "uniform(0 s, 0.1 s)"
[[observe]]
name = "g"
kind = "goodput"
interval = "3 s"
[sweep]
parameters = { queue = ["5 packets", "10 packets", "20 packets", "40 packets"] }
"""
SMALLEST_TEXT = """() => Math.min(...[...document.querySelectorAll("figure svg text")].map((text) => {
  const place = text.getScreenCTM();
  return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(place.a, place.b);
}))"""


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # A container's only user is root, for whom Chromium refuses its sandbox.
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def papers(results_directory):
    return build.write_report(results_directory, simulator())


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "w.toml").write_text(WORLD)
    command_in(folder, "run", "w.toml", "--runs", "3", "--out", "out")
    return build.write_report(folder / "out", simulator())


@pytest.fixture(scope="module")
def animation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("animation")
    command_in(folder, "animate", "single-failure", "--seed", "3")
    return folder / "single-failure.html"


@pytest.fixture(scope="module")
def satellites(tmp_path_factory):
    folder = tmp_path_factory.mktemp("satellites")
    asked = ("--from", "Manila", "--to", "Dalian", "--length", "40s", "--out", "leo")
    command_in(folder, "constellation", "kuiper-630", *asked)
    command_in(folder, "animate", "leo/world.toml")
    return folder / "world.html"


@pytest.fixture(params=WIDTHS)
def opened(request, browser):
    """Return a function that opens a page; at the end the page must have had no errors."""
    context = browser.new_context(viewport={"width": request.param, "height": 800}, accept_downloads=True)
    page = context.new_page()
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda sent: None if sent.url.startswith(("file:", "blob:")) else errors.append(sent.url))

    def open_(path, place=""):
        page.goto(f"{path.as_uri()}{place}")
        return page

    yield open_
    context.close()
    assert errors == []


def table3(papers):
    return next(exhibit for exhibit in exhibits(papers.parents[1]).values() if exhibit.exhibit == "gmpls/table3")


def test_pages_fit_the_window_with_legible_text(opened, papers, study):
    for path in (papers, study):
        page = opened(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(SMALLEST_TEXT) >= LEAST_TEXT_PX


@pytest.mark.skipif(simulator() is None, reason="no simulator is in this installation: `make playground`")
def test_a_world_runs_in_the_playground_beside_the_page(opened, papers):
    page = opened(papers, "#gmpls-table3")
    link = page.locator("#gmpls-table3 .files a").first
    page.locator("#gmpls-table3 summary", has_text="scenarios (TOML)").click()
    with page.expect_popup() as popup:
        link.click()
    popup.value.wait_for_selector(".world[data-answers]")
    assert popup.value.url.startswith(papers.with_name("playground.html").as_uri())


def test_search_keeps_matching_entries(opened, papers):
    page = opened(papers)
    page.fill("#find", "table3")
    assert page.locator("#gmpls-table3").is_visible()
    assert not page.locator("#gmpls-fig7").is_visible()
    assert page.locator("#found").inner_text() == "1 of 3 found"
    page.fill("#find", "no such word")
    assert page.locator("#found").inner_text() == "0 of 3 found"
    page.fill("#find", "")
    assert page.locator("#gmpls-fig7").is_visible()


def test_the_index_leads_to_an_exhibit(opened, papers):
    page = opened(papers)
    if page.locator("#menu").is_visible():
        assert not page.locator("#contents").is_visible()
        page.click("#menu")
    page.click('#contents a[href="#gmpls-table3"]')
    page.wait_for_timeout(500)
    top = page.locator("#gmpls-table3").bounding_box()["y"]
    assert 0 <= top < 100
    assert page.locator("#find").is_visible()


def test_folds_open(opened, papers):
    page = opened(papers)
    figures = page.locator("#gmpls-fig7 figure")
    assert figures.count() == 1
    page.locator("#gmpls-fig7 details.more > summary").click()
    page.wait_for_function("document.querySelectorAll('#gmpls-fig7 figure').length === 4")
    evidence = page.locator("#gmpls-fig7 .claim details").first
    assert not evidence.locator("ul").first.is_visible()
    evidence.locator("summary").click()
    assert evidence.locator("ul").first.is_visible()


def test_a_table_unfolds_and_sorts(opened, papers):
    page = opened(papers)
    rows = page.locator("#gmpls-table3 tbody tr")
    result = table3(papers)
    assert rows.count() == len(result.rows)
    head = page.locator("#gmpls-table3 th", has_text="simulated")
    head.click()
    assert head.get_attribute("aria-sort") == "ascending"
    values = [float(text) for text in page.locator("#gmpls-table3 td b").all_inner_texts()]
    assert values == sorted(values)
    head.click()
    values = [float(text) for text in page.locator("#gmpls-table3 td b").all_inner_texts()]
    assert values == sorted(values, reverse=True)


def test_download_contains_the_result(opened, papers, study, tmp_path):
    page = opened(papers)
    with page.expect_download() as download:
        page.locator("#gmpls-table3 button", has_text="rows (CSV)").click()
    assert download.value.suggested_filename == "gmpls-table3.csv"
    download.value.save_as(tmp_path / "rows.csv")
    rows = list(csv.DictReader((tmp_path / "rows.csv").read_text().splitlines()))
    result = table3(papers)
    assert [float(row["measured"]) for row in rows] == [row.measured for row in result.rows]

    page = opened(study)
    with page.expect_download() as download:
        page.locator("#findings button", has_text="scenario.toml").click()
    download.value.save_as(tmp_path / "scenario.toml")
    command_in(tmp_path, "run", "scenario.toml", "--runs", "3", "--out", "again")
    again, first = (folder / "study.json" for folder in (tmp_path / "again", study.parents[1]))
    assert again.read_text() == first.read_text()


def test_the_pointer_shows_the_value_of_a_point(opened, study):
    page = opened(study)
    drawing = page.locator("figure svg", has=page.locator("[data-name]")).first
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    tip = page.locator("#tip")
    for across, down in itertools.product(range(1, 20), range(1, 12)):
        page.mouse.move(box["x"] + box["width"] * across / 20, box["y"] + box["height"] * down / 12)
        if tip.is_visible():
            break
    assert "queue" in tip.inner_text()


def test_a_command_is_copied(opened, study, browser):
    page = opened(study)
    button = page.locator("[data-copy]").first
    button.click()
    page.wait_for_function("document.querySelector('[data-copy]').textContent === 'copied'")
    assert "optcp run SCENARIO.toml --runs 3" in button.get_attribute("data-copy")


PIXELS = """() => {
  const map = document.getElementById("map");
  return new Set(new Uint32Array(map.getContext("2d").getImageData(0, 0, map.width, map.height).data.buffer)).size;
}"""


def clock(page):
    return float(page.locator("#clock").inner_text().removesuffix(" s"))


def test_an_animation_is_drawn_and_moves(opened, animation):
    page = opened(animation, "#t=4.04")
    page.wait_for_selector("html[data-ready]", state="attached")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(PIXELS) > 20
    assert clock(page) == 4.04
    assert page.locator("#now").inner_text() == "R2-R3 fails"
    page.click("#next")
    page.wait_for_timeout(200)
    assert clock(page) == 4.05
    assert page.locator("#events .here").inner_text().endswith("to the backup path")
    page.locator("#events button", has_text="is repaired").click()
    page.wait_for_timeout(200)
    assert clock(page) == 7
    page.click("#play")
    page.wait_for_timeout(500)
    assert clock(page) > 7
    page.click("#play")
    stood = clock(page)
    page.wait_for_timeout(200)
    assert clock(page) == stood


def test_an_animation_is_moved_by_its_slider_and_by_keys(opened, animation):
    page = opened(animation)
    page.wait_for_selector("html[data-ready]", state="attached")
    page.locator("#time").fill("10000")
    page.wait_for_timeout(200)
    assert clock(page) == 10
    page.locator("#play").focus()
    page.keyboard.press("p")
    page.wait_for_timeout(200)
    assert clock(page) == 7.1
    page.keyboard.press("Home")
    page.wait_for_timeout(200)
    assert clock(page) == 0


NAMES = """() => {
  const found = [], pen = CanvasRenderingContext2D.prototype, fillText = pen.fillText;
  pen.fillText = function (text, x, y) {
    if (this.canvas.id === "map") found.push([text, x, y]);
    return fillText.call(this, text, x, y);
  };
  return new Promise((done) => {
    const slider = document.getElementById("time");
    slider.dispatchEvent(new Event("input"));
    requestAnimationFrame(() => requestAnimationFrame(() => { pen.fillText = fillText; done(found); }));
  });
}"""
"""Script that records positions when the map is redrawn."""


def test_satellites_of_the_path_are_on_the_globe_and_move(opened, satellites):
    page = opened(satellites, "#t=28.1")
    page.wait_for_selector("html[data-ready]", state="attached")
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#now").inner_text() == "longer path: 41.2 ms instead of 25.3, over 648 649 650 616"
    there = {name: (x, y) for name, x, y in page.evaluate(NAMES)}
    assert set(there) == {"Manila", "Dalian", "S648", "S649", "S650", "S616"}
    # Dalian lies north of Manila; S648 is the satellite in sight of Manila.
    assert there["Dalian"][1] < there["S648"][1] < there["Manila"][1]
    page.keyboard.press("End")
    page.wait_for_timeout(200)
    later = {name: (x, y) for name, x, y in page.evaluate(NAMES)}
    assert later["Manila"] == there["Manila"]
    # Twelve seconds at about 7 km/s: more than a pixel on a map of about 5000 km.
    assert later["S648"] != there["S648"]
    page.keyboard.press("p")
    page.keyboard.press("p")
    # Move slightly beyond the change: redrawing rounds the time to a step of the slider.
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    assert {"S218", "S217"} < {name for name, *_ in page.evaluate(NAMES)}


def test_the_map_of_an_outage_study_steps_through_failures(browser, tmp_path):
    command_in(
        tmp_path, "outage", "sndlib/abilene", "--mechanism", "none", "--mechanism", "ti-lfa", "--set", "rate_mbps=10",
        "--set", "window_s=1", "--out", "out",
    )  # fmt: skip
    found = json.loads((tmp_path / "out" / "outage.json").read_text(encoding="utf-8"))
    costs = {(item["mechanism"], item["failure"]): item["lost_mb"] for item in found["costs"]}
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "out" / "index.html").as_uri())
    output, chosen = page.locator("#explore output"), page.locator("#explore input")
    worst = max(lost for (mechanism, _), lost in costs.items() if mechanism == "none")
    assert float(output.inner_text().split("up to ")[1].split(" MB")[0]) == pytest.approx(worst, rel=0.01)
    page.select_option("#explore select", "ti-lfa")
    chosen.fill("2")
    name, said = output.inner_text().split(": ", 1)
    assert float(said.split(" MB")[0]) == pytest.approx(costs["ti-lfa", name], abs=5e-4)
    assert page.locator("#map line[stroke-dasharray]").count() == 1
    assert errors == []
    page.close()
