"""Arcs of directed files as links: opposite arcs are the two directions of one link."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from optcp.errors import InputError
from optcp.topology import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.topology.model import Both, Link, Network

T = TypeVar("T")


def paired(file: str, network: Network, *, any_length: bool = False) -> Network:
    """Return a network in which opposite arcs are one link; links from a node to itself are left out.

    Parameters
    ----------
    file
        File, for messages.
    any_length
        Whether opposite arcs of different lengths are one link with a delay per direction.

    Raises
    ------
    InputError
        If opposite arcs have different lengths, unless `any_length` allows it.
    """
    called = names.names_of(network.nodes)
    notes = list(names.duplicates(network.nodes, called))
    if loops := [called[link.ends[0]] for link in network.links if link.ends[0] == link.ends[1]]:
        notes.append(f"links from a node to itself are ignored: {names.few(loops)}")
    links = [link for link in network.links if link.ends[0] != link.ends[1]]
    if any(link.directed for link in links):
        links = _joined(links, any_length=any_length)
        _check_lengths(file, links, called)
        alone = dict.fromkeys(link.ends for link in links if link.directed)
        if alone:
            shown = names.few([f"{called[a]}-{called[b]}" for a, b in alone])
            notes.append(f"a link that has one direction in the file has both here: {shown}")
    return replace(network, links=tuple(links)).noted(notes=tuple(notes))


def _joined(links: Sequence[Link], *, any_length: bool) -> list[Link]:
    kept: list[Link | None] = []
    waiting: dict[tuple[int, int, int | None], list[int]] = defaultdict(list)
    for link in links:
        length = None if any_length else link.length_mm
        a, b = link.ends
        if link.directed and (open_ := waiting[b, a, length]):
            at = open_.pop(0)
            first = kept[at]
            kept[at] = None if first is None else _joined_pair(first, link)
            continue
        if link.directed:
            waiting[a, b, length].append(len(kept))
        kept.append(link)
    return [link for link in kept if link is not None]


def _joined_pair(there: Link, back: Link) -> Link:
    def both(a: Both[T], b: Both[T]) -> Both[T]:
        return a[0], b[0]

    return replace(
        there,
        rates=both(there.rates, back.rates),
        delays=both(there.delays, back.delays),
        costs=both(there.costs, back.costs),
        losses=both(there.losses, back.losses),
        risks=tuple(dict.fromkeys((*there.risks, *back.risks))),
        over=back.over[::-1] if there.over is None and back.over is not None else there.over,
        directed=False,
        back=back.attributes,
    )


def _check_lengths(file: str, links: Sequence[Link], called: Sequence[str]) -> None:
    alone: dict[tuple[int, int], int | None] = {}
    for link in links:
        if not link.directed:
            continue
        a, b = link.ends
        if (b, a) in alone:
            there, back = (_km(one) for one in (alone[b, a], link.length_mm))
            raise InputError(
                f"`{file}`: the link {called[b]}-{called[a]} has {there} in one direction and {back} in the other: "
                "expected one length; write such links in [[links]] with `reverse`"
            )
        alone[a, b] = link.length_mm


def _km(length_mm: int | None) -> str:
    return "no length" if length_mm is None else f"{length_mm / 1e6:g} km"


def opposite(links: Sequence[Link]) -> list[Link]:
    """Return the arcs of links: both directions of each link in turn, the opposite one under the same name."""
    arcs = []
    for link in links:
        arcs.append(_arc(link, 0))
        if not link.directed:
            arcs.append(_arc(link, 1))
    return arcs


def _arc(link: Link, direction: int) -> Link:
    a, b = link.ends
    return replace(
        link,
        ends=(b, a) if direction else (a, b),
        rates=(link.rates[direction],) * 2,
        delays=(link.delays[direction],) * 2,
        costs=(link.costs[direction],) * 2,
        losses=(link.losses[direction],) * 2,
        directed=True,
    )


def is_alike(link: Link) -> bool:
    """Return whether a link has both directions, with equal values."""
    values = (link.rates, link.delays, link.costs, link.losses)
    return not link.directed and all(there == back for there, back in values)
