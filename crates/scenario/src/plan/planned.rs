//! Virtual output queues and schedules in the plan.

use optcp_net::Chance;
use optcp_net::schedule::Drift;
use optcp_routing::DirectedLink;
use optcp_units::{Duration, Rate, Time};

use super::QueueLimit;

/// Paths that serve a virtual output queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoqPlan {
    /// Paths from its first end to its second, sorted by name.
    pub ways: Vec<WayPlan>,
    /// Path that serves each direction at the start; `None` for no path.
    pub served: [Option<u8>; 2],
    /// Time until senders are notified of a change of path; `None` for no notification.
    pub notify: Option<Duration>,
}

impl VoqPlan {
    /// Returns the ports of a path in a direction, in order.
    #[must_use]
    pub fn hops(&self, way: usize, direction: usize) -> Vec<DirectedLink> {
        let hops = &self.ways[way].hops;
        match direction {
            0 => hops.clone(),
            _ => hops.iter().rev().map(|&(link, direction)| (link, 1 - direction)).collect(),
        }
    }

    /// Returns the links at the ends of paths, whose transmitters take packets from the queue.
    pub fn transmitters(&self) -> impl Iterator<Item = usize> {
        self.ways.iter().flat_map(|way| [way.hops[0].0, way.hops[way.hops.len() - 1].0])
    }

    /// Returns the number of the path with this name.
    #[must_use]
    pub fn way(&self, name: &str) -> Option<u8> {
        self.ways.iter().position(|way| way.name == name).and_then(|way| u8::try_from(way).ok())
    }
}

/// Path of a virtual output queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayPlan {
    /// Name.
    pub name: String,
    /// Links from the first end of the queue to the second.
    pub hops: Vec<DirectedLink>,
}

/// Schedule of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulePlan {
    /// Start of the first period.
    pub start: Time,
    /// Length of a period; `None` for no repetition.
    pub period: Option<Duration>,
    /// Steps in order of time.
    pub steps: Vec<StepPlan>,
}

/// Changes at one time of a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPlan {
    /// Time since the start of the period.
    pub after: Duration,
    /// Changes, in the order of the file.
    pub changes: Vec<(DirectedLink, ChangePlan)>,
}

/// Change of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangePlan {
    /// Path that serves a virtual output queue; `None` for no path.
    Serve(Option<u8>),
    /// Rate.
    Rate(Rate),
    /// Propagation delay.
    Delay(Duration),
    /// Linearly changing propagation delay.
    Drift(Drift),
    /// Queue limit.
    Limit(QueueLimit),
    /// `true`: the transmitter sends.
    Sends(bool),
    /// `true`: the ECE flag is set in arriving TCP packets.
    Ece(bool),
    /// Probability with which arriving packets are lost.
    Loss(Chance),
}
