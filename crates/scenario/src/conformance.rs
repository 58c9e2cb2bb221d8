//! Conformance cases: single-flow worlds that independent stacks have run.
//!
//! A case is one flow over two links, sender - router - receiver, with losses named packet by
//! packet. Times are seconds from the first transmission.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use optcp_engine::observe::{Observer, Record};
use optcp_engine::{Blueprint, FlowSpec, Simulation};
use optcp_net::{
    Action, Control, Hop, Label, LabelTable, PortConfig, PortId, QueueLimit, ScriptedLoss,
};
use optcp_tcp::config::{AckKind, Halving, NewRenoTimer, RecoveryKind};
use optcp_tcp::{Config, Profile};
use optcp_units::{Bytes, Duration, Rate, Time};
use serde::{Deserialize, Serialize};

/// A file of cases.
#[derive(Clone, Debug, Deserialize)]
pub struct CaseFile {
    /// The cases, in order.
    pub scenarios: Vec<Case>,
}

/// One case; what it expects is for the comparison and not read here.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// Its name.
    pub id: String,
    variant: String,
    links: [Link; 2],
    tcp: Tcp,
    segments: u32,
    #[serde(default)]
    drops: Vec<[u32; 2]>,
    #[serde(default)]
    ack_drops: Vec<u64>,
    #[serde(default)]
    delay_events: Vec<DelayEvent>,
}

#[derive(Clone, Debug, Deserialize)]
struct Link {
    rate_bps: f64,
    delay_s: f64,
    buffer_pkts: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
struct DelayEvent {
    t: f64,
    delay_s: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tcp {
    mss: u64,
    header: u64,
    ack_bytes: u64,
    iw: u32,
    ssthresh0: Option<u32>,
    rwnd_segments: u32,
    min_rto_s: f64,
    initial_rto_s: f64,
    limited_transmit: bool,
    delayed_ack: bool,
    handshake: bool,
    newreno_impatient: bool,
    #[serde(default)]
    integer_halving: bool,
}

/// What a run of a case did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// When the ACK of the last segment came; null if it did not within the time that is simulated.
    pub completion_ack_s: Option<f64>,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Every data transmission: time and segment.
    pub sequence: Vec<(f64, u32)>,
}

/// A case that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// The case.
    pub id: String,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "case {}: {}", self.id, self.problem)
    }
}

impl std::error::Error for CaseError {}

/// Long enough for every transfer that still moves: ten backed-off timeouts of a minute.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Ports: both links there, both links back.
const SENDER_OUT: PortId = 0;
const ROUTER_OUT: PortId = 1;
const RECEIVER_OUT: PortId = 2;
const ROUTER_BACK: PortId = 3;

/// Runs every case; those that cannot be run are listed apart.
#[must_use]
pub fn run_all(file: &CaseFile) -> (BTreeMap<String, Outcome>, Vec<CaseError>) {
    let mut outcomes = BTreeMap::new();
    let mut errors = Vec::new();
    for case in &file.scenarios {
        match run(case) {
            Ok(outcome) => {
                outcomes.insert(case.id.clone(), outcome);
            }
            Err(error) => errors.push(error),
        }
    }
    (outcomes, errors)
}

/// Runs one case.
///
/// # Errors
/// If the case asks for something that does not exist or is impossible.
pub fn run(case: &Case) -> Result<Outcome, CaseError> {
    let blueprint =
        blueprint(case).map_err(|problem| CaseError { id: case.id.clone(), problem })?;
    let mut simulation = Simulation::new(&blueprint, Transmissions::default());
    simulation.run();
    let end = case.segments + u32::from(case.tcp.handshake);
    let seen = &simulation.observer;
    let counts = simulation.senders().next().map(optcp_tcp::Sender::counts).unwrap_or_default();
    Ok(Outcome {
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

    let drops = case.drops.iter().map(|&[segment, nth]| (0, segment, nth)).collect();
    let data_loss = ScriptedLoss::new(drops, BTreeSet::new());
    let ack_loss = ScriptedLoss::new(BTreeSet::new(), case.ack_drops.iter().copied().collect());
    let [near, far] = &case.links;
    let ports = vec![
        (port(near, true)?, None),
        (port(far, true)?, Some(data_loss)),
        (port(far, false)?, Some(ack_loss)),
        (port(near, false)?, None),
    ];
    let controls = case.delay_events.iter().map(|event| {
        let action = Action::SetDelay(ROUTER_OUT, seconds(event.delay_s)?);
        Ok(Control { at: Time::ZERO + seconds(event.t)?, action })
    });
    let mut controls: Vec<Control> = controls.collect::<Result<_, String>>()?;
    controls.sort_by_key(|control| control.at);
    let flow = FlowSpec {
        config: Arc::new(config(case)?),
        segments: Some(case.segments),
        start: Time::ZERO,
        clock_phase: Duration::ZERO,
        data,
        acks,
    };
    let stop = Time::ZERO + TIME_LIMIT;
    Ok(Blueprint { ports, labels, flows: vec![flow], controls, stop })
}

fn port(link: &Link, forward: bool) -> Result<PortConfig, String> {
    let bps = link.rate_bps.round();
    if !(1.0..1e15).contains(&bps) {
        return Err(format!("a rate of {} bit/s", link.rate_bps));
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked above")]
    let rate = Rate::from_bps(bps as u64).ok_or("a rate of zero")?;
    let limit = match link.buffer_pkts {
        Some(packets) if forward => QueueLimit::Packets(packets),
        _ => QueueLimit::Unlimited,
    };
    Ok(PortConfig { rate, delay: seconds(link.delay_s)?, limit })
}

fn seconds(value: f64) -> Result<Duration, String> {
    Duration::from_secs_f64(value).ok_or_else(|| format!("a time of {value} s"))
}

/// The reference is ns-2.35 with the choices of the case: windows in packets, ssthresh in whole ones.
fn config(case: &Case) -> Result<Config, String> {
    let tcp = &case.tcp;
    let recovery = match case.variant.as_str() {
        "tahoe" => RecoveryKind::Tahoe,
        "reno" => RecoveryKind::Reno,
        "newreno" => RecoveryKind::NewReno,
        other => return Err(format!("variant `{other}` is not one of tahoe, reno, newreno")),
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
        initial_rto: seconds(tcp.initial_rto_s)?,
        min_rto: seconds(tcp.min_rto_s)?,
        ..Profile::Ns2Release235.config()
    })
}

/// What the sender sends and gets.
#[derive(Clone, Debug, Default)]
struct Transmissions {
    sent: Vec<(f64, u32)>,
    acks: Vec<(f64, u32)>,
}

impl Observer for Transmissions {
    fn record(&mut self, at: Time, record: Record) {
        match record {
            Record::Sent { seq, .. } => self.sent.push((at.as_secs_f64(), seq)),
            Record::Acknowledged { seq, .. } => self.acks.push((at.as_secs_f64(), seq)),
            _ => {}
        }
    }
}
