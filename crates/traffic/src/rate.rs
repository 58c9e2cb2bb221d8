//! Exact packet rates.

use optcp_units::Rate;

/// Packet rate as a fraction of integers: packets per picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRate {
    packets: u64,
    in_ps: u64,
}

const PS_PER_SECOND: u64 = 1_000_000_000_000;

impl PacketRate {
    /// Creates a rate of `packets` packets in `in_ps` picoseconds; `None` if either is zero.
    #[must_use]
    pub const fn new(packets: u64, in_ps: u64) -> Option<Self> {
        if packets == 0 || in_ps == 0 { None } else { Some(PacketRate { packets, in_ps }) }
    }

    /// Returns the rate at which packets of `bytes` bytes fill `rate`; `None` for empty packets.
    #[must_use]
    pub const fn filling(rate: Rate, bytes: u16) -> Option<Self> {
        PacketRate::new(rate.bps(), bytes as u64 * 8 * PS_PER_SECOND)
    }

    /// Returns the packets per second.
    #[must_use]
    pub fn per_second(self) -> f64 {
        self.packets as f64 / self.in_ps as f64 * PS_PER_SECOND as f64
    }

    /// Returns the mean interval between packets, in picoseconds.
    #[must_use]
    pub fn mean_interval_ps(self) -> f64 {
        self.in_ps as f64 / self.packets as f64
    }

    /// Returns the time of packet `number` in a regular sequence in which packet 0 is at time zero, in picoseconds,
    /// rounded down.
    #[must_use]
    pub fn instant_ps(self, number: u64) -> u64 {
        let ps = u128::from(number) * u128::from(self.in_ps) / u128::from(self.packets);
        u64::try_from(ps).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_rates_are_exact() {
        // 10 Mb/s in packets of 1250 B: one packet per millisecond.
        let rate = Rate::from_bps(10_000_000).and_then(|rate| PacketRate::filling(rate, 1250));
        let rate = rate.expect("a rate above zero");
        assert_eq!(rate.instant_ps(1), 1_000_000_000);
        assert!((rate.per_second() - 1000.0).abs() < 1e-9);
        // Three packets per second: the third interval ends exactly at a second.
        let thirds = PacketRate::new(3, PS_PER_SECOND).expect("a rate above zero");
        assert_eq!(
            [1, 2, 3].map(|n| thirds.instant_ps(n)),
            [333_333_333_333, 666_666_666_666, 1_000_000_000_000]
        );
    }
}
