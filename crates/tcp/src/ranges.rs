//! Sets of segments, stored as ranges.

use std::collections::VecDeque;

use crate::seq::Seq;

/// Number of ranges at each end that are checked before a binary search.
const NEAR: usize = 3;

/// Disjoint, non-adjacent half-open ranges in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(VecDeque<(Seq, Seq)>);

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Iterates over the ranges in ascending order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (Seq, Seq)> {
        self.0.iter().copied()
    }

    /// Returns the number of ranges.
    pub(crate) fn ranges(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of segments.
    pub(crate) fn count(&self) -> u32 {
        self.iter().map(|(start, end)| end - start).sum()
    }

    /// Returns the lowest range.
    pub(crate) fn first(&self) -> Option<(Seq, Seq)> {
        self.0.front().copied()
    }

    /// Returns one past the highest segment.
    pub(crate) fn end(&self) -> Option<Seq> {
        self.0.back().map(|&(_, end)| end)
    }

    /// Returns the range that contains `seq`.
    pub(crate) fn around(&self, seq: Seq) -> Option<(Seq, Seq)> {
        self.0.get(self.behind(seq)).copied().filter(|&(start, _)| start <= seq)
    }

    /// Returns the index of the first range that ends after `seq`.
    fn behind(&self, seq: Seq) -> usize {
        // A burst of losses leaves thousands of gaps. Most later arrivals are beyond nearly all of them, or
        // fill the first.
        let beyond = self.0.iter().rev().take(NEAR).take_while(|&&(_, end)| end > seq).count();
        if beyond < NEAR.min(self.0.len()) {
            return self.0.len() - beyond;
        }
        let before = self.0.iter().take(NEAR).take_while(|&&(_, end)| end <= seq).count();
        if before < NEAR {
            return before.min(self.0.len());
        }
        self.0.partition_point(|&(_, end)| end <= seq)
    }

    /// Removes everything below `seq`.
    pub(crate) fn remove_below(&mut self, seq: Seq) {
        if self.0.front().is_none_or(|&(start, _)| start >= seq) {
            return;
        }
        let gone = self.behind(seq);
        if gone > 0 {
            self.0.drain(..gone);
        }
        if let Some((start, _)) = self.0.front_mut() {
            *start = (*start).max(seq);
        }
    }

    /// Inserts the non-empty range `start..end`, and calls `new` for each part that was missing. Returns the
    /// range that contains it.
    pub(crate) fn insert(
        &mut self,
        start: Seq,
        end: Seq,
        mut new: impl FnMut(Seq, Seq),
    ) -> (Seq, Seq) {
        // First range that ends at or after `start`, which may touch the new one.
        let from = self.behind(start.saturating_sub(1));
        let mut to = from;
        let (mut low, mut high) = (start, end);
        let mut covered = start;
        while let Some(&(s, e)) = self.0.get(to)
            && s <= end
        {
            if covered < s {
                new(covered, s);
            }
            covered = covered.max(e);
            (low, high) = (low.min(s), high.max(e));
            to += 1;
        }
        if covered < end {
            new(covered, end);
        }
        if to == from {
            self.0.insert(from, (low, high));
            return (low, high);
        }
        self.0[from] = (low, high);
        if to > from + 1 {
            self.0.drain(from + 1..to);
        }
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn inserted(ranges: &mut Ranges, start: u32, end: u32) -> Vec<(u32, u32)> {
        let mut new = Vec::new();
        ranges.insert(Seq::new(start), Seq::new(end), |s, e| new.push((s.number(), e.number())));
        new
    }

    fn held(ranges: &Ranges) -> Vec<(u32, u32)> {
        ranges.iter().map(|(start, end)| (start.number(), end.number())).collect()
    }

    fn segments(of: Vec<(u32, u32)>) -> Vec<u32> {
        of.into_iter().flat_map(|(start, end)| start..end).collect()
    }

    #[test]
    fn insertion_joins_ranges_and_reports_new_parts() {
        let mut ranges = Ranges::default();
        assert_eq!(inserted(&mut ranges, 5, 6), [(5, 6)]);
        assert_eq!(inserted(&mut ranges, 3, 4), [(3, 4)]);
        assert_eq!(inserted(&mut ranges, 8, 10), [(8, 10)]);
        assert_eq!(inserted(&mut ranges, 4, 9), [(4, 5), (6, 8)]);
        assert_eq!(held(&ranges), [(3, 10)]);
        assert_eq!(inserted(&mut ranges, 4, 9), []);
        assert_eq!(ranges.around(Seq::new(9)), Some((Seq::new(3), Seq::new(10))));
        assert_eq!(ranges.around(Seq::new(10)), None);
        ranges.remove_below(Seq::new(7));
        assert_eq!(held(&ranges), [(7, 10)]);
        ranges.remove_below(Seq::new(10));
        assert!(ranges.is_empty());
    }

    /// Compares with a set of single segments, over every order of a small sequence space.
    #[test]
    fn ranges_match_a_set_of_segments() {
        let mut state = 1_u64;
        for _ in 0..2_000 {
            let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let start = u32::try_from(state >> 60).unwrap();
                let end = start + 1 + u32::try_from((state >> 56) & 3).unwrap();
                let new = inserted(&mut ranges, start, end);
                let fresh: Vec<u32> = (start..end).filter(|seq| set.insert(*seq)).collect();
                assert_eq!(segments(new), fresh);
                assert_eq!(segments(held(&ranges)), set.iter().copied().collect::<Vec<_>>());
                assert!(
                    ranges.0.iter().zip(ranges.0.iter().skip(1)).all(|(one, next)| one.1 < next.0)
                );
                for seq in 0..20 {
                    let place = Seq::new(seq);
                    let found = ranges.around(place);
                    let found = found.map(|(start, end)| (start..end).contains(&place));
                    assert_eq!(found, set.contains(&seq).then_some(true));
                }
            }
            let below = u32::try_from(state >> 60).unwrap();
            ranges.remove_below(Seq::new(below));
            assert_eq!(segments(held(&ranges)), set.range(below..).copied().collect::<Vec<_>>());
        }
    }
}
