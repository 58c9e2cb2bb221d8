//! Pacing by a token bucket.
//!
//! # Model
//! Each segment takes one token. The bucket holds `pacing_burst` tokens and is full at the start. Tokens arrive at 1.25 times
//! the window per smoothed RTT. An ACK lets a segment leave as soon as there is a token; without ACKs, a timer waits until the
//! bucket is full.
//!
//! # References
//! RFC 9002 section 7.7: N of 1.25, and bursts of at most the initial window. The timer that waits for a full bucket is
//! behaviour of quinn 0.11.
//!
//! # Parameters
//! `pacing_burst`: size of the bucket.
//!
//! # Limitations
//! Segments without RTT sample use a third of `initial_rto` (kInitialRtt). quinn enlarges the bucket to 2 ms of the rate.

use optcp_units::{Duration, Time};

/// Fractions of a token.
const TOKEN: u64 = 1 << 20;

/// Window and RTT, of which the filling rate is 1.25 times the quotient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// Window in segments.
    pub(crate) window: u32,
    /// Smoothed RTT.
    pub(crate) srtt: Duration,
}

impl Rate {
    /// Returns the fractions of tokens that arrive in `elapsed`.
    fn tokens(self, elapsed: Duration) -> u64 {
        let product = u128::from(elapsed.as_ps()) * u128::from(self.window) * u128::from(TOKEN) * 5;
        u64::try_from(product / (4 * u128::from(self.srtt.as_ps().max(1)))).unwrap_or(u64::MAX)
    }

    /// Returns the time in which so many fractions of tokens arrive.
    fn time(self, tokens: u64) -> Duration {
        let product = u128::from(tokens) * u128::from(self.srtt.as_ps()) * 4;
        let divisor = u128::from(self.window.max(1)) * u128::from(TOKEN) * 5;
        Duration::from_ps(u64::try_from(product.div_ceil(divisor)).unwrap_or(u64::MAX))
    }
}

/// Token bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    capacity: u64,
    tokens: u64,
    filled: Time,
}

impl Bucket {
    pub(super) fn new(segments: u32) -> Self {
        let capacity = u64::from(segments) * TOKEN;
        Bucket { capacity, tokens: capacity, filled: Time::ZERO }
    }

    /// Adds the tokens that have arrived. Returns whether there is one for a segment.
    pub(super) fn refill(&mut self, now: Time, rate: Rate) -> bool {
        let new = rate.tokens(now - self.filled);
        self.tokens = self.tokens.saturating_add(new).min(self.capacity);
        self.filled = now;
        self.tokens >= TOKEN
    }

    /// Removes a token. If no token is left, returns the time at which the bucket is full.
    pub(super) fn take(&mut self, now: Time, rate: Rate) -> Option<Time> {
        if self.tokens < TOKEN {
            self.refill(now, rate);
        }
        self.tokens = self.tokens.saturating_sub(TOKEN);
        let lacks = self.tokens < TOKEN && !self.refill(now, rate);
        lacks.then(|| now + rate.time(self.capacity - self.tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_ms(milliseconds)
    }

    /// Computed by hand: 20 segments in 100 ms are 1 token in 4 ms. Ten leave at once, and an ACK after 9 ms releases two.
    /// The bucket, with a quarter of a token, is full 39 ms later.
    #[test]
    fn burst_leaves_then_tokens_arrive() {
        let rate = Rate { window: 20, srtt: Duration::from_ms(100) };
        let mut bucket = Bucket::new(10);
        for _ in 0..9 {
            assert_eq!(bucket.take(ms(0), rate), None);
        }
        assert_eq!(bucket.take(ms(0), rate), Some(ms(40)));
        assert!(!bucket.refill(ms(3), rate));
        assert!(bucket.refill(ms(9), rate));
        assert_eq!(bucket.take(ms(9), rate), None);
        assert_eq!(bucket.take(ms(9), rate), Some(ms(48)));
        // Full after that time, and not more than full later.
        assert!(bucket.refill(ms(500), rate));
        let left = (0..).take_while(|_| bucket.take(ms(500), rate).is_none()).count();
        assert_eq!(left, 9);
    }
}
