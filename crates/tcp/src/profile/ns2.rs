//! ns-2, as released in its last version and as it was in 2001.

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
    "its default size of a packet" =>
        mss: Bytes::new(1000);
    "its default" =>
        initial_window: 2;
    "its default window is 20, and a connection starts with ssthresh at the window" =>
        window_limit: 20, initial_ssthresh: Some(20);
    "it guards the first segments of a transfer apart since 2006" =>
        first_loss: FirstLoss::Ns2;
    "it restarts the timer whenever it sends a segment for duplicate ACKs" =>
        fast_retransmit_restarts_timer: true;
    "it goes on with the window that the reduction left, and the ACK that ends recovery grows it like any other" =>
        recovery_exit: RecoveryExit::Unchanged, exit_ack_grows: true;
    "it lets one ACK release two segments at most inside NewReno's recovery" =>
        recovery_burst: Some(2);
    "it halves its window and does not count what is outstanding" =>
        reduction_basis: ReductionBasis::Window, timeout_basis: TimeoutBasis::Window;
    "duplicate ACKs release what comes next, whether it was sent before or not" =>
        limited_transmit_again: true;
    "it rounds half a window down to whole segments for ssthresh, since 2006 no more for cwnd" =>
        halving: Halving::WholeSsthresh;
    "with SACK it sends what its scoreboard holds to be missing and nothing beside" =>
        speculative_retransmit: false, rescue_retransmit: false;
    "its timeouts forget what SACK has covered" =>
        after_timeout: AfterTimeout::GoBackN;
    "its sink reports three blocks of 8 B and no duplicates unless asked to" =>
        sack_blocks: 3, sack_header: Bytes::ZERO, dsack: false;
    "its Tahoe does not clear the count at a timeout" =>
        tahoe_keeps_duplicates: true;
    "each expiry halves again" =>
        repeated_timeout_keeps_ssthresh: false;
    "its delaying sink waits 100 ms, acknowledges the first segment at once, and lets a second copy of the newest segment wait" =>
        ack_delay: Duration::from_ms(100), first_ack_at_once: true, delays_duplicates: true;
    "it estimates as 4.3BSD did, in whole ticks" =>
        rtt: RttKind::BsdTicks;
    "its default" =>
        tick: Duration::from_ms(10), initial_rto: Duration::from_secs(3), min_rto: Duration::from_ms(200);
}

bundle! {
    /// ns-2 in 2001: the older defaults of the same program; reconstructed, see `docs/details/gmpls.md`.
    IN_2001 from RELEASE_2_35;
    "the packet size is the size on the wire: it counted no headers" =>
        header: Bytes::ZERO;
    "its default at that time" =>
        initial_window: 1;
    "off by default at that time" =>
        limited_transmit: false, limited_transmit_again: false;
    "what is special about the first segments came in 2006" =>
        first_loss: FirstLoss::AsAny;
    "RFC 2582 leaves both open; assumed, because the account of the gmpls paper fits either" =>
        newreno_timer: NewRenoTimer::Patient, partial_ack: PartialAck::Reset;
    "before 2006 it rounded cwnd too" =>
        halving: Halving::Whole;
    "its default at that time, a coarser clock" =>
        tick: Duration::from_ms(100), initial_rto: Duration::from_secs(6);
    "it doubled six times at most, and stopped at 64 s" =>
        backoff: Backoff::SixtyFourFold, max_rto: Duration::from_secs(64);
}
