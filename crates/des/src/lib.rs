//! The discrete-event kit: the order of events, calendars, named random streams, and distributions.
//!
//! Nothing here knows a network. The order is part of the model: two events at one instant are
//! ordered by what they are and whom they concern, never by when they were put into the calendar,
//! because insertion order differs between engines that do the same thing.

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
