//! How long packets are sent.

use optcp_units::{Bytes, Duration, Rate, Time};

/// When a transmission ends of which no run sees the end: the transmitter is busy for ever. The longest delay
/// can be added to it.
pub const NEVER_SENT: Time = Time::from_ps(1 << 63);

/// The time from the first bit of a packet to its last.
pub(crate) fn transmission_time(rate: Rate, size: u16) -> Duration {
    rate.transmission_time(Bytes::new(u64::from(size)))
}
