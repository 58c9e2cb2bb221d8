//! Switches with queues at their inputs.

use optcp_net::{Crossbar, CrossbarConfig};

use optcp_scenario::plan::{DirectedLink, Plan, SwitchPlan};

use super::places::port_id;

/// Returns the switches of a run.
pub(super) fn crossbars(plan: &Plan) -> Vec<Crossbar> {
    plan.switches.iter().map(|switch| crossbar(plan, switch)).collect()
}

fn crossbar(plan: &Plan, switch: &SwitchPlan) -> Crossbar {
    let ports = |end: usize| {
        let of_link = |(link, ends): (usize, [usize; 2])| {
            [0, 1]
                .into_iter()
                .filter(move |&way| ends[way ^ end] == switch.node)
                .map(move |way| (link, way))
        };
        let links = plan.links.iter().map(|link| link.ends).enumerate();
        links.flat_map(of_link).map(|hop: DirectedLink| port_id(hop)).collect()
    };
    Crossbar::new(CrossbarConfig {
        inputs: ports(1),
        outputs: ports(0),
        fifo: switch.fifo,
        iterations: switch.iterations,
        cell: switch.cell.count(),
        slot: switch.crossbar.transmission_time(switch.cell),
        limit: switch.queue.into(),
    })
}
