//! Every choice that a TCP endpoint leaves open, as plain data.
//!
//! Published results hang on choices that papers do not state; here each has a name, and a
//! [`Profile`](crate::profile::Profile) is a named bundle of them.

use optcp_units::{Bytes, Codepoint, Duration, Marking, registry};

use crate::acknowledgment::Ack;
use crate::ecn::{answers, asks};

pub use crate::congestion::{
    AckCounting, CongestionKind, ControllerKeys, CubicVersion, DctcpLoss, Increase, NeedsEcn,
    PragueRttScaling, SlowStartKind, WindowValidation,
};
pub use crate::ecn::{Ecn, EctPackets, ReceiverEcn};
pub use crate::pacing::Pacing;

registry! {
    /// What the sender does about a loss that duplicate ACKs reveal.
    pub enum RecoveryKind ("recovery") {
        "tahoe" => Tahoe: "fast retransmit, then slow start from one segment", "Jacobson 1988";
        "reno" => Reno: "fast retransmit and fast recovery; the first new ACK ends it", "RFC 5681 section 3.2";
        "newreno" => NewReno: "fast recovery that partial ACKs keep going", "RFC 6582";
        "sack" => Sack: "retransmits what selective ACKs show to be missing", "RFC 6675";
        "sack1" => Sack1: "the same of 1996; lost segments count as in flight", "Fall and Floyd 1996, as in ns-2.35";
    }
}

registry! {
    /// How SACK recovery knows that a segment is lost.
    pub enum LossDetectionKind ("loss_detection") {
        "duplicates" => Duplicates: "three segments beyond it have arrived", "RFC 6675 section 4, IsLost";
        "rack" => Rack: "one sent later has arrived, and a reordering window has passed", "RFC 8985 section 6";
    }
}

registry! {
    /// How the window shrinks during SACK recovery.
    pub enum RateReduction ("rate_reduction") {
        "at-once" => AtOnce: "to ssthresh at its start", "RFC 6675 section 5 step 4.2";
        "prr-crb" => PrrCrb: "in proportion to what is delivered; below ssthresh as much as was delivered", "RFC 6937, conservative reduction bound";
        "prr-ssrb" => PrrSsrb: "in proportion; below ssthresh one segment more for each ACK", "RFC 6937, slow-start reduction bound";
        "prr" => Prr: "in proportion; below ssthresh one segment more while recovery makes progress", "RFC 9937";
    }
}

registry! {
    /// What is sent again after a timeout.
    pub enum AfterTimeout ("after_timeout") {
        "go-back-n" => GoBackN: "everything outstanding, also what SACK had covered", "RFC 2018 section 8; 4.3BSD";
        "missing" => Missing: "what SACK does not cover; without SACK everything", "RFC 6675 section 5.1; Linux";
        "first" => First: "the oldest segment; without SACK each later one when a partial ACK asks for it", "RFC 6298 section 5.4";
    }
}

registry! {
    /// What a sender knows of the path, for all of it or for each network that it leads over by turns.
    pub enum PathState ("path_state") {
        "one" => One: "one for the connection", "RFC 5681; RFC 6298";
        "per-network" => PerNetwork: "a window, losses and round trips for each network of which a virtual output queue tells", "Chen et al. 2022 (TDTCP)";
    }
}

registry! {
    /// How the retransmission timer is estimated.
    pub enum RttKind ("rtt") {
        "rfc6298" => Rfc6298: "exact measurements; RTO = SRTT + max(G, 4 RTTVAR)", "RFC 6298 section 2";
        "bsd-ticks" => BsdTicks: "whole ticks of a free-running clock in fixed point", "4.3BSD, as in ns-2";
        "inet" => Inet: "exact measurements from SRTT = 0; gain 1/8 for both averages; RTO = SRTT + 4 RTTVAR", "INET in 2011";
        "linux" => Linux: "exact measurements; the greatest deviation of a round trip, never below the least timeout, on top of SRTT", "Linux";
    }
}

registry! {
    /// Which round trips are measured.
    pub enum Measurement ("measurement") {
        "unambiguous" => Unambiguous: "those of segments sent once; any retransmission gives the one in progress up", "RFC 6298 section 3";
        "until-timeout" => UntilTimeout: "only a timeout gives one up; what is sent again after it, save its first segment, counts as new", "INET in 2011";
        "every-ack" => EveryAck: "with SACK every ACK, from the times at which its segments were sent, if they were sent once", "Linux";
    }
}

registry! {
    /// When a retransmission timer that is due expires.
    pub enum Expiry ("expiry") {
        "exact" => Exact: "at once", "RFC 6298 section 5";
        "on-tick" => OnTick: "at the next tick of the sender's free-running clock", "4.3BSD; OPNET's timer granularity";
    }
}

registry! {
    /// How far expiries in a row lengthen the retransmission timeout.
    pub enum Backoff ("backoff") {
        "to-maximum" => ToMaximum: "doubled until the greatest timeout is reached", "RFC 6298 section 5.5; ns-2.35";
        "64-fold" => SixtyFourFold: "doubled six times at most", "4.3BSD; ns-2 in 2001";
    }
}

registry! {
    /// Whether duplicate ACKs recover the first segments of a transfer like any others.
    pub enum FirstLoss ("first_loss") {
        "as-any" => AsAny: "like any others", "RFC 5681 section 3.2";
        "ns2" => Ns2: "the first waits for its timer, and if that is a SYN its loss leaves an ssthresh of two; for the second a fast retransmit may follow any reduction", "ns-2.35";
    }
}

registry! {
    /// When a partial ACK restarts the retransmission timer in NewReno's fast recovery.
    pub enum NewRenoTimer ("newreno_timer") {
        "impatient" => Impatient: "the first partial ACK only", "RFC 6582 section 3.2 step 3";
        "patient" => Patient: "every partial ACK (slow but steady)", "RFC 2582 section 4; RFC 3782 section 4";
    }
}

registry! {
    /// What a partial ACK does to the inflation that duplicate ACKs gave the window.
    pub enum PartialAck ("partial_ack") {
        "deflate" => Deflate: "takes off what it acknowledges, less one segment", "RFC 6582 section 3.2 step 3";
        "keep" => Keep: "leaves it", "RFC 2582 without partial window deflation";
        "reset" => Reset: "takes all of it off", "ns-2 without partial window deflation";
    }
}

registry! {
    /// The amount whose half becomes ssthresh at a fast retransmit.
    pub enum ReductionBasis ("reduction_basis") {
        "flight-size" => FlightSize: "data sent and not yet acknowledged", "RFC 5681 equation 4";
        "window" => Window: "the smaller of cwnd and the receiver's window", "ns-2";
    }
}

registry! {
    /// The amount whose half becomes ssthresh when the retransmission timer expires.
    pub enum TimeoutBasis ("timeout_basis") {
        "flight-size" => FlightSize: "snd_max - snd_una, literally, also inside a recovery", "RFC 5681 equation 4";
        "window" => Window: "the smaller of cwnd and the receiver's window, deflated", "ns-2";
        "window-keep-recovery" => WindowKeepRecovery: "the same window, but the ssthresh of a recovery that the timeout interrupts stays", "Linux";
        "keep-recovery" => KeepRecovery: "flight size, but the ssthresh of a recovery that the timeout interrupts stays", "RFC 5681 section 3.1, one reduction per loss event";
        "halve-again" => HalveAgain: "flight size, but half the ssthresh of a recovery that the timeout interrupts", "RFC 5681 equation 4, with ssthresh for what a recovery has in flight";
        "inflated-window" => InflatedWindow: "the smaller of cwnd, inflation included, and the receiver's window", "INET in 2011";
    }
}

registry! {
    /// The congestion window after the ACK that ends NewReno's fast recovery.
    pub enum RecoveryExit ("recovery_exit") {
        "flight-size" => FlightSize: "min(ssthresh, max(FlightSize, SMSS) + SMSS)", "RFC 6582 section 3.2 step 3, option 1";
        "rfc3782" => Rfc3782: "min(ssthresh, FlightSize + SMSS)", "RFC 3782 section 3 step 5, option 1; INET in 2011";
        "ssthresh" => Ssthresh: "ssthresh", "RFC 6582 section 3.2 step 3, option 2";
        "unchanged" => Unchanged: "what the reduction and the deflations left, without the inflation", "ns-2";
    }
}

registry! {
    /// How half a window is rounded at a fast retransmit and at a timeout.
    pub enum Halving ("halving") {
        "exact" => Exact: "to the byte", "RFC 5681 equation 4";
        "whole-bytes" => WholeBytes: "ssthresh and cwnd down to whole bytes", "INET in 2011";
        "whole-ssthresh" => WholeSsthresh: "ssthresh down to whole segments, cwnd to the byte", "ns-2 since 2006";
        "whole" => Whole: "ssthresh and cwnd down to whole segments", "ns-2 before 2006";
    }
}

registry! {
    /// When the receiver acknowledges.
    pub enum AckKind ("ack") {
        "every-packet" => EveryPacket: "every data segment at once", "RFC 9293 section 3.8.6.3, the least delay";
        "delayed" => Delayed: "every second in-order segment, or a timer armed per segment", "RFC 5681 section 4.2";
        "delayed-tick" => DelayedTick: "every second in-order segment, or the next tick of a free-running timer", "4.3BSD";
        "linux" => Linux: "delayed, but at once at the start, after what came twice or late, and while the receiver's window grows", "Linux";
    }
}

registry! {
    /// Which segments beyond a hole bring a duplicate ACK.
    pub enum DuplicateAckKind ("duplicate_acks") {
        "every" => Every: "every one", "RFC 5681 section 4.2";
        "das" => Das: "those that did not come by a shorter path than the last segment in order, by their time to live", "Mao, Wen and Yeung 2012, section II";
        "das-bounded" => DasBounded: "the same; what was held back follows after about a round trip if the hole is still there", "OpTCP";
    }
}

/// How one connection behaves, sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full segment; goodput counts it.
    pub mss: Bytes,
    /// What headers add to every data segment on the wire.
    pub header: Bytes,
    /// Size of an ACK on the wire.
    pub ack_size: Bytes,
    /// Initial congestion window in segments.
    pub initial_window: u32,
    /// Initial slow-start threshold in segments; `None` is unlimited.
    pub initial_ssthresh: Option<u32>,
    /// The receiver's advertised window in segments.
    pub window_limit: u32,
    /// Whether the window may be greater than 65 535 bytes (RFC 7323 section 2).
    pub window_scaling: bool,
    /// Whether a SYN exchange precedes the data.
    pub handshake: bool,
    /// Whether segments carry timestamps and ACKs echo them (RFC 7323): 12 bytes each.
    pub timestamps: bool,
    /// The unit of timestamps.
    pub timestamp_tick: Duration,
    /// What is done about losses.
    pub recovery: RecoveryKind,
    /// How SACK recovery knows what is lost.
    pub loss_detection: LossDetectionKind,
    /// How the window shrinks during SACK recovery.
    pub rate_reduction: RateReduction,
    /// Whether SACK recovery, for want of anything better, sends again what may not be lost (RFC 6675
    /// `NextSeg` rule 3).
    pub speculative_retransmit: bool,
    /// Whether SACK recovery sends the last segment again once, when there is nothing else (rule 4).
    pub rescue_retransmit: bool,
    /// Whether silence with data outstanding sends a probe before the timeout (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// What is sent again after a timeout.
    pub after_timeout: AfterTimeout,
    /// Whether spurious timeouts are found out and taken back (RFC 5682), with SACK.
    pub frto: bool,
    /// Whether reductions are taken back when DSACK shows that nothing was lost, with SACK.
    pub dsack_undo: bool,
    /// Whether reductions are taken back when a timestamp shows so (RFC 3522), with SACK.
    pub timestamp_undo: bool,
    /// How the window grows.
    pub congestion: CongestionKind,
    /// What single controllers choose beside.
    pub controllers: ControllerKeys,
    /// Whether each network has a window, losses and round trips of its own, with SACK.
    pub path_state: PathState,
    /// What an ACK counts for when the window grows.
    pub ack_counting: AckCounting,
    /// What may end slow start before a loss does.
    pub slow_start: SlowStartKind,
    /// Whether the window grows while it does not limit what is sent.
    pub window_validation: WindowValidation,
    /// How segments that the window allows are spread over time.
    pub pacing: Pacing,
    /// The most segments that pacing lets out together.
    pub pacing_burst: u32,
    /// Whether an ACK that comes more than one retransmission timeout after the window last let a
    /// segment out finds the initial window again (RFC 5681 section 4.1), also inside a recovery.
    pub idle_restart: bool,
    /// Whether data behind a pause with nothing outstanding find cwnd halved for each timeout of the pause, down to
    /// the initial window (RFC 2861; `tcp_slow_start_after_idle` of Linux).
    pub restart_after_idle: bool,
    /// Whether the first two duplicate ACKs release a new segment each (RFC 3042).
    pub limited_transmit: bool,
    /// Whether what they release may have been sent before, as behind a timeout (`singledup_` of ns-2); RFC 3042 allows
    /// new data only.
    pub limited_transmit_again: bool,
    /// Whether duplicate ACKs for data sent before the last reduction start no further fast
    /// retransmit (RFC 6582 section 3.2 step 2; RFC 5681's Reno has no such check).
    pub careful: bool,
    /// Whether the first new ACK outside NewReno's recovery ends the check of `careful`, also after a
    /// timeout (INET pulls `recover` along with every such ACK).
    pub careful_until_new_ack: bool,
    /// How the loss of the first segments is recovered.
    pub first_loss: FirstLoss,
    /// Whether a fast retransmit restarts the retransmission timer (ns-2 does; RFC 6298 does not say so).
    pub fast_retransmit_restarts_timer: bool,
    /// The retransmission timer in NewReno's recovery.
    pub newreno_timer: NewRenoTimer,
    /// What a partial ACK does to the inflated window.
    pub partial_ack: PartialAck,
    /// The window after recovery.
    pub recovery_exit: RecoveryExit,
    /// Whether the ACK that ends recovery also grows the window (ns-2 does).
    pub exit_ack_grows: bool,
    /// The most segments that one ACK may release inside NewReno's recovery; `None` is unlimited.
    pub recovery_burst: Option<u32>,
    /// What is halved at a fast retransmit.
    pub reduction_basis: ReductionBasis,
    /// Whether Tahoe goes on counting duplicate ACKs where it was when the timer expired, so that those
    /// of the old window neither are the first nor the third again (ns-2; 4.3BSD begins anew).
    pub tahoe_keeps_duplicates: bool,
    /// What is halved at a timeout.
    pub timeout_basis: TimeoutBasis,
    /// How half a window is rounded.
    pub halving: Halving,
    /// Whether a repeated timeout of one segment leaves ssthresh alone (RFC 5681 section 3.1).
    pub repeated_timeout_keeps_ssthresh: bool,
    /// When the receiver acknowledges.
    pub ack: AckKind,
    /// How long a delayed ACK may wait, or the period of the timer that sends it.
    pub ack_delay: Duration,
    /// Segments that are acknowledged at once at the start, and again after one has come twice.
    pub quick_acks: u32,
    /// Whether segment 0 is acknowledged at once although ACKs are delayed. A SYN always is; ns-2 does
    /// the same to the first data segment when there is no SYN.
    pub first_ack_at_once: bool,
    /// Whether a second copy of the newest in-order segment waits like new data, as in ns-2; RFC 9293
    /// section 3.10.7.4 acknowledges it at once.
    pub delays_duplicates: bool,
    /// Which segments beyond a hole bring a duplicate ACK.
    pub duplicate_acks: DuplicateAckKind,
    /// The most SACK blocks in an ACK; with timestamps three at most.
    pub sack_blocks: u8,
    /// What the SACK option adds to an ACK beside 8 bytes for each block.
    pub sack_header: Bytes,
    /// Whether the receiver reports segments that have come twice (RFC 2883).
    pub dsack: bool,
    /// The estimator behind the retransmission timer.
    pub rtt: RttKind,
    /// Which round trips it is given.
    pub measurement: Measurement,
    /// Granularity of the sender's clock: G of RFC 6298, or the tick of `bsd-ticks` and of `on-tick`.
    pub tick: Duration,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Duration,
    /// Least retransmission timeout.
    pub min_rto: Duration,
    /// How far expiries in a row lengthen the timeout.
    pub backoff: Backoff,
    /// Greatest retransmission timeout, backed off.
    pub max_rto: Duration,
    /// Expiries of the SYN's timer that do not lengthen it (`tcp_syn_linear_timeouts` of Linux).
    pub syn_linear_timeouts: u8,
    /// Retransmissions of the SYN behind which data begin with the initial window all the same.
    pub syn_retransmissions_forgiven: u8,
    /// When a timer that is due expires.
    pub expiry: Expiry,
    /// What the sender asks for about marks.
    pub ecn: Ecn,
    /// What the receiver agrees to.
    pub receiver_ecn: ReceiverEcn,
    /// Which packets may be marked.
    pub ect_packets: EctPackets,
    /// Whether ACKs carry the AccECN option (RFC 9768 section 3.2.3), with `Ecn::Accurate`.
    pub accecn_option: bool,
    /// Whether a mark reduces the window by less than a loss (RFC 8511).
    pub abe: bool,
}

/// The TCP header's field without scaling (RFC 9293 section 3.1).
const UNSCALED_WINDOW: u64 = 65_535;
/// The timestamps option with its padding (RFC 7323 appendix A).
const TIMESTAMPS: Bytes = Bytes::new(12);
/// One SACK block (RFC 2018 section 3).
const SACK_BLOCK: Bytes = Bytes::new(8);

impl Config {
    /// Whether the connection uses SACK.
    #[must_use]
    pub fn sack(&self) -> bool {
        matches!(self.recovery, RecoveryKind::Sack | RecoveryKind::Sack1)
    }

    /// The receiver's window in segments, at least one.
    #[must_use]
    pub fn window_segments(&self) -> u32 {
        if self.window_scaling {
            return self.window_limit;
        }
        let unscaled = (UNSCALED_WINDOW / self.mss.count().max(1)).max(1);
        self.window_limit.min(u32::try_from(unscaled).unwrap_or(u32::MAX))
    }

    /// What timestamps add to every segment.
    #[must_use]
    pub fn timestamp_size(&self) -> Bytes {
        if self.timestamps { TIMESTAMPS } else { Bytes::ZERO }
    }

    /// Size of an ACK on the wire.
    #[must_use]
    pub fn ack_wire_size(&self, ack: &Ack) -> Bytes {
        let options = ack.sack.map_or(Bytes::ZERO, |sack| {
            sack.as_slice().iter().fold(self.sack_header, |size, _| size + SACK_BLOCK)
        });
        let counters = ack.counters.map_or(Bytes::ZERO, |counters| counters.size());
        self.ack_size + self.timestamp_size() + options + counters
    }

    /// What a receiver with these choices does for a sender whose SYN said so.
    #[must_use]
    pub fn answers(&self, syn: Marking) -> Ecn {
        answers(self.receiver_ecn.of(self.ecn), syn.flags(), syn.codepoint()).0
    }

    /// Whether ACKs have the AccECN option, if a SYN exchange agrees upon what both ends have configured.
    #[must_use]
    pub fn sends_accecn_option(&self) -> bool {
        let syn = Marking::new(Codepoint::NotEct, asks(self.ecn));
        self.accecn_option && self.answers(syn) == Ecn::Accurate
    }

    /// The codepoint of packets that may be marked: ECT(1) belongs to controls that answer marks as L4S asks (RFC 9331
    /// section 4).
    #[must_use]
    pub const fn ect(&self) -> Codepoint {
        if self.congestion.is_l4s() { Codepoint::Ect1 } else { Codepoint::Ect0 }
    }
}
