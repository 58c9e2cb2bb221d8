//! Real packets in a simulated network, in real time.
//!
//! # Behaviour
//! Packets that real hosts send through a TUN interface enter the network of a scenario, at the node of the interface.
//! They leave it at the interface of their destination when the simulation says so, or are lost. Each flow of the
//! scenario between two such nodes carries the packets of some connections, in both directions, instead of simulated
//! segments. Everything else in the scenario happens at its time: failures, schedules, other traffic in the same queues.
//!
//! # References
//! - Linux, `Documentation/networking/tuntap.rst`: a TUN interface carries IP packets, one per read or write.
//! - RFC 3168 section 5, RFC 2474: the ECN field of a packet. Queues mark packets with ECT by CE, in the packet itself.
//!
//! # Limitations
//! - A packet enters the simulation when it is read. Operating systems deliver packets late, and process them late;
//!   [`Lateness`] counts only how late packets leave the simulation.
//! - The time to live of real packets is not decremented.

mod addresses;
mod capture;
mod connections;
mod emulation;
mod lateness;
mod mark;

pub use addresses::Host;
pub use emulation::{Emulation, Ended, Failed, Passing, Tap};
pub use lateness::Lateness;
