//! TCP tables.

use optcp_tcp::acknowledgment::MAX_SACK_BLOCKS;
use optcp_tcp::config::{
    AckKind, Config, CongestionKind, Ecn, Measurement, NeedsEcn, Pacing, PathState, RecoveryKind,
    SlowStartKind,
};
use optcp_tcp::profile::Profile;
use optcp_units::{Bytes, Duration};
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};
use toml::de::DeTable;

use crate::de;
use crate::problem::Problems;
use crate::schema::{File, TcpTable, belongs};
use crate::tree::{Node, place};
use optcp_units::nearest::suggestion;

use super::bounds::check_name;
use super::draft::Draft;

/// The length field of an IP packet (RFC 791) says no more.
const LARGEST_PACKET: Bytes = Bytes::new(65_535);

/// Fills in the tables of the file.
pub(super) fn tables(file: &File, plan: &mut Draft, problems: &mut Problems<'_>) {
    for (name, table) in &file.tcp.0 {
        check_name(name, place!["tcp", name.as_str()], problems);
        let config = table.config();
        check(name, &config, problems);
        // Both ends are alike.
        if config.dsack_undo && !config.dsack {
            let message = "`dsack_undo` needs `dsack = true`".to_owned();
            problems.at(place!["tcp", name.as_str(), "dsack_undo"], message);
        }
        plan.tcp.push((name.clone(), config));
    }
}

/// Choices written outside a scenario, as `profile = "rfc", recovery = "sack"`.
pub struct TcpChoices {
    table: TcpTable,
}

impl TcpChoices {
    /// Reads a text, or says what is wrong with it.
    ///
    /// # Errors
    /// What is no TOML, and keys and values that there are not.
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

    /// The profile and the congestion control that the text names.
    #[must_use]
    pub fn named(&self) -> (Option<Profile>, Option<CongestionKind>) {
        self.table.named()
    }

    /// `base`, which is of `profile`, with these choices. A `congestion` that was chosen elsewhere goes before that of the text.
    ///
    /// # Errors
    /// Choices with which no connection can work.
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

/// Where choices stand that are written outside a scenario.
const PLACE: &str = "choices";

/// More segments at one instant are taken for a slip: queues without a limit would fill the memory.
const MOST_AT_ONCE: u32 = 100_000;

/// Reports choices with which no connection can work. A value that the profile chose is shown at the
/// table, one that the file chose at its place.
fn check(name: &str, config: &Config, problems: &mut Problems<'_>) {
    let Config { tick, initial_rto, min_rto, max_rto, .. } = config;
    let zero = [
        ("mss", config.mss == Bytes::ZERO, "a segment carries something"),
        ("initial_window", config.initial_window == 0, "nothing would ever be sent"),
        ("initial_ssthresh", config.initial_ssthresh == Some(0), "the window would shrink to it"),
        ("window_limit", config.window_limit == 0, "nothing would ever be sent"),
        ("pacing_burst", config.pacing_burst == 0, "nothing would ever be sent"),
        ("recovery_burst", config.recovery_burst == Some(0), "recovery would never end"),
        (
            "ack_delay",
            config.ack != AckKind::EveryPacket && config.ack_delay == Duration::ZERO,
            "no ACK would wait: `ack = \"every-packet\"` says so",
        ),
        ("tick", *tick == Duration::ZERO, "the clock would stand still"),
        (
            "prague_rtt_target",
            config.controllers.prague.prague_rtt_target == Duration::ZERO,
            "`prague_rtt_scaling = \"unscaled\"` says so",
        ),
        (
            "retcp_jump",
            config.controllers.retcp.retcp_jump == 0,
            "nothing of the window would be left",
        ),
        ("timestamp_tick", config.timestamp_tick == Duration::ZERO, "the clock would stand still"),
        ("sack_blocks", config.sack_blocks == 0, "an ACK could report nothing"),
        ("initial_rto", *initial_rto == Duration::ZERO, "the timer would expire at once"),
        ("max_rto", *max_rto == Duration::ZERO, "the timer would expire at once"),
    ];
    for (field, zero, why) in zero {
        if zero {
            problems.at(place!["tcp", name, field], format!("`{field}` is zero")).label(why);
        }
    }
    if usize::from(config.sack_blocks) > MAX_SACK_BLOCKS {
        let message = format!("`sack_blocks` ({}) is above {MAX_SACK_BLOCKS}", config.sack_blocks);
        problems.at(place!["tcp", name, "sack_blocks"], message).label("no more fit (RFC 2018)");
    }
    if config.initial_window > MOST_AT_ONCE {
        let message = format!("an initial window of {} segments", config.initial_window);
        problems
            .at(place!["tcp", name, "initial_window"], message)
            .label(format!("at most {MOST_AT_ONCE}: all of it leaves at one instant"));
    }
    if config.ack_size + config.timestamp_size() == Bytes::ZERO {
        problems
            .at(place!["tcp", name, "ack_size"], "`ack_size` is zero")
            .label("a packet has a size");
    }
    let segment = config.mss + config.header + config.timestamp_size();
    if segment > LARGEST_PACKET {
        let message =
            format!("a segment has {segment} on the wire, and a packet {LARGEST_PACKET} at most");
        problems.at(place!["tcp", name, "mss"], message).label("with its headers (RFC 791)");
    }
    let blocks = u64::from(config.sack_blocks);
    let ack =
        config.ack_size.count().saturating_add(8 * blocks + 2 + config.timestamp_size().count());
    if config.ack_size > LARGEST_PACKET || ack > LARGEST_PACKET.count() {
        let message = format!(
            "an ACK has up to {} on the wire, and a packet {LARGEST_PACKET} at most",
            Bytes::new(ack)
        );
        problems.at(place!["tcp", name, "ack_size"], message).label("with its options (RFC 791)");
    }
    if config.timestamp_undo && !config.timestamps {
        let message = "`timestamp_undo` needs `timestamps = true`".to_owned();
        problems.at(place!["tcp", name, "timestamp_undo"], message);
    }
    check_measures(name, config, problems);
    check_path_state(name, config, problems);
    check_ecn(name, config, problems);
    let every_ack = config.measurement == Measurement::EveryAck;
    let measured = config.timestamps || (every_ack && config.recovery == RecoveryKind::Sack);
    if config.slow_start != SlowStartKind::Standard && !measured {
        let message = format!(
            "`slow_start` ({}) needs `measurement = \"every-ack\"` with `recovery = \"sack\"`, or \
             `timestamps = true`",
            config.slow_start.name()
        );
        problems
            .at(place!["tcp", name, "slow_start"], message)
            .label("one round trip at a time would never end slow start");
    }
    for (field, value) in [("initial_rto", initial_rto), ("min_rto", min_rto)] {
        if value > max_rto {
            let message = format!("`{field}` ({value}) is above `max_rto` ({max_rto})");
            problems.at(place!["tcp", name, field], message);
        }
    }
}

/// Reports a congestion control that goes by the rate of delivery or by one-way delays without what it needs,
/// and pacing at such a rate without one that finds it.
fn check_measures(name: &str, config: &Config, problems: &mut Problems<'_>) {
    let kind = config.congestion;
    if kind.wants_rates() && config.recovery != RecoveryKind::Sack {
        let message = format!("`congestion = \"{}\"` needs `recovery = \"sack\"`", kind.name());
        problems.at(place!["tcp", name, "congestion"], message).label(
            "it goes by what is delivered, which only SACK tells while something is missing",
        );
    }
    if kind.wants_delays() && !config.timestamps {
        let message = format!("`congestion = \"{}\"` needs `timestamps = true`", kind.name());
        problems
            .at(place!["tcp", name, "congestion"], message)
            .label("it goes by one-way delays, which only timestamps tell");
    }
    if kind.paces() && config.pacing != Pacing::Rate {
        let message = format!("`congestion = \"{}\"` needs `pacing = \"rate\"`", kind.name());
        let why = if kind.wants_rates() {
            "its window is twice what the path holds: the rate is what it controls"
        } else {
            "it spreads its window over a round trip"
        };
        problems.at(place!["tcp", name, "congestion"], message).label(why);
    }
    if !kind.paces() && config.pacing == Pacing::Rate {
        let finders = CongestionKind::ALL.iter().filter(|kind| kind.paces());
        let finders: Vec<String> =
            finders.map(|kind| format!("`congestion = \"{}\"`", kind.name())).collect();
        let message = format!("`pacing = \"rate\"` needs {}", finders.join(" or "));
        problems.at(place!["tcp", name, "pacing"], message).label("no other finds a rate");
    }
}

/// Reports what does not go with a state for each network.
fn check_path_state(name: &str, config: &Config, problems: &mut Problems<'_>) {
    if config.path_state == PathState::One {
        return;
    }
    let mut needs = |what: &str, why: &str| {
        let message = format!("`path_state = \"per-network\"` needs {what}");
        problems.at(place!["tcp", name, "path_state"], message).label(why);
    };
    if config.recovery != RecoveryKind::Sack {
        needs("`recovery = \"sack\"`", "only SACK tells which network lost a segment");
    }
    if config.ecn != Ecn::Off {
        needs("`ecn = \"off\"`", "what a mark means for each network is not defined");
    }
    if config.congestion.wants_rates() {
        let what = "a congestion control that goes by ACKs and losses";
        needs(what, "the rate of delivery is that of the connection");
    }
}

/// The greatest `dctcp_shift_g`, with which one window counts for the least that alpha can be.
const LARGEST_SHIFT: u8 = 10;
/// The greatest `retcp_jump`.
const LARGEST_JUMP: u8 = 100;
/// Alpha of 1 in DCTCP's arithmetic.
const LARGEST_ALPHA: u16 = 1024;

/// Reports a congestion control that goes by marks without any, and what ECN asks for beside.
fn check_ecn(name: &str, config: &Config, problems: &mut Problems<'_>) {
    let kind = config.congestion;
    let (expected, why) = match kind.needs_ecn() {
        NeedsEcn::Any if config.ecn == Ecn::Off => (
            "`ecn = \"dctcp\"`, or `\"rfc3168\"` or `\"accurate\"`",
            "it goes by the share of marked segments, and no packet would take a mark",
        ),
        NeedsEcn::Accurate if config.ecn != Ecn::Accurate => (
            "`ecn = \"accurate\"`",
            "ECT(1) is for senders that learn of every mark (RFC 9331 section 4.2)",
        ),
        NeedsEcn::Off if config.ecn != Ecn::Off => (
            "`ecn = \"off\"`",
            "it takes ECE for a circuit's, which here would be the echo of a mark",
        ),
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
            .label("RFC 8511 has no share for another control");
    }
    if config.controllers.retcp.retcp_jump > LARGEST_JUMP {
        let message = format!("`retcp_jump` is above {LARGEST_JUMP}");
        problems
            .at(place!["tcp", name, "retcp_jump"], message)
            .label("what the jump adds to the window leaves at one instant");
    }
    let dctcp = &config.controllers.dctcp;
    if dctcp.dctcp_shift_g > LARGEST_SHIFT {
        let message = format!("`dctcp_shift_g` ({}) is above {LARGEST_SHIFT}", dctcp.dctcp_shift_g);
        problems
            .at(place!["tcp", name, "dctcp_shift_g"], message)
            .label("alpha has ten bits: it would never change");
    }
    if dctcp.dctcp_alpha_on_init > LARGEST_ALPHA {
        let message = format!(
            "`dctcp_alpha_on_init` ({}) is above {LARGEST_ALPHA}",
            dctcp.dctcp_alpha_on_init
        );
        problems
            .at(place!["tcp", name, "dctcp_alpha_on_init"], message)
            .label("1024 is an alpha of 1, all segments marked");
    }
}

/// The index of a table, or of a profile that a flow names directly.
pub(super) fn find(
    i: usize,
    name: Option<&str>,
    plan: &mut Draft,
    problems: &mut Problems<'_>,
) -> Option<usize> {
    let name = name.unwrap_or(Profile::Rfc.name());
    if let Some(index) = plan.tcp.iter().position(|(table, _)| table == name) {
        return Some(index);
    }
    // Profiles read themselves by their registered names.
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
        .at(place!["flows", i, "tcp"], format!("no TCP table or profile `{name}`"))
        .label("neither in [tcp] nor a profile")
        .help(help);
    None
}
