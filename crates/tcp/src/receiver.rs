//! The receiving end of a connection.

use optcp_units::{Duration, Time};

use crate::config::{AckKind, Config};
use crate::core::Seq;

/// What the arrival of a segment brought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Segments that are in order now and were not before: what goodput counts.
    pub progress: u32,
    /// The ACK to send at once, if any: everything below it has arrived.
    pub ack: Option<Seq>,
}

/// The receiving end: reassembly and acknowledgment.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Everything below has arrived.
    next: Seq,
    /// Segments beyond a hole, as disjoint half-open ranges in ascending order.
    beyond: Vec<(Seq, Seq)>,
    /// How long an ACK may wait; `None` acknowledges every segment.
    delay: Option<Duration>,
    /// Whether segment 0 is acknowledged at once all the same.
    first_at_once: bool,
    /// Whether the ACK of a second copy of the newest segment may wait.
    delays_duplicates: bool,
    /// When the ACK that waits must be sent.
    deadline: Option<Time>,
}

impl Receiver {
    /// A receiver that has got nothing yet.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let delay = match config.ack {
            AckKind::EveryPacket => None,
            AckKind::Delayed => Some(config.ack_delay),
        };
        let first_at_once = config.first_ack_at_once || config.handshake;
        Receiver {
            next: 0,
            beyond: Vec::new(),
            delay,
            first_at_once,
            delays_duplicates: config.delays_duplicates,
            deadline: None,
        }
    }

    /// A segment has arrived.
    pub fn handle_segment(&mut self, now: Time, seq: Seq) -> Arrival {
        let before = self.next;
        let had_hole = !self.beyond.is_empty();
        if seq == self.next {
            self.next += 1;
            if let Some(&(start, end)) = self.beyond.first()
                && start == self.next
            {
                self.next = end;
                self.beyond.remove(0);
            }
        } else if seq > self.next {
            self.store(seq);
        }
        let progress = self.next - before;
        // RFC 5681 section 4.2: out of order, or filling a hole, is acknowledged at once.
        let newest_again =
            self.delays_duplicates && progress == 0 && seq + 1 == self.next && !had_hole;
        let in_order = (progress == 1 && !had_hole) || newest_again;
        let may_wait = in_order && !(self.first_at_once && seq == 0);
        let ack = match self.delay {
            Some(delay) if may_wait && self.deadline.is_none() => {
                self.deadline = Some(now + delay);
                None
            }
            _ => {
                self.deadline = None;
                Some(self.next)
            }
        };
        Arrival { progress, ack }
    }

    /// The time given by `deadline` has come: the ACK that waited.
    pub fn handle_timer(&mut self) -> Seq {
        self.deadline = None;
        self.next
    }

    /// When `handle_timer` is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Everything below this segment has arrived.
    #[must_use]
    pub fn next(&self) -> Seq {
        self.next
    }

    fn store(&mut self, seq: Seq) {
        // The first range that ends at or after `seq`: the only one that can hold or touch it from below.
        let i = self.beyond.partition_point(|&(_, end)| end < seq);
        match self.beyond.get_mut(i) {
            Some((start, end)) if *start <= seq => {
                if *end == seq {
                    *end += 1;
                    let joined = *end;
                    if self.beyond.get(i + 1).is_some_and(|&(next_start, _)| next_start == joined) {
                        let (_, next_end) = self.beyond.remove(i + 1);
                        self.beyond[i].1 = next_end;
                    }
                }
            }
            Some((start, _)) if *start == seq + 1 => *start = seq,
            _ => self.beyond.insert(i, (seq, seq + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn holes_are_filled_from_any_side() {
        let mut receiver = Receiver::new(&Profile::Rfc.config());
        let arrive = |r: &mut Receiver, seq| {
            let arrival = r.handle_segment(Time::ZERO, seq);
            (arrival.progress, arrival.ack)
        };
        assert_eq!(arrive(&mut receiver, 0), (1, Some(1)));
        assert_eq!(arrive(&mut receiver, 5), (0, Some(1)));
        assert_eq!(arrive(&mut receiver, 3), (0, Some(1)));
        assert_eq!(arrive(&mut receiver, 4), (0, Some(1)));
        assert_eq!(receiver.beyond, [(3, 6)]);
        assert_eq!(arrive(&mut receiver, 4), (0, Some(1)));
        assert_eq!(arrive(&mut receiver, 7), (0, Some(1)));
        assert_eq!(arrive(&mut receiver, 2), (0, Some(1)));
        assert_eq!(receiver.beyond, [(2, 6), (7, 8)]);
        assert_eq!(arrive(&mut receiver, 1), (5, Some(6)));
        assert_eq!(arrive(&mut receiver, 6), (2, Some(8)));
        assert_eq!(arrive(&mut receiver, 3), (0, Some(8)));
    }

    #[test]
    fn a_delayed_ack_waits_for_the_second_segment_or_its_timer() {
        let mut config = Profile::Rfc.config();
        config.ack = AckKind::Delayed;
        config.ack_delay = Duration::from_ms(100);
        let mut receiver = Receiver::new(&config);
        let ms = |m: u64| Time::from_ps(m * 1_000_000_000);
        assert_eq!(receiver.handle_segment(ms(1), 0).ack, None);
        assert_eq!(receiver.deadline(), Some(ms(101)));
        assert_eq!(receiver.handle_segment(ms(2), 1).ack, Some(2));
        assert_eq!(receiver.deadline(), None);
        assert_eq!(receiver.handle_segment(ms(3), 2).ack, None);
        assert_eq!(receiver.handle_timer(), 3);
        // Out of order and filling the hole: at once.
        assert_eq!(receiver.handle_segment(ms(4), 4).ack, Some(3));
        assert_eq!(receiver.handle_segment(ms(5), 3).ack, Some(5));
    }
}
