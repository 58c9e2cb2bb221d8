//! Scheduling by horizons.
//!
//! # Models
//! All that a switch keeps of a wavelength is its horizon, the instant from which on nothing is reserved. A
//! burst may begin there or later; of several wavelengths the one with the latest horizon is taken.
//! # Source
//! J. S. Turner, "Terabit burst switching", Journal of High Speed Networks 8(1), 1999; the same as latest
//! available unscheduled channel in Xiong, Vandenhoute, Cankaya 2000.
//! # Parameters
//! None.
//! # Limits
//! Gaps between reservations, which come of bursts with different offsets, are never used.

use optcp_units::Time;

use super::Channel;

pub(super) fn unused_since(channel: &Channel, start: Time, _: Time) -> Option<Time> {
    Some(channel.horizon()).filter(|&horizon| horizon <= start)
}
