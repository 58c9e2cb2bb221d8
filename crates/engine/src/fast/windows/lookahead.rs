//! Lookahead: which parts of a world cannot reach each other within a window.
//!
//! A turn is what happens when a packet's turn comes behind a port, or an endpoint's alarm does: the ports and
//! endpoints that it comes to at once, ahead of time. All of these are one *set*. From a set packets go to others where
//! they wait for their next turn, over a delay that is known. Sets that are closer than a window in a circle are one
//! *shard*; of those that are closer in one direction alone, the one that comes first has its turn first.

use optcp_des::Due;
use optcp_net::{Hop, Label, Packet, PortId};
use optcp_units::Duration;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;

use crate::fast::eager::{Feeder, Ways};
use crate::fast::forwarding::{Ahead, Entry, Forwarding, Home};
use crate::fast::port::Ports;
use crate::model::Model;

use super::choice::{Choice, NoWindows};

/// So many shards at most.
const MOST: usize = Home::MOST;
/// Windows are 2^n ps long, 0.13 to 4.3 ms; the shortest is taken in which enough happens.
const LENGTHS: std::ops::RangeInclusive<u32> = 27..=32;
/// So many packets pass a port of a shard in a window on average, or it is not worth it.
const ENOUGH: u64 = 64;
/// On one thread windows pay only where so many packets are under way that they do not lie in near memory: 8 MiB.
const MANY: u128 = 1 << 18;
/// Shares of ports are counted in such parts, of which bundles of up to sixteen take whole ones.
const PARTS: u64 = 720_720;

/// The shards of a world, in the order in which they have their turns in a window.
#[derive(Clone, Debug)]
pub(super) struct Shards {
    /// A window is 2^length ps long.
    pub(super) length: u32,
    /// The shard of each port, then of the two ends of each flow and source: [`end`].
    pub(super) of: Vec<u16>,
    /// By shard: so much earlier than they are due its alarms may go off.
    pub(super) leads: Vec<Duration>,
    /// By shard: its phase. Shards of one phase are a window away from each other.
    pub(super) phases: Vec<u16>,
    /// By shard: packets that pass its ports in a second, as far as rates tell.
    pub(super) loads: Vec<u64>,
}

/// Where the ends of flows and sources stand among the nodes: a sender or source, or a receiver or sink.
#[inline(always)]
pub(super) fn end(ports: usize, flow: usize, receives: bool) -> usize {
    ports + 2 * flow + usize::from(receives)
}

/// How a packet comes to a port, from the beginning of the turn in which it does.
#[derive(Clone, Copy, Debug)]
struct Begin {
    /// In picoseconds.
    after: u64,
    /// The endpoint with whose alarm, or with what came to it, the turn began for this port; `None` where a packet's did.
    at: Option<usize>,
}

/// What windows are found from.
pub(super) struct Search<'a, O> {
    model: &'a Model<O>,
    forwarding: &'a Forwarding,
    ways: &'a Ways,
    ports: &'a Ports,
    /// By port: whether packets come to it ahead of time, behind another one.
    ahead: Vec<bool>,
    begins: Vec<Begin>,
    /// By node: how long before something comes to an endpoint its turn began; what an alarm may be early.
    early: Vec<u64>,
    sets: UnionFind<usize>,
    /// By node: whether a packet or an alarm can come to it.
    live: Vec<bool>,
    /// From a port to where packets have their next turn.
    arcs: Vec<(usize, usize)>,
    /// By port: packets in a second.
    loads: Vec<u64>,
}

/// Not known yet; or as long as anybody likes.
const UNKNOWN: u64 = u64::MAX;
/// A longer way without a turn is taken for a circle.
const LONGEST_WAY: usize = 1000;

impl<'a, O> Search<'a, O> {
    /// Looks at a world in which the packets `pending` wait.
    pub(super) fn new(
        model: &'a Model<O>,
        forwarding: &'a Forwarding,
        ways: &'a Ways,
        ports: &'a Ports,
        pending: &[Due<Packet>],
    ) -> Result<Self, NoWindows> {
        if !model.assemblers.is_empty() {
            return Err(NoWindows::Bursts);
        }
        if model.planned.is_any() {
            return Err(NoWindows::Planned);
        }
        let nodes = end(ports.len(), ways.delivered.len(), false);
        let mut search = Search {
            model,
            forwarding,
            ways,
            ports,
            ahead: vec![false; ports.len()],
            begins: vec![Begin { after: UNKNOWN, at: None }; ports.len()],
            early: vec![UNKNOWN; nodes],
            sets: UnionFind::new(nodes),
            live: vec![false; nodes],
            arcs: Vec::new(),
            loads: vec![0; ports.len()],
        };
        search.join_labels()?;
        search.join_ends();
        search.follow_flows(pending);
        for port in 0..ports.len() {
            search.begin_of(port, 0)?;
        }
        for flow in 0..ways.delivered.len() {
            for receives in [false, true] {
                let early = search.early_of(flow, receives, 0)?;
                search.early[end(ports.len(), flow, receives)] = early;
            }
        }
        search.arcs.sort_unstable();
        search.arcs.dedup();
        Ok(search)
    }

    /// The shards that are chosen: by default those with the shortest window in which enough happens.
    pub(super) fn shards(&self, choice: Choice, threads: usize) -> Result<Shards, NoWindows> {
        if let Choice::Always(Some(length)) = choice {
            let shards = self.shards_of(length);
            return if shards.phases.len() < 2 { Err(NoWindows::Near) } else { Ok(shards) };
        }
        let in_a_second: u64 = self.loads.iter().sum();
        if threads == 1 && choice == Choice::Chosen && self.under_way() < MANY {
            return Err(NoWindows::Small);
        }
        let mut found = Err(NoWindows::Near);
        for length in LENGTHS {
            let shards = self.shards_of(length);
            let number = shards.phases.len() as u64;
            if number < 2 {
                break;
            }
            found = Err(NoWindows::Few);
            let in_window = (u128::from(in_a_second) << length) / 1_000_000_000_000;
            if in_window >= u128::from(ENOUGH * number) {
                return Ok(shards);
            }
        }
        found
    }

    /// How many packets are under way on links, as far as rates tell.
    fn under_way(&self) -> u128 {
        let on = |(port, load): (usize, &u64)| {
            let delay = self.ports.get(PortId::at(port)).delay().as_ps();
            u128::from(*load) * u128::from(delay) / 1_000_000_000_000
        };
        self.loads.iter().enumerate().map(on).sum()
    }

    /// The ports into one of which a packet under `label` goes, and the label behind; nothing where it goes into none.
    fn leads_into(&self, label: Label) -> (Vec<usize>, Label) {
        let entry = self.forwarding.at(label);
        match entry.port() {
            Entry::BUNDLE => {
                let entrance = self.model.labels.entrance(entry.next());
                let members = self.model.bundles[entrance.bundle as usize].members();
                (members.iter().map(|port| port.index()).collect(), entrance.next)
            }
            port if entry.is_port() => (vec![port.index()], Label(entry.next())),
            _ => (Vec::new(), label),
        }
    }

    /// The labels at the same node under one of which a packet is handled.
    fn handled(&self, label: Label) -> Vec<Label> {
        let entry = self.forwarding.at(label);
        if entry.port() != Entry::SPREAD {
            return vec![label];
        }
        let next_hops = self.model.labels.leads_to(Hop::Spread(entry.next()));
        next_hops.into_iter().flat_map(|(_, next)| self.handled(next)).collect()
    }

    /// A turn's ports are in one set, and those that it comes to at once.
    fn join_labels(&mut self) -> Result<(), NoWindows> {
        for index in (0..self.ways.reached.len()).filter(|&index| self.ways.reached[index]) {
            let label = Label(u32::try_from(index).expect("fewer than 2^32 labels"));
            let entry = self.forwarding.at(label);
            if entry.port() == Entry::SPECIAL && !self.discards(label) {
                return Err(NoWindows::Special);
            }
            if entry.port() == Entry::SPREAD {
                // Packets wait for their turn in one shard, whichever next hop they take.
                let handled = self.handled(label);
                let next_hops: Vec<Vec<usize>> =
                    handled.iter().map(|&next_hop| self.leads_into(next_hop).0).collect();
                if next_hops.iter().any(Vec::is_empty) {
                    return Err(NoWindows::Special);
                }
                self.join(&next_hops.concat());
                continue;
            }
            let (ports, next) = self.leads_into(label);
            ports.iter().for_each(|&port| self.live[port] = true);
            if self.forwarding.is_eager(label) {
                ports.iter().for_each(|&port| self.ahead[port] = true);
            }
            self.join(&ports);
            let Some(&first) = ports.first() else { continue };
            for handled in self.handled(next) {
                let Some(&beyond) = self.leads_into(handled).0.first() else { continue };
                if entry.ahead() == Ahead::Go {
                    self.sets.union(first, beyond);
                } else {
                    self.arcs.extend(ports.iter().map(|&from| (from, beyond)));
                }
            }
        }
        Ok(())
    }

    fn join(&mut self, nodes: &[usize]) {
        nodes.windows(2).for_each(|two| _ = self.sets.union(two[0], two[1]));
    }

    fn delivers(&self, label: Label) -> bool {
        self.forwarding.at(label).port() == Entry::DELIVER
    }

    fn discards(&self, mut label: Label) -> bool {
        while let Hop::Goto(next) = self.model.labels.hop(label) {
            label = next;
        }
        matches!(self.model.labels.hop(label), Hop::Discard(_))
    }

    /// Endpoints are in one set with the port by which they send, and with the pipe from which they take packets at
    /// once.
    fn join_ends(&mut self) {
        for flow in 0..self.ways.delivered.len() {
            for receives in [false, true] {
                let node = end(self.ports.len(), flow, receives);
                let label = self.sends_under(flow, receives);
                let comes = self.ways.delivered[flow][usize::from(!receives)] != Feeder::None;
                self.live[node] = label.is_some() || comes;
                let handled = label.map_or_else(Vec::new, |label| self.handled(label));
                for handled in handled {
                    match self.leads_into(handled).0.first() {
                        Some(&port) => _ = self.sets.union(node, port),
                        // Both ends are at one node.
                        None if self.delivers(handled) => {
                            self.sets.union(node, end(self.ports.len(), flow, !receives));
                        }
                        None => {}
                    }
                }
                if let Some(pipe) = self.eager_pipe(flow, receives) {
                    self.sets.union(node, pipe);
                }
            }
        }
    }

    /// The label under which an end of a flow or source sends.
    fn sends_under(&self, flow: usize, receives: bool) -> Option<Label> {
        let Model { senders, receivers, datagrams, .. } = self.model;
        match (flow.checked_sub(senders.len()), receives) {
            (None, false) => Some(senders[flow].data),
            (None, true) => Some(receivers[flow].acks),
            (Some(source), false) => Some(datagrams[source].data),
            (Some(_), true) => None,
        }
    }

    /// The pipe from which an end takes packets ahead of time, if it does.
    fn eager_pipe(&self, flow: usize, receives: bool) -> Option<usize> {
        let eager = self.forwarding.delivers_to(flow, receives);
        match self.ways.delivered[flow][usize::from(!receives)] {
            Feeder::One(pipe) if eager => Some(pipe as usize),
            _ => None,
        }
    }

    /// Follows the ways of all flows, and of packets that are on others: where they are delivered at their turn, and
    /// how many pass each port.
    fn follow_flows(&mut self, pending: &[Due<Packet>]) {
        let flows = self.ways.delivered.len();
        let mut ways = Vec::new();
        for flow in 0..flows {
            for receives in [false, true] {
                let Some(label) = self.sends_under(flow, receives) else { continue };
                ways.push(((flow, !receives), self.follow(label, flow, !receives)));
            }
        }
        let inside =
            self.ports.stepped().flat_map(|(id, port)| port.inside().map(move |p| (id, p)));
        let inside: Vec<(PortId, Packet)> = inside.collect();
        for &(id, packet) in &inside {
            self.arcs.extend(self.waits_at(packet).map(|node| (id.index(), node)));
        }
        let packets =
            pending.iter().map(|due| due.item).chain(inside.iter().map(|(_, item)| *item));
        let mut strays: Vec<(u32, u32, bool)> = packets
            .filter(|&packet| !self.forwarding.delivers(packet))
            .map(|packet| (packet.label.0, packet.flow().number(), !packet.is_ack()))
            .collect();
        strays.sort_unstable();
        strays.dedup();
        for (label, flow, receives) in strays {
            self.follow(Label(label), flow as usize, receives);
        }
        // Each port is shared alike, and a flow is as fast as its smallest share.
        let mut shares = vec![0_u64; self.ports.len()];
        let datas = || ways.iter().filter(|((_, receives), _)| *receives);
        for hop in datas().flat_map(|(_, way)| way) {
            hop.iter().for_each(|&port| shares[port] += PARTS / hop.len() as u64);
        }
        let rate_of = |port: usize| {
            let bits = self.ports.get(PortId::at(port)).rate().bps();
            u128::from(bits) * u128::from(PARTS) / u128::from(shares[port].max(1))
        };
        let mut rates = vec![0_u64; flows];
        for ((flow, _), way) in datas() {
            let bits = way.iter().flatten().map(|&port| rate_of(port)).min().unwrap_or(0);
            let size =
                (self.model.receivers.get(*flow)).map_or(1500, |end| end.segment_size().count());
            rates[*flow] = u64::try_from(bits / (8 * u128::from(size))).unwrap_or(u64::MAX);
        }
        for ((flow, _), way) in &ways {
            for hop in way {
                hop.iter().for_each(|&port| self.loads[port] += rates[*flow] / hop.len() as u64);
            }
        }
    }

    /// The port or endpoint at which a packet has its turn; `None` where it is lost there.
    fn waits_at(&self, packet: Packet) -> Option<usize> {
        let at = self.handled(packet.label)[0];
        match self.leads_into(at).0.first() {
            Some(&port) => Some(port),
            None => self
                .delivers(at)
                .then(|| end(self.ports.len(), packet.flow().index(), !packet.is_ack())),
        }
    }

    /// The ports on the way of a packet under `label`, hop by hop. Where its end takes it at its turn is known then.
    fn follow(&mut self, label: Label, flow: usize, receives: bool) -> Vec<Vec<usize>> {
        let key = self.model.labels.key(optcp_net::FlowId::at(flow), !receives);
        let mut way = Vec::new();
        let mut at = self.spread(label, key);
        // A way in a circle ends somewhere.
        for _ in 0..self.ways.reached.len() {
            let (ports, next) = self.leads_into(at);
            if ports.is_empty() {
                break;
            }
            at = self.spread(next, key);
            if self.delivers(at) && !self.forwarding.delivers_to(flow, receives) {
                let node = end(self.ports.len(), flow, receives);
                self.arcs.extend(ports.iter().map(|&from| (from, node)));
            }
            way.push(ports);
        }
        way
    }

    /// The label that a packet with this key is handled under.
    fn spread(&self, label: Label, key: u64) -> Label {
        let entry = self.forwarding.at(label);
        if entry.port() != Entry::SPREAD {
            return label;
        }
        self.spread(self.model.labels.spread_by(entry.next(), key), key)
    }

    /// How packets come to a port in a turn.
    fn begin_of(&mut self, port: usize, depth: usize) -> Result<Begin, NoWindows> {
        let known = self.begins[port];
        if known.after != UNKNOWN {
            return Ok(known);
        }
        if depth > LONGEST_WAY {
            return Err(NoWindows::Endless);
        }
        let begin = match self.ways.feeds[port] {
            Feeder::One(feeder) if (feeder as usize) < self.ports.len() => {
                if self.ahead[port] {
                    let before = self.begin_of(feeder as usize, depth + 1)?;
                    let delay = self.ports.get(PortId::new(feeder)).delay().as_ps();
                    Begin { after: before.after + delay, at: before.at }
                } else {
                    Begin { after: 0, at: None }
                }
            }
            Feeder::One(feeder) if (feeder as usize) < self.early.len() => {
                Begin { after: 0, at: Some(feeder as usize) }
            }
            _ => Begin { after: 0, at: None },
        };
        self.begins[port] = begin;
        Ok(begin)
    }

    /// How long the turn has begun before something comes to an end; the alarms of one that nobody else disturbs may
    /// be as early as they like.
    fn early_of(&self, flow: usize, receives: bool, depth: usize) -> Result<u64, NoWindows> {
        if depth > LONGEST_WAY {
            return Err(NoWindows::Endless);
        }
        if flow >= self.model.senders.len() && !receives {
            let alone = self.sends_under(flow, receives).is_some_and(|label| {
                let node = end(self.ports.len(), flow, receives);
                let feeds = |port: &usize| self.ways.feeds[*port] == feeder(node);
                self.forwarding.at(label).is_port() && self.leads_into(label).0.iter().all(feeds)
            });
            return Ok(if alone { UNKNOWN } else { 0 });
        }
        let Some(pipe) = self.eager_pipe(flow, receives) else { return Ok(0) };
        let delay = self.ports.get(PortId::at(pipe)).delay().as_ps();
        let Begin { after, at } = self.begins[pipe];
        let before = match at {
            None => 0,
            Some(node) => {
                let place = node - self.ports.len();
                self.early_of(place / 2, place % 2 == 1, depth + 1)?
            }
        };
        Ok(before.saturating_add(after + delay))
    }

    /// The shards with windows of 2^length ps.
    fn shards_of(&self, length: u32) -> Shards {
        let window = 1_u64 << length;
        let mut sets = self.sets.clone();
        let (of, levels) = loop {
            let (of, number) = self.numbered(&sets);
            let near = self.near(window, &of, &self.leads(window, &of, number));
            let mut graph = DiGraph::<(), ()>::with_capacity(number, near.len());
            (0..number).for_each(|_| _ = graph.add_node(()));
            for &(from, to) in &near {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
            }
            let circles = kosaraju_scc(&graph);
            if circles.len() < number {
                let first = self.firsts(&of, number);
                for circle in &circles {
                    for other in &circle[1..] {
                        sets.union(first[circle[0].index()], first[other.index()]);
                    }
                }
                continue;
            }
            // From the last one that is reached to the first: each level is known after those behind it.
            let mut levels = vec![0_usize; number];
            for circle in circles.iter().rev() {
                let from = circle[0];
                for to in graph.neighbors(from) {
                    levels[to.index()] = levels[to.index()].max(levels[from.index()] + 1);
                }
            }
            if number <= MOST {
                break (of, levels);
            }
            self.gather(&mut sets, &of, &levels);
        };
        self.in_phases(length, &of, &levels)
    }

    /// The number of the set of each node, counted by their first nodes; nodes to which nothing comes are in
    /// the first, which there always is.
    fn numbered(&self, sets: &UnionFind<usize>) -> (Vec<usize>, usize) {
        let mut numbers = vec![usize::MAX; self.live.len()];
        let mut next = 0;
        let mut number = |node: usize| {
            let number = &mut numbers[sets.find(node)];
            if *number == usize::MAX {
                *number = next;
                next += 1;
            }
            *number
        };
        let of = (self.live.iter().enumerate())
            .map(|(node, live)| if *live { number(node) } else { 0 })
            .collect();
        (of, next.max(1))
    }

    /// Puts sets together so that [`MOST`] are left: those of one level, or of several that follow each other where there
    /// are many levels. What has much of the load stays alone.
    fn gather(&self, sets: &mut UnionFind<usize>, of: &[usize], levels: &[usize]) {
        let first = self.firsts(of, levels.len());
        // One more for each, so that also sets without a load come to different places.
        let loads: Vec<u128> =
            self.loads_of(of, levels.len()).iter().map(|&load| u128::from(load) + 1).collect();
        let deepest = levels.iter().max().map_or(1, |&last| last + 1);
        let bands = deepest.min(MOST / 2);
        let mut members = vec![Vec::new(); bands];
        for (set, level) in levels.iter().enumerate() {
            members[level * bands / deepest].push(set);
        }
        let in_all: u128 = loads.iter().sum();
        for band in members {
            let load: u128 = band.iter().map(|&set| loads[set]).sum();
            // One for each band, and the others by their loads.
            let places = 1 + load * (MOST - bands) as u128 / in_all;
            let (mut before, mut leader) = (0_u128, None);
            for set in band {
                let place = before * places / load;
                match leader {
                    Some((of_place, leader)) if of_place == place => {
                        sets.union(leader, first[set]);
                    }
                    _ => leader = Some((place, first[set])),
                }
                before += loads[set];
            }
        }
    }

    /// By set, how early its alarms may go off.
    fn leads(&self, window: u64, of: &[usize], number: usize) -> Vec<u64> {
        let mut leads = vec![window; number];
        for (node, &set) in of.iter().enumerate().filter(|(node, _)| self.live[*node]) {
            let early = match node.checked_sub(self.ports.len()) {
                // Ends of transmissions are events at their instant.
                None if self.ports.get(PortId::at(node)).is_stepped() => 0,
                None => continue,
                // A sink has no alarms.
                Some(place) if place % 2 == 1 && place / 2 >= self.model.senders.len() => continue,
                Some(_) => self.early[node],
            };
            leads[set] = leads[set].min(early);
        }
        leads
    }

    /// Which sets can reach which others within a window.
    fn near(&self, window: u64, of: &[usize], leads: &[u64]) -> Vec<(usize, usize)> {
        let is_near = |&&(from, to): &&(usize, usize)| {
            let Begin { after, at } = self.begins[from];
            let lead = at.map_or(0, |node| leads[of[node]]);
            let delay = self.ports.get(PortId::at(from)).delay().as_ps();
            of[from] != of[to] && lead.saturating_add(after + delay) < window
        };
        let mut near: Vec<_> =
            self.arcs.iter().filter(is_near).map(|&(from, to)| (of[from], of[to])).collect();
        near.sort_unstable();
        near.dedup();
        near
    }

    fn loads_of(&self, of: &[usize], number: usize) -> Vec<u64> {
        let mut loads = vec![0_u64; number];
        self.loads.iter().zip(of).for_each(|(load, &set)| loads[set] += load);
        loads
    }

    /// The first node of each set.
    fn firsts(&self, of: &[usize], number: usize) -> Vec<usize> {
        let mut first = vec![usize::MAX; number];
        let live = of.iter().enumerate().filter(|(node, _)| self.live[*node]);
        live.rev().for_each(|(node, &set)| first[set] = node);
        first
    }

    /// Sets by the order of their levels.
    fn in_phases(&self, length: u32, of: &[usize], levels: &[usize]) -> Shards {
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by_key(|&set| levels[set]);
        let mut number = vec![0_u16; levels.len()];
        for (place, &set) in (0..).zip(&order) {
            number[set] = place;
        }
        let leads = self.leads(1 << length, of, levels.len());
        let loads = self.loads_of(of, levels.len());
        Shards {
            length,
            of: of.iter().map(|&set| number[set]).collect(),
            leads: order.iter().map(|&set| Duration::from_ps(leads[set])).collect(),
            phases: order
                .iter()
                .map(|&set| u16::try_from(levels[set]).unwrap_or(u16::MAX))
                .collect(),
            loads: order.iter().map(|&set| loads[set]).collect(),
        }
    }
}

fn feeder(node: usize) -> Feeder {
    Feeder::One(u32::try_from(node).expect("fewer than 2^32 ports and endpoints"))
}
