//! `[tcp.NAME]`: a profile, and single choices of it changed.

use optcp_tcp::config::{
    AckCounting, AckKind, AfterTimeout, Backoff, Config, CongestionKind, CubicVersion, DctcpLoss,
    DuplicateAckKind, Ecn, EctPackets, Expiry, FirstLoss, Halving, Increase, LossDetectionKind,
    Measurement, NewRenoTimer, Pacing, PartialAck, PathState, PragueRttScaling, RateReduction,
    ReceiverEcn, RecoveryExit, RecoveryKind, ReductionBasis, RttKind, SlowStartKind, TimeoutBasis,
    WindowValidation,
};
use optcp_tcp::profile::Profile;
use optcp_units::registry::Entry;
use optcp_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use optcp_units::nearest::list;

use super::values::{Count, Limit, Size, Span};

/// How a type of `Config` is written in files and in the resolved scenario.
trait Field {
    /// The type in the file.
    type Written: Clone;
    /// What the unit adds to the key in the resolved scenario.
    const SUFFIX: &'static str;
    /// The registered names that it chooses from, if it does.
    const CHOICES: &'static [Entry] = &[];
    fn read(written: &Self::Written) -> Self;
    fn resolved(&self) -> Value;
}

macro_rules! field {
    ($($Type:ty, $Written:ty, $suffix:literal, $read:expr, $resolved:expr;)*) => {$(
        impl Field for $Type {
            type Written = $Written;
            const SUFFIX: &'static str = $suffix;
            fn read(written: &$Written) -> Self {
                let read: fn(&$Written) -> $Type = $read;
                read(written)
            }
            fn resolved(&self) -> Value {
                let resolved: fn(&$Type) -> Value = $resolved;
                resolved(self)
            }
        }
    )*};
}

/// Fields that choose from a registry.
macro_rules! choice {
    ($($Kind:ident),* $(,)?) => {$(
        impl Field for $Kind {
            type Written = $Kind;
            const SUFFIX: &'static str = "";
            const CHOICES: &'static [Entry] = $Kind::FAMILY.members;
            fn read(written: &$Kind) -> Self {
                *written
            }
            fn resolved(&self) -> Value {
                json!(self.name())
            }
        }
    )*};
}

choice! {
    RecoveryKind, LossDetectionKind, RateReduction, AfterTimeout, CongestionKind, CubicVersion, Increase, AckCounting, SlowStartKind, WindowValidation, Pacing, Backoff, FirstLoss, RttKind, Measurement, Expiry, NewRenoTimer, ReductionBasis, TimeoutBasis, RecoveryExit, PartialAck, Halving, AckKind, DuplicateAckKind, DctcpLoss, PragueRttScaling, Ecn, ReceiverEcn, EctPackets, PathState,
}

field! {
    optcp_units::Bytes, Size, "_bytes", |w| w.0, |v| json!(v.count());
    optcp_units::Duration, Span, "_ps", |w| w.0, |v| json!(v.as_ps());
    u32, Count, "_segments", |w| w.0, |v| json!(v);
    u16, Count, "", |w| u16::try_from(w.0).unwrap_or(u16::MAX), |v| json!(v);
    u8, Count, "", |w| u8::try_from(w.0).unwrap_or(u8::MAX), |v| json!(v);
    Option<u32>, Limit, "_segments", |w| w.0, |v| json!(v);
    bool, bool, "", |w| *w, |v| json!(v);
    Window, Limit, "_segments", |w| Window(w.0.unwrap_or(u32::MAX)),
        |v| json!((v.0 != u32::MAX).then_some(v.0));
}

/// A window limit, for which `Config` has the greatest number where the file says "unlimited".
struct Window(u32);

impl From<u32> for Window {
    fn from(segments: u32) -> Self {
        Window(segments)
    }
}

impl From<Window> for u32 {
    fn from(window: Window) -> Self {
        window.0
    }
}

/// Declares the table from the fields of `Config`, and of what is in it: a controller's own key is flat in files.
/// The test of profiles names a field that is missing here.
macro_rules! tcp_table {
    ($( $(#[$doc:meta])* $name:ident $(in $($part:ident).+)? : $Type:ty ),* $(,)?) => {
        /// How TCP connections behave: a profile, and single choices of it changed.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct TcpTable {
            /// The bundle of choices to start from; `rfc` if left out.
            profile: Option<Profile>,
            $( $(#[$doc])* $name: Option<<$Type as Field>::Written>, )*
        }

        impl TcpTable {
            /// The profile with the changes of this table.
            pub(crate) fn config(&self) -> Config {
                let profile = self.profile.unwrap_or(Profile::Rfc);
                self.over(profile, profile.config(), None)
            }

            /// The profile and the congestion control that it names.
            pub(crate) fn named(&self) -> (Option<Profile>, Option<CongestionKind>) {
                (self.profile, self.congestion)
            }

            /// `config`, which is of `profile`, with the choices of this table. `congestion` goes before the congestion
            /// control that the table names.
            pub(crate) fn over(
                &self,
                profile: Profile,
                mut config: Config,
                congestion: Option<CongestionKind>,
            ) -> Config {
                let congestion = congestion.or(self.congestion);
                if let Some(congestion) = congestion {
                    profile.adopt(congestion, &mut config);
                }
                $( if let Some(written) = &self.$name {
                    config $($(.$part)+)? .$name = <$Type as Field>::read(written).into();
                } )*
                if let Some(congestion) = congestion {
                    config.congestion = congestion;
                }
                config
            }
        }

        /// The keys that choose from registered names, and those names.
        const KEYS: &[(&str, &[Entry])] = &[
            ("profile", Profile::FAMILY.members),
            $( (stringify!($name), <$Type as Field>::CHOICES), )*
        ];

        /// All choices, in base units.
        pub(crate) fn resolved(config: &Config) -> Map<String, Value> {
            let choices = [$( (
                stringify!($name).to_owned() + <$Type as Field>::SUFFIX,
                <$Type>::from(config $($(.$part)+)? .$name).resolved(),
            ) ),*];
            choices.into_iter().collect()
        }

        /// All choices as a scenario would write them, by key.
        pub(crate) fn written(config: &Config) -> Vec<(&'static str, String)> {
            vec![$( (
                stringify!($name),
                words(
                    <$Type as Field>::SUFFIX,
                    &<$Type>::from(config $($(.$part)+)? .$name).resolved(),
                ),
            ) ),*]
        }
    };
}

/// Where to write a name that other keys choose than the one where it stands, which chooses from `known`;
/// `None` if no other does, or if `known` are no choices of TCP.
pub(crate) fn belongs(name: &str, known: &[&str]) -> Option<String> {
    let family =
        |entries: &[Entry]| entries.iter().map(|entry| entry.name).eq(known.iter().copied());
    if !KEYS.iter().any(|(_, entries)| family(entries)) {
        return None;
    }
    let same = |entry: &&Entry| entry.name.eq_ignore_ascii_case(name);
    let found: Vec<(&str, &str)> = KEYS
        .iter()
        .filter(|(_, entries)| !family(entries))
        .filter_map(|(key, entries)| Some((*key, entries.iter().find(same)?.name)))
        .collect();
    let &[(_, chosen), ..] = found.as_slice() else { return None };
    let keys: Vec<&str> = found.iter().map(|(key, _)| *key).collect();
    let settings: Vec<String> = keys.iter().map(|key| format!("`{key} = \"{chosen}\"`")).collect();
    let has = |profile: &&Profile| {
        let choices = written(&profile.config());
        keys.iter().any(|key| choices.contains(&(*key, chosen.to_owned())))
    };
    let profiles: Vec<&str> = Profile::ALL.iter().filter(has).map(|one| one.name()).collect();
    let profiles = match profiles.as_slice() {
        [] => String::new(),
        [one] => format!("; the profile `{one}` has it"),
        several => format!("; the profiles {} have it", list(several)),
    };
    let (keys, settings) = (list(&keys), settings.join(" or "));
    Some(format!(
        "`{chosen}` is a choice of {keys}: write {settings} in a table `[tcp.NAME]`{profiles}"
    ))
}

/// A resolved value with its unit.
fn words(suffix: &str, value: &Value) -> String {
    match (suffix, value) {
        (_, Value::Null) => "unlimited".to_owned(),
        (_, Value::String(name)) => name.clone(),
        ("_ps", value) => Duration::from_ps(value.as_u64().unwrap_or_default()).to_string(),
        ("_bytes", value) => Bytes::new(value.as_u64().unwrap_or_default()).to_string(),
        (_, value) => value.to_string(),
    }
}

tcp_table! {
    /// Payload of a full segment; goodput counts it.
    mss: optcp_units::Bytes,
    /// What headers add to every data segment on the wire.
    header: optcp_units::Bytes,
    /// Size of an ACK on the wire.
    ack_size: optcp_units::Bytes,
    /// Initial congestion window.
    initial_window: u32,
    /// Initial slow-start threshold, or `unlimited`.
    initial_ssthresh: Option<u32>,
    /// The receiver's advertised window, or `unlimited`.
    window_limit: Window,
    /// Whether the window may be greater than 65 535 bytes (RFC 7323 section 2).
    window_scaling: bool,
    /// Whether a SYN exchange precedes the data.
    handshake: bool,
    /// Whether segments carry timestamps and ACKs echo them (RFC 7323), 12 bytes each.
    timestamps: bool,
    /// The unit of timestamps.
    timestamp_tick: optcp_units::Duration,
    /// What is done about losses.
    recovery: RecoveryKind,
    /// How SACK recovery knows what is lost.
    loss_detection: LossDetectionKind,
    /// How the window shrinks during SACK recovery.
    rate_reduction: RateReduction,
    /// Whether SACK recovery, for want of anything better, sends again what may not be lost.
    speculative_retransmit: bool,
    /// Whether SACK recovery sends the last segment again once, when there is nothing else.
    rescue_retransmit: bool,
    /// Whether silence with data outstanding sends a probe before the timeout (RFC 8985), with SACK.
    tail_loss_probe: bool,
    /// What is sent again after a timeout.
    after_timeout: AfterTimeout,
    /// Whether spurious timeouts are found out and taken back (RFC 5682), with SACK.
    frto: bool,
    /// Whether reductions are taken back when DSACK shows that nothing was lost, with SACK.
    dsack_undo: bool,
    /// Whether reductions are taken back when a timestamp shows that nothing was lost, with SACK.
    timestamp_undo: bool,
    /// How the window grows.
    congestion: CongestionKind,
    /// How Reno's congestion avoidance rounds what an ACK adds to the window.
    increase in controllers.reno: Increase,
    /// Whether each network has a window, losses and round trips of its own, with SACK.
    path_state: PathState,
    /// What an ACK counts for when the window grows.
    ack_counting: AckCounting,
    /// What may end slow start before a loss does.
    slow_start: SlowStartKind,
    /// Whether CUBIC aims lower after a loss at a smaller window than the one before.
    fast_convergence in controllers.cubic: bool,
    /// Whose CUBIC it is.
    cubic_version in controllers.cubic: CubicVersion,
    /// Whether the window grows while it does not limit what is sent.
    window_validation: WindowValidation,
    /// How segments that the window allows are spread over time.
    pacing: Pacing,
    /// The most segments that pacing lets out together.
    pacing_burst: u32,
    /// Whether an ACK finds the initial window again when nothing was sent for a timeout.
    idle_restart: bool,
    /// Whether a pause with nothing outstanding halves the window for each timeout.
    restart_after_idle: bool,
    /// Whether the first two duplicate ACKs release a new segment each (RFC 3042).
    limited_transmit: bool,
    /// Whether limited transmit may also release what was sent before, as ns-2 does behind a timeout.
    limited_transmit_again: bool,
    /// Whether duplicate ACKs for data sent before the last reduction start no further fast retransmit.
    careful: bool,
    /// Whether the first new ACK outside NewReno's recovery ends the check of `careful`.
    careful_until_new_ack: bool,
    /// How the loss of the first segments is recovered.
    first_loss: FirstLoss,
    /// Whether a fast retransmit restarts the retransmission timer.
    fast_retransmit_restarts_timer: bool,
    /// The retransmission timer in NewReno's recovery.
    newreno_timer: NewRenoTimer,
    /// What a partial ACK does to the inflated window.
    partial_ack: PartialAck,
    /// The window after recovery.
    recovery_exit: RecoveryExit,
    /// Whether the ACK that ends recovery also grows the window.
    exit_ack_grows: bool,
    /// The most segments that one ACK may release inside NewReno's recovery, or `unlimited`.
    recovery_burst: Option<u32>,
    /// What is halved at a fast retransmit.
    reduction_basis: ReductionBasis,
    /// Whether Tahoe goes on counting duplicate ACKs after a timeout where it was.
    tahoe_keeps_duplicates: bool,
    /// What is halved at a timeout.
    timeout_basis: TimeoutBasis,
    /// How half a window is rounded.
    halving: Halving,
    /// Whether a repeated timeout of one segment leaves ssthresh alone.
    repeated_timeout_keeps_ssthresh: bool,
    /// When the receiver acknowledges.
    ack: AckKind,
    /// How long a delayed ACK may wait, or the period of the timer that sends it.
    ack_delay: optcp_units::Duration,
    /// Segments that are acknowledged at once at the start, and again after one has come twice.
    quick_acks: u32,
    /// Whether segment 0 is acknowledged at once although ACKs are delayed.
    first_ack_at_once: bool,
    /// Whether the ACK of a second copy of the newest in-order segment may wait too.
    delays_duplicates: bool,
    /// Which segments beyond a hole bring a duplicate ACK.
    duplicate_acks: DuplicateAckKind,
    /// The most SACK blocks in an ACK; with timestamps three at most.
    sack_blocks: u8,
    /// What the SACK option adds to an ACK beside 8 bytes for each block.
    sack_header: optcp_units::Bytes,
    /// Whether the receiver reports segments that have come twice (RFC 2883), with SACK.
    dsack: bool,
    /// The estimator behind the retransmission timer.
    rtt: RttKind,
    /// Which round trips it is given.
    measurement: Measurement,
    /// Granularity of the sender's clock.
    tick: optcp_units::Duration,
    /// Retransmission timeout before the first measurement.
    initial_rto: optcp_units::Duration,
    /// Least retransmission timeout.
    min_rto: optcp_units::Duration,
    /// How far expiries in a row lengthen the timeout.
    backoff: Backoff,
    /// Greatest retransmission timeout, backed off.
    max_rto: optcp_units::Duration,
    /// Expiries of the SYN's timer that do not lengthen it.
    syn_linear_timeouts: u8,
    /// Retransmissions of the SYN behind which data begin with the initial window all the same.
    syn_retransmissions_forgiven: u8,
    /// When a timer that is due expires.
    expiry: Expiry,
    /// What the sender asks for about marks (explicit congestion notification).
    ecn: Ecn,
    /// What the receiver agrees to about marks.
    receiver_ecn: ReceiverEcn,
    /// Which packets may be marked.
    ect_packets: EctPackets,
    /// Whether ACKs carry the AccECN option (RFC 9768 section 3.2.3), with `ecn = "accurate"`.
    accecn_option: bool,
    /// Whether a mark reduces the window by less than a loss (RFC 8511).
    abe: bool,
    /// The share with which a new window counts in DCTCP's alpha, as a power of 1/2.
    dctcp_shift_g in controllers.dctcp: u8,
    /// DCTCP's alpha at the start, in 1024ths.
    dctcp_alpha_on_init in controllers.dctcp: u16,
    /// What a loss takes from DCTCP's window.
    dctcp_loss in controllers.dctcp: DctcpLoss,
    /// Whether Prague makes up for short round trips.
    prague_rtt_scaling in controllers.prague: PragueRttScaling,
    /// The round trip that Prague scales shorter ones to.
    prague_rtt_target in controllers.prague: optcp_units::Duration,
    /// Round trips of congestion avoidance before Prague does so.
    prague_rtt_transition in controllers.prague: u16,
    /// What reTCP multiplies its window by when a circuit comes, and divides it by when it goes.
    retcp_jump in controllers.retcp: u8,
}
