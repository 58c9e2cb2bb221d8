//! Configuration of a script's endpoint: a profile, the script's changes, and the options of the peer's SYN.

use optcp_scenario::TcpChoices;
use optcp_tcp::config::{
    Config, CongestionKind, Ecn, EctPackets, NeedsEcn, Pacing, ReceiverEcn, RecoveryKind,
};
use optcp_tcp::profile::Profile;
use optcp_units::Bytes;
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

use super::script::{Action, Refusal, Script, Segment};
use super::shell;

/// MSS of our SYN without `TCP_MAXSEG`: an Ethernet frame minus the headers of IPv4 and TCP.
const OUR_MSS: u64 = 1460;
/// MSS of a SYN without the option (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u64 = 536;
/// Minimum MSS of Linux (TCP_MIN_SND_MSS); 40 bytes of options leave 8.
const LEAST_MSS: u64 = 48;

/// Default profile of scripts.
const LINUX: Profile = Profile::Linux6;

/// Configuration of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct Choices {
    /// Configuration negotiated by both ends.
    pub agreed: Config,
    /// Configuration offered by this end.
    pub offered: Config,
    /// Maximum segment size of this end.
    pub our_mss: u64,
}

/// Returns the configuration for a script.
pub(super) fn choices(script: &Script) -> Result<Choices, Refusal> {
    let own = script.directives.first().map_or(1, |(line, _)| *line);
    let refuse_own = |reasons: Vec<String>| Refusal::new(own, reasons.join("; "));
    let all: Vec<&str> = script.directives.iter().map(|(_, text)| text.as_str()).collect();
    let written = TcpChoices::read(&all.join(", ")).map_err(refuse_own)?;
    let (profile, of_text) = written.named();
    let profile = profile.unwrap_or(LINUX);
    let mut config = profile.config();
    if profile == LINUX {
        // Linux accepts ECN but does not request it: `tcp_ecn` is 2.
        config.receiver_ecn = ReceiverEcn::Rfc3168;
    }
    shell::apply(script, profile, &mut config)?;
    let (mut our_mss, mut of_socket) = (OUR_MSS, None);
    for event in &script.events {
        let Action::Call(call) = &event.action else { continue };
        let refuse = |reason| Refusal::new(event.line, reason);
        match (&*call.name, call.option()) {
            ("setsockopt", Some(("TCP_CONGESTION", value))) => {
                of_socket = Some(congestion(value).map_err(refuse)?);
            }
            ("setsockopt", Some(("TCP_MAXSEG", value))) => {
                let mss = value.parse().ok().filter(|mss| (LEAST_MSS..=OUR_MSS).contains(mss));
                let wrong = || refuse(format!("TCP_MAXSEG is from {LEAST_MSS} to {OUR_MSS} here"));
                our_mss = mss.ok_or_else(wrong)?;
            }
            _ => {}
        }
    }
    let kind = of_socket.or(of_text).unwrap_or(config.congestion);
    ask_for(kind, &mut config);
    config = written.over(profile, config, Some(kind)).map_err(refuse_own)?;
    let (line, syn) = peer_syn(script)?;
    let sack = config.recovery == RecoveryKind::Sack && syn.options.sack_permitted;
    if kind.wants_rates() && !sack {
        let name = kind.name().to_uppercase();
        return Err(Refusal::new(line, format!("{name} needs SACK at both ends")));
    }
    if syn.options.mss.is_some_and(|mss| mss < LEAST_MSS) {
        let reason = format!("an mss of less than {LEAST_MSS} bytes leaves no room for data");
        return Err(Refusal::new(line, reason));
    }
    Ok(Choices { agreed: negotiate(config.clone(), syn, our_mss), offered: config, our_mss })
}

/// Applies the requirements of a congestion control: ECN with all packets ECN-capable regardless of
/// `tcp_ecn`, and pacing with any queue.
fn ask_for(kind: CongestionKind, config: &mut Config) {
    match kind.needs_ecn() {
        NeedsEcn::Nothing => {}
        NeedsEcn::Off => (config.ecn, config.receiver_ecn) = (Ecn::Off, ReceiverEcn::Off),
        NeedsEcn::Any => {
            if config.ecn != Ecn::Accurate {
                (config.ecn, config.receiver_ecn) = (Ecn::Dctcp, ReceiverEcn::Dctcp);
            }
            config.ect_packets = EctPackets::All;
        }
        NeedsEcn::Accurate => {
            (config.ecn, config.receiver_ecn) = (Ecn::Accurate, ReceiverEcn::Accurate);
            config.ect_packets = EctPackets::All;
        }
    }
    if kind.paces() {
        config.pacing = Pacing::Rate;
    }
}

/// Returns the congestion control with this name in Linux.
pub(super) fn congestion(name: &str) -> Result<CongestionKind, String> {
    CongestionKind::deserialize(StrDeserializer::<Error>::new(name))
        .map_err(|_| format!("unknown congestion control `{name}`"))
}

/// Returns the first SYN of the script's peer, and its line.
fn peer_syn(script: &Script) -> Result<(usize, &Segment), Refusal> {
    let inbound = script.events.iter().filter_map(|event| match &event.action {
        Action::Inbound(segment) => Some((event.line, segment)),
        _ => None,
    });
    let line = script.events.first().map_or(1, |event| event.line);
    let mut syns = inbound.filter(|(_, segment)| segment.syn);
    syns.next().ok_or_else(|| Refusal::new(line, "no SYN of the peer, and therefore no connection"))
}

/// Returns the configuration that both ends negotiate.
fn negotiate(mut config: Config, syn: &Segment, our_mss: u64) -> Config {
    let options = &syn.options;
    config.handshake = true;
    if syn.ack.is_none() {
        config.ecn = config.answers(syn.marking());
    }
    if config.ecn == Ecn::Accurate && config.ect_packets == EctPackets::Data {
        // Like Linux, which sends all packets of an established connection as ECN-capable if marks are
        // counted.
        config.ect_packets = EctPackets::Established;
    }
    config.timestamps &= options.stamps.is_some();
    config.timestamp_undo &= config.timestamps;
    let mss = options.mss.unwrap_or(DEFAULT_MSS).min(our_mss);
    config.mss = Bytes::new(mss - config.timestamp_size().count());
    if config.recovery == RecoveryKind::Sack && !options.sack_permitted {
        config.recovery = RecoveryKind::NewReno;
    }
    config
}
