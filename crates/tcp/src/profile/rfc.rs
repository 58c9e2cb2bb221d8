//! Profile of the RFCs of 2012.

use optcp_units::{Bytes, Duration};

use super::bundle::bundle;
use crate::config::{
    AckCounting, AckKind, AfterTimeout, Backoff, CongestionKind, DuplicateAckKind, Ecn, EctPackets,
    Expiry, FirstLoss, Halving, LossDetectionKind, Measurement, NewRenoTimer, Pacing, PartialAck,
    PathState, RateReduction, ReceiverEcn, RecoveryExit, RecoveryKind, ReductionBasis, Repath,
    RttKind, SlowStartKind, TimeoutBasis, WindowValidation,
};

bundle! {
    /// NewReno with the timer of RFC 6298; default profile of scenarios.
    RFC;
    "1500 B of an Ethernet frame, including 40 B of IPv4 and TCP headers without options" =>
        mss: Bytes::new(1460), header: Bytes::new(40), ack_size: Bytes::new(40);
    "RFC 5681 section 3.1: three segments for an SMSS of 1095 to 2190 B" =>
        initial_window: 3;
    "RFC 5681 section 3.1: arbitrarily high, so that the network limits the first slow start" =>
        initial_ssthresh: None;
    "no limit by the receiver, which window scaling (RFC 7323 section 2) allows" =>
        window_limit: u32::MAX, window_scaling: true;
    "set it if the connection set-up time matters" =>
        handshake: false;
    "RFC 6582, the standard for connections without SACK" =>
        recovery: RecoveryKind::NewReno;
    "as in RFC 6675, for connections with SACK; `NextSeg` with all four rules" =>
        loss_detection: LossDetectionKind::Duplicates, rate_reduction: RateReduction::AtOnce,
        speculative_retransmit: true, rescue_retransmit: true,
        after_timeout: AfterTimeout::Missing;
    "RFC 2018 section 3 without other options, aligned to 4 B; RFC 2883" =>
        sack_blocks: 4, sack_header: Bytes::new(4), dsack: true;
    "newer than RFC 6675, or experimental; set them explicitly" =>
        tail_loss_probe: false, frto: false, dsack_undo: false, timestamp_undo: false;
    "optional in RFC 7323; section 5.4 allows ticks of 1 ms to 1 s" =>
        timestamps: false, timestamp_tick: Duration::from_ms(1);
    "RFC 5681 section 3.1: slow start, then one segment per RTT" =>
        congestion: CongestionKind::Reno;
    "the RFCs assume one path per connection" =>
        path_state: PathState::One;
    "RFC 5681 section 3.1 counts an ACK once; counting bytes (RFC 3465) is optional" =>
        ack_counting: AckCounting::Once;
    "RFC 5681 section 3.1; HyStart++ (RFC 9406) dates from 2023" =>
        slow_start: SlowStartKind::Standard;
    "RFC 5681 section 3.1 has no such condition" =>
        window_validation: WindowValidation::None;
    "no RFC requires it" =>
        pacing: Pacing::None;
    "the smoothest value, if pacing is on" =>
        pacing_burst: 1;
    "RFC 5681 section 4.1 is for applications that pause, which long-lived flows do not" =>
        idle_restart: false, restart_after_idle: false;
    "RFC 5681 section 3.2 step 1: a sender should do so" =>
        limited_transmit: true;
    "RFC 3042 section 2: only data that was never sent before" =>
        limited_transmit_again: false;
    "RFC 6582 section 3.2 step 2, active until an ACK covers `recover`" =>
        careful: true, careful_until_new_ack: false;
    "RFC 5681 section 3.2 treats first and later segments equally" =>
        first_loss: FirstLoss::AsAny;
    "RFC 6298 section 5 restarts the timer for new ACKs and RTOs, not for a fast retransmit" =>
        fast_retransmit_restarts_timer: false;
    "RFC 6582 section 3.2 step 3: the first partial ACK resets the timer" =>
        newreno_timer: NewRenoTimer::Impatient;
    "RFC 6582 section 3.2 step 3: partial window deflation" =>
        partial_ack: PartialAck::Deflate;
    "RFC 6582 section 3.2 step 3, option 1, which avoids a burst" =>
        recovery_exit: RecoveryExit::FlightSize;
    "RFC 6582 section 3.2 step 3: the ACK that ends recovery sets the window" =>
        exit_ack_grows: false;
    "RFC 6582 has no limit besides the window" =>
        recovery_burst: None;
    "RFC 5681 equation 4: half of FlightSize, not of cwnd" =>
        reduction_basis: ReductionBasis::FlightSize;
    "RFC 5681 equation 4 in bytes" =>
        halving: Halving::Exact;
    "4.3BSD Tahoe counts from zero after an RTO" =>
        tahoe_keeps_duplicates: false;
    "RFC 5681 section 3.1: one reduction per loss event, whether duplicate ACKs or RTOs detect it" =>
        timeout_basis: TimeoutBasis::KeepRecovery, repeated_timeout_keeps_ssthresh: true;
    "delayed ACKs are optional; RFC 1122 section 4.2.3.2 and RFC 5681 section 4.2 limit their delay" =>
        ack: AckKind::EveryPacket, ack_delay: Duration::from_ms(200),
        quick_acks: 0, first_ack_at_once: false, delays_duplicates: false;
    "RFC 5681 section 4.2: an out-of-order segment triggers an immediate duplicate ACK" =>
        duplicate_acks: DuplicateAckKind::Every;
    "RFC 6298 section 2" =>
        rtt: RttKind::Rfc6298;
    "RFC 6298 section 3, Karn's algorithm" =>
        measurement: Measurement::Unambiguous;
    "finer than RTTs, as RFC 6298 section 4 recommends" =>
        tick: Duration::from_ms(1);
    "RFC 6298 section 2: initially 1 s (rule 2.1), the minimum of rule 2.4, and a maximum of at least 60 s (rule 2.5)" =>
        initial_rto: Duration::from_secs(1), min_rto: Duration::from_secs(1),
        max_rto: Duration::from_secs(60);
    "RFC 6298 rule 5.5, also for a SYN" =>
        backoff: Backoff::ToMaximum, syn_linear_timeouts: 0;
    "RFC 9293 section 3.8.3 leaves R2 to implementations, and section 3.9.1 the user timeout to applications" =>
        retries: None, syn_retries: None, user_timeout: Duration::ZERO;
    "IPv4 has no flow label, and few IPv6 routers hash it (RFC 6438)" =>
        repath: Repath::None;
    "RFC 5681 section 3.1: one segment if the SYN was lost" =>
        syn_retransmissions_forgiven: 0;
    "RFC 6298 section 5 has no rounding" =>
        expiry: Expiry::Exact;
    "optional in RFC 3168, and without effect if no queue marks" =>
        ecn: Ecn::Off;
    "one key requests ECN at both ends" =>
        receiver_ecn: ReceiverEcn::AsAsked;
    "RFC 3168 sections 6.1.1, 6.1.4 and 6.1.5: no SYNs, ACKs or retransmissions" =>
        ect_packets: EctPackets::Data;
    "RFC 9768 section 3.2.3.3 recommends it if both ends count marks" =>
        accecn_option: true;
    "RFC 3168 section 6.1.2: like a loss; RFC 8511 is experimental" =>
        abe: false;
}
