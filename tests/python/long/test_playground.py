"""Simulator in WebAssembly: in node it computes the same as the command, and the page works in a browser."""

import contextlib
import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from optcp import Scenario, _core
from optcp.scenarios import shipped, topologies
from optcp.web.playground import Start, address, starts
from optcp.web.playground import page as page_of

# TopoHub does not close the file of a network.
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
"""Settings that shrink scenarios of 10 Gb/s and of many hosts, as in the tests of the engines."""


@pytest.fixture(scope="module")
def program():
    """Return the program that compiles the module and writes the page."""
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


def of_command(text, name, settings, seed=1):
    run = _core.Scenario.parse(text, name, settings).run(seed, digest=True)
    return {
        "records_sha256": run.records_sha256,
        "metrics_sha256": run.metrics_sha256,
        "scenario_sha256": run.scenario_sha256,
        "counts": run.counts,
    }


def shortened(text, name, settings):
    """Return the settings, and an earlier stop for long runs."""
    stop_s = _core.Scenario.parse(text, name, settings).summary()["stop_s"]
    return [*settings, ("stop", f"{LONGEST_S} s")] if stop_s > LONGEST_S else settings


def test_missing_compiler_skips_build_with_message(program, monkeypatch, capsys):
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
    for start in starts():
        expected.append({"name": start.name, **of_command(start.text, start.name, [])})
        requests.append({"name": start.name, "text": start.text, "seed": 1, "library": start.library})
    assert len(requests) >= 36
    for answer, run in zip(in_node(module, requests), expected, strict=True):
        assert {"name": run["name"], **answer} == {**answer, **run}


def with_change(text, old, new):
    assert old in text
    return text.replace(old, new)


def test_shared_start_of_two_scenarios_is_simulated_once(module):
    text = starts()[0].text
    moved = with_change(text, 'at = "3 s"', 'at = "4.6 s"')
    second = moved + '\n[[failures]]\nlink = ["west", "south"]\nat = "6.2 s"\n'
    worlds = [
        (text, None),  # the first run begins at its beginning
        (moved, 3),  # where the failures differ
        (second, 6.2),
        (with_change(second, "6.2 s", "7.9 s"), 6.2),
        (with_change(second, 'switch_delay = "50 ms"', 'switch_delay = "1 s"'), 4.65),  # when the switch has its say
        (with_change(text, 'tcp = "rfc"', 'tcp = "linux-6"'), None),
    ]
    questions = [{"name": "ring.toml", "text": text, "seed": 1, "session": True} for text, _ in worlds]
    expected = [of_command(text, "ring.toml", []) for text, _ in worlds]
    for answer, run, (_, shared_s) in zip(in_node(module, questions), expected, worlds, strict=True):
        if shared_s is None:
            assert answer["forked_at_ps"] is None
        else:  # at the last of 16 instants that is not later
            assert answer["forked_at_ps"] == int(shared_s / 0.5) * 500_000_000_000
        del run["counts"]["events"]
        assert answer.items() >= {key: run[key] for key in run if key != "counts"}.items()
        assert answer["counts"].items() >= run["counts"].items()


def test_edits_keep_rest_of_file_unchanged(module):
    text = 'a = 1  # one\n\n[[links]] # first\nchain = ["A", "B"]   # a chain\nrate = "1 Mbps"\n\n[t]\nb = 2\n'
    entry = [["chain", '["B", "C"]'], ["rate", '"2 Mbps"']]
    inline = "links = [{ a = 1 }, { a = 2 }] # two\n"
    cases = [
        (text, [{"set": [["a"], '"2 s"']}], text.replace("a = 1 ", 'a = "2 s" ')),
        (text, [{"set": [["links", 0, "delay"], "3"]}], text.replace('Mbps"\n', 'Mbps"\ndelay = 3\n')),
        (
            text,
            [{"push": ["links", entry]}],
            text.replace("\n\n[t]", '\n\n[[links]]\nchain = ["B", "C"]\nrate = "2 Mbps"\n\n[t]'),
        ),
        (text, [{"remove": ["links", 0]}], "a = 1  # one\n\n[t]\nb = 2\n"),
        (text, [{"push": ["links", entry]}, {"remove": ["links", 1]}], text),
        ("a = 1\n", [{"push": ["failures", [["at", '"3 s"']]]}], 'a = 1\n\n[[failures]]\nat = "3 s"\n'),
        (inline, [{"push": ["links", [["a", "3"]]]}], inline.replace("}]", "}, { a = 3 }]")),
        (inline, [{"remove": ["links", 1]}], "links = [{ a = 1 }] # two\n"),
    ]
    answers = in_node(module, [{"text": text, "changes": changes} for text, changes, _ in cases])
    assert [answer["text"] for answer in answers] == [expected for _, _, expected in cases]

    wrong = [{"set": [["c", "d"], "1"]}, {"set": [["a"], "no value"]}, {"remove": ["links", 3]}, {"push": ["a", entry]}]
    answers = in_node(module, [{"text": text, "changes": [item]} for item in wrong])
    said = [
        "the text has no such table",
        "no value is no value of TOML",
        "the text has no such entry",
        "`a` is no list",
    ]
    for answer, words in zip(answers, said, strict=True):
        assert words in answer["refused"]


def test_messages_match_the_command(module):
    text = (ROOT / "python/optcp/scenarios/ring.toml").read_text(encoding="utf-8")
    wrong = [text.replace("delay", "dealy"), text.replace('"4 ms"', '"4 parsecs"'), text + "\nnot TOML"]
    for entry, answer in zip(
        wrong, in_node(module, [{"name": "ring.toml", "text": item} for item in wrong]), strict=True
    ):
        with pytest.raises(_core.ScenarioError) as error:
            _core.Scenario.parse(entry, "ring.toml")
        assert answer["refused"] == str(error.value)


def test_missing_network_is_named(module):
    text = (ROOT / "python/optcp/scenarios/germany50.toml").read_text(encoding="utf-8")
    (answer,) = in_node(module, [{"name": "germany50.toml", "text": text}])
    assert "has not been handed in" in answer["refused"]


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: the page is not opened")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        # A container's only user is root, for whom Chromium refuses its sandbox.
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield chromium
        chromium.close()


def wait_for_answers(page, count=1, world=0):
    """Wait until the scenario has shown this many further answers."""
    script = "([world, count]) => Number(document.querySelectorAll('.world')[world]?.dataset.answers ?? 0) >= count"
    page.wait_for_function(script, arg=[world, count])


def answers(page, world=0):
    return int(page.locator(".world").nth(world).get_attribute("data-answers"))


def digest(page, world=0, kind="records"):
    return page.locator(f".{kind}_sha256").nth(world).inner_text()


def native(page, world=0, seed=1):
    """Return the output of the command for the file that the page shows."""
    run = of_command(page.locator(".text").nth(world).input_value(), "ring.toml", [], seed)
    return run["records_sha256"]


@contextlib.contextmanager
def opened(module, browser, tmp_path, address="", **options):
    """Yield the page opened from a file after its first run is drawn; it must have no errors."""
    written = tmp_path / "index.html"
    written.write_text(page_of(starts(), gzip.compress(module.read_bytes())), encoding="utf-8")
    assert written.stat().st_size < 2_000_000
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], **options)
    page = context.new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None)
    page.goto(written.as_uri() + address)
    wait_for_answers(page)
    yield page
    assert wrong == []
    context.close()


def curve(page, kind, world=0):
    """Return the names of the curves in a picture, with their maxima."""
    return page.locator(f"figure[data-kind={kind}] canvas").nth(world).get_attribute("aria-label")


def pixels(page, kind):
    return page.locator(f"figure[data-kind={kind}] canvas").first.evaluate("canvas => canvas.toDataURL()")


def test_long_run_is_cancelled_for_next_one(module, browser, tmp_path):
    with opened(module, browser, tmp_path) as page:
        text = starts()[0].text
        hours = text.replace('stop = "8 s"', 'stop = "400 h"')
        page.fill(".text", re.sub(r'interval = "\d+ ms"', 'interval = "400 h"', hours))
        page.wait_for_function("page.worlds[0].asker.asked?.question.text.includes('400 h')")
        page.fill(".text", text.replace('at = "3 s"', 'at = "2 s"'))
        wait_for_answers(page, 2)
        assert digest(page) == native(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_a_fibre_is_cut_in_the_browser(module, browser, tmp_path, width, scheme):
    size = {"width": width, "height": 900}
    with opened(module, browser, tmp_path, viewport=size, color_scheme=scheme) as page:
        assert page.input_value(".text") == starts()[0].text
        assert digest(page) == native(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        before = pixels(page, "goodput")

        # By keyboard: add a later failure of another link.
        page.locator("[data-link=west-north]").focus()
        page.keyboard.press("Enter")
        wait_for_answers(page, 2)
        assert page.locator(".link.cut").evaluate_all("links => links.map(link => link.dataset.link)") == [
            "west-north",
            "north-east",
        ]
        page.locator("[data-knob='failures.1.at']").focus()
        page.keyboard.press("ArrowRight")
        wait_for_answers(page, 3)
        failures = tomllib.loads(page.input_value(".text"))["failures"]
        assert failures == [{"link": ["north", "east"], "at": "3 s"}, {"link": ["west", "north"], "at": "3.02 s"}]
        assert digest(page) == native(page)
        assert page.inner_text(".command") == "optcp run ring.toml --seed 1 --digest"
        assert "was reused" in page.inner_text(".speed")

        # By mouse: repair both, and undo restores one failure.
        for link in ("west-north", "north-east"):
            page.locator(f"[data-link={link}] .hit").click(force=True)
        page.wait_for_function("document.querySelector('.now').textContent === 'No failures'")
        assert "failures" not in tomllib.loads(page.input_value(".text"))
        assert digest(page) == native(page)
        assert pixels(page, "goodput") != before
        page.click(".undo")
        page.wait_for_selector(".link.cut")
        assert len(tomllib.loads(page.input_value(".text"))["failures"]) == 1


def test_every_world_opens_with_its_curves(module, browser, tmp_path):
    with opened(module, browser, tmp_path) as page:
        for start in starts():
            before = answers(page)
            page.select_option("#start", start.name)
            wait_for_answers(page, before + 1)
            assert page.input_value(".text") == start.text
            assert digest(page) == native(page)
            for kind in ("goodput", "tcp", "queue"):
                assert re.search(r": up to [1-9]", curve(page, kind)), (start.name, kind)


def test_dragging_a_slider_moves_the_curves(module, browser, tmp_path):
    with opened(module, browser, tmp_path) as page:
        slider = page.locator("[data-knob='failures.0.at']")
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + 0.375 * box["width"], middle)
        page.mouse.down()
        seen = {pixels(page, "goodput")}
        for step in range(1, 6):
            before = answers(page)
            page.mouse.move(box["x"] + (0.375 + 0.05 * step) * box["width"], middle)
            wait_for_answers(page, before + 1)
            seen.add(pixels(page, "goodput"))
        page.mouse.up()
        assert len(seen) == 6
        assert digest(page) == native(page)
        # All edits are one change.
        page.click(".undo")
        page.wait_for_function("document.querySelector('[data-knob=\"failures.0.at\"]').value === '150'")
        assert page.input_value(".text") == starts()[0].text


def test_nodes_links_and_flows_are_added(module, browser, tmp_path):
    with opened(module, browser, tmp_path) as page:
        page.click("[data-mode=link]")
        page.click("[data-node=south] .hit", force=True)
        box = page.locator(".network").bounding_box()
        page.mouse.click(box["x"] + 300, box["y"] + 225)
        wait_for_answers(page, 2)
        page.locator("[data-node=n1]").focus()
        page.keyboard.press("Enter")
        page.locator("[data-node=B]").focus()
        page.keyboard.press("Enter")
        wait_for_answers(page, 3)
        page.click("[data-mode=flow]")
        for node in ("A0", "n1"):
            page.click(f"[data-node={node}] .hit", force=True)
        wait_for_answers(page, 4)
        world = tomllib.loads(page.input_value(".text"))
        assert world["nodes"][-1] == {"names": ["n1"]}
        like = {"rate": "20 Mbps", "delay": "4 ms", "queue": "60 packets"}
        assert world["links"][2:] == [{"chain": ["south", "n1"], **like}, {"chain": ["n1", "B"], **like}]
        flow = {"group": "flow-1", "from": "A0", "to": "n1", "tcp": "rfc", "path": "shortest"}
        assert world["flows"][1:] == [flow]
        page.select_option("[data-knob='flows.1.tcp']", "linux-6")
        wait_for_answers(page, 5)
        assert digest(page) == native(page)
        assert curve(page, "goodput").count("flow-1") == 1

        # Dragging moves the node, and the scenario is unchanged.
        shown = digest(page)
        node = page.locator("[data-node=n1] .dot")
        box = node.bounding_box()
        page.mouse.move(box["x"] + 6, box["y"] + 6)
        page.mouse.down()
        page.mouse.move(box["x"] + 106, box["y"] - 14, steps=4)
        page.mouse.up()
        assert node.bounding_box()["x"] == pytest.approx(box["x"] + 100, abs=2)
        assert digest(page) == shown


def test_two_worlds_are_compared_and_shared_by_a_link(module, browser, tmp_path):
    with opened(module, browser, tmp_path) as page:
        page.click("#pair")
        wait_for_answers(page, world=1)
        page.locator("[data-knob='parameters.switch_delay']").nth(1).fill("0")
        wait_for_answers(page, 2, world=1)
        texts = [page.locator(".text").nth(world).input_value() for world in (0, 1)]
        assert texts[1] == texts[0].replace('switch_delay = "50 ms"', 'switch_delay = "0 ms"')
        page.fill("#seed", "7")
        for world in (0, 1):
            page.wait_for_function("world => page.worlds[world].shown.result.seed === 7", arg=world)
            assert digest(page, world) == native(page, world, seed=7)
        page.wait_for_function("document.querySelector('#differences th').textContent.includes('seed 7')")
        page.click("#seeds")
        page.wait_for_selector("#differences table[data-seeds='10']")

        runs = [[Scenario.parse(text, "ring.toml").run(seed) for seed in range(1, 11)] for text in texts]
        rates = np.array([[run["goodput"]["bytes"].sum() * 8 / 8 / 1e6 for run in of] for of in runs])
        cells = page.locator("#differences td").all_inner_texts()
        for cell, values in zip(cells[1:], [*rates, rates[1] - rates[0]], strict=True):
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", cell)]
            mean, half = values.mean(), stats.t.ppf(0.975, 9) * values.std(ddof=1) / np.sqrt(10)
            assert numbers == pytest.approx([mean, mean - half, mean + half], rel=6e-3, abs=6e-4)

        page.click("#share")
        page.wait_for_function("document.querySelector('#said').textContent.startsWith('Copied')")
        link = page.evaluate("navigator.clipboard.readText()")
        assert page.inner_text(".command >> nth=0") == "optcp run ring.toml --seed 7 --digest"
        shown = [digest(page, world) for world in (0, 1)]
    with opened(module, browser, tmp_path, address="#" + link.partition("#")[2]) as page:
        wait_for_answers(page, world=1)
        assert [digest(page, world) for world in (0, 1)] == shown
        assert [page.locator(".text").nth(world).input_value() for world in (0, 1)] == texts


def test_a_link_that_python_made_opens_its_world(module, browser, tmp_path):
    text = starts()[0].text.replace('at = "3 s"', 'at = "1 s"')
    with opened(module, browser, tmp_path, address=address(Start("mine.toml", text))) as page:
        assert page.input_value(".text") == text
        assert page.inner_text(".command") == "optcp run mine.toml --seed 1 --digest"
        assert page.input_value("#start") == "mine.toml"
        page.select_option("#start", "gmpls.toml")
        wait_for_answers(page, 2)
        page.click(".undo")
        wait_for_answers(page, 3)
        assert page.input_value("#start") == "mine.toml"
        assert digest(page) == native(page)


def test_broken_link_is_reported(module, browser, tmp_path):
    with opened(module, browser, tmp_path, address="#w=nonsense") as page:
        assert "The address holds no world" in page.inner_text("#said")
        assert page.input_value(".text") == starts()[0].text


def test_a_run_is_played(module, browser, tmp_path):
    with opened(module, browser, tmp_path) as page:
        page.click("#play")
        # Queues are not empty before the link fails at 3 s, and the link is down then.
        page.wait_for_selector("[data-link=west-north] .queue:not(.empty)", state="attached")
        assert page.locator(".link.down").count() == 0
        page.wait_for_selector("[data-link=north-east].down")
        assert float(page.inner_text("#instant").removeprefix("at ").removesuffix(" s")) >= 3
        page.click("#play")


def test_page_messages_match_the_command(module, browser, tmp_path):
    with opened(module, browser, tmp_path) as page:
        wrong_key = starts()[0].text.replace('delay = "4 ms"', 'dealy = "4 ms"')
        page.fill(".text", wrong_key)
        page.wait_for_selector(".world.refused")
        with pytest.raises(_core.ScenarioError) as error:
            _core.Scenario.parse(wrong_key, "ring.toml")
        assert page.inner_text(".message").split() == str(error.value).split()


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [("ring", "parameters.switch_delay", "50 ms"), ("queues", "sweep.queue", "drop-tail")],
)
def test_sweep_values_of_file_are_kept(module, browser, tmp_path, name, key, value):
    text = shipped.scenarios()[name].read_text(encoding="utf-8")
    with opened(module, browser, tmp_path, address=address(Start(f"{name}.toml", text))) as page:
        setting = f"'{key}={value}'" if " " in value else f"{key}={value}"
        assert page.inner_text(".command") == f"optcp run {name}.toml --set {setting} --seed 1 --digest"
        assert f"own value of {key} stands" in page.inner_text(".message")
        run = of_command(text, f"{name}.toml", [(key, value)])
        assert digest(page, kind="metrics") == run["metrics_sha256"]


def test_choices_list_valid_words_only(module, browser, tmp_path):
    with opened(module, browser, tmp_path) as page:
        page.select_option("#start", "bundle.toml")
        page.wait_for_selector("[data-knob='parameters.selection']")
        offered = page.locator("[data-knob='parameters.selection'] option").all_inner_texts()
        assert sorted(offered) == sorted(item["name"] for item in _core.catalogue() if item["family"] == "selection")
        before = answers(page)
        page.select_option("[data-knob='parameters.selection']", "destination")
        wait_for_answers(page, before + 1)
        assert tomllib.loads(page.input_value(".text"))["parameters"]["selection"] == "destination"
        assert digest(page) == native(page)


def test_satellite_path_matches_current_time(module, browser, tmp_path):
    way = "links => links.map(link => link.dataset.link)"
    with opened(module, browser, tmp_path, viewport={"width": 1280, "height": 900}) as page:
        page.select_option("#start", "satellite.toml")
        page.wait_for_selector("[data-node=S650]")
        assert "S184-S183" in page.locator(".link.used").evaluate_all(way)
        page.evaluate("page.look(20)")
        page.wait_for_selector("[data-link='S650-S616'].used")
        assert "S184-S183" not in page.locator(".link.used").evaluate_all(way)
