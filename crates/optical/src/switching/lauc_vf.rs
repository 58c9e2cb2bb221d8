//! Latest available unused channel with void filling (LAUC-VF).
//!
//! # Models
//! A switch keeps every reservation. A burst may fill a gap (a void) between two of them; of all wavelengths
//! on which it fits, the one with the smallest gap in front of the burst is taken.
//! # Source
//! Y. Xiong, M. Vandenhoute, H. C. Cankaya, "Control architecture in optical burst-switched WDM networks",
//! IEEE JSAC 18(10), 2000.
//! # Parameters
//! None.
//! # Limits
//! The gap behind the burst does not count.

use optcp_units::Time;

use super::Channel;

pub(super) fn unused_since(channel: &Channel, start: Time, end: Time) -> Option<Time> {
    channel.void_around(start, end)
}
