use optcp_units::{Duration, Time};

use super::{Buckets, Due, Wheel};
use crate::Streams;

fn due(at: u64, entity: u32, ordinal: u32) -> Due<u64> {
    Due { at: Time::from_ps(at), entity, ordinal, item: at ^ u64::from(entity) }
}

fn order(due: &Due<u64>) -> (Time, u32, u32) {
    (due.at, due.entity, due.ordinal)
}

/// Comparison with an ordered set: near and far entries, many at the same time, added and removed alternately.
#[test]
fn entries_are_removed_in_order() {
    let spreads = [1_u64 << 10, 1 << 22, 1 << 30, 1 << 38];
    // The last case starts with a horizon that is far too short.
    for (seed, (spread, horizon)) in
        (0..).zip(spreads.map(|s| (s, s / 4)).into_iter().chain([(1 << 36, 1)]))
    {
        let mut stream = Streams::new(seed).stream("buckets");
        let mut buckets = Buckets::new(Duration::from_ps(horizon));
        let mut reference = std::collections::BTreeSet::new();
        let (mut now, mut ordinal) = (0, 0);
        for _ in 0..20_000 {
            for _ in 0..stream.below(3) {
                let at = now + stream.below(spread) / (1 + 100 * stream.below(2));
                // Ties: half of the entries are due at multiples of 1000.
                let at = if stream.below(2) == 0 { at.div_ceil(1000) * 1000 } else { at };
                let entity = u32::try_from(stream.below(4)).unwrap();
                ordinal += 1;
                buckets.push(due(at, entity, ordinal));
                reference.insert(order(&due(at, entity, ordinal)));
            }
            let limit = Time::from_ps(now + stream.below(spread));
            let expected = reference.first().copied().filter(|&(at, ..)| at < limit);
            let found = buckets.pop_before(limit);
            assert_eq!(found.as_ref().map(order), expected);
            if let Some(first) = expected {
                reference.remove(&first);
                now = first.0.as_ps();
                assert_eq!(found.unwrap().item, now ^ u64::from(first.1));
            }
            assert_eq!(buckets.len(), reference.len());
        }
        let mut copy = buckets.clone();
        let rest: Vec<_> = reference.iter().copied().collect();
        assert_eq!(buckets.drain().iter().map(order).collect::<Vec<_>>(), rest);
        assert!(buckets.is_empty());
        let popped: Vec<_> = std::iter::from_fn(|| copy.pop_before(Time::MAX)).collect();
        assert_eq!(popped.iter().map(order).collect::<Vec<_>>(), rest);
    }
}

/// Extracted entries are removed, and the others keep their order, also when the queue stopped within a bucket.
#[test]
fn extracted_entries_are_removed_and_others_keep_order() {
    let mut stream = Streams::new(7).stream("buckets");
    for _ in 0..50 {
        let mut buckets = Buckets::new(Duration::from_us(1));
        let mut all: Vec<Due<u64>> = (0..500)
            .map(|ordinal| due(stream.below(1 << 24) * 1000, ordinal % 3, ordinal))
            .collect();
        all.iter().for_each(|&due| buckets.push(due));
        all.sort_unstable();
        for _ in 0..stream.below(400) {
            assert_eq!(
                buckets.pop_before(Time::MAX).as_ref().map(order),
                Some(order(&all.remove(0)))
            );
        }
        let (extracted, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|due| due.entity == 1);
        let mut taken = buckets.extract(|due| due.entity == 1);
        taken.sort_unstable();
        assert_eq!(
            taken.iter().map(order).collect::<Vec<_>>(),
            extracted.iter().map(order).collect::<Vec<_>>()
        );
        assert_eq!(buckets.len(), rest.len());
        let left: Vec<_> = std::iter::from_fn(|| buckets.pop_before(Time::MAX)).collect();
        assert_eq!(
            left.iter().map(order).collect::<Vec<_>>(),
            rest.iter().map(order).collect::<Vec<_>>()
        );
    }
}

/// A drained queue continues at its current time.
#[test]
fn drained_queue_can_be_refilled() {
    let mut buckets = Buckets::new(Duration::from_ms(100));
    for at in [5, 700_000_000, 900_000_000_000] {
        buckets.push(due(at, 0, 0));
    }
    assert_eq!(buckets.pop_before(Time::from_ps(10)).map(|due| due.at.as_ps()), Some(5));
    for due in buckets.drain() {
        buckets.push(due);
    }
    buckets.push(due(6, 0, 0));
    let rest: Vec<u64> =
        std::iter::from_fn(|| buckets.pop_before(Time::MAX)).map(|due| due.at.as_ps()).collect();
    assert_eq!(rest, [6, 700_000_000, 900_000_000_000]);
}

/// Three wheels alternate in one queue, each up to an arbitrary time, and return their own entries in order.
#[test]
fn exchanged_wheels_keep_their_entries() {
    let mut stream = Streams::new(11).stream("wheels");
    for width in [6, 20, 27] {
        let mut buckets = Buckets::of_width(width);
        let mut wheels = [(); 3].map(|()| Wheel::of_width(width));
        let mut reference = [(); 3].map(|()| std::collections::BTreeSet::new());
        let (mut begin, mut ordinal) = (0, 0);
        for _ in 0..300 {
            let end = begin + 1 + stream.below(3 << width);
            for (wheel, reference) in wheels.iter_mut().zip(&mut reference) {
                buckets.exchange(wheel);
                for _ in 0..stream.below(40) {
                    // Some entries are beyond the last bucket.
                    let buckets_ahead = if stream.below(9) == 0 { 900 } else { 5 };
                    let ahead = stream.below(buckets_ahead << width);
                    let due = due(begin + ahead, 0, ordinal);
                    ordinal += 1;
                    buckets.push(due);
                    reference.insert(order(&due));
                }
                assert_eq!(buckets.len(), reference.len());
                let earliest = reference.first().map_or(Time::MAX, |&(at, ..)| at);
                assert!(buckets.not_before() <= earliest);
                assert_eq!(buckets.not_before() == Time::MAX, reference.is_empty());
                let limit = Time::from_ps(end);
                while let Some(due) = buckets.pop_before(limit) {
                    assert_eq!(reference.pop_first(), Some(order(&due)));
                }
                assert!(reference.first().is_none_or(|&(at, ..)| at >= limit));
                // This also holds within a bucket.
                let earliest = reference.first().map_or(Time::MAX, |&(at, ..)| at);
                assert!(buckets.not_before() <= earliest);
                let mut all = Vec::new();
                buckets.for_each(|due| all.push(order(&due)));
                all.sort_unstable();
                assert_eq!(all, reference.iter().copied().collect::<Vec<_>>());
                buckets.exchange(wheel);
                let earliest = reference.first().map_or(Time::MAX, |&(at, ..)| at);
                assert!(wheel.not_before() <= earliest);
                assert_eq!(wheel.not_before() == Time::MAX, reference.is_empty());
            }
            begin = end;
        }
        for (wheel, reference) in wheels.iter_mut().zip(reference) {
            buckets.exchange(wheel);
            let left: Vec<_> = buckets.drain().iter().map(order).collect();
            assert_eq!(left, reference.into_iter().collect::<Vec<_>>());
            buckets.exchange(wheel);
        }
    }
}
