//! Scheduled changes: their order among packet events, and their effect on virtual output queues.

use std::collections::BTreeSet;

use optcp_runs::Run;
use optcp_scenario::plan::{ChangePlan, Plan, QueueLimit};

use super::buckets::Shaping;
use super::{Evidence, Row};
use crate::check::{Failure, failure};

/// A change by plan of a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Changed {
    pub(super) at: u64,
    pub(super) port: usize,
    pub(super) what: ChangePlan,
}

/// What happens to ports: a row of the list of packets, or a change by plan.
#[derive(Clone, Copy, Debug)]
pub(super) enum LogEntry<'e, 'r> {
    Row(&'e Row<'r>),
    Change(Changed),
}

/// A transmission that ended: when its packet left the queue, when it began, and at which rate. Also the delay behind it if
/// that had changed by plan.
pub(super) struct Sent {
    pub(super) taken: u64,
    pub(super) began: u64,
    pub(super) rate: u64,
    /// Value at the start of the transmission.
    pub(super) delay: Option<u64>,
}

/// Course of a delay: since when, from which value to which, and in which time.
type Course = (u64, [u64; 2], u64);

/// Transmission in progress: when it was taken out of the queue, its rate, and the course of the delay.
type Going = (u64, u64, Option<Course>);

/// Picoseconds that bits take at a rate, rounded up.
pub(super) fn bits(rate: u64, bytes: u64) -> u128 {
    (u128::from(bytes) * 8 * 1_000_000_000_000).div_ceil(u128::from(rate))
}

/// Whether so many packets of so many bytes are no more than a limit allows.
pub(super) fn holds(limit: QueueLimit, packets: usize, bytes: u64) -> bool {
    match limit {
        QueueLimit::Packets(limit) => packets as u64 <= limit,
        QueueLimit::Bytes(limit) => bytes <= limit.count(),
        QueueLimit::Unlimited => true,
    }
}

/// All changes of a run up to its stop, in the order in which they happen.
pub(super) fn changes(plan: &Plan, stop: u64) -> Vec<Changed> {
    let mut found = Vec::new();
    for schedule in &plan.schedules {
        let mut began = u128::from(schedule.start.as_ps());
        while began <= u128::from(stop) {
            for step in &schedule.steps {
                let Ok(at) = u64::try_from(began + u128::from(step.after.as_ps())) else {
                    continue;
                };
                let of_step = step.changes.iter().filter(|_| at <= stop);
                found.extend(of_step.map(|&((link, direction), what)| Changed {
                    at,
                    port: 2 * link + direction,
                    what,
                }));
            }
            match schedule.period {
                Some(period) => began += u128::from(period.as_ps()),
                None => break,
            }
        }
    }
    // Changes at the same time stay in the order of the file.
    found.sort_by_key(|change| change.at);
    found
}

/// Returns the number of changes that precede each row. At one time, failures, repairs and the ends
/// of transmissions come first. Each change follows, then other events; immediate consequences
/// directly follow their cause.
pub(super) fn changed_before(
    plan: &Plan,
    run: &Run,
    ports: &[String],
    rows: &[Row<'_>],
    changes: &[Changed],
) -> Vec<usize> {
    let mut before = vec![0; rows.len()];
    let mut state = State::new(plan);
    let (mut done, mut row) = (0, 0);
    for at_once in changes.chunk_by(|a, b| a.at == b.at) {
        let at = at_once[0].at;
        let mut fill = |until: usize, done: usize| {
            before[row..until].fill(done);
            row = until;
        };
        fill(rows.partition_point(|row| row.at < at), done);
        let from = rows.partition_point(|row| row.at < at);
        let here = &rows[..rows.partition_point(|row| row.at <= at)];
        let comes_first = |row: &Row<'_>| match row.event {
            "transmitted" => row.port.is_some_and(|port| !state.is_voq(port)),
            _ => matches!(row.reason, Some("queue-flushed" | "lost-in-flight" | "corrupted")),
        };
        let last = (from..here.len()).rev().find(|&place| comes_first(&here[place]));
        // Whose transmitters have become free.
        let repaired = run.failed.iter().filter(|one| one.repair.map(|at| at.as_ps()) == Some(at));
        let mut free: Vec<usize> =
            repaired.filter_map(|one| ports.iter().position(|port| *port == one.port)).collect();
        free.extend(last.and_then(|last| here[last].port));
        let next = last.map_or(from, |last| last + 1);
        let mut next = state.after_feeding(here, next, &free);
        fill(next, done);
        for (number, change) in at_once.iter().enumerate() {
            state.apply(change);
            done += 1;
            // If a transmitter's queue has several limits at one time, it is unknown which one
            // drops packets. All drops are listed after the last limit.
            let again = at_once[number + 1..].iter().any(|later| {
                later.port == change.port && matches!(later.what, ChangePlan::Limit(_))
            });
            next = match change.what {
                // Between two limits another transmitter may take packets out of a virtual output queue.
                ChangePlan::Limit(limit) if again && state.is_voq(change.port) => {
                    next + shed(&rows[..next], change.port, limit)
                }
                ChangePlan::Limit(_) if again => next,
                ChangePlan::Limit(_) => {
                    let lost = |row: &&Row<'_>| {
                        row.reason == Some("queue-shrunk") && row.port == Some(change.port)
                    };
                    next + here[next..].iter().take_while(lost).count()
                }
                ChangePlan::Serve(_) | ChangePlan::Sends(_) => {
                    let server = state.served[change.port].unwrap_or(change.port);
                    state.after_feeding(here, next, &[server])
                }
                ChangePlan::Rate(_)
                | ChangePlan::Delay(_)
                | ChangePlan::Drift(_)
                | ChangePlan::Ece(_)
                | ChangePlan::Loss(_) => next,
            };
            fill(next, done);
        }
    }
    before[row..].fill(done);
    before
}

/// How many packets a limit takes out of a virtual output queue, to whose port `rows` have happened before.
fn shed(rows: &[Row<'_>], port: usize, limit: QueueLimit) -> usize {
    let mut inside: Vec<&Row<'_>> = Vec::new();
    for row in rows.iter().filter(|row| row.port == Some(port)) {
        let same = |one: &&Row<'_>| (one.flow, one.ack, one.seq) == (row.flow, row.ack, row.seq);
        let place = match (row.event, row.reason) {
            ("queued", _) => {
                inside.push(row);
                continue;
            }
            ("transmitted", _) | (_, Some("pushed-out")) => inside.iter().position(same),
            (_, Some("queue-shrunk")) => inside.iter().rposition(same),
            _ => continue,
        };
        place.map(|place| inside.remove(place));
    }
    let before = inside.len();
    while !holds(limit, inside.len(), inside.iter().map(|row| row.bytes).sum()) {
        inside.pop();
    }
    before - inside.len()
}

/// State in force.
struct State<'p> {
    plan: &'p Plan,
    /// Per port, the port of the path that serves a queue.
    served: Vec<Option<usize>>,
    held: Vec<bool>,
}

impl<'p> State<'p> {
    fn new(plan: &'p Plan) -> Self {
        let number = 2 * plan.links.len();
        let mut state = State { plan, served: vec![None; number], held: vec![false; number] };
        for port in 0..number {
            if let Some(voq) = &plan.links[port / 2].voq {
                state.held[port] = true;
                state.served[port] = state.first(port, voq.served[port % 2]);
            }
        }
        state
    }

    fn is_voq(&self, port: usize) -> bool {
        self.plan.links[port / 2].voq.is_some()
    }

    /// The first port of a way behind a queue.
    fn first(&self, port: usize, way: Option<u8>) -> Option<usize> {
        let voq = self.plan.links[port / 2].voq.as_ref()?;
        way.map(|way| voq.hops(usize::from(way), port % 2)[0]).map(|(link, to)| 2 * link + to)
    }

    /// Behind what follows from some transmitters' being free, from the row `next` on: they take packets out of queues.
    fn after_feeding(&self, rows: &[Row<'_>], next: usize, free: &[usize]) -> usize {
        let fate = |row: &Row<'_>| {
            let discipline = matches!(row.reason, Some("aqm" | "aqm-forced" | "policed-egress"));
            row.event == "marked" || discipline
        };
        // Actions of the port's own discipline at the end of a transmission come first.
        let own = |row: &&Row<'_>| row.port.is_some_and(|port| free.contains(&port)) && fate(row);
        let mut then = next + rows[next..].iter().take_while(own).count();
        let mut found = next;
        let mut taken: Option<&Row<'_>> = None;
        // Who has something to send again.
        let mut busy: Vec<usize> = Vec::new();
        while let Some(row) = rows.get(then) {
            let follows = match row.port.and_then(|port| self.served[port]) {
                Some(server) => {
                    let comes = rows.get(then + 1).is_some_and(|row| row.port == Some(server));
                    let takes = row.event == "transmitted" && comes;
                    let may = free.contains(&server) && !busy.contains(&server);
                    taken = if may && takes { Some(row) } else { taken };
                    may && !self.held[server] && (takes || fate(row))
                }
                None => taken.is_some_and(|taken| {
                    let same = (taken.flow, taken.ack, taken.seq) == (row.flow, row.ack, row.seq);
                    same && taken.port.and_then(|port| self.served[port]) == row.port
                }),
            };
            if !follows {
                break;
            }
            if row.event == "queued" {
                busy.extend(row.port);
            } else if row.event == "dropped" {
                // Its discipline did not send it: it is free again.
                busy.retain(|&port| Some(port) != row.port);
            }
            then += 1;
            found = if taken.is_some() { then } else { found };
        }
        found
    }

    fn apply(&mut self, change: &Changed) {
        match change.what {
            ChangePlan::Serve(way) => self.served[change.port] = self.first(change.port, way),
            ChangePlan::Sends(sends) => self.held[change.port] = !sends,
            ChangePlan::Rate(_)
            | ChangePlan::Delay(_)
            | ChangePlan::Drift(_)
            | ChangePlan::Limit(_)
            | ChangePlan::Ece(_)
            | ChangePlan::Loss(_) => {}
        }
    }
}

impl<'r> Evidence<'r> {
    pub(super) fn is_voq(&self, port: usize) -> bool {
        self.plan.links[port / 2].voq.is_some()
    }

    /// Whether packets wait at the inputs of a switch before this port, or behind it if `far`.
    pub(super) fn is_at_switch(&self, port: usize, far: bool) -> bool {
        self.plan.switches.iter().any(|switch| switch.node == self.node(port, far))
    }

    /// Whether a link is on a way behind a virtual output queue.
    pub(super) fn is_behind_queue(&self, port: usize) -> bool {
        let voqs = self.plan.links.iter().filter_map(|link| link.voq.as_ref());
        let mut hops = voqs.flat_map(|voq| &voq.ways).flat_map(|way| &way.hops);
        hops.any(|&(link, _)| link == port / 2)
    }

    /// Whether a port belongs to a route of bursts over fibres.
    pub(super) fn is_over_fibres(&self, port: usize) -> bool {
        let link = port / 2;
        let bursts = self.plan.bursts.iter().any(|bursts| bursts.link == link);
        bursts && !self.plan.links[link].over.is_empty()
    }

    /// What happens to ports, in order: to one of them, or to all.
    fn entries(&self, of: Option<usize>) -> Vec<LogEntry<'_, 'r>> {
        let of_change = |change: &Changed| of.is_none_or(|port| port == change.port);
        let some = |changes: &[Changed]| -> Vec<LogEntry<'_, 'r>> {
            changes
                .iter()
                .filter(|change| of_change(change))
                .map(|&it| LogEntry::Change(it))
                .collect()
        };
        let mut entries = Vec::new();
        let mut done = 0;
        let rows = self.rows.iter().zip(&self.before);
        for (row, &before) in rows.filter(|(row, _)| of.is_none() || row.port == of) {
            entries.extend(some(&self.changes[done..before]));
            done = before;
            entries.push(LogEntry::Row(row));
        }
        entries.extend(some(&self.changes[done..]));
        entries
    }

    /// What happens to one port, in order.
    pub(super) fn story(&self, port: usize) -> Vec<LogEntry<'_, 'r>> {
        self.entries(Some(port))
    }

    /// Whether a schedule changes something of a port that `what` looks for.
    pub(super) fn changes_of(&self, port: usize, what: fn(&ChangePlan) -> bool) -> bool {
        self.changes.iter().any(|change| change.port == port && what(&change.what))
    }

    /// Whether a row tells of a packet that was in a queue and is so no longer.
    pub(super) fn leaves(&self, row: &Row<'_>) -> bool {
        row.event == "transmitted"
            || matches!(row.reason, Some("queue-flushed" | "queue-shrunk"))
            || self.left_queue(row)
    }

    /// The transmissions of a port that ended, as its rows tell of them. A transmitter is never idle while it may send.
    pub(super) fn transmissions(&self, port: usize) -> Vec<Sent> {
        let line = &self.plan.links[port / 2].directions[port % 2];
        let (mut rate, mut held) = (line.rate.bps(), self.is_voq(port));
        let mut inside = 0;
        let mut shaping = Shaping::of(self.plan, port);
        let mut flushed = None;
        // The transmission that goes on, if there is one: when it was taken, its rate, and the delay in force.
        let mut going: Option<Going> = None;
        // From when on it goes how evenly from one to another, and in which time.
        let mut delay: Option<Course> = None;
        let now = |delay: Option<Course>, at: u64| {
            let (since, [from, to], over) = delay?;
            let passed = i128::from((at - since).min(over));
            let moved = (i128::from(to) - i128::from(from)) * passed / i128::from(over);
            u64::try_from(i128::from(from) + moved).ok()
        };
        let mut found = Vec::new();
        for entry in self.story(port) {
            let at = match entry {
                LogEntry::Change(change) => {
                    match change.what {
                        ChangePlan::Rate(new) => rate = new.bps(),
                        ChangePlan::Delay(new) => {
                            delay = Some((change.at, [new.as_ps(); 2], 1));
                        }
                        ChangePlan::Drift(drift) => {
                            let ends = [drift.from, drift.to].map(|end| end.as_ps());
                            delay = Some((change.at, ends, drift.over.as_ps()));
                        }
                        ChangePlan::Sends(sends) => held = !sends,
                        ChangePlan::Limit(_)
                        | ChangePlan::Serve(_)
                        | ChangePlan::Ece(_)
                        | ChangePlan::Loss(_) => {}
                    }
                    change.at
                }
                LogEntry::Row(row) => {
                    if row.event == "queued" {
                        inside += 1;
                    } else if self.leaves(row) {
                        inside -= 1;
                    }
                    if row.event == "transmitted" {
                        // A packet taken out of a queue is sent immediately.
                        let (taken, rate, delay) = going.take().unwrap_or((row.at, rate, delay));
                        let began = shaping.begin(taken, row.bytes);
                        found.push(Sent { taken, began, rate, delay: now(delay, began) });
                    }
                    // A failure discards the packet in transmission first.
                    if let (Some("queue-flushed"), Some((taken, ..))) = (row.reason, going)
                        && flushed.replace(row.at) != Some(row.at)
                    {
                        shaping.begin(taken, row.bytes);
                    }
                    row.at
                }
            };
            if inside == 0 {
                going = None;
            } else if !held && going.is_none() {
                going = Some((at, rate, delay));
            }
        }
        found
    }

    /// Checks the service of virtual output queues. A packet taken out of a queue enters the first
    /// port of the path that serves the queue, which sends nothing else. No such port is idle while
    /// packets wait for it, and the queues take turns.
    pub(super) fn queues_are_served(&self) -> Result<(), Failure> {
        let voqs: Vec<usize> = (0..self.ports.len()).filter(|&port| self.is_voq(port)).collect();
        if voqs.is_empty() {
            return Ok(());
        }
        let mut state = State::new(self.plan);
        let mut inside = vec![0_usize; self.ports.len()];
        // Who has been served since a queue waits for its turn.
        let mut turns: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.ports.len()];
        let entries = self.entries(None);
        for (place, one) in entries.iter().enumerate() {
            let now = match one {
                LogEntry::Change(change) => {
                    let before = state.served[change.port];
                    state.apply(change);
                    // A second transmitter starts its own count of turns.
                    if state.served[change.port] != before {
                        turns[change.port].clear();
                    }
                    change.at
                }
                LogEntry::Row(row) => {
                    if let Some(port) = row.port {
                        if row.event == "transmitted" && self.is_voq(port) {
                            let wrong = |why: &str| failure(why, format!("{row:?}"));
                            let Some(server) = state.served[port] else {
                                return wrong("taken out of a queue that nothing serves");
                            };
                            if inside[server] > 0 || state.held[server] {
                                return wrong("taken by a transmitter that is not free");
                            }
                            if !self.goes_on(&entries[place + 1..], row, server) {
                                return wrong("taken out of a queue and not sent");
                            }
                            turns[port].clear();
                            let waits = |&other: &usize| {
                                other != port
                                    && state.served[other] == Some(server)
                                    && inside[other] > 0
                            };
                            if voqs.iter().copied().filter(waits).any(|it| !turns[it].insert(port))
                            {
                                return wrong("a queue had two turns while another one waited");
                            }
                        }
                        if row.event == "queued" {
                            inside[port] += 1;
                        } else if self.leaves(row) {
                            inside[port] -= 1;
                        }
                    }
                    row.at
                }
            };
            for &queue in &voqs {
                if inside[queue] == 0 || state.served[queue].is_none() {
                    turns[queue].clear();
                }
            }
            let next = entries.get(place + 1).map_or(u64::MAX, |next| match next {
                LogEntry::Change(change) => change.at,
                LogEntry::Row(row) => row.at,
            });
            let idle = |&queue: &usize| {
                state.served[queue].is_some_and(|server| {
                    inside[server] == 0 && !state.held[server] && !self.is_down(server, now)
                }) && inside[queue] > 0
            };
            if next > now
                && let Some(queue) = voqs.iter().find(|queue| idle(queue))
            {
                let detail = format!("{} at {now}", self.ports[*queue]);
                return failure("a queue waits for a transmitter that is free", detail);
            }
        }
        Ok(())
    }

    /// Returns whether a packet that was taken out of a queue arrives at a port immediately.
    fn goes_on(&self, then: &[LogEntry<'_, '_>], taken: &Row<'_>, server: usize) -> bool {
        let Some(LogEntry::Row(row)) = then.first() else { return false };
        let same = (row.flow, row.ack, row.seq) == (taken.flow, taken.ack, taken.seq);
        let comes = matches!(row.event, "queued" | "dropped");
        same && comes && row.port == Some(server) && row.at == taken.at
    }

    /// Whether a port is out of service.
    fn is_down(&self, port: usize, at: u64) -> bool {
        self.run
            .failed
            .iter()
            .filter(|one| one.port == self.ports[port])
            .any(|one| one.at.as_ps() <= at && one.repair.is_none_or(|repair| repair.as_ps() > at))
    }
}
