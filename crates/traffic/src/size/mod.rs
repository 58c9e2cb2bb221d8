//! How large packets are.

mod exponential;

use optcp_des::Stream;

pub use exponential::ExponentialSize;

/// Sizes on the wire, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketSize {
    /// All alike.
    Fixed(u16),
    /// See [`ExponentialSize`].
    Exponential(ExponentialSize),
}

impl PacketSize {
    /// The size of the next packet.
    pub fn draw(&self, stream: &mut Stream) -> u16 {
        match self {
            PacketSize::Fixed(size) => *size,
            PacketSize::Exponential(sizes) => sizes.draw(stream),
        }
    }
}
