//! Differences between real and simulated time.

use std::time::Duration;

/// How late packets left the simulation: time of the write to the interface minus simulated time of arrival.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// In nanoseconds, by packet; at most 4.3 s.
    by_packet: Vec<u32>,
}

impl Lateness {
    pub(crate) fn add(&mut self, late: Duration) {
        self.by_packet.push(u32::try_from(late.as_nanos()).unwrap_or(u32::MAX));
    }

    /// Returns the number of packets.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.by_packet.len()
    }

    /// Returns the lateness that this share of the packets, from 0 to 1, does not exceed; zero without packets.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        let mut all = self.by_packet.clone();
        let Some(last) = all.len().checked_sub(1) else { return Duration::ZERO };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a rank among the packets"
        )]
        let rank = (share * all.len() as f64).ceil() as usize;
        let (_, &mut late, _) = all.select_nth_unstable(rank.saturating_sub(1).min(last));
        Duration::from_nanos(late.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), Duration::ZERO);
        (1..=1000).rev().for_each(|us| lateness.add(Duration::from_micros(us)));
        assert_eq!(lateness.packets(), 1000);
        for (share, us) in [(0.0, 1), (0.5, 500), (0.999, 999), (1.0, 1000)] {
            assert_eq!(lateness.quantile(share), Duration::from_micros(us), "{share}");
        }
    }
}
