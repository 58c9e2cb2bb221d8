//! Simulations without a scenario file:
//! - [`conformance`]: single-flow cases with results of other stacks;
//! - [`packetdrill`]: scripts for testing TCP stacks;
//! - [`workload`]: the dumbbell that `optcp bench` measures.

pub mod conformance;
pub mod packetdrill;
pub mod workload;
