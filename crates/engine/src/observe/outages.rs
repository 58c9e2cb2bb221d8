//! Effects of an outage on each flow after a given time: its longest gap and its losses.
//!
//! # Model
//! A gap is the time between two arrivals of new in-order bytes at a flow's receiver. The first gap begins with the
//! flow. The last gap of an incomplete flow ends with the run and is censored: it counts like the others, although it
//! would have continued. The last gap of a flow whose sender gave up never ends, and is therefore its longest.
//!
//! # Limitations
//! A flow that is limited by its application or its window has gaps without any outage. The median gap before the given
//! time is therefore reported next to the longest one. Flows of applications, which pause between operations, are not
//! listed.

use std::collections::VecDeque;

use optcp_des::Key;
use optcp_net::{DropReason, FlowId};
use optcp_tcp::Phase;
use optcp_units::{Duration, Time};

use super::column::{Findings, Names, bools, column, index, times, u32s, u64s};
use super::observed::{Groups, Keys, Observed, Watched};
use super::received_segments::{Order, ReceivedSegments};
use super::record::{Record, RecordKind};

/// Number of most recent gaps whose median is reported.
const USUAL_GAPS: usize = 101;

/// State of a flow.
#[derive(Clone, Debug)]
struct Flow {
    start: Time,
    /// Time of the last new in-order bytes, initially the start time.
    since: Time,
    /// Remaining bytes; `None` for a long-lived flow.
    left: Option<u64>,
    /// Last gaps that ended until `after`.
    usual: VecDeque<Duration>,
    received: ReceivedSegments,
    /// Longest gap that ended after `after`, and its end.
    longest: Option<(Duration, Time)>,
    /// Whether the longest gap ended because bytes arrived.
    ended: bool,
    /// In-order bytes until `after`, and later.
    bytes: [u64; 2],
    /// Packets lost because of failures, each counted once.
    lost: u64,
    /// Packets lost for other reasons.
    dropped: u64,
    /// RTOs before `after`, and in total.
    timeouts: [u64; 2],
    /// Whether the sender has given up.
    aborted: bool,
    resent: u64,
    needless: u64,
}

/// Flows that were incomplete at `after`.
#[derive(Clone, Debug)]
pub(super) struct Outages {
    after: Time,
    /// State by flow; `None` if it is not watched or had completed until `after`.
    flows: Vec<Option<Flow>>,
    /// Group by flow.
    groups: Vec<u32>,
    /// Watched connection of each subflow, by flow: losses and retransmissions of a subflow also count for its connection.
    /// Empty without watched connections.
    subflow_of: Vec<Option<FlowId>>,
    /// Flows with a row.
    rows: Vec<FlowId>,
}

impl Flow {
    /// Creates the state of a flow that has `bytes` to send; `None` for a long-lived flow.
    fn new(start: Time, bytes: Option<u64>) -> Self {
        Flow {
            start,
            since: start,
            left: bytes,
            usual: VecDeque::new(),
            received: ReceivedSegments::default(),
            longest: None,
            ended: false,
            bytes: [0; 2],
            lost: 0,
            dropped: 0,
            timeouts: [0; 2],
            aborted: false,
            resent: 0,
            needless: 0,
        }
    }

    /// Registers new in-order bytes.
    fn progress(&mut self, at: Time, after: Time, bytes: u64) {
        // A SYN is in order but carries no bytes.
        if bytes == 0 {
            return;
        }
        let gap = at.saturating_since(self.since);
        self.since = at;
        self.left = self.left.map(|left| left.saturating_sub(bytes));
        self.bytes[usize::from(at > after)] += bytes;
        if at > after {
            self.end_gap(gap, at, true);
            return;
        }
        if self.usual.len() == USUAL_GAPS {
            self.usual.pop_front();
        }
        self.usual.push_back(gap);
    }

    fn end_gap(&mut self, gap: Duration, at: Time, ended: bool) {
        if self.longest.is_none_or(|(longest, _)| gap > longest) {
            self.longest = Some((gap, at));
            self.ended = ended;
        }
    }

    fn has_everything(&self) -> bool {
        self.left == Some(0)
    }

    fn is_aborted(&self) -> bool {
        self.aborted && !self.has_everything()
    }

    /// Returns the median of the last gaps until `after`, the lower of two; zero without any.
    fn usual_gap(&self) -> Duration {
        let mut gaps: Vec<Duration> = self.usual.iter().copied().collect();
        gaps.sort_unstable();
        gaps.get(gaps.len().saturating_sub(1) / 2).copied().unwrap_or(Duration::ZERO)
    }
}

/// Returns whether this reason occurs only after a failure or a repair.
const fn is_failure(reason: DropReason) -> bool {
    matches!(
        reason,
        DropReason::LinkDown
            | DropReason::QueueFlushed
            | DropReason::LostInFlight
            | DropReason::NotSelected
            | DropReason::TtlExpired
            | DropReason::NoRoute
    )
}

impl Outages {
    fn of(flows: Vec<Option<Flow>>, groups: Vec<u32>, after: Time) -> Self {
        Outages { after, flows, groups, subflow_of: Vec::new(), rows: Vec::new() }
    }

    fn row(&self, flow: FlowId) -> &Flow {
        self.flows[flow.index()].as_ref().expect("flows with a row are watched")
    }

    /// Processes a record of a flow or a connection.
    #[inline]
    fn record_of(&mut self, id: FlowId, at: Time, record: &Record) {
        if let Record::Lost { reason, .. } = *record {
            return self.lost(at, id, reason);
        }
        let after = self.after;
        let counts = at >= after;
        let Some(slot) = self.flows.get_mut(id.index()) else { return };
        let Some(flow) = slot else { return };
        match *record {
            Record::Sent { again, .. } => flow.resent += u64::from(counts && again),
            Record::Arrived { seq, second: false, .. } => {
                let again = flow.received.take(seq) == Order::Again;
                flow.needless += u64::from(counts && again);
            }
            Record::Updated { snapshot, .. } => {
                flow.timeouts[1] = snapshot.timeouts;
                flow.aborted = snapshot.phase == Phase::Aborted;
                if !counts {
                    flow.timeouts[0] = snapshot.timeouts;
                }
            }
            // Connections over several subflows have no updates.
            Record::Aborted { .. } => flow.aborted = true,
            Record::Progress { bytes, .. } => {
                flow.progress(at, after, bytes);
                if at <= after && flow.has_everything() {
                    *slot = None;
                }
            }
            _ => {}
        }
    }

    // Losses are rare. A separate function keeps them out of the hot path.
    #[cold]
    fn lost(&mut self, at: Time, id: FlowId, reason: DropReason) {
        let Some(Some(flow)) = self.flows.get_mut(id.index()) else { return };
        if at < self.after {
            return;
        }
        *(if is_failure(reason) { &mut flow.lost } else { &mut flow.dropped }) += 1;
    }
}

impl Observed for Outages {
    const KEYS: Keys = Keys { groups: Some(Groups::Flows), after: true, ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[
        RecordKind::Sent,
        RecordKind::Progress,
        RecordKind::Arrived,
        RecordKind::Updated,
        RecordKind::Aborted,
        RecordKind::Lost,
    ];

    fn new(watched: &Watched<'_>) -> Self {
        let chosen = watched.flows();
        let mut flows = vec![None; chosen.len()];
        for (id, start, mss, segments) in watched.blueprint.transfers() {
            let bytes = segments.map(|segments| u64::from(segments) * mss.count());
            flows[id.index()] = chosen[id.index()].then(|| Flow::new(start, bytes));
        }
        let mut outages = Outages::of(flows, watched.groups_of_flows(), Time::ZERO + watched.after);
        for (id, connection) in watched.blueprint.connections().filter(|(id, _)| chosen[id.index()])
        {
            let first = connection.first.index();
            outages.subflow_of.resize(chosen.len(), None);
            outages.subflow_of[first..first + connection.subflows].fill(Some(id));
        }
        outages
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let (Record::Sent { flow, .. }
        | Record::Progress { flow, .. }
        | Record::Arrived { flow, .. }
        | Record::Updated { flow, .. }
        | Record::Aborted { flow }
        | Record::Lost { flow, .. }) = *record
        else {
            return;
        };
        self.record_of(flow, event.time(), record);
        if let Some(&Some(connection)) = self.subflow_of.get(flow.index())
            && matches!(record, Record::Sent { .. } | Record::Lost { .. })
        {
            self.record_of(connection, event.time(), record);
        }
    }

    fn finish(&mut self, at: Time) {
        // A run that ends with its flows may end before `after`.
        if at <= self.after {
            return;
        }
        for (id, slot) in FlowId::all().zip(&mut self.flows) {
            let Some(flow) = slot.as_mut().filter(|flow| flow.start < at) else { continue };
            if flow.is_aborted() {
                // Its last gap never ends.
                flow.longest = None;
            }
            if !flow.has_everything() {
                flow.end_gap(at.saturating_since(flow.since), at, false);
            }
            self.rows.push(id);
        }
    }

    fn findings(&self) -> Findings {
        let longest = |id: &FlowId| self.row(*id).longest.unwrap_or_default();
        let number = |name, value: fn(&Flow) -> u64| {
            column(name, u64s(&self.rows, |&id| value(self.row(id))))
        };
        Findings {
            names: vec![("groups", Names::Groups), ("flows", Names::Flows)],
            columns: vec![
                times(&self.rows, |id| longest(id).1),
                index("group", u32s(&self.rows, |id| self.groups[id.index()]), "groups"),
                index("flow", u32s(&self.rows, |id| id.number()), "flows"),
                column("gap_ps", u64s(&self.rows, |id| longest(id).0.as_ps())),
                column("ended", bools(&self.rows, |&id| self.row(id).ended)),
                number("usual_gap_ps", |flow| flow.usual_gap().as_ps()),
                number("bytes_before", |flow| flow.bytes[0]),
                number("bytes", |flow| flow.bytes[1]),
                number("lost_packets", |flow| flow.lost),
                number("dropped_packets", |flow| flow.dropped),
                number("timeouts", |flow| flow.timeouts[1] - flow.timeouts[0]),
                number("resent", |flow| flow.resent),
                number("needless", |flow| flow.needless),
                column("aborted", bools(&self.rows, |&id| self.row(id).is_aborted())).later(),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use optcp_tcp::{Phase, Profile, Snapshot};
    use optcp_units::Marking;

    use super::super::column::Values;
    use super::super::record::Cause;
    use super::*;

    /// Values computed by hand, with `after` = 12 ms.
    ///
    /// - Flow 0 has gaps of 2, 1, 4 and 3 ms before; the lower median is 2 ms. Then gaps of 30 ms, which began before,
    ///   and of 58 ms until the end.
    /// - Flow 1 completes 5 ms after `after`, without a later gap.
    /// - Flow 2 completes before and has no row.
    /// - Flow 3 starts late and receives nothing.
    /// - Flow 4 starts at the end of the run; flow 5 is not watched.
    #[test]
    fn gaps_and_losses_count_after_given_time() {
        let ms = Duration::from_ms;
        let at = |now| Time::ZERO + ms(now);
        let mss = Profile::Rfc.config().mss.count();
        let flow = |start, segments: Option<u64>| {
            Some(Flow::new(at(start), segments.map(|segments| segments * mss)))
        };
        let flows = vec![
            flow(0, None),
            flow(1, Some(2)),
            flow(1, Some(1)),
            flow(50, Some(1)),
            flow(100, None),
            None,
        ];
        let mut outages = Outages::of(flows, vec![0, 1, 1, 1, 0, 0], at(12));
        let mut tell = |now, record| {
            outages.record(Key::new(at(now), optcp_des::Class::Timer, 0, 0), &record);
        };
        let received = |flow, bytes| Record::Progress { flow: FlowId::new(flow), bytes };
        let arrived = |seq| Record::Arrived {
            flow: FlowId::new(0),
            seq,
            size: 1000,
            marking: Marking::NONE,
            second: false,
        };
        let second = |seq| Record::Arrived {
            flow: FlowId::new(0),
            seq,
            size: 1000,
            marking: Marking::NONE,
            second: true,
        };
        let sent = |again| Record::Sent {
            flow: FlowId::new(0),
            seq: 3,
            again,
            size: 1000,
            marking: Marking::NONE,
            data: 0,
        };
        let timeouts = |timeouts| Record::Updated {
            flow: FlowId::new(0),
            cause: Cause::Timer,
            snapshot: Snapshot {
                cwnd: 1.0,
                ssthresh: 1.0,
                flight: 1,
                phase: Phase::Loss,
                timeouts,
                ecn_reductions: 0,
            },
        };
        let lost = |flow, reason| Record::Lost { flow: FlowId::new(flow), reason };
        // Events before `after` do not count.
        for now in [2, 3, 7, 10] {
            tell(now, received(0, mss));
        }
        tell(4, received(1, mss));
        tell(4, received(2, mss));
        tell(5, sent(true));
        tell(6, arrived(0));
        tell(7, arrived(0));
        tell(8, timeouts(2));
        tell(9, lost(0, DropReason::LinkDown));
        // Events at `after` count.
        tell(12, lost(0, DropReason::LinkDown));
        tell(13, lost(0, DropReason::QueueFull));
        tell(13, lost(0, DropReason::NotSelected));
        // Losses become known now, but the drops that count were before and after `after`.
        tell(11, lost(0, DropReason::LostInFlight));
        tell(12, lost(0, DropReason::LostInFlight));
        tell(13, lost(2, DropReason::LinkDown));
        tell(13, lost(5, DropReason::LinkDown));
        // A second copy is not a retransmission.
        tell(13, second(0));
        tell(14, sent(false));
        tell(15, sent(true));
        // Segment 2 overtakes 1 and arrives again.
        for (now, seq) in [(15, 2), (16, 1), (17, 2)] {
            tell(now, arrived(seq));
        }
        tell(17, received(1, mss));
        tell(18, timeouts(3));
        // An in-order SYN adds no bytes.
        tell(19, received(0, 0));
        tell(20, timeouts(4));
        tell(40, received(0, 3 * mss));
        tell(42, received(0, mss));
        outages.finish(at(100));
        let found = outages.findings().columns.into_iter().map(|column| match column.values {
            Values::U64(values) => (column.name, values),
            Values::U32(values) => (column.name, values.into_iter().map(u64::from).collect()),
            Values::Bool(values) => (column.name, values.into_iter().map(u64::from).collect()),
            other => panic!("{other:?}"),
        });
        let ps = |times: [u64; 3]| times.map(|time| ms(time).as_ps()).to_vec();
        let expected = [
            ("time_ps", ps([100, 17, 100])),
            ("group", vec![0, 1, 1]),
            ("flow", vec![0, 1, 3]),
            ("gap_ps", ps([58, 13, 50])),
            ("ended", vec![0, 1, 0]),
            ("usual_gap_ps", ps([2, 3, 0])),
            ("bytes_before", vec![4 * mss, mss, 0]),
            ("bytes", vec![4 * mss, mss, 0]),
            ("lost_packets", vec![3, 0, 0]),
            ("dropped_packets", vec![1, 0, 0]),
            ("timeouts", vec![2, 0, 0]),
            ("resent", vec![1, 0, 0]),
            ("needless", vec![1, 0, 0]),
            ("aborted", vec![0, 0, 0]),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
