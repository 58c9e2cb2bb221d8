//! Transmission times.

use optcp_units::{Bytes, Duration, Rate, Time};

/// End of a transmission that no run reaches: the transmitter is busy forever. The maximum delay can be added without
/// overflow.
pub const NEVER_SENT: Time = Time::from_ps(1 << 63);

/// Returns the time from the first bit of a packet to its last.
pub(crate) fn transmission_time(rate: Rate, size: u16) -> Duration {
    rate.transmission_time(Bytes::new(u64::from(size)))
}
