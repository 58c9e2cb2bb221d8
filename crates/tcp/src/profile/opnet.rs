//! OPNET Modeler 11, with the TCP parameters of the obs paper.
//!
//! A reconstruction: the program is closed. Maximum segment size, window, version, the delay of a
//! delayed ACK and the least timeout are printed in table I of the paper; the rest is RFC 2581 and 2988,
//! which it cites or which held at its time, and what users of later versions of OPNET report.

use optcp_units::Duration;

use super::bundle::bundle;
use super::rfc::RFC;
use crate::config::{Expiry, RecoveryKind, TimeoutBasis};

bundle! {
    /// Reno of the obs paper.
    MODELER_11 from RFC;
    "the obs paper compares Reno and SACK; a scenario sets the other" =>
        recovery: RecoveryKind::Reno;
    "table I prints 65535 B; 44 full segments of 1460 B fit" =>
        window_limit: 44;
    "section II of the paper: typically one segment" =>
        initial_window: 1;
    "OPNET opens every connection with a SYN exchange" =>
        handshake: true;
    "RFC 2581 knows no limited transmit (reconstruction)" =>
        limited_transmit: false;
    "RFC 2581's Reno has no `recover`; the paper's rule for two losses needs none (reconstruction)" =>
        careful: false;
    "RFC 2581 equation 3, literally; that a repeated expiry leaves ssthresh alone came with RFC 5681 in 2009 (reconstruction)" =>
        timeout_basis: TimeoutBasis::FlightSize, repeated_timeout_keeps_ssthresh: false;
    "OPNET's timer granularity, by default 0.5 s, lets a timer expire only on a tick; reported for later versions (reconstruction)" =>
        tick: Duration::from_ms(500), expiry: Expiry::OnTick;
    "RFC 2988 rule 2.1 (reconstruction)" =>
        initial_rto: Duration::from_secs(3);
    "reported for later versions of OPNET: a timer that expires again and again stops at 64 s (reconstruction)" =>
        max_rto: Duration::from_secs(64);
}
