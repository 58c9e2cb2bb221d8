"""Table "Adding one thing" of docs/developers/architecture.md: files that a new option touched."""

import re
from pathlib import Path

import pytest

from test_circles import COMMENT, CRATES, TESTS

ROOT = Path(__file__).parents[2]
USES = re.compile(r"tcp/src/profile/|harness/|tests\.rs$|recorder\.rs$")
"""Files that name options without registering them: profiles, endpoint drivers, and tests."""


def rows():
    """Return the rows of the checked table: what is added, the columns, the option's name in files."""
    text = (ROOT / "docs" / "developers" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("<!-- adding:")[1].split("-->")[1].strip().split("\n\n")[0]
    for row in table.split("\n")[2:]:
        what, write, register, member = (cell.strip() for cell in row.strip("|").split(" | "))
        yield pytest.param(write.strip("`"), register, member.strip("`"), id=what)


def sources():
    """Return the source files of the crates without comments and tests, by path from ``crates``."""
    for file in CRATES.glob("*/src/**/*.rs"):
        path = str(file.relative_to(CRATES))
        if not USES.search(path):
            yield path, TESTS.sub("", COMMENT.sub("", file.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("write", "register", "member"), list(rows()))
def test_row_names_files_of_an_added_option(write, register, member):
    texts = dict(sources())
    line = re.compile(rf'"{re.escape(member)}"\s*=>\s*(?:\w+\s*::\s*)?(\w+)[^;:]*:\s*"')
    names = {match[1] for text in texts.values() for match in line.finditer(text)} or {member}
    assert len(names) == 1
    named = re.compile(rf'\b{names.pop()}(?:Loss)?\b|"{re.escape(member)}"')
    found = {path for path, text in texts.items() if named.search(text)}
    own = set(CRATES.glob(write.replace("x.rs", "*.rs"))) & {CRATES / path for path in found}
    registry = set(re.findall(r"`([a-z_/]+\.rs)`", register))
    own = {str(path.relative_to(CRATES)) for path in own} - registry
    assert len(own) <= 1
    assert found - own - registry == set(), "files that the row does not name"
    needed = {
        path for path in registry if not re.search(rf"(?:of its keys|of its own|is chosen)[^;]*`{path}`", register)
    }
    assert needed - found == set(), "files that the row names and the member does not need"


def test_every_file_of_integration_tests_is_compiled():
    mains = list(CRATES.glob("*/tests/main.rs"))
    assert mains
    for main in mains:
        files = {file.stem for file in main.parent.glob("*.rs")} - {"main"}
        assert files <= set(re.findall(r"^mod (\w+);", main.read_text(encoding="utf-8"), re.MULTILINE)), main
