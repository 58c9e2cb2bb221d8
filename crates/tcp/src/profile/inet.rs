//! OMNeT++'s INET framework in 2011 (INET 1.99), with the sizes of the lbas paper.
//!
//! Derived from the behaviour of that program.
//!
//! # Limitations
//! INET closes a connection after twelve consecutive RTOs, does not measure the SYN, and clears its duplicate
//! ACK count at an old ACK. A partial ACK for more than cwnd wraps its unsigned cwnd, where one segment is
//! left here.

use optcp_units::{Bytes, Duration};

use super::bundle::bundle;
use super::rfc::RFC;
use crate::config::{
    Halving, Increase, Measurement, NewRenoTimer, RecoveryExit, ReductionBasis, RttKind,
    TimeoutBasis,
};

bundle! {
    /// NewReno of INET in 2011.
    IN_2011 from RFC;
    "lbas paper: segments of 1452 B in packets of 1500 B, hence headers and ACKs of 48 B" =>
        mss: Bytes::new(1452), header: Bytes::new(48), ack_size: Bytes::new(48);
    "default, RFC 2001; the larger window of RFC 3390 was off by default" =>
        initial_window: 1;
    "every connection starts with a SYN exchange" =>
        handshake: true;
    "integer arithmetic: the quotient is rounded down, but at least 1 byte; above 726 segments an ACK adds 1 byte" =>
        controllers.reno.increase: Increase::WholeBytes;
    "integer arithmetic" =>
        halving: Halving::WholeBytes;
    "since 2010, the window becomes one segment if an ACK arrives after an idle RTO, also during a stalled recovery" =>
        idle_restart: true;
    "off by default" =>
        limited_transmit: false;
    "every new ACK outside recovery advances `recover`, so that the first one after an RTO ends the check" =>
        careful_until_new_ack: true;
    "every ACK of new data restarts the timer, including partial ACKs" =>
        newreno_timer: NewRenoTimer::Patient;
    "option 1 of RFC 3782: with nothing in flight one segment, where RFC 6582 has two" =>
        recovery_exit: RecoveryExit::Rfc3782;
    "its flight size is the smaller of cwnd and the receive window, before inflation" =>
        reduction_basis: ReductionBasis::Window;
    "the same, including the inflation of an interrupted recovery" =>
        timeout_basis: TimeoutBasis::InflatedWindow;
    "each RTO computes ssthresh again, the second one from a window of one segment" =>
        repeated_timeout_keeps_ssthresh: false;
    "gain 1/8 for both averages, starting from SRTT = 0" =>
        rtt: RttKind::Inet;
    "a fast retransmit does not stop the measurement, and retransmissions after an RTO are measured" =>
        measurement: Measurement::UntilTimeout;
    "RFC 1122 section 4.2.3.1: initially 3 s, at most twice the maximum segment lifetime" =>
        initial_rto: Duration::from_secs(3), max_rto: Duration::from_secs(240);
}
