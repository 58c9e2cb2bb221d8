//! Queue limits relative to the rate of their port: a time, or a multiple of the bandwidth-delay product (BDP).
//!
//! The delay of the BDP is the longest RTT without queueing among the flows that cross the port, or among all flows if
//! none does.

use std::collections::BTreeMap;

use optcp_units::{Bytes, Duration, Rate};

use crate::plan::{BundlePlan, Carries, DirectedLink, QueueLimit, round_trip};
use crate::problem::Problems;
use crate::schema::{Buffer, QueueEntry};
use crate::tree::Step;

use super::draft::Draft;
use super::network::Network;

const BITS_A_BYTE_IN_PS: u128 = 8_000_000_000_000;

/// Payload of an Ethernet frame.
const FRAME: Bytes = Bytes::new(1500);

/// Relative limit of a port, and its place in the file.
#[derive(Clone, Debug)]
pub(super) struct Relative {
    buffer: Buffer,
    place: Vec<Step<'static>>,
}

/// Relative limits by port.
pub(super) type Relatives = BTreeMap<DirectedLink, Relative>;

/// Returns the limit of a queue; unlimited until [`resolve`] if it is relative.
pub(super) fn limit(queue: &QueueEntry) -> QueueLimit {
    match queue.limit {
        Buffer::Limit(limit) => limit,
        Buffer::Time(_) | Buffer::Bdp(_) => QueueLimit::Unlimited,
    }
}

/// Notes the limit of a queue for [`resolve`] if it is relative.
pub(super) fn note(
    queue: &QueueEntry,
    port: DirectedLink,
    place: &[Step<'static>],
    relatives: &mut Relatives,
) {
    if !matches!(queue.limit, Buffer::Limit(_)) {
        relatives.insert(port, Relative { buffer: queue.limit, place: place.to_vec() });
    }
}

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

/// Returns the limit of a circuit with its own rate in place of a port.
pub(super) fn scaled(limit: QueueLimit, from: Rate, to: Rate) -> QueueLimit {
    match limit {
        QueueLimit::Bytes(bytes) => {
            let scaled = u128::from(bytes.count()) * u128::from(to.bps()) / u128::from(from.bps());
            QueueLimit::Bytes(Bytes::new(u64::try_from(scaled).unwrap_or(u64::MAX)).max(FRAME))
        }
        other => other,
    }
}

/// Returns the data that a link sends in a multiple of a time.
fn data(rate: Rate, time: Duration, millionths: u64) -> Bytes {
    let sent = u128::from(rate.bps()) * u128::from(time.as_ps()) / BITS_A_BYTE_IN_PS;
    let bytes = sent.saturating_mul(millionths.into()) / u128::from(Buffer::MILLION);
    Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
}
