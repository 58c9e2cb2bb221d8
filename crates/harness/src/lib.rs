//! Simulations without a scenario file: single-flow cases with results of other stacks ([`conformance`]),
//! scripts for testing TCP stacks ([`packetdrill`]), and the dumbbell that `optcp bench` measures
//! ([`workload`]).

pub mod conformance;
pub mod packetdrill;
pub mod workload;
