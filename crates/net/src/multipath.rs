//! Equal-cost multipath (ECMP): selection of a next hop by the hash of the flow.
//!
//! # Model
//! A router has a set of next hops for a destination. All packets of a flow in one direction take the same next hop,
//! which prevents reordering. After a change of the set, the [`Hashing`] determines which other flows move.
//!
//! Each router has its own seed. With a common seed, a router would not distribute flows that another router in front
//! of it has already separated (polarisation).
//!
//! # References
//! RFC 2991 (the three methods, and disruption); RFC 2992 (hash-threshold and its disruption); D. Thaler, C.
//! Ravishankar, "Using name-based mappings to increase hit rates", 1998 (highest random weight).
//!
//! # Limitations
//! The hash is the finalizer of SplitMix64 over the router's seed and the key of the flow's direction. Next hops have
//! equal weights. There are no flowlets.

use std::cmp::Reverse;

/// Hash function of nodes.
pub use optcp_des::mix;
use optcp_units::registry;

use crate::Label;

registry! {
    /// Method by which a router selects one of several equal-cost next hops.
    pub enum Hashing ("ecmp") {
        "modulo-n" => ModuloN: "hash modulo the number of next hops: a change of the set moves nearly all flows", "RFC 2991, section 2";
        "hash-threshold" => HashThreshold: "one equal region of the hash range per next hop: a change moves a quarter to a half of the flows", "RFC 2992";
        "highest-random-weight" => HighestRandomWeight: "next hop with the highest hash of flow and next hop: a change moves only flows whose next hop is removed", "RFC 2991, section 2; Thaler and Ravishankar, 1998";
    }
}

/// Set of equal-cost next hops of a router for a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multipath {
    /// Selection method.
    pub hashing: Hashing,
    /// Seed of the router's hash.
    pub seed: u64,
    /// Next hops in the router's order: a number that is stable under changes of the set, and the label at the same
    /// node.
    pub next_hops: Vec<(u64, Label)>,
}

impl Multipath {
    /// Returns the label for packets with this key.
    ///
    /// # Panics
    /// Panics without next hops.
    #[inline]
    #[must_use]
    pub fn choose(&self, key: u64) -> Label {
        let numbers = self.next_hops.iter().map(|&(number, _)| number);
        self.next_hops[self.hashing.place(self.seed, key, numbers)].1
    }
}

impl Hashing {
    /// Returns the index of the next hop for packets with this key. `numbers` identify the next hops; `seed` is the
    /// router's.
    ///
    /// # Panics
    /// Panics without next hops.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a place among the next hops")]
    pub fn place(self, seed: u64, key: u64, numbers: impl ExactSizeIterator<Item = u64>) -> usize {
        let (hash, count) = (mix(seed ^ key), numbers.len());
        match self {
            Hashing::ModuloN => (hash % count as u64) as usize,
            Hashing::HashThreshold => ((u128::from(hash) * count as u128) >> 64) as usize,
            Hashing::HighestRandomWeight => {
                let weights = numbers.map(|number| mix(hash ^ mix(number))).enumerate();
                let highest = weights.max_by_key(|&(place, weight)| (weight, Reverse(place)));
                highest.map_or(0, |(place, _)| place)
            }
        }
    }
}

/// Returns the key of a flow's data or ACKs. The keys differ, as addresses of the two directions do.
#[inline]
#[must_use]
pub fn key(of_flow: u64, acks: bool) -> u64 {
    of_flow.wrapping_add(u64::from(acks))
}

/// Returns the key of a flow's direction with another flow label.
#[inline]
#[must_use]
pub fn labelled(key: u64, label: u8) -> u64 {
    key.wrapping_add(2 * u64::from(label))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOWS: u64 = 40_000;

    /// Returns the share of flows by next hop, and the share that a change from `before` to `after` moves.
    fn spread(hashing: Hashing, before: &[u64], after: &[u64]) -> (Vec<f64>, f64) {
        let taken = |flow: u64, numbers: &[u64]| {
            numbers[hashing.place(77, mix(flow), numbers.iter().copied())]
        };
        let flows = || 0..FLOWS;
        let share = |count: usize| count as f64 / FLOWS as f64;
        let of = |number| share(flows().filter(|&flow| taken(flow, before) == number).count());
        let moved = flows().filter(|&flow| taken(flow, before) != taken(flow, after)).count();
        (before.iter().map(|&number| of(number)).collect(), share(moved))
    }

    /// Five standard errors of a share of `FLOWS` flows.
    const CLOSE: f64 = 0.0125;

    #[test]
    fn flows_are_balanced_over_next_hops() {
        for &hashing in Hashing::ALL {
            for n in [2, 3, 5] {
                let numbers: Vec<u64> = (0..n).map(|k| 10 * k + 3).collect();
                let (shares, moved) = spread(hashing, &numbers, &numbers);
                assert!(
                    shares.iter().all(|share| (share - 1.0 / n as f64).abs() < CLOSE),
                    "{shares:?}"
                );
                assert!(moved < f64::EPSILON);
            }
        }
    }

    /// Disruption (RFC 2992 section 3) when the next hop at index i of n is removed.
    ///
    /// - Modulo n: all flows move, except those whose hash selects the same next hop modulo n and modulo n - 1.
    /// - Hash-threshold: below the removed region, the boundary between indices j - 1 and j moves from j / n by j / (n
    ///   (n - 1)). Above it, the same applies from the other end. Flows between old and new boundaries move.
    /// - Highest random weight: only flows of the removed next hop move.
    #[test]
    fn removal_of_next_hop_moves_expected_share_of_flows() {
        for n in [2_usize, 4, 5] {
            for i in 0..n {
                let before: Vec<u64> = (0..n as u64).collect();
                let after: Vec<u64> = before.iter().copied().filter(|&k| k != i as u64).collect();
                let (cycle, left) = (n * (n - 1), n - 1);
                let stays = |hash: &usize| after[hash % left] == before[hash % n];
                let modulo = 1.0 - (0..cycle).filter(stays).count() as f64 / cycle as f64;
                let borders = (1..=i).sum::<usize>() + (1..n - i).sum::<usize>();
                let threshold = borders as f64 / cycle as f64;
                for (hashing, expected) in [
                    (Hashing::ModuloN, modulo),
                    (Hashing::HashThreshold, threshold),
                    (Hashing::HighestRandomWeight, 1.0 / n as f64),
                ] {
                    let (_, moved) = spread(hashing, &before, &after);
                    assert!(
                        (moved - expected).abs() < CLOSE,
                        "{hashing:?} {n} {i}: {moved} {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn routers_with_different_seeds_choose_independently() {
        // A second router with two next hops sends half of the first router's flows for its first next hop to its own
        // first.
        let first =
            |seed, flow| Hashing::HashThreshold.place(seed, mix(flow), [0, 1].into_iter()) == 0;
        let at_first: Vec<u64> = (0..FLOWS).filter(|&flow| first(1, flow)).collect();
        let both = at_first.iter().filter(|&&flow| first(2, flow)).count();
        assert!((both as f64 / at_first.len() as f64 - 0.5).abs() < 2.0 * CLOSE);
    }
}
