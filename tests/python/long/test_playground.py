"""The simulator in WebAssembly: in node it computes what the command does, and the page works in a browser."""

import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from optcp import _core, shipped, topologies
from optcp.playground import page as page_of
from optcp.playground import starts

# TopoHub leaves the file of a network open.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
ROOT = Path(__file__).parents[3]
NODE = shutil.which("node")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LONGEST_S = 100
SMALLER = {
    "lbas": {"parameters.rate": "10 Mbps", "parameters.buffer": "12.5 kB", "parameters.far_buffer": "12.5 kB"},
    "reconfigurable-restoration": {"parameters.rate": "20 Mbps", "parameters.queue": "25 kB"},
    "reconfigurable-rotor": {
        "parameters.racks": "8",
        "parameters.hosts": "16",
        "parameters.until": "10 ms",
        "parameters.length": "20 ms",
    },
    "reconfigurable-days": {"parameters.length": "24 ms", "parameters.warm": "8 ms", "parameters.measured": "16 ms"},
}
"""Worlds of 10 Gb/s and of many hosts, as small as the tests of the kernels have them."""


@pytest.fixture(scope="module")
def program():
    """What compiles the module and writes the page."""
    spec = importlib.util.spec_from_file_location("playground_build", ROOT / "playground/build.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


@pytest.fixture(scope="module")
def playground(program):
    if program.compiler() is None:
        pytest.skip(program.MISSING)
    return program


@pytest.fixture(scope="module")
def module(playground):
    return playground.compiled()


def in_node(module, requests):
    if NODE is None:
        pytest.skip("no node is installed: the module is not run")
    lines = "\n".join(json.dumps(request) for request in requests)
    command = [NODE, ROOT / "playground/run.js", module]
    said = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in said.stdout.splitlines()]


def of_command(text, name, settings):
    run = _core.Scenario.parse(text, name, settings).run(1, digest=True)
    return {
        "records_sha256": run.records_sha256,
        "metrics_sha256": run.metrics_sha256,
        "scenario_sha256": run.scenario_sha256,
        "counts": run.counts,
    }


def shortened(text, name, settings):
    """The settings, and a stop where it runs long."""
    stop_s = _core.Scenario.parse(text, name, settings).summary()["stop_s"]
    return [*settings, ("stop", f"{LONGEST_S} s")] if stop_s > LONGEST_S else settings


def test_without_a_compiler_it_is_not_built_and_says_so(program, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    program.main()
    assert capsys.readouterr().out == f"the playground is not built: {program.MISSING}\n"


def test_every_shipped_scenario_has_the_digests_of_the_command(module):
    requests, expected = [], []
    for name, path in shipped.scenarios().items():
        text = path.read_text(encoding="utf-8")
        settings = shortened(text, str(path), list(SMALLER.get(name, {}).items()))
        library = {}
        with topologies.answered(library):
            expected.append({"name": name, **of_command(text, str(path), settings)})
        handed = json.loads(json.dumps(library))
        requests.append({"name": str(path), "text": text, "set": settings, "seed": 1, "library": handed})
    assert len(requests) >= 30
    for answer, run in zip(in_node(module, requests), expected, strict=True):
        assert {"name": run["name"], **answer} == {**answer, **run}


def test_what_lies_before_a_failure_is_simulated_once_and_changes_nothing(playground, module):
    text = starts()[0].text
    cuts = [("2.5 s", "north"), ("7.9 s", "north"), ("1.3 s", "north"), ("1.3 s", "west")]
    questions, expected = [], []
    for at, end in cuts:
        link = '["north", "east"]' if end == "north" else '["west", "north"]'
        choice = [["failures.0.link", link], ["protection.0.link", link]]
        then = [["failures.0.at", at]]
        late = [["failures.0.at", "7998 ms"], ["parameters.switch_delay", "1 ms"]]
        failure = {"atPs": round(float(at.removesuffix(" s")) * 1e12), "late": late}
        questions.append(
            {"name": "ring.toml", "text": text, "seed": 1, "choices": [choice], "then": then, "failure": failure}
        )
        expected.append(of_command(text, "ring.toml", [tuple(pair) for pair in [*choice, *then]]))
    for answer, run, question in zip(in_node(module, questions), expected, questions, strict=True):
        assert answer["forked_at_ps"] == question["failure"]["atPs"]
        del run["counts"]["events"]
        assert answer.items() >= {key: run[key] for key in run if key != "counts"}.items()
        assert answer["counts"].items() >= run["counts"].items()


def test_messages_are_those_of_the_command(module):
    text = (ROOT / "python/optcp/scenarios/ring.toml").read_text(encoding="utf-8")
    wrong = [text.replace("delay", "dealy"), text.replace('"4 ms"', '"4 parsecs"'), text + "\nnot TOML"]
    for one, answer in zip(wrong, in_node(module, [{"name": "ring.toml", "text": one} for one in wrong]), strict=True):
        with pytest.raises(_core.ScenarioError) as error:
            _core.Scenario.parse(one, "ring.toml")
        assert answer == {"refused": str(error.value)}


def test_a_network_that_was_not_handed_in_is_named(module):
    text = (ROOT / "python/optcp/scenarios/germany50.toml").read_text(encoding="utf-8")
    (answer,) = in_node(module, [{"name": "germany50.toml", "text": text}])
    assert "has not been handed in" in answer["refused"]


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: the page is not opened")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # A container's only user is root, whom Chromium refuses its sandbox.
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield chromium
        chromium.close()


def answered(page, count):
    page.wait_for_function(f"Number(document.body.dataset.answers ?? 0) >= {count}")


def opened(playground, module, browser, tmp_path, **options):
    """The page as a reader has it from a file, when its first run is drawn, and what goes wrong on it."""
    written = tmp_path / "index.html"
    written.write_text(page_of(starts(), gzip.compress(module.read_bytes())), encoding="utf-8")
    assert written.stat().st_size < 2_000_000
    page = browser.new_page(**options)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None)
    page.goto(written.as_uri())
    answered(page, 1)
    return page, wrong


def test_a_run_of_hours_is_given_up_for_the_next_one(playground, module, browser, tmp_path):
    page, wrong = opened(playground, module, browser, tmp_path)
    text = starts()[0].text
    hours = text.replace('stop = "8 s"', 'stop = "400 h"')
    page.fill("#text", re.sub(r'interval = "\d+ ms"', 'interval = "400 h"', hours))
    page.wait_for_function("asked?.text.includes('400 h')")
    page.fill("#text", text.replace('at = "3 s"', 'at = "2 s"'))
    answered(page, 2)
    run = of_command(text, "ring.toml", [("failures.0.at", "2 s")])
    assert page.inner_text("#records_sha256") == run["records_sha256"]
    assert wrong == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_a_fibre_is_cut_in_the_browser(playground, module, browser, tmp_path, width, scheme):
    size = {"width": width, "height": 900}
    page, wrong = opened(playground, module, browser, tmp_path, viewport=size, color_scheme=scheme)
    text = starts()[0].text
    assert page.inner_text("#records_sha256") == of_command(text, "ring.toml", [])["records_sha256"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    # By keyboard: another link, and a later failure.
    page.locator("[data-link=west-north]").focus()
    page.keyboard.press("Enter")
    answered(page, 2)
    assert page.locator(".link.cut").get_attribute("data-link") == "west-north"
    page.locator("#at").focus()
    page.keyboard.press("ArrowRight")
    answered(page, 3)
    link = '["west","north"]'
    settings = [("failures.0.link", link), ("protection.0.link", link), ("failures.0.at", "3.01 s")]
    assert page.inner_text("#metrics_sha256") == of_command(text, "ring.toml", settings)["metrics_sha256"]
    assert "--set 'failures.0.at=3.01 s'" in page.inner_text("#command")
    assert "was there already" in page.inner_text("#speed")

    wrong_key = text.replace('delay = "4 ms"', 'dealy = "4 ms"')
    page.fill("#text", wrong_key)
    page.wait_for_selector("#message.refused")
    with pytest.raises(_core.ScenarioError) as error:
        _core.Scenario.parse(wrong_key, "ring.toml")
    assert page.inner_text("#message").split() == str(error.value).split()
    assert wrong == []
    page.close()
