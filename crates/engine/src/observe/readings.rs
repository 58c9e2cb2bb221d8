//! Counters of ports and fibres, read at the ends of intervals.
//!
//! The counters are always maintained. A run that stops at the end of every interval and reads them needs no record per
//! packet.

use optcp_units::{Duration, Time};

use super::observed::Watched;

/// Counters of each port or fibre at each boundary that the run has passed.
#[derive(Clone, Debug)]
pub(super) struct Readings<C> {
    /// Start of the first interval and end of each interval, in order.
    boundaries: Vec<Time>,
    /// Counters of each row at each boundary.
    read: Vec<Vec<C>>,
}

impl<C> Readings<C> {
    /// Creates readings without values.
    pub(super) fn new(watched: &Watched<'_>) -> Self {
        let stop = watched.blueprint.stop;
        let boundaries = boundaries(watched.after, watched.interval, stop);
        Readings { boundaries, read: Vec::new() }
    }

    /// Returns the next time at which counters are to be read, if any is left.
    pub(super) fn next(&self) -> Option<Time> {
        self.boundaries.get(self.read.len()).copied()
    }

    /// Adds the counters of each row at that time.
    pub(super) fn add(&mut self, counts: Vec<C>) {
        self.read.push(counts);
    }

    /// Returns one value per row and interval, row by row. `value` receives the row, the interval length, and the
    /// counters before and after the interval.
    pub(super) fn rows<T>(&self, value: impl Fn(usize, Duration, &C, &C) -> T) -> Vec<T> {
        let mut values = Vec::new();
        for place in 0..self.read.first().map_or(0, Vec::len) {
            for (times, read) in self.boundaries.windows(2).zip(self.read.windows(2)) {
                let length = times[1].saturating_since(times[0]);
                values.push(value(place, length, &read[0][place], &read[1][place]));
            }
        }
        values
    }

    /// Returns the increase of a counter in each interval.
    pub(super) fn growth(&self, count: impl Fn(&C) -> u64) -> Vec<u64> {
        self.rows(|_, _, before, after| count(after) - count(before))
    }
}

/// Returns the start of the first interval and the end of each; the run's end shortens the last one.
fn boundaries(after: Duration, interval: Duration, stop: Time) -> Vec<Time> {
    let mut boundaries = vec![Time::ZERO + after];
    while let Some(&last) = boundaries.last().filter(|&&last| last < stop) {
        boundaries.push((last + interval).min(stop));
    }
    boundaries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn intervals_follow_warm_up_and_end_with_run() {
        let cut = |after, interval, stop| {
            boundaries(Duration::from_secs(after), Duration::from_secs(interval), s(stop))
        };
        // 540 s in twenty parts of 27 s.
        assert_eq!(cut(60, 27, 600).len(), 21);
        assert_eq!(cut(60, 27, 600)[20], s(600));
        assert_eq!(cut(1, 4, 10), [s(1), s(5), s(9), s(10)]);
    }
}
