//! Completions of flows, one row per flow.

use optcp_des::Key;
use optcp_net::FlowId;
use optcp_units::Time;

use super::column::{Findings, Names, bools, column, index, times, u32s, u64s};
use super::listed::Listed;
use super::observed::{Groups, Keys, Observed, Watched};
use super::record::{Record, RecordKind};

/// Flow of finite size, completed or not.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Start time.
    start: Time,
    /// Time at which the receiver has all data in order. For an incomplete flow, the time at which the sender gave up,
    /// or the end of the run.
    end: Time,
    flow: FlowId,
    /// Flow size in bytes of full segments.
    bytes: u64,
    /// Whether the flow has completed.
    finished: bool,
    /// Whether the sender gave up before the flow had completed.
    aborted: bool,
}

/// Remaining data of a flow.
#[derive(Clone, Copy, Debug)]
struct Remaining {
    start: Time,
    all: u64,
    bytes: u64,
    /// Time at which the sender gave up. All data may have arrived until then or later.
    aborted: Option<Time>,
}

/// Flows in order of completion or abort, then others that have started, by number.
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
    const TAKES: &'static [RecordKind] = &[RecordKind::Progress, RecordKind::Aborted];

    fn new(watched: &Watched<'_>) -> Self {
        let chosen = watched.flows();
        let mut remaining = vec![None; chosen.len()];
        for (flow, start, mss, segments) in watched.blueprint.transfers() {
            if let Some(segments) = segments.filter(|_| chosen[flow.index()]) {
                let bytes = u64::from(segments) * mss.count();
                remaining[flow.index()] =
                    Some(Remaining { start, all: bytes, bytes, aborted: None });
            }
        }
        Completions {
            remaining,
            groups: watched.groups_of_flows(),
            ended: Listed::default(),
            rows: Vec::new(),
        }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        let (Record::Progress { flow, .. } | Record::Aborted { flow }) = *record else { return };
        let Some(slot) = self.remaining.get_mut(flow.index()) else { return };
        let Some(remaining) = slot else { return };
        let Record::Progress { bytes, .. } = *record else {
            remaining.aborted = Some(event.time());
            return;
        };
        remaining.bytes = remaining.bytes.saturating_sub(bytes);
        if remaining.bytes == 0 {
            let Remaining { start, all, .. } = *remaining;
            *slot = None;
            let end = event.time();
            let row = Row { start, end, flow, bytes: all, finished: true, aborted: false };
            self.ended.add(event, row);
        }
    }

    fn finish(&mut self, at: Time) {
        self.ended.finish();
        self.rows = self.ended.rows().to_vec();
        let started = |(flow, remaining): (FlowId, &Option<Remaining>)| {
            remaining.filter(|remaining| remaining.start <= at).map(
                |Remaining { start, all, aborted, .. }| Row {
                    start,
                    end: aborted.unwrap_or(at),
                    flow,
                    bytes: all,
                    finished: false,
                    aborted: aborted.is_some(),
                },
            )
        };
        self.rows.extend(FlowId::all().zip(&self.remaining).filter_map(started));
        // The sort must be stable: it only moves aborted flows before the others.
        self.rows.sort_by_key(|row| row.end);
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
                column("aborted", bools(rows, |row| row.aborted)).later(),
            ],
        }
    }
}
