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
        "web-search" => WebSearch: "of flows, as measured: half above 73 kB, up to 30 MB", "Alizadeh et al. 2010 (DCTCP)";
        "data-mining" => DataMining: "of flows, as measured: half below 1.1 kB, up to 1 GB", "Greenberg et al. 2009 (VL2)";
        "hadoop" => Hadoop: "of flows, as measured: half below 700 B, up to 10 MB", "Roy et al. 2015 (Facebook)";
        "points" => Points: "of flows: a table of sizes, each with the per cent of flows that are not larger", "the inverse of an empirical distribution function";
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
