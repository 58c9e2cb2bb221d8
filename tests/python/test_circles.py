"""Import cycles: at most two files among the modules of a crate, none among those of the Python package.

A file depends on the files that define the names of its ``use`` lines. Re-exports are followed, because importing a
name through a dispatcher depends on the name, not on the dispatcher. Tests inside a file do not count. In Python,
imports for types only do not count; those inside functions count for the layer rules.
"""

import ast
import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"
PACKAGE = Path(__file__).parents[2] / "python" / "optcp"
LARGEST = 2
"""Maximum size of a cycle: two files that depend on each other are one module in two files."""

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(pub(\([^)]*\))? )?(use [^;]*;|mod \w+;|mod \w+ \{.*?\n\})", re.DOTALL)
USE = re.compile(r"(?:^|[\s;}])(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")


def leaves(tree):
    """Return the paths of a ``use``: (path, name that it gets here)."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, name = (part.strip() for part in tree.partition(" as "))
        parts = tuple(path.split("::"))
        return [(parts[:-1], parts[-2])] if parts[-1] == "self" else [(parts, name or parts[-1])]
    depth, start, inner, result = 0, 0, rest.rstrip()[:-1], []
    for place, sign in enumerate(inner + ","):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            part = inner[start:place].strip()
            result += leaves(head + part) if part else []
            start = place + 1
    return result


class Crate:
    """Modules of a crate by path from its root, and their uses."""

    def __init__(self, root):
        """Read the files of ``root``, without tests."""
        self.uses = {}
        """Paths of the ``use`` lines of each module, by the name that they get there."""
        tests = set()
        files = sorted(root.rglob("*.rs"))
        for file in files:
            text = COMMENT.sub("", file.read_text(encoding="utf-8"))
            module = self.module(root, file)
            tests |= {(*module, name) for name in re.findall(r"#\[cfg\(test\)\]\s*mod (\w+);", text)}
            text = TESTS.sub("", text)
            self.uses[module] = [leaf for tree in USE.findall(text) for leaf in leaves(tree)]
        hidden = [module for module in self.uses if any(module[: len(test)] == test for test in tests)]
        for module in hidden:
            del self.uses[module]

    @staticmethod
    def module(root, file):
        """Return the module path of a file."""
        parts = file.relative_to(root).with_suffix("").parts
        return () if parts == ("lib",) else parts[:-1] if parts[-1] == "mod" else parts

    def home(self, module, path, seen=frozenset()):
        """Return the module that defines ``path`` as written in ``module``; None outside the crate."""
        first, *rest = path
        if first == "crate":
            at = ()
        elif first in ("self", "super"):
            at = module
            path = path[1:] if first == "self" else path
            while path and path[0] == "super":
                at, path = at[:-1], path[1:]
            rest = list(path)
        elif (*module, first) in self.uses:
            at = (*module, first)
        else:
            return None
        for name in rest:
            if (*at, name) in self.uses:
                at = (*at, name)
                continue
            # Follow re-exports; all other names are defined here.
            again = next((path for path, known in self.uses[at] if known == name), None)
            if again is None or (at, name) in seen:
                return at
            return self.home(at, again, seen | {(at, name)}) or at
        return at

    def graph(self):
        """Return the dependencies of each module."""
        return {
            module: {home for path, _ in uses if (home := self.home(module, path)) not in (None, module)}
            for module, uses in self.uses.items()
        }


def circles(graph, largest=LARGEST):
    """Return the sets of more than ``largest`` nodes in which each node reaches every other."""

    def beyond(start):
        reached, open_ = set(), [start]
        while open_:
            for node in graph[open_.pop()] - reached:
                reached.add(node)
                open_.append(node)
        return reached

    reach = {node: beyond(node) for node in graph}
    sets = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph}
    return sorted(sorted("::".join(node) or "lib" for node in item) for item in sets if len(item) > largest)


@pytest.mark.parametrize("name", sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml")))
def test_no_circle_of_a_crate_holds_more_than_two_files(name):
    assert circles(Crate(CRATES / name / "src").graph()) == []


@pytest.fixture
def make_crate(tmp_path):
    """Return a function that makes a crate of generated files."""

    def make(**files):
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + ".rs")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return circles(Crate(tmp_path).graph())

    return make


def test_three_files_that_use_each_other_in_turn_are_a_circle(make_crate):
    assert make_crate(lib="", a="use crate::b::B;", b="use crate::{c::{C, D as E}, x};", c="use super::a::A;") == [
        ["a", "b", "c"]
    ]


def test_two_files_may_import_each_other(make_crate):
    assert make_crate(lib="pub use a::A;", a="use crate::b::B;", b="use crate::a::A;") == []


def test_re_exported_name_counts_at_its_definition(make_crate):
    family = "mod base; mod one; mod two; use one::One; use two::Two; pub use base::Base;"
    assert make_crate(lib="", f__mod=family, f__base="", f__one="use super::Base;", f__two="use super::Base;") == []
    # The same with the type in the dispatcher.
    family = "mod one; mod two; use one::One; use two::Two; pub struct Base;"
    circle = [["f", "f::one", "f::two"]]
    assert make_crate(lib="", f__mod=family, f__one="use super::Base;", f__two="use super::Base;") == circle


def test_tests_inside_a_file_and_comments_do_not_count(make_crate):
    inside = "use crate::b::B;\n#[cfg(test)]\nmod tests {\n    use crate::c::C;\n}\n"
    assert (
        make_crate(lib="", a=inside, b="use crate::c::C;", c="// use crate::a::A;\n#[cfg(test)]\nuse crate::a::A;")
        == []
    )


# Python


def modules():
    """Return the files of the package by module name."""
    result = {}
    for file in PACKAGE.rglob("*.py"):
        *folders, name = file.relative_to(PACKAGE.parent).with_suffix("").parts
        result[tuple(folders) if name == "__init__" else (*folders, name)] = file
    return result


def imports(tree, known, inside=False):
    """Return the modules that a file imports on its own import, or with ``inside`` also in its functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not inside:
            continue
        if isinstance(node, ast.Import):
            yield from (tuple(name.name.split(".")) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            of = tuple(node.module.split("."))
            yield from ((*of, name.name) if (*of, name.name) in known else of for name in node.names)
        else:
            yield from imports(node, known, inside)


def uses(inside=False):
    """Return the modules of the package that each one imports."""
    known = modules()
    trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in known.items()}
    return {name: (set(imports(tree, known, inside)) & set(known)) - {name} for name, tree in trees.items()}


def test_no_modules_of_the_package_import_each_other_in_a_circle():
    assert circles(uses(), largest=1) == []


FLOORS = re.compile(r"^\| (\d+) \| (.*) \|$", re.MULTILINE)
LATE = {
    "data.estimates": {"plots"},
    "scenarios.run": {"plots", "web"},
    "scenarios.scenario": {"plots"},
    "study.done": {"plots", "report"},
}
"""Methods that draw or report, and import drawing modules when called."""


def floors():
    """Return the layer of each subpackage, by the table of docs/developers/architecture.md."""
    text = (PACKAGE.parents[1] / "docs" / "developers" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("<!-- floors: checked by tests/python/test_circles.py -->\n")[2].partition("\n\nMethods")[0]
    return {room: int(floor) for floor, rooms in FLOORS.findall(table) for room in re.findall(r"`(\w+)`", rooms)}


def up(used, floor):
    """Return the imports that do not point to a lower layer: (module, subpackage)."""
    found = {(".".join(name[1:]), other[1]) for name in used if name[1:] for other in used[name] if other[1:]}
    ours = {
        (name, room)
        for name, room in found
        if room != name.partition(".")[0] and {room, name.partition(".")[0]} <= set(floor)
    }
    return {(name, room) for name, room in ours if floor[room] >= floor[name.partition(".")[0]]}


def test_packages_only_import_from_lower_layers():
    floor = floors()
    rooms = {name[1] for name in modules() if len(name) > 1} - {"__main__"}
    assert rooms == set(floor)
    for number in sorted(set(floor.values())):
        print(number, *(room for room in floor if floor[room] == number))  # noqa: T201 - `pytest -s` shows it
    assert up(uses(), floor) == set()
    assert up(uses(inside=True), floor) == {(name, room) for name, rooms in LATE.items() for room in rooms}
