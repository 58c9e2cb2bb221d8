//! Physical quantities as integer newtypes: time in picoseconds, data in bytes, rates in bits a second.
//!
//! All rounding of the simulator happens here. A picosecond is fine enough that the transmission time of a
//! 1500-byte packet at 10 Gb/s (1 200 000 ps) and at every slower common rate is exact.

mod bytes;
mod rate;
mod time;

pub use bytes::Bytes;
pub use rate::Rate;
pub use time::{Duration, Time};
