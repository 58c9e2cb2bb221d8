//! Resolves queue limits relative to the rate of their port.
//!
//! The delay of a bandwidth-delay product is the longest RTT without queueing among the flows that cross the port. If
//! no flow does, it is the longest of all.

use std::collections::BTreeMap;

use optcp_units::{Bytes, Duration};

use crate::plan::{BundlePlan, Carries, DirectedLink, QueueLimit, round_trip};
use crate::problem::Problems;
use crate::schema::Buffer;

use super::buffers::{FRAME, Relative, data};
use super::draft::Draft;
use super::network::Network;

/// Replaces the relative limits of all ports by bytes.
pub(super) fn resolve(plan: &Draft, network: &mut Network, problems: &mut Problems<'_>) {
    let mut longest = Duration::ZERO;
    let mut crossing: BTreeMap<DirectedLink, Duration> = BTreeMap::new();
    if network.relatives.values().any(|one| matches!(one.buffer, Buffer::Bdp(_))) {
        for flow in plan.flows.iter().filter(|flow| flow.carries == Carries::Flow) {
            let config = flow.tcp.map(|tcp| &plan.tcp[tcp].1);
            let rtt = round_trip(&network.links, config, &flow.hops);
            longest = longest.max(rtt);
            for (at, &hop) in flow.hops.iter().enumerate() {
                for port in ports(hop, flow.bundles.get(&at).map(|&one| &network.bundles[one])) {
                    let known = crossing.entry(port).or_default();
                    *known = rtt.max(*known);
                }
            }
        }
    }
    let segments = plan.tcp.iter().map(|(_, config)| config.mss + config.header);
    let least = segments.fold(FRAME, Bytes::max);
    for (port, Relative { buffer, place }) in &network.relatives {
        let link = &mut network.links[port.0];
        let rate = link.directions[port.1].rate;
        let (time, millionths) = match *buffer {
            // Reported already.
            buffer if buffer.is_nothing() => continue,
            Buffer::Limit(_) => continue,
            Buffer::Time(time) => (time, Buffer::MILLION),
            Buffer::Bdp(millionths) => (crossing.get(port).copied().unwrap_or(longest), millionths),
        };
        if time == Duration::ZERO && matches!(buffer, Buffer::Bdp(_)) {
            if problems.found.is_empty() {
                problems
                    .at(place, "no flow has a bandwidth-delay product")
                    .label("needs [[flows]], or a time such as `5 ms`");
            }
            return;
        }
        let bytes = data(rate, time, millionths);
        if bytes < least {
            let message = format!("the queue of `{}` would hold {bytes} at {rate}", link.name);
            problems.at(place, message).label(format!("at least a packet of {least}"));
            return;
        }
        link.directions[port.1].queue = QueueLimit::Bytes(bytes);
    }
}

/// Returns the ports that a flow may cross at a hop: all members of its bundle, if it has one.
fn ports(hop: DirectedLink, bundle: Option<&BundlePlan>) -> Vec<DirectedLink> {
    let Some(bundle) = bundle else { return vec![hop] };
    let flipped = !bundle.members.contains(&hop);
    bundle.members.iter().map(|&(link, way)| (link, way ^ usize::from(flipped))).collect()
}
