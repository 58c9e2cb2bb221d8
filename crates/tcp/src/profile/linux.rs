//! Linux 6 with its defaults.
//!
//! Derived from the behaviour of Linux 6. `idle_restart` is off: Linux checks the idle time when data are
//! written after a pause, not when an ACK arrives. Pacing is off: CUBIC does not need it, and the default
//! queue, `fq_codel`, does not pace. With the queue `fq`, pacing is `window`.
//!
//! # Limitations
//! The following are not modelled:
//! - segmentation offload;
//! - tuning of the receive window (set `window_limit`; the default limit of `tcp_rmem` is 6 MB);
//! - detection of the reordering degree and metrics of earlier connections.

use optcp_units::{Bytes, Duration};

use super::bundle::bundle;
use super::rfc::RFC;
use crate::config::{
    AckCounting, AckKind, Config, CongestionKind, CubicVersion, Ecn, EctPackets, Expiry, Halving,
    Increase, LossDetectionKind, Measurement, NeedsEcn, NewRenoTimer, Pacing, RateReduction,
    RecoveryExit, RecoveryKind, ReductionBasis, RttKind, SlowStartKind, TimeoutBasis,
    WindowValidation,
};

/// Sets the parameters that depend on the congestion control. HyStart belongs to CUBIC. Rate-based
/// controls use rate pacing with any queue. Controls that need marks request ECN and send all
/// packets as ECN-capable. Prague's bursts take a quarter of a millisecond, often a single segment.
pub(super) fn adopt(congestion: CongestionKind, config: &mut Config) {
    config.slow_start = match congestion {
        CongestionKind::Cubic => SlowStartKind::HyStart,
        _ => SlowStartKind::Standard,
    };
    if congestion.paces() {
        config.pacing = Pacing::Rate;
    } else if config.pacing == Pacing::Rate {
        config.pacing = Pacing::None;
    }
    match congestion.needs_ecn() {
        NeedsEcn::Any => {
            if config.ecn != Ecn::Accurate {
                config.ecn = Ecn::Dctcp;
            }
            config.ect_packets = EctPackets::All;
        }
        NeedsEcn::Accurate => {
            (config.ecn, config.ect_packets) = (Ecn::Accurate, EctPackets::All);
            config.pacing_burst = 1;
        }
        NeedsEcn::Nothing | NeedsEcn::Off => {}
    }
}

bundle! {
    /// CUBIC with SACK, RACK and related mechanisms.
    VERSION_6 from RFC;
    "1500 B including headers of 40 B and timestamps of 12 B" =>
        mss: Bytes::new(1448);
    "RFC 6928, default since 2011" =>
        initial_window: 10;
    "`tcp_timestamps` is on" =>
        timestamps: true;
    "`tcp_sack` is on, and `tcp_recovery` enables RACK; only lost segments are retransmitted" =>
        recovery: RecoveryKind::Sack, loss_detection: LossDetectionKind::Rack,
        speculative_retransmit: false, rescue_retransmit: false;
    "every reduction is proportional, and below ssthresh depends on the progress of recovery" =>
        rate_reduction: RateReduction::Prr;
    "`tcp_early_retrans` is 3: tail loss probes" =>
        tail_loss_probe: true;
    "`tcp_frto` is 2" =>
        frto: true;
    "it undoes reductions that DSACK or timestamps show to be spurious" =>
        dsack_undo: true, timestamp_undo: true;
    "default congestion control with the default module parameters" =>
        congestion: CongestionKind::Cubic, controllers.cubic.cubic_version: CubicVersion::Linux,
        slow_start: SlowStartKind::HyStart;
    "`tcp_slow_start` and `tcp_cong_avoid_ai` count every delivered segment; Reno's increases are whole segments" =>
        ack_counting: AckCounting::Segments,
        controllers.reno.increase: Increase::WholeSegments;
    "`tcp_is_cwnd_limited` is a condition of window growth" =>
        window_validation: WindowValidation::Linux;
    "`tcp_slow_start_after_idle` is on" =>
        restart_after_idle: true;
    "`tcp_min_tso_segs` is 2, with pacing" =>
        pacing_burst: 2;
    "the ACK that ends recovery finds it in the open state and increases the window" =>
        exit_ack_grows: true;
    "a retransmission of the oldest segment restarts the timer" =>
        fast_retransmit_restarts_timer: true;
    "it reduces cwnd, not the outstanding data, once per event, in whole segments" =>
        reduction_basis: ReductionBasis::Window, timeout_basis: TimeoutBasis::WindowKeepRecovery,
        halving: Halving::Whole;
    "TCP_DELACK_MIN is 40 ms, and a connection starts with up to 16 quick ACKs" =>
        ack: AckKind::Linux, ack_delay: Duration::from_ms(40), quick_acks: 16;
    "Linux's own estimator, with TCP_RTO_MIN as minimum variance" =>
        rtt: RttKind::Linux, min_rto: Duration::from_ms(200);
    "timers are in a wheel of jiffies: 250 Hz, as in the recorded kernel; `tick` is 1 ms for a kernel with 1000 Hz" =>
        expiry: Expiry::TimerWheel, tick: Duration::from_ms(4);
    "RTT samples use the send times of segments, and timestamps only if these are ambiguous" =>
        measurement: Measurement::EveryAck;
    "TCP_RTO_MAX" =>
        max_rto: Duration::from_secs(120);
    "`tcp_syn_linear_timeouts` is 4 since Linux 6.5: a SYN is retransmitted after 1, 2, 3, 4, 5, 7, 11 s" =>
        syn_linear_timeouts: 4;
    "`tcp_retries2` is 15, which takes 924.6 s; `tcp_syn_retries` is 6" =>
        retries: Some(15), syn_retries: Some(6);
    "with an initial RTO of 1 s, one SYN retransmission says little (RFC 6298 appendix A)" =>
        syn_retransmissions_forgiven: 1;
    "without SACK, the closest to RFC 6582: each partial ACK restarts the timer, and the final window is ssthresh" =>
        newreno_timer: NewRenoTimer::Patient, recovery_exit: RecoveryExit::Ssthresh;
}

bundle! {
    /// The same with `net.ipv4.tcp_congestion_control = bbr`.
    VERSION_6_BBR from VERSION_6;
    "`tcp_congestion_control` is bbr, version 1 as in the mainline kernel" =>
        congestion: CongestionKind::Bbr;
    "BBR requires pacing, by `fq` or by the kernel's timers" =>
        pacing: Pacing::Rate;
    "HyStart is part of CUBIC" =>
        slow_start: SlowStartKind::Standard;
}
