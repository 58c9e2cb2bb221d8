//! Small scenarios for the tests of the engine.
#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;

use optcp_des::{Key, Streams};
use optcp_engine::observe::{Column, Observations, ObserveKind, Observer, Record, Values, Watched};
use optcp_engine::{Blueprint, DatagramSpec, Engine, FlowSpec, QueueSpec};
use optcp_net::schedule::Schedule;
use optcp_net::{
    Control, Crossbar, Label, Loss, Packet, PathId, Paths, PortConfig, PortId, QueueLimit,
};
use optcp_optical::bundle::Bundle;
use optcp_optical::burst::Assembler;
use optcp_optical::switching::BurstCore;
use optcp_tcp::Config;
use optcp_units::{Duration, Rate, Time};

/// Returns the time `ms` milliseconds after the start.
pub fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Returns the engines that are compared with the reference: fast, fast with all departures as events, and with a
/// mixture of both.
pub fn checked(seed: u64) -> [Engine; 3] {
    let some = Streams::new(seed).stream("stepped").next_u64();
    [Engine::Fast, Engine::Stepped(u64::MAX), Engine::Stepped(some)]
}

/// Returns windows of random length, in half of the cases with departures of a few ports as events.
pub fn windows(seed: u64) -> Engine {
    let mut stream = Streams::new(seed).stream("windows");
    let length = 27 + u32::try_from(stream.below(6)).expect("below 6");
    let few = stream.next_u64() & stream.next_u64() & stream.next_u64();
    Engine::Windows { length: Some(length), stepped: if seed.is_multiple_of(2) { 0 } else { few } }
}

/// Every engine, with all departures as events and with none.
pub const ENGINES: [Engine; 3] = [Engine::Reference, Engine::Fast, Engine::Stepped(u64::MAX)];

/// Every record with its event.
#[derive(Clone, Debug, Default)]
pub struct Log(Vec<(Key, Record)>);

impl Log {
    /// Returns the records in order, each with its time.
    pub fn in_order(mut self) -> Vec<(Time, Record)> {
        // Engines detect at different events that a packet with copies is lost.
        let lost = |record| match record {
            Record::Lost { flow, reason } => Some((flow.number(), reason)),
            _ => None,
        };
        self.0.sort_by_key(|&(event, record)| (event, lost(record)));
        self.0.into_iter().map(|(event, record)| (event.time(), plain(record))).collect()
    }
}

/// Removes the numbers under which endpoints store ACK contents or copied packets, because they are arbitrary.
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
        Record::Trimmed { port, packet } => Record::Trimmed { port, packet: strip(packet) },
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

/// Returns the digest of all records, and observations of all ports and flows in a single interval.
pub fn everything(blueprint: &Blueprint, kinds: &[ObserveKind]) -> Observations {
    let flows = blueprint.flows.len() + blueprint.datagrams.len();
    let ports: Vec<PortId> = PortId::all().take(blueprint.ports.len()).collect();
    let mut observations = Observations::default();
    observations.add_digest(ports.len(), flows);
    let watched = Watched {
        blueprint,
        group_of: &vec![0; flows],
        external: &[],
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

/// Returns the columns of each observation.
pub fn columns(observations: &Observations) -> Vec<Vec<Column>> {
    observations.findings().map(|found| found.columns).collect()
}

/// Returns the only value of a column of integers or floating-point numbers.
pub fn value(columns: &[Column], name: &str) -> f64 {
    match &columns.iter().find(|column| column.name == name).expect("a column").values {
        Values::U64(values) => values[0] as f64,
        Values::F64(values) => values[0],
        other => panic!("{other:?}"),
    }
}

/// Builder of a scenario.
#[derive(Default)]
pub struct WorldBuilder {
    pub ports: Vec<(PortConfig, Vec<Loss>)>,
    pub paths: Paths,
    pub bundles: Vec<Bundle>,
    pub crossbars: Vec<Crossbar>,
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
    /// Adds a port of `mbps` Mb/s.
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

    /// Adds a flow whose segments and ACKs start with these labels.
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

    /// Returns the finished scenario.
    pub fn build(mut self, stop: Time) -> Blueprint {
        self.controls.sort_by_key(|control| control.at);
        Blueprint {
            bundles: self.bundles,
            crossbars: self.crossbars,
            assemblers: self.assemblers,
            core: self.core,
            resequencers: Vec::new(),
            tallied: self.tallied,
            ports: self.ports,
            labels: self.paths.into_labels(),
            flows: self.flows,
            applications: optcp_engine::ApplicationsSpec::default(),
            datagrams: self.datagrams,
            externals: Vec::new(),
            connections: Vec::new(),
            queues: self.queues,
            schedules: self.schedules,
            controls: self.controls,
            stop,
        }
    }
}
