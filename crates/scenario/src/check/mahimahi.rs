//! Link driven by a mahimahi trace of transmission opportunities.
//!
//! # Model
//! At each opportunity the transmitter sends one queued packet, if any, at the link's own rate. Several
//! opportunities in one millisecond follow each other at intervals of a 1500-byte transmission. At other
//! times the transmitter holds packets.
//!
//! # References
//! R. Netravali and others, "Mahimahi: accurate record-and-replay for HTTP", USENIX ATC 2015: `mm-link`. Each
//! line of its traces names a millisecond in which 1500 B may leave; a trace repeats from its last line.
//!
//! # Limitations
//! One opportunity sends one packet: smaller packets do not share it, and a packet above 1500 B does not need
//! two.

use std::collections::BTreeMap;

use optcp_units::{Bytes, Duration, Time};

use crate::library::Library;
use crate::plan::{ChangePlan, DirectedLink, SchedulePlan, StepPlan};
use crate::schema::{ChangeEntry, ScheduleEntry, Span, Transmitter};
use crate::tree::place;

use super::schedules::Reader;

/// Packet size of an opportunity.
const PACKET: Bytes = Bytes::new(1500);
/// Maximum length of a trace: the maximum length of a run.
const LONGEST_MS: u64 = 480 * 3600 * 1000;
const MS: Duration = Duration::from_ms(1);
/// Duration of an opportunity; exactly one transmission starts in it.
const INSTANT: Duration = Duration::from_ps(1);

impl Reader<'_, '_> {
    /// Returns the schedules of a mahimahi trace; `None` if a problem was reported.
    pub(super) fn trace(
        &mut self,
        entry: &ScheduleEntry,
        start: Time,
        library: &Library,
    ) -> Option<Vec<SchedulePlan>> {
        let i = self.i;
        let other = entry.period.is_some() || entry.delays.is_some() || entry.generator.is_some();
        if other || !entry.changes.is_empty() {
            self.problems
                .at(place!["schedules", i], "a mahimahi trace defines all changes")
                .label("omit `period`, `delays`, `changes` and `generator`");
        }
        let (Some(file), Some(link)) = (&entry.file, &entry.link) else {
            self.problems
                .at(place!["schedules", i, "form"], "a mahimahi trace needs a file and a link")
                .label("needs `file` and `link`");
            return None;
        };
        let place = place!["schedules", i, "file"];
        let read = library.values(file).and_then(|values| read(file, &values));
        let trace = match read {
            Ok(trace) => trace,
            Err(message) => {
                self.problems.at(place, message);
                return None;
            }
        };
        let sends = ChangeEntry {
            at: Span(Duration::ZERO),
            link: link.clone(),
            direction: entry.direction,
            served: None,
            rate: None,
            delay: None,
            queue: None,
            transmitter: Some(Transmitter::Sends),
            state: None,
            ece: None,
            loss: None,
        };
        let changes = self.changes(&sends, place!["schedules", i]);
        let ports: Vec<DirectedLink> = changes.into_iter().map(|(port, _)| port).collect();
        let rates = ports.iter().map(|&(link, way)| self.network.links[link].directions[way].rate);
        let packet = rates.min()?.transmission_time(PACKET);
        let most = busiest(&trace);
        if packet.as_ps().saturating_mul(most) > MS.as_ps() {
            let message = format!("`{file}` has {most} packets of 1500 B in one millisecond");
            self.problems
                .at(place!["schedules", i, "link"], message)
                .label(format!("a packet takes {packet}"));
        }
        Some(schedules(&trace, start, packet, &ports))
    }
}

/// Returns the number of opportunities per millisecond of a trace.
///
/// # Errors
/// If the trace is not valid.
fn read(file: &str, values: &[(u64, String)]) -> Result<BTreeMap<u64, u64>, String> {
    let mut found = BTreeMap::new();
    let mut last = 0;
    for (line, value) in values {
        let ms = value.parse::<u64>().ok().filter(|&ms| ms <= LONGEST_MS);
        let Some(ms) = ms else {
            return Err(format!("`{file}`, line {line}: `{value:.20}` is not a time in ms"));
        };
        if ms < last {
            return Err(format!("`{file}`, line {line}: {ms} ms after {last} ms"));
        }
        last = ms;
        *found.entry(ms).or_insert(0) += 1;
    }
    match last {
        0 => Err(format!("`{file}` has no time after 0 ms")),
        _ => Ok(found),
    }
}

/// Returns the maximum number of opportunities per millisecond. Opportunities at the end of the trace also
/// count for 0 ms of the next round.
fn busiest(trace: &BTreeMap<u64, u64>) -> u64 {
    let first = trace.get(&0).copied().unwrap_or(0);
    let last = trace.last_key_value().map_or(0, |(_, &count)| count);
    trace.values().copied().chain([first + last]).max().unwrap_or(0)
}

/// Returns the schedules of ports with a trace: one for the initial state (holding), and one for each round.
/// A round starts one millisecond late, so that its last opportunities are steps of it.
fn schedules(
    trace: &BTreeMap<u64, u64>,
    start: Time,
    packet: Duration,
    ports: &[DirectedLink],
) -> Vec<SchedulePlan> {
    let step = |after, sends| {
        let changes = ports.iter().map(|&port| (port, ChangePlan::Sends(sends))).collect();
        StepPlan { after, changes }
    };
    let opportunities = |after: Duration, count: u64| {
        (0..count).flat_map(move |before| {
            let at = after + packet * before;
            [step(at, true), step(at + INSTANT, false)]
        })
    };
    let at_once = trace.get(&0).copied().unwrap_or(0);
    let mut before: Vec<StepPlan> = opportunities(Duration::ZERO, at_once).collect();
    if before.is_empty() {
        before.push(step(Duration::ZERO, false));
    }
    let length = trace.last_key_value().map_or(1, |(&ms, _)| ms);
    let round = trace.iter().filter(|&(&ms, _)| ms > 0).flat_map(|(&ms, &count)| {
        let again = if ms == length { at_once } else { 0 };
        opportunities(MS * (ms - 1), count + again)
    });
    let steps = round.collect();
    vec![
        SchedulePlan { start, period: None, steps: before },
        SchedulePlan { start: start + MS, period: Some(MS * length), steps },
    ]
}
