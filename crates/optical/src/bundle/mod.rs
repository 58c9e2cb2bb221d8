//! Lightpath bundles: parallel lightpaths between two nodes that routing uses as one link.
//!
//! # Model
//! One direction of a TE link of bundled component links (RFC 4201 section 2). The node in front of it selects a
//! lightpath for every packet by a [`Selection`].
//!
//! # References
//! RFC 4201; P. Pavon-Marino, J.-L. Izquierdo-Zaragoza, "TCP performance in an optical link applying lightpath bundling
//! and anycast switching techniques", section 2.
//!
//! # Limitations
//! A lightpath is one port. After its failure the node keeps selecting it until [`Bundle::take_out`]; packets sent
//! there until then are lost. The node cannot distinguish the failed lightpath, because its transmitter keeps serving
//! the queue ([`optcp_net::FailedLinkQueue`]).

mod anycast;
mod destination;
mod fewest_packets;
mod flow_hash;
mod round_robin;

use optcp_net::{Packet, PortId};
use optcp_units::{Time, registry};

/// State of the lightpaths that a selection may use.
pub trait Lightpaths {
    /// Returns the time at which a port's queue will be empty. The time is in the past for an idle port; it is zero
    /// before the first packet and after a repair.
    fn busy_until(&self, port: PortId) -> Time;

    /// Returns the number of packets in a port now, including the one in transmission.
    fn packets(&mut self, port: PortId) -> u64;
}

registry! {
    /// Method by which the node in front of a bundle selects a link for a packet.
    pub enum Selection ("selection") {
        "destination" => Destination in destination: "by the number of the node behind the bundle, modulo the links: static", "lbas paper, section 2";
        "anycast" => Anycast in anycast: "the link with the least unfinished work; of idle links the one that has been idle longest", "lbas paper, section 1";
        "fewest-packets" => FewestPackets in fewest_packets: "the link whose queue has the fewest packets, regardless of their sizes", "OpTCP";
        "flow-hash" => FlowHash in flow_hash: "by a hash of flow and direction", "RFC 2991; IEEE 802.1AX-2020";
        "round-robin" => RoundRobin in round_robin: "one link after the other, packet by packet", "OpTCP";
    }
    #[inline]
    fn place(candidates: &Candidates<'_>, paths: &mut impl Lightpaths) -> usize;
}

impl Selection {
    /// Returns whether the selection needs the number of packets in the ports.
    #[must_use]
    pub const fn counts_packets(self) -> bool {
        matches!(self, Selection::FewestPackets)
    }

    /// Returns whether the selection depends on the number of the node behind the bundle.
    #[must_use]
    pub const fn numbers_destinations(self) -> bool {
        matches!(self, Selection::Destination)
    }
}

/// Input of a selection.
struct Candidates<'a> {
    /// Lightpaths in service, at least one.
    ports: &'a [PortId],
    /// Zero-based number of the destination subnetwork.
    destination: u32,
    packet: Packet,
    /// Number of packets sent into the bundle before.
    before: u64,
}

/// State of one direction of a bundle in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    selection: Selection,
    members: Vec<PortId>,
    in_service: Vec<PortId>,
    packets: u64,
}

impl Bundle {
    /// Creates a bundle of the lightpaths `members`, all in service.
    ///
    /// # Panics
    /// Panics without members.
    #[must_use]
    pub fn new(members: Vec<PortId>, selection: Selection) -> Self {
        assert!(!members.is_empty(), "a bundle has at least one lightpath");
        Bundle { selection, in_service: members.clone(), members, packets: 0 }
    }

    /// Returns the lightpaths.
    #[must_use]
    pub fn members(&self) -> &[PortId] {
        &self.members
    }

    /// Returns the selection method.
    #[must_use]
    pub fn selection(&self) -> Selection {
        self.selection
    }

    /// Selects the lightpath for a packet to the subnetwork `destination`. If none is in service, selects a failed one.
    #[inline]
    pub fn choose(
        &mut self,
        destination: u32,
        packet: Packet,
        paths: &mut impl Lightpaths,
    ) -> PortId {
        let ports = self.candidates();
        let candidates = Candidates { ports, destination, packet, before: self.packets };
        let chosen = ports[self.selection.place(&candidates, paths)];
        self.packets += 1;
        chosen
    }

    /// Returns the lightpath of all packets to the subnetwork `destination` until the set changes, if it depends on
    /// nothing else.
    #[must_use]
    pub fn fixed(&self, destination: u32) -> Option<PortId> {
        let ports = self.candidates();
        let place = modulo(ports, u64::from(destination));
        (self.selection == Selection::Destination).then(|| ports[place])
    }

    /// Returns the lightpaths in service, or all of them if none is.
    #[inline]
    #[must_use]
    pub fn candidates(&self) -> &[PortId] {
        if self.in_service.is_empty() { &self.members } else { &self.in_service }
    }

    /// Excludes a lightpath after the node in front has detected its failure.
    pub fn take_out(&mut self, member: PortId) {
        self.in_service.retain(|&port| port != member);
    }

    /// Includes a lightpath after the node in front has detected its repair.
    pub fn put_back(&mut self, member: PortId) {
        let serves = |port: &PortId| *port == member || self.in_service.contains(port);
        self.in_service = self.members.iter().copied().filter(serves).collect();
    }
}

/// Returns the index of the candidate with the minimum value, the first of several.
#[inline]
fn minimum_by<K: Ord>(ports: &[PortId], mut value: impl FnMut(PortId) -> K) -> usize {
    let mut best = (value(ports[0]), 0);
    for (place, &port) in ports.iter().enumerate().skip(1) {
        let current = value(port);
        if current < best.0 {
            best = (current, place);
        }
    }
    best.1
}

/// Returns the index `number` modulo the number of candidates.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a place among the candidates")]
fn modulo(ports: &[PortId], number: u64) -> usize {
    (number % ports.len() as u64) as usize
}

#[cfg(test)]
mod tests;
