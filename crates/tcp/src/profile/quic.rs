//! QUIC version 1.
//!
//! # Limitations
//! Those of `recovery = "quic"`. Sizes vary between stacks: connection IDs here have 8 bytes.

use optcp_units::{Bytes, Duration};

use super::bundle::bundle;
use super::rfc::RFC;
use crate::config::{
    AckCounting, AckKind, Config, CongestionKind, Pacing, RecoveryKind, ReductionBasis, RttKind,
};

/// Sets the pacing that the congestion control needs.
pub(super) fn adopt(congestion: CongestionKind, config: &mut Config) {
    config.pacing = if congestion.paces() { Pacing::Rate } else { Pacing::Bucket };
    config.pacing_burst = if congestion.paces() { 2 } else { 10 };
}

bundle! {
    /// CUBIC with the loss recovery of RFC 9002.
    VERSION_1 from RFC;
    "datagrams of 1452 B, which fit into IPv6 over Ethernet: short header with an 8 B connection ID 11 B, tag 16 B, STREAM frame header 8 B; 28 B of IPv4 and UDP" =>
        mss: Bytes::new(1417), header: Bytes::new(63);
    "the same headers, and an ACK frame of 9 B with one range" =>
        ack_size: Bytes::new(64);
    "RFC 9002 section 6: packet numbers, packet and time thresholds, probes" =>
        recovery: RecoveryKind::Quic;
    "RFC 9002 section 5.3; three times kInitialRtt of 333 ms, and no minimum" =>
        rtt: RttKind::Rfc9002, initial_rto: Duration::from_ms(999),
        min_rto: Duration::ZERO;
    "RFC 9002 section 7.2: kInitialWindow" =>
        initial_window: 10;
    "RFC 9000 section 13.2.2: two packets; section 18.2: max_ack_delay of 25 ms" =>
        ack: AckKind::Delayed, ack_delay: Duration::from_ms(25);
    "RFC 9002 section 7.3: every acknowledged byte counts, and a loss reduces cwnd" =>
        ack_counting: AckCounting::Segments, reduction_basis: ReductionBasis::Window;
    "RFC 9002 section 7.7: N of 1.25, and bursts of at most the initial window" =>
        pacing: Pacing::Bucket, pacing_burst: 10;
    "RFC 9438, the default of most stacks" =>
        congestion: CongestionKind::Cubic;
}
