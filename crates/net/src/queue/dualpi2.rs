//! Dual-queue coupled AQM for low latency, low loss and scalable throughput (L4S).

use optcp_units::{Bytes, Duration, Time};

use super::fifo::Fifo;
use super::parameters::parameters;
use super::{Fate, Fates, Link, OnDeparture};
use crate::{DropReason, Packet, QueueLimit};

/// DualPI2: marks packets of scalable senders early in a short queue, and drops or marks others
/// less often. Both kinds of flows get similar rates.
///
/// # Model
/// - Packets with ECT(1) or CE enter the L queue, others the C queue.
/// - Every `update`, the base probability p' changes by `alpha` times the deviation of the delay from `target`, plus
///   `beta` times the increase of the delay. The delay is the maximum over both queues: the C queue's, unless the L
///   queue is overloaded.
/// - A packet of the C queue is marked with probability p'^2, or dropped if it is not ECN-capable.
/// - A packet of the L queue is marked with the maximum of `coupling` times p' and a ramp. The ramp rises with the
///   packet's delay, from `min_delay` to `min_delay` plus `range`.
/// - If `coupling` times p' is at least one, packets of both queues are dropped with probability p'^2.
/// - Both queues are served by bytes; the C queue has the share `classic_share` if both have packets.
///
/// # References
/// RFC 9332, appendix A: parameters (A.1), the dequeue loop with its recurrence instead of random
/// numbers, the control law, and overload (A.2). The weighted round robin follows Linux's
/// `dualpi2`. RFC 9332 section 4.2.2 requires one with a small weight for the C queue, or a
/// time-shifted order.
///
/// # Limitations
/// - The limit applies to both queues together and counts the packet in transmission.
/// - Updates are due at multiples of `update` from the start of the run and are computed at the next arrival or
///   departure. Their inputs do not change in between.
/// - Linux uses random numbers instead of the recurrence, and a step instead of the ramp. It never drops with less than
///   two packets queued. Its gains are 0.16 and 3.2 Hz with an update of 16 ms.
#[derive(Clone, Debug)]
pub struct Dualpi2 {
    parameters: Dualpi2Parameters,
    limit: QueueLimit,
    low: CountedQueue,
    classic: CountedQueue,
    /// Bytes by which the C queue is ahead of its share; below zero it is served next.
    credit: f64,
    base: f64,
    delay: Duration,
    /// Time of the next update.
    due: Time,
}

/// Queue with its recurrence instead of random numbers.
#[derive(Clone, Debug, Default)]
struct CountedQueue {
    waiting: Fifo,
    count: f64,
}

parameters! {
    /// Parameters of [`Dualpi2`].
    pub struct Dualpi2Parameters {
        /// Target queueing delay of the C queue.
        target: Duration = Duration::from_ms(15), "RFC 9332 appendix A.1";
        /// Time between updates.
        update: Duration = Duration::from_ms(15), "RFC 9332 appendix A.1, Tupdate: the lesser of target and a third of 100 ms";
        /// Gain of the deviation from the target, in 1/s.
        alpha: f64 = 0.15, "RFC 9332 appendix A.1: 0.1 Tupdate / RTT_max^2, with 100 ms";
        /// Gain of the increase of the delay, in 1/s.
        beta: f64 = 3.0, "RFC 9332 appendix A.1: 0.3 / RTT_max";
        /// Ratio of the marking probability in the L queue to the base probability.
        coupling: f64 = 2.0, "RFC 9332 appendix A.1, k";
        /// Delay from which packets of the L queue may be marked.
        min_delay: Duration = Duration::from_us(800), "RFC 9332 appendix A.1, minTh";
        /// Delay beyond `min_delay` at which all are marked.
        range: Duration = Duration::from_us(400), "RFC 9332 appendix A.1";
        /// Number of packets in the L queue up to which its ramp marks none.
        min_packets: u32 = 1, "RFC 9332 appendix A.1, Th_len";
        /// Share of the C queue when both queues have packets.
        classic_share: f64 = 0.1, "Linux, dualpi2: classic_protection of 10 %";
        /// Maximum packet size, by which the scheduler may be ahead.
        mtu: Bytes = Bytes::new(1500), "the MTU of the link";
    }
    wrong |it| {
        "target" if it.target == Duration::ZERO => "above zero";
        "update" if it.update < Duration::from_us(1) => "at least a microsecond";
        "alpha" if !(it.alpha >= 0.0 && it.alpha <= 1e6) => "from 0 to a million";
        "beta" if !(it.beta >= 0.0 && it.beta <= 1e6) => "from 0 to a million";
        "coupling" if !(it.coupling > 0.0 && it.coupling <= 1e6) => "above 0, at most a million";
        "classic_share" if !(it.classic_share > 0.0 && it.classic_share < 1.0) => "above 0, below 1";
    }
}

impl OnDeparture for Dualpi2 {
    type Parameters = Dualpi2Parameters;

    fn new(parameters: &Dualpi2Parameters, link: &Link) -> Self {
        Dualpi2 {
            limit: link.limit,
            low: CountedQueue::default(),
            classic: CountedQueue::default(),
            credit: parameters.first_credit(),
            base: 0.0,
            delay: Duration::ZERO,
            due: Time::ZERO + parameters.update,
            parameters: parameters.clone(),
        }
    }

    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        sending: Option<Packet>,
        _: &mut Fates,
    ) -> Result<(), DropReason> {
        self.catch_up(now);
        let packets = self.len() + usize::from(sending.is_some());
        let bytes = self.bytes() + sending.map_or(0, |sending| u64::from(sending.size()));
        if !self.limit.has_room(packets, bytes, packet.size()) {
            return Err(DropReason::QueueFull);
        }
        let queue = if is_low(packet) { &mut self.low } else { &mut self.classic };
        queue.waiting.push(now, packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Option<(Packet, Time)> {
        self.catch_up(now);
        loop {
            let low = self.schedules_low()?;
            let (packet, since) =
                if low { self.low.waiting.pop()? } else { self.classic.waiting.pop()? };
            self.charge(low, packet.size());
            let overload = self.parameters.coupling * self.base >= 1.0;
            let squared = self.base * self.base;
            let marks = if low {
                if overload && self.low.recurs(squared) {
                    fates.push((packet, Fate::Dropped(DropReason::AqmForced)));
                    continue;
                }
                let native = self.ramp(now.saturating_since(since));
                let coupled = (self.parameters.coupling * self.base).min(1.0);
                self.low.recurs(native.max(coupled))
            } else if self.classic.recurs(squared) {
                if overload || !packet.marking().takes_marks() {
                    let reason = if overload { DropReason::AqmForced } else { DropReason::Aqm };
                    fates.push((packet, Fate::Dropped(reason)));
                    continue;
                }
                true
            } else {
                false
            };
            let marked = if marks { packet.saying(packet.marking().with_ce()) } else { packet };
            if marked != packet {
                fates.push((marked, Fate::Marked));
            }
            return Some((marked, since));
        }
    }

    fn len(&self) -> usize {
        self.low.waiting.len() + self.classic.waiting.len()
    }

    fn bytes(&self) -> u64 {
        self.low.waiting.bytes() + self.classic.waiting.bytes()
    }

    fn list(&self, packets: &mut Vec<Packet>) {
        packets.extend(self.low.waiting.iter().chain(self.classic.waiting.iter()));
    }
}

impl Dualpi2Parameters {
    /// Returns the credit of an empty C queue.
    fn first_credit(&self) -> f64 {
        self.mtu.count() as f64 * (1.0 - 2.0 * self.classic_share)
    }
}

impl Dualpi2 {
    /// Executes the updates until `now`; nothing arrived or left in between.
    fn catch_up(&mut self, now: Time) {
        while self.due <= now {
            let delay = self.classic.waiting.age(self.due).max(self.low.waiting.age(self.due));
            self.update(delay);
            self.due = self.due + self.parameters.update;
            // At rest nothing changes. At probability 1, with a delay above the target, only the age of the oldest
            // packet changes.
            let at_rest = self.base == 0.0 && self.delay == Duration::ZERO && self.len() == 0;
            let at_most = self.base >= 1.0 && self.delay > self.parameters.target;
            if (at_rest || at_most) && self.due <= now {
                let behind =
                    now.saturating_since(self.due).as_ps() / self.parameters.update.as_ps();
                self.due = self.due + self.parameters.update * behind;
            }
        }
    }

    /// Updates the base probability (RFC 9332, appendix A.2, `dualpi2_update`).
    fn update(&mut self, delay: Duration) {
        let Dualpi2Parameters { target, alpha, beta, .. } = self.parameters;
        let [now, before, target] = [delay, self.delay, target].map(Duration::as_secs_f64);
        let base = self.base + alpha * (now - target) + beta * (now - before);
        self.base = base.clamp(0.0, 1.0);
        self.delay = delay;
    }

    /// Returns the L queue's own marking probability for a packet with this delay.
    fn ramp(&self, waited: Duration) -> f64 {
        let Dualpi2Parameters { min_delay, range, min_packets, .. } = self.parameters;
        if self.low.waiting.len() < min_packets as usize || waited <= min_delay {
            return 0.0;
        }
        let beyond = waited - min_delay;
        if beyond >= range { 1.0 } else { beyond.as_secs_f64() / range.as_secs_f64() }
    }

    /// Returns whether the L queue is served next; `None` if both queues are empty.
    fn schedules_low(&self) -> Option<bool> {
        match (self.low.waiting.is_empty(), self.classic.waiting.is_empty()) {
            (true, true) => None,
            (true, false) => Some(false),
            (false, true) => Some(true),
            (false, false) => Some(self.credit > 0.0),
        }
    }

    /// Charges a served packet to the share of its queue if both queues have packets.
    fn charge(&mut self, low: bool, size: u16) {
        let share = self.parameters.classic_share;
        if self.low.waiting.is_empty() && self.classic.waiting.is_empty() {
            self.credit = self.parameters.first_credit();
        } else if low && !self.classic.waiting.is_empty() {
            self.credit -= share * f64::from(size);
        } else if !low && !self.low.waiting.is_empty() {
            self.credit += (1.0 - share) * f64::from(size);
        }
    }
}

impl CountedQueue {
    /// Returns whether an event of this likelihood occurs (RFC 9332, appendix A.1, `recur`).
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let happens = self.count > 1.0;
        if happens {
            self.count -= 1.0;
        }
        happens
    }
}

/// Returns whether the packet belongs to the L queue (RFC 9331 section 5.1: ECT(1) and CE).
fn is_low(packet: Packet) -> bool {
    packet.marking().bits() & 1 == 1
}

#[cfg(test)]
mod tests {
    use optcp_des::Streams;
    use optcp_units::{Codepoint, Marking};

    use super::*;
    use crate::queue::tests::{choose_one, link, packet};

    fn queue() -> Dualpi2 {
        Dualpi2::new(&Dualpi2Parameters::default(), &link(QueueLimit::Unlimited))
    }

    fn packet_of(codepoint: Codepoint) -> Packet {
        packet(0, 1500).saying(Marking::new(codepoint, 0))
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    /// Computed by hand: 20 ms after 10 ms change p' by 0.15 * 0.005 + 3 * 0.01 = 0.030 75.
    #[test]
    fn base_probability_follows_control_law() {
        let mut queue = queue();
        (queue.base, queue.delay) = (0.1, ms(10));
        queue.update(ms(20));
        assert!((queue.base - 0.130_75).abs() < 1e-12);
    }

    /// At p' = 0.1, of 1000 packets each, 10 of the C queue are dropped (p'^2) and 200 of the L queue marked (k p').
    #[test]
    fn classic_probability_is_square_of_base() {
        let mut found = Vec::new();
        for codepoint in [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1] {
            let (mut queue, mut fates) = (queue(), Fates::new());
            queue.base = 0.1;
            for _ in 0..1000 {
                queue.enqueue(Time::ZERO, packet_of(codepoint), None, &mut fates).unwrap();
            }
            while queue.dequeue(Time::ZERO, &mut fates).is_some() {}
            let marked = fates.iter().filter(|(_, fate)| *fate == Fate::Marked).count();
            found.push((marked, fates.len() - marked));
        }
        assert!((9..=10).contains(&found[0].1) && found[0].0 == 0, "{found:?}");
        assert!((9..=10).contains(&found[1].0) && found[1].1 == 0, "{found:?}");
        assert!((199..=200).contains(&found[2].0) && found[2].1 == 0, "{found:?}");
    }

    /// Ramp of appendix A.1: 0 up to 800 us, half at 1 ms, 1 from 1.2 ms; 0 for the last packet.
    #[test]
    fn low_latency_queue_marks_by_ramp() {
        let (mut queue, mut fates) = (queue(), Fates::new());
        assert_eq!(queue.ramp(ms(5)).to_bits(), 0);
        (0..2).for_each(|_| {
            queue.enqueue(Time::ZERO, packet_of(Codepoint::Ect1), None, &mut fates).unwrap()
        });
        for (us, expected) in [(800, 0.0), (1000, 0.5), (1200, 1.0), (5000, 1.0)] {
            assert!((queue.ramp(Duration::from_us(us)) - expected).abs() < 1e-12, "{us}");
        }
    }

    /// The C queue gets one byte in ten while both queues have packets.
    #[test]
    fn classic_queue_gets_configured_share() {
        let (mut queue, mut fates) = (queue(), Fates::new());
        for _ in 0..1000 {
            queue.enqueue(Time::ZERO, packet_of(Codepoint::Ect1), None, &mut fates).unwrap();
            queue.enqueue(Time::ZERO, packet_of(Codepoint::NotEct), None, &mut fates).unwrap();
        }
        let sent: Vec<bool> =
            (0..1000).map(|_| is_low(queue.dequeue(Time::ZERO, &mut fates).unwrap().0)).collect();
        let classic = sent.iter().filter(|low| !**low).count();
        assert!((99..=101).contains(&classic) && sent[0], "{classic}");
    }

    /// Appendix A.2: from k p' = 1, one packet in four is dropped from both queues, and all others of the L queue are
    /// marked.
    #[test]
    fn overload_drops_from_both_queues() {
        for codepoint in [Codepoint::Ect0, Codepoint::Ect1] {
            let (mut queue, mut fates) = (queue(), Fates::new());
            queue.base = 0.5;
            for _ in 0..1000 {
                queue.enqueue(Time::ZERO, packet_of(codepoint), None, &mut fates).unwrap();
            }
            while queue.dequeue(Time::ZERO, &mut fates).is_some() {}
            let forced = Fate::Dropped(DropReason::AqmForced);
            let dropped = fates.iter().filter(|(_, fate)| *fate == forced).count();
            assert!((249..=250).contains(&dropped), "{dropped}");
        }
    }

    /// The oldest packet arrived at 10 ms. The update at 15 ms finds a delay of 5 ms, the update at
    /// 30 ms one of 20 ms. Appendix A.2 uses the maximum delay of both queues; otherwise an
    /// overload of the L queue alone would have no effect.
    #[test]
    fn missed_updates_are_computed_at_next_arrival() {
        for codepoint in [Codepoint::NotEct, Codepoint::Ect1] {
            let (mut one, mut fates) = (queue(), Fates::new());
            one.base = 0.5;
            one.enqueue(Time::ZERO + ms(10), packet_of(codepoint), None, &mut fates).unwrap();
            one.catch_up(Time::ZERO + ms(31));
            let mut other = queue();
            other.base = 0.5;
            [5, 20].into_iter().for_each(|delay| other.update(ms(delay)));
            assert_eq!((one.base, one.delay), (other.base, other.delay), "{codepoint:?}");
        }
    }

    /// ECT(1) packets at 1.2 times the link rate for 6 s into 10 Mb/s. Linux's DualPI2 drops 987 to 990 packets
    /// (`queue_linux.json`, `dualpi2 l4s 1.2`), because the link carries 5000. Without drops the queue would grow to
    /// 1000 packets.
    #[test]
    fn overload_by_scalable_senders_causes_drops() {
        let (mut queue, mut fates) = (queue(), Fates::new());
        let (mut free, mut longest) = (Time::ZERO, 0);
        for number in 0..6000 {
            let now = Time::ZERO + ms(number);
            while free <= now && queue.dequeue(free, &mut fates).is_some() {
                free = free + Duration::from_us(1200);
            }
            free = free.max(now);
            queue.enqueue(now, packet_of(Codepoint::Ect1), None, &mut fates).unwrap();
            longest = longest.max(queue.len());
        }
        let dropped = fates.iter().filter(|(_, fate)| *fate != Fate::Marked).count();
        assert!((950..=1050).contains(&dropped) && longest < 150, "{dropped} {longest}");
    }

    /// Skipped updates do not change the state, with and without a queued packet and from any probability.
    #[test]
    fn skipped_updates_do_not_change_state() {
        let stream = &mut Streams::new(1).stream("skipped");
        for _ in 0..1000 {
            let [alpha, beta] = [(); 2].map(|()| choose_one(stream, &[0.0, 0.15, 3.0, 100.0]));
            let [target, update] = [(); 2].map(|()| ms(1 + stream.below(20)));
            let parameters =
                Dualpi2Parameters { alpha, beta, target, update, ..Dualpi2Parameters::default() };
            let mut one = Dualpi2::new(&parameters, &link(QueueLimit::Unlimited));
            if choose_one(stream, &[true, false]) {
                one.enqueue(Time::ZERO, packet_of(Codepoint::NotEct), None, &mut Fates::new())
                    .unwrap();
            }
            one.base = choose_one(stream, &[0.0, 1.0, 0.3]);
            let most = choose_one(stream, &[1, 30]);
            one.delay = ms(stream.below(most));
            let (mut other, now) = (one.clone(), Time::ZERO + ms(stream.below(3000)));
            one.catch_up(now);
            while other.due <= now {
                other.update(other.classic.waiting.age(other.due));
                other.due = other.due + parameters.update;
            }
            assert_eq!((one.base, one.delay, one.due), (other.base, other.delay, other.due));
        }
    }
}
