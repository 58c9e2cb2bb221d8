//! Scheduling by horizons.
//!
//! # Model
//! The switch stores only the horizon of each wavelength, the time after which nothing is reserved. A burst may begin
//! there or later; of several wavelengths, the latest horizon is chosen.
//!
//! # References
//! J. S. Turner, "Terabit burst switching", Journal of High Speed Networks 8(1), 1999; the same as latest available
//! unscheduled channel in Xiong, Vandenhoute, Cankaya 2000.
//!
//! # Limitations
//! Gaps between reservations, which result from different offsets, are never used.

use optcp_units::Time;

use super::Channel;

pub(super) fn unused_since(channel: &Channel, start: Time, _: Time) -> Option<Time> {
    Some(channel.horizon()).filter(|&horizon| horizon <= start)
}
