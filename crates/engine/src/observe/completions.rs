//! Completions of flows, one row per flow.

use optcp_des::Key;
use optcp_net::FlowId;
use optcp_units::Time;

use super::column::{Findings, Names, bools, column, index, times, u32s, u64s};
use super::listed::Listed;
use super::observed::{Groups, Keys, Observed, Watched};
use super::record::{Record, RecordKind};
use crate::blueprint::FlowSpec;

/// Flow of finite size, completed or not.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Start time.
    start: Time,
    /// Time at which the receiver has all data in order; end of the run for an incomplete flow.
    end: Time,
    flow: FlowId,
    /// Flow size in bytes of full segments.
    bytes: u64,
    /// Whether the flow has completed.
    finished: bool,
}

/// Remaining data of a flow.
#[derive(Clone, Copy, Debug)]
struct Remaining {
    start: Time,
    all: u64,
    bytes: u64,
}

/// Completed flows in order of completion, then started but incomplete flows by number.
#[derive(Clone, Debug)]
pub(super) struct Completions {
    /// Remaining data by flow; `None` if it has completed or is not watched.
    remaining: Vec<Option<Remaining>>,
    /// Group by flow.
    groups: Vec<u32>,
    ended: Listed<Row>,
    rows: Vec<Row>,
}

impl Observed for Completions {
    const KEYS: Keys = Keys { groups: Some(Groups::Flows), ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Progress];

    fn new(watched: &Watched<'_>) -> Self {
        let remaining = |(chosen, flow): (bool, &FlowSpec)| {
            let segments = flow.segments.filter(|_| chosen)?;
            let bytes = u64::from(segments) * flow.config.mss.count();
            Some(Remaining { start: flow.start, all: bytes, bytes })
        };
        Completions {
            remaining: watched
                .flows()
                .into_iter()
                .zip(&watched.blueprint.flows)
                .map(remaining)
                .collect(),
            groups: watched.groups_of_flows(),
            ended: Listed::default(),
            rows: Vec::new(),
        }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let Record::Progress { flow, bytes } = *record else { return };
        let Some(slot) = self.remaining.get_mut(flow.index()) else { return };
        let Some(remaining) = slot else { return };
        remaining.bytes = remaining.bytes.saturating_sub(bytes);
        if remaining.bytes == 0 {
            let Remaining { start, all, .. } = *remaining;
            *slot = None;
            let end = event.time();
            self.ended.add(event, Row { start, end, flow, bytes: all, finished: true });
        }
    }

    fn finish(&mut self, at: Time) {
        self.ended.finish();
        self.rows = self.ended.rows().to_vec();
        let started = |(flow, remaining): (FlowId, &Option<Remaining>)| {
            remaining.filter(|remaining| remaining.start <= at).map(
                |Remaining { start, all, .. }| Row {
                    start,
                    end: at,
                    flow,
                    bytes: all,
                    finished: false,
                },
            )
        };
        self.rows.extend(FlowId::all().zip(&self.remaining).filter_map(started));
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
