//! TCP tables.

use optcp_tcp::acknowledgment::MAX_SACK_BLOCKS;
use optcp_tcp::config::{
    AckKind, Config, CongestionKind, DuplicateAckKind, Ecn, Measurement, NeedsEcn, Pacing,
    PathState, ReceiverEcn, RecoveryKind, SlowStartKind,
};
use optcp_tcp::congestion::external::Hook;
use optcp_tcp::profile::Profile;
use optcp_units::{Bytes, Duration};
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};
use toml::de::DeTable;

use crate::de;
use crate::library::Library;
use crate::problem::Problems;
use crate::schema::{File, TcpTable, belongs};
use crate::tree::{Node, place};
use optcp_units::nearest::suggestion;

use super::bounds::check_name;
use super::draft::Draft;

/// Maximum packet size: the length field of IP (RFC 791) has 16 bits.
const LARGEST_PACKET: Bytes = Bytes::new(65_535);

/// Reads the TCP tables of the file.
pub(super) fn tables(
    file: &File,
    library: &Library,
    plan: &mut Draft,
    problems: &mut Problems<'_>,
) {
    for (name, table) in &file.tcp.0 {
        check_name(name, place!["tcp", name.as_str()], problems);
        let mut config = table.config();
        load_class(name, &mut config, library, problems);
        check(name, &config, problems);
        // Sender and receiver share one configuration.
        if config.dsack_undo && !config.dsack {
            let message = "`dsack_undo` needs `dsack = true`".to_owned();
            problems.at(place!["tcp", name.as_str(), "dsack_undo"], message);
        }
        plan.tcp.push((name.clone(), config));
    }
}

/// Loads the class of a congestion control of another program.
fn load_class(name: &str, config: &mut Config, library: &Library, problems: &mut Problems<'_>) {
    let Some(class) = config.controllers.class_name() else { return };
    let message = match library.congestion(class) {
        Ok(found)
            if !config.congestion.paces() && found.overridden().contains(Hook::OnDelivery) =>
        {
            format!("`{class}` has `on_delivery`: write `python-paced:{class}`")
        }
        Ok(found) => return config.controllers.set_class(&found),
        Err(message) => message,
    };
    problems.at(place!["tcp", name, "congestion"], message);
}

/// TCP parameters written outside a scenario, such as `profile = "rfc", recovery = "sack"`.
pub struct TcpChoices {
    table: TcpTable,
}

impl TcpChoices {
    /// Parses a text.
    ///
    /// # Errors
    /// Messages if the text is not TOML, or has unknown keys or values.
    pub fn read(text: &str) -> Result<Self, Vec<String>> {
        let text = format!("{PLACE} = {{ {text} }}");
        let (table, errors) = DeTable::parse_recoverable(&text);
        if let Some(error) = errors.first() {
            return Err(vec![format!("`{text}` is not TOML: {}", error.message().trim())]);
        }
        let tree = Node::of_file(table.get_ref(), text.len());
        let table = de::read(tree.deepest(place![PLACE])).map_err(|problem| {
            let help = problem.help.map(|help| format!(": {help}")).unwrap_or_default();
            vec![problem.message + &help]
        })?;
        Ok(TcpChoices { table })
    }

    /// Returns profile and congestion control, if the text names them.
    #[must_use]
    pub fn named(&self) -> (Option<Profile>, Option<CongestionKind>) {
        self.table.named()
    }

    /// Applies these parameters to `base`, which belongs to `profile`. `congestion` overrides the congestion
    /// control of the text.
    ///
    /// # Errors
    /// Messages if no connection can work with the parameters.
    pub fn over(
        &self,
        profile: Profile,
        base: Config,
        congestion: Option<CongestionKind>,
    ) -> Result<Config, Vec<String>> {
        let config = self.table.over(profile, base, congestion);
        let empty = DeTable::new();
        let tree = Node::of_file(&empty, 0);
        let mut problems = Problems::new(&tree);
        check(PLACE, &config, &mut problems);
        let found: Vec<_> = problems.found.into_iter().map(|problem| problem.message).collect();
        if found.is_empty() { Ok(config) } else { Err(found) }
    }
}

/// Table name for parameters outside a scenario.
const PLACE: &str = "choices";

/// Maximum initial window. Larger ones are probably mistakes and would exhaust the memory of unlimited
/// queues.
const MOST_AT_ONCE: u32 = 100_000;

/// Reports parameters with which no connection can work. Values of the profile are reported at the table,
/// values of the file at their place.
fn check(name: &str, config: &Config, problems: &mut Problems<'_>) {
    let Config { tick, initial_rto, min_rto, max_rto, .. } = config;
    let zero = [
        ("mss", config.mss == Bytes::ZERO, "a segment carries at least one byte"),
        ("initial_window", config.initial_window == 0, "nothing would be sent"),
        ("initial_ssthresh", config.initial_ssthresh == Some(0), "the window would shrink to zero"),
        ("window_limit", config.window_limit == 0, "nothing would be sent"),
        ("pacing_burst", config.pacing_burst == 0, "nothing would be sent"),
        ("recovery_burst", config.recovery_burst == Some(0), "recovery would never end"),
        (
            "ack_delay",
            config.ack != AckKind::EveryPacket && config.ack_delay == Duration::ZERO,
            "ACKs would not be delayed: use `ack = \"every-packet\"`",
        ),
        ("tick", *tick == Duration::ZERO, "the clock would not advance"),
        (
            "prague_rtt_target",
            config.controllers.prague.prague_rtt_target == Duration::ZERO,
            "use `prague_rtt_scaling = \"unscaled\"`",
        ),
        (
            "nscc_base_rtt",
            config.controllers.nscc.nscc_base_rtt == Duration::ZERO,
            "the target delay would be zero",
        ),
        ("nscc_bdp", config.controllers.nscc.nscc_bdp == Bytes::ZERO, "the window would be zero"),
        ("retcp_jump", config.controllers.retcp.retcp_jump == 0, "the window would be zero"),
        ("timestamp_tick", config.timestamp_tick == Duration::ZERO, "the clock would not advance"),
        ("sack_blocks", config.sack_blocks == 0, "an ACK could report nothing"),
        ("initial_rto", *initial_rto == Duration::ZERO, "the timer would fire immediately"),
        ("max_rto", *max_rto == Duration::ZERO, "the timer would fire immediately"),
    ];
    for (field, zero, why) in zero {
        if zero {
            problems.at(place!["tcp", name, field], format!("`{field}` is zero")).label(why);
        }
    }
    if usize::from(config.sack_blocks) > MAX_SACK_BLOCKS {
        let message = format!("`sack_blocks` ({}) is above {MAX_SACK_BLOCKS}", config.sack_blocks);
        problems
            .at(place!["tcp", name, "sack_blocks"], message)
            .label("more do not fit (RFC 2018)");
    }
    if config.initial_window > MOST_AT_ONCE {
        let message = format!("initial window of {} segments", config.initial_window);
        problems
            .at(place!["tcp", name, "initial_window"], message)
            .label(format!("at most {MOST_AT_ONCE}, because all are sent at the same time"));
    }
    if config.ack_size + config.timestamp_size() == Bytes::ZERO {
        problems
            .at(place!["tcp", name, "ack_size"], "`ack_size` is zero")
            .label("a packet is not empty");
    }
    let segment = config.mss + config.header + config.timestamp_size();
    if segment > LARGEST_PACKET {
        let message = format!(
            "a segment has {segment} on the wire, more than the packet limit of {LARGEST_PACKET}"
        );
        problems.at(place!["tcp", name, "mss"], message).label("including headers (RFC 791)");
    }
    let blocks = u64::from(config.sack_blocks);
    let ack =
        config.ack_size.count().saturating_add(8 * blocks + 2 + config.timestamp_size().count());
    if config.ack_size > LARGEST_PACKET || ack > LARGEST_PACKET.count() {
        let message = format!(
            "an ACK has up to {} on the wire, more than the packet limit of {LARGEST_PACKET}",
            Bytes::new(ack)
        );
        problems.at(place!["tcp", name, "ack_size"], message).label("including options (RFC 791)");
    }
    if config.timestamp_undo && !config.timestamps {
        let message = "`timestamp_undo` needs `timestamps = true`".to_owned();
        problems.at(place!["tcp", name, "timestamp_undo"], message);
    }
    check_measures(name, config, problems);
    check_path_state(name, config, problems);
    check_ecn(name, config, problems);
    check_quic(name, config, problems);
    let every_ack = config.measurement == Measurement::EveryAck;
    let measured = match config.recovery {
        RecoveryKind::Quic => true,
        RecoveryKind::Sack => config.timestamps || every_ack,
        _ => config.timestamps,
    };
    if config.slow_start != SlowStartKind::Standard && !measured {
        let message = format!(
            "`slow_start` ({}) needs `measurement = \"every-ack\"` with `recovery = \"sack\"`, or \
             `timestamps = true`",
            config.slow_start.name()
        );
        problems
            .at(place!["tcp", name, "slow_start"], message)
            .label("slow start would never end with a single outstanding RTT");
    }
    for (field, value) in [("initial_rto", initial_rto), ("min_rto", min_rto)] {
        if value > max_rto {
            let message = format!("`{field}` ({value}) is above `max_rto` ({max_rto})");
            problems.at(place!["tcp", name, field], message);
        }
    }
}

/// Reports rate- or delay-based congestion controls without their prerequisites, and rate pacing without a
/// congestion control that computes a rate.
fn check_measures(name: &str, config: &Config, problems: &mut Problems<'_>) {
    let kind = config.congestion;
    if kind.wants_rates() && !matches!(config.recovery, RecoveryKind::Sack | RecoveryKind::Quic) {
        let message = format!(
            "`congestion = \"{}\"` needs `recovery = \"sack\"` or `recovery = \"quic\"`",
            kind.name()
        );
        problems
            .at(place!["tcp", name, "congestion"], message)
            .label("it uses the delivered data, which only these report during loss recovery");
    }
    if kind.wants_delays() && !config.timestamps {
        let message = format!("`congestion = \"{}\"` needs `timestamps = true`", kind.name());
        problems
            .at(place!["tcp", name, "congestion"], message)
            .label("it uses one-way delays, which need timestamps");
    }
    if kind.paces() && config.pacing != Pacing::Rate {
        let message = format!("`congestion = \"{}\"` needs `pacing = \"rate\"`", kind.name());
        let why = if kind == CongestionKind::PythonPaced {
            "its class sets the rate"
        } else if kind.wants_rates() {
            "its window is twice the BDP: it controls the rate"
        } else {
            "it spreads its window over an RTT"
        };
        problems.at(place!["tcp", name, "congestion"], message).label(why);
    }
    if !kind.paces() && config.pacing == Pacing::Rate {
        let finders = CongestionKind::ALL.iter().filter(|kind| kind.paces());
        let finders: Vec<String> =
            finders.map(|kind| format!("`congestion = \"{}\"`", kind.name())).collect();
        let message = format!("`pacing = \"rate\"` needs {}", finders.join(" or "));
        problems.at(place!["tcp", name, "pacing"], message).label("no other computes a rate");
    }
}

/// Reports parameters that conflict with per-network state.
fn check_path_state(name: &str, config: &Config, problems: &mut Problems<'_>) {
    if config.path_state == PathState::One {
        return;
    }
    let mut needs = |what: &str, why: &str| {
        let message = format!("`path_state = \"per-network\"` needs {what}");
        problems.at(place!["tcp", name, "path_state"], message).label(why);
    };
    if config.recovery != RecoveryKind::Sack {
        needs("`recovery = \"sack\"`", "only SACK shows which network lost a segment");
    }
    if config.ecn != Ecn::Off {
        needs("`ecn = \"off\"`", "the meaning of ECN marks per network is not defined");
    }
    if config.congestion.wants_rates() {
        let what = "a congestion control based on ACKs and losses";
        needs(what, "delivery rates are per connection");
    }
}

/// Reports parameters of TCP that have no meaning in QUIC.
fn check_quic(name: &str, config: &Config, problems: &mut Problems<'_>) {
    if config.recovery != RecoveryKind::Quic {
        return;
    }
    let counts = config.ecn == Ecn::Accurate;
    let suppresses = config.duplicate_acks != DuplicateAckKind::Every;
    let wanted = [
        ("timestamps", config.timestamps, "`timestamps = false`", "packet numbers replace them"),
        (
            "ecn",
            matches!(config.ecn, Ecn::Rfc3168 | Ecn::Dctcp),
            "`ecn = \"accurate\"` or `ecn = \"off\"`",
            "its ACKs count marked packets (RFC 9000 section 19.3.2)",
        ),
        (
            "receiver_ecn",
            counts && matches!(config.receiver_ecn, ReceiverEcn::Rfc3168 | ReceiverEcn::Dctcp),
            "`receiver_ecn = \"as-asked\"` or `receiver_ecn = \"off\"`",
            "its receiver counts marked packets, or reports nothing",
        ),
        (
            "duplicate_acks",
            suppresses,
            "`duplicate_acks = \"every\"`",
            "it has no duplicate ACKs, which could be suppressed",
        ),
        (
            "ack",
            config.ack == AckKind::Linux,
            "`ack = \"delayed\"` or `ack = \"every-packet\"`",
            "Linux delays only TCP's ACKs in its way",
        ),
    ];
    for (field, conflicts, needed, why) in wanted {
        if conflicts {
            let message = format!("`recovery = \"quic\"` needs {needed}");
            problems.at(place!["tcp", name, field], message).label(why);
        }
    }
    let kind = config.congestion;
    if matches!(kind.needs_ecn(), NeedsEcn::Any | NeedsEcn::Accurate) {
        let message =
            "`recovery = \"quic\"` needs a congestion control that treats a mark like a loss";
        problems.at(place!["tcp", name, "congestion"], message.to_owned()).label(format!(
            "the reaction of `{}` to the share of marked packets is modelled for TCP only",
            kind.name()
        ));
    }
}

/// Maximum `dctcp_shift_g`: one window changes alpha by its smallest step.
const LARGEST_SHIFT: u8 = 10;
/// Maximum `retcp_jump`.
const LARGEST_JUMP: u8 = 100;
/// Value of alpha = 1 in DCTCP's arithmetic.
const LARGEST_ALPHA: u16 = 1024;

/// Reports ECN-based congestion controls without ECN, and other ECN conflicts.
fn check_ecn(name: &str, config: &Config, problems: &mut Problems<'_>) {
    let kind = config.congestion;
    let (expected, why) = match kind.needs_ecn() {
        // `check_quic` reports these, also without ECN.
        NeedsEcn::Any | NeedsEcn::Accurate if config.recovery == RecoveryKind::Quic => ("", ""),
        NeedsEcn::Any if config.ecn == Ecn::Off => (
            "`ecn = \"dctcp\"`, or `\"rfc3168\"` or `\"accurate\"`",
            "it uses the share of marked segments, and no packet would be ECN-capable",
        ),
        NeedsEcn::Accurate if config.ecn != Ecn::Accurate => {
            ("`ecn = \"accurate\"`", "ECT(1) needs feedback on every mark (RFC 9331 section 4.2)")
        }
        NeedsEcn::Off if config.ecn != Ecn::Off => {
            ("`ecn = \"off\"`", "it interprets ECE as a circuit, but here ECE would echo a mark")
        }
        _ => ("", ""),
    };
    if !expected.is_empty() {
        let message = format!("`congestion = \"{}\"` needs {expected}", kind.name());
        problems.at(place!["tcp", name, "congestion"], message).label(why);
    }
    if config.abe && kind.abe().is_none() {
        let known = CongestionKind::ALL.iter().filter(|kind| kind.abe().is_some());
        let known: Vec<String> =
            known.map(|kind| format!("`congestion = \"{}\"`", kind.name())).collect();
        let message = format!("`abe` needs {}", known.join(" or "));
        problems
            .at(place!["tcp", name, "abe"], message)
            .label("RFC 8511 has no factor for other controls");
    }
    if config.controllers.retcp.retcp_jump > LARGEST_JUMP {
        let message = format!("`retcp_jump` is above {LARGEST_JUMP}");
        problems
            .at(place!["tcp", name, "retcp_jump"], message)
            .label("the window increase is sent at once");
    }
    let dctcp = &config.controllers.dctcp;
    if dctcp.dctcp_shift_g > LARGEST_SHIFT {
        let message = format!("`dctcp_shift_g` ({}) is above {LARGEST_SHIFT}", dctcp.dctcp_shift_g);
        problems
            .at(place!["tcp", name, "dctcp_shift_g"], message)
            .label("alpha has ten bits and would never change");
    }
    if dctcp.dctcp_alpha_on_init > LARGEST_ALPHA {
        let message = format!(
            "`dctcp_alpha_on_init` ({}) is above {LARGEST_ALPHA}",
            dctcp.dctcp_alpha_on_init
        );
        problems
            .at(place!["tcp", name, "dctcp_alpha_on_init"], message)
            .label("1024 is an alpha of 1: all segments marked");
    }
}

/// Returns the index of a table, or of a profile that a flow uses directly.
pub(super) fn find(
    (section, i): (&'static str, usize),
    name: Option<&str>,
    plan: &mut Draft,
    problems: &mut Problems<'_>,
) -> Option<usize> {
    let name = name.unwrap_or(Profile::Rfc.name());
    if let Some(index) = plan.tcp.iter().position(|(table, _)| table == name) {
        return Some(index);
    }
    // Profiles deserialize from their registered names.
    if let Ok(profile) = Profile::deserialize(StrDeserializer::<Error>::new(name)) {
        plan.tcp.push((name.to_owned(), profile.config()));
        return Some(plan.tcp.len() - 1);
    }
    let profiles: Vec<&str> = Profile::ALL.iter().map(|profile| profile.name()).collect();
    let help = belongs(name, &profiles).or_else(|| {
        let names = plan.tcp.iter().map(|(table, _)| table.as_str()).chain(profiles);
        suggestion(name, "TCP tables and profiles", names)
    });
    problems
        .at(place![section, i, "tcp"], format!("unknown TCP table or profile `{name}`"))
        .label("neither in [tcp] nor a profile")
        .help(help);
    None
}
