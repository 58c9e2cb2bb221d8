//! Workload of speed measurements: greedy flows of one TCP over a dumbbell.
//!
//! N sources, N sinks, two routers; three links in each direction. The bottleneck has N times 10
//! Mb/s and 48 ms, access links ten times its rate. RTTs are 99 to 101 ms, because equal RTTs would
//! synchronise the flows. One packet-hop is one transmission of a data packet or an ACK over one
//! link. Their number is 3 x data sent on the bottleneck + data dropped there + 3 x ACKs. This
//! number is a property of the workload and does not depend on the engine. The compared TCPs have
//! packets of equal size.

use std::sync::Arc;

use optcp_engine::{Blueprint, Engine, FlowSpec, Simulation};
use optcp_net::{Paths, PortConfig, PortId, QueueLimit};
use optcp_optical::switching::BurstCore;
use optcp_tcp::config::{CongestionKind, Pacing, RecoveryKind};
use optcp_tcp::{Config, Profile};
use optcp_units::{Bytes, Duration, Rate, Time};

/// Ports: bottleneck forward and backward, then four per flow.
const BOTTLENECK: PortId = PortId::new(0);
const BACK: PortId = PortId::new(1);
const ACCESS_BUFFER: QueueLimit = QueueLimit::Packets(10_000);

/// TCP of the flows, at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tcp {
    /// NewReno: profile `rfc` with the sizes of Linux.
    NewReno,
    /// NewReno with SACK.
    Sack,
    /// Profile `linux-6`.
    Linux6,
    /// Profile `linux-6` with BBR.
    Bbr,
}

impl Tcp {
    /// All TCPs; the others are compared with the first.
    pub const ALL: [Tcp; 4] = [Tcp::NewReno, Tcp::Sack, Tcp::Linux6, Tcp::Bbr];

    /// Returns its name in result rows.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tcp::NewReno => "newreno",
            Tcp::Sack => "sack",
            Tcp::Linux6 => "linux-6",
            Tcp::Bbr => "bbr",
        }
    }

    fn config(self) -> Config {
        let newreno = Config {
            mss: Bytes::new(1448),
            header: Bytes::new(52),
            ack_size: Bytes::new(52),
            initial_window: 10,
            initial_ssthresh: Some(64),
            min_rto: Duration::from_ms(250),
            ..Profile::Rfc.config()
        };
        match self {
            Tcp::NewReno => newreno,
            Tcp::Sack => Config { recovery: RecoveryKind::Sack, ..newreno },
            Tcp::Linux6 => Profile::Linux6.config(),
            Tcp::Bbr => Config {
                congestion: CongestionKind::Bbr,
                pacing: Pacing::Rate,
                ..Profile::Linux6.config()
            },
        }
    }
}

/// Creates the dumbbell with `flows` flows for `seconds`.
fn dumbbell(tcp: Tcp, flows: u32, seconds: u64) -> Blueprint {
    let rate = |mbps: u64| Rate::from_bps(mbps * 1_000_000).expect("at least one flow");
    let (bottleneck, access) = (rate(u64::from(flows) * 10), rate(u64::from(flows) * 100));
    let port = |rate, delay, limit| (PortConfig::new(rate, delay, limit), Vec::new());
    // A tenth of the BDP at 100 ms, in packets of 1500 bytes: 8 1/3 per flow.
    let buffer = QueueLimit::Packets(flows * 25 / 3);
    let span = Duration::from_ms(48);
    let mut ports =
        vec![port(bottleneck, span, buffer), port(bottleneck, span, QueueLimit::Packets(10_000))];
    let config = Arc::new(tcp.config());
    let mut paths = Paths::default();
    let mut specs = Vec::new();
    for flow in 0..flows {
        let near = Duration::from_us(500) + fraction(flow, 7549, Duration::from_ms(1));
        let far = Duration::from_ms(1);
        ports.extend([near, far, far, near].map(|delay| port(access, delay, ACCESS_BUFFER)));
        let [first, last, first_back, last_back] = access_ports(flow);
        let there = [first, BOTTLENECK, last];
        let back = [first_back, BACK, last_back];
        specs.push(FlowSpec {
            writes: Vec::new(),
            config: Arc::clone(&config),
            segments: None,
            start: Time::ZERO + fraction(flow, 6180, Duration::from_secs(1)),
            clock_phase: Duration::ZERO,
            ack_clock_phase: Duration::ZERO,
            data: paths.entry(2 * flow, &there),
            acks: paths.entry(2 * flow + 1, &back),
            notified_by: None,
        });
    }
    let stop = Time::ZERO + Duration::from_secs(seconds);
    Blueprint {
        queues: Vec::new(),
        schedules: Vec::new(),
        ports,
        labels: paths.into_labels(),
        bundles: Vec::new(),
        crossbars: Vec::new(),
        assemblers: Vec::new(),
        core: BurstCore::default(),
        resequencers: Vec::new(),
        flows: specs,
        applications: optcp_engine::ApplicationsSpec::default(),
        datagrams: Vec::new(),
        externals: Vec::new(),
        connections: Vec::new(),
        tallied: Vec::new(),
        controls: Vec::new(),
        stop,
    }
}

/// Returns the ports of a flow's access links: first and last forward, first and last backward.
fn access_ports(flow: u32) -> [PortId; 4] {
    [2, 3, 4, 5].map(|port| PortId::new(4 * flow + port))
}

/// Returns the fractional part of `index` x `ten_thousandths` / 10 000, multiplied by `whole`.
fn fraction(index: u32, ten_thousandths: u64, whole: Duration) -> Duration {
    let part = u64::from(index) * ten_thousandths % 10_000;
    Duration::from_ps(whole.as_ps() / 10_000 * part)
}

/// Result of a workload run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkloadResult {
    /// Number of packet-hops, as defined by the workload.
    pub packet_hops: u64,
    /// Share of the bottleneck's rate used by data in the second half.
    pub utilisation: f64,
    /// Number of events that the engine processed.
    pub events: u64,
}

/// Run of the workload.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    simulation: Simulation<()>,
    /// Rate of the bottleneck.
    rate: Rate,
}

impl Dumbbell {
    /// Creates the run at time zero; this is the set-up.
    ///
    /// # Panics
    /// Without flows.
    #[must_use]
    pub fn new(tcp: Tcp, flows: u32, seconds: u64, engine: Engine) -> Self {
        let blueprint = dumbbell(tcp, flows, seconds);
        let rate = blueprint.ports[BOTTLENECK.index()].0.rate;
        Dumbbell { simulation: Simulation::new(&blueprint, engine, ()), rate }
    }

    /// Creates the run for up to this number of threads.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        Dumbbell { simulation: self.simulation.on_threads(threads), ..self }
    }

    /// Simulates everything before `limit`.
    pub fn run_before(&mut self, limit: Time) {
        self.simulation.run_before(limit);
    }

    /// Runs to the end.
    pub fn run(&mut self) -> WorkloadResult {
        let stop = self.simulation.stop();
        let half = Time::from_ps(stop.as_ps() / 2);
        self.simulation.run_before(half);
        let sent_by_half = transmitted(&self.simulation, BOTTLENECK);
        self.simulation.run();
        let sent = transmitted(&self.simulation, BOTTLENECK);
        let dropped = self.simulation.port_counts(BOTTLENECK).dropped;
        let packet = self.rate.transmission_time(Bytes::new(1500));
        let busy = packet.as_ps() as f64 * (sent - sent_by_half) as f64;
        let flows = (0..).take(self.simulation.senders().count());
        let receivers = flows.map(|flow| access_ports(flow)[2]);
        let acks: u64 = receivers.map(|port| self.simulation.port_counts(port).accepted).sum();
        WorkloadResult {
            packet_hops: 3 * sent + dropped + 3 * acks,
            utilisation: busy / (stop - half).as_ps() as f64,
            events: self.simulation.counts().events,
        }
    }
}

/// Returns the number of packets whose last bit a port has sent.
fn transmitted(simulation: &Simulation<()>, port: PortId) -> u64 {
    simulation.port_counts(port).accepted - simulation.queue_length(port)
}

#[cfg(test)]
mod tests {
    use optcp_tcp::{Ack, Seq};

    use super::*;

    #[test]
    fn the_workload_is_the_one_described() {
        let blueprint = dumbbell(Tcp::NewReno, 10, 50);
        assert_eq!(blueprint.ports.len(), 42);
        assert_eq!(blueprint.ports[0].0.rate.bps(), 100_000_000);
        assert_eq!(blueprint.ports[0].0.limit, QueueLimit::Packets(83));
        assert_eq!(blueprint.ports[2].0.rate.bps(), 1_000_000_000);
        // Flow 3 starts at frac(3 x 0.6180) = 0.854 s; its access link has 0.5 + frac(3 x 0.7549) ms.
        assert_eq!(blueprint.flows[3].start, Time::ZERO + Duration::from_ms(854));
        assert_eq!(blueprint.ports[14].0.delay, Duration::from_ps(764_700_000));
        for (flows, buffer) in [(100, 833), (1000, 8333)] {
            let blueprint = dumbbell(Tcp::NewReno, flows, 10);
            assert_eq!(blueprint.ports[0].0.limit, QueueLimit::Packets(buffer));
        }
    }

    /// The packet-hops of the workload equal the counts of the ports, except packets in flight.
    #[test]
    fn packet_hops_match_port_counts() {
        for tcp in Tcp::ALL {
            let engines = [Engine::Reference, Engine::Fast, Engine::Stepped(u64::MAX)];
            let [plain, fast, stepped] = engines.map(|engine| {
                let WorkloadResult { packet_hops, utilisation, .. } =
                    Dumbbell::new(tcp, 10, 3, engine).run();
                (packet_hops, utilisation)
            });
            assert_eq!(plain, fast, "{tcp:?}");
            assert_eq!(plain, stepped, "{tcp:?}");
            let mut dumbbell = Dumbbell::new(tcp, 10, 3, Engine::Fast);
            let outcome = dumbbell.run();
            let difference = outcome.packet_hops.abs_diff(dumbbell.simulation.packet_hops());
            let bound = 3 * dumbbell.simulation.in_flight();
            assert!(difference <= bound, "{tcp:?}: {difference} packet-hops apart");
        }
    }

    /// A data segment of every TCP takes 1500 bytes, as the buffer counts it, and a plain ACK 52.
    #[test]
    fn packets_have_one_size() {
        for tcp in Tcp::ALL {
            let config = tcp.config();
            let segment = config.mss + config.header + config.timestamp_size();
            let ack = config.ack_wire_size(&Ack::cumulative(Seq::new(1)));
            assert_eq!((segment.count(), ack.count()), (1500, 52), "{tcp:?}");
        }
    }
}
