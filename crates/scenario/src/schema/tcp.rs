//! `[tcp.NAME]`: a profile, with individual parameters changed.

use optcp_tcp::config::{
    AckCounting, AckKind, AfterTimeout, Backoff, Config, CongestionKind, CubicVersion, DctcpLoss,
    DuplicateAckKind, Ecn, EctPackets, Expiry, FirstLoss, Halving, Increase, LossDetectionKind,
    Measurement, NewRenoTimer, Pacing, PartialAck, PathState, PragueRttScaling, RateReduction,
    ReceiverEcn, RecoveryExit, RecoveryKind, ReductionBasis, Repath, RttKind, SlowStartKind,
    TimeoutBasis, WindowValidation,
};
use optcp_tcp::profile::Profile;
use optcp_units::registry::Entry;
use optcp_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use optcp_units::nearest::list;

use super::congestion::{Congestion, congestion};
use super::values::{Count, Limit, Size, Span};

/// Form of a `Config` type in scenario files and in the resolved scenario.
trait Field {
    /// Type in the file.
    type Written: Clone;
    /// Unit suffix of the key in the resolved scenario.
    const SUFFIX: &'static str;
    /// Registered names that the key accepts; empty if it takes other values.
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

/// Implements [`Field`] for types that are registries.
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
    RecoveryKind, LossDetectionKind, RateReduction, AfterTimeout, CubicVersion, Increase, AckCounting, SlowStartKind, WindowValidation, Pacing, Backoff, FirstLoss, RttKind, Measurement, Expiry, NewRenoTimer, ReductionBasis, TimeoutBasis, RecoveryExit, PartialAck, Halving, AckKind, DuplicateAckKind, DctcpLoss, PragueRttScaling, Ecn, ReceiverEcn, EctPackets, PathState, Repath,
}

field! {
    optcp_units::Bytes, Size, "_bytes", |w| w.0, |v| json!(v.count());
    optcp_units::Duration, Span, "_ps", |w| w.0, |v| json!(v.as_ps());
    u32, Count, "_segments", |w| w.0, |v| json!(v);
    u16, Count, "", |w| u16::try_from(w.0).unwrap_or(u16::MAX), |v| json!(v);
    u8, Count, "", |w| u8::try_from(w.0).unwrap_or(u8::MAX), |v| json!(v);
    Option<u32>, Limit, "_segments", |w| w.0, |v| json!(v);
    Option<u8>, Limit, "", |w| w.0.map(|w| u8::try_from(w).unwrap_or(u8::MAX)), |v| json!(v);
    bool, bool, "", |w| *w, |v| json!(v);
    Window, Limit, "_segments", |w| Window(w.0.unwrap_or(u32::MAX)),
        |v| json!((v.0 != u32::MAX).then_some(v.0));
}

impl Field for CongestionKind {
    type Written = Congestion;
    const SUFFIX: &'static str = "";
    const CHOICES: &'static [Entry] = CongestionKind::FAMILY.members;
    fn read(written: &Congestion) -> Self {
        written.kind
    }
    fn resolved(&self) -> Value {
        json!(self.name())
    }
}

/// Window limit. `Config` uses `u32::MAX` for `unlimited`.
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

/// Declares the table from the fields of `Config` and of its parts. Keys of a controller are top-level keys
/// in files. A test of the profiles reports missing fields.
macro_rules! tcp_table {
    ($( $(#[$doc:meta])* $name:ident $(in $($part:ident).+)? : $Type:ty ),* $(,)?) => {
        /// TCP configuration: a profile, with individual parameters changed.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct TcpTable {
            /// Profile to start from. Default: `rfc`.
            profile: Option<Profile>,
            $( $(#[$doc])* $name: Option<<$Type as Field>::Written>, )*
        }

        impl TcpTable {
            /// Returns the profile with the changes of this table.
            pub(crate) fn config(&self) -> Config {
                let profile = self.profile.unwrap_or(Profile::Rfc);
                self.over(profile, profile.config(), None)
            }

            /// Returns profile and congestion control, if the table names them.
            pub(crate) fn named(&self) -> (Option<Profile>, Option<CongestionKind>) {
                (self.profile, self.congestion.as_ref().map(|congestion| congestion.kind))
            }

            /// Applies this table to `config`, which belongs to `profile`. `congestion` overrides the table's
            /// congestion control.
            pub(crate) fn over(
                &self,
                profile: Profile,
                mut config: Config,
                congestion: Option<CongestionKind>,
            ) -> Config {
                let congestion = congestion.or(self.named().1);
                if let Some(congestion) = congestion {
                    profile.adopt(congestion, &mut config);
                }
                if let Some(Congestion { class: Some(name), .. }) = &self.congestion {
                    config.controllers.name_class(name);
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

        /// Keys and the registered names that they accept.
        const KEYS: &[(&str, &[Entry])] = &[
            ("profile", Profile::FAMILY.members),
            $( (stringify!($name), <$Type as Field>::CHOICES), )*
        ];

        /// Returns all parameters in base units.
        pub(crate) fn resolved(config: &Config) -> Map<String, Value> {
            let choices = [$( (
                stringify!($name).to_owned() + <$Type as Field>::SUFFIX,
                <$Type>::from(config $($(.$part)+)? .$name).resolved(),
            ) ),*];
            let mut choices: Map<String, Value> = choices.into_iter().collect();
            if let Some(class) = config.controllers.class() {
                choices.insert("congestion".to_owned(), json!(congestion(config)));
                choices.insert("congestion_sha256".to_owned(), json!(class.digest()));
            }
            choices
        }

        /// Returns all parameters in scenario notation, by key.
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

/// Returns help for a name that belongs to other keys than the one with the options `known`. Returns `None`
/// if no other key has it, or if `known` are not options of a TCP parameter.
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

/// Formats a resolved value with its unit.
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
    /// Payload of a full segment. Goodput counts it.
    mss: optcp_units::Bytes,
    /// Header bytes that each data segment adds on the wire.
    header: optcp_units::Bytes,
    /// Size of an ACK on the wire.
    ack_size: optcp_units::Bytes,
    /// Initial congestion window.
    initial_window: u32,
    /// Initial slow-start threshold, or `unlimited`.
    initial_ssthresh: Option<u32>,
    /// Advertised receive window, or `unlimited`.
    window_limit: Window,
    /// `true`: the window may exceed 65 535 bytes (RFC 7323 section 2).
    window_scaling: bool,
    /// `true`: a SYN exchange precedes the data.
    handshake: bool,
    /// `true`: segments and ACKs carry timestamps (RFC 7323), 12 bytes each.
    timestamps: bool,
    /// Resolution of timestamps.
    timestamp_tick: optcp_units::Duration,
    /// Loss recovery algorithm.
    recovery: RecoveryKind,
    /// Loss detection in SACK recovery.
    loss_detection: LossDetectionKind,
    /// Window reduction during SACK recovery.
    rate_reduction: RateReduction,
    /// `true`: if nothing else can be sent, SACK recovery retransmits segments that may not be lost.
    speculative_retransmit: bool,
    /// `true`: if nothing else can be sent, SACK recovery retransmits the last segment once.
    rescue_retransmit: bool,
    /// With SACK. `true`: a stall with outstanding data triggers a tail loss probe before the RTO (RFC 8985).
    tail_loss_probe: bool,
    /// Segments that are retransmitted after an RTO.
    after_timeout: AfterTimeout,
    /// With SACK. `true`: spurious RTOs are detected and undone (F-RTO, RFC 5682).
    frto: bool,
    /// With SACK. `true`: a reduction is undone when DSACK shows that nothing was lost.
    dsack_undo: bool,
    /// With SACK. `true`: a reduction is undone when a timestamp shows that nothing was lost.
    timestamp_undo: bool,
    /// Congestion control.
    congestion: CongestionKind,
    /// Rounding of the window increase per ACK in Reno's congestion avoidance.
    increase in controllers.reno: Increase,
    /// With SACK: separate congestion window, loss and RTT state per network.
    path_state: PathState,
    /// Amount by which an ACK counts towards window growth.
    ack_counting: AckCounting,
    /// Method that may end slow start without a loss.
    slow_start: SlowStartKind,
    /// `true`: CUBIC lowers its target after a loss at a smaller window than the previous loss.
    fast_convergence in controllers.cubic: bool,
    /// Version of CUBIC.
    cubic_version in controllers.cubic: CubicVersion,
    /// Window growth while the window does not limit sending.
    window_validation: WindowValidation,
    /// Pacing of the segments that the window allows.
    pacing: Pacing,
    /// Maximum number of segments that pacing sends at once.
    pacing_burst: u32,
    /// `true`: after an idle RTO, the next ACK resets the window to the initial window.
    idle_restart: bool,
    /// `true`: idle time without outstanding data halves the window once per RTO.
    restart_after_idle: bool,
    /// `true`: each of the first two duplicate ACKs releases a new segment (RFC 3042).
    limited_transmit: bool,
    /// `true`: limited transmit may also release segments sent before, as ns-2 does after an RTO.
    limited_transmit_again: bool,
    /// `true`: duplicate ACKs for data sent before the last reduction do not start another fast retransmit.
    careful: bool,
    /// `true`: the first new ACK outside NewReno recovery ends the check of `careful`.
    careful_until_new_ack: bool,
    /// Recovery from the loss of the first segments.
    first_loss: FirstLoss,
    /// `true`: a fast retransmit restarts the retransmission timer.
    fast_retransmit_restarts_timer: bool,
    /// Retransmission timer during NewReno recovery.
    newreno_timer: NewRenoTimer,
    /// Effect of a partial ACK on the inflated window.
    partial_ack: PartialAck,
    /// Window at the end of recovery.
    recovery_exit: RecoveryExit,
    /// `true`: the ACK that ends recovery also increases the window.
    exit_ack_grows: bool,
    /// Maximum number of segments per ACK in NewReno recovery, or `unlimited`.
    recovery_burst: Option<u32>,
    /// Quantity that a fast retransmit halves.
    reduction_basis: ReductionBasis,
    /// `true`: Tahoe does not reset its duplicate ACK count after an RTO.
    tahoe_keeps_duplicates: bool,
    /// Quantity that an RTO halves.
    timeout_basis: TimeoutBasis,
    /// Rounding of half a window.
    halving: Halving,
    /// `true`: a repeated RTO of the same segment does not change ssthresh.
    repeated_timeout_keeps_ssthresh: bool,
    /// ACK policy of the receiver.
    ack: AckKind,
    /// Maximum delay of an ACK, or period of the timer that sends it.
    ack_delay: optcp_units::Duration,
    /// Number of segments acknowledged immediately at the start, and again after a duplicate segment.
    quick_acks: u32,
    /// `true`: segment 0 is acknowledged immediately although ACKs are delayed.
    first_ack_at_once: bool,
    /// `true`: the ACK of a duplicate of the newest in-order segment may be delayed.
    delays_duplicates: bool,
    /// Out-of-order segments that trigger a duplicate ACK.
    duplicate_acks: DuplicateAckKind,
    /// Maximum number of SACK blocks per ACK; at most 3 with timestamps.
    sack_blocks: u8,
    /// Bytes that the SACK option adds to an ACK, in addition to 8 per block.
    sack_header: optcp_units::Bytes,
    /// With SACK. `true`: the receiver reports duplicate segments (RFC 2883).
    dsack: bool,
    /// RTT estimator of the retransmission timer.
    rtt: RttKind,
    /// RTT samples that the estimator uses.
    measurement: Measurement,
    /// Granularity of the sender's clock.
    tick: optcp_units::Duration,
    /// RTO before the first RTT sample.
    initial_rto: optcp_units::Duration,
    /// Minimum RTO.
    min_rto: optcp_units::Duration,
    /// Limit of the exponential backoff of consecutive RTOs.
    backoff: Backoff,
    /// Maximum RTO, including backoff.
    max_rto: optcp_units::Duration,
    /// Number of SYN timeouts without backoff.
    syn_linear_timeouts: u8,
    /// Maximum number of SYN retransmissions after which data still start with the initial window.
    syn_retransmissions_forgiven: u8,
    /// Number of back-offs of an RTO of 200 ms whose time limits retransmissions, or `unlimited`.
    retries: Option<u8>,
    /// Number of SYN retransmissions, in addition to `syn_linear_timeouts`, or `unlimited`.
    syn_retries: Option<u8>,
    /// Limit of the time since the first retransmission, instead of `retries`. `0 s`: none.
    user_timeout: optcp_units::Duration,
    /// Change of the path that ECMP selects, by another flow label.
    repath: Repath,
    /// Time at which a due timer fires.
    expiry: Expiry,
    /// ECN mode that the sender requests.
    ecn: Ecn,
    /// ECN mode that the receiver accepts.
    receiver_ecn: ReceiverEcn,
    /// Packets sent as ECN-capable.
    ect_packets: EctPackets,
    /// With `ecn = "accurate"`. `true`: ACKs carry the AccECN option (RFC 9768 section 3.2.3).
    accecn_option: bool,
    /// `true`: an ECN mark reduces the window by less than a loss does (RFC 8511).
    abe: bool,
    /// Weight of a new window in DCTCP's alpha, as a power of 1/2.
    dctcp_shift_g in controllers.dctcp: u8,
    /// Initial value of DCTCP's alpha, in 1/1024.
    dctcp_alpha_on_init in controllers.dctcp: u16,
    /// Reduction of DCTCP's window after a loss.
    dctcp_loss in controllers.dctcp: DctcpLoss,
    /// Prague's compensation for short RTTs.
    prague_rtt_scaling in controllers.prague: PragueRttScaling,
    /// RTT to which Prague scales shorter RTTs.
    prague_rtt_target in controllers.prague: optcp_units::Duration,
    /// Number of RTTs in congestion avoidance before Prague starts to scale.
    prague_rtt_transition in controllers.prague: u16,
    /// RTT without queueing, from which NSCC has its target delay.
    nscc_base_rtt in controllers.nscc: optcp_units::Duration,
    /// Link rate times `nscc_base_rtt`, from which NSCC has its maximum window and increases.
    nscc_bdp in controllers.nscc: optcp_units::Bytes,
    /// Factor by which reTCP multiplies its window when a circuit starts, and divides it when the circuit
    /// ends.
    retcp_jump in controllers.retcp: u8,
}
