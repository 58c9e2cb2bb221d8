//! Links that a schedule takes out of service: failures whose instants are known.

use std::collections::{BTreeMap, BTreeSet};

use optcp_units::Time;

use crate::plan::{DirectedLink, FailurePlan, SchedulePlan, Spread};
use crate::problem::Problems;
use crate::schema::LinkState;
use crate::tree::place;

use super::draft::Draft;
use super::network::Network;
use super::schedules::State;

/// Each is an action of the run.
const MOST: usize = 1_000_000;

/// When which directions of links go out of service, and come back.
#[derive(Default)]
pub(super) struct Outages {
    /// In the order of time; at one instant the last one in the file holds.
    changes: BTreeMap<DirectedLink, BTreeMap<Time, (LinkState, usize)>>,
    count: usize,
}

impl Outages {
    /// Adds what the schedule of an entry says of all its periods.
    pub(super) fn add(
        &mut self,
        schedule: &SchedulePlan,
        states: &[State],
        stop: Time,
        entry: usize,
    ) {
        let mut began = schedule.start;
        while began < stop && !states.is_empty() && self.count <= MOST {
            for &(hop, after, state) in states {
                self.count += 1;
                self.changes.entry(hop).or_default().insert(began + after, (state, entry));
            }
            let Some(period) = schedule.period else { break };
            began = began + period;
        }
    }

    /// Places the failures, those of `[[schedules]]` numbered behind the entries of `[[failures]]`.
    pub(super) fn place(
        self,
        behind: usize,
        plan: &mut Draft,
        network: &Network,
        problems: &mut Problems<'_>,
    ) {
        if self.count > MOST {
            problems
                .at(place!["schedules"], "links go out of service too often")
                .label(format!("at most {MOST} changes of `state` in a run"));
            return;
        }
        let mut of_ports: BTreeMap<(usize, Time, Option<Time>, usize), [bool; 2]> = BTreeMap::new();
        for ((link, direction), changes) in self.changes {
            let mut down: Option<(Time, usize)> = None;
            let mut over = |(at, entry): (Time, usize), repair| {
                of_ports.entry((link, at, repair, entry)).or_default()[direction] = true;
            };
            for (at, (state, entry)) in changes.into_iter().filter(|&(at, _)| at < plan.stop) {
                match (state, down) {
                    (LinkState::Down, None) => down = Some((at, entry)),
                    (LinkState::Up, Some(began)) => {
                        over(began, Some(at));
                        down = None;
                    }
                    _ => {}
                }
            }
            if let Some(began) = down {
                over(began, None);
            }
        }
        let failing: BTreeSet<usize> = plan.failures.iter().map(|failure| failure.link).collect();
        for ((link, at, repair, entry), directions) in of_ports {
            if failing.contains(&link) {
                let name = &network.links[link].name;
                problems
                    .at(
                        place!["schedules", entry],
                        format!("`{name}` fails, and has a `state` by schedule"),
                    )
                    .label("one of both");
                return;
            }
            plan.failures.push(FailurePlan {
                link,
                directions,
                kept: false,
                at,
                repair,
                later: Spread::ZERO,
                entry: behind + entry,
                process: None,
            });
        }
    }
}
