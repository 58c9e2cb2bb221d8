//! Results of transfers as JSON.

use optcp_units::Duration;
use serde_json::{Value, json};

use crate::case::{Acks, Case, Control};
use crate::cases::CASES;
use crate::link::End;
use crate::quinn::Quinn;
use crate::s2n::s2n;
use crate::transfer::{Stack, Transfer};

/// Transport stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// [`quinn`](crate::quinn).
    Quinn,
    /// [`s2n`](crate::s2n).
    S2n,
}

impl Judge {
    /// All of them.
    pub const ALL: [Judge; 2] = [Judge::Quinn, Judge::S2n];

    /// Returns its name in files and commands.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Judge::Quinn => "quinn",
            Judge::S2n => "s2n",
        }
    }

    const fn version(self) -> &'static str {
        match self {
            Judge::Quinn => "quinn-proto 0.11.19",
            Judge::S2n => "s2n-quic-transport 0.83.0",
        }
    }

    /// Executes a transfer, or returns `None` if the stack has no such congestion control. The seed determines the random
    /// losses.
    #[must_use]
    pub fn run(self, case: &Case, control: Control, seed: u64) -> Option<Transfer> {
        let mut stack: Box<dyn Stack> = match self {
            Judge::Quinn => Box::new(Quinn::new(case, control)),
            Judge::S2n => s2n(case, control)?,
        };
        Some(Transfer::run(case, seed, &mut *stack))
    }

    /// Executes all cases and returns the record: one line per transfer.
    #[must_use]
    pub fn record(self) -> String {
        let mut controls = Vec::new();
        for control in Control::ALL {
            let line = |case: &Case| {
                let transfer = self.run(case, control, SEED)?;
                Some(format!("    {}: {}", json!(case.name), summary(&transfer)))
            };
            let lines: Vec<String> = CASES.iter().filter_map(line).collect();
            if !lines.is_empty() {
                controls.push(block(control.name(), &lines));
            }
        }
        format!("{{\n  \"stack\": {},\n{}\n}}\n", json!(self.version()), controls.join(",\n"))
    }
}

/// Seed of the recorded transfers.
pub const SEED: u64 = 1;

/// Returns the durations of the transfers with random losses in us: one line per stack, congestion control and case. The seeds
/// count from 1.
///
/// # Panics
/// If a transfer does not complete.
#[must_use]
pub fn losses(seeds: u64) -> Vec<String> {
    let mut lines = Vec::new();
    for judge in Judge::ALL {
        for (control, case) in
            Control::ALL.iter().flat_map(|control| CASES.iter().map(move |case| (*control, case)))
        {
            if case.loss_permille == 0 {
                continue;
            }
            let duration = |seed| {
                let transfer = judge.run(case, control, seed)?;
                Some(transfer.completed.expect("it completes").as_ps() / 1_000_000)
            };
            if let Some(durations) = (1..=seeds).map(duration).collect::<Option<Vec<u64>>>() {
                let name = format!("{} {} {}", judge.name(), control.name(), case.name);
                lines.push(format!("{}: {}", json!(name), json!(durations)));
            }
        }
    }
    lines
}

fn block(name: &str, lines: &[String]) -> String {
    format!("  {}: {{\n{}\n  }}", json!(name), lines.join(",\n"))
}

/// Returns the parameters of all cases: one line per case.
#[must_use]
pub fn cases() -> String {
    let line = |case: &Case| format!("    {}: {}", json!(case.name), parameters(case));
    let lines: Vec<String> = CASES.iter().map(line).collect();
    format!("{{\n{}\n}}\n", block("cases", &lines))
}

fn parameters(case: &Case) -> Value {
    json!({
        "mbps": case.mbps,
        "rtt_ms": case.rtt_ms,
        "queue_packets": case.queue,
        "marks_above_packets": case.marks,
        "loss_permille": case.loss_permille,
        "outages_ms": case.outages,
        "size_bytes": case.size,
        "packets_per_ack": match case.acks { Acks::EverySecond => 2, Acks::EveryTenth => 10 },
        "payload_bytes": case.payload,
    })
}

/// Returns a summary of a transfer. The times of a transfer that has not finished are null.
fn summary(transfer: &Transfer) -> Value {
    let ps = |time: Option<Duration>| time.map_or(Value::Null, |time| json!(time.as_ps()));
    json!({
        "completed_ps": ps(transfer.completed),
        "connected_ps": ps(transfer.connected),
        "stall_ps": transfer.stall.as_ps(),
        "client_packets": transfer.packets(End::Client),
        "server_packets": transfer.packets(End::Server),
        "lost_packets": transfer.end.lost,
        "timeouts": transfer.end.timeouts,
        "cwnd_bytes": transfer.end.cwnd,
    })
}

/// Returns all packets, progress and changes of a transfer.
#[must_use]
pub fn trace(transfer: &Transfer) -> Value {
    let sent = transfer.sent.iter().map(|sent| {
        let from = if sent.from == End::Client { "client" } else { "server" };
        json!([sent.at.as_ps(), from, sent.size, sent.content.number, sent.content.data])
    });
    let progress = transfer.progress.iter().map(|(at, bytes)| json!([at.as_ps(), bytes]));
    let changes = transfer.changes.iter().map(|change| {
        let state = change.state;
        json!([change.at.as_ps(), state.cwnd, state.lost, state.timeouts])
    });
    json!({
        "sent_ps_from_size_number_data": sent.collect::<Vec<_>>(),
        "progress_ps_bytes": progress.collect::<Vec<_>>(),
        "changes_ps_cwnd_lost_timeouts": changes.collect::<Vec<_>>(),
    })
}
