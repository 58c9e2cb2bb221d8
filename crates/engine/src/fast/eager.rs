//! Eager forwarding: finds the packets that may enter the next port, or reach their endpoint, ahead of time.
//!
//! # Model
//! Invariant: until forwarding is recomputed, only one *feeder* (a link or an endpoint) sends packets to a port that is
//! entered ahead of time. All packets of the feeder enter early, in the order of their arrival. Each packet therefore
//! finds the port in the state of its arrival time. An endpoint receives packets early if exactly one link delivers
//! them in order and no other traffic enters the endpoint's output port.
//!
//! [`FeederAnalysis`] finds the feeders of all ports by following the current labels, and the labels of packets in
//! flight, through the network. The following count as several feeders, so that packets wait for their event:
//!
//! - A stepped port: earlier departures must be executed first, and departure times are unknown. Packets behind it also
//!   wait, as if they overtook each other on its link.
//! - A link on which packets overtake each other.
//! - Labels that always wait (selectors, bridges, bundles): later packets that enter the same port early would overtake
//!   their packets.
//! - ECMP labels with a next hop that waits, for the same reason ([`FeederAnalysis::defer_ecmp_labels`]).
//!
//! # References
//! `docs/developers/performance.md` has figures and the faults that tests detect.
//!
//! # Limitations
//! Feeders are counted for the whole stretch up to the next control action, including flows that have ended.

use optcp_des::Due;
use optcp_net::{BundleHop, Hop, Label, LabelTable, Packet, PortId};
use optcp_optical::bundle::Bundle;
use optcp_units::Time;

use super::forwarding::{Ahead, Entry, Forwarding};
use crate::datagrams::Datagrams;
use crate::flow::{ReceivingEnd, SendingEnd};
use crate::model::Model;

/// Feeder of a port, a label or an endpoint. Links have the number of their port; endpoints are numbered after the
/// ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Feeder {
    #[default]
    None,
    One(u32),
    Many,
}

impl Feeder {
    fn add(&mut self, feeder: u32) {
        *self = match *self {
            Feeder::None => Feeder::One(feeder),
            Feeder::One(other) if other == feeder => Feeder::One(feeder),
            _ => Feeder::Many,
        };
    }

    fn merge(&mut self, other: Feeder) {
        match other {
            Feeder::None => {}
            Feeder::One(feeder) => self.add(feeder),
            Feeder::Many => *self = Feeder::Many,
        }
    }
}

/// Feeder of ports behind selectors and bridges, and of bundle members.
pub(super) const SPECIAL: u32 = u32::MAX;

/// Feeders of ports and endpoints, and the labels in use.
#[derive(Clone, Debug)]
pub(super) struct Feeders {
    pub(super) by_port: Vec<Feeder>,
    /// Links that deliver the data and the ACKs of each flow or source.
    pub(super) delivered: Vec<[Feeder; 2]>,
    /// Whether packets can carry a label, by label.
    pub(super) reached: Vec<bool>,
}

/// Analysis that finds the feeders and derives eager forwarding from them.
pub(super) struct FeederAnalysis<'a> {
    labels: &'a LabelTable,
    bundles: &'a [Bundle],
    senders: &'a [SendingEnd],
    receivers: &'a [ReceivingEnd],
    sources: &'a [Datagrams],
    ports: u32,
    /// Whether packets may overtake each other behind a port and must wait there, by port.
    overtaken: Vec<bool>,
    /// Feeders of each label.
    label_feeders: Vec<Feeder>,
    port_feeders: Vec<Feeder>,
    /// Links that deliver the packets of each label.
    last: Vec<Option<Feeder>>,
    eager: Vec<bool>,
}

impl<'a> FeederAnalysis<'a> {
    /// Creates an analysis. Packets enter the ports `in_turn` at their arrival time only, and may overtake each other
    /// behind the ports `disordered`.
    pub(super) fn new<O>(
        model: &'a Model<O>,
        ports: usize,
        in_turn: impl IntoIterator<Item = PortId>,
        disordered: impl IntoIterator<Item = PortId>,
    ) -> Self {
        let Model { labels, bundles, senders, receivers, datagrams, .. } = model;
        let mut port_feeders = vec![Feeder::None; ports];
        in_turn.into_iter().for_each(|port| port_feeders[port.index()] = Feeder::Many);
        let mut overtaken = vec![false; ports];
        disordered.into_iter().for_each(|port| overtaken[port.index()] = true);
        FeederAnalysis {
            labels,
            bundles,
            senders,
            receivers,
            sources: datagrams,
            ports: u32::try_from(ports).expect("fewer than 2^32 ports"),
            overtaken,
            label_feeders: vec![Feeder::None; labels.len()],
            port_feeders,
            last: vec![None; labels.len()],
            eager: vec![false; labels.len()],
        }
    }

    /// Returns the hop of a label. A bundle that uses a single port until the next control action counts as that port.
    fn hop(&self, label: Label) -> Hop {
        let hop = self.labels.hop(label);
        let Hop::Bundle(number) = hop else { return hop };
        let BundleHop { bundle, destination, next } = self.labels.bundle_hop(number);
        let fixed = self.bundles[bundle as usize].fixed(destination);
        fixed.map_or(hop, |port| Hop::Forward { port, next })
    }

    /// Returns forwarding while the packets `pending` are in flight, the feeders, and the last arrival of packets on
    /// old paths, if any. More steps may be early after it.
    pub(super) fn forwarding(
        mut self,
        pending: &[Due<Packet>],
    ) -> (Forwarding, Feeders, Option<Time>) {
        let (senders, receivers) = (self.senders, self.receivers);
        for ((number, sending), receiving) in (0..).zip(senders).zip(receivers) {
            self.add_feeder(sending.data, self.ports + 2 * number);
            self.add_feeder(receiving.acks, self.ports + 2 * number + 1);
        }
        let first_source = u32::try_from(senders.len()).expect("fewer than 2^30 flows");
        for (number, source) in (first_source..).zip(self.sources) {
            self.add_feeder(source.data, self.ports + 2 * number);
        }
        let mut delivered: Vec<[Feeder; 2]> = (senders.iter().zip(receivers))
            .map(|(sending, receiving)| [sending.data, receiving.acks].map(|l| self.last(l)))
            .collect();
        delivered.extend(self.sources.iter().map(|source| [self.last(source.data), Feeder::None]));
        let mut leftover = None;
        for due in pending {
            let packet = due.item;
            let here = self.hop(packet.label) == Hop::Deliver;
            let end = if here { Feeder::One(due.entity) } else { self.last(packet.label) };
            let known = &mut delivered[packet.flow().index()][usize::from(packet.is_ack())];
            let before = *known;
            known.merge(end);
            let brought = self.label_feeders[packet.label.0 as usize];
            if *known != before || (!here && !includes(brought, due.entity)) {
                leftover = leftover.max(Some(due.at));
            }
            if !here {
                self.add_feeder(packet.label, due.entity);
            }
        }
        self.defer_ecmp_labels();
        for index in 0..self.labels.len() {
            self.eager[index] = self.is_eager(label(index));
        }
        let (flows, sinks) = delivered.split_at(senders.len());
        let of_flows = (0..).zip(flows).map(|(flow, &feeders)| self.deliveries(flow, feeders));
        // Sinks send no packets.
        let of_sinks = sinks.iter().map(|feeders| [self.is_only_link(feeders[0]), false]);
        let delivery: Vec<[bool; 2]> = of_flows.chain(of_sinks).collect();
        let entries = (0..self.labels.len()).map(|index| self.entry(label(index))).collect();
        let reached = self.label_feeders.iter().map(|&feeder| feeder != Feeder::None).collect();
        let feeders = Feeders { by_port: self.port_feeders, delivered, reached };
        (Forwarding::new(entries, self.eager, delivery), feeders, leftover)
    }

    /// Adds `feeder` to `label` and to all labels and ports that its packets can reach from there.
    fn add_feeder(&mut self, label: Label, feeder: u32) {
        let mut pending = vec![(label, feeder)];
        while let Some((label, feeder)) = pending.pop() {
            let brings = &mut self.label_feeders[label.0 as usize];
            let before = *brings;
            brings.add(feeder);
            if *brings == before {
                continue;
            }
            let first = before == Feeder::None;
            let hop = self.hop(label);
            // Packets wait at these hops, so all other packets into the same port must wait, too.
            let special = matches!(hop, Hop::SelectorInput(_) | Hop::Bridge(_) | Hop::Bundle(_));
            let feeder = if special { SPECIAL } else { feeder };
            if let Hop::Bundle(number) = hop
                && first
            {
                let bundle_hop = self.labels.bundle_hop(number);
                for &port in self.bundles[bundle_hop.bundle as usize].members() {
                    self.port_feeders[port.index()].add(SPECIAL);
                    pending.push((bundle_hop.next, port.number()));
                }
                continue;
            }
            for (port, next) in self.labels.leads_to(hop) {
                match port {
                    Some(port) => {
                        self.port_feeders[port.index()].add(feeder);
                        // Beyond the port its own feeders are irrelevant.
                        if first {
                            pending.push((next, port.number()));
                        }
                    }
                    None => pending.push((next, feeder)),
                }
            }
        }
    }

    /// Returns the links that deliver packets of `label` to their endpoint.
    fn last(&mut self, label: Label) -> Feeder {
        let mut visited = Vec::new();
        let mut at = label;
        let found = loop {
            if let Some(known) = self.last[at.0 as usize] {
                break known;
            }
            // A second visit before the result is known indicates a loop.
            self.last[at.0 as usize] = Some(Feeder::Many);
            visited.push(at);
            match self.hop(at) {
                Hop::Forward { port, next } | Hop::Tunnel { port, next }
                    if self.hop(next) == Hop::Deliver =>
                {
                    break Feeder::One(port.number());
                }
                Hop::Forward { next, .. } | Hop::Tunnel { next, .. } => at = next,
                Hop::Bundle(number) => {
                    let BundleHop { next, .. } = self.labels.bundle_hop(number);
                    if self.hop(next) == Hop::Deliver {
                        break Feeder::Many;
                    }
                    at = next;
                }
                Hop::Goto(label) => at = label,
                Hop::Ecmp(_) => break self.last_of_ecmp(at),
                // No packet reaches the endpoint.
                Hop::Discard(_) => break Feeder::None,
                Hop::Deliver | Hop::SelectorInput(_) | Hop::Bridge(_) | Hop::Ways(_) => {
                    break Feeder::Many;
                }
            }
        };
        visited.into_iter().for_each(|label| self.last[label.0 as usize] = Some(found));
        found
    }

    /// Returns the links that deliver packets of an ECMP label, over all next hops.
    fn last_of_ecmp(&mut self, label: Label) -> Feeder {
        let mut all = Feeder::None;
        for (_, next_hop) in self.labels.leads_to(self.labels.hop(label)) {
            all.merge(self.last(next_hop));
        }
        all
    }

    /// Returns whether `feeder` is a single link on which packets stay in order.
    fn is_only_link(&self, feeder: Feeder) -> bool {
        matches!(feeder, Feeder::One(pipe) if pipe < self.ports && !self.overtaken[pipe as usize])
    }

    fn is_eager(&self, label: Label) -> bool {
        match self.hop(label) {
            Hop::Forward { port, .. } | Hop::Tunnel { port, .. } => {
                self.is_only_link(self.port_feeders[port.index()])
            }
            hop @ (Hop::Ecmp(_) | Hop::Goto(_)) => {
                self.labels.leads_to(hop).into_iter().all(|(_, next_hop)| self.is_eager(next_hop))
            }
            Hop::Deliver
            | Hop::Discard(_)
            | Hop::SelectorInput(_)
            | Hop::Bridge(_)
            | Hop::Bundle(_)
            | Hop::Ways(_) => false,
        }
    }

    /// Makes packets wait at all next hops of an ECMP label if they wait at one of them.
    ///
    /// [`Self::is_eager`] decides by port, so all labels into a port agree, except ECMP labels: these wait as soon as
    /// one of their next hops waits. Each port behind such a label gets several feeders, which can make further ECMP
    /// labels wait. The passes end when no label changes.
    ///
    /// Every pass only adds feeders, so there are at most as many passes as ports. On return, no
    /// label enters a port early if a reachable ECMP label waits in front of that port. The result
    /// does not depend on the order of the passes. It is the largest set of early labels with this
    /// property. By induction over the marks, such a set never contains a label into a marked port.
    ///
    /// The property keeps packets in order. If packets enter a port early, one link feeds the port. All packets of the
    /// link enter as soon as the link accepts them. They are accepted in the order of their arrival, because packets on
    /// such a link do not overtake each other.
    fn defer_ecmp_labels(&mut self) {
        let reached = (0..self.labels.len()).map(label).filter(|&at| {
            self.label_feeders[at.0 as usize] != Feeder::None
                && matches!(self.labels.hop(at), Hop::Ecmp(_))
        });
        let ecmp_labels: Vec<Label> = reached.collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &ecmp_label in &ecmp_labels {
                changed |= !self.is_eager(ecmp_label) && self.defer(ecmp_label);
            }
        }
    }

    /// Adds several feeders to the ports behind `label`. Returns whether a port had a single one before.
    fn defer(&mut self, label: Label) -> bool {
        match self.hop(label) {
            Hop::Forward { port, .. } | Hop::Tunnel { port, .. } => {
                let alone = self.is_only_link(self.port_feeders[port.index()]);
                if alone {
                    self.port_feeders[port.index()] = Feeder::Many;
                }
                alone
            }
            hop @ (Hop::Ecmp(_) | Hop::Goto(_)) => {
                let next_hops = self.labels.leads_to(hop).into_iter();
                next_hops.fold(false, |changed, (_, next_hop)| self.defer(next_hop) || changed)
            }
            // Labels that always wait have added their feeder in `add_feeder`.
            Hop::SelectorInput(_) | Hop::Bridge(_) | Hop::Bundle(_) => false,
            Hop::Deliver | Hop::Discard(_) | Hop::Ways(_) => false,
        }
    }

    /// Returns whether the receiver and the sender of a flow may take packets early that arrive over the links
    /// `delivered`.
    fn deliveries(&self, flow: usize, delivered: [Feeder; 2]) -> [bool; 2] {
        let SendingEnd { data, ref sender, is_subflow, .. } = self.senders[flow];
        if is_subflow {
            // Packets of the other subflows must come first if they arrive earlier.
            return [false, false];
        }
        let acks = self.receivers[flow].acks;
        let alone = |entry: Label| match self.hop(entry) {
            Hop::Forward { port, .. } | Hop::Tunnel { port, .. } => {
                match self.port_feeders[port.index()] {
                    Feeder::One(feeder) => feeder >= self.ports && feeder != SPECIAL,
                    Feeder::None | Feeder::Many => false,
                }
            }
            Hop::Goto(_) | Hop::Ecmp(_) | Hop::Ways(_) => false,
            Hop::Deliver
            | Hop::Discard(_)
            | Hop::SelectorInput(_)
            | Hop::Bridge(_)
            | Hop::Bundle(_) => false,
        };
        // Messages of several flows must complete in the order of their times.
        let read = self.receivers[flow].is_read;
        let receiver = self.is_only_link(delivered[0]) && alone(acks) && !read;
        // An ACK must not overtake earlier writes of the application or path notifications to the sender.
        let waits = sender.withholds() || sender.is_divided();
        let sender = self.is_only_link(delivered[1]) && alone(data) && !waits;
        // If every step of the control loop were early, it would never return to the event queue; the sender waits
        // instead.
        let all_early = receiver && sender && self.all_eager(data) && self.all_eager(acks);
        [receiver, sender && !all_early]
    }

    /// Returns whether every step behind the first port is eager.
    fn all_eager(&self, entry: Label) -> bool {
        let mut at = entry;
        // A path without a loop is at most as long as the number of labels.
        for _ in 0..self.labels.len() {
            match self.hop(at) {
                Hop::Forward { next, .. } | Hop::Tunnel { next, .. }
                    if self.hop(next) == Hop::Deliver =>
                {
                    return true;
                }
                Hop::Forward { next, .. } | Hop::Tunnel { next, .. }
                    if self.eager[next.0 as usize] =>
                {
                    at = next
                }
                // The steps behind these may be eager.
                Hop::Ecmp(_) | Hop::Goto(_) => return true,
                _ => return false,
            }
        }
        true
    }

    fn entry(&self, label: Label) -> Entry {
        let ahead = |next: Label| match self.hop(next) {
            Hop::Deliver => Ahead::Deliver,
            _ if self.eager[next.0 as usize] => Ahead::Go,
            _ => Ahead::Wait,
        };
        match self.hop(label) {
            Hop::Deliver => Entry::end(Entry::DELIVER),
            Hop::Forward { port, next } => Entry::new(port, next.0, 1, ahead(next)),
            // A tunnel hides its routers from the time to live.
            Hop::Tunnel { port, next } => Entry::new(port, next.0, 0, ahead(next)),
            Hop::Bundle(number) => {
                let BundleHop { next, .. } = self.labels.bundle_hop(number);
                Entry::new(Entry::BUNDLE, number, 1, ahead(next))
            }
            Hop::Goto(other) => self.entry(other),
            Hop::Ecmp(set) => Entry::new(Entry::ECMP, set, 0, Ahead::Wait),
            Hop::SelectorInput(_) | Hop::Bridge(_) | Hop::Ways(_) | Hop::Discard(_) => {
                Entry::end(Entry::SPECIAL)
            }
        }
    }
}

/// Returns whether `known` includes `feeder`.
fn includes(known: Feeder, feeder: u32) -> bool {
    match known {
        Feeder::None => false,
        Feeder::One(one) => one == feeder,
        Feeder::Many => true,
    }
}

fn label(index: usize) -> Label {
    Label(u32::try_from(index).expect("fewer than 2^32 labels"))
}
