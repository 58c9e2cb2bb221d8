"""Every command of the introductory pages, in one directory and in the order of the pages.

Studies have two seeds here. Commands that cannot run are skipped by their words: placeholders (FILE, DIR, ...,
[NAME]), files of the reader, workers of a cluster, and experiments that take minutes or hours.
"""

import os
import re
import shlex
import subprocess
import sys

import pytest

from doc_pages import save_scenarios
from optcp.papers.registry import select
from optcp.web.playground import simulator
from test_docs_commands import GUIDES, every_command

PLACEHOLDER = re.compile(r"(^|[\s=/])[A-Z]{2,}([\s.|]|$)|\.\.\.|\[[A-Z]")
OF_THE_READER = {
    "networkx_rtt_1173_to_1241.txt",
    "mine.gml",
    "my.toml",
    "results",
    "replay.toml",
    "replay",
}
"""Files of a reader, results of experiments that take hours, and of a list of flows made with awk on another page."""
LONG = {"reproduce", "sensitivity", "evidence", "bench"}


def wanted(command):
    """Return whether the command can run here."""
    words = shlex.split(command)
    return not (
        len(words) < 3
        or PLACEHOLDER.search(command)
        or words[1] in LONG
        or "--dask" in words
        or (words[1] == "playground" and simulator() is None)
        or OF_THE_READER & set(words)
    )


def shortened(command):
    """Return the command with two seeds."""
    return re.sub(r"--(runs|seeds) \d+", r"--\1 2", command)


def commands():
    return [(page, command) for page in GUIDES for _, command in every_command(page)]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader")
    for page in GUIDES:
        for name, content in save_scenarios(page, folder):
            (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_every_command_runs_in_the_order_of_the_pages(place):
    failed, ran = [], set()
    environment = {**os.environ, "HOME": str(place), "SHELL": "/bin/bash"}
    for page, command in commands():
        # Another page may repeat a command, but `optcp new` refuses to overwrite a file.
        if not wanted(command) or command in ran:
            continue
        ran.add(command)
        words = shlex.split(shortened(command))[1:]
        done = subprocess.run(
            [sys.executable, "-m", "optcp", *words], cwd=place, env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            failed.append((page, command, done.stderr[-400:]))
    assert failed == []
    assert len(ran) > 50


def test_exhibits_of_commands_exist():
    for page, command in commands():
        words = shlex.split(command)
        if len(words) > 2 and words[1] in ("reproduce", "sensitivity") and not PLACEHOLDER.search(command):
            assert select([word for word in words[2:3] if not word.startswith("-")]), (page, command)


def test_reader_files_are_shown_on_a_page():
    shown = " ".join(command for _, command in commands())
    assert [name for name in OF_THE_READER if name not in shown] == []
