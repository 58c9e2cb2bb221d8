//! What CUBIC chooses for itself alone.

use optcp_units::registry;

use super::super::controller::keys;

registry! {
    /// Whose CUBIC it is.
    pub enum CubicVersion ("cubic_version") {
        "rfc9438" => Rfc9438: "to the fraction of a segment, with every ACK", "RFC 9438";
        "linux" => Linux: "in whole segments; one in 20 at least while no loss is known", "Linux";
    }
}

keys! {
    /// The keys of CUBIC.
    pub struct CubicKeys {
        /// Whether it aims lower after a loss at a smaller window than the one before (RFC 9438 section
        /// 4.7), which gives way to new flows.
        fast_convergence: bool = true, "RFC 9438 section 4.7, for a connection that is set to CUBIC";
        /// Whose arithmetic it is.
        cubic_version: CubicVersion = CubicVersion::Rfc9438, "the standard";
    }
}
