"""Terms of the glossary instead of everyday words: in pages, help texts, the report and texts of experiments."""

import re
from pathlib import Path

import click
import pytest

from optcp.cli.main import cli
from optcp.papers.registry import select

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEMPLATES = sorted((ROOT / "python" / "optcp" / "web" / "templates").glob("*.j2"))
WRITTEN = {str(path.relative_to(ROOT)): path for path in [*PAGES, *TEMPLATES]}
# Code, and markup of the report, in which keys keep their names.
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`|\{%.*?%\}|\{\{.*?\}\}|<[^<>]*>", re.DOTALL | re.MULTILINE)
EVERYDAY = {
    "published value": r"\b(the|a|its|of|in|against|beyond) print\b(?! (their|them|it)\b)|\bprint's\b",
    "interpretation": r"\breadings\b|\b(other|literal|same|each|either|every|this|that|one|any) reading\b",
    "unstated parameter": r"\bunsaid\b",
    "significantly": r"\bsurely\b",
    "notified": r"\b(is|are|was|were|been|nobody|has) told\b",
    "cached run": r"\bkept (long )?runs?\b|\bruns? (that|which) (are|is) kept\b",
    "in flight": r"\bunder way\b",
}


def everyday_words(text):
    prose = " ".join(CODE.sub(" ", text).split())
    return [found.group() for words in EVERYDAY.values() for found in re.finditer(words, prose, re.IGNORECASE)]


def test_every_term_that_replaces_a_word_is_in_the_glossary():
    terms = re.findall(r"^\| ([^|]+) \|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)[1:]
    assert [term for term in EVERYDAY if term not in terms] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what the paper leaves\nunsaid", ["unsaid"]),
        ("`readings` and `kept` are keys, and papers print them", []),
        ("closest to the print. Both readings", ["the print", "readings"]),
        ('<p class="readings">', []),
    ],
)
def test_words_are_found_in_prose_and_not_in_code(text, found):
    assert everyday_words(text) == found


@pytest.mark.parametrize("name", WRITTEN)
def test_pages_use_the_terms(name):
    assert everyday_words(WRITTEN[name].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("verb", sorted(cli.commands))
def test_help_texts_use_the_terms(verb):
    assert everyday_words(cli.commands[verb].get_help(click.Context(cli.commands[verb], info_name=verb))) == []


def test_titles_of_exhibits_use_the_terms():
    assert [item.id for item in select(()) if everyday_words(item.title)] == []
