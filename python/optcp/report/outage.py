"""Report of the cost of failures of a network: assumptions, tables by mechanism, a figure and a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optcp import _core
from optcp.common.plurals import count_noun
from optcp.data.labelled import censored, missing
from optcp.plots.network import of_costs
from optcp.web.packed import Files
from optcp.web.templating import templates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optcp.outage.asked import OutageQuery
    from optcp.outage.costs import Cost
    from optcp.outage.day import Day
    from optcp.outage.result import Result
    from optcp.plots.registry import Figure
    from optcp.scenarios.own_names import OwnNames


def page(result: Result, command: str) -> str:
    """Return the page; ``command`` is the command that reproduces it."""
    asked = result.asked
    return _rendered(
        asked,
        demands=asked.demands,
        command=command,
        exclusions=[one.message for one in asked.exclusions()],
        defaults=[one.message for one in asked.default_assumptions()],
        assumed=[(one["name"], one["value"], one["summary"]) for one in asked.listed() if not one["default"]],
        tables=result.tables(),
        figure=_figure(result),
        map=map_of([result]),
        first=asked.mechanisms[0],
        explored=explored(result),
        document=result.to_json(),
        times={},
    )


def day_page(day: Day, command: str) -> str:
    """Return the page of a study by time of day, with links to the page of each time."""
    asked = [one.asked for one in day.results.values()]
    every = {
        f"{name} at {time}": costs
        for time, result in day.results.items()
        for name, costs in explored(result)["costs"].items()
    }
    # The table has the utilisation of each time.
    listed = [one for one in asked[0].listed() if not one["default"] and one["name"] != "peak"]
    return _rendered(
        asked[0],
        demands=f"{day.demands}, {count_noun(len(asked), 'time')} of day",
        command=command,
        exclusions=list(dict.fromkeys(warning.message for one in asked for warning in one.exclusions())),
        defaults=list(dict.fromkeys(warning.message for one in asked for warning in one.default_assumptions())),
        assumed=[(one["name"], one["value"], one["summary"]) for one in listed],
        tables=day.tables(),
        figure=_day_figure(day),
        map=map_of(list(day.results.values())),
        first=f"{asked[0].mechanisms[0]} at any time",
        explored={**explored(day.first), "costs": every},
        document=day.to_json(),
        times={time: f"{day.directory(time)}/index.html" for time in day.results},
    )


def _rendered(asked: OutageQuery, demands: str, document: str, **parts: Any) -> str:  # noqa: ANN401 - parts of a page
    files = Files()
    files.add("outage.json", document)
    return (
        templates()
        .get_template("outage.html.j2")
        .render(
            title=f"Cost of failures on {asked.network.title}",
            about=f"{count_noun(len(asked.events), 'failure')} ({asked.failures}), "
            f"{count_noun(len(asked.mechanisms), 'mechanism')}, long-lived flows with {asked.sender}; "
            f"demands: {demands}; routing: {asked.routing}",
            version=_core.version(),
            files=files,
            bare=missing("matplotlib"),
            **parts,
        )
    )


def _day_figure(day: Day) -> Figure | None:
    if missing("matplotlib"):
        return None
    from optcp.plots.outage import draw_day

    return draw_day({time: result.values for time, result in day.results.items()})


def _figure(result: Result) -> Figure | None:
    if missing("matplotlib"):
        return None
    from optcp.plots.outage import draw

    return draw(result.values)


def explored(result: Result) -> dict[str, Any]:
    """Return the data of the map's controls: mechanisms, failures, and the costs of each failure."""
    asked = result.asked
    happened, own = asked.events, asked.network.own_names
    shown = asked.network.shown_links
    costs = {
        name: [
            {
                "lost": round(one.total_mb, 3),
                "hit": one.outage_ms.size,
                "flows": one.flows,
                "stall": _quantile(one),
                "demand": _worst(one, own),
            }
            for one in result.costs.cells[name,][: len(happened)]
        ]
        for name in asked.mechanisms
    }
    return {
        "failures": [
            {"name": one.name, "parts": [*(shown[name] for name in one.links), *map(own.node, one.nodes)]}
            for one in happened
        ],
        "costs": costs,
    }


def _quantile(one: Cost) -> str:
    """Return the median stall of affected long flows in ms as text, empty without affected flows."""
    if not one.outage_ms.size:
        return ""
    return censored(*one.outages.quantile(0.5), lambda value: f"{value:.0f}")


def _worst(one: Cost, own: OwnNames) -> str:
    """Return the demand with the largest loss, empty if none lost data."""
    pair, cost = max(one.demands.items(), key=lambda item: item[1].lost_mb, default=(None, None))
    return f"{' to '.join(map(own.node, pair))}: {cost.lost_mb:.3g} MB" if pair and cost and cost.lost_mb > 0 else ""


def map_of(results: Sequence[Result]) -> str:
    """Draw the network, with links coloured by their worst failure in any result under the first mechanism."""
    asked = results[0].asked
    worst: dict[str, float] = {}
    for result in results:
        lost = result.lost_mb(asked.mechanisms[0])
        for event in asked.events:
            for name in (*event.links, *event.nodes):
                worst[name] = max(worst.get(name, lost[event.name]), lost[event.name])
    return of_costs(asked.network, worst, "MB lost")
