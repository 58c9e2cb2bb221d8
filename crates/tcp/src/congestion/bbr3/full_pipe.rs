//! Full-pipe detection: a higher sending rate no longer increases the delivery rate.
//!
//! # Model
//! The pipe is full when the delivery rate has not grown by a quarter for three RTTs since the search
//! started.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 section 5.3.1.2.

use super::{Bandwidth, Gain};

/// RTTs without growth that fill the pipe.
const FLAT_ROUNDS: u32 = 3;

/// State of full-pipe detection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// `true`: the pipe has been full, so that STARTUP is over.
    pub(super) reached: bool,
    /// `true`: the pipe was full since the last search.
    pub(super) now: bool,
    base: Bandwidth,
    flat: u32,
}

impl FullPipe {
    /// The search begins anew, from `base` (`ResetFullBW`).
    pub(super) fn search_from(&mut self, base: Bandwidth) {
        (self.now, self.base, self.flat) = (false, base, 0);
    }

    /// A sample at the beginning of an RTT that the network limited (`CheckFullBWReached`).
    pub(super) fn check(&mut self, bandwidth: Bandwidth) {
        if self.now {
            return;
        }
        if bandwidth.times(Gain(4, 1)) >= self.base.times(Gain(5, 1)) {
            self.search_from(bandwidth);
            return;
        }
        self.flat += 1;
        self.now = self.flat >= FLAT_ROUNDS;
        self.reached |= self.now;
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::Duration;

    use super::*;

    /// Appendix A.1: a quarter more is growth, 24 % is not. The base is the bandwidth at the last
    /// growth.
    #[test]
    fn three_round_trips_without_growth_by_a_quarter_fill_the_pipe() {
        let mut pipe = FullPipe::default();
        let mut check = |segments: &[u64]| {
            let of = |&segments| Bandwidth::of(segments, Duration::from_ms(100));
            segments.iter().map(of).for_each(|bandwidth| pipe.check(bandwidth));
            (pipe.now, pipe.reached)
        };
        assert_eq!(check(&[100, 200, 249, 249, 250, 312, 312]), (false, false));
        assert_eq!(check(&[312]), (true, true));
        pipe.search_from(Bandwidth::of(300, Duration::from_ms(100)));
        assert_eq!((pipe.now, pipe.reached), (false, true));
    }
}
