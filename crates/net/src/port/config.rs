//! Configuration of a port.

use std::sync::Arc;

use optcp_des::Stream;
use optcp_units::{Duration, Rate};

use crate::bucket::Bucket;
use crate::queue::{Discipline, Link, Queue, QueueKind};
use crate::{ArrivalState, Jitter, QueueLimit};

/// Configuration of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortConfig {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Queue limit.
    pub limit: QueueLimit,
    /// Delay variation, if any.
    pub jitter: Option<Jitter>,
    /// Queue discipline; `None` is drop-tail.
    pub managed: Option<Box<Managed>>,
    /// Whether the transmitter is held: it takes nothing out of the queue until it is opened, or never if other
    /// transmitters serve it.
    pub held: bool,
    /// Whether packets behind the port keep their order when its delay changes.
    pub ordered: bool,
    /// Policers, markers and shapers, in order.
    pub buckets: Vec<Bucket>,
}

/// Queue discipline with its data for a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Managed {
    /// Discipline with its parameters.
    pub discipline: Discipline,
    /// Random stream, if the discipline needs one.
    pub stream: Option<Stream>,
    /// Class by flow; empty means class 0 for all.
    pub classes: Arc<[u8]>,
    /// Whether segments may be trimmed, by flow; empty if none may.
    pub trimmable: Arc<[bool]>,
}

impl PortConfig {
    /// Creates the configuration of a drop-tail port without jitter and without scheduled changes.
    #[must_use]
    pub const fn new(rate: Rate, delay: Duration, limit: QueueLimit) -> Self {
        PortConfig {
            rate,
            delay,
            limit,
            jitter: None,
            managed: None,
            held: false,
            ordered: false,
            buckets: Vec::new(),
        }
    }

    fn link(&self) -> Link {
        let managed = self.managed.as_deref();
        Link {
            limit: self.limit,
            rate: self.rate,
            stream: managed.and_then(|managed| managed.stream.clone()),
            classes: managed.map_or_else(Arc::default, |managed| Arc::clone(&managed.classes)),
            trimmable: managed.map_or_else(Arc::default, |managed| Arc::clone(&managed.trimmable)),
        }
    }

    /// Returns the state of a discipline that decides on arrival, other than drop-tail.
    #[must_use]
    pub fn decides_on_arrival(&self) -> Option<ArrivalState> {
        match self.managed.as_deref()?.discipline.queue(&self.link()) {
            Queue::InOrder(state, ..) => Some(state),
            Queue::Kept(_) => None,
        }
    }

    /// Returns whether the discipline decides when the transmitter is free.
    #[must_use]
    pub fn decides_on_departure(&self) -> bool {
        let managed = self.managed.as_deref();
        managed.is_some_and(|managed| managed.discipline.kind().decides_on_departure())
    }

    pub(super) fn queue(&self) -> Queue {
        let drop_tail = Discipline::of(QueueKind::DropTail);
        let discipline = self.managed.as_ref().map_or(&drop_tail, |managed| &managed.discipline);
        discipline.queue(&self.link())
    }
}
