//! Fate of packets that bridges have copied, independent of the fate of each copy.
//!
//! # Model
//! - A packet is delivered if at least one copy arrives at its endpoint. All other copies are discarded copies.
//! - A packet is lost if no copy arrives and none is left in flight. The loss is attributed to the earliest drop
//!   outside a selector, or to a selector if all copies end at selectors. Of several drops by one event, the first
//!   reason in [`DropReason`] counts.
//! - A duplicate that a link makes of a copy is another copy.
//!
//! Each packet has an entry from its first bridge until its last copy ends. Engines process these ends in different
//! orders; the result does not depend on the order.

use optcp_des::Key;
use optcp_net::DropReason;

/// Packet with copies in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    /// Original options field of the packet.
    pub(crate) options: u32,
    /// Resequencer that puts the copies in order, and number of the packet there.
    pub(crate) sequence: Option<(u32, u64)>,
    /// Number of copies in flight.
    left: u32,
    has_arrived: bool,
    loss: Option<Loss>,
}

/// Cause of a packet loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) event: Key,
    pub(crate) reason: DropReason,
}

impl Copied {
    /// Creates an entry with one copy in flight.
    pub(crate) fn new(options: u32) -> Self {
        Copied { options, sequence: None, left: 1, has_arrived: false, loss: None }
    }

    /// Adds a copy.
    pub(crate) fn add(&mut self) {
        self.left += 1;
    }

    /// Records the arrival of a copy at the endpoint. Returns whether it is the first one.
    pub(crate) fn arrive(&mut self) -> bool {
        self.left -= 1;
        !std::mem::replace(&mut self.has_arrived, true)
    }

    /// Records the drop of a copy. Returns the cause of loss if the packet is now lost.
    pub(crate) fn lose(&mut self, loss: Loss) -> Option<Loss> {
        self.left -= 1;
        let first = self.loss.map_or(loss, |known| known.min_by_rank(loss));
        self.loss = Some(first);
        (self.is_over() && !self.has_arrived).then_some(first)
    }

    /// Returns whether no copy is left in flight.
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }
}

impl Loss {
    fn min_by_rank(self, other: Loss) -> Loss {
        let rank = |loss: &Loss| (loss.reason == DropReason::NotSelected, loss.event, loss.reason);
        if rank(&other) < rank(&self) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use optcp_des::Class;
    use optcp_units::Time;

    use super::*;

    fn loss(at_ps: u64, reason: DropReason) -> Loss {
        Loss { event: Key::new(Time::from_ps(at_ps), Class::Arrival, 0, 0), reason }
    }

    fn copied(copies: u32) -> Copied {
        let mut packet = Copied::new(7);
        (1..copies).for_each(|_| packet.add());
        packet
    }

    #[test]
    fn packet_is_lost_once_by_its_earliest_drop_outside_selectors_in_any_order() {
        let losses = [
            loss(1, DropReason::NotSelected),
            loss(2, DropReason::LinkDown),
            loss(3, DropReason::QueueFull),
        ];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut packet = copied(3);
            let found = order.map(|place| packet.lose(losses[place]));
            assert_eq!(found, [None, None, Some(losses[1])], "{order:?}");
            assert!(packet.is_over());
        }
    }

    #[test]
    fn drops_by_one_event_count_in_order_of_reasons() {
        for order in [[0, 1], [1, 0]] {
            let both = [loss(5, DropReason::QueueFlushed), loss(5, DropReason::LostInFlight)];
            let mut packet = copied(2);
            let found = order.map(|place| packet.lose(both[place]));
            assert_eq!(found, [None, Some(both[0])], "{order:?}");
        }
    }

    #[test]
    fn packet_of_which_all_copies_end_at_selectors_is_lost_there() {
        let mut packet = copied(2);
        assert_eq!(packet.lose(loss(4, DropReason::NotSelected)), None);
        let first = loss(3, DropReason::NotSelected);
        assert_eq!(packet.lose(first), Some(first));
    }

    #[test]
    fn packet_is_not_lost_if_one_copy_arrives_before_or_after_the_drop() {
        let mut packet = copied(3);
        assert_eq!(packet.lose(loss(1, DropReason::LinkDown)), None);
        assert!(packet.arrive(), "the first one");
        assert!(!packet.is_over());
        assert_eq!(packet.lose(loss(2, DropReason::LinkDown)), None);
        assert!(packet.is_over());
        let mut packet = copied(2);
        assert!(packet.arrive());
        assert!(!packet.arrive(), "the second one");
    }
}
