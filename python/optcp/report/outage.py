"""Report of the cost of failures of a network: assumptions, tables by mechanism, a figure and a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optcp import _core
from optcp.common.plurals import count_noun
from optcp.data.labelled import missing
from optcp.plots.network import of_costs
from optcp.web.packed import Files
from optcp.web.templating import templates

if TYPE_CHECKING:
    from optcp.outage.result import Result
    from optcp.plots.registry import Figure


def page(result: Result, command: str) -> str:
    """Return the page; ``command`` is the command that reproduces it."""
    asked = result.asked
    files = Files()
    files.add("outage.json", result.to_json())
    return (
        templates()
        .get_template("outage.html.j2")
        .render(
            title=f"Cost of failures on {asked.network.reference}",
            about=f"{count_noun(len(asked.events), 'failure')} ({asked.failures}), "
            f"{count_noun(len(asked.mechanisms), 'mechanism')}, long-lived flows with {asked.sender}; "
            f"demands: {asked.demands}",
            version=_core.version(),
            command=command,
            exclusions=[one.message for one in asked.exclusions()],
            defaults=[one.message for one in asked.default_assumptions()],
            assumed=[(one["name"], one["value"], one["summary"]) for one in asked.listed() if not one["default"]],
            tables=result.tables(),
            figure=_figure(result),
            map=map_of(result),
            first=asked.mechanisms[0],
            files=files,
            bare=missing("matplotlib"),
        )
    )


def _figure(result: Result) -> Figure | None:
    if missing("matplotlib"):
        return None
    from optcp.plots.outage import draw

    return draw(result.values)


def map_of(result: Result) -> str:
    """Draw the network, with links coloured by their worst failure under the first mechanism."""
    asked = result.asked
    worst: dict[str, float] = {}
    lost = result.lost_mb(asked.mechanisms[0])
    for event in asked.events:
        for name in (*event.links, *event.nodes):
            worst[name] = max(worst.get(name, lost[event.name]), lost[event.name])
    return of_costs(asked.network, worst, f"MB lost (mechanism: {asked.mechanisms[0]})")
