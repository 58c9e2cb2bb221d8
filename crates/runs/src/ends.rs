//! Starts and ends of the flows of finite size and of the operations of a run, whether observed or not.
//!
//! They are taken from the final state of the run, so they cost nothing while it is simulated. The result keeps one
//! entry per flow for the metrics, and names for the slowest flows only.

use std::cmp::Reverse;

use optcp_engine::observe::Observer;
use optcp_engine::{Simulation, Transfer};
use optcp_scenario::Plan;
use optcp_units::Time;

use crate::build::World;

/// Maximum number of slowest flows in the result of a run.
pub const SLOWEST: usize = 10;

/// Flow of finite size, or operation of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lasted {
    /// Group, as an index.
    pub group: usize,
    /// Start time.
    pub start: Time,
    /// End time; for an incomplete flow, the time at which its sender gave up, or the end of the run.
    pub end: Time,
    /// Whether it is complete.
    pub is_finished: bool,
    /// Whether the sender gave up.
    pub is_aborted: bool,
}

/// One of the slowest flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowFlow {
    /// Flow.
    pub flow: String,
    /// Group.
    pub group: String,
    /// Source.
    pub from: String,
    /// Destination.
    pub to: String,
    /// Flow size in bytes of full segments.
    pub bytes: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// RTOs with outstanding data.
    pub timeouts: u64,
    /// Times.
    pub lasted: Lasted,
}

/// Ends of flows and operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Flows of finite size that have started, by number. Flows whose packets come from outside follow; only these are
    /// never among the slowest, because the state of their senders is unknown.
    pub flows: Vec<Lasted>,
    /// Operations that have begun, by number.
    pub operations: Vec<Lasted>,
    /// At most [`SLOWEST`] flows: first those whose sender gave up, then other unfinished ones, then the others by
    /// completion time, longest first.
    pub slowest: Vec<SlowFlow>,
}

/// Returns the ends of a finished run. `plan` contains its flows by number.
pub(crate) fn ends<O: Observer>(plan: &Plan, world: &World, simulation: &Simulation<O>) -> Ends {
    let mut transfers: Vec<Transfer> = simulation.transfers(&world.blueprint).collect();
    let external = world.external.iter().filter_map(|flow| {
        let (bytes, last) = simulation.external_progress(flow.sources[0]);
        let is_finished = bytes >= flow.size?.count();
        Some(Lasted {
            group: plan.groups.iter().position(|group| *group == flow.group)?,
            start: flow.start,
            end: if is_finished { last } else { simulation.now() },
            is_finished,
            is_aborted: false,
        })
    });
    let flows = transfers.iter().map(|one| lasted(plan, one)).chain(external).collect();
    let groups = &world.blueprint.applications.groups;
    let operations = simulation.operations().map(|one| Lasted {
        group: groups[one.session as usize] as usize,
        start: one.start,
        end: one.end,
        is_finished: one.is_finished,
        is_aborted: false,
    });
    let operations = operations.collect();
    let rank = |one: &Transfer| {
        let longest_first = Reverse(one.end.saturating_since(one.start));
        (!one.is_aborted, one.is_finished, longest_first, one.flow)
    };
    if transfers.len() > SLOWEST {
        transfers.select_nth_unstable_by_key(SLOWEST, rank);
        transfers.truncate(SLOWEST);
    }
    transfers.sort_unstable_by_key(rank);
    let slowest = transfers.iter().map(|one| slow_flow(plan, one)).collect();
    Ends { flows, operations, slowest }
}

fn lasted(plan: &Plan, one: &Transfer) -> Lasted {
    let number = one.flow.index();
    let group = match plan.flows.get(number) {
        Some(flow) => flow.group,
        None => plan.connections[number - plan.flows.len()].group,
    };
    let Transfer { start, end, is_finished, is_aborted, .. } = *one;
    Lasted { group, start, end, is_finished, is_aborted }
}

fn slow_flow(plan: &Plan, one: &Transfer) -> SlowFlow {
    let number = one.flow.index();
    let (name, flow) = match plan.flows.get(number) {
        Some(flow) => (&flow.name, flow),
        None => {
            let connection = &plan.connections[number - plan.flows.len()];
            (&connection.name, &plan.flows[connection.subflows.start])
        }
    };
    let lasted = lasted(plan, one);
    let node = |node: Option<&usize>| node.map_or(String::new(), |&node| plan.nodes[node].clone());
    SlowFlow {
        flow: name.clone(),
        group: plan.groups[lasted.group].clone(),
        from: node(flow.path.first()),
        to: node(flow.path.last()),
        bytes: one.bytes,
        retransmissions: one.retransmissions,
        timeouts: one.timeouts,
        lasted,
    }
}
