//! How large packets are.

mod exponential;

use optcp_des::Stream;
use optcp_units::registry;

pub use exponential::ExponentialSize;

registry! {
    /// How sizes are distributed.
    pub enum SizesKind ("sizes") {
        "exponential" => Exponential: "small ones are common; of packets in whole bytes between bounds", "exponential distribution";
        "pareto" => Pareto: "of flows: few carry most of the data", "Pareto distribution with an upper bound";
        "web-like" => WebLike: "of flows: lognormal up to 133 kB, and a Pareto tail", "Barford and Crovella 1998 (SURGE)";
    }
}

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
