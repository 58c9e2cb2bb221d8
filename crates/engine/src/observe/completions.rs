//! Flows that end, one by one.

use optcp_des::Key;
use optcp_net::FlowId;
use optcp_units::Time;

use super::column::{Findings, Names, bools, column, index, times, u32s, u64s};
use super::listed::Listed;
use super::observed::{Groups, Keys, Observed, Watched};
use super::record::{Record, RecordKind};
use crate::blueprint::FlowSpec;

/// A flow that has ended, or was to.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// When it had started.
    start: Time,
    /// When its receiver had everything in order; of a flow that had not ended, when the run did.
    end: Time,
    flow: FlowId,
    /// What it transfers, in bytes of whole segments.
    bytes: u64,
    /// Whether it has ended.
    finished: bool,
}

/// What is left to transfer.
#[derive(Clone, Copy, Debug)]
struct Left {
    start: Time,
    all: u64,
    bytes: u64,
}

/// The flows that end, in the order of their ends; then those that started and did not, by number.
#[derive(Clone, Debug)]
pub(super) struct Completions {
    /// By flow; `None` of those that have ended or are not watched.
    left: Vec<Option<Left>>,
    /// By flow.
    groups: Vec<u32>,
    ended: Listed<Row>,
    rows: Vec<Row>,
}

impl Observed for Completions {
    const KEYS: Keys = Keys { groups: Some(Groups::Flows), ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Progress];

    fn new(watched: &Watched<'_>) -> Self {
        let left = |(chosen, flow): (bool, &FlowSpec)| {
            let segments = flow.segments.filter(|_| chosen)?;
            let bytes = u64::from(segments) * flow.config.mss.count();
            Some(Left { start: flow.start, all: bytes, bytes })
        };
        Completions {
            left: watched.flows().into_iter().zip(&watched.blueprint.flows).map(left).collect(),
            groups: watched.groups_of_flows(),
            ended: Listed::default(),
            rows: Vec::new(),
        }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let Record::Progress { flow, bytes } = *record else { return };
        let Some(slot) = self.left.get_mut(flow.index()) else { return };
        let Some(left) = slot else { return };
        left.bytes = left.bytes.saturating_sub(bytes);
        if left.bytes == 0 {
            let Left { start, all, .. } = *left;
            *slot = None;
            let end = event.time();
            self.ended.add(event, Row { start, end, flow, bytes: all, finished: true });
        }
    }

    fn finish(&mut self, at: Time) {
        self.ended.finish();
        self.rows = self.ended.rows().to_vec();
        let started = |(flow, left): (FlowId, &Option<Left>)| {
            left.filter(|left| left.start <= at).map(|Left { start, all, .. }| Row {
                start,
                end: at,
                flow,
                bytes: all,
                finished: false,
            })
        };
        self.rows.extend(FlowId::all().zip(&self.left).filter_map(started));
    }

    fn findings(&self) -> Findings {
        let rows = &self.rows;
        let group = |row: &Row| self.groups[row.flow.index()];
        Findings {
            names: vec![("groups", Names::Groups), ("flows", Names::Flows)],
            columns: vec![
                times(rows, |row| row.end),
                column("start_ps", u64s(rows, |row| row.start.as_ps())),
                index("group", u32s(rows, group), "groups"),
                index("flow", u32s(rows, |row| row.flow.number()), "flows"),
                column("bytes", u64s(rows, |row| row.bytes)),
                column("finished", bools(rows, |row| row.finished)),
            ],
        }
    }
}
