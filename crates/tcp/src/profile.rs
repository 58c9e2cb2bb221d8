//! Named bundles of TCP choices.

use optcp_units::{Bytes, Duration};

use crate::config::{
    AckKind, AfterTimeout, Backoff, Config, CongestionKind, FirstLoss, Halving, LossDetectionKind,
    NewRenoTimer, PartialAck, RateReduction, RecoveryExit, RecoveryKind, ReductionBasis, RttKind,
    TimeoutBasis,
};
use crate::registry;

registry! {
    /// A named bundle of TCP choices; a scenario may then change single ones.
    pub enum Profile ("profiles") {
        "rfc" => Rfc: "NewReno as the RFCs of 2012 have it", "RFC 5681, 6582, 6298, 3042";
        "ns2-2001" => Ns2Of2001: "NewReno of ns-2 in 2001: tick 100 ms, no partial window deflation, patient timer", "shared experiments of the gmpls paper";
        "ns2-2.35" => Ns2Release235: "NewReno of ns-2.35: tick 10 ms, deflation, impatient timer, limited transmit", "ns-2.35 defaults";
    }
}

impl Profile {
    /// Every choice as this profile makes it.
    #[must_use]
    pub fn config(self) -> Config {
        match self {
            Profile::Rfc => rfc(),
            Profile::Ns2Of2001 => ns2_2001(),
            Profile::Ns2Release235 => ns2_2_35(),
        }
    }
}

fn rfc() -> Config {
    Config {
        mss: Bytes::new(1460),
        header: Bytes::new(40),
        ack_size: Bytes::new(40),
        // RFC 5681 section 3.1: three segments for an SMSS between 1095 and 2190 bytes.
        initial_window: 3,
        initial_ssthresh: None,
        window_limit: u32::MAX,
        window_scaling: true,
        handshake: false,
        timestamps: false,
        timestamp_tick: Duration::from_ms(1),
        recovery: RecoveryKind::NewReno,
        loss_detection: LossDetectionKind::Duplicates,
        rate_reduction: RateReduction::AtOnce,
        speculative_retransmit: true,
        rescue_retransmit: true,
        tail_loss_probe: false,
        after_timeout: AfterTimeout::Missing,
        frto: false,
        dsack_undo: false,
        timestamp_undo: false,
        congestion: CongestionKind::Reno,
        limited_transmit: true,
        careful: true,
        first_loss: FirstLoss::AsAny,
        fast_retransmit_restarts_timer: false,
        newreno_timer: NewRenoTimer::Impatient,
        partial_ack: PartialAck::Deflate,
        recovery_exit: RecoveryExit::FlightSize,
        exit_ack_grows: false,
        recovery_burst: None,
        reduction_basis: ReductionBasis::FlightSize,
        tahoe_keeps_duplicates: false,
        timeout_basis: TimeoutBasis::KeepRecovery,
        halving: Halving::Exact,
        repeated_timeout_keeps_ssthresh: true,
        ack: AckKind::EveryPacket,
        ack_delay: Duration::from_ms(200),
        quick_acks: 0,
        first_ack_at_once: false,
        delays_duplicates: false,
        sack_blocks: 4,
        // Kind and length, and two bytes that align the blocks.
        sack_header: Bytes::new(4),
        dsack: true,
        rtt: RttKind::Rfc6298,
        tick: Duration::from_ms(1),
        initial_rto: Duration::from_secs(1),
        min_rto: Duration::from_secs(1),
        backoff: Backoff::ToMaximum,
        max_rto: Duration::from_secs(60),
    }
}

/// ns-2.35 as shipped (`ns-default.tcl`): window limit 20, which is also the initial ssthresh.
fn ns2_2_35() -> Config {
    Config {
        mss: Bytes::new(1000),
        header: Bytes::new(40),
        ack_size: Bytes::new(40),
        initial_window: 2,
        initial_ssthresh: Some(20),
        window_limit: 20,
        window_scaling: true,
        handshake: false,
        timestamps: false,
        timestamp_tick: Duration::from_ms(10),
        recovery: RecoveryKind::NewReno,
        loss_detection: LossDetectionKind::Duplicates,
        rate_reduction: RateReduction::AtOnce,
        speculative_retransmit: false,
        rescue_retransmit: false,
        tail_loss_probe: false,
        after_timeout: AfterTimeout::GoBackN,
        frto: false,
        dsack_undo: false,
        timestamp_undo: false,
        congestion: CongestionKind::Reno,
        limited_transmit: true,
        careful: true,
        first_loss: FirstLoss::Ns2,
        fast_retransmit_restarts_timer: true,
        newreno_timer: NewRenoTimer::Impatient,
        partial_ack: PartialAck::Deflate,
        recovery_exit: RecoveryExit::Unchanged,
        exit_ack_grows: true,
        recovery_burst: Some(2),
        reduction_basis: ReductionBasis::Window,
        tahoe_keeps_duplicates: true,
        timeout_basis: TimeoutBasis::Window,
        halving: Halving::WholeSsthresh,
        repeated_timeout_keeps_ssthresh: false,
        ack: AckKind::EveryPacket,
        ack_delay: Duration::from_ms(100),
        quick_acks: 0,
        first_ack_at_once: true,
        delays_duplicates: true,
        sack_blocks: 3,
        sack_header: Bytes::ZERO,
        dsack: false,
        rtt: RttKind::BsdTicks,
        tick: Duration::from_ms(10),
        initial_rto: Duration::from_secs(3),
        min_rto: Duration::from_ms(200),
        backoff: Backoff::ToMaximum,
        max_rto: Duration::from_secs(60),
    }
}

/// ns-2 in 2001: the older defaults of the same program, headers not counted.
fn ns2_2001() -> Config {
    Config {
        header: Bytes::ZERO,
        initial_window: 1,
        limited_transmit: false,
        // What is special about the first segments in ns-2.35 came in 2006.
        first_loss: FirstLoss::AsAny,
        newreno_timer: NewRenoTimer::Patient,
        partial_ack: PartialAck::Reset,
        halving: Halving::Whole,
        tick: Duration::from_ms(100),
        initial_rto: Duration::from_secs(6),
        backoff: Backoff::SixtyFourFold,
        max_rto: Duration::from_secs(64),
        ..ns2_2_35()
    }
}
