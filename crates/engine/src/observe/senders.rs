//! State variables of senders over time.

use optcp_des::Key;
use optcp_net::FlowId;
use optcp_tcp::{Phase, Snapshot};
use optcp_units::Time;

use super::column::{Column, Findings, Names, column, f64s, index, times, u8s, u32s, u64s};
use super::listed::Listed;
use super::observed::{Groups, Keys, Observed, Watched};
use super::record::{Cause, Record, RecordKind};

/// State of a sender after an event.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: Time,
    flow: FlowId,
    /// Event.
    cause: Cause,
    /// State afterwards.
    snapshot: Snapshot,
}

/// Rows of chosen senders, one per change of a variable.
#[derive(Clone, Debug)]
pub(super) struct Senders {
    /// Whether a flow is watched, by flow.
    watched: Vec<bool>,
    /// Last recorded state of each flow.
    last: Vec<Option<Snapshot>>,
    rows: Listed<Row>,
}

impl Observed for Senders {
    const KEYS: Keys = Keys { groups: Some(Groups::Flows), ..Keys::NONE };
    const TAKES: &'static [RecordKind] = &[RecordKind::Updated];

    fn new(watched: &Watched<'_>) -> Self {
        let watched = watched.flows();
        Senders { last: vec![None; watched.len()], watched, rows: Listed::default() }
    }

    #[inline]
    fn record(&mut self, event: Key, record: &Record) {
        if let Record::Updated { flow, cause, snapshot } = *record
            && self.watched[flow.index()]
            && self.last[flow.index()] != Some(snapshot)
        {
            self.last[flow.index()] = Some(snapshot);
            self.rows.add(event, Row { at: event.time(), flow, cause, snapshot });
        }
    }

    fn finish(&mut self, _: Time) {
        self.rows.finish();
    }

    fn findings(&self) -> Findings {
        let rows = self.rows.rows();
        let real = |name, value: fn(&Row) -> f64| -> Column { column(name, f64s(rows, value)) };
        Findings {
            names: vec![
                ("flows", Names::Flows),
                ("causes", Names::these(&Cause::NAMES)),
                ("phases", Names::these(&Phase::NAMES)),
            ],
            columns: vec![
                times(rows, |row| row.at),
                index("flow", u32s(rows, |row| row.flow.number()), "flows"),
                index("cause", u8s(rows, |row| row.cause as u8), "causes"),
                real("cwnd_bytes", |row| row.snapshot.cwnd),
                real("ssthresh_bytes", |row| row.snapshot.ssthresh),
                column("flight_segments", u32s(rows, |row| row.snapshot.flight)),
                index("phase", u8s(rows, |row| row.snapshot.phase as u8), "phases"),
                column("timeouts", u64s(rows, |row| row.snapshot.timeouts)),
                column("ecn_reductions", u64s(rows, |row| row.snapshot.ecn_reductions)).later(),
            ],
        }
    }
}
