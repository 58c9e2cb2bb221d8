//! Colours that meters give to packets.

/// Colour of a packet. Packets that no meter has coloured are green.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Colour {
    /// The packet conforms.
    Green = 0,
    /// The packet exceeds the committed rate, but not the peak rate.
    Yellow = 1,
    /// The packet exceeds the rate of a policer, or the peak rate.
    Red = 2,
}

impl Colour {
    /// Returns the colour with a number.
    pub(crate) const fn from_number(number: u32) -> Self {
        match number {
            0 => Colour::Green,
            1 => Colour::Yellow,
            _ => Colour::Red,
        }
    }
}
