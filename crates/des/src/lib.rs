//! Discrete-event tools: event order, event queues, named random streams and distributions.
//!
//! The crate is independent of networks. The order of events is part of the model. Concurrent events are ordered by
//! class and entity, never by insertion: the insertion order differs between engines with equal results.

mod buckets;
mod event_queue;
mod key;
mod spread;
mod stream;
pub mod variates;

pub use buckets::{Buckets, Due, Wheel};
pub use event_queue::EventQueue;
pub use key::{Class, Key};
pub use spread::{Shape, Spread};
pub use stream::{Stream, Streams, mix};
