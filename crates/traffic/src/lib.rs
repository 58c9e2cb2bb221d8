//! Traffic models other than long-lived TCP: arrival processes, sizes and applications.
//!
//! The crate is independent of packets and engines. A process draws from its own stream and returns arrival times in
//! picoseconds, one after another. Its state is plain data, so a run with a process can be cloned at any time.
//!
//! Logarithms, powers and similar functions come from one portable library (`libm`), so draws are equal on all
//! machines.

mod application;
pub mod hurst;
mod process;
mod rate;
mod size;
mod spectrum;
mod volume;
mod workload;

pub use application::{
    Application, ApplicationKind, Connection, Draws, Message, Operation, PageObject, Parties, Role,
    Script, Step,
};
pub use process::{
    Constant, FractalRenewal, FractionalNoise, NoiseError, OnOff, Poisson, Process, ProcessKind,
    RenewalShape,
};
pub use rate::PacketRate;
pub use size::{DATAGRAM_HEADERS, ExponentialSize, PacketSize, SizesKind};
pub use volume::{BoundedPareto, Volume, WebLike};
pub use workload::Workload;

/// Families of names registered in this crate, as printed by `optcp list`.
pub const FAMILIES: &[optcp_units::registry::Family] =
    &[ApplicationKind::FAMILY, ProcessKind::FAMILY, SizesKind::FAMILY];
