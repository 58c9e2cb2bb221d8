//! OMNeT++'s INET framework in 2011 (INET 1.99), with the sizes of the lbas paper.
//!
//! Read from the behaviour of that program. Not modelled: it gives a connection up after twelve
//! expiries in a row; it does not measure the SYN; an old ACK clears its count of duplicate ACKs; and
//! a partial ACK for more than cwnd makes its unsigned cwnd wrap, where here one segment is left.

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
    "the lbas paper: segments of 1452 B in packets of 1500 B, so headers of 48 B, which is what an ACK is" =>
        mss: Bytes::new(1452), header: Bytes::new(48), ack_size: Bytes::new(48);
    "its default, RFC 2001; the larger window of RFC 3390 had to be switched on" =>
        initial_window: 1;
    "it opens every connection with a SYN exchange" =>
        handshake: true;
    "integer arithmetic: the quotient is cut, and one byte is added where it is nothing; beyond 726 segments an ACK adds 1 byte" =>
        controllers.reno.increase: Increase::WholeBytes;
    "integer arithmetic" =>
        halving: Halving::WholeBytes;
    "since 2010 the window is one segment again when an ACK finds that nothing was sent for a timeout, also inside a recovery that stalls" =>
        idle_restart: true;
    "off by default" =>
        limited_transmit: false;
    "every new ACK outside a recovery pulls `recover` along, so that the check ends with the first one after a timeout" =>
        careful_until_new_ack: true;
    "every ACK of new data restarts the timer, partial ones included" =>
        newreno_timer: NewRenoTimer::Patient;
    "option 1 as RFC 3782 has it: with nothing in flight one segment, where RFC 6582 has two" =>
        recovery_exit: RecoveryExit::Rfc3782;
    "what it calls FlightSize is the smaller of cwnd and the receiver's window, before inflation begins" =>
        reduction_basis: ReductionBasis::Window;
    "the same, with the inflation of a recovery that the timeout interrupts" =>
        timeout_basis: TimeoutBasis::InflatedWindow;
    "each expiry computes ssthresh again, the second one from a window of one segment" =>
        repeated_timeout_keeps_ssthresh: false;
    "gain 1/8 for both averages, from SRTT = 0" =>
        rtt: RttKind::Inet;
    "a fast retransmit does not stop the measurement, and what is sent again after a timeout is measured" =>
        measurement: Measurement::UntilTimeout;
    "RFC 1122 section 4.2.3.1: 3 s at first, twice the maximum segment lifetime at most" =>
        initial_rto: Duration::from_secs(3), max_rto: Duration::from_secs(240);
}
