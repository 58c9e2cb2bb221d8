//! Parameters of CUBIC.

use optcp_units::registry;

use super::super::controller::keys;

registry! {
    /// Version of CUBIC.
    pub enum CubicVersion ("cubic_version") {
        "rfc9438" => Rfc9438: "fractional segments, updated with every ACK", "RFC 9438";
        "linux" => Linux: "whole segments; before the first loss at least one per 20 delivered segments", "Linux";
    }
}

keys! {
    /// The keys of CUBIC.
    pub struct CubicKeys {
        /// Fast convergence: a loss at a smaller window than the previous one reduces the goal
        /// further. This leaves capacity to new flows (RFC 9438 section 4.7).
        fast_convergence: bool = true, "RFC 9438 section 4.7, for a connection that is set to CUBIC";
        /// Version of CUBIC.
        cubic_version: CubicVersion = CubicVersion::Rfc9438, "the standard";
    }
}
