//! Sans-I/O TCP: a sender and a receiver as deterministic functions of what they are told.
//!
//! Nothing here knows a network, a kernel or a clock: the owner passes instants in, sends what
//! comes out, and asks when the next timer is due.

pub mod config;
pub mod profile;
pub mod registry;
