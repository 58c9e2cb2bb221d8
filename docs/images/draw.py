"""Draw the pictures of the documentation from stored results.

Each picture needs stored results in DIR:

- ``optcp reproduce gmpls --seeds 600 --out DIR``, then ``python docs/images/draw.py gmpls DIR``.
- ``optcp reproduce gmpls/aqm --out DIR``, then ``python docs/images/draw.py aqm DIR``.
- ``optcp reproduce das --out DIR``, then ``python docs/images/draw.py das DIR``; likewise lbas, leo, obs, outage, rdcn
and reconfigurable.
- The commands of docs/details/todays-tcp.md, then ``python docs/images/draw.py today DIR``.
- ``python -m zipfile -e docs/details/sensitivity.zip DIR``, then ``python docs/images/draw.py sensitivity DIR``.
- ``optcp animate leo/world.toml --out leo/page.html``, then ``python docs/images/draw.py globe leo``. This needs
Chromium and playwright.
- ``make playground``, then ``python docs/images/draw.py playground target/playground/index.html``. This needs them too.

The pictures are figures of the report with fixed colours, because a picture in a Markdown page does not follow light
and dark themes.
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from unittest import mock

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from optcp.common import stored
from optcp.papers.model import Result
from optcp.papers.results import sensitivities
from optcp.plots import panels as pages
from optcp.plots import sensitivity
from optcp.plots.svg import canvas
from optcp_papers.das import figures as das
from optcp_papers.gmpls.figures import aqm, section5
from optcp_papers.lbas.figures import smaller, tables
from optcp_papers.leo import figures as leo
from optcp_papers.obs.figures import curves, cut, windows
from optcp_papers.outage.figures import budget, population, staircase
from optcp_papers.rdcn import figures as rdcn
from optcp_papers.reconfigurable.figures import days, restoration, rotor

HERE = Path(__file__).parent
WANTED = {
    "gmpls/fig7-10+10-mean over seeds": "gmpls-fig7.png",
    "gmpls/table3": "gmpls-table3.png",
    "gmpls/aqm-section 5": "gmpls-aqm.png",
    "das/fig1": "das-fig1.png",
    "das/fig2-run": "das-fig2.png",
    "das/fig4": "das-fig4.png",
    "das/fig6-paper": "das-fig6.png",
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
    "outage/detection": "outage-detection.png",
    "outage/availability": "outage-availability.png",
}


TODAY = {
    "ns2-2001": ("ns2-2001, window 30", "#0072B2"),
    "rfc": ("rfc, window 30", "#009E73"),
    "linux-6": ("linux-6, window 30", "#D55E00"),
    "linux-6-unlimited": ("linux-6, no window limit", "#CC79A7"),
}
"""Directories below DIR, with the name and colour of each."""
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
        write(figure, WANTED[name])
    return ""


def read(directory: Path, exhibit: str, paper: str = "gmpls") -> Result:
    """Read a stored result."""
    return stored.load(directory / paper / f"{exhibit}.json", Result.from_json)


def report(directory: Path) -> None:
    """Draw every wanted figure of the report."""
    with mock.patch.object(section5, "render", save):
        for name, draw in (("fig7", section5.fig7), ("table3", section5.table3)):
            draw(read(directory, name))


def queues(directory: Path) -> None:
    """Draw a protection switch under several queue disciplines."""
    with mock.patch.object(aqm, "render", save):
        aqm.aqm(read(directory, "aqm"))


def reroute(directory: Path) -> None:
    """Draw the wanted figures of the DAS paper."""
    with mock.patch.object(das, "render", save):
        for name in ("fig1", "fig2", "fig4", "fig6", "repairs"):
            getattr(das, name)(read(directory, name, "das"))


def bursts(directory: Path) -> None:
    """Draw the wanted figures of the obs paper."""
    with mock.patch.object(pages, "render", save), mock.patch.object(windows, "render", save):
        windows.fig5(read(directory, "fig5", "obs"))
        curves.fig14(read(directory, "fig14", "obs"))
        curves.goodput(read(directory, "fig16", "obs"))
        cut.cut(read(directory, "cut", "obs"))
        curves.emergent(read(directory, "emergent", "obs"))
        curves.today(read(directory, "today", "obs"))


def bundles(directory: Path) -> None:
    """Draw the wanted figures of the LBAS paper and beyond it."""
    with mock.patch.object(tables, "render", save), mock.patch.object(smaller, "render", save):
        for name in ("table1", "table2", "table3"):
            tables.table(read(directory, name, "lbas"))
        for name in ("today", "mix", "buffer"):
            getattr(smaller, name)(read(directory, name, "lbas"))


def outages(directory: Path) -> None:
    """Draw the wanted figures of the outage study."""
    with mock.patch.object(staircase, "render", save), mock.patch.object(population, "render", save):
        staircase.staircase(read(directory, "staircase", "outage"))
        with mock.patch.object(budget, "render", save):
            budget.budget(read(directory, "budget", "outage"))
        for name in ("links", "detection", "availability"):
            getattr(population, name)(read(directory, name, "outage"))
    links = read(directory, "links", "outage")
    (HERE / "outage-worst.svg").write_text(population.worst(links, WORST, alone=True), encoding="utf-8")


def racks(directory: Path) -> None:
    """Draw the wanted figures of the rdcn paper."""
    with mock.patch.object(rdcn, "render", save):
        for name in ("voq", "resize", "variants", "retcp-resize"):
            getattr(rdcn, name.replace("-", "_"))(read(directory, name, "rdcn"))


def reconfigured(directory: Path) -> None:
    """Draw the wanted figures of the reconfigurable study."""
    for module in (days, restoration, rotor):
        name = module.__name__.rpartition(".")[2]
        with mock.patch.object(module, "render", save):
            getattr(module, name)(read(directory, name, "reconfigurable"))


def moving(directory: Path) -> None:
    """Draw the wanted figures of the study leo."""
    for name in leo.__all__:
        module = getattr(leo, name)
        with mock.patch.object(module, "render", save):
            getattr(module, name)(read(directory, name, "leo"))


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


if __name__ == "__main__":
    draw = {
        "gmpls": report,
        "aqm": queues,
        "today": today,
        "das": reroute,
        "lbas": bundles,
        "obs": bursts,
        "leo": moving,
        "outage": outages,
        "rdcn": racks,
        "reconfigurable": reconfigured,
        "constellation": satellites,
        "globe": globe,
        "playground": playground,
        "sensitivity": studies,
    }
    draw[sys.argv[1]](Path(sys.argv[2]))
