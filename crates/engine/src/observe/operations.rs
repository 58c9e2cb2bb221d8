//! Operations of applications, one row per operation: requests, rounds, pages, playbacks of chunks.

use optcp_des::Key;
use optcp_traffic::Operation;
use optcp_units::Time;

use super::column::{Findings, Names, bools, column, index, times, u32s, u64s};
use super::listed::Listed;
use super::observed::{Groups, Keys, Observed, Watched};
use super::record::{Record, RecordKind};

/// Operation that has begun.
#[derive(Clone, Copy, Debug)]
struct Row {
    start: Time,
    /// End; end of the run for an incomplete operation.
    end: Time,
    operation: u32,
    finished: bool,
}

/// Completed operations in order of completion, then incomplete ones by number.
#[derive(Clone, Debug)]
pub(super) struct Operations {
    operations: Vec<Operation>,
    /// Group of each session.
    groups: Vec<u32>,
    /// Names of the sessions.
    sessions: Vec<String>,
    /// Whether the operations of each session are listed.
    watched: Vec<bool>,
    /// Start of each operation that has begun and not ended.
    begun: Vec<Option<Time>>,
    ended: Listed<Row>,
    rows: Vec<Row>,
}

impl Operations {
    fn operation(&self, row: &Row) -> &Operation {
        &self.operations[row.operation as usize]
    }
}

impl Observed for Operations {
    const KEYS: Keys = Keys { groups: Some(Groups::Flows), ..Keys::NONE };
    const TAKES: &'static [RecordKind] =
        &[RecordKind::OperationOpened, RecordKind::OperationClosed];

    fn new(watched: &Watched<'_>) -> Self {
        let spec = &watched.blueprint.applications;
        let chosen = |group: &u32| watched.groups.contains(&(*group as usize));
        Operations {
            operations: spec.script.operations.clone(),
            groups: spec.groups.clone(),
            sessions: spec.sessions.clone(),
            watched: spec.groups.iter().map(chosen).collect(),
            begun: vec![None; spec.script.operations.len()],
            ended: Listed::default(),
            rows: Vec::new(),
        }
    }

    fn record(&mut self, event: Key, record: &Record) {
        let (Record::OperationOpened { operation } | Record::OperationClosed { operation }) =
            *record
        else {
            return;
        };
        let place = operation as usize;
        if !self.watched[self.operations[place].session as usize] {
            return;
        }
        if matches!(record, Record::OperationOpened { .. }) {
            self.begun[place] = Some(event.time());
        } else if let Some(start) = self.begun[place].take() {
            self.ended.add(event, Row { start, end: event.time(), operation, finished: true });
        }
    }

    fn finish(&mut self, at: Time) {
        self.ended.finish();
        self.rows = self.ended.rows().to_vec();
        let begun = (0..).zip(&self.begun).filter_map(|(operation, start)| {
            Some(Row { start: (*start)?, end: at, operation, finished: false })
        });
        self.rows.extend(begun);
    }

    fn findings(&self) -> Findings {
        let rows = &self.rows;
        let group = |row: &Row| self.groups[self.operation(row).session as usize];
        Findings {
            names: vec![
                ("groups", Names::Groups),
                ("sessions", Names::These(self.sessions.clone())),
            ],
            columns: vec![
                times(rows, |row| row.end),
                column("start_ps", u64s(rows, |row| row.start.as_ps())),
                index("group", u32s(rows, group), "groups"),
                index("session", u32s(rows, |row| self.operation(row).session), "sessions"),
                column("number", u32s(rows, |row| self.operation(row).number)),
                column("bytes", u64s(rows, |row| self.operation(row).bytes)),
                column("finished", bools(rows, |row| row.finished)),
            ],
        }
    }
}
