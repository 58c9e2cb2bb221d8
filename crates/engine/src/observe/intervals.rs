//! Sums per interval.

use optcp_units::{Duration, Time};

use super::observed::Watched;

/// Table with a row per group or port and a column per interval (i T, (i + 1) T].
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    /// Row by entity; `None` if it is not observed.
    rows: Vec<Option<u32>>,
    height: usize,
    interval_ps: u64,
    intervals: usize,
    stop: Time,
}

impl Intervals {
    /// Creates a table of `height` rows with intervals of `interval` until `stop`.
    ///
    /// `rows[entity]` is the row of an entity (a flow or a port), or `None`. Rows without entities are allowed.
    pub(super) fn new(
        rows: Vec<Option<u32>>,
        height: usize,
        interval: Duration,
        stop: Time,
    ) -> Self {
        let interval_ps = interval.as_ps();
        let intervals = usize::try_from(stop.as_ps().div_ceil(interval_ps)).unwrap_or(usize::MAX);
        Intervals { rows, height, interval_ps, intervals, stop }
    }

    /// Creates a table with a row for each chosen group.
    pub(super) fn of_groups(watched: &Watched<'_>) -> Self {
        let (rows, height) = (watched.rows_of_flows(), watched.groups.len());
        Intervals::new(rows, height, watched.interval, watched.blueprint.stop)
    }

    /// Creates a table with a row for each chosen port.
    pub(super) fn of_ports(watched: &Watched<'_>) -> Self {
        let (rows, height) = (watched.rows_of_ports(), watched.ports.len());
        Intervals::new(rows, height, watched.interval, watched.blueprint.stop)
    }

    /// Returns a vector with one value per place, row by row.
    pub(super) fn filled<T: Clone>(&self, value: T) -> Vec<T> {
        vec![value; self.height * self.intervals]
    }

    /// Adds `amount` to the interval that contains `at`, in the row of an entity if it has one.
    pub(super) fn add(&self, sums: &mut [u64], at: Time, entity: u32, amount: u64) {
        if let Some(row) = self.row(entity) {
            let place = self.place(row, at);
            // Sums of delays can exceed 64 bits.
            sums[place] = sums[place].saturating_add(amount);
        }
    }

    /// Calls `each` with the place of every interval that overlaps a period, and the length of the overlap.
    pub(super) fn spread(
        &self,
        row: u32,
        (mut from, to): (Time, Time),
        mut each: impl FnMut(usize, Duration),
    ) {
        while from < to {
            // Intervals are closed at their end, so the time just after `from` belongs to the next one.
            let place = self.place(row, Time::from_ps(from.as_ps() + 1));
            let index = (place - row as usize * self.intervals) as u64;
            let end = Time::from_ps((index + 1) * self.interval_ps).min(to);
            each(place, end - from);
            from = end;
        }
    }

    /// Returns the row of an entity.
    pub(super) fn row(&self, entity: u32) -> Option<u32> {
        self.rows.get(entity as usize).copied().flatten()
    }

    /// Returns the number of rows.
    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// Returns the number of entities.
    pub(super) fn entities(&self) -> usize {
        self.rows.len()
    }

    /// Returns the place of a row's interval that contains `at`. Only starts happen at time zero; they belong to the
    /// first interval.
    #[expect(clippy::cast_possible_truncation, reason = "an index below `intervals`, a usize")]
    pub(super) fn place(&self, row: u32, at: Time) -> usize {
        row as usize * self.intervals + (at.as_ps().saturating_sub(1) / self.interval_ps) as usize
    }

    /// Returns the interval lengths of a row in picoseconds: T, except for a last interval that the stop shortens.
    pub(super) fn lengths_ps(&self) -> impl Iterator<Item = u64> + Clone {
        let (stop, interval) = (self.stop.as_ps(), self.interval_ps);
        (0..self.intervals as u64).map(move |i| interval.min(stop - i * interval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_is_open_at_start_and_closed_at_end() {
        let ms = |m: u64| Time::ZERO + Duration::from_ms(m);
        let table = Intervals::new(vec![Some(1), None, Some(0)], 3, Duration::from_ms(10), ms(25));
        let mut sums = table.filled(0);
        for (at, entity, amount) in [
            (ms(10), 0, 1),
            (Time::from_ps(ms(10).as_ps() + 1), 0, 2),
            (ms(25), 2, 4),
            (ms(5), 1, 8),
        ] {
            table.add(&mut sums, at, entity, amount);
        }
        // The last row has no entity.
        assert_eq!(sums, [0, 0, 4, 1, 2, 0, 0, 0, 0]);
    }
}
