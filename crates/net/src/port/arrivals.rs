//! Arrivals at a port: losses, token buckets and the queue.

use optcp_units::Time;

use super::{Admission, Port};
use crate::bucket::{self, BucketPlace};
use crate::queue::Fate;
use crate::transmission::{NEVER_SENT, transmission_time};
use crate::{DropReason, Packet};

impl Port {
    /// Returns an arriving packet as it enters the port.
    #[inline]
    #[must_use]
    pub fn enters(&self, packet: Packet) -> Packet {
        if self.sets_ece { packet.with_ece() } else { packet }
    }

    /// Handles an arriving packet that [`enters`](Self::enters) has processed.
    pub fn admit(&mut self, now: Time, packet: Packet) -> Admission {
        match self.losses.iter_mut().find_map(|loss| loss.take(packet)) {
            Some(lost) => self.refuse(packet, lost),
            None => {
                match bucket::meter(&mut self.config.buckets, BucketPlace::Ingress, now, packet) {
                    Some(metered) => self.admit_metered(now, packet, metered),
                    None => self.refuse(packet, DropReason::Policed),
                }
            }
        }
    }

    fn refuse(&mut self, packet: Packet, reason: DropReason) -> Admission {
        self.tally.lose(packet.size());
        Admission::Dropped(reason)
    }

    /// Returns the number of duplicates that follow an accepted packet.
    pub fn copies(&mut self, packet: Packet) -> usize {
        self.losses.iter_mut().map(|loss| usize::from(loss.duplicates(packet))).sum()
    }

    /// Handles a duplicate, which losses and buckets before the queue do not affect.
    pub fn admit_copy(&mut self, now: Time, packet: Packet) -> Admission {
        self.admit_metered(now, packet, packet)
    }

    /// Handles a packet that becomes `metered` before the queue.
    fn admit_metered(&mut self, now: Time, packet: Packet, metered: Packet) -> Admission {
        let refused = match &mut self.failed_queue {
            Some(failed_queue) => {
                let size = packet.size();
                let transmission = transmission_time(self.config.rate, size);
                failed_queue.take(now, size, transmission, self.config.limit);
                Err(DropReason::LinkDown)
            }
            None => {
                self.update_tally(now);
                let until = self.busy_until;
                if metered.marking() != packet.marking() {
                    self.fates.push((metered, Fate::Marked));
                }
                let refused =
                    self.queue.enqueue(now, until, metered, self.sending, &mut self.fates);
                if refused.is_err() {
                    self.fates.clear();
                }
                refused
            }
        };
        if let Err(reason) = refused {
            return self.refuse(packet, reason);
        }
        let size = self.accepted(packet).size();
        self.tally.accept(size);
        if !self.is_estimated() {
            let transmission = transmission_time(self.config.rate, size);
            self.busy_until = (self.busy_until.max(now) + transmission).min(NEVER_SENT);
        }
        self.count_fates(0);
        if self.is_estimated() {
            self.busy_until = self.end_without_hold(now);
        }
        let wait = match self.busy_until {
            NEVER_SENT => u64::MAX,
            until => (until - now).as_ps(),
        };
        self.tally.longest = self.tally.longest.max(wait);
        match self.sending {
            Some(_) => Admission::Queued,
            None => self.send_next(now).map_or(Admission::Queued, Admission::Sending),
        }
    }

    /// Counts the fates from index `from` on.
    pub(super) fn count_fates(&mut self, from: usize) {
        for &(packet, fate) in &self.fates[from..] {
            match fate {
                Fate::Marked => self.tally.marked += 1,
                Fate::Trimmed => {}
                Fate::Dropped(_) => {
                    self.tally.lose(packet.size());
                    // A queue that is never sent stays so; an estimate is recomputed.
                    if self.busy_until < NEVER_SENT && !self.is_estimated() {
                        let transmission = transmission_time(self.config.rate, packet.size());
                        let until = self.busy_until.as_ps() - transmission.as_ps();
                        self.busy_until = Time::from_ps(until);
                    }
                }
            }
        }
    }

    /// Returns whether [`fates`](Self::fates) has any.
    #[inline]
    #[must_use]
    pub fn has_fates(&self) -> bool {
        !self.fates.is_empty()
    }

    /// Returns a packet that was just accepted as the queue keeps it, before the next call of [`fates`](Self::fates).
    #[inline]
    #[must_use]
    pub fn accepted(&self, packet: Packet) -> Packet {
        let trimmed = self.fates.iter().any(|&(_, fate)| fate == Fate::Trimmed);
        if trimmed { packet.trimmed() } else { packet }
    }

    /// Removes and returns the packets that the discipline has marked, trimmed, or dropped after acceptance, since the
    /// last call.
    #[inline]
    pub fn fates(&mut self) -> impl Iterator<Item = (Packet, Fate)> {
        self.fates.drain(..)
    }

    /// Counts a packet that another sender than the queue has lost.
    pub fn drop_burst(&mut self, packet: Packet) {
        self.tally.lose(packet.size());
    }
}
