"""`optcp packetdrill` on the project's own scripts."""

import json
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "developers" / "packetdrill.md"
SCRIPTS = sorted((Path(__file__).parents[2] / "packetdrill").glob("*/*.pkt"))


def test_every_script_passes(command, tmp_path):
    done = command("packetdrill", *SCRIPTS, "--json", "outcomes.json")
    assert done.stderr == ""
    outcomes = json.loads((tmp_path / "outcomes.json").read_text())
    assert [(outcome["file"], outcome["result"]) for outcome in outcomes] == [(str(script), "ok") for script in SCRIPTS]


def test_the_page_shows_what_happens(command, tmp_path):
    blocks = PAGE.read_text().split("```\n")
    script = next(block for block in blocks if block.startswith("// The first two"))
    message = next(block for block in blocks if block.startswith("lost.pkt"))
    (tmp_path / "good.pkt").write_text(script)
    command("packetdrill", "good.pkt")
    (tmp_path / "lost.pkt").write_text(script.replace("5001:6001(1000)", "5001:7001(2000)"))
    assert command("packetdrill", "lost.pkt", status=1).stderr == message


def test_a_script_that_expects_too_much_fails(command, tmp_path):
    script = next(script for script in SCRIPTS if script.stem == "window-doubles-in-a-round-trip")
    text = script.read_text()
    place = "+0 > . 3001:5001(2000) ack 1"
    assert text.count(place) == 1
    line = text[: text.index(place)].count("\n") + 1
    (tmp_path / "more.pkt").write_text(text.replace(place, "+0 > . 3001:6001(3000) ack 1"))
    done = command("packetdrill", "more.pkt", status=1)
    assert done.stderr == (
        f"more.pkt:{line}: FAILED at 0.200000 s\n"
        "  expected: > . 3001:6001(3000) ack 1\n"
        "  happened: > . 3001:5001(2000) ack 1, then nothing until 0.204000 s\n"
    )
