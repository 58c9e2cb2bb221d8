"""Search in passages by words, ranked by BM25."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optcp.mcp.texts import Passage

WORD = re.compile(r"1[+:][1n]|[a-z0-9]+(?:[-_][a-z0-9]+)*")
"""Word, name, or protection scheme such as 1+1."""
COMMON = frozenset(
    {
        "a", "an", "and", "are", "at", "be", "by", "can", "do", "does", "for", "from", "have", "how", "i", "in", "is",
        "it", "its", "many", "much", "not", "of", "on", "one", "or", "that", "the", "there", "to", "what", "when",
        "where", "which", "who", "why", "will", "with",
    }
)  # fmt: skip
"""Words of questions that say nothing about their subject."""
SATURATION, LENGTH = 1.5, 0.75
"""The usual constants k1 and b of BM25 (Robertson and Zaragoza 2009, section 3.2)."""
TITLE = 3
"""Weight of a word in a title, in words of the text."""
ENDINGS = ("ing", "es", "ed", "s")


class Index:
    """Index of passages.

    Parameters
    ----------
    passages
        The passages.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._counts = [Counter(TITLE * words(one.title) + words(one.text)) for one in passages]
        self._mean = sum(count.total() for count in self._counts) / max(1, len(passages))
        self._spread = Counter(word for count in self._counts for word in count)

    def best(self, query: str, most: int) -> list[Passage]:
        """Return the passages that fit a query, best first; passages without any of its words are left out."""
        wanted = _wanted(query)
        scores = [(self._score(count, wanted), -at) for at, count in enumerate(self._counts)]
        ranked = sorted((one for one in scores if one[0] > 0), reverse=True)
        return [self._passages[-at] for _, at in ranked[:most]]

    def excerpts(self, query: str, most: int, characters: int) -> list[Passage]:
        """Return the passages that fit a query, best first, each with its best lines of limited length."""
        return [one._replace(text=self._excerpt(one.text, query, characters)) for one in self.best(query, most)]

    def _excerpt(self, text: str, query: str, characters: int) -> str:
        """Return the lines of a text, of limited length together, that have most weight of the words of a query."""
        if len(text) <= characters:
            return text
        wanted, lines = _wanted(query), text.splitlines()
        weights = [sum(self._rarity(word) for word in wanted.intersection(words(line))) for line in lines]
        best, first, last = -1.0, 0, 1
        for start in range(len(lines)):
            end, size = start, 0
            while end < len(lines) and (end == start or size + len(lines[end]) < characters):
                size, end = size + len(lines[end]) + 1, end + 1
            if sum(weights[start:end]) > best:
                best, first, last = sum(weights[start:end]), start, end
        cut = "\n".join(lines[first:last])[:characters]
        return f"{'... ' if first else ''}{cut}{' ...' if last < len(lines) or len(cut) == characters else ''}"

    def _score(self, count: Counter[str], wanted: Iterable[str]) -> float:
        length = SATURATION * (1 - LENGTH + LENGTH * count.total() / self._mean)
        return sum(
            self._rarity(word) * count[word] * (SATURATION + 1) / (count[word] + length)
            for word in wanted
            if count[word]
        )

    def _rarity(self, word: str) -> float:
        there = self._spread[word]
        return math.log(1 + (len(self._passages) - there + 0.5) / (there + 0.5))


def _wanted(query: str) -> set[str]:
    """Return the words of a query, without common ones unless there are no others."""
    every = set(words(query))
    return every - COMMON or every


def words(text: str) -> list[str]:
    """Return the words of a text; names such as ``few-seeds`` count as a whole and by their parts.

    >>> words("Few seeds: `few-seeds`")
    ['few', 'seed', 'few-seeds', 'few', 'seed']
    """
    found = []
    for word in WORD.findall(text.lower()):
        parts = re.split("[-_]", word)
        found += [word, *map(_stem, parts)] if len(parts) > 1 else [_stem(word)]
    return found


def _stem(word: str) -> str:
    """Return a word without its ending."""
    end = next((end for end in ENDINGS if word.endswith(end) and len(word) > len(end) + 3), "")
    return word.removesuffix(end)
