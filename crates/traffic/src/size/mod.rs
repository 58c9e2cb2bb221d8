//! Packet size distributions.

mod exponential;

use optcp_des::Stream;
use optcp_units::registry;

pub use exponential::ExponentialSize;

registry! {
    /// Size distribution.
    pub enum SizesKind ("sizes") {
        "exponential" => Exponential: "packet sizes in whole bytes between bounds; small ones are common", "exponential distribution";
        "pareto" => Pareto: "flow sizes: few flows carry most of the data", "Pareto distribution with an upper bound";
        "web-like" => WebLike: "flow sizes: lognormal up to 133 kB, and a Pareto tail", "Barford and Crovella 1998 (SURGE)";
        "web-search" => WebSearch: "measured flow sizes: half above 73 kB, up to 30 MB", "Alizadeh et al. 2010 (DCTCP)";
        "data-mining" => DataMining: "measured flow sizes: half below 1.1 kB, up to 1 GB", "Greenberg et al. 2009 (VL2)";
        "hadoop" => Hadoop: "measured flow sizes: half below 700 B, up to 10 MB", "Roy et al. 2015 (Facebook)";
        "points" => Points: "flow sizes from a table: sizes, each with the percentage of flows that are not larger", "the inverse of an empirical distribution function";
    }
}

/// Headers of a datagram, UDP (RFC 768) and IPv4 (RFC 791), in bytes.
pub const DATAGRAM_HEADERS: u16 = 28;

/// Packet sizes on the wire, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PacketSize {
    /// Constant size.
    Fixed(u16),
    /// Sizes by [`ExponentialSize`].
    Exponential(ExponentialSize),
}

impl PacketSize {
    /// Returns the size of the next packet.
    pub fn draw(&self, stream: &mut Stream) -> u16 {
        match self {
            PacketSize::Fixed(size) => *size,
            PacketSize::Exponential(sizes) => sizes.draw(stream),
        }
    }
}
