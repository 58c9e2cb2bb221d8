//! Equal-cost multipath: which of several next hops the packets of a flow take.
//!
//! # Models
//! A router has a set of next hops for a destination and a hash of the flow. All packets of a flow in one direction take
//! one of them, so that they do not overtake each other; flows are spread as the hash does it. What a change of the set
//! does to flows whose next hop is still there depends on the [`Hashing`].
//! # Source
//! RFC 2991 (the three ways, and what disruption is); RFC 2992 (hash-threshold and its disruption); D. Thaler, C. Ravishankar,
//! "Using name-based mappings to increase hit rates", 1998 (highest random weight).
//! # Parameters
//! The hashing, and a seed for each router: with one seed for all, routers behind each other would not spread what
//! the first one has spread (polarisation).
//! # Limits
//! The hash is the finalizer of SplitMix64 over the router's seed and the key of the flow's direction. Next hops have
//! equal weights. There are no flowlets.

use std::cmp::Reverse;

/// The hash that nodes use.
pub use optcp_des::mix;
use optcp_units::registry;

use crate::Label;

registry! {
    /// How a router chooses among next hops of equal cost.
    pub enum Hashing ("ecmp") {
        "modulo-n" => ModuloN: "the hash modulo the number of next hops: a change of the set moves nearly all flows", "RFC 2991, section 2";
        "hash-threshold" => HashThreshold: "the hash's range in as many equal regions as there are next hops: a change moves a quarter to a half of the flows", "RFC 2992";
        "highest-random-weight" => HighestRandomWeight: "the next hop with the highest hash of flow and next hop: a change moves no flow whose next hop is still there", "RFC 2991, section 2; Thaler and Ravishankar, 1998";
    }
}

/// The next hops of equal cost that a router has for a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multipath {
    /// How it chooses.
    pub hashing: Hashing,
    /// What its hash begins with.
    pub seed: u64,
    /// A number of each next hop that stays the same when others come and go, and the label under which packets are
    /// there, at the same node; in the order in which the router has them.
    pub next_hops: Vec<(u64, Label)>,
}

impl Multipath {
    /// The label for packets with this key.
    ///
    /// # Panics
    /// Without next hops.
    #[inline]
    #[must_use]
    pub fn choose(&self, key: u64) -> Label {
        let numbers = self.next_hops.iter().map(|&(number, _)| number);
        self.next_hops[self.hashing.place(self.seed, key, numbers)].1
    }
}

impl Hashing {
    /// The place, among next hops with these numbers, of the one that packets with this key take. `seed` is the router's.
    ///
    /// # Panics
    /// Without next hops.
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

/// The key of a flow's data or of its ACKs, where the flow has this one: they differ, as their addresses do.
#[inline]
#[must_use]
pub fn key(of_flow: u64, acks: bool) -> u64 {
    of_flow.wrapping_add(u64::from(acks))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOWS: u64 = 40_000;

    /// The shares of flows by next hop, and of those that a change from `before` to `after` moves.
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

    /// Five standard errors of a share of so many flows.
    const CLOSE: f64 = 0.0125;

    #[test]
    fn every_next_hop_has_its_share() {
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

    /// What RFC 2992 section 3 calls disruption, when the next hop at place i of n goes. Modulo n: all flows but those whose
    /// hash means the same next hop modulo n and modulo n - 1. Hash-threshold: between places j - 1 and j the border of
    /// regions moves from j / n by j / (n (n - 1)) where that is below the region that goes, and as much seen from the
    /// other end above it; what is between the old and the new borders moves. Highest random weight: the flows of the
    /// next hop that goes, no more.
    #[test]
    fn a_next_hop_that_goes_moves_as_many_flows_as_it_must() {
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
    fn routers_with_different_seeds_choose_apart() {
        // Of the flows that one router sends to its first next hop, another one with two sends half to its first.
        let first =
            |seed, flow| Hashing::HashThreshold.place(seed, mix(flow), [0, 1].into_iter()) == 0;
        let at_first: Vec<u64> = (0..FLOWS).filter(|&flow| first(1, flow)).collect();
        let both = at_first.iter().filter(|&&flow| first(2, flow)).count();
        assert!((both as f64 / at_first.len() as f64 - 0.5).abs() < 2.0 * CLOSE);
    }
}
