"""Pages of the documentation: texts, tables, scenarios and commands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
COMPLETE = re.compile(r"<!-- complete: (\S+) -->\n```toml\n(.*?)```", re.DOTALL)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


SCENARIOS = "docs/reference/scenarios"


def text(name):
    """Return the text of a page, or of all pages of a folder."""
    pages = sorted((ROOT / name).glob("*.md")) if (ROOT / name).is_dir() else [ROOT / name]
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def run(command, cwd, status=0):
    done = subprocess.run(
        [sys.executable, "-m", "optcp", *shlex.split(command)[1:]],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done


def rows(page, mark):
    """Return the cells of the first table after a mark, without its header."""
    table = text(page).split(f"<!-- {mark}: ")[1].split("|---", 1)[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table]


def save_scenarios(page, directory):
    result = COMPLETE.findall(text(page))
    for name, content in result:
        (directory / name).write_text(content, encoding="utf-8")
    return result
