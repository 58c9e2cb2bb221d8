"""Trace plots of a run: selection, checks and drawing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np

from optcp.common import arguments
from optcp.common.files import replacing
from optcp.common.plurals import count_noun
from optcp.constellation.beside import ROUND_TRIPS
from optcp.errors import InputError, nearest
from optcp.plots.svg import canvas, save
from optcp.plots.trace import completions, intervals, losses, rtt, sequence, windows
from optcp.plots.trace.frame import MAX_PANELS, WIDTH_IN, Frame, height
from optcp.plots.trace.request import Request, chosen, means, seconds, with_slowest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from optcp.data.table import Table
    from optcp.scenarios.run import Run

MAX_FLOWS = 2**32 - 1
FORMATS = ("png", "pdf", "svg")


@dataclass(frozen=True)
class Kind:
    """Kind of trace plot.

    Attributes
    ----------
    observation
        Kind of observation that it needs.
    panel
        Column of the observation with one panel or curve per value.
    draw
        Function that draws the named panels into a figure.
    most
        Column whose sum ranks the panels if there are too many; None takes the first ones.
    worth
        Function that returns the names to draw by default.
    one_panel
        Whether all names share a panel.
    panels
        Number of panels per name.
    beside
        Function that returns whether an additional file is next to the run; None if none is needed.
    """

    observation: str
    panel: str
    draw: Callable[[Frame, Table, list[str], Figure], None]
    most: str | None = None
    worth: Callable[[Table], list[str]] | None = None
    one_panel: bool = False
    panels: int = 1
    beside: Callable[[Run], bool] | None = None


KINDS = {
    "tcp": Kind("tcp", "flow", windows.draw),
    "rtt": Kind("tcp", "flow", rtt.draw, worth=rtt.first, panels=rtt.PANELS, beside=rtt.has_round_trips),
    "sequence": Kind("packets", "flow", sequence.draw),
    "queue": Kind("queue", "port", intervals.queue, most="mean_packets", worth=intervals.queueing),
    "sojourn": Kind("sojourn", "port", intervals.sojourn, most="mean_ps", worth=intervals.waiting),
    "load": Kind("load", "port", intervals.load, most="bytes"),
    "goodput": Kind("goodput", "group", intervals.goodput, one_panel=True),
    "completions": Kind("completions", "group", completions.distribution, one_panel=True),
    "drops": Kind("drops", "port", losses.drops, one_panel=True),
    "marks": Kind("marks", "port", losses.marks, one_panel=True),
}
EXAMPLES = {
    "goodput": 'interval = "10 ms"',
    "load": 'interval = "10 ms"',
    "queue": 'interval = "10 ms"',
    "sojourn": 'interval = "10 ms"',
}


@dataclass(frozen=True)
class Picture:
    """Plot of one observation, with the names to draw, all known names and the number of selected names."""

    kind: str
    observation: str
    table: Table
    names: list[str]
    known: list[str]
    all_names: int


def check(request: Request, out: Path | None, form: str | None) -> None:
    """Check the request without a study.

    Raises
    ------
    InputError
        If a kind or format does not exist.
    """
    _format(out, form)
    for kind in request.kinds:
        if kind not in KINDS:
            raise InputError(f"--kind {kind}: unknown kind; {nearest(kind, KINDS)}")


def draw(run: Run, request: Request, folder: Path, out: Path | None, form: str | None) -> Iterator[tuple[Path, str]]:
    """Draw the requested plots into files.

    Parameters
    ----------
    request
        Selection, checked before the first plot is drawn.
    folder
        Directory of the plots; files are named by run and kind.
    out
        File of a single plot, instead of ``folder``.
    form
        "png", "pdf" or "svg"; None uses the suffix of ``out``, else "png".

    Yields
    ------
    (Path, str)
        File of each finished plot, and a remark on omitted panels.

    Raises
    ------
    InputError
        If the run lacks something that is requested.
    RunFailed
        If the run cannot be read.
    """
    with run.trusted():
        request = with_slowest(run, request)
        frame = Frame.of(run, request)
        check(request, out, form)
        form = _format(out, form)
        pictures = [picture for kind in _kinds(run, request) for picture in _pictures(run, kind, request)]
        if out and len(pictures) > 1:
            names = ", ".join(picture.observation for picture in pictures)
            raise InputError(
                f"--out {out}: one file cannot hold {len(pictures)} plots ({names}); select one with --kind"
            )
        for picture in pictures:
            several = sum(other.kind == picture.kind for other in pictures) > 1
            name = f"{picture.kind}-{picture.observation}" if several else picture.kind
            path = out or folder / f"{run.id}-{name}.{form}"
            with canvas(*_size_in(picture)) as figure:
                KINDS[picture.kind].draw(frame, picture.table, picture.names, figure)
                with replacing(path) as file:
                    save(figure, file, form)
            left_out = picture.all_names - len(picture.names)
            panel = KINDS[picture.kind].panel
            yield (
                path,
                f" ({len(picture.names)} of {picture.all_names} {panel}s; select with --{panel})" if left_out else "",
            )


def plot(
    run: Run,
    kind: str,
    *,
    flow: str | int | Sequence[str],
    port: str | Sequence[str],
    start: str | float | None,
    end: str | float | None,
    observation: str | None,
) -> list[Axes]:
    """Draw one plot with pyplot; implements :meth:`optcp.Run.plot`."""
    from matplotlib import pyplot as plt

    kind = arguments.text(kind, "kind")
    if isinstance(flow, (int, np.integer)):
        flow = _flow_at(run, kind, arguments.whole(flow, "flow", 0, MAX_FLOWS))
    times = (_time(time, name) for time, name in ((start, "start"), (end, "end")))
    request = Request((kind,), _several(flow, "flow"), _several(port, "port"), *times)
    check(request, None, None)
    request = with_slowest(run, request)
    frame = Frame.of(run, request)
    pictures = [picture for known in _kinds(run, request) for picture in _pictures(run, known, request)]
    names = [picture.observation for picture in pictures]
    if observation is not None and arguments.text(observation, "observation") not in names:
        raise InputError(f"no observation {observation!r} is drawn as {kind}; {nearest(observation, names)}")
    pictures = [picture for picture in pictures if observation in (None, picture.observation)]
    if len(pictures) > 1:
        raise InputError(
            f"the run has {len(pictures)} such observations; select one with observation=: {', '.join(names)}"
        )
    style = resources.files("optcp.plots") / "optcp.mplstyle"
    with resources.as_file(style) as path, mpl.rc_context(fname=path):
        figure = plt.figure(figsize=_size_in(pictures[0]), facecolor="white")
        KINDS[kind].draw(frame, pictures[0].table, pictures[0].names, figure)
    return list(figure.axes)


def _time(time: str | float | None, name: str) -> float | None:
    if time is None or isinstance(time, str):
        return seconds(time, name)
    return seconds(str(arguments.number(time, name, "a time, such as '4.9 s', or a number of seconds")), name)


def _several(names: str | Sequence[str], what: str) -> tuple[str, ...]:
    return (arguments.text(names, what),) if isinstance(names, str) else tuple(arguments.texts(names, what))


def _flow_at(run: Run, kind: str, place: int) -> str:
    """Return the flow with this index among the observed ones."""
    names = [name for picture in _pictures(run, kind, Request()) for name in picture.known] if kind in KINDS else []
    if names and not 0 <= place < len(names):
        raise InputError(f"flow {place}: the run has {count_noun(len(names), 'flow')}, counted from 0")
    return names[place] if names else str(place)


def _format(out: Path | None, form: str | None) -> str:
    suffix = out.suffix.removeprefix(".") if out else ""
    if out and suffix not in FORMATS:
        raise InputError(f"--out {out}: expected a file that ends in .png, .pdf or .svg")
    if form and suffix and form != suffix:
        raise InputError(f"--format {form} contradicts --out, which ends in .{suffix}")
    return form or suffix or FORMATS[0]


def _kinds(run: Run, request: Request) -> list[str]:
    observed = {entry["kind"] for entry in run.scenario["observe"]}
    for kind in request.kinds:
        needed = KINDS[kind].observation
        if needed not in observed:
            more = f"\n{EXAMPLES[needed]}" if needed in EXAMPLES else ""
            raise InputError(
                f"--kind {kind}: the run lacks this observation; add it to the scenario and run again:\n\n"
                f'[[observe]]\nname = "{needed}"\nkind = "{needed}"{more}'
            )
        beside = KINDS[kind].beside
        if beside is not None and not beside(run):
            raise InputError(
                f"--kind {kind}: {ROUND_TRIPS} is missing in the directory of the run; `optcp constellation` writes it "
                "next to a scenario, and `optcp run` copies it"
            )
    kinds = list(dict.fromkeys(request.kinds)) or [
        name
        for name, kind in KINDS.items()
        if kind.observation in observed and (kind.beside is None or kind.beside(run))
    ]
    if not kinds:
        raise InputError(
            "the run has no observation that can be plotted; add [[observe]] entries to the scenario and run again"
        )
    for option, asked in (("flow", request.flows), ("port", request.ports)):
        applicable = [kind for kind in KINDS if KINDS[kind].panel == option]
        if asked and not set(applicable) & set(kinds):
            raise InputError(f"--{option} {asked[0]} applies to --kind {', '.join(applicable)} only")
    return kinds


def _pictures(run: Run, name: str, request: Request) -> Iterator[Picture]:
    kind = KINDS[name]
    asked = {"flow": request.flows, "port": request.ports, "group": ()}[kind.panel]
    of_kind = [entry["name"] for entry in run.scenario["observe"] if entry["kind"] == kind.observation]
    tables = {entry: run[entry] for entry in of_kind}
    order = _order(run)
    known = {
        entry: sorted(filter(None, table.distinct(kind.panel)), key=lambda one: order.get(one, len(order)))
        for entry, table in tables.items()
    }
    # A name needs to be in one of the observations only.
    chosen(f"--{kind.panel}", asked, list(dict.fromkeys(one for names in known.values() for one in names)))
    for entry, table in tables.items():
        here = tuple(one for one in asked if any(means(one, name) for name in known[entry]))
        if asked and not here:
            continue
        names = chosen(f"--{kind.panel}", here, known[entry])
        shown = set(names if asked or not kind.worth else kind.worth(table))
        if not kind.one_panel and len(shown) > MAX_PANELS:
            ranked = intervals.busiest(table, kind.panel, kind.most) if kind.most else names
            shown = set([one for one in ranked if one in shown][:MAX_PANELS])
        yield Picture(name, entry, table, [one for one in names if one in shown], known[entry], len(names))


def _order(run: Run) -> dict[str, int]:
    """Return the order of names in the scenario: groups and flows, then ports."""
    names = []
    for group in run.scenario["flows"]:
        names += [group["group"], *(flow for route in group["routes"] for flow in route["flows"])]
    for link in run.scenario["links"]:
        (a, b), named = link["ends"], link["name"]
        for hop in (f"{a}->{b}", f"{b}->{a}"):
            names += [hop, f"{named}:{hop}"]
    return {name: place for place, name in enumerate(names)}


def _size_in(picture: Picture) -> tuple[float, float]:
    """Return the width and height of a plot, in inches."""
    kind = KINDS[picture.kind]
    if picture.kind == "drops":
        return WIDTH_IN, height(2) + 0.18 * len(picture.names)
    return WIDTH_IN, height(1 if kind.one_panel else kind.panels * max(1, len(picture.names)))
