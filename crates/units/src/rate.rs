//! Transmission rates.

use std::fmt;

use crate::{Bytes, Decimal, Duration};

const BIT_PS_PER_BYTE: u64 = 8_000_000_000_000;

/// Transmission rate in bits per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Creates a rate of `bps` bits per second; `None` if zero.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Option<Self> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }

    /// Returns the rate in bits per second.
    #[must_use]
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Returns the transmission time of a byte, if it is an integer number of picoseconds, as for every rate that
    /// divides 8 Tb/s.
    #[must_use]
    pub const fn per_byte(self) -> Option<Duration> {
        if BIT_PS_PER_BYTE.is_multiple_of(self.0) {
            Some(Duration::from_ps(BIT_PS_PER_BYTE / self.0))
        } else {
            None
        }
    }

    /// Returns the transmission time of `size`, rounded up to a picosecond, because a transmitter never exceeds its
    /// rate.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "larger values saturate")]
    pub const fn transmission_time(self, size: Bytes) -> Duration {
        if let Some(per_byte) = self.per_byte() {
            return Duration::from_ps(size.count().saturating_mul(per_byte.as_ps()));
        }
        let bit_ps = size.count() as u128 * BIT_PS_PER_BYTE as u128;
        let ps = bit_ps.div_ceil(self.0 as u128);
        Duration::from_ps(if ps > u64::MAX as u128 { u64::MAX } else { ps as u64 })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bps(f, self.0)
    }
}

/// Writes the exact value of a rate, which may be zero, in the largest unit not above it.
pub(crate) fn write_bps(f: &mut fmt::Formatter<'_>, bps: u64) -> fmt::Result {
    let (places, unit) = match bps {
        1_000_000_000.. => (9, "Gbps"),
        1_000_000.. => (6, "Mbps"),
        1_000.. => (3, "kbps"),
        _ => (0, "bps"),
    };
    write!(f, "{} {unit}", Decimal::scaled(bps, places))
}
