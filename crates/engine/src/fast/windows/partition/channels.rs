//! Channels between vertices: where packets wait for their next event.
//!
//! # Model
//! A channel leads from a port to the vertex at which its packets wait behind the link. This is the next port, unless
//! they enter it early, or their endpoint. Logical processes affect each other only over channels.
//!
//! # References
//! Chandy and Misra 1979: processes that send messages with time stamps over channels.

use optcp_net::PortId;

use super::paths::Path;
use super::view::NetworkView;
use crate::fast::forwarding::Ahead;

/// Channel from a port to a vertex.
pub(super) type Channel = (usize, usize);

/// Returns the channels of a run whose packets follow `paths`.
pub(super) fn channels<'a>(
    view: &NetworkView<'_>,
    paths: impl Iterator<Item = &'a Path>,
) -> Vec<Channel> {
    let mut channels = between_ports(view);
    channels.extend(paths.flat_map(to_end));
    channels.extend(from_stepped_ports(view));
    channels.sort_unstable();
    channels.dedup();
    channels
}

/// Returns the channels from ports to ports that packets do not enter early.
fn between_ports(view: &NetworkView<'_>) -> Vec<Channel> {
    let mut channels = Vec::new();
    let waits = |label| view.forwarding.at(label).ahead() != Ahead::Go;
    for label in view.reached_labels().filter(|&label| waits(label)) {
        let (ports, next) = view.next_ports(label);
        if ports.is_empty() {
            continue;
        }
        for label in view.ecmp_labels(next) {
            let Some(&to) = view.next_ports(label).0.first() else { continue };
            channels.extend(ports.iter().map(|&from| (from, to)));
        }
    }
    channels
}

/// Returns the channels from the last ports of a path to an endpoint that does not take packets early.
fn to_end(path: &Path) -> impl Iterator<Item = Channel> {
    let last = path.hops.last().into_iter().flatten();
    last.filter_map(|&port| Some((port, path.late_end?)))
}

/// Returns the channels of packets in stepped ports, whose labels may no longer be in use.
fn from_stepped_ports(view: &NetworkView<'_>) -> impl Iterator<Item = Channel> {
    let channel = |(id, packet)| Some((PortId::index(id), view.vertex_of(packet)?));
    view.packets_in_stepped_ports().filter_map(channel)
}
