//! Token bucket.

use optcp_units::{Bytes, Duration, Rate, Time};

use crate::NEVER_SENT;

/// Tokens per byte. A token is 10^-12 bit: the bits that one bit per second sends in one picosecond.
const BYTE: u128 = 8_000_000_000_000;

/// Bucket that fills with tokens at a rate, up to its burst. It is full at time zero.
///
/// Numbers of tokens are integers, so that the level is exact at every time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    rate: Rate,
    burst: u128,
    /// Level at `since`.
    level: u128,
    since: Time,
}

impl Tokens {
    pub(super) fn new(rate: Rate, burst: Bytes) -> Self {
        let burst = u128::from(burst.count()) * BYTE;
        Tokens { rate, burst, level: burst, since: Time::ZERO }
    }

    /// Adds the tokens until `now`.
    fn fill(&mut self, now: Time) {
        let elapsed = now.saturating_since(self.since).as_ps();
        let more = u128::from(self.rate.bps()) * u128::from(elapsed);
        self.level = self.level.saturating_add(more).min(self.burst);
        self.since = self.since.max(now);
    }

    /// Returns whether there are tokens for `size` bytes at `now`.
    pub(super) fn holds(&mut self, now: Time, size: u16) -> bool {
        self.fill(now);
        self.level >= u128::from(size) * BYTE
    }

    /// Takes the tokens of `size` bytes at `now`.
    pub(super) fn take(&mut self, now: Time, size: u16) {
        self.fill(now);
        self.level = self.level.saturating_sub(u128::from(size) * BYTE);
    }

    /// Returns the first time from `now` on at which tokens for `bytes` bytes have arrived. The burst does not limit
    /// them.
    pub(super) fn ready(&self, now: Time, bytes: u64) -> Time {
        let mut filled = self.clone();
        filled.fill(now);
        let missing = (u128::from(bytes) * BYTE).saturating_sub(filled.level);
        let wait = missing.div_ceil(u128::from(self.rate.bps()));
        let wait = Duration::from_ps(u64::try_from(wait).unwrap_or(u64::MAX));
        (filled.since + wait).min(NEVER_SENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    /// 8 Mb/s are one byte per microsecond. A full bucket of 1000 B allows 600 B and 400 B at once. 100 us later it
    /// holds 100 B, and 5 ms later 1000 B, not more.
    #[test]
    fn bucket_fills_at_its_rate_up_to_the_burst() {
        let mut tokens = Tokens::new(Rate::from_bps(8_000_000).unwrap(), Bytes::new(1000));
        assert!(tokens.holds(at(0), 1000) && !tokens.holds(at(0), 1001));
        tokens.take(at(0), 600);
        tokens.take(at(0), 400);
        assert!(
            !tokens.holds(at(0), 1) && tokens.holds(at(100), 100) && !tokens.holds(at(100), 101)
        );
        assert!(tokens.holds(at(5100), 1000) && !tokens.holds(at(5100), 1001));
    }

    /// At 3 b/s, a byte takes 2 666 666 666 666.67 ps. Three bytes take 8 s exactly, however often the level is asked for.
    #[test]
    fn level_does_not_drift() {
        let mut tokens = Tokens::new(Rate::from_bps(3).unwrap(), Bytes::new(3));
        tokens.take(at(0), 3);
        assert_eq!(tokens.ready(at(0), 1).as_ps(), 2_666_666_666_667);
        for ms in 0..8000 {
            assert!(!tokens.holds(at(1000 * ms), 3));
        }
        assert!(!tokens.holds(Time::from_ps(7_999_999_999_999), 3));
        assert!(tokens.holds(Time::from_ps(8_000_000_000_000), 3));
    }
}
