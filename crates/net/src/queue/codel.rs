//! Controlled delay (CoDel).

use optcp_units::{Bytes, Duration, Time};

use super::fifo::Fifo;
use super::parameters::parameters;
use super::{Fate, Fates, Link, OnDeparture};
use crate::{DropReason, Packet, QueueLimit};

/// CoDel: drops or marks departing packets, at an increasing rate while the queueing delay stays too high.
///
/// # Model
/// The queueing delay of each departing packet is measured. After no delay below `target` for an `interval`, the
/// departing packet is dropped. Further drops follow at distances of `interval` divided by the square root of the
/// number of drops. Dropping ends with a delay below `target`, or when at most `mtu` bytes are left.
///
/// # References
/// RFC 8289, sections 4 and 5: the pseudocode, including fast re-entry (`count - lastcount`).
///
/// # Limitations
/// - The limit counts the packet in transmission.
/// - Distances are rounded down to picoseconds: integer square root of interval^2 / count. Linux, and simulators that
///   follow it, approximate the reciprocal root (one Newton step per drop, 16 bits). Their distance at count 2 is 0.5
///   intervals instead of 0.71; later ones differ less.
/// - Packets that can be marked are marked and sent instead of dropped, as in Linux; RFC 8289 does not specify this.
#[derive(Clone, Debug)]
pub struct Codel {
    parameters: CodelParameters,
    limit: QueueLimit,
    waiting: Fifo,
    law: Law,
}

parameters! {
    /// Parameters of [`Codel`].
    pub struct CodelParameters {
        /// Acceptable queueing delay.
        target: Duration = Duration::from_ms(5), "RFC 8289 section 4.3";
        /// Time for which the delay must exceed `target` before the first drop; about the maximum RTT.
        interval: Duration = Duration::from_ms(100), "RFC 8289 section 4.2";
        /// Queue length in bytes up to which no packet is dropped; the maximum packet size.
        mtu: Bytes = Bytes::new(1500), "RFC 8289 section 5.2: the MTU of the link";
        /// Whether ECN-capable packets are marked instead of dropped.
        ecn: bool = false, "Linux, codel";
        /// Queueing delay above which ECN-capable packets are marked.
        ce_threshold: Option<Duration> = None, "Linux, codel: off";
    }
    wrong |it| {
        "interval" if it.interval == Duration::ZERO => "above zero";
        "target" if it.target == Duration::ZERO => "above zero";
    }
}

/// Control law of CoDel for one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Law {
    /// Time at which the delay will have exceeded `target` for an interval.
    first_above: Option<Time>,
    dropping: bool,
    /// Time of the next drop.
    drop_next: Time,
    /// Packets dropped since dropping began, and the same count at the previous beginning.
    count: u64,
    last_count: u64,
}

impl Law {
    /// Removes and returns the next packet to send, with its arrival time.
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
            // After a recent dropping phase, dropping resumes near the rate that controlled the queue.
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

    /// Removes the oldest packet. Returns it, whether it may be dropped, and its arrival time (`dodequeue` of RFC
    /// 8289).
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

/// Returns the packet with a CE mark if it can be marked.
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

/// Returns the time of the next drop (`control_law` of RFC 8289).
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

    /// RFC 8289 section 3.3: the distance after n drops is the interval divided by the square root
    /// of n. 100 ms / sqrt(2) is 70.710 678 118 6 ms.
    #[test]
    fn drop_distance_decreases_with_root_of_count() {
        let interval = Duration::from_ms(100);
        for (count, ps) in
            [(1, 100_000_000_000), (2, 70_710_678_118), (4, 50_000_000_000), (100, 10_000_000_000)]
        {
            assert_eq!(next_drop(ms(1), interval, count), ms(1) + Duration::from_ps(ps), "{count}");
        }
    }

    /// Returns the drops of a queue in which one packet arrives and leaves per millisecond after a delay of 20 ms.
    fn drops(packet: Packet, from: u64, until: u64, codel: &mut Codel) -> Vec<(u64, Fate)> {
        let (mut fates, mut at) = (Fates::new(), Vec::new());
        for now in from..until {
            assert_eq!(codel.enqueue(ms(now), packet, None, &mut fates), Ok(()));
            // Each dropped packet is replaced, which keeps the queue length constant.
            while now >= 20 && codel.waiting.age(ms(now)) >= Duration::from_ms(20) {
                codel.dequeue(ms(now), &mut fates);
            }
            at.extend(fates.drain(..).map(|(_, fate)| (now, fate)));
        }
        at
    }

    /// Computed by hand: the delay exceeds 5 ms from the first departure at 20 ms. The first drop follows 100 ms later,
    /// then drops after 100, 70.7, 57.7 and 50 ms.
    #[test]
    fn drops_follow_control_law() {
        let mut codel = Codel::new(&CodelParameters::default(), &link(QueueLimit::Unlimited));
        let found: Vec<u64> =
            drops(packet(0, 1000), 0, 420, &mut codel).into_iter().map(|(at, _)| at).collect();
        // Drops at 120, 220, 290.7, 348.4 and 398.4 ms, rounded up to the next departure.
        assert_eq!(found, [120, 220, 291, 349, 399]);
    }

    #[test]
    fn ecn_packets_are_marked_at_drop_times() {
        let parameters = CodelParameters { ecn: true, ..CodelParameters::default() };
        let mut codel = Codel::new(&parameters, &link(QueueLimit::Unlimited));
        let ect = packet(0, 1000).saying(Marking::new(Codepoint::Ect0, 0));
        let found = drops(ect, 0, 300, &mut codel);
        assert_eq!(found, [120, 220, 291].map(|at| (at, Fate::Marked)));
    }

    /// A single packet of at most the MTU may wait indefinitely.
    #[test]
    fn last_packet_is_never_dropped() {
        let mut codel = Codel::new(&CodelParameters::default(), &link(QueueLimit::Unlimited));
        let mut fates = Fates::new();
        for round in 0..20 {
            codel.enqueue(ms(50 * round), packet(0, 1000), None, &mut fates).unwrap();
            assert!(codel.dequeue(ms(50 * round + 40), &mut fates).is_some());
        }
        assert_eq!(fates, []);
    }
}
