//! Conformance cases: single-flow simulations with results of independent TCP stacks.
//!
//! A case is one flow over two links, sender - router - receiver, with losses of individual packets. Times
//! are in seconds since the first transmission.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use optcp_des::Key;
use optcp_engine::observe::{Observer, Record};
use optcp_engine::{Blueprint, Engine, FlowSpec, Simulation};
use optcp_net::{
    Action, Control, FlowId, Hop, Label, LabelTable, Loss, PortConfig, PortId, QueueLimit,
    ScriptedLoss,
};
use optcp_optical::switching::BurstCore;
use optcp_tcp::config::{AckKind, Halving, NewRenoTimer, RecoveryKind};
use optcp_tcp::{Config, Profile};
use optcp_units::{Bytes, Duration, Rate, Time};
use serde::Serialize;

mod case;

pub use case::{Case, FormError, parse};

use case::CaseLink;

/// Result of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseResult {
    /// Arrival of the last segment's ACK; `None` if it did not arrive within the simulated time.
    pub completion_ack_s: Option<f64>,
    /// Number of retransmissions.
    pub retransmissions: u64,
    /// Number of RTOs.
    pub timeouts: u64,
    /// Data transmissions: time and segment.
    pub sequence: Vec<(f64, u32)>,
}

/// Well-formed case that requests an unsupported feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Case.
    pub id: String,
    /// Reason.
    pub reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "case {}: {}", self.id, self.reason)
    }
}

/// Maximum duration, long enough for every transfer that makes progress. Waiting costs nothing: a sender
/// without any ACK has one RTO per minute.
const TIME_LIMIT: Duration = Duration::from_secs(36_000);

/// Clock phase of the reference. The default seed of ns-2 gives this value to within 30 us. It was
/// determined from the RTOs of 700 random cases, whose lengths in ticks depend on it.
const CLOCK_PHASE: Duration = Duration::from_us(5_560);

/// Ports: both links forward, both links backward.
const SENDER_OUT: PortId = PortId::new(0);
const ROUTER_OUT: PortId = PortId::new(1);
const RECEIVER_OUT: PortId = PortId::new(2);
const ROUTER_BACK: PortId = PortId::new(3);

/// Returns the results of all cases of a file as JSON by name, and the refused cases.
///
/// # Errors
/// If the text is not a file of cases.
pub fn run_text(text: &str) -> Result<(String, Vec<Refused>), FormError> {
    let mut outcomes = BTreeMap::new();
    let mut refused = Vec::new();
    for case in parse(text)? {
        match run(&case) {
            Ok(outcome) => {
                outcomes.insert(case.id, outcome);
            }
            Err(refusal) => refused.push(refusal),
        }
    }
    let json = serde_json::to_string(&outcomes).expect("numbers and names are JSON");
    Ok((json, refused))
}

/// Runs one case.
///
/// # Errors
/// If the case requests an unsupported feature.
pub fn run(case: &Case) -> Result<CaseResult, Refused> {
    let blueprint = blueprint(case).map_err(|reason| Refused { id: case.id.clone(), reason })?;
    let mut simulation = Simulation::new(&blueprint, Engine::default(), Transmissions::default());
    simulation.run();
    let end = case.segments + u32::from(case.tcp.handshake);
    let seen = simulation.observer();
    let counts = simulation.senders().next().map(optcp_tcp::Sender::counts).unwrap_or_default();
    Ok(CaseResult {
        completion_ack_s: seen.acks.iter().find(|(_, ack)| *ack == end).map(|(at, _)| *at),
        retransmissions: counts.retransmissions,
        timeouts: counts.timeouts,
        sequence: seen.sent.clone(),
    })
}

fn blueprint(case: &Case) -> Result<Blueprint, String> {
    let mut labels = LabelTable::default();
    let deliver = labels.add(Hop::Deliver);
    let chain = |labels: &mut LabelTable, first, second| {
        let beyond = labels.add(Hop::Forward { port: second, next: deliver });
        labels.add(Hop::Forward { port: first, next: beyond })
    };
    let data = chain(&mut labels, SENDER_OUT, ROUTER_OUT);
    let acks: Label = chain(&mut labels, RECEIVER_OUT, ROUTER_BACK);

    let drops = case.drops.iter().map(|&[segment, nth]| (FlowId::new(0), segment, nth)).collect();
    let data_loss = ScriptedLoss::new(drops, BTreeSet::new());
    let ack_loss = ScriptedLoss::new(BTreeSet::new(), case.ack_drops.iter().copied().collect());
    let [near, far] = &case.links;
    let ports = vec![
        (port(near, true), Vec::new()),
        (port(far, true), vec![Loss::Scripted(data_loss)]),
        (port(far, false), vec![Loss::Scripted(ack_loss)]),
        (port(near, false), Vec::new()),
    ];
    let controls = case.delay_events.iter().map(|event| Control {
        at: Time::ZERO + seconds(event.t),
        action: Action::SetDelay(ROUTER_OUT, seconds(event.delay_s)),
    });
    let mut controls: Vec<Control> = controls.collect();
    controls.sort_by_key(|control| control.at);
    let flow = FlowSpec {
        writes: Vec::new(),
        config: Arc::new(config(case)?),
        segments: Some(case.segments),
        start: Time::ZERO,
        clock_phase: CLOCK_PHASE,
        ack_clock_phase: Duration::ZERO,
        data,
        acks,
        notified_by: None,
    };
    let stop = Time::ZERO + TIME_LIMIT;
    Ok(Blueprint {
        queues: Vec::new(),
        schedules: Vec::new(),
        ports,
        labels,
        bundles: Vec::new(),
        crossbars: Vec::new(),
        assemblers: Vec::new(),
        core: BurstCore::default(),
        resequencers: Vec::new(),
        flows: vec![flow],
        applications: optcp_engine::ApplicationsSpec::default(),
        datagrams: Vec::new(),
        externals: Vec::new(),
        connections: Vec::new(),
        tallied: Vec::new(),
        controls,
        stop,
    })
}

fn port(link: &CaseLink, forward: bool) -> PortConfig {
    let limit = match link.buffer_pkts {
        Some(packets) if forward => QueueLimit::Packets(packets),
        _ => QueueLimit::Unlimited,
    };
    let rate = Rate::from_bps(link.rate_bps).expect("a case's rates are above zero");
    PortConfig::new(rate, seconds(link.delay_s), limit)
}

fn seconds(value: f64) -> Duration {
    Duration::from_secs_f64(value).expect("a case's times are within range")
}

/// Returns the configuration of ns-2.35 with the parameters of the case: windows in packets, ssthresh in
/// whole packets.
fn config(case: &Case) -> Result<Config, String> {
    let tcp = &case.tcp;
    let recovery = match case.variant.as_str() {
        "tahoe" => RecoveryKind::Tahoe,
        "reno" => RecoveryKind::Reno,
        "newreno" => RecoveryKind::NewReno,
        "sack" => RecoveryKind::Sack1,
        other => return Err(format!("variant `{other}` is not one of tahoe, reno, newreno, sack")),
    };
    Ok(Config {
        mss: Bytes::new(tcp.mss),
        header: Bytes::new(tcp.header),
        ack_size: Bytes::new(tcp.ack_bytes),
        initial_window: tcp.iw,
        initial_ssthresh: tcp.ssthresh0,
        window_limit: tcp.rwnd_segments,
        handshake: tcp.handshake,
        recovery,
        limited_transmit: tcp.limited_transmit,
        newreno_timer: if tcp.newreno_impatient {
            NewRenoTimer::Impatient
        } else {
            NewRenoTimer::Patient
        },
        halving: if tcp.integer_halving { Halving::Whole } else { Halving::WholeSsthresh },
        ack: if tcp.delayed_ack { AckKind::Delayed } else { AckKind::EveryPacket },
        initial_rto: seconds(tcp.initial_rto_s),
        min_rto: seconds(tcp.min_rto_s),
        ..Profile::Ns2Release235.config()
    })
}

/// Records transmissions and deliveries of the sender.
#[derive(Clone, Debug, Default)]
struct Transmissions {
    sent: Vec<(f64, u32)>,
    acks: Vec<(f64, u32)>,
}

impl Observer for Transmissions {
    fn record(&mut self, event: Key, record: Record) {
        let at = event.time();
        match record {
            Record::Sent { seq, .. } => self.sent.push((at.as_secs_f64(), seq)),
            Record::Acknowledged { seq, .. } => self.acks.push((at.as_secs_f64(), seq)),
            _ => {}
        }
    }

    fn helper(&self) -> Self {
        Transmissions::default()
    }

    fn absorb(&mut self, helper: &mut Self) {
        self.sent.append(&mut helper.sent);
        self.acks.append(&mut helper.acks);
    }
}
