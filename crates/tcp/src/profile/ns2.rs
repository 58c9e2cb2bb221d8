//! ns-2 in its last release and in 2001.

use optcp_units::{Bytes, Duration};

use super::bundle::bundle;
use super::rfc::RFC;
use crate::config::{
    AfterTimeout, Backoff, FirstLoss, Halving, NewRenoTimer, PartialAck, RecoveryExit,
    ReductionBasis, RttKind, TimeoutBasis,
};

bundle! {
    /// ns-2.35 as shipped (`ns-default.tcl`); 150 recorded cases agree transmission by transmission.
    RELEASE_2_35 from RFC;
    "default packet size" =>
        mss: Bytes::new(1000);
    "default" =>
        initial_window: 2;
    "the default window is 20, and the initial ssthresh equals the window" =>
        window_limit: 20, initial_ssthresh: Some(20);
    "since 2006, the first segments of a transfer are treated separately" =>
        first_loss: FirstLoss::Ns2;
    "the timer restarts with every segment sent for duplicate ACKs" =>
        fast_retransmit_restarts_timer: true;
    "the window stays as reduced, and the ACK that ends recovery increases it as usual" =>
        recovery_exit: RecoveryExit::Unchanged, exit_ack_grows: true;
    "one ACK releases at most two segments during NewReno recovery" =>
        recovery_burst: Some(2);
    "halves the window, not the outstanding data" =>
        reduction_basis: ReductionBasis::Window, timeout_basis: TimeoutBasis::Window;
    "duplicate ACKs release the next segment, whether or not it was sent before" =>
        limited_transmit_again: true;
    "half a window is rounded down to whole segments for ssthresh; since 2006 no longer for cwnd" =>
        halving: Halving::WholeSsthresh;
    "with SACK, only segments that the scoreboard marks as missing are retransmitted" =>
        speculative_retransmit: false, rescue_retransmit: false;
    "an RTO clears the SACK information" =>
        after_timeout: AfterTimeout::GoBackN;
    "the sink reports three blocks of 8 B, and no duplicates by default" =>
        sack_blocks: 3, sack_header: Bytes::ZERO, dsack: false;
    "Tahoe does not clear the count at an RTO" =>
        tahoe_keeps_duplicates: true;
    "each RTO halves again" =>
        repeated_timeout_keeps_ssthresh: false;
    "the delaying sink waits 100 ms, acknowledges the first segment immediately, and delays the ACK of a duplicate of the newest segment" =>
        ack_delay: Duration::from_ms(100), first_ack_at_once: true, delays_duplicates: true;
    "estimator of 4.3BSD, in whole ticks" =>
        rtt: RttKind::BsdTicks;
    "default" =>
        tick: Duration::from_ms(10), initial_rto: Duration::from_secs(3), min_rto: Duration::from_ms(200);
}

bundle! {
    /// ns-2 in 2001: the older defaults of the same program; reconstructed, see `docs/details/gmpls.md`.
    IN_2001 from RELEASE_2_35;
    "the packet size is the size on the wire; headers are not counted" =>
        header: Bytes::ZERO;
    "default at that time" =>
        initial_window: 1;
    "off by default at that time" =>
        limited_transmit: false, limited_transmit_again: false;
    "the special treatment of the first segments dates from 2006" =>
        first_loss: FirstLoss::AsAny;
    "RFC 2582 allows both; assumed, because both match the description in the gmpls paper" =>
        newreno_timer: NewRenoTimer::Patient, partial_ack: PartialAck::Reset;
    "before 2006, cwnd was also rounded" =>
        halving: Halving::Whole;
    "default at that time, a coarser clock" =>
        tick: Duration::from_ms(100), initial_rto: Duration::from_secs(6);
    "at most six doublings, and 64 s" =>
        backoff: Backoff::SixtyFourFold, max_rto: Duration::from_secs(64);
}
