"""Timelines for Perfetto (https://ui.perfetto.dev): flows, links, failures and protection of each run.

A trace has tracks of flows and links. They contain slices (periods), events, and counters (values over time). An arrow
leads from a lost segment to its retransmission. Times are whole picoseconds, truncated to nanoseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optcp.common.files import replacing
from optcp.data.labelled import optional
from optcp.export import observations, tabular
from optcp.export.losses import Repairs
from optcp.export.packets import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from optcp.data.table import Table
    from optcp.export import Chosen
    from optcp.export.timeline import Sequence, Timeline, Track
    from optcp.scenarios.run import Run

    Spans = Iterable[tuple[int, int]]

SHOWN = {
    "tcp": "windows and phases",
    "packets": "packets and retransmissions",
    "outages": "stalls",
    "queue": "queues",
    "completions": "transfers",
    "load": "throughput of links",
    "goodput": "goodput of groups",
    "drops": "drops of all groups",
}
"""Kinds of observations that become tracks, with their content."""
ASKED = ("tcp", "packets", "outages", "queue")
"""Kinds whose absence is reported."""
AT_ENDS = {
    "sent": "sent",
    "resent": "retransmitted",
    "acked": "ACK received",
    "arrived": "arrived",
    "arrived-trimmed": "header arrived",
}
"""Events of packets at the ends of a flow, with the names of their tracks; other events are at ports."""
BIT_PER_BYTE_PS = 8 * 10**12


def files(directory: Path, chosen: Chosen) -> Iterator[tuple[Path, str]]:
    """Write a trace of every chosen run of a study (``<cell>-seed-N.pftrace``).

    Raises
    ------
    optcp.errors.InputError
        If there is no such run, or no observation that a trace shows, or the library of the format is not installed.
    """
    optional("perfetto")
    from optcp.export.timeline import Timeline

    study = tabular.opened(directory, chosen)
    observations.need(study, dict.fromkeys(SHOWN), directory, "a timeline")
    for run in observations.runs(study):
        target = tabular.folder(study) / f"{run.id}.pftrace"
        with run.trusted(), replacing(target) as file:
            Trace(run, Timeline(file)).write()
        yield target, _remark(run)


def _remark(run: Run) -> str:
    """Return the missing content of a trace, and the observations that add it."""
    observed = {entry["kind"] for entry in run.scenario["observe"]}
    lacking = [f"{SHOWN[kind]} (kind {kind!r})" for kind in ASKED if kind not in observed]
    remarks = [f"without {', '.join(lacking)}"] if lacking else []
    if any(_is_drawn(one) for one in _failures(run.scenario)):
        remarks.append("random failures are not recorded, only the path outages that they cause")
    return f" ({'; '.join(remarks)})" if remarks else ""


@dataclass(frozen=True)
class Observation:
    """Rows of an observation: its interval in ps if it has one, and the suffix of the names of its tracks."""

    table: Table
    interval_ps: int
    suffix: str


class Trace:
    """The tracks of a run."""

    def __init__(self, run: Run, timeline: Timeline) -> None:
        from optcp.export.timeline import Track

        self.run = run
        self.timeline = timeline
        self._new = Track
        self._known: dict[tuple[str, ...], Track] = {}
        self.world = World.of(run)
        self.subflows = {one["name"]: one["subflows"][0] for one in run.scenario.get("connections", ())}
        self.losses = 0
        self.end_ps = observations.end_ps(run)
        self.links: dict[str, str] = {}
        for link in run.scenario["links"]:
            for ends in (link["ends"], link["ends"][::-1]):
                name = "->".join(ends)
                self.links[f"{link['name']}:{name}"] = self.links.setdefault(name, link["name"])

    def write(self) -> None:
        """Write all events."""
        self._failures()
        self._path_outages()
        self._switches()
        self._reroutes()
        draw: dict[str, Callable[[Observation, Sequence], None]] = {
            "tcp": self._tcp,
            "packets": self._packets,
            "outages": self._stalls,
            "queue": self._queue,
            "completions": self._transfers,
            "load": self._load,
            "goodput": self._goodput,
            "drops": self._drops,
        }
        entries = self.run.scenario["observe"]
        for entry in entries:
            if entry["kind"] not in draw:
                continue
            several = sum(one["kind"] == entry["kind"] for one in entries) > 1
            suffix = f" ({entry['name']})" if several else ""
            table = self.run[entry["name"]]
            draw[entry["kind"]](Observation(table, entry.get("interval_ps", 0), suffix), self.timeline.begin())

    def _track(self, path: tuple[str, ...], unit: str | None = None) -> Track:
        track = self._known.get(path)
        if track is None:
            track = self._known[path] = self._new(path, unit)
        return track

    def _of_flow(self, name: str, what: str, unit: str | None = None) -> Track:
        # A Multipath TCP connection has the ends of its subflows.
        flow = self.world.flow(self.subflows.get(name, name))
        group = name.partition("/")[0] if name in self.subflows else flow.group
        return self._track(("Flows", f"{group}: {flow.path[0]} to {flow.path[-1]}", name, what), unit)

    def _of_port(self, port: str, what: str, unit: str | None = None) -> Track:
        return self._track(("Links", self.links[port], port, what), unit)

    def _failures(self) -> None:
        spans: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for one in _failures(self.run.scenario):
            if _is_drawn(one):
                continue
            until = self.end_ps if one["repair_ps"] is None else min(one["repair_ps"], self.end_ps)
            path: tuple[str, ...] = ("Fibres", one["fibre"]) if "fibre" in one else ("Links", one["link"])
            if "port" in one:
                path = (*path, one["port"])
            if one["at_ps"] < until:
                spans.setdefault(path, []).append((one["at_ps"], until))
        for path, of_track in spans.items():
            sequence = self.timeline.begin()
            for start, end in _merged(of_track):
                sequence.slice(start, end, self._track(path), "down", {})

    def _path_outages(self) -> None:
        for one in self.run.cuts:
            # One sequence each: outages are sorted by flow, not by time.
            track = self._of_flow(one["flow"], f"path outage ({'ACKs' if one['ack'] else 'data'})")
            self.timeline.begin().slice(one["from_ps"], one["until_ps"], track, "path outage", {})

    def _switches(self) -> None:
        sequence = self.timeline.begin()
        on_backup: dict[tuple[str, ...], Track] = {}
        for one in self.run.switches:
            entry = self.run.scenario["protection"][one["protection"]]
            links = entry["links"]
            place = ("Links", links[0]) if len(links) == 1 else ("Protection", ", ".join(links) or entry["scheme"])
            path = (*place, f"protection {one['protection']}: {one['packets']} at {one['node']}")
            if one["to"] == "backup" and path not in on_backup:
                on_backup[path] = self._track(path)
                sequence.begin(one["at_ps"], on_backup[path], "on backup", {"scheme": entry["scheme"]})
            elif one["to"] == "working" and path in on_backup:
                sequence.end(one["at_ps"], on_backup.pop(path))
        for track in on_backup.values():
            sequence.end(self.end_ps, track)

    def _reroutes(self) -> None:
        routing = self.run.routing
        if routing is None:
            return
        sequence = self.timeline.begin()
        for step in routing["steps"]:
            track = self._track(("Routing", step["router"]))
            sequence.instant(step["at_ps"], track, f"FIB update ({step['cause']})", {"entries": step["entries"]})

    def _tcp(self, seen: Observation, sequence: Sequence) -> None:
        last: dict[str, dict[str, Any]] = {}
        units = {"cwnd_bytes": "B", "ssthresh_bytes": "B", "flight_segments": "segments"}
        columns = ("time_ps", "flow", "phase", "timeouts", *units)
        for at, name, phase, timeouts, *values in observations.rows(seen.table, columns):
            before = last.setdefault(name, {})
            track = self._of_flow(name, f"phase{seen.suffix}")
            if phase != before.get("phase"):
                if before:
                    sequence.end(at, track)
                sequence.begin(at, track, phase, {})
            if timeouts > before.get("timeouts", 0):
                sequence.instant(at, self._of_flow(name, f"RTO{seen.suffix}"), "RTO", {"timeouts": timeouts})
            for (column, unit), value in zip(units.items(), values, strict=True):
                # A threshold that is not set yet is infinite.
                if value != before.get(column) and math.isfinite(value):
                    what = column.rpartition("_")[0]
                    sequence.counter(at, self._of_flow(name, f"{what}{seen.suffix}", unit), value)
            before.update(zip(("at", "phase", "timeouts", *units), (at, phase, timeouts, *values), strict=True))
        # An idle sender has no phase.
        ends = {name: one["at"] if one["flight_segments"] == 0 else self.end_ps for name, one in last.items()}
        for name, end in sorted(ends.items(), key=lambda one: one[1]):
            self.timeline.begin().end(end, self._of_flow(name, f"phase{seen.suffix}"))

    def _packets(self, seen: Observation, sequence: Sequence) -> None:
        repairs = Repairs.of(seen.table, self.losses)
        self.losses = repairs.last
        columns = ("time_ps", "event", "flow", "ack", "seq", "port", "bytes", "reason")
        for row, (at, event, flow, ack, seq, port, size, reason) in enumerate(observations.rows(seen.table, columns)):
            about: dict[str, Any] = {"seq": seq, "bytes": size}
            if event in AT_ENDS:
                name = AT_ENDS[event]
                track = self._of_flow(flow, f"{name}{seen.suffix}")
            else:
                name = f"{event} ({reason})" if reason else event
                track = self._of_port(port, f"{event}{seen.suffix}")
                about |= {"flow": flow, "ack": ack}
            losses = repairs.repaired_by(row) if event == "resent" else ()
            loss = repairs.loss(row) if event in observations.LOST else 0
            sequence.instant(at, track, name, about, loss=loss, losses=losses)

    def _stalls(self, seen: Observation, _: Sequence) -> None:
        columns = ("time_ps", "flow", "gap_ps", "ended", "usual_gap_ps", "timeouts", "resent")
        for at, flow, gap, ended, usual, timeouts, resent in observations.rows(seen.table, columns):
            about = {"ended": ended, "usual_gap_ps": usual, "timeouts": timeouts, "retransmitted": resent}
            # One sequence each: rows are sorted by flow, not by time.
            track = self._of_flow(flow, f"stall{seen.suffix}")
            self.timeline.begin().slice(at - gap, at, track, "stall", about)

    def _transfers(self, seen: Observation, _: Sequence) -> None:
        columns = ("time_ps", "start_ps", "flow", "bytes", "finished", "aborted")
        for at, start, flow, size, finished, aborted in observations.rows(seen.table, columns):
            about = {"bytes": size, "finished": finished, "aborted": aborted}
            track = self._of_flow(flow, f"transfer{seen.suffix}")
            self.timeline.begin().slice(start, at, track, "transfer", about)

    def _queue(self, seen: Observation, sequence: Sequence) -> None:
        columns = ("time_ps", "port", "mean_packets", "max_packets")
        for at, port, mean, most in observations.rows(seen.table, columns, by_time=True):
            start = at - seen.interval_ps
            for name, value in (("mean", mean), ("maximum", most)):
                track = self._of_port(port, f"queue, {name}{seen.suffix}", "packets")
                sequence.counter(start, track, value)

    def _load(self, seen: Observation, sequence: Sequence) -> None:
        for at, port, size in observations.rows(seen.table, ("time_ps", "port", "bytes"), by_time=True):
            track = self._of_port(port, f"throughput{seen.suffix}", "bit/s")
            sequence.counter(at - seen.interval_ps, track, size * BIT_PER_BYTE_PS / seen.interval_ps)

    def _goodput(self, seen: Observation, sequence: Sequence) -> None:
        for at, group, size in observations.rows(seen.table, ("time_ps", "group", "bytes"), by_time=True):
            track = self._track(("Groups", group, f"goodput{seen.suffix}"), "bit/s")
            sequence.counter(at - seen.interval_ps, track, size * BIT_PER_BYTE_PS / seen.interval_ps)

    def _drops(self, seen: Observation, sequence: Sequence) -> None:
        for at, port, group, ack, reason in observations.rows(
            seen.table, ("time_ps", "port", "group", "ack", "reason")
        ):
            track = self._of_port(port, f"drops{seen.suffix}")
            sequence.instant(at, track, f"dropped ({reason})", {"group": group, "ack": ack})


def _failures(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    return [*scenario["failures"], *scenario.get("optical", {}).get("failures", ())]


def _is_drawn(failure: dict[str, Any]) -> bool:
    """Whether the run draws the time, which is not stored."""
    return "entry" in failure


def _merged(spans: Spans) -> Iterator[tuple[int, int]]:
    """Yield the periods covered by at least one span, in the order of time."""
    start = end = -1
    for one in sorted(spans):
        if one[0] > end:
            if end >= 0:
                yield start, end
            start = one[0]
        end = max(end, one[1])
    if end >= 0:
        yield start, end
