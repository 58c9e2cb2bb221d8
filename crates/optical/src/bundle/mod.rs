//! Lightpath bundles: parallel lightpaths between two nodes that are one link to whoever routes.
//!
//! # Models
//! A TE link of bundled component links (RFC 4201 section 2), one direction of it. For every packet the
//! node in front chooses one of the lightpaths; how is the [`Selection`].
//! # Source
//! RFC 4201; P. Pavon-Marino, J.-L. Izquierdo-Zaragoza, "TCP performance in an optical link applying
//! lightpath bundling and anycast switching techniques", section 2.
//! # Parameters
//! The lightpaths, and the selection.
//! # Limits
//! A lightpath is one port. When it fails the node goes on choosing it until it is told
//! ([`Bundle::take_out`]); what it sends there until then is lost. It sees no difference: the transmitter sends
//! into the dark at its rate ([`optcp_net::FailedLinkQueue`]).

mod anycast;
mod destination;
mod fewest_packets;
mod flow_hash;
mod round_robin;

use optcp_net::{Packet, PortId};
use optcp_units::{Time, registry};

/// What a selection may ask about the lightpaths.
pub trait Lightpaths {
    /// When a port will have sent everything that stands in its queue; in the past where it is idle, zero
    /// before the first packet and after the repair of a failure.
    fn busy_until(&self, port: PortId) -> Time;

    /// Packets that a port holds now, the one in transmission included.
    fn packets(&mut self, port: PortId) -> u64;
}

registry! {
    /// How the node in front of a bundle chooses a link for a packet.
    pub enum Selection ("selection") {
        "destination" => Destination in destination: "by the number of the node behind the bundle, modulo the links: static", "lbas paper, section 2";
        "anycast" => Anycast in anycast: "the link with the least unfinished work, of idle ones the one that has been idle longest", "lbas paper, section 1";
        "fewest-packets" => FewestPackets in fewest_packets: "the link whose queue has the fewest packets, whatever their sizes", "OpTCP";
        "flow-hash" => FlowHash in flow_hash: "by a hash of flow and direction", "RFC 2991; IEEE 802.1AX-2020";
        "round-robin" => RoundRobin in round_robin: "one link after the other, packet by packet", "OpTCP";
    }
    #[inline]
    fn place(candidates: &Candidates<'_>, paths: &mut impl Lightpaths) -> usize;
}

impl Selection {
    /// Whether it asks how many packets the ports of the links hold.
    #[must_use]
    pub const fn counts_packets(self) -> bool {
        matches!(self, Selection::FewestPackets)
    }

    /// Whether it goes by the number of the node behind the bundle.
    #[must_use]
    pub const fn numbers_destinations(self) -> bool {
        matches!(self, Selection::Destination)
    }
}

/// What a selection knows of the packet and of what it can choose from.
struct Candidates<'a> {
    /// The lightpaths in service, one at least.
    ports: &'a [PortId],
    /// The number of the subnetwork to which the packet goes, from zero.
    destination: u32,
    packet: Packet,
    /// How many packets have been sent into the bundle before.
    before: u64,
}

/// One direction of a bundle in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    selection: Selection,
    members: Vec<PortId>,
    in_service: Vec<PortId>,
    packets: u64,
}

impl Bundle {
    /// The lightpaths `members`, all in service.
    ///
    /// # Panics
    /// Without members.
    #[must_use]
    pub fn new(members: Vec<PortId>, selection: Selection) -> Self {
        assert!(!members.is_empty(), "a bundle has a lightpath at least");
        Bundle { selection, in_service: members.clone(), members, packets: 0 }
    }

    /// Its lightpaths.
    #[must_use]
    pub fn members(&self) -> &[PortId] {
        &self.members
    }

    /// How it chooses.
    #[must_use]
    pub fn selection(&self) -> Selection {
        self.selection
    }

    /// The lightpath for a packet to the subnetwork `destination`. Where none is in service it is one that
    /// is not.
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

    /// The lightpath that every packet to the subnetwork `destination` takes until one is taken out or put
    /// back, if it does not depend on anything else.
    #[must_use]
    pub fn fixed(&self, destination: u32) -> Option<PortId> {
        let ports = self.candidates();
        let place = modulo(ports, u64::from(destination));
        (self.selection == Selection::Destination).then(|| ports[place])
    }

    /// What is chosen from: the lightpaths in service; all where none is.
    #[inline]
    #[must_use]
    pub fn candidates(&self) -> &[PortId] {
        if self.in_service.is_empty() { &self.members } else { &self.in_service }
    }

    /// The node in front knows that a lightpath has failed: it is no longer chosen.
    pub fn take_out(&mut self, member: PortId) {
        self.in_service.retain(|&port| port != member);
    }

    /// The node in front knows that a lightpath works again.
    pub fn put_back(&mut self, member: PortId) {
        let serves = |port: &PortId| *port == member || self.in_service.contains(port);
        self.in_service = self.members.iter().copied().filter(serves).collect();
    }
}

/// The candidate with the least of something; the first of several.
#[inline]
fn least<K: Ord>(ports: &[PortId], mut of: impl FnMut(PortId) -> K) -> usize {
    let mut best = (of(ports[0]), 0);
    for (place, &port) in ports.iter().enumerate().skip(1) {
        let found = of(port);
        if found < best.0 {
            best = (found, place);
        }
    }
    best.1
}

/// The candidate of a number that counts on beyond them.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a place among the candidates")]
fn modulo(ports: &[PortId], number: u64) -> usize {
    (number % ports.len() as u64) as usize
}

#[cfg(test)]
mod tests;
