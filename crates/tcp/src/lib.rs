//! Sans-I/O TCP: a sender and a receiver as deterministic functions of what they are told.
//!
//! Nothing here knows a network, a kernel or a clock: the owner passes instants in, sends what
//! comes out, and asks when the next timer is due.

pub mod acknowledgment;
pub mod config;
pub mod congestion;
pub mod delivery;
mod family;
mod info;
mod pacing;
pub mod profile;
mod ranges;
mod receiver;
pub mod recovery;
pub mod registry;
pub mod rtt;
mod sender;
mod seq;
mod tcb;
mod window;

pub use acknowledgment::{Ack, SackBlocks, Timestamp};
pub use config::Config;
pub use info::{CongestionState, TcpInfo};
pub use profile::Profile;
pub use receiver::{Arrival, Receiver};
pub use sender::{Phase, Sender, SenderCounts, Snapshot, Transmission};
pub use seq::Seq;
pub use window::Window;
