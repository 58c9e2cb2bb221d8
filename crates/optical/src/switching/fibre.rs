//! One direction of a fibre: its wavelengths and their reservations.

use std::collections::VecDeque;

use optcp_units::{Bytes, Duration, Rate, Time};

use super::Scheduling;
use super::outages::Outages;

/// Wavelength with its reservations in order of time. They do not overlap, but one may begin when another ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    reserved: VecDeque<[Time; 2]>,
    /// End of the last reservation that has been removed.
    past: Time,
}

impl Channel {
    /// Returns the time after which nothing is reserved.
    #[must_use]
    pub fn horizon(&self) -> Time {
        self.reserved.back().map_or(self.past, |&[_, end]| end)
    }

    /// Returns the end of the last reservation before `start`, if nothing is reserved from there to `end`.
    #[must_use]
    pub fn void_around(&self, start: Time, end: Time) -> Option<Time> {
        let behind = self.behind(start);
        let before = behind.checked_sub(1).map_or(self.past, |last| self.reserved[last][1]);
        let free = self.reserved.get(behind).is_none_or(|&[next, _]| next >= end);
        (free && before <= start).then_some(before)
    }

    /// Returns the index of the first reservation that ends after `start`.
    fn behind(&self, start: Time) -> usize {
        self.reserved.partition_point(|&[_, end]| end <= start)
    }

    fn reserve(&mut self, start: Time, end: Time) {
        self.reserved.insert(self.behind(start), [start, end]);
    }

    fn remove_past(&mut self, now: Time) {
        while let Some(&[_, end]) = self.reserved.front().filter(|&&[_, end]| end <= now) {
            self.past = end;
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
    channels: Vec<Channel>,
    /// Counters; `busy_ps` includes the future part of reservations.
    counts: FibreTally,
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

    /// Counts a burst and reserves a wavelength for it. This is `kept` if given, otherwise the wavelength with the
    /// shortest gap before the burst; ties select the lowest number.
    pub(super) fn reserve(
        &mut self,
        scheduling: Scheduling,
        kept: Option<u32>,
        start: Time,
        end: Time,
        bytes: u64,
    ) -> Option<u32> {
        self.counts.bursts += 1;
        self.counts.bytes += bytes;
        let mut best: Option<(Time, u32)> = None;
        for (number, channel) in (0..).zip(&self.channels) {
            if kept.is_some_and(|kept| kept != number) {
                continue;
            }
            if let Some(since) = scheduling.unused_since(channel, start, end)
                && best.is_none_or(|(latest, _)| since > latest)
            {
                best = Some((since, number));
            }
        }
        let Some((_, number)) = best else {
            self.counts.lost += 1;
            self.counts.lost_bytes += bytes;
            return None;
        };
        self.channels[number as usize].reserve(start, end);
        self.counts.busy_ps += u128::from(end.saturating_since(start).as_ps());
        Some(number)
    }

    /// Returns the counters until `now`.
    pub(super) fn tally(&self, now: Time) -> FibreTally {
        let to_come = |&[start, end]: &[Time; 2]| end.saturating_since(start.max(now)).as_ps();
        let reserved = self.channels.iter().flat_map(|channel| &channel.reserved);
        let to_come: u128 = reserved.map(|reservation| u128::from(to_come(reservation))).sum();
        FibreTally { busy_ps: self.counts.busy_ps - to_come, ..self.counts }
    }
}
