//! Random scenarios.

mod fabric;
mod optical;
mod scheduled;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::num::NonZeroU32;
use std::sync::Arc;

use optcp_des::{Shape, Spread, Stream, Streams};
use optcp_engine::{Blueprint, DatagramSpec, QueueSpec};
use optcp_net::schedule::{Change, Drift, Schedule, Step};
use optcp_net::{
    Action, BundleHop, BundleId, Control, Corruption, Discipline, Duplication, Hashing, Hop,
    IndependentLoss, Jitter, Label, Loss, Lossy, Managed, PeriodicLoss, PortId, QueueKind,
    QueueLimit, Setting, Spoils,
};
use optcp_optical::bundle::{Bundle, Selection};
use optcp_optical::burst::{
    Adaptive, Assembler, Assembly, BurstClass, BurstPath, BurstProtection, BurstRoutes, Carrier,
    FlowClasses, Hybrid, Size, Timer,
};
use optcp_optical::switching::{BurstCore, Conversion, Failing, Fibre, FibreId, Scheduling};
use optcp_tcp::Profile;
use optcp_tcp::config::{
    AckKind, Config, CongestionKind, DuplicateAckKind, Ecn, Pacing, PathState, RecoveryKind,
};
use optcp_traffic::{
    Constant, ExponentialSize, FractalRenewal, FractionalNoise, OnOff, PacketRate, PacketSize,
    Poisson, Process, RenewalShape,
};
use optcp_units::{Bytes, Codepoint, Duration, Rate, Time};

use crate::common::WorldBuilder;

const STOP: Duration = Duration::from_ms(1500);

/// Scenario under construction with the source of its random choices.
struct Draw {
    stream: Stream,
    world: WorldBuilder,
    /// Links between routers: both ends, and the ports in both directions.
    links: Vec<([usize; 2], [PortId; 2])>,
    /// Bundles by their first port.
    bundles: Vec<(PortId, BundleId)>,
    /// Queues with several paths by the first port of the first path, with the other paths.
    served: Vec<(PortId, PortId, Vec<Vec<PortId>>)>,
    /// Number of fibres of the core, and processing time of its switches.
    fibres: FibreId,
    processing: Duration,
    /// Whether there are bursts, queues with several paths and schedules.
    all: bool,
    /// Members of registries that have been drawn.
    members: BTreeSet<String>,
}

/// Returns the name of a registry and its member.
fn named<T: Debug>(member: &T) -> String {
    let registry = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
    format!("{registry}::{member:?}")
}

/// Returns all members of which some scenarios must be drawn.
pub(crate) fn members() -> Vec<String> {
    fn all<T: Debug>(registry: &[T]) -> impl Iterator<Item = String> {
        registry.iter().map(named)
    }
    all(QueueKind::ALL)
        .chain(all(Selection::ALL))
        .chain(all(Scheduling::ALL))
        .chain(all(Conversion::ALL))
        .chain(all(BurstProtection::ALL))
        .chain(all(DuplicateAckKind::ALL))
        .chain(all(Ecn::ALL))
        .chain(all(Hashing::ALL))
        .collect()
}

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.stream.below(bound)
    }

    fn number(&mut self, bound: u32) -> u32 {
        u32::try_from(self.below(u64::from(bound))).expect("below a u32")
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn place<T>(&mut self, of: &[T]) -> usize {
        usize::try_from(self.below(of.len() as u64)).expect("a place")
    }

    /// Draws from a separate stream, which takes one number of the main stream. Changes there do not affect other
    /// draws.
    fn about<T>(&mut self, question: &str, make: impl FnOnce(&mut Self) -> T) -> T {
        let own = Streams::new(self.stream.next_u64()).stream(question);
        let others = std::mem::replace(&mut self.stream, own);
        let made = make(self);
        self.stream = others;
        made
    }

    /// Returns the member of a registry with the minimum score. Scores are independent of other members, so a new
    /// member changes only the scenarios that use it.
    fn member<T: Copy + Debug>(&mut self, registry: &[T]) -> T {
        let scores = Streams::new(self.stream.next_u64());
        let score = |member: &&T| scores.stream(&format!("{member:?}")).next_u64();
        let member = *registry.iter().min_by_key(score).expect("a registry has members");
        self.members.insert(named(&member));
        member
    }

    /// Draws a delay variation.
    fn kept(&mut self) -> Spread {
        let most = Duration::from_us(1 + self.stream.below(3000));
        match self.below(3) {
            0 => Spread::Cut { shape: Shape::Exponential, mean: most, most: None },
            1 => Spread::Choice([Duration::ZERO, Duration::ZERO, most].into()),
            _ => Spread::Uniform { low: Duration::ZERO, high: most },
        }
    }

    fn port(&mut self) -> PortId {
        let limit = match self.below(4) {
            0 => QueueLimit::Unlimited,
            1 => QueueLimit::Bytes(700 + 1500 * self.below(20)),
            _ => QueueLimit::Packets(1 + self.number(30)),
        };
        // Whole milliseconds, and rates that divide each other, cause ties.
        let mbps = [2, 4, 8, 20, 30][self.place(&[(); 5])];
        let delay = Duration::from_ms(self.below(20));
        let delay =
            if self.one_in(3) { delay + Duration::from_ps(self.below(1_000_000)) } else { delay };
        let port = self.world.port(mbps, delay, limit);
        let (kept, overtaking) = (self.kept(), self.one_in(3));
        let (config, _) = &mut self.world.ports[port.index()];
        let stream = Streams::new(u64::from(port.number())).stream("port");
        if self.stream.below(12) == 0 {
            config.jitter = Some(Jitter::new(kept, overtaking, stream.clone()));
        }
        if self.stream.below(4) == 0 {
            let discipline = self.some_discipline();
            let (config, _) = &mut self.world.ports[port.index()];
            let stream = Some(stream.clone());
            config.managed = Some(Box::new(Managed {
                discipline,
                stream,
                classes: Arc::from([0, 3, 1]),
                trimmable: Arc::default(),
            }));
        }
        let (_, losses) = &mut self.world.ports[port.index()];
        if self.stream.below(10) == 0 {
            let period =
                NonZeroU32::MIN.saturating_add(u32::try_from(self.stream.below(99)).unwrap_or(0));
            losses.push(Loss::Periodic(PeriodicLoss::new(Lossy::Both, period)));
        }
        if self.stream.below(10) == 0 {
            losses.push(Loss::Independent(IndependentLoss::new(Lossy::Data, 0.02, stream.clone())));
        }
        if self.stream.below(16) == 0 {
            losses.push(Loss::Duplication(Duplication::new(Lossy::Both, 0.05, stream.clone())));
        }
        if self.stream.below(16) == 0 {
            losses.push(Loss::Corruption(Corruption::new(Lossy::Both, Spoils::Bits(2e-6), stream)));
        }
        port
    }

    /// Draws from a separate stream, so that a new discipline or parameter changes nothing else.
    fn some_discipline(&mut self) -> Discipline {
        self.about("discipline", |draw| {
            let kind = draw.member(QueueKind::ALL);
            draw.discipline(kind)
        })
    }

    /// Draws parameters that have an effect on the short queues of these scenarios.
    fn discipline(&mut self, kind: QueueKind) -> Discipline {
        let mut discipline = Discipline::of(kind);
        for parameter in kind.parameters() {
            let before = discipline.get(parameter.name);
            let setting = self.about(parameter.name, |draw| {
                let setting = match before? {
                    Setting::Flag(_) => Setting::Flag(draw.one_in(2)),
                    Setting::Length(_) if draw.one_in(2) => {
                        Setting::Length(QueueLimit::Packets(1 + draw.number(4)))
                    }
                    Setting::Length(_) => {
                        Setting::Length(QueueLimit::Bytes(500 + draw.below(4000)))
                    }
                    Setting::Time(_) => Setting::Time(Duration::from_us(100 + draw.below(20_000))),
                    _ => return None,
                };
                draw.one_in(2).then_some(setting)
            });
            if let Some(setting) = setting {
                discipline.set(parameter.name, setting);
            }
        }
        // Parameters drawn may be inconsistent.
        if discipline.fault().is_some() { Discipline::of(kind) } else { discipline }
    }

    /// Draws a path without loops between two routers, router by router; takes the shortest path after a dead end.
    fn way(&mut self, from: usize, to: usize) -> Vec<PortId> {
        let mut seen = vec![from];
        let (mut at, mut ports) = (from, Vec::new());
        while at != to {
            let next: Vec<(usize, PortId)> = self
                .links
                .iter()
                .flat_map(|&([a, b], [there, back])| [(a, b, there), (b, a, back)])
                .filter(|&(a, b, _)| a == at && !seen.contains(&b))
                .map(|(_, b, port)| (b, port))
                .collect();
            if next.is_empty() {
                return self.way(from, to);
            }
            let (router, port) = next[self.place(&next)];
            seen.push(router);
            ports.push(port);
            at = router;
        }
        ports
    }

    fn config(&mut self) -> Config {
        let base = match self.below(6) {
            0 => Profile::Ns2Of2001.config(),
            1 => Profile::Linux6.config(),
            2 => Config {
                congestion: CongestionKind::Bbr,
                pacing: Pacing::Rate,
                ..Profile::Linux6.config()
            },
            3 => Config { recovery: RecoveryKind::Sack, ..Profile::Rfc.config() },
            4 => Profile::Inet2011.config(),
            _ => Profile::Rfc.config(),
        };
        let ack = if self.one_in(3) { AckKind::Delayed } else { base.ack };
        let ack_delay = base.ack_delay.max(Duration::from_ms(40));
        // Path lengths differ, and labels are switched.
        let duplicate_acks = self.member(DuplicateAckKind::ALL);
        let (window_limit, some_ecn) = (2 + self.number(60), self.member(Ecn::ALL));
        let congestion = match base.congestion {
            CongestionKind::Bbr if window_limit % 2 == 1 => CongestionKind::Bbr3,
            // ACKs carry their own timestamps.
            CongestionKind::Cubic if window_limit % 3 == 1 => CongestionKind::Lp,
            // The sender responds to ports that set ECE.
            CongestionKind::Reno if window_limit % 3 == 1 => CongestionKind::Retcp,
            other => other,
        };
        let ecn = match window_limit % 5 {
            0 => some_ecn,
            _ => base.ecn,
        };
        Config { window_limit, congestion, ack, ack_delay, duplicate_acks, ecn, ..base }
    }

    fn at(&mut self) -> Time {
        // Half of the times are whole milliseconds, when packets also arrive.
        let at = Duration::from_ms(self.below(1500));
        let at = if self.one_in(2) { at } else { at + Duration::from_us(self.below(1000)) };
        Time::ZERO + at
    }

    /// Adds flows between two routers, with possible changes of their path.
    fn group(&mut self, path: u32, routers: &[usize]) {
        let from = routers[self.place(routers)];
        let to = routers[self.place(routers)];
        let shared = self.one_in(2);
        let mut access = [(); 4].map(|()| self.port_of_way());
        let (way, back) = (self.way(from, to), self.way(to, from));
        for _ in 0..1 + self.below(4) {
            if !shared {
                access = [(); 4].map(|()| self.port_of_way());
            }
            let around = |first, way: &[PortId], last| [&[first], way, &[last]].concat();
            let there = around(access[0], &way, access[1]);
            let home = around(access[2], &back, access[3]);
            let config = self.config();
            let segments = (!self.one_in(4)).then(|| 1 + self.number(300));
            let start = Time::ZERO + Duration::from_ms(self.below(400));
            let data = self.begin(2 * path, &there);
            let acks = self.begin(2 * path + 1, &home);
            self.world.flow_from(&config, segments, start, (data, acks));
        }
        if from == to {
            return;
        }
        // Data of one flow take another path for a time.
        let route = [&way[..], &access[1..2]].concat();
        let entry = self.world.paths.entry(2 * path, &route);
        let direct = self.world.paths.hop(entry);
        // Some detours reach the receiver over another link.
        let (mut other, mut onto) = (self.way(from, to), &access[1..2]);
        if self.one_in(2) {
            other.push(self.port_of_way());
            onto = &[];
        }
        let onto = self.world.paths.entry(2 * path, onto);
        let pipe = self.one_in(2);
        let detour = self.world.paths.tunnel(&other, onto, pipe);
        for _ in 0..self.below(4) {
            let hop = match self.below(6) {
                0 => Hop::Discard(way[0]),
                1 | 2 => detour,
                _ => direct,
            };
            self.control(Action::SetHop(entry, hop));
        }
        if self.one_in(8) {
            self.turn_back(2 * path, entry, &way, access[1]);
        }
    }

    /// Draws an arrival process.
    fn process(&mut self, name: &str) -> Process {
        // Rates that divide each other, and times in whole milliseconds, cause ties.
        let rate = PacketRate::new([50, 100, 200, 500][self.place(&[(); 4])], 1_000_000_000_000)
            .expect("a rate above zero");
        let stream = Streams::new(self.stream.next_u64()).stream(name);
        match self.below(6) {
            0 | 1 => Process::Constant(Constant::new(rate)),
            2 => Process::Poisson(Poisson::new(rate, stream)),
            3 => {
                let times = [Duration::from_ms(30), Duration::from_ms(50)];
                Process::OnOff(OnOff::new(rate, 1 + self.number(5), times, 0.7, stream))
            }
            4 => {
                let shape = RenewalShape::Processes(1 + self.number(20));
                Process::FractalRenewal(FractalRenewal::new(rate, 0.8, shape, stream))
            }
            _ => {
                let slot = (Duration::from_ms(20), 1.0);
                Process::FractionalNoise(FractionalNoise::new(rate, 0.7, slot, STOP, stream))
            }
        }
    }

    /// Adds datagram sources between two routers, over their own links or on the path of a group.
    fn source(&mut self, path: u32, routers: &[usize]) {
        let from = routers[self.place(routers)];
        let to = routers[self.place(routers)];
        let (first, last) = (self.port_of_way(), self.port_of_way());
        let way = self.way(from, to);
        // Some have no access link and share the port of the first router.
        let route = match self.one_in(3) && !way.is_empty() {
            true => [&way[..], &[last]].concat(),
            false => [&[first], &way[..], &[last]].concat(),
        };
        for _ in 0..1 + self.below(2) {
            let process = self.process("arrivals");
            let sizes = match self.below(3) {
                0 => PacketSize::Fixed(1500),
                1 => PacketSize::Fixed(500),
                _ => PacketSize::Exponential(
                    ExponentialSize::new(128, 40, 1500).expect("a possible mean"),
                ),
            };
            let start = Time::ZERO + Duration::from_ms(self.below(400));
            let stream = Streams::new(self.stream.next_u64()).stream("sizes");
            let data = self.begin(path, &route);
            let until = self.at();
            let codepoint =
                [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1][self.place(&[(); 3])];
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
        if from != to {
            let entry = self.world.paths.entry(path, &[&way[..], &[last]].concat());
            let direct = self.world.paths.hop(entry);
            // Some detours reach the sink over another link, or a changed one.
            let (mut other, mut onto) = (self.way(from, to), vec![last]);
            if self.one_in(2) {
                other.push(self.port_of_way());
                onto.clear();
            }
            let onto = self.world.paths.entry(path, &onto);
            let detour = self.world.paths.tunnel(&other, onto, false);
            if self.one_in(3) && !self.assembles(last) {
                let delay = Duration::from_ms(self.below(5));
                self.control(Action::SetDelay(last, delay));
            }
            for _ in 0..self.below(3) {
                let hop = if self.one_in(2) { detour } else { direct };
                self.control(Action::SetHop(entry, hop));
            }
        }
    }

    /// Returns the first label of a path, in which a link between routers may belong to a bundle.
    fn begin(&mut self, path: u32, route: &[PortId]) -> Label {
        let between = &route[1..route.len() - 1];
        if between.iter().any(|&port| self.assembles(port)) || between.is_empty() || !self.one_in(3)
        {
            return self.world.paths.entry(path, route);
        }
        let at = 1 + self.place(between);
        if self.one_in(3) && self.all {
            return self.queued(path, route, at);
        }
        let bundle = self.bundle(route[at]);
        let next = self.world.paths.entry(path, &route[at + 1..]);
        let destination = self.number(5);
        let into = self.world.paths.entrance(BundleHop { bundle, destination, next });
        let node = self.world.paths.open();
        self.world.paths.set(node, into);
        if self.one_in(4) {
            // Packets use a fixed link for a time.
            let members = self.world.bundles[bundle as usize].members();
            let port = members[members.len() - 1];
            self.control(Action::SetHop(node, Hop::Forward { port, next }));
            self.control(Action::SetHop(node, into));
        }
        self.world.paths.lay(&route[..at], node)
    }

    /// Returns the first label of a path in which one link is a path behind a queue.
    fn queued(&mut self, path: u32, route: &[PortId], at: usize) -> Label {
        let first = route[at];
        let known = self.served.iter().find(|&&(port, ..)| port == first).cloned();
        let (_, queue, ways) = known.unwrap_or_else(|| {
            let queue = self.port();
            self.world.ports[queue.index()].0.held = true;
            let mut ways = vec![vec![first]];
            for _ in 0..1 + self.below(2) {
                let way = (0..1 + self.below(2)).map(|_| self.port()).collect();
                ways.push(way);
            }
            // The transmitter also serves another queue.
            if let Some((_, _, others)) = self.served.last()
                && self.stream.below(2) == 0
            {
                ways.push(vec![others[others.len() - 1][0]]);
            }
            let served = self.way_of(&ways);
            // A separate stream keeps other draws unchanged.
            let mut own = Streams::new(u64::from(queue.number())).stream("notify");
            let notify = (own.below(2) == 0).then(|| Duration::from_ms(own.below(30)));
            self.world.queues.push(QueueSpec { port: queue, ways: ways.clone(), served, notify });
            self.served.push((first, queue, ways));
            self.served[self.served.len() - 1].clone()
        });
        let next = self.world.paths.entry(path, &route[at + 1..]);
        let behind = self.world.paths.ways(&ways, next);
        let behind = self.world.paths.add(behind);
        let node = self.world.paths.add(Hop::Forward { port: queue, next: behind });
        self.world.paths.lay(&route[..at], node)
    }

    /// Makes the second router return packets to the first for a time.
    fn turn_back(&mut self, path: u32, first: Label, way: &[PortId], last: PortId) {
        let port = way[0];
        let Some(&(_, [there, back])) = self.links.iter().find(|(_, ports)| ports.contains(&port))
        else {
            return;
        };
        let home = if port == there { back } else { there };
        let rest = [&way[1..], &[last]].concat();
        let second = self.world.paths.entry(path, &rest);
        let direct = self.world.paths.hop(second);
        self.control(Action::SetHop(second, Hop::Forward { port: home, next: first }));
        self.control(Action::SetHop(second, direct));
    }

    fn control(&mut self, action: Action) {
        let at = self.at();
        self.world.controls.push(Control { at, action });
    }
}

/// Returns the scenario of a seed.
pub(crate) fn world(seed: u64) -> Blueprint {
    drawn(seed, true).0
}

/// Returns the scenario of a seed, and the members of registries that it uses.
pub(crate) fn world_and_members(seed: u64) -> (Blueprint, BTreeSet<String>) {
    drawn(seed, true)
}

/// Returns a scenario without bursts, queues with several paths and schedules.
pub(crate) fn world_of_packets(seed: u64) -> Blueprint {
    drawn(seed, false).0
}

fn drawn(seed: u64, all: bool) -> (Blueprint, BTreeSet<String>) {
    let stream = Streams::new(seed).stream("world");
    let mut draw = Draw {
        stream,
        world: WorldBuilder::default(),
        links: Vec::new(),
        bundles: Vec::new(),
        served: Vec::new(),
        fibres: 0,
        processing: Duration::ZERO,
        all,
        members: BTreeSet::new(),
    };
    draw.core();
    let routers: Vec<usize> = (0..3 + draw.place(&[(); 4])).collect();
    for &router in &routers {
        let mut ends = vec![[router, (router + 1) % routers.len()]];
        if draw.one_in(3) {
            ends.push([router, (router + 2) % routers.len()]);
        }
        for ends in ends {
            let ports = [draw.port_of_way(), draw.port_of_way()];
            draw.links.push((ends, ports));
        }
    }
    for path in 0..1 + draw.number(4) {
        draw.group(path, &routers);
    }
    // Paths of groups use two numbers each.
    for path in 0..draw.number(4) {
        draw.source(100 + path, &routers);
    }
    let ports: Vec<PortId> = PortId::all().take(draw.world.ports.len()).collect();
    let queues: Vec<PortId> = draw.world.queues.iter().map(|queue| queue.port).collect();
    let plain: Vec<PortId> = (ports.into_iter())
        .filter(|&port| !draw.assembles(port) && !queues.contains(&port))
        .collect();
    draw.listeners();
    if !queues.is_empty() || (draw.one_in(3) && draw.all) {
        for _ in 0..1 + draw.below(2) {
            // Possible scheduled changes depend on the disciplines.
            draw.about("schedule", |draw| draw.schedule(&plain));
        }
    }
    for &port in &plain {
        let ordered = draw.one_in(2);
        draw.world.ports[port.index()].0.ordered = ordered
            && draw.world.schedules.iter().any(|one| one.ports().any(|other| other == port));
    }
    for _ in 0..draw.below(8) {
        let port = plain[draw.place(&plain)];
        let action = match draw.below(8) {
            0..3 => Action::PortDown(port),
            3..6 => Action::PortClosed(port),
            6 => Action::PortUp(port),
            _ => Action::SetDelay(port, Duration::from_ms(draw.below(30))),
        };
        // Effects of a failure become visible only after a repair.
        if matches!(action, Action::PortDown(_)) {
            draw.control(Action::PortUp(port));
        }
        let at = draw.at();
        draw.world.controls.push(Control { at, action });
        // A port that reopens soon after closing still holds packets.
        if matches!(action, Action::PortClosed(_)) && !draw.one_in(4) {
            let at = at + Duration::from_us(draw.below(2_000));
            draw.world.controls.push(Control { at, action: Action::PortUp(port) });
        }
    }
    for port in plain {
        if draw.one_in(3) {
            draw.world.tallied.push(port);
        }
    }
    draw.fabric(seed);
    (draw.world.build(Time::ZERO + STOP), draw.members)
}
