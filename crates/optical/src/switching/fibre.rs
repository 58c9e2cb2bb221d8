//! One direction of a fibre: its wavelengths and their reservations.

use std::collections::VecDeque;

use optcp_units::{Bytes, Duration, Rate, Time};

use super::outages::Outages;
use super::{BurstId, Scheduling};

/// Reservation of a wavelength.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reservation {
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) burst: BurstId,
}

/// Wavelength with its reservations in order of time. They do not overlap, but one may begin when another ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    pub(super) reserved: VecDeque<Reservation>,
    /// End of the last reservation that has been removed.
    pub(super) past: Time,
}

impl Channel {
    /// Returns the time after which nothing is reserved.
    #[must_use]
    pub fn horizon(&self) -> Time {
        self.reserved.back().map_or(self.past, |last| last.end)
    }

    /// Returns the end of the last reservation before `start`, if nothing is reserved from there to `end`.
    #[must_use]
    pub fn void_around(&self, start: Time, end: Time) -> Option<Time> {
        let behind = self.behind(start);
        let before = behind.checked_sub(1).map_or(self.past, |last| self.reserved[last].end);
        let free = self.reserved.get(behind).is_none_or(|next| next.start >= end);
        (free && before <= start).then_some(before)
    }

    /// Returns the index of the first reservation that ends after `start`.
    pub(super) fn behind(&self, start: Time) -> usize {
        self.reserved.partition_point(|one| one.end <= start)
    }

    fn reserve(&mut self, wanted: Reservation) {
        self.reserved.insert(self.behind(wanted.start), wanted);
    }

    fn remove_past(&mut self, now: Time) {
        while let Some(first) = self.reserved.front().filter(|first| first.end <= now) {
            self.past = first.end;
            self.reserved.pop_front();
        }
    }
}

/// Counters of a fibre until a given time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FibreTally {
    /// Bursts that requested a wavelength.
    pub bursts: u64,
    /// Bytes of these bursts.
    pub bytes: u64,
    /// Bursts that got no wavelength.
    pub lost: u64,
    /// Bytes of these bursts.
    pub lost_bytes: u64,
    /// Reserved time summed over all wavelengths, in picoseconds.
    pub busy_ps: u128,
}

/// State of one direction of a fibre in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fibre {
    /// Rate of each wavelength.
    rate: Rate,
    delay: Duration,
    pub(super) channels: Vec<Channel>,
    /// Counters; `busy_ps` includes the future part of reservations.
    pub(super) counts: FibreTally,
    pub(super) outages: Outages,
}

impl Fibre {
    /// Creates a fibre.
    #[must_use]
    pub fn new(wavelengths: u32, rate: Rate, delay: Duration) -> Self {
        let channels = (0..wavelengths).map(|_| Channel::default()).collect();
        let (counts, outages) = (FibreTally::default(), Outages::default());
        Fibre { rate, delay, channels, counts, outages }
    }

    /// Returns the transmission time of a burst.
    pub(super) fn transmission_time(&self, bytes: u64) -> Duration {
        self.rate.transmission_time(Bytes::new(bytes))
    }

    /// Returns the propagation delay.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns the number of wavelengths.
    pub(super) fn wavelengths(&self) -> u32 {
        u32::try_from(self.channels.len()).unwrap_or(u32::MAX)
    }

    /// Removes reservations that have ended.
    pub(super) fn remove_past(&mut self, now: Time) {
        self.channels.iter_mut().for_each(|channel| channel.remove_past(now));
    }

    /// Counts a request for a wavelength.
    pub(super) fn count(&mut self, bytes: u64) {
        self.counts.bursts += 1;
        self.counts.bytes += bytes;
    }

    /// Counts a burst that got no wavelength.
    pub(super) fn count_lost(&mut self, bytes: u64) {
        self.counts.lost += 1;
        self.counts.lost_bytes += bytes;
    }

    /// Returns the free wavelength for a burst. This is `kept` if given, otherwise the wavelength with the shortest gap
    /// before the burst; ties select the lowest number.
    pub(super) fn free(
        &self,
        scheduling: Scheduling,
        kept: Option<u32>,
        wanted: Reservation,
    ) -> Option<u32> {
        let mut best: Option<(Time, u32)> = None;
        for (number, channel) in (0..).zip(&self.channels) {
            if kept.is_some_and(|kept| kept != number) {
                continue;
            }
            if let Some(since) = scheduling.unused_since(channel, wanted.start, wanted.end)
                && best.is_none_or(|(latest, _)| since > latest)
            {
                best = Some((since, number));
            }
        }
        best.map(|(_, number)| number)
    }

    /// Reserves a wavelength that is free.
    pub(super) fn reserve(&mut self, number: u32, wanted: Reservation) {
        self.channels[number as usize].reserve(wanted);
        self.counts.busy_ps += u128::from(wanted.end.saturating_since(wanted.start).as_ps());
    }

    /// Returns the counters until `now`.
    pub(super) fn tally(&self, now: Time) -> FibreTally {
        let to_come = |one: &Reservation| one.end.saturating_since(one.start.max(now)).as_ps();
        let reserved = self.channels.iter().flat_map(|channel| &channel.reserved);
        let to_come: u128 = reserved.map(|reservation| u128::from(to_come(reservation))).sum();
        FibreTally { busy_ps: self.counts.busy_ps - to_come, ..self.counts }
    }
}
