//! Latest available unused channel with void filling (LAUC-VF).
//!
//! # Model
//! The switch stores all reservations. A burst may use a gap (void) between two of them. Of all wavelengths on which it
//! fits, the one with the smallest gap before the burst is chosen.
//!
//! # References
//! Y. Xiong, M. Vandenhoute, H. C. Cankaya, "Control architecture in optical burst-switched WDM networks", IEEE JSAC
//! 18(10), 2000.
//!
//! # Limitations
//! The gap after the burst is ignored.

use optcp_units::Time;

use super::Channel;

pub(super) fn unused_since(channel: &Channel, start: Time, end: Time) -> Option<Time> {
    channel.void_around(start, end)
}
