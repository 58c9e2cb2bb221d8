//! What ports have done by the ends of intervals.
//!
//! Ports count what they do in any case; a run that stops at the end of every interval and reads the
//! counts needs no record of single packets.

use optcp_engine::{Simulation, observe::Observer};
use optcp_net::{PortId, Tally};
use optcp_units::{Duration, Time};

use crate::build::port_id;
use crate::plan::{Hop, Observation, Plan};
use crate::series::{Series, column, port_names};

/// The counts of the ports of one observation.
#[derive(Clone, Debug)]
struct Watched {
    ports: Vec<PortId>,
    /// The beginning of the first interval and the end of each, in order.
    boundaries: Vec<Time>,
    /// At each boundary that the run has passed, the counts of each port.
    read: Vec<Vec<Tally>>,
}

/// The counts of all observations of kind `ports` of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies(Vec<Watched>);

impl Tallies {
    /// Nothing has been read yet.
    pub(crate) fn new(plan: &Plan) -> Self {
        let watched = |(ports, after, interval): (&[Hop], Duration, Duration)| Watched {
            ports: ports.iter().map(|&hop| port_id(hop)).collect(),
            boundaries: boundaries(after, interval, plan.stop),
            read: Vec::new(),
        };
        Tallies(observed(plan).map(watched).collect())
    }

    /// The next instant at which counts are to be read, if the run has not passed all.
    pub(crate) fn next(&self) -> Option<Time> {
        let next = |one: &Watched| one.boundaries.get(one.read.len()).copied();
        self.0.iter().filter_map(next).min()
    }

    /// Reads what is to be read now.
    pub(crate) fn read<O: Observer>(&mut self, simulation: &Simulation<O>) {
        let now = simulation.now();
        for one in &mut self.0 {
            if one.boundaries.get(one.read.len()).is_some_and(|&at| at <= now) {
                one.read.push(simulation.port_tallies(&one.ports));
            }
        }
    }

    /// The observations of kind `ports`, in the order of the plan.
    pub(crate) fn series(&self, plan: &Plan) -> Vec<Series> {
        let entries = plan.observe.iter().filter_map(|entry| match &entry.kind {
            Observation::Ports { ports, after, interval } => {
                Some((&entry.name, ports, *after, *interval))
            }
            _ => None,
        });
        let one =
            |((name, ports, after, interval), watched): ((&String, &Vec<Hop>, _, _), &Watched)| {
                Series {
                    name: name.clone(),
                    kind: "ports",
                    after,
                    interval: Some(interval),
                    stop: plan.stop,
                    names: vec![("ports", port_names(plan, ports))],
                    columns: watched.columns(),
                }
            };
        entries.zip(&self.0).map(one).collect()
    }
}

impl Watched {
    fn columns(&self) -> Vec<crate::series::Column> {
        use crate::series::Values::{F64, U64};
        let numbers =
            |of: fn(&Tally) -> u64| U64(self.rows(|_, before, after| of(after) - of(before)));
        vec![
            column("packets", numbers(|tally| tally.packets)),
            column("bytes", numbers(|tally| tally.bytes)),
            column("dropped", numbers(|tally| tally.dropped)),
            column("dropped_bytes", numbers(|tally| tally.dropped_bytes)),
            column("mean_bytes", F64(self.rows(mean_bytes))),
            column("longest_ps", U64(self.rows(|_, _, after| after.longest))),
        ]
    }

    /// One value for each port and interval, port after port.
    fn rows<T>(&self, of: impl Fn(Duration, &Tally, &Tally) -> T) -> Vec<T> {
        let mut values = Vec::new();
        for port in 0..self.ports.len() {
            for (times, read) in self.boundaries.windows(2).zip(self.read.windows(2)) {
                let length = times[1].saturating_since(times[0]);
                values.push(of(length, &read[0][port], &read[1][port]));
            }
        }
        values
    }
}

/// The mean queue of an interval.
#[expect(clippy::cast_precision_loss, reason = "a mean of very many bytes and picoseconds")]
fn mean_bytes(length: Duration, before: &Tally, after: &Tally) -> f64 {
    (after.byte_time - before.byte_time) as f64 / length.as_ps() as f64
}

fn observed(plan: &Plan) -> impl Iterator<Item = (&[Hop], Duration, Duration)> {
    plan.observe.iter().filter_map(|entry| match &entry.kind {
        Observation::Ports { ports, after, interval } => Some((&ports[..], *after, *interval)),
        _ => None,
    })
}

/// The ports that are to be counted, each once.
pub(crate) fn tallied(plan: &Plan) -> Vec<PortId> {
    let mut ports: Vec<PortId> =
        observed(plan).flat_map(|(ports, _, _)| ports.iter().map(|&hop| port_id(hop))).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// The beginning of the first interval and the end of each; the run cuts the last one.
fn boundaries(after: Duration, interval: Duration, stop: Time) -> Vec<Time> {
    let mut boundaries = vec![Time::ZERO + after];
    while let Some(&last) = boundaries.last().filter(|&&last| last < stop) {
        boundaries.push((last + interval).min(stop));
    }
    boundaries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn intervals_follow_the_warm_up_and_the_run_cuts_the_last() {
        let cut = |after, interval, stop| {
            boundaries(Duration::from_secs(after), Duration::from_secs(interval), s(stop))
        };
        // 540 s in twenty parts of 27 s.
        assert_eq!(cut(60, 27, 600).len(), 21);
        assert_eq!(cut(60, 27, 600)[20], s(600));
        assert_eq!(cut(1, 4, 10), [s(1), s(5), s(9), s(10)]);
    }
}
