//! Controlled delay.

use optcp_units::{Bytes, Duration, Time};

use super::fifo::Fifo;
use super::parameters::parameters;
use super::{Fate, Fates, Link, OnDeparture};
use crate::{DropReason, Packet, QueueLimit};

/// Drops or marks the packet that would be sent next, the more often the longer packets have waited too long.
///
/// # Models
/// Of each packet that leaves it is known how long it has waited. Once none has waited less than `target` for an
/// `interval`, the one that leaves is dropped, and the next ones at distances of `interval` over the square root of how
/// many have been dropped, until one has waited less, or no more than a packet is left.
/// # Source
/// RFC 8289, sections 4 and 5: the pseudocode, with what it does on entering again soon (`count - lastcount`).
/// # Parameters
/// Those of [`CodelParameters`], and the limit, which counts the packet in transmission.
/// # Limits
/// Distances are whole picoseconds, rounded down: the square root is one of integers, of interval^2 / count. Linux has an
/// approximation of the reciprocal root instead (a Newton step for each drop, 16 bits), and so have simulators that
/// follow it: the distance at a count of two is half an interval there, not 0.71 of it, later ones differ less. What would
/// be dropped and can be marked is marked and sent, as in Linux: RFC 8289 does not say.
#[derive(Clone, Debug)]
pub struct Codel {
    parameters: CodelParameters,
    limit: QueueLimit,
    waiting: Fifo,
    law: Law,
}

parameters! {
    /// What [`Codel`] is told.
    pub struct CodelParameters {
        /// How long packets may wait.
        target: Duration = Duration::from_ms(5), "RFC 8289 section 4.3";
        /// For how long they must have waited longer before any is dropped: about the greatest round trip.
        interval: Duration = Duration::from_ms(100), "RFC 8289 section 4.2";
        /// With no more than this left none is dropped: the largest packet.
        mtu: Bytes = Bytes::new(1500), "RFC 8289 section 5.2: the MTU of the link";
        /// Whether packets that take marks are marked where they would be dropped.
        ecn: bool = false, "Linux, codel";
        /// Packets that take marks are marked if they have waited longer than this.
        ce_threshold: Option<Duration> = None, "Linux, codel: off";
    }
    wrong |it| {
        "interval" if it.interval == Duration::ZERO => "above zero";
        "target" if it.target == Duration::ZERO => "above zero";
    }
}

/// What [`Codel`] remembers of a queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Law {
    /// When packets will have waited too long for an interval, if they go on.
    first_above: Option<Time>,
    dropping: bool,
    /// When the next packet is dropped.
    drop_next: Time,
    /// Packets dropped since the dropping began, and how many that was last time.
    count: u64,
    last_count: u64,
}

impl Law {
    /// The packet that is sent next of a queue.
    pub(super) fn dequeue(
        &mut self,
        now: Time,
        parameters: &CodelParameters,
        waiting: &mut Fifo,
        fates: &mut Fates,
    ) -> Option<(Packet, Time)> {
        let (mut packet, mut ok_to_drop, mut since) = self.look(now, parameters, waiting)?;
        let interval = parameters.interval;
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if let Some(marked) = marks(parameters.ecn, packet, fates) {
                    packet = marked;
                    self.drop_next = next_drop(self.drop_next, interval, self.count);
                    break;
                }
                fates.push((packet, Fate::Dropped(DropReason::Aqm)));
                (packet, ok_to_drop, since) = match self.look(now, parameters, waiting) {
                    Some(next) => next,
                    None => {
                        self.dropping = false;
                        return None;
                    }
                };
                if ok_to_drop {
                    self.drop_next = next_drop(self.drop_next, interval, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            self.dropping = true;
            // Where it was dropping a short while ago it goes on at about the rate that held the queue down.
            let since_last = self.count - self.last_count;
            let recent = now.saturating_since(self.drop_next) < interval * 16;
            self.count = if since_last > 1 && recent { since_last } else { 1 };
            self.drop_next = next_drop(now, interval, self.count);
            self.last_count = self.count;
            match marks(parameters.ecn, packet, fates) {
                Some(marked) => packet = marked,
                None => {
                    fates.push((packet, Fate::Dropped(DropReason::Aqm)));
                    (packet, _, since) = self.look(now, parameters, waiting)?;
                }
            }
        }
        let late = parameters.ce_threshold.is_some_and(|most| now.saturating_since(since) > most);
        if late && !packet.marking().is_ce() {
            packet = marks(true, packet, fates).unwrap_or(packet);
        }
        Some((packet, since))
    }

    /// The oldest packet, whether it may be dropped, and when it came (`dodequeue` of RFC 8289).
    fn look(
        &mut self,
        now: Time,
        parameters: &CodelParameters,
        waiting: &mut Fifo,
    ) -> Option<(Packet, bool, Time)> {
        let Some((packet, since)) = waiting.pop() else {
            self.first_above = None;
            return None;
        };
        let short = now.saturating_since(since) < parameters.target
            || waiting.bytes() <= parameters.mtu.count();
        let ok_to_drop = match self.first_above {
            _ if short => {
                self.first_above = None;
                false
            }
            None => {
                self.first_above = Some(now + parameters.interval);
                false
            }
            Some(at) => now >= at,
        };
        Some((packet, ok_to_drop, since))
    }
}

/// The packet with a mark, if it can be marked.
fn marks(ecn: bool, packet: Packet, fates: &mut Fates) -> Option<Packet> {
    if !ecn || !packet.marking().takes_marks() {
        return None;
    }
    let marked = packet.saying(packet.marking().with_ce());
    if marked != packet {
        fates.push((marked, Fate::Marked));
    }
    Some(marked)
}

/// `control_law` of RFC 8289.
fn next_drop(at: Time, interval: Duration, count: u64) -> Time {
    let interval = u128::from(interval.as_ps());
    let distance = (interval * interval / u128::from(count.max(1))).isqrt();
    at + Duration::from_ps(u64::try_from(distance).unwrap_or(u64::MAX))
}

impl OnDeparture for Codel {
    type Parameters = CodelParameters;

    fn new(parameters: &CodelParameters, link: &Link) -> Self {
        Codel {
            parameters: parameters.clone(),
            limit: link.limit,
            waiting: Fifo::default(),
            law: Law::default(),
        }
    }

    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        sending: Option<Packet>,
        _: &mut Fates,
    ) -> Result<(), DropReason> {
        self.waiting.admit(now, packet, sending, self.limit)
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<(Packet, Time)> {
        self.law.dequeue(now, &self.parameters, &mut self.waiting, fates)
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }

    fn list(&self, packets: &mut Vec<Packet>) {
        packets.extend(self.waiting.iter());
    }
}

#[cfg(test)]
mod tests {
    use optcp_units::{Codepoint, Marking};

    use super::*;
    use crate::queue::tests::{link, packet};

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// RFC 8289 section 3.3: the distance after n drops is the interval over the root of n; 100 ms / sqrt(2) is
    /// 70.710 678 118 6 ms.
    #[test]
    fn distances_shrink_with_the_root_of_the_count() {
        let interval = Duration::from_ms(100);
        for (count, ps) in
            [(1, 100_000_000_000), (2, 70_710_678_118), (4, 50_000_000_000), (100, 10_000_000_000)]
        {
            assert_eq!(next_drop(ms(1), interval, count), ms(1) + Duration::from_ps(ps), "{count}");
        }
    }

    /// A packet comes and leaves each millisecond, and always waits 20 ms: the times at which it drops.
    fn drops(packet: Packet, from: u64, until: u64, codel: &mut Codel) -> Vec<(u64, Fate)> {
        let (mut fates, mut at) = (Fates::new(), Vec::new());
        for now in from..until {
            assert_eq!(codel.enqueue(ms(now), packet, None, &mut fates), Ok(()));
            // What a drop takes comes again, so that the queue stays as long.
            while now >= 20 && codel.waiting.age(ms(now)) >= Duration::from_ms(20) {
                codel.dequeue(ms(now), &mut fates);
            }
            at.extend(fates.drain(..).map(|(_, fate)| (now, fate)));
        }
        at
    }

    /// Worked by hand: the wait is above 5 ms from the first packet that leaves, at 20 ms; after 100 ms more the first is
    /// dropped, then after 100, 70.7, 57.7, 50 ms.
    #[test]
    fn drops_come_at_the_distances_of_the_law() {
        let mut codel = Codel::new(&CodelParameters::default(), &link(QueueLimit::Unlimited));
        let found: Vec<u64> =
            drops(packet(0, 1000), 0, 420, &mut codel).into_iter().map(|(at, _)| at).collect();
        // At 120, 220, 290.7, 348.4 and 398.4 ms, where a packet leaves each millisecond.
        assert_eq!(found, [120, 220, 291, 349, 399]);
    }

    #[test]
    fn what_takes_marks_is_marked_at_the_same_instants() {
        let parameters = CodelParameters { ecn: true, ..CodelParameters::default() };
        let mut codel = Codel::new(&parameters, &link(QueueLimit::Unlimited));
        let ect = packet(0, 1000).saying(Marking::new(Codepoint::Ect0, 0));
        let found = drops(ect, 0, 300, &mut codel);
        assert_eq!(found, [120, 220, 291].map(|at| (at, Fate::Marked)));
    }

    /// One packet of at most the MTU may wait for as long as it takes.
    #[test]
    fn the_last_packet_is_not_dropped() {
        let mut codel = Codel::new(&CodelParameters::default(), &link(QueueLimit::Unlimited));
        let mut fates = Fates::new();
        for round in 0..20 {
            codel.enqueue(ms(50 * round), packet(0, 1000), None, &mut fates).unwrap();
            assert!(codel.dequeue(ms(50 * round + 40), &mut fates).is_some());
        }
        assert_eq!(fates, []);
    }
}
