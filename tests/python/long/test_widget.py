"""Widget of a live run in JupyterLab, and the picture of a notebook without a kernel."""

import base64
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = [name for name in ("anywidget", "jupyterlab", "playwright") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: the notebook is not opened"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]
FIRST = """
import optcp.widget
run = optcp.load("single-failure").set("failures", []).start(seed=7, digest=True)
run.advance("2 s")
session = optcp.widget.show(run)
"""
CHECK = """
digests = [done.finish().records_sha256 for done in session.runs]
expected = [one.run(seed=7, digest=True).records_sha256 for one in scenarios]
print("equal", digests == expected, digests[0] != digests[1])
"""
WAIT_MS = 60_000


@pytest.fixture
def lab(tmp_path):
    """Return the address of a JupyterLab with a notebook of two cells."""
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{i}",
            "metadata": {},
            "source": text.strip(),
            "outputs": [],
            "execution_count": None,
        }
        for i, text in enumerate((FIRST, f"scenarios = [one.scenario for one in session.runs]\n{CHECK.strip()}"))
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "live.ipynb").write_text(json.dumps(notebook))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        "--IdentityProvider.token=", "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    own = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=tmp_path, env=os.environ | own, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, (tmp_path / "log").read_text()
                time.sleep(0.5)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def seconds(page):
    """Return the simulated time that the widget shows."""
    return float(page.inner_text(".optcp-widget .clock").split()[0])


def test_link_is_cut_and_branches_are_compared_in_jupyterlab(lab, tmp_path):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # A container's only user is root, for whom Chromium refuses its sandbox.
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(WAIT_MS)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{lab}/lab/tree/live.ipynb")
        page.locator(".jp-Notebook .cm-content").first.click()
        page.wait_for_selector("[data-status=idle]", state="attached")
        page.keyboard.press("Shift+Enter")
        page.wait_for_selector(".optcp-widget .link")
        assert seconds(page) == 2
        assert not page.locator("[class^=optcp-still]").is_visible()

        page.click(".optcp-widget .play")
        page.wait_for_function("parseFloat(document.querySelector('.optcp-widget .clock').textContent) > 3")
        page.click(".optcp-widget .play")
        page.wait_for_function("document.querySelector('.optcp-widget .play').textContent === 'Play'")
        page.click(".optcp-widget .fork")
        page.wait_for_function("document.querySelectorAll('.optcp-widget .branch option').length === 2")
        page.click(".optcp-widget [data-link=R2-R3] .hit", force=True)
        page.wait_for_selector(".optcp-widget .link.down")
        cut_s = seconds(page)
        page.click(".optcp-widget .step")
        page.wait_for_function(f"parseFloat(document.querySelector('.optcp-widget .clock').textContent) > {cut_s}")
        page.select_option(".optcp-widget .speed", index=7)
        page.click(".optcp-widget .play")
        page.wait_for_function("document.querySelector('.optcp-widget .play').disabled")
        label = page.get_attribute(".optcp-widget canvas", "aria-label")
        assert [name.split(":")[0] for name in label.split("; ")] == [
            "protected, branch 1", "cross, branch 1", "protected, branch 2", "cross, branch 2"
        ]  # fmt: skip
        page.screenshot(path=tmp_path / "widget.png")
        page.select_option(".optcp-widget .quantity", "cwnd")
        page.uncheck(".optcp-widget .compare")
        assert page.get_attribute(".optcp-widget canvas", "aria-label").startswith("protected, branch 2: maximum")

        page.locator(".jp-Notebook .cm-content", has_text="scenarios").click()
        page.keyboard.press("Shift+Enter")
        page.get_by_text("equal True True").wait_for()
        page.keyboard.press("Control+s")
        page.wait_for_timeout(2000)
        browser.close()
    assert errors == []
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "live.ipynb"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    text = (tmp_path / "live.html").read_text(encoding="utf-8")
    (packed,) = re.findall(r'<img[^>]*src="data:image/svg\+xml;base64,([^"]+)"', text)
    picture = base64.b64decode(packed).decode()
    assert picture.startswith("<svg")
    assert "10 s; goodput in Mbit/s" in picture
    assert "R2-R3: down" in picture
