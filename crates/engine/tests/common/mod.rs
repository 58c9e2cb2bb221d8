//! Small worlds for the tests of the engine.
#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;

use optcp_des::{Key, Streams};
use optcp_engine::observe::{Column, Observations, ObserveKind, Observer, Record, Values, Watched};
use optcp_engine::{Blueprint, DatagramSpec, Engine, FlowSpec, QueueSpec};
use optcp_net::schedule::Schedule;
use optcp_net::{Control, Label, Loss, Packet, PathId, Paths, PortConfig, PortId, QueueLimit};
use optcp_optical::bundle::Bundle;
use optcp_optical::burst::Assembler;
use optcp_optical::switching::BurstCore;
use optcp_tcp::Config;
use optcp_units::{Duration, Rate, Time};

/// `ms` milliseconds after the start.
pub fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// The engines that are checked against the reference: fast, with departures as events, and with some ports of
/// each kind.
pub fn checked(seed: u64) -> [Engine; 3] {
    let some = Streams::new(seed).stream("stepped").next_u64();
    [Engine::Fast, Engine::Stepped(u64::MAX), Engine::Stepped(some)]
}

/// Windows of any length, in half of the worlds with departures of a few ports as events.
pub fn windows(seed: u64) -> Engine {
    let mut stream = Streams::new(seed).stream("windows");
    let length = 27 + u32::try_from(stream.below(6)).expect("below 6");
    let few = stream.next_u64() & stream.next_u64() & stream.next_u64();
    Engine::Windows { length: Some(length), stepped: if seed.is_multiple_of(2) { 0 } else { few } }
}

/// Every engine, with all departures as events and without.
pub const ENGINES: [Engine; 3] = [Engine::Reference, Engine::Fast, Engine::Stepped(u64::MAX)];

/// Every record with its event.
#[derive(Clone, Debug, Default)]
pub struct Log(Vec<(Key, Record)>);

impl Log {
    /// The records in order, each with its instant.
    pub fn in_order(mut self) -> Vec<(Time, Record)> {
        // Engines learn at different events that a packet with copies is lost.
        let lost = |record| match record {
            Record::Lost { flow, reason } => Some((flow.number(), reason)),
            _ => None,
        };
        self.0.sort_by_key(|&(event, record)| (event, lost(record)));
        self.0.into_iter().map(|(event, record)| (event.time(), plain(record))).collect()
    }
}

/// The record without the place where an endpoint keeps what an ACK says, or that of a copied packet: any is as good.
fn plain(record: Record) -> Record {
    let strip = |mut packet: Packet| {
        if packet.stored_number().is_some() || packet.copy_of().is_some() {
            packet.options = 0;
        }
        packet
    };
    match record {
        Record::Accepted { port, packet } => Record::Accepted { port, packet: strip(packet) },
        Record::Transmitted { port, packet, waited } => {
            Record::Transmitted { port, packet: strip(packet), waited }
        }
        Record::Marked { port, packet } => Record::Marked { port, packet: strip(packet) },
        Record::Dropped { port, packet, reason } => {
            Record::Dropped { port, packet: strip(packet), reason }
        }
        other => other,
    }
}

impl Observer for Log {
    fn record(&mut self, event: Key, record: Record) {
        self.0.push((event, record));
    }

    fn wants_updates(&self) -> bool {
        true
    }

    fn watches(&self, _: PortId) -> bool {
        true
    }

    fn helper(&self) -> Self {
        Log::default()
    }

    fn absorb(&mut self, helper: &mut Self) {
        self.0.append(&mut helper.0);
    }
}

/// The digest of a world's records, and observations of all its ports and flows, in one interval.
pub fn everything(blueprint: &Blueprint, kinds: &[ObserveKind]) -> Observations {
    let flows = blueprint.flows.len() + blueprint.datagrams.len();
    let ports: Vec<PortId> = PortId::all().take(blueprint.ports.len()).collect();
    let mut observations = Observations::default();
    observations.add_digest(ports.len(), flows);
    let watched = Watched {
        blueprint,
        group_of: &vec![0; flows],
        groups: &[0],
        ports: &ports,
        fibres: &[],
        after: Duration::ZERO,
        until: None,
        interval: blueprint.stop.saturating_since(Time::ZERO),
    };
    kinds.iter().for_each(|&kind| observations.add(kind, &watched));
    observations
}

/// The columns of each observation.
pub fn columns(observations: &Observations) -> Vec<Vec<Column>> {
    observations.findings().map(|found| found.columns).collect()
}

/// The only value of a column, of whole numbers or real ones.
pub fn value(columns: &[Column], name: &str) -> f64 {
    match &columns.iter().find(|column| column.name == name).expect("a column").values {
        Values::U64(values) => values[0] as f64,
        Values::F64(values) => values[0],
        other => panic!("{other:?}"),
    }
}

/// A world in the making.
#[derive(Default)]
pub struct WorldBuilder {
    pub ports: Vec<(PortConfig, Vec<Loss>)>,
    pub paths: Paths,
    pub bundles: Vec<Bundle>,
    pub assemblers: Vec<Assembler>,
    pub core: BurstCore,
    pub tallied: Vec<PortId>,
    pub flows: Vec<FlowSpec>,
    pub datagrams: Vec<DatagramSpec>,
    pub queues: Vec<QueueSpec>,
    pub schedules: Vec<Schedule>,
    pub controls: Vec<Control>,
}

impl WorldBuilder {
    /// Adds a port of `mbps` megabits a second.
    pub fn port(&mut self, mbps: u64, delay: Duration, limit: QueueLimit) -> PortId {
        let rate = Rate::from_bps(mbps * 1_000_000).expect("a rate above zero");
        self.ports.push((PortConfig::new(rate, delay, limit), Vec::new()));
        PortId::at(self.ports.len() - 1)
    }

    /// Adds a flow over the ports `there`, with ACKs over `back`.
    pub fn flow(
        &mut self,
        config: &Config,
        segments: Option<u32>,
        start: Time,
        path: PathId,
        (there, back): (&[PortId], &[PortId]),
    ) {
        let data = self.paths.entry(2 * path, there);
        let acks = self.paths.entry(2 * path + 1, back);
        self.flow_from(config, segments, start, (data, acks));
    }

    /// Adds a flow whose segments and ACKs begin under these labels.
    pub fn flow_from(
        &mut self,
        config: &Config,
        segments: Option<u32>,
        start: Time,
        (data, acks): (Label, Label),
    ) {
        let config = Arc::new(config.clone());
        self.flows.push(FlowSpec {
            writes: Vec::new(),
            config,
            segments,
            start,
            clock_phase: Duration::ZERO,
            ack_clock_phase: Duration::ZERO,
            data,
            acks,
            notified_by: None,
        });
    }

    /// The finished world.
    pub fn build(mut self, stop: Time) -> Blueprint {
        self.controls.sort_by_key(|control| control.at);
        Blueprint {
            bundles: self.bundles,
            assemblers: self.assemblers,
            core: self.core,
            tallied: self.tallied,
            ports: self.ports,
            labels: self.paths.into_labels(),
            flows: self.flows,
            datagrams: self.datagrams,
            queues: self.queues,
            schedules: self.schedules,
            controls: self.controls,
            stop,
        }
    }
}
