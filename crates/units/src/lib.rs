//! Physical quantities as integer newtypes: time in picoseconds, data in bytes, rates in bits per second.
//!
//! All rounding of the simulator happens here. In picoseconds, the transmission time of a 1500-byte packet is exact at
//! 10 Gb/s (1 200 000 ps) and at every slower common rate.

mod bytes;
mod decimal;
mod ecn;
mod foreign;
pub mod nearest;
mod quantity;
mod rate;
pub mod registry;
mod time;
mod unit;

pub use bytes::Bytes;
pub use decimal::Decimal;
pub use ecn::{Codepoint, Marking};
pub use quantity::{Quantity, QuantityError};
pub use rate::Rate;
pub use time::{Duration, Time};
pub use unit::{Dimension, UNITS, Unit};
