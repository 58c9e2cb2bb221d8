//! Linux 6 with its defaults.
//!
//! Read from the behaviour of Linux 6. Not modelled: segmentation offload, the window that the receiver
//! tunes (a scenario sets `window_limit`; 6 MB is the default limit of `tcp_rmem`), the detection of how
//! far a path reorders, the memory of earlier connections, and the end of a connection that reaches nobody
//! (`tcp_retries2`, R2 of RFC 9293 section 3.8.3: 924.6 s after the first retransmission; here it goes on). `idle_restart` stays off: Linux looks when data are
//! written after a pause, not when an ACK comes.
//! Pacing stays off: CUBIC does not ask for it, and the default queue, `fq_codel`, does none. With the
//! queue `fq` it is `window`.

use optcp_units::{Bytes, Duration};

use super::bundle::bundle;
use super::rfc::RFC;
use crate::config::{
    AckCounting, AckKind, Config, CongestionKind, CubicVersion, Ecn, EctPackets, Halving, Increase,
    LossDetectionKind, Measurement, NeedsEcn, NewRenoTimer, Pacing, RateReduction, RecoveryExit,
    RecoveryKind, ReductionBasis, RttKind, SlowStartKind, TimeoutBasis, WindowValidation,
};

/// What goes with one congestion control alone: HyStart is part of CUBIC, a control that finds a rate asks for
/// pacing whatever the queue, and one that needs marks asks for them and lets all its packets take them.
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
        NeedsEcn::Accurate => (config.ecn, config.ect_packets) = (Ecn::Accurate, EctPackets::All),
        NeedsEcn::Nothing | NeedsEcn::Off => {}
    }
}

bundle! {
    /// CUBIC with SACK, RACK and all that comes with it.
    VERSION_6 from RFC;
    "1500 B with headers of 40 B and timestamps of 12 B" =>
        mss: Bytes::new(1448);
    "RFC 6928, the default since 2011" =>
        initial_window: 10;
    "`tcp_timestamps` is on" =>
        timestamps: true;
    "`tcp_sack` is on, and `tcp_recovery` has RACK find losses; the scoreboard sends again what is lost and nothing beside" =>
        recovery: RecoveryKind::Sack, loss_detection: LossDetectionKind::Rack,
        speculative_retransmit: false, rescue_retransmit: false;
    "every reduction is proportional, and below ssthresh follows the progress of the recovery" =>
        rate_reduction: RateReduction::Prr;
    "`tcp_early_retrans` is 3: probes" =>
        tail_loss_probe: true;
    "`tcp_frto` is 2" =>
        frto: true;
    "it takes reductions back that DSACK or timestamps show to be needless" =>
        dsack_undo: true, timestamp_undo: true;
    "its default congestion control, with its module's defaults" =>
        congestion: CongestionKind::Cubic, controllers.cubic.cubic_version: CubicVersion::Linux,
        slow_start: SlowStartKind::HyStart;
    "`tcp_slow_start` and `tcp_cong_avoid_ai` count every segment delivered; what Reno adds are whole segments" =>
        ack_counting: AckCounting::Segments,
        controllers.reno.increase: Increase::WholeSegments;
    "`tcp_is_cwnd_limited` is asked before the window grows" =>
        window_validation: WindowValidation::Linux;
    "`tcp_slow_start_after_idle` is on" =>
        restart_after_idle: true;
    "`tcp_min_tso_segs` is 2, where there is pacing" =>
        pacing_burst: 2;
    "the ACK that ends recovery finds it open, and the window grows" =>
        exit_ack_grows: true;
    "a retransmission of the oldest segment starts the timer anew" =>
        fast_retransmit_restarts_timer: true;
    "it reduces cwnd, not what is outstanding, once an event, to whole segments" =>
        reduction_basis: ReductionBasis::Window, timeout_basis: TimeoutBasis::WindowKeepRecovery,
        halving: Halving::Whole;
    "TCP_DELACK_MIN is 40 ms, and a connection begins with up to 16 quick ACKs" =>
        ack: AckKind::Linux, ack_delay: Duration::from_ms(40), quick_acks: 16;
    "its own, with TCP_RTO_MIN below its variance" =>
        rtt: RttKind::Linux, min_rto: Duration::from_ms(200);
    "it measures from the times at which segments were sent, and asks timestamps only where that is ambiguous" =>
        measurement: Measurement::EveryAck;
    "TCP_RTO_MAX" =>
        max_rto: Duration::from_secs(120);
    "`tcp_syn_linear_timeouts` is 4 since Linux 6.5: a SYN is sent again after 1, 2, 3, 4, 5, 7, 11 s" =>
        syn_linear_timeouts: 4;
    "with a first timeout of a second, a SYN that is sent again once says little (RFC 6298 appendix A)" =>
        syn_retransmissions_forgiven: 1;
    "without SACK, as near as RFC 6582 comes to it: each partial ACK restarts the timer, and the window ends at ssthresh" =>
        newreno_timer: NewRenoTimer::Patient, recovery_exit: RecoveryExit::Ssthresh;
}

bundle! {
    /// The same with `net.ipv4.tcp_congestion_control = bbr`.
    VERSION_6_BBR from VERSION_6;
    "`tcp_congestion_control` is bbr, version 1 as the kernel ships it" =>
        congestion: CongestionKind::Bbr;
    "BBR asks for pacing, by `fq` or by the kernel's own timers" =>
        pacing: Pacing::Rate;
    "HyStart is part of CUBIC" =>
        slow_start: SlowStartKind::Standard;
}
