//! Scheduled link outages: failures at known times.

use std::collections::{BTreeMap, BTreeSet};

use optcp_units::Time;

use crate::plan::{DirectedLink, FailurePlan, SchedulePlan, Spread};
use crate::problem::Problems;
use crate::schema::LinkState;
use crate::tree::place;

use super::draft::Draft;
use super::network::Network;
use super::schedules::State;

/// Maximum number of state changes; each is an action of the run.
const MOST: usize = 1_000_000;

/// State changes of link directions.
#[derive(Default)]
pub(super) struct Outages {
    /// Changes in order of time; at equal times the last one in the file counts.
    changes: BTreeMap<DirectedLink, BTreeMap<Time, (LinkState, usize)>>,
    count: usize,
}

impl Outages {
    /// Adds the state changes of an entry for all periods.
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

    /// Adds the failures. Entries of `[[failures]]` are numbered first, then entries of
    /// `[[schedules]]`.
    pub(super) fn place(
        self,
        behind: usize,
        plan: &mut Draft,
        network: &Network,
        problems: &mut Problems<'_>,
    ) {
        if self.count > MOST {
            problems
                .at(place!["schedules"], "too many state changes of links")
                .label(format!("at most {MOST} changes of `state` per run"));
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
                        format!("`{name}` has both failures and a scheduled `state`"),
                    )
                    .label("remove one of them");
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
                of_fibre: false,
            });
        }
    }
}
