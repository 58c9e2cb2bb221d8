//! ECMP routers with paths to several destinations.
//!
//! A link leads to the first of several layers of routers; each router has a link to some routers of the next layer.
//! Flows and sources start in front of the link or at any router, and end at any router. Ports therefore have one or
//! several feeders, and packets of a link reach a port under labels with and without ECMP.

use std::collections::BTreeMap;

use super::*;
use optcp_des::mix;
use optcp_net::Multipath;

/// Routers, the ports between them, and the labels of each destination.
struct Fabric {
    /// Start router, end router and port of each link.
    links: Vec<(usize, usize, PortId)>,
    layer_of: Vec<usize>,
    /// Label of delivery.
    delivers: Label,
    /// Whether links have no losses, jitter or discipline.
    plain: bool,
    /// Label at each router with a path to the destination, by destination.
    tables: BTreeMap<usize, Vec<Option<Label>>>,
    /// Shared entry, by port and the label behind it.
    shared: BTreeMap<(PortId, Label), Label>,
}

impl Draw {
    /// Draws from a separate stream, so that other parts of the scenario are equal without a fabric.
    pub(super) fn fabric(&mut self, seed: u64) {
        let others =
            std::mem::replace(&mut self.stream, Streams::new(seed).stream("equal-cost paths"));
        if self.one_in(2) {
            self.routers_and_traffic();
        }
        self.stream = others;
    }

    fn routers_and_traffic(&mut self) {
        let mut fabric = Fabric {
            links: Vec::new(),
            layer_of: vec![0],
            delivers: self.world.paths.entry(0, &[]),
            plain: !self.one_in(3),
            tables: BTreeMap::new(),
            shared: BTreeMap::new(),
        };
        for layer in 1..3 + self.place(&[(); 2]) {
            for _ in 0..1 + self.place(&[(); 4]) {
                fabric.layer_of.push(layer);
            }
        }
        for from in 0..fabric.layer_of.len() {
            for to in 0..fabric.layer_of.len() {
                if fabric.layer_of[to] == fabric.layer_of[from] + 1 && !self.one_in(6) {
                    let port = self.link(fabric.plain);
                    fabric.links.push((from, to, port));
                }
            }
        }
        let trunk = self.link(fabric.plain);
        for _ in 0..5 + self.below(8) {
            let inside = if self.one_in(2) { self.place(&fabric.layer_of) } else { 0 };
            let to = self.destination(&fabric, inside);
            let Some(entry) = self.towards(&mut fabric, to)[inside] else { continue };
            let access = self.access(inside, trunk);
            let first = self.world.paths.lay(&access, entry);
            if self.one_in(4) {
                let acks: Vec<PortId> = (0..1 + self.below(2)).map(|_| self.link(true)).collect();
                let acks = self.world.paths.lay(&acks, fabric.delivers);
                let config = self.config();
                let start = Time::ZERO + Duration::from_ms(self.below(400));
                let segments = Some(1 + self.number(200));
                self.world.flow_from(&config, segments, start, (first, acks));
            } else {
                self.steady_source(first);
            }
        }
        for _ in 0..self.below(3) {
            self.reroute(&mut fabric);
        }
        for _ in 0..self.below(3) {
            let (.., port) = match fabric.links.is_empty() {
                true => (0, 0, trunk),
                false => fabric.links[self.place(&fabric.links)],
            };
            let down = if self.one_in(2) { Action::PortDown } else { Action::PortClosed };
            self.control(down(port));
            self.control(Action::PortUp(port));
            if self.one_in(2) {
                self.world.tallied.push(port);
            }
        }
        // A separate stream keeps the rest of the fabric unchanged.
        let aside = Streams::new(self.stream.clone().next_u64()).stream("routers aside");
        let others = std::mem::replace(&mut self.stream, aside);
        for _ in 0..self.below(4) {
            self.router_aside(&fabric);
        }
        self.stream = others;
        let keys = self.world.flows.len() + self.world.datagrams.len();
        let keys = (0..keys as u64).map(|flow| mix(flow ^ self.stream.next_u64())).collect();
        self.world.paths.set_keys(keys);
    }

    /// Draws a router of the next layer with one port, or any router.
    fn destination(&mut self, fabric: &Fabric, from: usize) -> usize {
        let layer = fabric.layer_of[from] + 1;
        let next: Vec<usize> =
            (0..fabric.layer_of.len()).filter(|&router| fabric.layer_of[router] == layer).collect();
        match next.is_empty() || self.one_in(2) {
            true => self.place(&fabric.layer_of),
            false => next[self.place(&next)],
        }
    }

    /// Adds a link with a queue, which is long in half of the cases.
    fn link(&mut self, plain: bool) -> PortId {
        if !plain {
            return self.port();
        }
        let limit = match self.below(4) {
            0 => QueueLimit::Unlimited,
            1 => QueueLimit::Packets(1000),
            2 => QueueLimit::Bytes(1500 * (1 + self.below(20))),
            _ => QueueLimit::Packets(1 + self.number(30)),
        };
        let mbps = [1, 2, 4, 20, 100][self.place(&[(); 5])];
        let delay = Duration::from_us(500 * self.below(20));
        self.world.port(mbps, delay, limit)
    }

    /// Returns the ports from an endpoint to a router: over the trunk, over its own link, or none.
    fn access(&mut self, router: usize, trunk: PortId) -> Vec<PortId> {
        let mut ports = Vec::new();
        if router == 0 && !self.one_in(4) {
            if self.one_in(2) {
                ports.push(self.link(true));
            }
            ports.push(trunk);
        } else if !self.one_in(3) {
            ports.push(self.link(true));
        }
        ports
    }

    fn steady_source(&mut self, data: Label) {
        let rate = PacketRate::new([20, 50, 100][self.place(&[(); 3])], 1_000_000_000_000)
            .expect("a rate above zero");
        let process = if self.one_in(4) {
            self.process("spread")
        } else {
            Process::Constant(Constant::new(rate))
        };
        let sizes = PacketSize::Fixed([500, 1000, 1500][self.place(&[(); 3])]);
        let stream = Streams::new(self.stream.next_u64()).stream("sizes");
        let start = Time::ZERO + Duration::from_ms(self.below(100));
        let until = Time::ZERO + STOP;
        let codepoint = Codepoint::NotEct;
        self.world.datagrams.push(DatagramSpec {
            process,
            sizes,
            stream,
            start,
            until,
            bytes: None,
            data,
            codepoint,
        });
    }

    /// Adds a router that receives no more packets after some time. Afterwards only packets in flight carry its ECMP
    /// label; they share links with packets of other labels.
    fn router_aside(&mut self, fabric: &Fabric) {
        let links = [self.link(true), self.link(true)];
        let mut next_hops = Vec::new();
        for _ in 0..2 + self.below(2) {
            let onward = if self.one_in(2) { vec![self.link(true)] } else { Vec::new() };
            let next = self.world.paths.lay(&onward, fabric.delivers);
            let port = self.link(true);
            next_hops.push(self.world.paths.add(Hop::Forward { port, next }));
        }
        let spread = self.set_of(&next_hops);
        let spread = self.world.paths.add(spread);
        let before = Hop::Forward { port: links[0], next: spread };
        let entry = self.world.paths.add(before);
        let (at, until) = (self.at(), self.at());
        for _ in 0..1 + self.below(4) {
            self.burst(entry, at);
        }
        for next_hop in next_hops {
            for link in links {
                if self.one_in(3) {
                    let through = self.world.paths.lay(&[link], next_hop);
                    self.burst(through, at);
                }
            }
            if self.one_in(4) {
                self.burst(next_hop, at);
            }
        }
        let elsewhere = Hop::Forward { port: self.link(true), next: fabric.delivers };
        self.world.controls.push(Control { at, action: Action::SetHop(entry, elsewhere) });
        if until > at {
            self.world.controls.push(Control { at: until, action: Action::SetHop(entry, before) });
        }
    }

    /// Adds datagrams at a high rate around a time, several at once on each link.
    fn burst(&mut self, data: Label, around: Time) {
        let rate = PacketRate::new([500, 1000, 2000][self.place(&[(); 3])], 1_000_000_000_000)
            .expect("a rate above zero");
        let sizes = PacketSize::Fixed([100, 500, 1500][self.place(&[(); 3])]);
        let stream = Streams::new(self.stream.next_u64()).stream("sizes");
        let before = Duration::from_us(1000 + self.below(20_000));
        let start = Time::from_ps(around.as_ps().saturating_sub(before.as_ps()));
        let until = around + Duration::from_us(1000 + self.below(20_000));
        let process = Process::Constant(Constant::new(rate));
        let codepoint = Codepoint::NotEct;
        self.world.datagrams.push(DatagramSpec {
            process,
            sizes,
            stream,
            start,
            until,
            bytes: None,
            data,
            codepoint,
        });
    }

    /// Returns the labels of a destination by router.
    fn towards(&mut self, fabric: &mut Fabric, to: usize) -> Vec<Option<Label>> {
        if let Some(known) = fabric.tables.get(&to) {
            return known.clone();
        }
        let mut labels = vec![None; fabric.layer_of.len()];
        let sink = if self.one_in(2) { vec![self.link(true)] } else { Vec::new() };
        labels[to] = Some(self.world.paths.lay(&sink, fabric.delivers));
        // From the last layer to the first, so that labels behind a router exist before it.
        for router in (0..to).rev() {
            let next_hops = fabric.next_hops(router, &labels);
            if !next_hops.is_empty() {
                let hop = self.spread(fabric, &next_hops);
                labels[router] = Some(self.world.paths.add(hop));
            }
        }
        fabric.tables.insert(to, labels.clone());
        labels
    }

    /// Distributes flows over some of the next hops, or sends them to one.
    fn spread(&mut self, fabric: &mut Fabric, next_hops: &[(PortId, Label)]) -> Hop {
        let (port, next) = next_hops[self.place(next_hops)];
        if self.one_in(6) {
            return Hop::Forward { port, next };
        }
        let mut labels: Vec<Label> = Vec::new();
        for &(port, next) in next_hops {
            if !self.one_in(3) {
                labels.push(self.next_hop(fabric, port, next));
            }
        }
        if labels.len() > 2 && self.one_in(3) {
            let inner = labels.split_off(labels.len() - 2);
            let inner = self.set_of(&inner);
            labels.push(self.world.paths.add(inner));
        }
        if self.one_in(20) {
            labels.push(self.world.paths.add(Hop::Discard(port)));
        }
        if self.one_in(30) {
            labels.push(fabric.delivers);
        }
        if labels.is_empty() { Hop::Forward { port, next } } else { self.set_of(&labels) }
    }

    fn set_of(&mut self, labels: &[Label]) -> Hop {
        let next_hops = (0..).zip(labels.iter().copied()).collect();
        let hashing = self.member(Hashing::ALL);
        let seed = self.stream.next_u64();
        self.world.paths.multipath(Multipath { hashing, seed, next_hops })
    }

    /// Returns the entry for packets of one next hop of several.
    fn next_hop(&mut self, fabric: &mut Fabric, port: PortId, next: Label) -> Label {
        let hop = match self.below(24) {
            0 => Hop::Tunnel { port, next },
            1 => {
                let bundle = self.bundle(port);
                let destination = self.number(5);
                self.world.paths.entrance(BundleHop { bundle, destination, next })
            }
            2 => {
                let label = self.world.paths.open();
                let [first, second] =
                    [port, self.link(fabric.plain)].map(|port| Hop::Forward { port, next });
                self.world.paths.bridge(label, [first, second]);
                return label;
            }
            3..8 => {
                let new = || self.world.paths.add(Hop::Forward { port, next });
                Hop::Goto(*fabric.shared.entry((port, next)).or_insert_with(new))
            }
            _ => Hop::Forward { port, next },
        };
        self.world.paths.add(hop)
    }

    /// Changes the next hops of a router for one destination.
    fn reroute(&mut self, fabric: &mut Fabric) {
        let router = self.place(&fabric.layer_of);
        let tables: Vec<Vec<Option<Label>>> = fabric.tables.values().cloned().collect();
        let labels = &tables[self.place(&tables)];
        let next_hops = fabric.next_hops(router, labels);
        if let (Some(label), false) = (labels[router], next_hops.is_empty()) {
            let before = self.world.paths.hop(label);
            let changed = self.spread(fabric, &next_hops);
            self.control(Action::SetHop(label, changed));
            if self.one_in(2) {
                self.control(Action::SetHop(label, before));
            }
        }
    }
}

impl Fabric {
    /// Returns the ports of a router towards a destination, and the labels behind them.
    fn next_hops(&self, router: usize, labels: &[Option<Label>]) -> Vec<(PortId, Label)> {
        let from_here = self.links.iter().filter(|&&(from, ..)| from == router);
        from_here.filter_map(|&(_, to, port)| Some((port, labels[to]?))).collect()
    }
}
