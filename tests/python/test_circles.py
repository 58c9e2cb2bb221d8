"""No circle of more than two files among the modules of a crate, and none among those of the Python package.

A file depends on those where the names of its ``use`` lines are defined: re-exports are followed, since who takes a
name through its family's dispatcher depends on the name, not on the dispatcher. Tests inside a file do not count.
In Python neither do imports for types only; those inside functions count where who may know whom is asked.
"""

import ast
import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"
PACKAGE = Path(__file__).parents[2] / "python" / "optcp"
LARGEST = 2
"""Two files that know each other are one thing in two files; more are a knot."""

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(pub(\([^)]*\))? )?(use [^;]*;|mod \w+;|mod \w+ \{.*?\n\})", re.DOTALL)
USE = re.compile(r"(?:^|[\s;}])(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")


def leaves(tree):
    """The paths of a ``use``: (path, name that it gets here)."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, name = (part.strip() for part in tree.partition(" as "))
        parts = tuple(path.split("::"))
        return [(parts[:-1], parts[-2])] if parts[-1] == "self" else [(parts, name or parts[-1])]
    depth, start, inner, found = 0, 0, rest.rstrip()[:-1], []
    for place, sign in enumerate(inner + ","):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            part = inner[start:place].strip()
            found += leaves(head + part) if part else []
            start = place + 1
    return found


class Crate:
    """The modules of a crate, by path from its root, and what they use."""

    def __init__(self, root):
        """Reads ``root``'s files, without tests."""
        self.uses = {}
        """Of each module, the paths of its ``use`` lines by the name that they get there."""
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
        """The path of the module that a file is."""
        parts = file.relative_to(root).with_suffix("").parts
        return () if parts == ("lib",) else parts[:-1] if parts[-1] == "mod" else parts

    def home(self, module, path, seen=frozenset()):
        """The module where ``path``, written in ``module``, is defined; nothing if outside the crate."""
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
            # A re-export leads on; anything else is defined here.
            again = next((path for path, known in self.uses[at] if known == name), None)
            if again is None or (at, name) in seen:
                return at
            return self.home(at, again, seen | {(at, name)}) or at
        return at

    def graph(self):
        """Which modules each one depends on."""
        return {
            module: {home for path, _ in uses if (home := self.home(module, path)) not in (None, module)}
            for module, uses in self.uses.items()
        }


def circles(graph, largest=LARGEST):
    """The sets of more than ``largest`` nodes in which each leads to every other."""

    def beyond(start):
        reached, open_ = set(), [start]
        while open_:
            for node in graph[open_.pop()] - reached:
                reached.add(node)
                open_.append(node)
        return reached

    reach = {node: beyond(node) for node in graph}
    sets = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph}
    return sorted(sorted("::".join(node) or "lib" for node in one) for one in sets if len(one) > largest)


@pytest.mark.parametrize("name", sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml")))
def test_no_circle_of_a_crate_holds_more_than_two_files(name):
    assert circles(Crate(CRATES / name / "src").graph()) == []


@pytest.fixture
def made(tmp_path):
    """A crate of made-up files."""

    def make(**files):
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + ".rs")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return circles(Crate(tmp_path).graph())

    return make


def test_three_files_that_use_each_other_in_turn_are_a_circle(made):
    assert made(lib="", a="use crate::b::B;", b="use crate::{c::{C, D as E}, x};", c="use super::a::A;") == [
        ["a", "b", "c"]
    ]


def test_two_files_may_import_each_other(made):
    assert made(lib="pub use a::A;", a="use crate::b::B;", b="use crate::a::A;") == []


def test_re_exported_name_counts_at_its_definition(made):
    family = "mod base; mod one; mod two; use one::One; use two::Two; pub use base::Base;"
    assert made(lib="", f__mod=family, f__base="", f__one="use super::Base;", f__two="use super::Base;") == []
    # The same with the type in the dispatcher.
    family = "mod one; mod two; use one::One; use two::Two; pub struct Base;"
    circle = [["f", "f::one", "f::two"]]
    assert made(lib="", f__mod=family, f__one="use super::Base;", f__two="use super::Base;") == circle


def test_tests_inside_a_file_and_comments_do_not_count(made):
    inside = "use crate::b::B;\n#[cfg(test)]\nmod tests {\n    use crate::c::C;\n}\n"
    assert made(lib="", a=inside, b="use crate::c::C;", c="// use crate::a::A;\n#[cfg(test)]\nuse crate::a::A;") == []


# Python


def modules():
    """The files of the package by the names of their modules."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        *folders, name = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[tuple(folders) if name == "__init__" else (*folders, name)] = file
    return found


def imports(tree, known, inside=False):
    """The modules that a file imports when it is imported itself, and ``inside`` its functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not inside:
            continue
        if isinstance(node, ast.Import):
            yield from (tuple(one.name.split(".")) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            of = tuple(node.module.split("."))
            yield from ((*of, one.name) if (*of, one.name) in known else of for one in node.names)
        else:
            yield from imports(node, known, inside)


def uses(inside=False):
    """Which modules of the package each one imports."""
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
"""Methods that draw or report import what draws when they are called."""


def floors():
    """The floor of each room of the package, by the table of docs/developers/architecture.md."""
    text = (PACKAGE.parents[1] / "docs" / "developers" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("<!-- floors: checked by tests/python/test_circles.py -->\n")[2].partition("\n\nMethods")[0]
    return {room: int(floor) for floor, rooms in FLOORS.findall(table) for room in re.findall(r"`(\w+)`", rooms)}


def up(used, floor):
    """Each import of a room that is not below: (module, room)."""
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
