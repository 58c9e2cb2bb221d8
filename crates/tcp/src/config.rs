//! Configuration of a TCP endpoint, as plain data.
//!
//! Published results depend on parameters that papers do not state. Each has a name here, and a
//! [`Profile`](crate::profile::Profile) is a named set of values.

use optcp_units::{Bytes, Codepoint, Duration, Marking, registry};

use crate::acknowledgment::Ack;
use crate::ecn::{answers, asks};
use crate::rtt::TimerClock;

pub use crate::congestion::{
    AckCounting, CongestionKind, ControllerKeys, CubicVersion, DctcpLoss, Increase, NeedsEcn,
    PragueRttScaling, SlowStartKind, WindowValidation,
};
pub use crate::ecn::{Ecn, EctPackets, ReceiverEcn};
pub use crate::pacing::Pacing;

registry! {
    /// Loss recovery after duplicate ACKs.
    pub enum RecoveryKind ("recovery") {
        "tahoe" => Tahoe: "fast retransmit, then slow start from one segment", "Jacobson 1988";
        "reno" => Reno: "fast retransmit and fast recovery, which the first new ACK ends", "RFC 5681 section 3.2";
        "newreno" => NewReno: "fast recovery that continues after partial ACKs", "RFC 6582";
        "sack" => Sack: "retransmits the segments that selective ACKs show as missing", "RFC 6675";
        "sack1" => Sack1: "SACK recovery of 1996; lost segments count as in flight", "Fall and Floyd 1996, as in ns-2.35";
        "quic" => Quic: "packet numbers that ACKs report in ranges, packet and time thresholds, probes after a timeout", "RFC 9002 section 6";
    }
}

registry! {
    /// Loss detection in SACK recovery.
    pub enum LossDetectionKind ("loss_detection") {
        "duplicates" => Duplicates: "three later segments have arrived", "RFC 6675 section 4, IsLost";
        "rack" => Rack: "a later transmission has arrived, and a reordering window has passed", "RFC 8985 section 6";
        "trimmed" => Trimmed: "the receiver reports the header of a trimmed segment; reordering never counts", "Handley and others 2017, NDP; Ultra Ethernet 1.0";
    }
}

registry! {
    /// Window reduction during SACK recovery.
    pub enum RateReduction ("rate_reduction") {
        "at-once" => AtOnce: "to ssthresh at the start of recovery", "RFC 6675 section 5 step 4.2";
        "prr-crb" => PrrCrb: "in proportion to delivered data; below ssthresh, one segment per delivered segment", "RFC 6937, conservative reduction bound";
        "prr-ssrb" => PrrSsrb: "in proportion to delivered data; below ssthresh, one additional segment per ACK", "RFC 6937, slow-start reduction bound";
        "prr" => Prr: "in proportion to delivered data; below ssthresh, one additional segment while recovery makes progress", "RFC 9937";
    }
}

registry! {
    /// Retransmissions after an RTO.
    pub enum AfterTimeout ("after_timeout") {
        "go-back-n" => GoBackN: "all outstanding segments, including those that SACK had covered", "RFC 2018 section 8; 4.3BSD";
        "missing" => Missing: "segments that SACK does not cover; without SACK, all", "RFC 6675 section 5.1; Linux";
        "first" => First: "the oldest segment; without SACK, partial ACKs trigger each later one", "RFC 6298 section 5.4";
    }
}

registry! {
    /// Path state of a sender: one for the connection, or one per network.
    pub enum PathState ("path_state") {
        "one" => One: "one state per connection", "RFC 5681; RFC 6298";
        "per-network" => PerNetwork: "window, losses and RTT per network that a virtual output queue announces", "Chen et al. 2022 (TDTCP)";
    }
}

registry! {
    /// Change of the path that ECMP selects, by another flow label.
    pub enum Repath ("repath") {
        "none" => None: "never", "IPv4, whose ECMP hashes no label";
        "rto" => Rto: "the sender at every RTO; the receiver at the second duplicate of a segment", "Wetherall et al. 2023; `txrehash` of Linux";
        "rto-first" => RtoFirst: "the sender at every RTO; the receiver at the first duplicate with another flow label", "Linux since 6.7";
        "rto-plb" => RtoPlb: "also the sender after 12 consecutive rounds with at least half of the segments marked, or 3 before it is idle", "Qureshi et al. 2022; `tcp_plb` of Linux";
        "packet" => Packet: "the sender at every segment, the receiver at every ACK: packet spraying", "Dixit et al. 2013; Ultra Ethernet 1.0, entropy values";
    }
}

registry! {
    /// RTT estimator of the retransmission timer.
    pub enum RttKind ("rtt") {
        "rfc6298" => Rfc6298: "exact RTT samples; RTO = SRTT + max(G, 4 RTTVAR)", "RFC 6298 section 2";
        "rfc9002" => Rfc9002: "exact RTT samples without the delay that the receiver reports; timeout = SRTT + max(G, 4 RTTVAR)", "RFC 9002 section 5.3";
        "bsd-ticks" => BsdTicks: "RTT in whole ticks of a free-running clock, in fixed-point arithmetic", "4.3BSD, as in ns-2";
        "inet" => Inet: "exact RTT samples from SRTT = 0; gain 1/8 for both averages; RTO = SRTT + 4 RTTVAR", "INET in 2011";
        "linux" => Linux: "exact RTT samples; RTO = SRTT + maximum deviation within an RTT, at least the minimum RTO", "Linux";
    }
}

registry! {
    /// RTT samples.
    pub enum Measurement ("measurement") {
        "unambiguous" => Unambiguous: "only segments sent once; any retransmission discards the sample in progress", "RFC 6298 section 3";
        "until-timeout" => UntilTimeout: "only an RTO discards the sample in progress; later retransmissions, except the first segment, count as new", "INET in 2011";
        "every-ack" => EveryAck: "with SACK, every ACK, from the send times of segments sent once", "Linux";
    }
}

registry! {
    /// Time at which a due retransmission timer fires.
    pub enum Expiry ("expiry") {
        "exact" => Exact: "immediately", "RFC 6298 section 5";
        "on-tick" => OnTick: "at the next tick of the sender's free-running clock", "4.3BSD; OPNET's timer granularity";
        "timer-wheel" => TimerWheel: "at the next slot of a timer wheel that counts ticks: up to an eighth of the timeout late; also for probes, reordering windows and Linux's delayed ACKs", "Linux since 4.8, `kernel/time/timer.c`";
    }
}

registry! {
    /// Limit of the exponential backoff.
    pub enum Backoff ("backoff") {
        "to-maximum" => ToMaximum: "doubles up to the maximum RTO", "RFC 6298 section 5.5; ns-2.35";
        "64-fold" => SixtyFourFold: "doubles at most six times", "4.3BSD; ns-2 in 2001";
    }
}

registry! {
    /// Recovery of the first segments of a transfer by duplicate ACKs.
    pub enum FirstLoss ("first_loss") {
        "as-any" => AsAny: "like any other segment", "RFC 5681 section 3.2";
        "ns2" => Ns2: "the first segment waits for its RTO, and a lost SYN sets ssthresh to two segments; a fast retransmit of the second may follow any reduction", "ns-2.35";
    }
}

registry! {
    /// Partial ACKs that restart the retransmission timer in NewReno's fast recovery.
    pub enum NewRenoTimer ("newreno_timer") {
        "impatient" => Impatient: "only the first partial ACK (impatient)", "RFC 6582 section 3.2 step 3";
        "patient" => Patient: "every partial ACK (slow but steady)", "RFC 2582 section 4; RFC 3782 section 4";
    }
}

registry! {
    /// Effect of a partial ACK on the inflation by duplicate ACKs.
    pub enum PartialAck ("partial_ack") {
        "deflate" => Deflate: "reduces the window by the acknowledged data, minus one segment", "RFC 6582 section 3.2 step 3";
        "keep" => Keep: "does not change the window", "RFC 2582 without partial window deflation";
        "reset" => Reset: "removes all inflation", "ns-2 without partial window deflation";
    }
}

registry! {
    /// Reduction basis: the quantity whose half becomes ssthresh at a fast retransmit.
    pub enum ReductionBasis ("reduction_basis") {
        "flight-size" => FlightSize: "unacknowledged data (flight size)", "RFC 5681 equation 4";
        "window" => Window: "the smaller of cwnd and the receive window", "ns-2";
    }
}

registry! {
    /// Reduction basis: the quantity whose half becomes ssthresh at an RTO.
    pub enum TimeoutBasis ("timeout_basis") {
        "flight-size" => FlightSize: "snd_max - snd_una, also during recovery", "RFC 5681 equation 4";
        "window" => Window: "the smaller of cwnd and the receive window, without inflation", "ns-2";
        "window-keep-recovery" => WindowKeepRecovery: "as `window`, but keeps the ssthresh of an interrupted recovery", "Linux";
        "keep-recovery" => KeepRecovery: "flight size, but keeps the ssthresh of an interrupted recovery", "RFC 5681 section 3.1, one reduction per loss event";
        "halve-again" => HalveAgain: "flight size, but half the ssthresh of an interrupted recovery", "RFC 5681 equation 4, with ssthresh for what a recovery has in flight";
        "inflated-window" => InflatedWindow: "the smaller of cwnd, including inflation, and the receive window", "INET in 2011";
    }
}

registry! {
    /// Congestion window after the ACK that ends NewReno's fast recovery.
    pub enum RecoveryExit ("recovery_exit") {
        "flight-size" => FlightSize: "min(ssthresh, max(FlightSize, SMSS) + SMSS)", "RFC 6582 section 3.2 step 3, option 1";
        "rfc3782" => Rfc3782: "min(ssthresh, FlightSize + SMSS)", "RFC 3782 section 3 step 5, option 1; INET in 2011";
        "ssthresh" => Ssthresh: "ssthresh", "RFC 6582 section 3.2 step 3, option 2";
        "unchanged" => Unchanged: "the result of the reduction and deflations, without inflation", "ns-2";
    }
}

registry! {
    /// Rounding of half a window at a fast retransmit and at an RTO.
    pub enum Halving ("halving") {
        "exact" => Exact: "no rounding", "RFC 5681 equation 4";
        "whole-bytes" => WholeBytes: "ssthresh and cwnd down to whole bytes", "INET in 2011";
        "whole-ssthresh" => WholeSsthresh: "ssthresh down to whole segments; cwnd not rounded", "ns-2 since 2006";
        "whole" => Whole: "ssthresh and cwnd down to whole segments", "ns-2 before 2006";
    }
}

registry! {
    /// ACK policy of the receiver.
    pub enum AckKind ("ack") {
        "every-packet" => EveryPacket: "every data segment immediately", "RFC 9293 section 3.8.6.3, the least delay";
        "delayed" => Delayed: "every second in-order segment, or a timer per segment", "RFC 5681 section 4.2";
        "delayed-tick" => DelayedTick: "every second in-order segment, or the next tick of a free-running timer", "4.3BSD";
        "linux" => Linux: "delayed; immediate at the start, after duplicate or late segments, and while the receive window grows", "Linux";
    }
}

registry! {
    /// Out-of-order segments that trigger a duplicate ACK.
    pub enum DuplicateAckKind ("duplicate_acks") {
        "every" => Every: "all out-of-order segments", "RFC 5681 section 4.2";
        "das" => Das: "out-of-order segments whose time to live shows no shorter path than that of the last in-order segment", "Mao, Wen and Yeung 2012, section II";
        "das-bounded" => DasBounded: "as `das`; withheld ACKs follow after about one RTT if the gap remains", "OpTCP";
    }
}

/// Configuration of a connection: sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full segment. Goodput counts it.
    pub mss: Bytes,
    /// Header bytes of a data segment on the wire.
    pub header: Bytes,
    /// Size of an ACK on the wire.
    pub ack_size: Bytes,
    /// Initial congestion window in segments.
    pub initial_window: u32,
    /// Initial slow-start threshold in segments; `None` for unlimited.
    pub initial_ssthresh: Option<u32>,
    /// Advertised receive window in segments.
    pub window_limit: u32,
    /// `true`: the window may exceed 65 535 bytes (RFC 7323 section 2).
    pub window_scaling: bool,
    /// `true`: a SYN exchange precedes the data.
    pub handshake: bool,
    /// `true`: segments and ACKs carry timestamps (RFC 7323) of 12 bytes each.
    pub timestamps: bool,
    /// Resolution of timestamps.
    pub timestamp_tick: Duration,
    /// Loss recovery algorithm.
    pub recovery: RecoveryKind,
    /// Loss detection in SACK recovery.
    pub loss_detection: LossDetectionKind,
    /// Window reduction during SACK recovery.
    pub rate_reduction: RateReduction,
    /// `true`: if nothing else can be sent, SACK recovery retransmits segments that may not be lost (RFC 6675
    /// `NextSeg` rule 3).
    pub speculative_retransmit: bool,
    /// `true`: if nothing else can be sent, SACK recovery retransmits the last segment once (rule 4).
    pub rescue_retransmit: bool,
    /// `true`: a stall with outstanding data triggers a tail loss probe before the RTO (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Segments that are retransmitted after an RTO.
    pub after_timeout: AfterTimeout,
    /// With SACK. `true`: spurious RTOs are detected and undone (RFC 5682).
    pub frto: bool,
    /// With SACK. `true`: a reduction is undone when DSACK shows that nothing was lost.
    pub dsack_undo: bool,
    /// With SACK. `true`: a reduction is undone when a timestamp shows that nothing was lost (RFC 3522).
    pub timestamp_undo: bool,
    /// Congestion control.
    pub congestion: CongestionKind,
    /// Parameters of individual controllers.
    pub controllers: ControllerKeys,
    /// With SACK: separate congestion window, loss and RTT state per network.
    pub path_state: PathState,
    /// Amount by which an ACK counts towards window growth.
    pub ack_counting: AckCounting,
    /// Method that may end slow start without a loss.
    pub slow_start: SlowStartKind,
    /// Window growth while the window does not limit sending.
    pub window_validation: WindowValidation,
    /// Pacing of the segments that the window allows.
    pub pacing: Pacing,
    /// Maximum number of segments that pacing sends at once.
    pub pacing_burst: u32,
    /// `true`: an ACK more than one RTO after the window last allowed a segment resets the window
    /// to the initial window (RFC 5681 section 4.1). This also applies during recovery.
    pub idle_restart: bool,
    /// `true`: a pause without outstanding data halves cwnd once per RTO, down to the initial window (RFC
    /// 2861; `tcp_slow_start_after_idle` of Linux).
    pub restart_after_idle: bool,
    /// `true`: each of the first two duplicate ACKs releases a new segment (RFC 3042).
    pub limited_transmit: bool,
    /// `true`: limited transmit may also release segments sent before, as after an RTO (`singledup_` of
    /// ns-2); RFC 3042 allows new data only.
    pub limited_transmit_again: bool,
    /// `true`: duplicate ACKs for data sent before the last reduction do not start another fast
    /// retransmit (RFC 6582 section 3.2 step 2). RFC 5681's Reno has no such check.
    pub careful: bool,
    /// `true`: the first new ACK outside NewReno's recovery ends the check of `careful`, also after an RTO
    /// (in INET, every such ACK advances `recover`).
    pub careful_until_new_ack: bool,
    /// Recovery from the loss of the first segments.
    pub first_loss: FirstLoss,
    /// `true`: a fast retransmit restarts the retransmission timer, as in ns-2; RFC 6298 does not specify it.
    pub fast_retransmit_restarts_timer: bool,
    /// Retransmission timer during NewReno recovery.
    pub newreno_timer: NewRenoTimer,
    /// Effect of a partial ACK on the inflated window.
    pub partial_ack: PartialAck,
    /// Window after recovery.
    pub recovery_exit: RecoveryExit,
    /// `true`: the ACK that ends recovery also increases the window, as in ns-2.
    pub exit_ack_grows: bool,
    /// Maximum number of segments per ACK in NewReno recovery; `None` for unlimited.
    pub recovery_burst: Option<u32>,
    /// Quantity that a fast retransmit halves.
    pub reduction_basis: ReductionBasis,
    /// `true`: Tahoe keeps its duplicate ACK count after an RTO, so that duplicate ACKs of the old
    /// window do not trigger again (ns-2). 4.3BSD resets it.
    pub tahoe_keeps_duplicates: bool,
    /// Quantity that an RTO halves.
    pub timeout_basis: TimeoutBasis,
    /// Rounding of half a window.
    pub halving: Halving,
    /// `true`: a repeated RTO of the same segment does not change ssthresh (RFC 5681 section 3.1).
    pub repeated_timeout_keeps_ssthresh: bool,
    /// ACK policy of the receiver.
    pub ack: AckKind,
    /// Maximum delay of an ACK, or period of the timer that sends it.
    pub ack_delay: Duration,
    /// Number of segments acknowledged immediately at the start, and again after a duplicate segment.
    pub quick_acks: u32,
    /// `true`: segment 0 is acknowledged immediately although ACKs are delayed. A SYN always is; ns-2 treats
    /// the first data segment in this way if there is no SYN.
    pub first_ack_at_once: bool,
    /// `true`: the ACK of a duplicate of the newest in-order segment may be delayed, as in ns-2; RFC 9293
    /// section 3.10.7.4 requires an immediate ACK.
    pub delays_duplicates: bool,
    /// Out-of-order segments that trigger a duplicate ACK.
    pub duplicate_acks: DuplicateAckKind,
    /// Maximum number of SACK blocks per ACK; at most 3 with timestamps.
    pub sack_blocks: u8,
    /// Bytes that the SACK option adds to an ACK, in addition to 8 per block.
    pub sack_header: Bytes,
    /// `true`: the receiver reports duplicate segments (RFC 2883).
    pub dsack: bool,
    /// RTT estimator of the retransmission timer.
    pub rtt: RttKind,
    /// RTT samples that the estimator uses.
    pub measurement: Measurement,
    /// Granularity of the sender's clock: G of RFC 6298, or the tick of `bsd-ticks` and `on-tick`.
    pub tick: Duration,
    /// RTO before the first RTT sample.
    pub initial_rto: Duration,
    /// Minimum RTO.
    pub min_rto: Duration,
    /// Limit of the exponential backoff of consecutive RTOs.
    pub backoff: Backoff,
    /// Maximum RTO, including backoff.
    pub max_rto: Duration,
    /// Number of SYN timeouts without backoff (`tcp_syn_linear_timeouts` of Linux).
    pub syn_linear_timeouts: u8,
    /// Maximum number of SYN retransmissions after which data still start with the initial window.
    pub syn_retransmissions_forgiven: u8,
    /// Number of back-offs of an RTO of 200 ms whose time limits retransmissions of the same data (`tcp_retries2` of
    /// Linux); `None` for unlimited.
    pub retries: Option<u8>,
    /// Number of retransmissions of a SYN, in addition to `syn_linear_timeouts`; `None` for unlimited.
    pub syn_retries: Option<u8>,
    /// Limit of the time since the first retransmission, instead of `retries`; zero for none (RFC 5482).
    pub user_timeout: Duration,
    /// Change of the path that ECMP selects.
    pub repath: Repath,
    /// Time at which a due timer fires.
    pub expiry: Expiry,
    /// ECN mode that the sender requests.
    pub ecn: Ecn,
    /// ECN mode that the receiver accepts.
    pub receiver_ecn: ReceiverEcn,
    /// Packets sent as ECN-capable.
    pub ect_packets: EctPackets,
    /// With `Ecn::Accurate`. `true`: ACKs carry the AccECN option (RFC 9768 section 3.2.3).
    pub accecn_option: bool,
    /// `true`: a mark reduces the window by less than a loss does (RFC 8511).
    pub abe: bool,
}

/// Maximum of the window field in the TCP header without scaling (RFC 9293 section 3.1).
const UNSCALED_WINDOW: u64 = 65_535;
/// Size of the timestamps option with padding (RFC 7323 appendix A).
const TIMESTAMPS: Bytes = Bytes::new(12);
/// Bytes of one SACK block (RFC 2018 section 3).
const SACK_BLOCK: u64 = 8;
/// Bytes of a gap and a range in an ACK frame, up to 16,383 packets each (RFC 9000 sections 16 and 19.3.1).
const PACKET_RANGE: u64 = 4;
/// Size of a segment without data that opens a TCP connection.
const SYN_SIZE: Bytes = Bytes::new(40);
/// Minimum size of a datagram with an Initial packet (RFC 9000 section 14.1), with 28 B of IPv4 and UDP.
const INITIAL_SIZE: Bytes = Bytes::new(1228);

impl Config {
    /// Returns whether the connection uses SACK.
    #[must_use]
    pub fn sack(&self) -> bool {
        matches!(self.recovery, RecoveryKind::Sack | RecoveryKind::Sack1)
    }

    /// Returns whether queues may trim its segments, because the receiver reports them.
    #[must_use]
    pub fn trims(&self) -> bool {
        self.recovery == RecoveryKind::Sack && self.loss_detection == LossDetectionKind::Trimmed
    }

    /// Returns the receive window in segments, at least one.
    #[must_use]
    pub fn window_segments(&self) -> u32 {
        if self.window_scaling {
            return self.window_limit;
        }
        let unscaled = (UNSCALED_WINDOW / self.mss.count().max(1)).max(1);
        self.window_limit.min(u32::try_from(unscaled).unwrap_or(u32::MAX))
    }

    /// Returns the period of the clocks of both endpoints: `period`, or the slots of the longest RTO in a timer wheel.
    #[must_use]
    pub fn clock_period(&self, period: Duration) -> Duration {
        match self.expiry {
            Expiry::TimerWheel => TimerClock::slot(self.tick, self.max_rto),
            Expiry::Exact | Expiry::OnTick => period.max(Duration::from_ps(1)),
        }
    }

    /// Returns the bytes that timestamps add to each segment.
    #[must_use]
    pub fn timestamp_size(&self) -> Bytes {
        if self.timestamps { TIMESTAMPS } else { Bytes::ZERO }
    }

    /// Returns the size of a data segment on the wire.
    #[must_use]
    pub fn segment_wire_size(&self) -> Bytes {
        self.mss + self.header + self.timestamp_size()
    }

    /// Returns the size of an ACK on the wire.
    #[must_use]
    pub fn ack_wire_size(&self, ack: &Ack) -> Bytes {
        let blocks = ack.sack.map_or(0, |sack| sack.as_slice().len() as u64);
        if self.recovery == RecoveryKind::Quic {
            // Nothing but the first packet has arrived: the other end of the handshake answers it.
            let opens = self.handshake && ack.seq.number() == 1 && blocks == 1;
            let ranges = Bytes::new(PACKET_RANGE * blocks.saturating_sub(1));
            let counts = ack.counters.map_or(Bytes::ZERO, |counts| counts.size());
            return if opens { INITIAL_SIZE } else { self.ack_size + ranges + counts };
        }
        let options = if blocks > 0 {
            self.sack_header + Bytes::new(SACK_BLOCK * blocks)
        } else {
            Bytes::ZERO
        };
        let counters = ack.counters.map_or(Bytes::ZERO, |counters| counters.size());
        self.ack_size + self.timestamp_size() + options + counters
    }

    /// Returns the size of the first segment of the SYN exchange, or of QUIC's handshake.
    #[must_use]
    pub fn opening_size(&self) -> Bytes {
        match self.recovery {
            RecoveryKind::Quic => INITIAL_SIZE,
            _ => SYN_SIZE,
        }
    }

    /// Returns the ECN feedback of a receiver with this configuration for a sender's SYN.
    #[must_use]
    pub fn answers(&self, syn: Marking) -> Ecn {
        answers(self.receiver_ecn.of(self.ecn), syn.flags(), syn.codepoint()).0
    }

    /// Returns whether ACKs have the AccECN option if the SYN exchange negotiates the configuration of both
    /// ends.
    #[must_use]
    pub fn sends_accecn_option(&self) -> bool {
        let syn = Marking::new(Codepoint::NotEct, asks(self.ecn));
        self.accecn_option && self.answers(syn) == Ecn::Accurate
    }

    /// Returns the codepoint of ECN-capable packets. ECT(1) is reserved for controls that react to marks as
    /// L4S requires (RFC 9331 section 4).
    #[must_use]
    pub const fn ect(&self) -> Codepoint {
        if self.congestion.is_l4s() { Codepoint::Ect1 } else { Codepoint::Ect0 }
    }
}
