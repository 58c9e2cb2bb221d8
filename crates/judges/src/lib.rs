//! Other transport stacks over simulated links, as evidence for the simulated senders:
//! - [`case`]: links, outages and transfers;
//! - [`link`]: the simulated link between a client and a server;
//! - [`transfer`]: a stack that sends data over it, by the simulator's clock;
//! - [`quinn`]: the QUIC stack quinn-proto;
//! - [`record`]: results as JSON.
//!
//! The stacks are development dependencies: no released part of OpTCP contains them.

pub mod case;
pub mod cases;
pub mod handshake;
pub mod link;
pub mod quic;
pub mod quinn;
pub mod record;
pub mod s2n;
pub mod transfer;
