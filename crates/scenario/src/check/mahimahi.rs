//! A link with the opportunities to send of a trace of mahimahi.
//!
//! # Models
//! At each opportunity the transmitter takes one packet out of the queue, if one waits, at the link's own rate; several in a
//! millisecond follow each other as fast as packets of 1500 B do. Otherwise it holds.
//! # Source
//! R. Netravali and others, "Mahimahi: accurate record-and-replay for HTTP", USENIX ATC 2015: `mm-link`, whose traces name in
//! each line a millisecond in which 1500 B may leave, and begin again at the last one.
//! # Parameters
//! The file, the link, the directions, the start.
//! # Limits
//! An opportunity is for one packet: smaller ones do not share it, and one beyond 1500 B does not need two.

use std::collections::BTreeMap;

use optcp_units::{Bytes, Duration, Time};

use crate::library::Library;
use crate::plan::{ChangePlan, DirectedLink, SchedulePlan, StepPlan};
use crate::schema::{ChangeEntry, ScheduleEntry, Span, Transmitter};
use crate::tree::place;

use super::schedules::Reader;

/// What an opportunity is for.
const PACKET: Bytes = Bytes::new(1500);
/// No trace is longer: as long as any run.
const LONGEST_MS: u64 = 480 * 3600 * 1000;
const MS: Duration = Duration::from_ms(1);
/// How long the transmitter sends at an opportunity: one packet begins in it.
const INSTANT: Duration = Duration::from_ps(1);

impl Reader<'_, '_> {
    /// The schedules of a trace of mahimahi; `None` if there is a problem, which has then been reported.
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
                .at(place!["schedules", i], "a trace of mahimahi says itself what changes")
                .label("goes without `period`, `delays`, `changes` and `generator`");
        }
        let (Some(file), Some(link)) = (&entry.file, &entry.link) else {
            self.problems
                .at(place!["schedules", i, "form"], "a trace of mahimahi is of a file and a link")
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
        };
        let changes = self.changes(&sends, place!["schedules", i]);
        let ports: Vec<DirectedLink> = changes.into_iter().map(|(port, _)| port).collect();
        let rates = ports.iter().map(|&(link, way)| self.network.links[link].directions[way].rate);
        let packet = rates.min()?.transmission_time(PACKET);
        let most = busiest(&trace);
        if packet.as_ps().saturating_mul(most) > MS.as_ps() {
            let message = format!("`{file}` has {most} packets of 1500 B in a millisecond");
            self.problems
                .at(place!["schedules", i, "link"], message)
                .label(format!("takes {packet} for each"));
        }
        Some(schedules(&trace, start, packet, &ports))
    }
}

/// How many opportunities each millisecond of a trace has.
///
/// # Errors
/// What is wrong with it.
fn read(file: &str, values: &[(u64, String)]) -> Result<BTreeMap<u64, u64>, String> {
    let mut found = BTreeMap::new();
    let mut last = 0;
    for (line, value) in values {
        let ms = value.parse::<u64>().ok().filter(|&ms| ms <= LONGEST_MS);
        let Some(ms) = ms else {
            return Err(format!(
                "`{file}`, line {line}: `{value:.20}` is no millisecond of a trace"
            ));
        };
        if ms < last {
            return Err(format!("`{file}`, line {line}: {ms} ms come after {last} ms"));
        }
        last = ms;
        *found.entry(ms).or_insert(0) += 1;
    }
    match last {
        0 => Err(format!("`{file}` has no opportunity after 0 ms")),
        _ => Ok(found),
    }
}

/// The most opportunities within a millisecond; that at the end of the trace is also that at 0 ms of the next round.
fn busiest(trace: &BTreeMap<u64, u64>) -> u64 {
    let first = trace.get(&0).copied().unwrap_or(0);
    let last = trace.last_key_value().map_or(0, |(_, &count)| count);
    trace.values().copied().chain([first + last]).max().unwrap_or(0)
}

/// The schedules of ports with a trace: one of the first instant, from which they hold, and one of each round, which begins
/// a millisecond later, so that its last opportunities are steps of it.
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
