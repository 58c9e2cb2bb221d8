//! Preemption: bursts of a higher class take wavelengths of lower classes.
//!
//! # Model
//! A burst that finds no free wavelength looks again as if reservations of lower classes did not exist. If a wavelength is
//! then free by [`Scheduling`], the burst reserves it. Reservations of lower classes that overlap with the burst end at its
//! first bit, or are removed if they begin later. Of several wavelengths, the burst takes the one whose overlapped bursts
//! have the lowest highest class. Ties select the fewest overlapped bursts, then the lowest number.
//!
//! A preempted burst is lost as a whole. Its bits ahead of the preempting burst pass in vain. Its other reservations
//! remain, and its control packet continues: the switch has no means to overtake it. The loss is counted when the burst
//! would have arrived.
//!
//! # References
//! A. Kaheel, H. Alnuweiri, "A strict priority scheme for quality-of-service provisioning in optical burst switching
//! networks", IEEE ISCC 2003. Reservations of lower classes are dropped if no wavelength is free.
//!
//! # Limitations
//! - A preempted burst is not segmented, and the core does not retransmit it.
//! - The order among wavelengths is OpTCP's; the paper's choice was not available.
//! - Bursts of one class never preempt each other.

use optcp_units::{Duration, Time};

use super::fibre::{Channel, Fibre, Reservation};
use super::{BurstId, Scheduling};

impl Channel {
    /// Returns the channel as if reservations of classes below `class` did not exist.
    fn without_lower(&self, class: u8) -> Channel {
        let higher = self.reserved.iter().filter(|one| one.burst.class >= class);
        Channel { reserved: higher.copied().collect(), past: self.past }
    }

    /// Returns the classes of the bursts that overlap with a time.
    fn overlapped(&self, start: Time, end: Time) -> impl Iterator<Item = u8> {
        let later = self.reserved.iter().skip(self.behind(start));
        later.take_while(move |one| one.start < end).map(|one| one.burst.class)
    }

    /// Ends all reservations that overlap with a time at its start. Adds their bursts to `preempted`, and returns the
    /// reserved time that becomes free.
    fn cut(&mut self, start: Time, end: Time, preempted: &mut Vec<BurstId>) -> Duration {
        let mut freed = Duration::ZERO;
        loop {
            let place = self.behind(start);
            let next = self.reserved.get_mut(place);
            let Some(one) = next.filter(|one| one.start < end) else { return freed };
            preempted.push(one.burst);
            freed += one.end.saturating_since(one.start.max(start));
            if one.start < start {
                one.end = start;
            } else {
                self.reserved.remove(place);
            }
        }
    }
}

impl Fibre {
    /// Frees a wavelength for a burst at the expense of lower classes, if there is one. Adds their bursts to `preempted`.
    pub(super) fn preempt(
        &mut self,
        scheduling: Scheduling,
        kept: Option<u32>,
        wanted: Reservation,
        preempted: &mut Vec<BurstId>,
    ) -> Option<u32> {
        let Reservation { start, end, burst } = wanted;
        let fits = |channel: &Channel| {
            scheduling.unused_since(&channel.without_lower(burst.class), start, end).is_some()
        };
        let candidates = (0..)
            .zip(&self.channels)
            .filter(|&(number, channel)| kept.is_none_or(|kept| kept == number) && fits(channel));
        let number = candidates
            .map(|(number, channel)| {
                let highest = channel.overlapped(start, end).max();
                (highest, channel.overlapped(start, end).count(), number)
            })
            .min()?
            .2;
        let freed = self.channels[number as usize].cut(start, end, preempted);
        self.counts.busy_ps -= u128::from(freed.as_ps());
        Some(number)
    }
}
