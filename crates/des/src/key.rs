//! The order of events.

use optcp_units::Time;

/// What kind of event it is: at one instant, lower classes come first.
///
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// An action of control, such as a failure or a switch. First of all; they are kept in a list of
    /// their own and never enter the calendar.
    Control = 0,
    /// A transmitter has sent the last bit of a packet. Before timers and arrivals, so that the freed place in the queue
    /// counts for a packet that arrives at the same instant.
    TransmissionEnd = 1,
    /// A timer or a start of an endpoint. Before arrivals, so that a timeout which is due when its
    /// ACK arrives still fires.
    Timer = 2,
    /// A packet comes out of a link.
    Arrival = 3,
}

/// Where an event stands in the order: (time, class, entity, ordinal within the entity).
///
/// The ordinal separates events of one entity at one instant, such as two packets that leave a pipe
/// together after its delay was shortened; it counts what the entity did, so it too is intrinsic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

const ENTITY_BITS: u32 = 30;

#[expect(clippy::cast_possible_truncation, reason = "fields are cut out of the key on purpose")]
impl Key {
    /// Before everything that happens.
    pub const START: Key = Key::new(Time::ZERO, Class::Control, 0, 0);

    /// The key of an event of `entity` (less than 2^30) at `time`.
    #[inline]
    #[must_use]
    pub const fn new(time: Time, class: Class, entity: u32, ordinal: u32) -> Self {
        debug_assert!(entity < 1 << ENTITY_BITS);
        let low = ((class as u64) << (ENTITY_BITS + 32)) | ((entity as u64) << 32) | ordinal as u64;
        Key(((time.as_ps() as u128) << 64) | low as u128)
    }

    /// When the event happens.
    #[inline]
    #[must_use]
    pub const fn time(self) -> Time {
        Time::from_ps((self.0 >> 64) as u64)
    }

    /// What kind of event it is.
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

    /// Whom it concerns: a port, a flow or a pipe, by its class.
    #[inline]
    #[must_use]
    pub const fn entity(self) -> u32 {
        ((self.0 as u64) >> 32) as u32 & ((1 << ENTITY_BITS) - 1)
    }

    /// The ordinal within the entity.
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
    fn a_key_gives_back_what_it_was_made_of() {
        let key = Key::new(Time::from_ps(u64::MAX - 1), Class::Arrival, (1 << 30) - 1, u32::MAX);
        assert_eq!(key.time(), Time::from_ps(u64::MAX - 1));
        assert_eq!(key.class(), Class::Arrival);
        assert_eq!(key.entity(), (1 << 30) - 1);
        assert_eq!(key.ordinal(), u32::MAX);
    }

    #[test]
    fn the_order_is_time_then_class_then_entity_then_ordinal() {
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
