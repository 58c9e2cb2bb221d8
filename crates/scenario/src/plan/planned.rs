//! What changes by plan.

use optcp_net::schedule::Drift;
use optcp_routing::DirectedLink;
use optcp_units::{Duration, Rate, Time};

use super::QueueLimit;

/// What serves a virtual output queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoqPlan {
    /// The ways from its first end to its second, in the order of their names.
    pub ways: Vec<WayPlan>,
    /// Over which of them each direction is served at the start; `None` is none.
    pub served: [Option<u8>; 2],
    /// How long it takes until senders know over which way it is served, if it tells them.
    pub notify: Option<Duration>,
}

impl VoqPlan {
    /// The ports of a way in a direction, in order.
    #[must_use]
    pub fn hops(&self, way: usize, direction: usize) -> Vec<DirectedLink> {
        let hops = &self.ways[way].hops;
        match direction {
            0 => hops.clone(),
            _ => hops.iter().rev().map(|&(link, direction)| (link, 1 - direction)).collect(),
        }
    }

    /// The links at the ends of ways, whose transmitters take packets out of the queue.
    pub fn transmitters(&self) -> impl Iterator<Item = usize> {
        self.ways.iter().flat_map(|way| [way.hops[0].0, way.hops[way.hops.len() - 1].0])
    }

    /// The number of a way by its name.
    #[must_use]
    pub fn way(&self, name: &str) -> Option<u8> {
        self.ways.iter().position(|way| way.name == name).and_then(|way| u8::try_from(way).ok())
    }
}

/// A way behind a virtual output queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayPlan {
    /// Its name.
    pub name: String,
    /// Its links from the first end of the queue to the second.
    pub hops: Vec<DirectedLink>,
}

/// A table of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulePlan {
    /// When the first period begins.
    pub start: Time,
    /// How long a period takes; `None` is once.
    pub period: Option<Duration>,
    /// The steps in order of time.
    pub steps: Vec<StepPlan>,
}

/// What changes at an instant of a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPlan {
    /// Counted from the beginning of the period.
    pub after: Duration,
    /// What changes, in the order of the file.
    pub changes: Vec<(DirectedLink, ChangePlan)>,
}

/// What changes of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangePlan {
    /// The way over which a virtual output queue is served; `None` is none.
    Serve(Option<u8>),
    /// The rate.
    Rate(Rate),
    /// The propagation delay.
    Delay(Duration),
    /// The same, where it changes evenly.
    Drift(Drift),
    /// What the queue holds.
    Limit(QueueLimit),
    /// Whether the transmitter sends.
    Sends(bool),
    /// Whether the flag ECE is set in TCP packets that come.
    Ece(bool),
}
