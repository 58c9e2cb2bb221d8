//! Paths of packets through the network, port by port.

use optcp_des::Due;
use optcp_net::{FlowId, Label, Packet};

use super::view::NetworkView;

/// Path of a flow's packets in one direction, under the current labels.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) flow: usize,
    /// Whether the path leads to the receiver or sink.
    pub(super) to_receiver: bool,
    /// Candidate ports of each hop: several at a bundle, otherwise one.
    pub(super) hops: Vec<Vec<usize>>,
    /// Endpoint at which packets wait for their event after the last port, if they do.
    pub(super) late_end: Option<usize>,
}

/// Returns the data and ACK paths of all flows and sources.
pub(super) fn flow_paths(view: &NetworkView<'_>) -> Vec<Path> {
    let path = |(flow, receives)| {
        let label = view.first_label(flow, receives)?;
        Some(path(view, label, flow, !receives))
    };
    view.ends().filter_map(path).collect()
}

/// Returns the paths of packets in flight whose labels may no longer be in use.
pub(super) fn stray_paths(view: &NetworkView<'_>, pending: &[Due<Packet>]) -> Vec<Path> {
    let waiting = pending.iter().map(|due| due.item);
    let in_ports = view.packets_in_stepped_ports().map(|(_, packet)| packet);
    let mut strays: Vec<(u32, u32, bool)> = (waiting.chain(in_ports))
        .filter(|&packet| !view.forwarding.delivers(packet))
        .map(|packet| (packet.label.0, packet.flow().number(), !packet.is_ack()))
        .collect();
    strays.sort_unstable();
    strays.dedup();
    let path = |(label, flow, to_receiver)| path(view, Label(label), flow as usize, to_receiver);
    strays.into_iter().map(path).collect()
}

/// Returns the path of a flow's packets from a label on.
fn path(view: &NetworkView<'_>, label: Label, flow: usize, to_receiver: bool) -> Path {
    let key = view.labels.key(FlowId::at(flow), !to_receiver);
    let mut path = Path { flow, to_receiver, hops: Vec::new(), late_end: None };
    let mut label = view.ecmp_label(label, key);
    // The number of labels bounds the length of a loop.
    for _ in 0..view.labels.len() {
        let (ports, next) = view.next_ports(label);
        if ports.is_empty() {
            break;
        }
        label = view.ecmp_label(next, key);
        path.hops.push(ports);
    }
    if !path.hops.is_empty()
        && view.delivers(label)
        && !view.forwarding.delivers_to(flow, to_receiver)
    {
        path.late_end = Some(view.vertices.end(flow, to_receiver));
    }
    path
}
