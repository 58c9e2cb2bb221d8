//! Early steps: which packets enter the next port, or reach their endpoint, ahead of time.
//!
//! # Model
//! Invariant: until forwarding is recomputed, only one *feeder*, a pipe or an endpoint, brings packets to a port that is
//! entered ahead of time; all of its packets enter it so, in the order in which they arrive. So each packet finds the port
//! as it will be when the packet arrives. An endpoint takes packets ahead of time if one pipe alone brings them in order,
//! and if nothing else enters the port by which the endpoint answers.
//!
//! [`FeederAnalysis`] finds the feeders of all ports by following the labels in force, and those of packets in flight,
//! through the network. These count as several feeders, so that packets wait for their event:
//!
//! * a port in the stepped lane: its departures before the packet must have happened, and when a packet leaves is not
//!   known earlier. Packets behind it also wait, as if they overtook each other in its pipe;
//! * a pipe in which packets overtake each other;
//! * labels that always wait (gates, bridges, bundles): their packets would be overtaken by later ones that enter the
//!   same port ahead of time;
//! * for the same reason, labels that spread flows over next hops of which one waits
//!   ([`FeederAnalysis::defer_spreads`]).
//! # References
//! This simulator's; `docs/developers/performance.md` has figures and the faults that tests detect.
//! # Parameters
//! None.
//! # Limitations
//! Feeders are counted over the whole stretch up to the next control action: a flow that has ended still counts.

use optcp_des::Due;
use optcp_net::{BundleHop, Hop, Label, LabelTable, Packet, PortId};
use optcp_optical::bundle::Bundle;
use optcp_units::Time;

use super::forwarding::{Ahead, Entry, Forwarding};
use crate::datagrams::Datagrams;
use crate::flow::{ReceivingEnd, SendingEnd};
use crate::model::Model;

/// The feeder of a port, a label or an endpoint: a pipe by the number of its port, or an endpoint by a number after
/// those.
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

/// The feeder of ports after gates and bridges, and of the ports of bundles.
const SPECIAL: u32 = u32::MAX;

/// The feeders of ports and endpoints, and the labels in use.
#[derive(Clone, Debug)]
pub(super) struct Feeders {
    pub(super) of_port: Vec<Feeder>,
    /// By flow and source: the pipes that bring its data, and its ACKs, to their endpoint.
    pub(super) delivered: Vec<[Feeder; 2]>,
    /// By label: whether a packet can come under it.
    pub(super) reached: Vec<bool>,
}

/// Finds the feeders, and from them where packets go on ahead of time.
pub(super) struct FeederAnalysis<'a> {
    labels: &'a LabelTable,
    bundles: &'a [Bundle],
    senders: &'a [SendingEnd],
    receivers: &'a [ReceivingEnd],
    sources: &'a [Datagrams],
    ports: u32,
    /// By port: whether packets may overtake each other behind it, so that each must wait for its turn there.
    overtaken: Vec<bool>,
    /// Who brings packets to each label.
    brings: Vec<Feeder>,
    feeds: Vec<Feeder>,
    /// The pipes through which packets from each label come to their endpoint.
    last: Vec<Option<Feeder>>,
    eager: Vec<bool>,
}

impl<'a> FeederAnalysis<'a> {
    /// `in_turn` are ports that packets enter at their turn only; behind those that are `disordered` packets may
    /// overtake each other.
    pub(super) fn new<O>(
        model: &'a Model<O>,
        ports: usize,
        in_turn: impl IntoIterator<Item = PortId>,
        disordered: impl IntoIterator<Item = PortId>,
    ) -> Self {
        let Model { labels, bundles, senders, receivers, datagrams, .. } = model;
        let mut feeds = vec![Feeder::None; ports];
        in_turn.into_iter().for_each(|port| feeds[port.index()] = Feeder::Many);
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
            brings: vec![Feeder::None; labels.len()],
            feeds,
            last: vec![None; labels.len()],
            eager: vec![false; labels.len()],
        }
    }

    /// What a node does with packets under a label. A bundle that sends all of them through one port until
    /// the next control action is no more than that port.
    fn hop(&self, label: Label) -> Hop {
        let hop = self.labels.hop(label);
        let Hop::Bundle(entrance) = hop else { return hop };
        let BundleHop { bundle, destination, next } = self.labels.entrance(entrance);
        let fixed = self.bundles[bundle as usize].fixed(destination);
        fixed.map_or(hop, |port| Hop::Forward { port, next })
    }

    /// Returns forwarding while the packets `pending` are in flight, the feeders, and the latest arrival of packets on
    /// paths that are no longer in use, if any: after it more steps may be early.
    pub(super) fn forwarding(
        mut self,
        pending: &[Due<Packet>],
    ) -> (Forwarding, Feeders, Option<Time>) {
        let (senders, receivers) = (self.senders, self.receivers);
        for ((number, sending), receiving) in (0..).zip(senders).zip(receivers) {
            self.reach(sending.data, self.ports + 2 * number);
            self.reach(receiving.acks, self.ports + 2 * number + 1);
        }
        let first_source = u32::try_from(senders.len()).expect("fewer than 2^30 flows");
        for (number, source) in (first_source..).zip(self.sources) {
            self.reach(source.data, self.ports + 2 * number);
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
            let brought = self.brings[packet.label.0 as usize];
            if *known != before || (!here && !brings(brought, due.entity)) {
                leftover = leftover.max(Some(due.at));
            }
            if !here {
                self.reach(packet.label, due.entity);
            }
        }
        self.defer_spreads();
        for index in 0..self.labels.len() {
            self.eager[index] = self.is_eager(label(index));
        }
        let (flows, sinks) = delivered.split_at(senders.len());
        let of_flows = (0..).zip(flows).map(|(flow, &feeders)| self.deliveries(flow, feeders));
        // A sink answers nobody.
        let of_sinks = sinks.iter().map(|feeders| [self.lone_pipe(feeders[0]), false]);
        let delivery: Vec<[bool; 2]> = of_flows.chain(of_sinks).collect();
        let entries = (0..self.labels.len()).map(|index| self.entry(label(index))).collect();
        let reached = self.brings.iter().map(|&feeder| feeder != Feeder::None).collect();
        let feeders = Feeders { of_port: self.feeds, delivered, reached };
        (Forwarding::new(entries, self.eager, delivery), feeders, leftover)
    }

    /// Packets of `feeder` can come to the node under `label`.
    fn reach(&mut self, label: Label, feeder: u32) {
        let mut pending = vec![(label, feeder)];
        while let Some((label, feeder)) = pending.pop() {
            let brings = &mut self.brings[label.0 as usize];
            let before = *brings;
            brings.add(feeder);
            if *brings == before {
                continue;
            }
            let first = before == Feeder::None;
            let hop = self.hop(label);
            // Steps at these wait for their turn, and so must all others into the same port.
            let special = matches!(hop, Hop::SelectorInput(_) | Hop::Bridge(_) | Hop::Bundle(_));
            let feeder = if special { SPECIAL } else { feeder };
            if let Hop::Bundle(entrance) = hop
                && first
            {
                let entrance = self.labels.entrance(entrance);
                for &port in self.bundles[entrance.bundle as usize].members() {
                    self.feeds[port.index()].add(SPECIAL);
                    pending.push((entrance.next, port.number()));
                }
                continue;
            }
            for (port, next) in self.labels.leads_to(hop) {
                match port {
                    Some(port) => {
                        self.feeds[port.index()].add(feeder);
                        // Behind the port nothing depends on who fed it.
                        if first {
                            pending.push((next, port.number()));
                        }
                    }
                    None => pending.push((next, feeder)),
                }
            }
        }
    }

    /// The pipes through which packets under `label` come to their endpoint.
    fn last(&mut self, label: Label) -> Feeder {
        let mut trail = Vec::new();
        let mut at = label;
        let found = loop {
            if let Some(known) = self.last[at.0 as usize] {
                break known;
            }
            // Seen again before it is known: a loop.
            self.last[at.0 as usize] = Some(Feeder::Many);
            trail.push(at);
            match self.hop(at) {
                Hop::Forward { port, next } | Hop::Tunnel { port, next }
                    if self.hop(next) == Hop::Deliver =>
                {
                    break Feeder::One(port.number());
                }
                Hop::Forward { next, .. } | Hop::Tunnel { next, .. } => at = next,
                Hop::Bundle(entrance) => {
                    let BundleHop { next, .. } = self.labels.entrance(entrance);
                    if self.hop(next) == Hop::Deliver {
                        break Feeder::Many;
                    }
                    at = next;
                }
                Hop::Goto(label) => at = label,
                Hop::Ecmp(_) => break self.last_of_spread(at),
                // Nothing comes to the endpoint.
                Hop::Discard(_) => break Feeder::None,
                Hop::Deliver | Hop::SelectorInput(_) | Hop::Bridge(_) | Hop::Ways(_) => {
                    break Feeder::Many;
                }
            }
        };
        trail.into_iter().for_each(|label| self.last[label.0 as usize] = Some(found));
        found
    }

    /// The same where flows are spread: over all next hops together.
    fn last_of_spread(&mut self, label: Label) -> Feeder {
        let mut all = Feeder::None;
        for (_, next_hop) in self.labels.leads_to(self.labels.hop(label)) {
            all.merge(self.last(next_hop));
        }
        all
    }

    /// A pipe that alone feeds something, and in which no packet overtakes another.
    fn lone_pipe(&self, feeder: Feeder) -> bool {
        matches!(feeder, Feeder::One(pipe) if pipe < self.ports && !self.overtaken[pipe as usize])
    }

    fn is_eager(&self, label: Label) -> bool {
        match self.hop(label) {
            Hop::Forward { port, .. } | Hop::Tunnel { port, .. } => {
                self.lone_pipe(self.feeds[port.index()])
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

    /// Makes all packets wait at the ports behind a spread label that waits.
    ///
    /// [`Self::is_eager`] decides by port, so all labels into a port agree, except spread labels: these wait as soon as
    /// one of their next hops does, whatever the ports of the others. Each of those ports gets several feeders, which can
    /// make further spread labels wait; the passes end when none does.
    ///
    /// Every pass only adds feeders, so there are no more passes than ports. On return, no label enters a port early if
    /// a spread label that packets reach waits in front of that port. The result does not depend on the order of the
    /// passes and is the largest set of early labels with this property: such a set never contains a label into a port
    /// that a pass marks, by induction over the marks. The property keeps packets in order: where any packet enters a port
    /// early, one pipe feeds the port and all packets of the pipe enter as soon as the pipe accepts them. They are
    /// accepted in the order in which they arrive, because packets in such a pipe do not overtake each other.
    fn defer_spreads(&mut self) {
        let reached = (0..self.labels.len()).map(label).filter(|&at| {
            self.brings[at.0 as usize] != Feeder::None
                && matches!(self.labels.hop(at), Hop::Ecmp(_))
        });
        let spreads: Vec<Label> = reached.collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &spread in &spreads {
                changed |= !self.is_eager(spread) && self.defer(spread);
            }
        }
    }

    /// Gives several feeders to the ports that packets under `label` enter, and says whether a port had only one.
    fn defer(&mut self, label: Label) -> bool {
        match self.hop(label) {
            Hop::Forward { port, .. } | Hop::Tunnel { port, .. } => {
                let alone = self.lone_pipe(self.feeds[port.index()]);
                if alone {
                    self.feeds[port.index()] = Feeder::Many;
                }
                alone
            }
            hop @ (Hop::Ecmp(_) | Hop::Goto(_)) => {
                let next_hops = self.labels.leads_to(hop).into_iter();
                next_hops.fold(false, |changed, (_, next_hop)| self.defer(next_hop) || changed)
            }
            // Labels that always wait have added their feeder in `reach`.
            Hop::SelectorInput(_) | Hop::Bridge(_) | Hop::Bundle(_) => false,
            Hop::Deliver | Hop::Discard(_) | Hop::Ways(_) => false,
        }
    }

    /// Whether the receiver and the sender of a flow may take packets early, that come through
    /// `delivered`.
    fn deliveries(&self, flow: usize, delivered: [Feeder; 2]) -> [bool; 2] {
        let SendingEnd { data, ref sender, .. } = self.senders[flow];
        let acks = self.receivers[flow].acks;
        let alone = |entry: Label| match self.hop(entry) {
            Hop::Forward { port, .. } | Hop::Tunnel { port, .. } => {
                match self.feeds[port.index()] {
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
        let receiver = self.lone_pipe(delivered[0]) && alone(acks);
        // An ACK overtakes neither what the application writes before it comes, nor what the sender is told.
        let waits = sender.withholds() || sender.is_divided();
        let sender = self.lone_pipe(delivered[1]) && alone(data) && !waits;
        // Where every step of the circle could be taken early, one must wait for the others to go on.
        let all_early = receiver && sender && self.all_eager(data) && self.all_eager(acks);
        [receiver, sender && !all_early]
    }

    /// Whether every step behind the first port is eager.
    fn all_eager(&self, entry: Label) -> bool {
        let mut at = entry;
        // A way is never longer than there are labels.
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
                // It may be so behind these.
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
            // In a tunnel that hides its routers from the time to live.
            Hop::Tunnel { port, next } => Entry::new(port, next.0, 0, ahead(next)),
            Hop::Bundle(entrance) => {
                let BundleHop { next, .. } = self.labels.entrance(entrance);
                Entry::new(Entry::BUNDLE, entrance, 1, ahead(next))
            }
            Hop::Goto(other) => self.entry(other),
            Hop::Ecmp(set) => Entry::new(Entry::SPREAD, set, 0, Ahead::Wait),
            Hop::SelectorInput(_) | Hop::Bridge(_) | Hop::Ways(_) | Hop::Discard(_) => {
                Entry::end(Entry::SPECIAL)
            }
        }
    }
}

/// Whether `feeder` is known to be among those that bring packets.
fn brings(known: Feeder, feeder: u32) -> bool {
    match known {
        Feeder::None => false,
        Feeder::One(one) => one == feeder,
        Feeder::Many => true,
    }
}

fn label(index: usize) -> Label {
    Label(u32::try_from(index).expect("fewer than 2^32 labels"))
}
