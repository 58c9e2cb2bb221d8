"""Packets of a Perfetto trace, written in turn: tracks, slices, events and counters."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

PICOSECONDS = 1000
"""Picoseconds of a nanosecond, Perfetto's unit of time."""
CLEARED, NEEDED = 1, 2
"""Sequence flags: interned names begin here, and are used here."""


@dataclass(frozen=True)
class Track:
    """A row of the timeline.

    Attributes
    ----------
    path
        Its name after the names of the tracks that contain it.
    unit
        Unit of a counter; None for slices and events.
    """

    path: tuple[str, ...]
    unit: str | None = None


class Timeline:
    """A trace that is being written to a file. Tracks are described at their first use."""

    def __init__(self, file: IO[bytes]) -> None:
        self._builder = StreamingTraceProtoBuilder(file)
        self._tracks: dict[tuple[str, ...], int] = {}
        self._sequences = itertools.count(1)
        self.sequence = Sequence(self, next(self._sequences))

    def begin(self) -> Sequence:
        """Begin a sequence of events, which has its own order of time and its own interned names."""
        self.sequence = Sequence(self, next(self._sequences))
        return self.sequence

    def track(self, track: Track) -> int:
        """Return the identifier of a track, described with all tracks around it."""
        known = self._tracks.get(track.path)
        return self._describe(track.path, track.unit) if known is None else known

    def packet(self) -> TracePacket:
        """Return an empty packet."""
        return self._builder.create_packet()

    def write(self, packet: TracePacket) -> None:
        """Write a packet."""
        self._builder.write_packet(packet)

    def _describe(self, path: tuple[str, ...], unit: str | None = None) -> int:
        if path in self._tracks:
            return self._tracks[path]
        parent = self._describe(path[:-1]) if len(path) > 1 else None
        identifier = self._tracks[path] = len(self._tracks) + 1
        packet = self.packet()
        packet.trusted_packet_sequence_id = self.sequence.number
        described = packet.track_descriptor
        described.uuid = identifier
        described.name = path[-1]
        if unit is not None:
            described.counter.unit_name = unit
        else:
            described.child_ordering = TrackDescriptor.LEXICOGRAPHIC
        if parent is not None:
            described.parent_uuid = parent
        self.write(packet)
        return identifier


class Sequence:
    """Events in the order of time. Names are written once and then referred to by number."""

    def __init__(self, timeline: Timeline, number: int) -> None:
        self.number = number
        self._timeline = timeline
        self._names: dict[str, int] = {}
        self._keys: dict[str, int] = {}
        self._new = True

    def instant(
        self,
        at_ps: int,
        track: Track,
        name: str,
        about: Mapping[str, Any],
        *,
        loss: int = 0,
        losses: tuple[int, ...] = (),
    ) -> None:
        """Write an event without duration.

        Parameters
        ----------
        at_ps, track, name
            Time, place and name.
        about
            Further values: whole numbers, truth values and texts.
        loss, losses
            Number of the loss that the event is, or those that it repairs: Perfetto draws an arrow from a loss.
        """
        packet, event = self._event(at_ps, track, TrackEvent.TYPE_INSTANT, name, about)
        if loss:
            event.flow_ids.append(loss)
        event.terminating_flow_ids.extend(losses)
        self._timeline.write(packet)

    def begin(self, at_ps: int, track: Track, name: str, about: Mapping[str, Any]) -> None:
        """Begin a slice."""
        packet, _ = self._event(at_ps, track, TrackEvent.TYPE_SLICE_BEGIN, name, about)
        self._timeline.write(packet)

    def end(self, at_ps: int, track: Track) -> None:
        """End the slice that began last."""
        packet, _ = self._event(at_ps, track, TrackEvent.TYPE_SLICE_END, "", {})
        self._timeline.write(packet)

    def slice(self, from_ps: int, until_ps: int, track: Track, name: str, about: Mapping[str, Any]) -> None:
        """Write a slice."""
        self.begin(from_ps, track, name, about)
        self.end(until_ps, track)

    def counter(self, at_ps: int, track: Track, value: float) -> None:
        """Write the value that a counter has from a time on."""
        packet, event = self._event(at_ps, track, TrackEvent.TYPE_COUNTER, "", {})
        if isinstance(value, int):
            event.counter_value = value
        else:
            event.double_counter_value = value
        self._timeline.write(packet)

    def _event(
        self, at_ps: int, track: Track, kind: TrackEvent.Type.ValueType, name: str, about: Mapping[str, Any]
    ) -> tuple[TracePacket, TrackEvent]:
        identifier = self._timeline.track(track)
        packet = self._timeline.packet()
        packet.trusted_packet_sequence_id = self.number
        packet.timestamp = at_ps // PICOSECONDS
        packet.sequence_flags = NEEDED | CLEARED if self._new else NEEDED
        self._new = False
        event = packet.track_event
        event.type = kind
        event.track_uuid = identifier
        if name:
            event.name_iid = self._interned(name, self._names, packet.interned_data.event_names)
        for key, value in about.items():
            annotation = event.debug_annotations.add()
            annotation.name_iid = self._interned(key, self._keys, packet.interned_data.debug_annotation_names)
            if isinstance(value, str):
                annotation.string_value = value
            elif isinstance(value, bool):
                annotation.bool_value = value
            else:
                annotation.int_value = value
        return packet, event

    @staticmethod
    def _interned(name: str, known: dict[str, int], new: Any) -> int:  # noqa: ANN401 - names of several kinds
        number = known.get(name)
        if number is None:
            number = known[name] = len(known) + 1
            new.add(iid=number, name=name)
        return number
