"""Measure the playground: sizes, speed beside the native build, and how long a picture takes behind a slider.

``python playground/measure.py`` after ``make playground``, with node and Chromium. Native, node and Chromium run in
turns.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from optcp import _core
from optcp.scenarios import shipped
from optcp.web.playground import page as page_of
from optcp.web.playground import simulator, starts

HERE = Path(__file__).parent
ROUNDS = 4
RUNS = 25
"""Of each world in a round."""
WORLDS = ("das-fig4", "slides-best-delay")
"""Shipped worlds that are measured beside those of the page."""
STEPS = 120
"""Of a slider that is dragged."""

IN_PAGE = """([request, runs]) => {
    const said = [];
    for (let i = 0; i < runs; i++) {
        const begun = performance.now();
        const { number } = page.simulator.parse(request);
        const run = page.simulator.start(number, request.seed);
        page.simulator.forget(number);
        const { counts } = page.simulator.finish(run);
        said.push(counts.packet_hops / (performance.now() - begun) / 1e3);
    }
    return said;
}"""


def native(request: dict[str, Any]) -> list[float]:
    """Millions of packet-hops a second, parsing and digests included."""
    found = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        run = _core.Scenario.parse(request["text"], request["name"], request["set"]).run(1, digest=True)
        found.append(run.counts["packet_hops"] / (time.perf_counter() - begun) / 1e6)
    return found


def in_node(module: Path, request: dict[str, Any]) -> list[float]:
    """The same in node; the first run, in which the module is compiled, is left out."""
    lines = "\n".join([json.dumps(request)] * (RUNS + 1))
    command = ["node", str(HERE / "run.js"), str(module)]
    said = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    answers = [json.loads(line) for line in said.splitlines()][1:]
    return [answer["counts"]["packet_hops"] / answer["seconds"] / 1e6 for answer in answers]


def dragged(page: Page, knob: str) -> list[float]:
    """Milliseconds from each step of a slider to its picture."""
    slider = page.locator(f"[data-knob='{knob}']")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    if box is None:
        raise RuntimeError(f"the page has no slider {knob}")
    found = []
    count = "Number(document.querySelector('.world').dataset.answers)"
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(1, STEPS + 1):
        before = page.evaluate(count)
        page.mouse.move(box["x"] + box["width"] * (0.3 + 0.4 * step / STEPS), box["y"] + box["height"] / 2)
        page.wait_for_timeout(120)
        if page.evaluate(count) > before:
            found.append(float(page.locator(".world").get_attribute("data-drawn-ms") or "nan"))
    page.mouse.up()
    return sorted(found)


def main() -> None:
    """Print all of it."""
    packed = simulator()
    if packed is None:
        raise SystemExit("`make playground` comes first")
    worlds = starts()
    html = page_of(worlds)
    module = gzip.decompress(packed)
    print(f"page {len(html) / 1e3:.0f} kB, module {len(module) / 1e3:.0f} kB, {len(packed) / 1e3:.0f} kB compressed")
    texts = {world.name.removesuffix(".toml"): world.text for world in worlds}
    texts |= {name: shipped.scenarios()[name].read_text(encoding="utf-8") for name in WORLDS}
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        (Path(folder) / "index.html").write_text(html, encoding="utf-8")
        (Path(folder) / "module.wasm").write_bytes(module)
        arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto((Path(folder) / "index.html").as_uri())
        page.wait_for_selector(".world[data-answers]")
        print("\nMillions of packet-hops a second, best and median:")
        print("| world | native | node | Chromium |\n|---|---|---|---|")
        for name, text in texts.items():
            request = {"name": f"{name}.toml", "text": text, "set": [], "seed": 1}
            speeds: list[list[float]] = [[], [], []]
            for _ in range(ROUNDS):
                speeds[0] += native(request)
                speeds[1] += in_node(Path(folder) / "module.wasm", request)
                speeds[2] += page.evaluate(IN_PAGE, [request, RUNS + 1])[1:]
            cells = [f"{max(of):.1f}, {statistics.median(of):.1f}" for of in speeds]
            print(f"| {name} | {' | '.join(cells)} |")
        print("\nMilliseconds from a step of a slider to its picture:")
        for knob in ("failures.0.at", "parameters.switch_delay"):
            times = dragged(page, knob)
            tenth = times[int(len(times) * 0.9)]
            print(f"{knob}: median {statistics.median(times):.0f}, 90 % below {tenth:.0f} (n = {len(times)})")
        browser.close()


if __name__ == "__main__":
    main()
