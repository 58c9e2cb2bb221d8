"""Map of a network as SVG: nodes, links with their load, failures, paths and backup paths.

Nodes with coordinates are placed geographically. Otherwise links are about equally long (Kamada and Kawai 1989).
Equal scenarios give equal bytes, and colours follow the light or dark mode of the browser.
"""

from __future__ import annotations

import html
import itertools
import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from optcp.scenarios.hashes import with_hashes
from optcp.scenarios.schedules import bands, shown_interval, time
from optcp.scenarios.topologies import own_names, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from optcp import _core
    from optcp.outage.network import Network

WIDTH, MARGIN, LEGEND = 760, 46, 22
HEIGHTS = (240, 620)
"""Minimum and maximum height; the shape of the network determines the value."""
MAX_NODES = 250
"""Maximum number of nodes that a map shows legibly."""
MAX_BANDS = 8
"""Maximum number of schedule bands."""
MAX_PATHS = 6
"""Number of paths above which only the link widths show the traffic."""
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9")
"""Colours of successive paths (Okabe and Ito)."""
FAILED = "#c0392b"
IDLE, FULL = (0x87, 0x95, 0xA6), (0xD9, 0x82, 0x00)
"""Colours of links by utilisation, as in the playground."""
LETTER, LINE = 6.4, 12.0
"""Width and height of a letter of an 11 px label."""

Place = tuple[float, float]


def of_world(
    resolved: Mapping[str, Any],
    known: Mapping[str, Place] | None = None,
    *,
    alone: bool = False,
    called: Mapping[str, str] | None = None,
) -> str:
    """Draw the network of a resolved scenario.

    Parameters
    ----------
    resolved
        :attr:`optcp.Scenario.resolved`.
    known
        Longitude and latitude of nodes by name, in degrees; other nodes are placed next to their neighbours.
    alone
        Whether the map is a separate file with its own background colour.
    called
        Names of nodes in the topology file, where they differ.

    Returns
    -------
    str
        SVG text; empty for a network of more than :data:`MAX_NODES` nodes.
    """
    nodes, links, drawn_as = laid(resolved)
    if not nodes or len(nodes) > MAX_NODES:
        return ""
    links = lines(links, drawn_as)
    at, height = placed(nodes, links, known or {})
    failing = {failure["link"] for failure in resolved["failures"] if "link" in failure}
    load = _load(resolved, drawn_as)
    most = max(load.values(), default=0)
    shown = _paths(resolved, drawn_as)
    below = _legend(shown, failing=bool(failing), most=most, height=height)
    planned = _schedule_bands(resolved, height + below[1])
    parts = [_head(height + below[1] + planned[1], alone=alone)]
    parts += [_link(link, at, load, most, fails=link["name"] in failing) for link in links]
    for number, (_, path, dashed) in enumerate(shown):
        parts.append(_way([at[node] for node in path], INKS[number % len(INKS)], number, dashed=dashed))
    called = called or {}
    parts += [_node(called.get(name, name), at[name]) for name in nodes]
    parts += [_label(name, place) for name, place in _labels(nodes, at, height, called)]
    return "".join([*parts, below[0], planned[0], "</svg>"])


def of_core(core: _core.Scenario, scenario: str = "", *, alone: bool = False) -> str:
    """Draw the network of a scenario; files of its topology are searched next to the file ``scenario``."""
    settings = dict(core.settings())
    resolved = with_hashes(json.loads(core.resolved()), core.hashed(1))
    return of_world(resolved, places(settings, scenario), alone=alone, called=own_names(settings, scenario))


def of_costs(network: Network, costs: Mapping[str, float], said: str, *, alone: bool = False) -> str:
    """Draw a network whose links or nodes show the cost of their failure by width and colour.

    Parameters
    ----------
    costs
        Costs by name of link or node, in the unit of ``said``; others are drawn thin.
    said
        Unit text, such as "MB lost".
    alone
        As in :func:`of_world`.

    Returns
    -------
    str
        SVG text; empty for a network of more than :data:`MAX_NODES` nodes.
    """
    nodes = network.nodes
    if not nodes or len(nodes) > MAX_NODES:
        return ""
    links = dict(zip(network.link_names(), ((a, b) for a, b, *_ in network.links), strict=True))
    known = places({f"topology.{network.kind}": network.reference}, "")
    own, shown = network.own_names, network.shown_links
    at, height = placed(nodes, [{"ends": ends} for ends in links.values()], known)
    most = max((*costs.values(), 1e-9))
    most_said = f"up to {most:.3g} {said}"
    entries = [(FAILED, "", most_said)]
    if not costs.keys() >= links.keys() and costs.keys() & links.keys():
        entries.append(("currentColor", "", "excluded"))
    below = keys(entries, height)
    parts = [_head(height + below[1], alone=alone)]
    for name, (a, b) in links.items():
        (x1, y1), (x2, y2) = at[a], at[b]
        place = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" data-part="{html.escape(shown[name])}"'
        drawn = f"<line {place} {_ink(costs.get(name), most)}>"
        parts.append(f"{drawn}<title>{_cost_said(shown[name], costs.get(name), said)}</title></line>")
    for name in nodes:
        if name in costs:
            share = max(costs[name], 0.0) / most
            place = f'cx="{at[name][0]}" cy="{at[name][1]}" data-part="{html.escape(own.node(name))}"'
            drawn = f'<circle {place} r="{4 + 6 * share:.1f}" fill="{FAILED}">'
            parts.append(f"{drawn}<title>{_cost_said(own.node(name), costs[name], said)}</title></circle>")
        else:
            parts.append(_node(own.node(name), at[name]))
    parts += [_label(name, place) for name, place in _labels(nodes, at, height, own.nodes)]
    return "".join([*parts, f"<g data-legend>{below[0]}</g></svg>"])


def of_use(
    nodes: Sequence[str],
    links: Sequence[Mapping[str, Any]],
    laid_out: tuple[Mapping[str, Place], float],
    use: Mapping[str, float | None],
    over: str,
    below: tuple[str, float],
) -> str:
    """Draw a network whose links show their utilisation by colour, as a separate file.

    Parameters
    ----------
    laid_out
        Return value of :func:`placed`.
    use
        Utilisation by name of link; None for a link that is down.
    over
        SVG text over the links.
    below
        SVG text below the map, and its height.
    """
    at, height = laid_out
    parts = [_head(height + below[1], alone=True)]
    for link in links:
        (x1, y1), (x2, y2) = (at[node] for node in link["ends"])
        share = use[link["name"]]
        said = f"{link['name']}: {'down' if share is None else f'utilisation {share:.0%}'}"
        ink = f'stroke="{FAILED}" stroke-dasharray="6 4"' if share is None else f'stroke="{_blend(share)}"'
        drawn = f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="3" {ink}>'
        parts.append(f"{drawn}<title>{html.escape(said)}</title></line>")
    parts += [over, *(_node(name, at[name]) for name in nodes)]
    parts += [_label(name, place) for name, place in _labels(nodes, at, height, {})]
    return "".join([*parts, below[0], "</svg>"])


def _blend(share: float) -> str:
    """Return the colour of a utilisation, from idle to full."""
    parts = (a + (b - a) * min(share, 1.0) for a, b in zip(IDLE, FULL, strict=True))
    return "#" + "".join(f"{round(part):02x}" for part in parts)


def _ink(cost: float | None, most: float) -> str:
    """Return the SVG attributes of a link with this cost; None if unknown."""
    if cost is None:
        return 'stroke-width="1.5" stroke="currentColor" opacity="0.4"'
    share = max(cost, 0.0) / most
    return f'stroke-width="{2 + 6 * share:.1f}" stroke="{FAILED}" opacity="{0.25 + 0.75 * share:.2f}"'


def _cost_said(name: str, cost: float | None, said: str) -> str:
    return html.escape(name if cost is None else f"{name}: {cost:.3g} {said}")


def circuits(resolved: Mapping[str, Any]) -> set[str]:
    """Return the names of the circuits of reserved backup paths, which are not links of the network."""
    bursts = {one["link"] for one in resolved.get("bursts", ())}
    return {link["name"] for link in resolved["links"] if "circuit_over" in link} - bursts


def laid(resolved: Mapping[str, Any]) -> tuple[list[str], list[dict[str, Any]], dict[str, str]]:
    """Return the nodes and links to draw.

    Returns
    -------
    tuple
        Nodes; links, without circuits of backup paths and burst paths over several fibres; and the drawn node of each
        node. In a network of more than :data:`MAX_NODES` nodes, group members with the same single neighbour are
        drawn as one node ("S0..S9") with one link.
    """
    over = {one["link"] for one in resolved.get("bursts", ()) if one.get("fibres")} | circuits(resolved)
    links = [link for link in resolved["links"] if link["name"] not in over]
    drawn_as = {name: name for name in resolved["nodes"]}
    if len(drawn_as) > MAX_NODES:
        drawn_as |= _together(drawn_as, links)
    return list(dict.fromkeys(drawn_as.values())), links, drawn_as


def lines(links: Sequence[Mapping[str, Any]], drawn_as: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the links between drawn nodes, merged links once."""
    found: dict[str, dict[str, Any]] = {}
    for link in links:
        a, b = (drawn_as[node] for node in link["ends"])
        alone = (a, b) == tuple(link["ends"])
        found.setdefault(
            link["name"] if alone else f"{a}-{b}", {**link, "ends": [a, b]} | ({} if alone else {"name": f"{a}-{b}"})
        )
    return list(found.values())


def _together(nodes: Iterable[str], links: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the common name of group members that share their only neighbour."""
    beside: dict[str, set[str]] = defaultdict(set)
    for link in links:
        a, b = link["ends"]
        beside[a].add(b)
        beside[b].add(a)
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node in nodes:
        if len(beside[node]) == 1 and node[-1].isdigit():
            groups[(next(iter(beside[node])), node.rstrip("0123456789"))].append(node)
    return {node: f"{one[0]}..{one[-1]}" for one in groups.values() if len(one) > 1 for node in one}


def placed(
    nodes: Sequence[str], links: Sequence[Mapping[str, Any]], known: Mapping[str, Place]
) -> tuple[dict[str, Place], float]:
    """Return the positions of nodes in pixels and the height of the map; ``known`` as in :func:`of_world`."""
    return _scaled(_layout(nodes, [tuple(link["ends"]) for link in links], known))


def _layout(nodes: Sequence[str], links: Sequence[tuple[str, ...]], known: Mapping[str, Place]) -> dict[str, Place]:
    """Return the positions of nodes in arbitrary units, north up."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(links)
    if not any(node in known for node in nodes):
        return {node: (float(x), float(y)) for node, (x, y) in nx.kamada_kawai_layout(graph).items()}
    middle = math.radians(sum(y for _, y in known.values()) / len(known))
    found = {node: (known[node][0] * math.cos(middle), known[node][1]) for node in nodes if node in known}
    span = max(max(x for x, _ in found.values()) - min(x for x, _ in found.values()), 1e-6)
    beside: dict[str, int] = defaultdict(int)
    # Place hosts around their routers.
    for node in nodes:
        if node in found:
            continue
        router = next((other for other in graph[node] if other in known), None)
        x, y = found[router] if router is not None else (min(x for x, _ in found.values()), 0.0)
        turn = 2.4 * beside[str(router)]
        beside[str(router)] += 1
        found[node] = (x + 0.05 * span * math.cos(turn), y + 0.05 * span * math.sin(turn))
    return found


def _scaled(found: Mapping[str, Place]) -> tuple[dict[str, Place], float]:
    """Return the positions in pixels and the height of the map."""
    low = [min(place[axis] for place in found.values()) for axis in (0, 1)]
    span = [max(place[axis] for place in found.values()) - low[axis] or 1e-9 for axis in (0, 1)]
    inner = WIDTH - 2 * MARGIN
    height = min(max(inner * span[1] / span[0], HEIGHTS[0]), HEIGHTS[1])
    # Limit the height: a taller network is drawn narrower and centred.
    across = min(inner, height * span[0] / span[1]) if len(found) > 2 else inner
    left = MARGIN + (inner - across) / 2

    def at(place: Place) -> Place:
        x = left + across * (place[0] - low[0]) / span[0]
        y = MARGIN + height * (1 - (place[1] - low[1]) / span[1])
        return round(x, 1), round(y, 1)

    return {node: at(place) for node, place in found.items()}, height + 2 * MARGIN


def _load(resolved: Mapping[str, Any], drawn_as: Mapping[str, str]) -> dict[frozenset[str], float]:
    """Return the number of flows between two nodes, in both directions; the mean for randomly drawn pairs."""
    load: dict[frozenset[str], float] = defaultdict(float)
    for group in [*resolved["flows"], *resolved.get("traffic", ())]:
        drawn = group.get("drawn")
        all_routes = sum(len(route["flows"]) for route in group["routes"])
        share = drawn["count"] * drawn["per_source"] / all_routes if drawn else 1
        for route in group["routes"]:
            path = [drawn_as[node] for node in route["path"]]
            for pair in itertools.pairwise(path):
                load[frozenset(pair)] += share * len(route["flows"])
    return load


def _paths(resolved: Mapping[str, Any], drawn_as: Mapping[str, str]) -> list[tuple[str, list[str], bool]]:
    """Return (name, path, is backup) of the paths; empty if there are too many."""
    working: dict[tuple[str, ...], str] = {}
    for group in [*resolved["flows"], *resolved.get("traffic", ())]:
        for route in group["routes"]:
            working.setdefault(tuple(drawn_as[node] for node in route["path"]), group["group"])
    backups: dict[tuple[str, ...], str] = {}
    for one in resolved["protection"]:
        backups.setdefault(tuple(drawn_as[node] for node in one["backup"]), _backup_of(one))
    names = list(working.values())

    def called(path: tuple[str, ...], name: str) -> str:
        return name if names.count(name) == 1 else f"{name} {path[0]}-{path[-1]}"

    found = [(called(path, name), list(path), False) for path, name in working.items()]
    found = found if len(found) <= MAX_PATHS else []
    behind = [(name, list(path), True) for path, name in backups.items()]
    return found + (behind if len(behind) + len(found) <= MAX_PATHS else [])


def _backup_of(protection: Mapping[str, Any]) -> str:
    return f"backup path of {protection['flows'] or ', '.join(protection['links'])}"


def _head(height: float, *, alone: bool) -> str:
    ground = "background:#fff;" if alone else ""
    dark = "svg.optcp-map{color:#ddd;background:#16191d}" if alone else ""
    # A page scrolls the map rather than shrinking its text. The halo separates names from lines below them.
    size = "max-width:100%" if alone else f"min-width:{WIDTH}px"
    halo = "svg.optcp-map text{paint-order:stroke;stroke-width:3px;stroke-linejoin:round;stroke:"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="optcp-map" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" role="img" aria-label="map of the network" font-family="sans-serif" font-size="11">'
        f"<style>svg.optcp-map{{{ground}color:{'#222' if alone else 'inherit'};{size};height:auto}}{halo}#fff}}"
        f"@media(prefers-color-scheme:dark){{{dark}{halo}#16191d}}}}</style>"
    )


def _link(
    link: Mapping[str, Any], at: Mapping[str, Place], load: Mapping[frozenset[str], float], most: float, *, fails: bool
) -> str:
    a, b = link["ends"]
    (x1, y1), (x2, y2) = at[a], at[b]
    flows = load.get(frozenset((a, b)), 0.0)
    width = 1 + 6 * flows / most if most else 1.0
    ink = f'stroke="currentColor" opacity="{0.55 if flows else 0.3}"'
    if fails:
        width, ink = max(width, 2.5), f'stroke="{FAILED}" stroke-dasharray="6 4"'
    said = html.escape(f"{link['name']}: {flows:.3g} flows" + (", fails" if fails else ""))
    ends = f'x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
    return f'<line {ends} stroke-width="{width:.1f}" {ink}><title>{said}</title></line>'


def _way(points: Sequence[Place], ink: str, number: int, *, dashed: bool) -> str:
    """Draw a path next to its links, at a distance that grows with its number."""
    off = 4 + 3 * number
    moved = []
    for place, (x, y) in enumerate(points):
        before, behind = points[max(place - 1, 0)], points[min(place + 1, len(points) - 1)]
        dx, dy = behind[0] - before[0], behind[1] - before[1]
        length = math.hypot(dx, dy) or 1
        moved.append(f"{x - off * dy / length:.1f},{y + off * dx / length:.1f}")
    dash = ' stroke-dasharray="2 3"' if dashed else ""
    return f'<polyline points="{" ".join(moved)}" fill="none" stroke="{ink}" stroke-width="2"{dash}/>'


def _node(name: str, place: Place) -> str:
    return f'<circle cx="{place[0]}" cy="{place[1]}" r="4" fill="#2c6fbb"><title>{html.escape(name)}</title></circle>'


def _labels(
    nodes: Sequence[str], at: Mapping[str, Place], height: float, called: Mapping[str, str]
) -> Iterator[tuple[str, Place]]:
    """Yield the labels next to nodes without overlap; others are omitted and shown as tooltips."""
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in at.values()]
    for name in nodes:
        x, y = at[name]
        shown = called.get(name, name)
        wide = LETTER * len(shown)
        for left, base in (
            (x + 7, y + 4),
            (x - 7 - wide, y + 4),
            (x - wide / 2, y - 8),
            (x - wide / 2, y + 16),
            (x + 5, y - 6),
            (x + 5, y + 14),
            (x - 5 - wide, y - 6),
            (x - 5 - wide, y + 14),
        ):
            box = (left, base - LINE + 2, left + wide, base + 2)
            inside = box[0] >= 2 and box[2] <= WIDTH - 2 and box[1] >= 2 and box[3] <= height - 2
            if inside and not any(_meet(box, other) for other in taken):
                taken.append(box)
                yield shown, (round(left, 1), round(base, 1))
                break


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _label(name: str, place: Place) -> str:
    return f'<text x="{place[0]}" y="{place[1]}" fill="currentColor">{html.escape(name)}</text>'


def _schedule_bands(resolved: Mapping[str, Any], top: float) -> tuple[str, float]:
    """Return bands of the states that schedules set, drawn below ``top``, and their height.

    They span the longest period, or the whole run if nothing repeats.
    """
    window = shown_interval(resolved)
    found = bands(resolved, *window) if window else []
    if not window or not found:
        return "", 0.0
    start, end = window
    shown = found[:MAX_BANDS]
    states = dict.fromkeys(state for band in shown for _, _, state in band.spans)
    inks = {state: INKS[number % len(INKS)] for number, state in enumerate(states)}
    left = MARGIN + LETTER * max(len(band.name) for band in shown) + 10
    width = WIDTH - MARGIN - left
    parts, y = [], top + 8
    for band in shown:
        parts.append(f'<text x="{MARGIN}" y="{y + 10:.0f}" fill="currentColor">{html.escape(band.name)}</text>')
        for since, until, state in band.spans:
            x, wide = left + width * (since - start) / (end - start), width * (until - since) / (end - start)
            said = html.escape(f"{state} from {time(since)} to {time(until)}")
            parts.append(
                f'<rect x="{x:.2f}" y="{y:.0f}" width="{wide:.2f}" height="12" fill="{inks[state]}">'
                f"<title>{said}</title></rect>"
            )
        y += LEGEND
    more = f", {len(found) - len(shown)} more not shown" if len(found) > len(shown) else ""
    for x, anchor, text in ((left, "start", time(start)), (left + width, "end", f"{time(end)}{more}")):
        parts.append(f'<text x="{x:.0f}" y="{y + 6:.0f}" text-anchor="{anchor}" fill="currentColor">{text}</text>')
    legend = keys([(inks[state], "", state) for state in states], y + LEGEND)
    return "".join(parts) + legend[0], y + LEGEND + legend[1] - top


def _legend(
    shown: Sequence[tuple[str, list[str], bool]], *, failing: bool, most: float, height: float
) -> tuple[str, float]:
    """Return the legend and its height."""
    entries = []
    if failing:
        entries.append((FAILED, ' stroke-dasharray="6 4"', "failing link"))
    for number, (name, _, dashed) in enumerate(shown):
        entries.append((INKS[number % len(INKS)], ' stroke-dasharray="2 3"' if dashed else "", name))
    if most:
        entries.append(("currentColor", "", f"width: number of flows, maximum {most:.3g}"))
    return keys(entries, height)


def keys(entries: Sequence[tuple[str, str, str]], height: float) -> tuple[str, float]:
    """Return legend lines (colour, dashes, text) as SVG, and their height."""
    parts, x, y = [], float(MARGIN), height + 4
    for ink, dash, text in entries:
        needed = 34 + LETTER * len(text) + 18
        if x > MARGIN and x + needed > WIDTH:
            x, y = float(MARGIN), y + LEGEND
        parts.append(
            f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{x + 26:.0f}" y2="{y:.0f}" stroke="{ink}" stroke-width="3"{dash}/>'
        )
        parts.append(f'<text x="{x + 32:.0f}" y="{y + 4:.0f}" fill="currentColor">{html.escape(text)}</text>')
        x += needed
    return "".join(parts), (y - height + LEGEND) if entries else 0.0
