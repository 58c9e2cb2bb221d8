//! What drives the parts without a scenario: single-flow cases that other stacks have run too
//! ([`conformance`]), scripts that test real ones ([`packetdrill`]), and the dumbbell that `optcp bench`
//! measures ([`workload`]).

pub mod conformance;
pub mod packetdrill;
pub mod workload;
