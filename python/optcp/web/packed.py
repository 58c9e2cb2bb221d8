"""Texts that a page holds for when somebody asks for them: compressed, each once."""

from __future__ import annotations

import base64
import zlib


def packed(content: str | bytes) -> str:
    """Compress a text, or bytes, for ``DecompressionStream("deflate")`` of browsers."""
    raw = content if isinstance(content, bytes) else content.encode()
    return base64.b64encode(zlib.compress(raw, 9)).decode()


class Files:
    """Files to download."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def add(self, name: str, text: str) -> str:
        """Hold a file and return its name here; files of equal content share one name."""
        return self._names.setdefault(text, name)

    def names(self) -> list[str]:
        """Their names."""
        return list(self._names.values())

    def packed(self) -> list[tuple[str, str]]:
        """Every file by its name."""
        return [(name, packed(text)) for text, name in self._names.items()]
