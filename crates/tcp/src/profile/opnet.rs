//! OPNET Modeler 11, with the TCP parameters of the obs paper.
//!
//! A reconstruction, because the program is closed-source. Table I of the paper states maximum
//! segment size, window, version, ACK delay and minimum RTO. Everything else follows RFC 2581 and
//! 2988, cited by the paper or valid at that time, and reports from users of later OPNET versions.

use optcp_units::Duration;

use super::bundle::bundle;
use super::rfc::RFC;
use crate::config::{Expiry, RecoveryKind, TimeoutBasis};

bundle! {
    /// Reno of the obs paper.
    MODELER_11 from RFC;
    "the obs paper compares Reno and SACK; scenarios set the other" =>
        recovery: RecoveryKind::Reno;
    "table I states 65535 B, which holds 44 full segments of 1460 B" =>
        window_limit: 44;
    "section II of the paper: typically one segment" =>
        initial_window: 1;
    "OPNET starts every connection with a SYN exchange" =>
        handshake: true;
    "RFC 2581 does not include limited transmit (reconstruction)" =>
        limited_transmit: false;
    "RFC 2581's Reno has no `recover`; the paper's rule for two losses needs none (reconstruction)" =>
        careful: false;
    "RFC 2581 equation 3, literally; RFC 5681 changed repeated RTOs only in 2009 (reconstruction)" =>
        timeout_basis: TimeoutBasis::FlightSize, repeated_timeout_keeps_ssthresh: false;
    "OPNET's timer granularity, default 0.5 s: timers fire only on a tick; reported for later versions (reconstruction)" =>
        tick: Duration::from_ms(500), expiry: Expiry::OnTick;
    "RFC 2988 rule 2.1 (reconstruction)" =>
        initial_rto: Duration::from_secs(3);
    "reported for later versions of OPNET: repeated RTOs stop at 64 s (reconstruction)" =>
        max_rto: Duration::from_secs(64);
}
