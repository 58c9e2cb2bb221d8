"""Formats of topology files, and reading and writing of files in any of them."""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from optcp.common import rows
from optcp.errors import InputError, nearest
from optcp.topology import (
    attributes,
    csvs,
    gml,
    gnpy,
    gnpy_sheet,
    graphml,
    rfc8345,
    sndlib_native,
    sndlib_xml,
    tapi,
    topohub,
)
from optcp.topology.base import Format, Head, Source
from optcp.topology.model import check_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from optcp.topology.model import Network

FORMATS: tuple[Format, ...] = (
    gml.FORMAT,
    graphml.FORMAT,
    sndlib_native.FORMAT,
    sndlib_xml.FORMAT,
    gnpy.FORMAT,
    gnpy_sheet.FORMAT,
    rfc8345.FORMAT,
    tapi.FORMAT,
    topohub.FORMAT,
    csvs.FORMAT,
)
"""All formats; the first that detects a file reads it."""

SUFFIXES = tuple(dict.fromkeys(suffix for form in FORMATS for suffix in form.suffixes if suffix))
"""Suffixes of topology files."""

LINKS = "links.csv"
"""File of links in a directory of CSV files."""

SNIFFED = 4096
"""Number of characters from which formats detect their files."""

ROOT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)([^>]*)")
KEY = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:')


def head(content: bytes) -> Head:
    """Return the beginning of a file."""
    try:
        text = rows.decoded(content)
    except ValueError:
        text = content[: 16 * SNIFFED].decode("latin-1")
    text = text.lstrip("\ufeff \t\n")
    root = None
    if text.startswith("<"):
        body = re.sub(r"<!--.*?-->|<\?.*?\?>|<![^>]*>", "", text[: 4 * SNIFFED], flags=re.DOTALL)
        match = ROOT.search(body)
        root = (match[1], match[2]) if match else ("", "")
    return Head(content[:SNIFFED], text, root, _keys(text) if text.startswith("{") else frozenset())


def _keys(text: str) -> frozenset[str]:
    """Return the keys of the outermost object, or all keys if the text is no JSON."""
    try:
        found = json.loads(text)
        return frozenset(found) if isinstance(found, dict) else frozenset()
    except (ValueError, RecursionError):
        return frozenset(KEY.findall(text[: 4 * SNIFFED]))


def format_of(file: str, content: bytes) -> Format:
    """Return the format of a file by its content, or else by its suffix.

    Raises
    ------
    InputError
        If no format matches.
    """
    beginning = head(content)
    suffix = Path(file).suffix.lower()
    found = [form for form in FORMATS if form.detects(beginning)]
    by_suffix = [form for form in FORMATS if suffix and suffix in form.suffixes]
    both = [form for form in found if form in by_suffix]
    is_clear = bool(beginning.root and beginning.root[0]) or bool(beginning.keys)
    by_suffix = [] if is_clear or len(by_suffix) != 1 else by_suffix
    if both or found or by_suffix:
        return (*both, *found, *by_suffix)[0]
    if beginning.root is not None:
        raise InputError(
            f"`{file}`: unsupported file format: XML with the outermost element `{rows.short(beginning.root[0])}`; "
            "expected `graphml`, or `network` of SNDlib"
        )
    if beginning.text.startswith(("{", "[")):
        raise InputError(
            f"`{file}`: unsupported file format: JSON with the keys {_listed(beginning.keys)}; expected `elements` and "
            "`connections` (GNPy), `ietf-network:networks` (RFC 8345), `tapi-common:context` (TAPI), or `nodes` and "
            "`edges`"
        )
    raise InputError(f"`{file}`: unsupported file format; expected {', '.join(SUFFIXES)}")


def _listed(keys: frozenset[str]) -> str:
    shown = ", ".join(f"`{rows.short(key)}`" for key in sorted(keys)[:5])
    return shown or "of no object"


def read(source: Source) -> Network:
    """Read a topology file of any format.

    Raises
    ------
    InputError
        If it cannot be read; the message names the file.
    """
    check_size(source.file, len(source.content))
    form = format_of(source.file, source.content)
    try:
        return attributes.with_distances(form.read(source))
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - parsers let anything through for a file that is damaged
        source.wrong(f"{form.title}: {error}")


def read_path(path: Path) -> Network:
    """Read a topology file, or a directory with ``links.csv``.

    Raises
    ------
    InputError
        If it cannot be read.
    """

    def content(name: str) -> bytes | None:
        try:
            return (path.parent / name).read_bytes()
        except OSError:
            return None

    try:
        if path.is_dir():
            path = path / LINKS
        check_size(str(path), path.stat().st_size)
        return read(Source(str(path), path.read_bytes(), content))
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read `{path}`: {getattr(error, 'strerror', None) or error}") from None


def read_with(file: str, content: Callable[[str], bytes]) -> Network:
    """Read a topology file, or a directory of CSV files, through a function that returns contents by path.

    Raises
    ------
    InputError
        If it cannot be read.
    """

    def optional(path: str) -> bytes | None:
        try:
            return content(path)
        except InputError:
            return None

    chosen = file
    try:
        whole = content(file)
    except InputError:
        chosen = posixpath.join(file, LINKS)
        inside = optional(chosen)
        if inside is None:
            raise
        whole = inside
    return read(Source(chosen, whole, lambda name: optional(posixpath.join(posixpath.dirname(chosen), name))))


def is_file(reference: str) -> bool:
    """Return whether a network is a file, by its suffix or because it exists, rather than a name."""
    if reference.lower().endswith(SUFFIXES):
        return True
    if reference in topohub.networks().get(reference.partition("/")[0], ()):
        return False
    path = Path(reference)
    return path.is_file() or (path / LINKS).is_file()


def find(reference: str) -> Network:
    """Return a network by its file or its name in TopoHub.

    Raises
    ------
    InputError
        If it does not exist, or cannot be read.
    """
    if is_file(reference):
        return read_path(Path(reference))
    return attributes.with_distances(topohub.named(reference))


def writer(name: str | None, out: str) -> Format:
    """Return the format to write, by its name or else by the suffix of the file.

    Raises
    ------
    InputError
        If there is no such format, or it is only read.
    """
    able = {form.name: form for form in FORMATS if form.write is not None}
    if name is None:
        suffix = Path(out).suffix.lower()
        found = [form for form in able.values() if suffix in form.suffixes]
        if len(found) == 1:
            return found[0]
        names = ", ".join(form.name for form in found or able.values())
        raise InputError(f"{out}: the format is not clear from the suffix; name it with --to: {names}")
    if name not in able:
        known = {form.name for form in FORMATS}
        if name in known:
            raise InputError(f"format {name!r} is only read; formats to write: {', '.join(able)}")
        raise InputError(f"unknown format {name!r}; {nearest(name, able)}")
    return able[name]
