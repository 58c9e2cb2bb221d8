//! Reordering of segments, and the senders' reactions.

use std::collections::BTreeSet;

use optcp_des::Key;
use optcp_net::FlowId;
use optcp_tcp::{Phase, Snapshot};
use optcp_units::Time;

use super::column::{Findings, Names, column, index, times, u8s, u32s};
use super::listed::Listed;
use super::observed::{Groups, Keys, Observed, Watched};
use super::received_segments::{Order, ReceivedSegments};
use super::record::{Record, RecordKind};

/// Event of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum ReorderingEvent {
    /// A segment sent once arrived after a later one. Its number is below the maximum so far (RFC
    /// 4737 section 3.3, Type-P-Reordered), and it is not a copy. Retransmitted segments are
    /// excluded, because either transmission may have arrived.
    Overtaken = 0,
    /// A sender retransmitted a segment.
    Resent = 1,
    /// A sender entered recovery.
    Recovery = 2,
    /// An RTO fired.
    Timeout = 3,
}

impl ReorderingEvent {
    /// Names in results, by number.
    const NAMES: [&'static str; 4] = ["overtaken", "resent", "recovery", "timeout"];
}

/// One event.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: Time,
    event: ReorderingEvent,
    flow: FlowId,
    /// Segment number; `None` for events of the sender.
    seq: Option<u32>,
}

/// Events of chosen flows.
#[derive(Clone, Debug)]
pub(super) struct Reordering {
    /// State of each watched flow.
    watched: Vec<Option<FlowState>>,
    /// All events; late arrivals of retransmitted segments are removed at the end.
    listed: Listed<Row>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, Default)]
struct FlowState {
    received: ReceivedSegments,
    recovering: bool,
    timeouts: u64,
}

impl Reordering {
    fn of(flows: &[bool]) -> Self {
        let state = flows.iter().map(|&watched| watched.then(FlowState::default));
        Reordering { watched: state.collect(), listed: Listed::default(), rows: Vec::new() }
    }
}

impl Observed for Reordering {
    const KEYS: Keys = Keys { groups: Some(Groups::Flows), ..Keys::NONE };
    const TAKES: &'static [RecordKind] =
        &[RecordKind::Sent, RecordKind::Arrived, RecordKind::Updated];

    fn new(watched: &Watched<'_>) -> Self {
        Reordering::of(&watched.flows())
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let (Record::Sent { flow, .. }
        | Record::Arrived { flow, .. }
        | Record::Updated { flow, .. }) = *record
        else {
            return;
        };
        let Some(state) = &mut self.watched[flow.index()] else { return };
        let (kind, seq) = match *record {
            Record::Sent { seq, again: true, .. } => (ReorderingEvent::Resent, Some(seq)),
            Record::Arrived { seq, .. } if state.received.take(seq) == Order::Late => {
                (ReorderingEvent::Overtaken, Some(seq))
            }
            Record::Updated { snapshot, .. } => match state.change(snapshot) {
                Some(kind) => (kind, None),
                None => return,
            },
            _ => return,
        };
        self.listed.add(event, Row { at: event.time(), event: kind, flow, seq });
    }

    fn finish(&mut self, _: Time) {
        // The order of events at the two ends of a flow is known only now.
        self.listed.finish();
        let mut resent = BTreeSet::new();
        for &row in self.listed.rows() {
            match row.event {
                ReorderingEvent::Overtaken if resent.contains(&(row.flow, row.seq)) => continue,
                ReorderingEvent::Resent => {
                    resent.insert((row.flow, row.seq));
                }
                _ => {}
            }
            self.rows.push(row);
        }
    }

    fn findings(&self) -> Findings {
        let rows = &self.rows;
        Findings {
            names: vec![("flows", Names::Flows), ("events", Names::these(&ReorderingEvent::NAMES))],
            columns: vec![
                times(rows, |row| row.at),
                index("event", u8s(rows, |row| row.event as u8), "events"),
                index("flow", u32s(rows, |row| row.flow.number()), "flows"),
                column("seq", u32s(rows, |row| row.seq.unwrap_or(u32::MAX))),
            ],
        }
    }
}

impl FlowState {
    fn change(&mut self, snapshot: Snapshot) -> Option<ReorderingEvent> {
        let recovering = snapshot.phase == Phase::Recovery;
        let event = if snapshot.timeouts > self.timeouts {
            Some(ReorderingEvent::Timeout)
        } else {
            (recovering && !self.recovering).then_some(ReorderingEvent::Recovery)
        };
        (self.recovering, self.timeouts) = (recovering, snapshot.timeouts);
        event
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::Marking;

    use super::*;

    /// Values computed by hand: 2 and 3 overtake 1, whose retransmission then arrives as well. A recovery is listed
    /// once, each RTO separately.
    #[test]
    fn overtaken_segments_and_reactions_are_listed() {
        use ReorderingEvent::{Overtaken, Recovery, Resent, Timeout};
        let snapshot = |phase, timeouts| Record::Updated {
            flow: FlowId::new(0),
            cause: super::super::record::Cause::Ack,
            snapshot: Snapshot {
                cwnd: 1.0,
                ssthresh: 1.0,
                flight: 1,
                phase,
                timeouts,
                ecn_reductions: 0,
            },
        };
        let marking = Marking::NONE;
        let received = |flow, seq| {
            let flow = FlowId::new(flow);
            Record::Arrived { flow, seq, size: 1000, marking, second: false }
        };
        let arrived = |seq| received(0, seq);
        let mut reordering = Reordering::of(&[true, false]);
        for (now, record) in (0..).zip([
            arrived(0),
            arrived(2),
            arrived(3),
            arrived(1),
            received(1, 5),
            received(1, 4),
            snapshot(Phase::Recovery, 0),
            snapshot(Phase::Recovery, 0),
            Record::Sent {
                flow: FlowId::new(0),
                seq: 1,
                again: true,
                size: 1000,
                marking,
                data: 0,
            },
            arrived(1),
            snapshot(Phase::Avoidance, 0),
            snapshot(Phase::Loss, 1),
            snapshot(Phase::Loss, 2),
        ]) {
            let at = Time::ZERO + optcp_units::Duration::from_ms(now);
            reordering.record(Key::new(at, optcp_des::Class::Timer, 0, 0), &record);
        }
        reordering.finish(Time::ZERO);
        let found: Vec<_> = reordering.rows.iter().map(|row| (row.event, row.seq)).collect();
        let expected = [
            (Overtaken, Some(1)),
            (Recovery, None),
            (Resent, Some(1)),
            (Timeout, None),
            (Timeout, None),
        ];
        assert_eq!(found, expected);
    }
}
