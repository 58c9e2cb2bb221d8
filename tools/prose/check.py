"""Checks the language of pages, help texts, messages, docstrings and comments: `make lint` runs it.

codespell checks the spelling. The rules in `rules.toml` are the ones that no public tool has: the project's terms,
patterns of private dialect, and limits on sentences and table cells. A file may have no more findings of a rule than
`baseline.json` allows. `--renew` lowers the baseline after an improvement and never raises it; `--list PATH` prints all
findings below a path.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
BASELINE = Path(__file__).with_name("baseline.json")
RULES = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))


class Finding(NamedTuple):
    """A rule that a text breaks."""

    file: str
    line: int
    rule: str
    text: str


class Passage(NamedTuple):
    """A paragraph or a table cell."""

    line: int
    text: str
    is_cell: bool = False


def of_markdown(text: str) -> Iterator[Passage]:
    """Yield the paragraphs, list items and table cells of a page, without front matter and comments."""
    yield from _paragraphs(1, _blank(r"^---\n.*?^---\n|<!--.*?-->", text))


def of_python(text: str) -> Iterator[Passage]:
    """Yield the paragraphs of docstrings, and comments."""
    for node in ast.walk(ast.parse(text)):
        for child in ast.iter_child_nodes(node):
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and isinstance(child.value.value, str)
            ):
                yield from _paragraphs(child.value.lineno, child.value.value, by_indent=True)
    comments = [
        (one.start[0], one.string)
        for one in tokenize.generate_tokens(io.StringIO(text).readline)
        if one.type == tokenize.COMMENT
    ]
    yield from _comments(comments, r"#:? ?")


def of_rust(text: str) -> Iterator[Passage]:
    """Yield the paragraphs of doc comments and comments."""
    found = [
        (number, bare) for number, line in enumerate(text.splitlines(), 1) if (bare := line.strip()).startswith("//")
    ]
    yield from _comments(found, r"//[/!]? ?")


def of_text(text: str) -> Iterator[Passage]:
    """Yield the lines of a file of messages; tables have no sentences, so a line counts as a few words."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("# name:"):
            yield from (Passage(number, part) for part in re.split(r" {2,}|(?<=[.;:]) ", line.strip()) if part)


def _comments(lines: list[tuple[int, str]], mark: str) -> Iterator[Passage]:
    block: list[tuple[int, str]] = []
    for number, line in [*lines, (-1, "")]:
        if block and number != block[-1][0] + 1:
            yield from _paragraphs(block[0][0], "\n".join(re.sub(f"^{mark}", "", one) for _, one in block))
            block = []
        block.append((number, line))


def _paragraphs(line: int, text: str, *, by_indent: bool = False) -> Iterator[Passage]:
    """Yield the passages of a text that begins in a line, without code blocks and headings.

    ``by_indent`` also ends a passage where the indentation changes: a name in a list of parameters, and the text below.
    """
    lines: list[str] = []
    start, indent = line, 0
    for number, one in enumerate([*_blank(r"^ *(```|~~~).*?^ *\1[^\n]*$", text).splitlines(), ""], line):
        bare = one.strip()
        before, indent = indent, len(one) - len(one.lstrip())
        # The first line of a docstring stands behind its quotation marks.
        shifted = by_indent and number > line + 1 and indent != before
        if lines and (not bare or shifted or re.match(r"([*+-]|\d+\.) |[|#>]|[-=]{3,}$", bare)):
            # The names of documented parameters are no prose.
            if not (shifted and bare and indent > before and re.fullmatch(r"\w+(, \w+)*", " ".join(lines))):
                yield Passage(start, " ".join(lines))
            lines = []
        if bare.startswith("|"):
            yield from (Passage(number, cell, True) for cell in re.split(r"(?<!\\)\|", bare) if cell.strip(" -:"))
        elif bare and not re.match(r"[-=]{3,}|#|>>>|\.\.\. ", bare):
            start = start if lines else number
            lines.append(re.sub(r"^([*+-]|\d+\.) |^> ?", "", bare))


def _blank(pattern: str, text: str) -> str:
    """Replace the matches of a pattern by as many line breaks, so that line numbers stay."""
    return re.sub(pattern, lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)


FORMS = {".md": of_markdown, ".py": of_python, ".pyi": of_python, ".rs": of_rust, ".ambr": of_text}
PLACES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs",
    "python/optcp",
    "papers/optcp_papers",
    "crates",
    "tools",
    "tests/python/__snapshots__",
)


def files() -> Iterator[Path]:
    """Yield the files that are checked."""
    for place in PLACES:
        path = ROOT / place
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (one for one in found if one.suffix in FORMS and "target" not in one.parts and one != Path(__file__))


def sentences(text: str) -> list[str]:
    """Split a paragraph into sentences; code, links and brackets count as one word each."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"``[^`]*``|`[^`]*`|\[`[^`]*`\]|:\w+:`[^`]*`|https?://\S+", "CODE", text)
    text = re.sub(r"\*\*|__", "", text)
    return [one for one in re.split(r"(?<=[.!?])[)\"']?\s+(?=[A-Z0-9\"'(*])", text) if one]


def check(name: str, passages: Iterator[Passage]) -> Iterator[Finding]:
    """Yield what is wrong with the passages of a file."""
    for passage in passages:
        words = len(passage.text.split())
        if passage.is_cell and words > RULES["max_cell"]:
            yield Finding(name, passage.line, "cell", f"{words} words: {passage.text[:60]}...")
        for sentence in sentences(passage.text):
            count = sum(any(letter.isalnum() for letter in word) for word in sentence.split())
            if count > RULES["max_sentence"]:
                yield Finding(name, passage.line, "sentence", f"{count} words: {sentence[:60]}...")
            for word, term in RULES["terms"].items():
                for found in re.finditer(rf"\b(?:{word})\b", sentence, re.IGNORECASE):
                    yield Finding(name, passage.line, "term", f"{found[0]!r}: {term} ({sentence[:70]})")
            if not sentence.rstrip().endswith("?"):
                for pattern, advice in RULES["dialect"].items():
                    for found in re.finditer(pattern, sentence):
                        yield Finding(
                            name,
                            passage.line,
                            "dialect",
                            f"{found[0]!r}: {advice} ({sentence[max(0, found.start() - 30) : found.end() + 40]})",
                        )


def main() -> int:
    """Compare the findings with the baseline."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", metavar="PATH", help="print the findings of files below PATH")
    parser.add_argument("--renew", action="store_true", help="lower the baseline to what is found")
    arguments = parser.parse_args()
    found: list[Finding] = []
    for path in files():
        name = str(path.relative_to(ROOT))
        found += check(name, FORMS[path.suffix](path.read_text(encoding="utf-8")))
    counts = Counter((one.file, one.rule) for one in found)
    if arguments.list is not None:
        for one in found:
            if one.file.startswith(arguments.list):
                print(f"{one.file}:{one.line}: {one.rule}: {one.text}")
        return 0
    known = (
        {tuple(key.split(" ")): value for key, value in json.loads(BASELINE.read_text())["findings"].items()}
        if BASELINE.is_file()
        else None
    )
    if arguments.renew:
        kept = {
            f"{file} {rule}": count if known is None else min(count, known.get((file, rule), 0))
            for (file, rule), count in sorted(counts.items())
        }
        BASELINE.write_text(
            json.dumps({"findings": {key: value for key, value in kept.items() if value}}, indent=0) + "\n"
        )
        return 0
    worse = {key for key, count in counts.items() if count > (known or {}).get(key, 0)}
    for one in found:
        if (one.file, one.rule) in worse:
            print(f"{one.file}:{one.line}: {one.rule}: {one.text}", file=sys.stderr)
    total = Counter(one.rule for one in found)
    print("prose: " + (", ".join(f"{count} {rule}" for rule, count in sorted(total.items())) or "no findings"))
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
