//! What ports and fibres have done by the ends of intervals.
//!
//! They count what they do in any case; a run that stops at the end of every interval and reads the
//! counts needs no record of single packets.

use optcp_engine::{Simulation, observe::Observer};
use optcp_net::{PortId, Tally};
use optcp_optical::switching::{FibreId, FibreTally};
use optcp_units::{Duration, Time};

use crate::build::{fibre_ids, port_id};
use crate::series::Values::{F64, U64};
use crate::series::{Column, Series, column, port_names};
use optcp_scenario::plan::{Hop, Observation, Plan};

/// The counts of one observation.
#[derive(Clone, Debug)]
struct Watched {
    /// The beginning of the first interval and the end of each, in order.
    boundaries: Vec<Time>,
    counted: Counted,
}

/// What has been read: at each boundary that the run has passed, the counts of each port or fibre.
#[derive(Clone, Debug)]
enum Counted {
    Ports(Vec<PortId>, Vec<Vec<Tally>>),
    /// Fibres, each with its wavelengths.
    Fibres(Vec<(FibreId, u32)>, Vec<Vec<FibreTally>>),
}

/// The counts of all observations of kinds `ports` and `fibres` of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies(Vec<Watched>);

impl Tallies {
    /// Nothing has been read yet.
    pub(crate) fn new(plan: &Plan) -> Self {
        let ids = fibre_ids(plan);
        let wavelengths = |&(link, _): &Hop| plan.links[link].wavelengths.unwrap_or(0);
        let watched = plan.observe.iter().filter_map(|entry| {
            let (counted, after, interval) = match &entry.kind {
                Observation::Ports { ports, after, interval } => {
                    let ports = ports.iter().map(|&hop| port_id(hop)).collect();
                    (Counted::Ports(ports, Vec::new()), *after, *interval)
                }
                Observation::Fibres { fibres, after, interval } => {
                    let fibres = fibres.iter().map(|hop| (ids[hop], wavelengths(hop))).collect();
                    (Counted::Fibres(fibres, Vec::new()), *after, *interval)
                }
                _ => return None,
            };
            Some(Watched { boundaries: boundaries(after, interval, plan.stop), counted })
        });
        Tallies(watched.collect())
    }

    /// The next instant at which counts are to be read, if the run has not passed all.
    pub(crate) fn next(&self) -> Option<Time> {
        self.0.iter().filter_map(Watched::next).min()
    }

    /// Reads what is to be read now.
    pub(crate) fn read<O: Observer>(&mut self, simulation: &Simulation<O>) {
        let now = simulation.now();
        for one in self.0.iter_mut().filter(|one| one.next().is_some_and(|at| at <= now)) {
            match &mut one.counted {
                Counted::Ports(ports, read) => read.push(simulation.port_tallies(ports)),
                Counted::Fibres(fibres, read) => {
                    let tally = |&(fibre, _): &(FibreId, u32)| simulation.fibre_tally(fibre);
                    read.push(fibres.iter().map(tally).collect());
                }
            }
        }
    }

    /// The observations of kinds `ports` and `fibres`, in the order of the plan.
    pub(crate) fn series(&self, plan: &Plan) -> Vec<Series> {
        let entries = plan.observe.iter().filter_map(|entry| {
            let (kind, hops, after, interval) = match &entry.kind {
                Observation::Ports { ports, after, interval } => ("ports", ports, after, interval),
                Observation::Fibres { fibres, after, interval } => {
                    ("fibres", fibres, after, interval)
                }
                _ => return None,
            };
            Some((&entry.name, kind, hops, *after, *interval))
        });
        let one = |((name, kind, hops, after, interval), watched): (_, &Watched)| {
            let (name, hops): (&String, &Vec<Hop>) = (name, hops);
            Series {
                name: name.clone(),
                kind,
                after,
                interval: Some(interval),
                stop: plan.stop,
                names: vec![(kind, port_names(plan, hops))],
                columns: watched.columns(),
            }
        };
        entries.zip(&self.0).map(one).collect()
    }
}

impl Watched {
    fn next(&self) -> Option<Time> {
        let read = match &self.counted {
            Counted::Ports(_, read) => read.len(),
            Counted::Fibres(_, read) => read.len(),
        };
        self.boundaries.get(read).copied()
    }

    fn columns(&self) -> Vec<Column> {
        match &self.counted {
            Counted::Ports(ports, read) => {
                let numbers = |of: fn(&Tally) -> u64| {
                    U64(self.rows(ports.len(), read, |_, _, before, after| of(after) - of(before)))
                };
                vec![
                    column("packets", numbers(|tally| tally.packets)),
                    column("bytes", numbers(|tally| tally.bytes)),
                    column("dropped", numbers(|tally| tally.dropped)),
                    column("dropped_bytes", numbers(|tally| tally.dropped_bytes)),
                    column("mean_bytes", F64(self.rows(ports.len(), read, mean_bytes))),
                    column(
                        "longest_ps",
                        U64(self.rows(ports.len(), read, |_, _, _, after| after.longest)),
                    ),
                ]
            }
            Counted::Fibres(fibres, read) => {
                let numbers = |of: fn(&FibreTally) -> u64| {
                    U64(self.rows(fibres.len(), read, |_, _, before, after| of(after) - of(before)))
                };
                let utilisation = |fibre: usize, length, before: &_, after: &_| {
                    utilisation(fibres[fibre].1, length, before, after)
                };
                vec![
                    column("bursts", numbers(|tally| tally.bursts)),
                    column("bytes", numbers(|tally| tally.bytes)),
                    column("lost", numbers(|tally| tally.lost)),
                    column("lost_bytes", numbers(|tally| tally.lost_bytes)),
                    column("utilisation", F64(self.rows(fibres.len(), read, utilisation))),
                ]
            }
        }
    }

    /// One value for each port or fibre and interval, one after the other: `of` the place, the length of the
    /// interval, and the counts before and after it.
    fn rows<C, T>(
        &self,
        places: usize,
        read: &[Vec<C>],
        of: impl Fn(usize, Duration, &C, &C) -> T,
    ) -> Vec<T> {
        let mut values = Vec::new();
        for place in 0..places {
            for (times, read) in self.boundaries.windows(2).zip(read.windows(2)) {
                let length = times[1].saturating_since(times[0]);
                values.push(of(place, length, &read[0][place], &read[1][place]));
            }
        }
        values
    }
}

/// The mean queue of an interval.
#[expect(clippy::cast_precision_loss, reason = "a mean of very many bytes and picoseconds")]
fn mean_bytes(_: usize, length: Duration, before: &Tally, after: &Tally) -> f64 {
    (after.byte_time - before.byte_time) as f64 / length.as_ps() as f64
}

/// The share of the wavelengths of a fibre that was reserved in an interval.
#[expect(clippy::cast_precision_loss, reason = "a share of very many picoseconds")]
fn utilisation(wavelengths: u32, length: Duration, before: &FibreTally, after: &FibreTally) -> f64 {
    (after.busy_ps - before.busy_ps) as f64 / (length.as_ps() as f64 * f64::from(wavelengths))
}

/// The ports that are to be counted, each once.
pub(crate) fn tallied(plan: &Plan) -> Vec<PortId> {
    let ports = plan.observe.iter().filter_map(|entry| match &entry.kind {
        Observation::Ports { ports, .. } => Some(ports),
        _ => None,
    });
    let mut ports: Vec<PortId> = ports.flatten().map(|&hop| port_id(hop)).collect();
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
