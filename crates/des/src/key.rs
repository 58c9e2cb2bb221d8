//! Order of events.

use optcp_units::Time;

/// Class of an event. At the same time, lower classes come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// Control action, such as a failure or a switchover. Control actions are stored in their own list and never enter
    /// the event queue.
    Control = 0,
    /// End of a transmission. It precedes timers and arrivals, so the freed place in the queue is available to a packet
    /// that arrives at the same time.
    TransmissionEnd = 1,
    /// Timer or start of an endpoint. It precedes arrivals, so a timeout fires even if the ACK arrives at the same
    /// time.
    Timer = 2,
    /// Arrival of a packet at the end of a link.
    Arrival = 3,
}

/// Position of an event in the total order: (time, class, entity, ordinal within the entity).
///
/// The ordinal distinguishes events of one entity at the same time, such as two packets that leave a link together
/// after a delay reduction. It counts operations of the entity and is therefore independent of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

const ENTITY_BITS: u32 = 30;

#[expect(clippy::cast_possible_truncation, reason = "fields are extracted from the key")]
impl Key {
    /// Key before all events.
    pub const START: Key = Key::new(Time::ZERO, Class::Control, 0, 0);

    /// Creates the key of an event of `entity` (less than 2^30) at `time`.
    #[inline]
    #[must_use]
    pub const fn new(time: Time, class: Class, entity: u32, ordinal: u32) -> Self {
        debug_assert!(entity < 1 << ENTITY_BITS);
        let low = ((class as u64) << (ENTITY_BITS + 32)) | ((entity as u64) << 32) | ordinal as u64;
        Key(((time.as_ps() as u128) << 64) | low as u128)
    }

    /// Returns the time.
    #[inline]
    #[must_use]
    pub const fn time(self) -> Time {
        Time::from_ps((self.0 >> 64) as u64)
    }

    /// Returns the class.
    #[inline]
    #[must_use]
    pub const fn class(self) -> Class {
        match (self.0 as u64) >> (ENTITY_BITS + 32) {
            0 => Class::Control,
            1 => Class::TransmissionEnd,
            2 => Class::Timer,
            _ => Class::Arrival,
        }
    }

    /// Returns the entity: a port, flow or link, depending on the class.
    #[inline]
    #[must_use]
    pub const fn entity(self) -> u32 {
        ((self.0 as u64) >> 32) as u32 & ((1 << ENTITY_BITS) - 1)
    }

    /// Returns the ordinal within the entity.
    #[inline]
    #[must_use]
    pub const fn ordinal(self) -> u32 {
        self.0 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_returns_its_fields() {
        let key = Key::new(Time::from_ps(u64::MAX - 1), Class::Arrival, (1 << 30) - 1, u32::MAX);
        assert_eq!(key.time(), Time::from_ps(u64::MAX - 1));
        assert_eq!(key.class(), Class::Arrival);
        assert_eq!(key.entity(), (1 << 30) - 1);
        assert_eq!(key.ordinal(), u32::MAX);
    }

    #[test]
    fn keys_are_ordered_by_time_class_entity_ordinal() {
        let at = |ps, class, entity, ordinal| Key::new(Time::from_ps(ps), class, entity, ordinal);
        let ordered = [
            at(4, Class::Arrival, 9, 9),
            at(5, Class::TransmissionEnd, 7, 0),
            at(5, Class::Timer, 0, 1),
            at(5, Class::Timer, 3, 0),
            at(5, Class::Arrival, 2, 8),
            at(5, Class::Arrival, 2, 9),
            at(5, Class::Arrival, 3, 0),
        ];
        assert!(ordered.is_sorted());
    }
}
