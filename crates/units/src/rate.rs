//! Transmission rates.

use std::fmt;

use crate::{Bytes, Decimal, Duration};

const BIT_PS_PER_BYTE: u64 = 8_000_000_000_000;

/// A transmission rate in bits a second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// A rate of `bps` bits a second; `None` if zero.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Option<Self> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }

    /// The rate in bits a second.
    #[must_use]
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// How long a transmitter of this rate is busy with a byte, if that is a whole number of picoseconds,
    /// as it is for every rate that divides 8 Tb/s.
    #[must_use]
    pub const fn per_byte(self) -> Option<Duration> {
        if BIT_PS_PER_BYTE.is_multiple_of(self.0) {
            Some(Duration::from_ps(BIT_PS_PER_BYTE / self.0))
        } else {
            None
        }
    }

    /// How long a transmitter of this rate is busy with `size`, rounded up to a whole picosecond
    /// (a transmitter is never faster than its rate).
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit is cut")]
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

/// Writes a rate, which may be zero, exactly and in the largest unit that it reaches.
pub(crate) fn write_bps(f: &mut fmt::Formatter<'_>, bps: u64) -> fmt::Result {
    let (places, unit) = match bps {
        1_000_000_000.. => (9, "Gbps"),
        1_000_000.. => (6, "Mbps"),
        1_000.. => (3, "kbps"),
        _ => (0, "bps"),
    };
    write!(f, "{} {unit}", Decimal::scaled(bps, places))
}
