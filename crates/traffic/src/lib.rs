//! What is sent when by sources other than a greedy TCP flow: arrival processes and sizes.
//!
//! Nothing here knows a packet or an engine. A process draws from a stream of its own and hands out
//! instants in whole picoseconds, one after the other; the whole state is plain data, so a run that
//! holds a process can be cloned at any instant.
//!
//! Logarithms, powers and the like come from one portable library (`libm`) and not from the machine's,
//! so that every machine draws the same.

pub mod hurst;
mod process;
mod rate;
mod size;
mod spectrum;
mod volume;
mod workload;

pub use process::{
    Constant, FractalRenewal, FractionalNoise, NoiseError, OnOff, Poisson, Process, ProcessKind,
    RenewalShape,
};
pub use rate::PacketRate;
pub use size::{ExponentialSize, PacketSize, SizesKind};
pub use volume::{BoundedPareto, Volume, WebLike};
pub use workload::Workload;

/// The families of names that are registered here, as `optcp list` has them.
pub const FAMILIES: &[optcp_units::registry::Family] = &[ProcessKind::FAMILY, SizesKind::FAMILY];
