//! One direction of a fibre: its wavelengths and what is reserved on them.

use std::collections::VecDeque;

use optcp_units::{Duration, Rate, Time};

use super::Scheduling;

/// A wavelength: what is reserved on it, in order of time. Reservations do not overlap; one may begin at the
/// instant at which another ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    reserved: VecDeque<[Time; 2]>,
    /// The end of the last reservation that is over and forgotten.
    past: Time,
}

impl Channel {
    /// From when on nothing is reserved.
    #[must_use]
    pub fn horizon(&self) -> Time {
        self.reserved.back().map_or(self.past, |&[_, end]| end)
    }

    /// The end of the last reservation before `start`, if nothing is reserved from there to `end`.
    #[must_use]
    pub fn void_around(&self, start: Time, end: Time) -> Option<Time> {
        let behind = self.behind(start);
        let before = behind.checked_sub(1).map_or(self.past, |last| self.reserved[last][1]);
        let free = self.reserved.get(behind).is_none_or(|&[next, _]| next >= end);
        (free && before <= start).then_some(before)
    }

    /// The place of the first reservation that ends after `start`.
    fn behind(&self, start: Time) -> usize {
        self.reserved.partition_point(|&[_, end]| end <= start)
    }

    fn reserve(&mut self, start: Time, end: Time) {
        self.reserved.insert(self.behind(start), [start, end]);
    }

    fn forget(&mut self, now: Time) {
        while let Some(&[_, end]) = self.reserved.front().filter(|&&[_, end]| end <= now) {
            self.past = end;
            self.reserved.pop_front();
        }
    }
}

/// What has happened on a fibre up to an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FibreTally {
    /// Bursts that asked for a wavelength.
    pub bursts: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bursts that got none.
    pub lost: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// For how many picoseconds wavelengths have been reserved, added up over all of them.
    pub busy_ps: u128,
}

/// One direction of a fibre in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fibre {
    /// Of each wavelength.
    rate: Rate,
    delay: Duration,
    channels: Vec<Channel>,
    /// `busy_ps` counts whole reservations here, also what of them is still to come.
    counts: FibreTally,
}

impl Fibre {
    /// A fibre with so many wavelengths of `rate` each, and a propagation delay.
    #[must_use]
    pub fn new(wavelengths: u32, rate: Rate, delay: Duration) -> Self {
        let channels = (0..wavelengths).map(|_| Channel::default()).collect();
        Fibre { rate, delay, channels, counts: FibreTally::default() }
    }

    /// The rate of a wavelength.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The propagation delay.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// How many wavelengths it has.
    pub(super) fn wavelengths(&self) -> u32 {
        u32::try_from(self.channels.len()).unwrap_or(u32::MAX)
    }

    /// Forgets what is over: nobody asks for the past.
    pub(super) fn forget(&mut self, now: Time) {
        self.channels.iter_mut().for_each(|channel| channel.forget(now));
    }

    /// Reserves a wavelength for a burst, and counts it: that which is `kept`, or else the one that is
    /// unused for the shortest time before the burst, of several the one with the lowest number.
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

    /// What has been counted up to `now`.
    pub(super) fn tally(&self, now: Time) -> FibreTally {
        let to_come = |&[start, end]: &[Time; 2]| end.saturating_since(start.max(now)).as_ps();
        let reserved = self.channels.iter().flat_map(|channel| &channel.reserved);
        let to_come: u128 = reserved.map(|one| u128::from(to_come(one))).sum();
        FibreTally { busy_ps: self.counts.busy_ps - to_come, ..self.counts }
    }
}
