//! Queue disciplines: which packet a port takes, and which it sends next.
//!
//! A discipline holds what waits. The packet in transmission is the port's; it is shown to the discipline where
//! it may count it. A discipline is plain data that a clone copies, and knows no kernel: the reference kernel and
//! the stepped lane of the fast one drive it through [`Port`](crate::Port).

mod drop_tail;
mod limit;

use crate::{DropReason, Packet};
use drop_tail::DropTail;
pub use limit::QueueLimit;

/// What waits in front of a transmitter, by discipline.
#[derive(Clone, Debug)]
pub(super) enum Queue {
    DropTail(DropTail),
}

impl Queue {
    /// An empty queue.
    pub(super) fn new(limit: QueueLimit) -> Self {
        Queue::DropTail(DropTail::new(limit))
    }

    /// A packet comes while another one, or none, is being sent.
    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        sending: Option<Packet>,
    ) -> Result<(), DropReason> {
        match self {
            Queue::DropTail(queue) => queue.enqueue(packet, sending),
        }
    }

    /// The transmitter is free: the packet that it sends now.
    pub(super) fn dequeue(&mut self) -> Option<Packet> {
        match self {
            Queue::DropTail(queue) => queue.dequeue(),
        }
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Queue::DropTail(queue) => queue.bytes(),
        }
    }

    /// What waits, in the order in which it would leave if nothing else came.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Packet> {
        match self {
            Queue::DropTail(queue) => queue.iter(),
        }
    }

    /// Takes everything out, in that order: the link has failed.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Packet> {
        match self {
            Queue::DropTail(queue) => queue.drain(),
        }
    }
}
