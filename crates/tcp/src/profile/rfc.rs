//! What the RFCs of 2012 say, where they say something.

use optcp_units::{Bytes, Duration};

use super::bundle::bundle;
use crate::config::{
    AckCounting, AckKind, AfterTimeout, Backoff, CongestionKind, DuplicateAckKind, Ecn, EctPackets,
    Expiry, FirstLoss, Halving, LossDetectionKind, Measurement, NewRenoTimer, Pacing, PartialAck,
    PathState, RateReduction, ReceiverEcn, RecoveryExit, RecoveryKind, ReductionBasis, RttKind,
    SlowStartKind, TimeoutBasis, WindowValidation,
};

bundle! {
    /// NewReno with the timer of RFC 6298; the profile of a scenario that names none.
    RFC;
    "an Ethernet frame's 1500 B, 40 B of them headers of IPv4 and TCP without options" =>
        mss: Bytes::new(1460), header: Bytes::new(40), ack_size: Bytes::new(40);
    "RFC 5681 section 3.1: three segments for an SMSS between 1095 and 2190 B" =>
        initial_window: 3;
    "RFC 5681 section 3.1: arbitrarily high, so that the network limits the first slow start" =>
        initial_ssthresh: None;
    "the receiver never limits; with window scaling (RFC 7323 section 2) it need not" =>
        window_limit: u32::MAX, window_scaling: true;
    "a study sets it where the delay of opening a connection counts" =>
        handshake: false;
    "RFC 6582, the standard for connections without SACK" =>
        recovery: RecoveryKind::NewReno;
    "what RFC 6675 describes, for a connection that is set to SACK; `NextSeg` with all four rules" =>
        loss_detection: LossDetectionKind::Duplicates, rate_reduction: RateReduction::AtOnce,
        speculative_retransmit: true, rescue_retransmit: true,
        after_timeout: AfterTimeout::Missing;
    "RFC 2018 section 3 with no other options in the way, aligned to 4 B; RFC 2883" =>
        sack_blocks: 4, sack_header: Bytes::new(4), dsack: true;
    "later than RFC 6675, or experimental: a study turns them on" =>
        tail_loss_probe: false, frto: false, dsack_undo: false, timestamp_undo: false;
    "RFC 7323 makes them a choice; section 5.4 allows ticks of 1 ms to 1 s" =>
        timestamps: false, timestamp_tick: Duration::from_ms(1);
    "RFC 5681 section 3.1: slow start, then a segment a round trip" =>
        congestion: CongestionKind::Reno;
    "the RFCs know one path of a connection at a time" =>
        path_state: PathState::One;
    "RFC 5681 section 3.1 lets an ACK count once; counting bytes (RFC 3465) is a choice beside it" =>
        ack_counting: AckCounting::Once;
    "RFC 5681 section 3.1; HyStart++ (RFC 9406) is of 2023" =>
        slow_start: SlowStartKind::Standard;
    "RFC 5681 section 3.1 has no such condition" =>
        window_validation: WindowValidation::None;
    "no RFC asks for it" =>
        pacing: Pacing::None;
    "the smoothest, where there is pacing" =>
        pacing_burst: 1;
    "RFC 5681 section 4.1 means applications that pause; flows here do not" =>
        idle_restart: false, restart_after_idle: false;
    "RFC 5681 section 3.2 step 1: a sender should do so" =>
        limited_transmit: true;
    "RFC 3042 section 2: of data never sent before" =>
        limited_transmit_again: false;
    "RFC 6582 section 3.2 step 2, held until an ACK covers `recover`" =>
        careful: true, careful_until_new_ack: false;
    "RFC 5681 section 3.2 makes no difference between first and later segments" =>
        first_loss: FirstLoss::AsAny;
    "RFC 6298 section 5 restarts the timer for new ACKs and expiries, not for a fast retransmit" =>
        fast_retransmit_restarts_timer: false;
    "RFC 6582 section 3.2 step 3: the first partial ACK resets the timer" =>
        newreno_timer: NewRenoTimer::Impatient;
    "RFC 6582 section 3.2 step 3: partial window deflation" =>
        partial_ack: PartialAck::Deflate;
    "RFC 6582 section 3.2 step 3, option 1, which avoids a burst" =>
        recovery_exit: RecoveryExit::FlightSize;
    "RFC 6582 section 3.2 step 3: the ACK that ends recovery sets the window" =>
        exit_ack_grows: false;
    "RFC 6582 names no limit beside the window" =>
        recovery_burst: None;
    "RFC 5681 equation 4: half of FlightSize, not of cwnd" =>
        reduction_basis: ReductionBasis::FlightSize;
    "RFC 5681 equation 4 in bytes" =>
        halving: Halving::Exact;
    "4.3BSD Tahoe counts from nought after a timeout" =>
        tahoe_keeps_duplicates: false;
    "RFC 5681 section 3.1: one reduction for one loss event, be it found by duplicate ACKs or by the timer, once or again" =>
        timeout_basis: TimeoutBasis::KeepRecovery, repeated_timeout_keeps_ssthresh: true;
    "the ACK that waits is a choice of the study; RFC 1122 section 4.2.3.2 and RFC 5681 section 4.2 rule how long and for what" =>
        ack: AckKind::EveryPacket, ack_delay: Duration::from_ms(200),
        quick_acks: 0, first_ack_at_once: false, delays_duplicates: false;
    "RFC 5681 section 4.2: an out-of-order segment brings a duplicate ACK at once" =>
        duplicate_acks: DuplicateAckKind::Every;
    "RFC 6298 section 2" =>
        rtt: RttKind::Rfc6298;
    "RFC 6298 section 3, Karn's algorithm" =>
        measurement: Measurement::Unambiguous;
    "a clock finer than round trips, as RFC 6298 section 4 finds best" =>
        tick: Duration::from_ms(1);
    "RFC 6298 section 2: the initial second of rule 2.1, the least of rule 2.4, a maximum of at least 60 s by rule 2.5" =>
        initial_rto: Duration::from_secs(1), min_rto: Duration::from_secs(1),
        max_rto: Duration::from_secs(60);
    "RFC 6298 rule 5.5, which makes no difference for a SYN" =>
        backoff: Backoff::ToMaximum, syn_linear_timeouts: 0;
    "RFC 5681 section 3.1: one segment if the SYN was lost" =>
        syn_retransmissions_forgiven: 0;
    "RFC 6298 section 5 knows no rounding" =>
        expiry: Expiry::Exact;
    "RFC 3168 makes ECN a choice of both ends, and without queues that mark it changes nothing" =>
        ecn: Ecn::Off;
    "one key asks for ECN at both ends" =>
        receiver_ecn: ReceiverEcn::AsAsked;
    "RFC 3168 sections 6.1.1, 6.1.4 and 6.1.5: neither SYNs nor ACKs nor retransmissions" =>
        ect_packets: EctPackets::Data;
    "RFC 9768 section 3.2.3.3 recommends it, where both ends count" =>
        accecn_option: true;
    "RFC 3168 section 6.1.2: as a loss; RFC 8511 is an experiment" =>
        abe: false;
}
