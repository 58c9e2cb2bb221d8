//! Maximum bandwidth of two cycles.
//!
//! # Model
//! Maximum delivery-rate sample in the current and in the last complete probing cycle. Samples that something
//! other than the network limited count only if they are at least the maximum.
//!
//! # References
//! draft-ietf-ccwg-bbr-06 sections 5.5.3 to 5.5.6.

use super::Bandwidth;

/// State of the bandwidth maximum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    max: Bandwidth,
    previous: Bandwidth,
    present: Bandwidth,
}

impl MaxBandwidth {
    pub(super) fn get(&self) -> Bandwidth {
        self.max
    }

    /// `UpdateMaxBw`.
    pub(super) fn on_sample(&mut self, bandwidth: Bandwidth, limited: bool) {
        if bandwidth > Bandwidth::default() && (bandwidth >= self.max || !limited) {
            self.present = self.present.max(bandwidth);
            self.max = self.present.max(self.previous);
        }
    }

    /// A cycle is over (`AdvanceMaxBwFilter`).
    pub(super) fn advance(&mut self) {
        (self.previous, self.present) = (self.present, Bandwidth::default());
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::Duration;

    use super::*;

    /// Section 5.5.3: a sample counts in its cycle and in the next one. Section 5.5.4: a limited one only if it is the
    /// maximum.
    #[test]
    fn a_sample_counts_for_two_cycles() {
        let of = |segments| Bandwidth::of(segments, Duration::from_ms(100));
        let mut max = MaxBandwidth::default();
        max.on_sample(of(50), false);
        max.on_sample(of(60), true);
        max.on_sample(of(40), true);
        assert_eq!(max.get(), of(60));
        max.advance();
        max.on_sample(of(30), false);
        assert_eq!(max.get(), of(60));
        max.advance();
        max.on_sample(of(20), true);
        assert_eq!(max.get(), of(60));
        max.on_sample(of(20), false);
        assert_eq!(max.get(), of(30));
    }
}
