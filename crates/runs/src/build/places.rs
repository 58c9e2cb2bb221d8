//! Shared functions of the builders: numbers of ports and paths, random draws, and outages of links.

use optcp_des::Streams;
use optcp_net::{PathId, PortConfig, PortId};
use optcp_optical::protection::Outage;
use optcp_scenario::plan::{DirectedLink, FailurePlan, FlowPlan, Plan, Spread};
use optcp_units::Duration;

/// Returns the number of a port: both directions of a link are adjacent.
pub(crate) fn port_id((link, direction): DirectedLink) -> PortId {
    PortId::at(2 * link + direction)
}

/// Returns the propagation delay of a port.
pub(super) fn delay_of(ports: &[PortConfig], hop: DirectedLink) -> Duration {
    ports[port_id(hop).index()].delay
}

/// Draws a value from the stream with this name, which is only evaluated if the value is random.
pub(super) fn draw(spread: &Spread, streams: Streams, name: impl Fn() -> String) -> Duration {
    match spread {
        Spread::Fixed(value) => *value,
        spread => spread.draw(&mut streams.stream(&name())),
    }
}

/// Returns the two paths of a flow, data and ACKs: its group's, or separate ones if it is switched
/// separately.
pub(super) fn path_ids(plan: &Plan, flow: &FlowPlan) -> [PathId; 2] {
    let number = flow.lsp.map_or(flow.group, |lsp| plan.groups.len() + lsp);
    let data = 2 * PathId::try_from(number).expect("a plan has fewer than 2^31 groups and flows");
    [data, data + 1]
}

/// Returns the outages of a port, in order.
pub(super) fn outages(plan: &Plan, hop: DirectedLink) -> Vec<Outage> {
    let of_hop = plan.failures.iter().filter(|failure| fails(plan, failure, hop));
    united(of_hop.map(|one| Outage { failure: one.at, repair: one.repair }).collect())
}

/// Returns whether a failure affects a port: a failure of its link, or of a link that its circuit uses.
pub(super) fn fails(plan: &Plan, failure: &FailurePlan, (link, direction): DirectedLink) -> bool {
    let hit = |(under, way): DirectedLink| under == failure.link && failure.directions[way];
    let over = &plan.links[link].over;
    hit((link, direction)) || over.iter().any(|&hop| hit(hop))
}

/// Merges overlapping outages, in order.
pub(super) fn united(mut outages: Vec<Outage>) -> Vec<Outage> {
    outages.sort_by_key(|outage| outage.failure);
    outages.dedup_by(|next, last| {
        let together = last.repair.is_none_or(|repair| next.failure <= repair);
        if together {
            last.repair = last.repair.zip(next.repair).map(|(a, b)| a.max(b));
        }
        together
    });
    outages
}
