//! What is measured.

use optcp_units::Duration;

use super::Hop;

/// Something that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservePlan {
    /// The name of the series.
    pub name: String,
    /// What is measured.
    pub kind: Observation,
}

/// What is measured, where and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// Newly acknowledged in-order bytes at the receivers of these groups, per interval.
    Goodput {
        /// The flow groups, as indices.
        groups: Vec<usize>,
        /// The length of an interval.
        interval: Duration,
    },
    /// Bytes whose transmission ended, per interval.
    Load {
        /// The ports.
        ports: Vec<Hop>,
        /// The length of an interval.
        interval: Duration,
    },
    /// Every dropped packet.
    Drops {
        /// The ports; `None` is all.
        ports: Option<Vec<Hop>>,
    },
    /// Mean and greatest queue, per interval.
    Queue {
        /// The ports.
        ports: Vec<Hop>,
        /// The length of an interval.
        interval: Duration,
    },
    /// cwnd, ssthresh, flight and phase of senders, whenever one changes.
    Senders {
        /// The flow groups, as indices.
        groups: Vec<usize>,
    },
    /// Packet events at endpoints and chosen ports.
    Packets {
        /// The flow groups, as indices.
        groups: Vec<usize>,
        /// The ports whose queueing and transmission are listed too.
        ports: Vec<Hop>,
    },
    /// Start, end and bytes of flows that are to end.
    Completions {
        /// The flow groups, as indices.
        groups: Vec<usize>,
    },
    /// Datagrams, per interval.
    Datagrams {
        /// The groups of sources, as indices.
        groups: Vec<usize>,
        /// The length of an interval.
        interval: Duration,
    },
    /// What ports took, dropped and held, per interval.
    Ports {
        /// The ports.
        ports: Vec<Hop>,
        /// When the first interval begins.
        after: Duration,
        /// The length of an interval.
        interval: Duration,
    },
    /// Every burst.
    Bursts {
        /// The ports.
        ports: Vec<Hop>,
        /// The flow groups whose segments are counted, as indices.
        groups: Vec<usize>,
    },
    /// How many bursts carried so many segments.
    SegmentsPerBurst {
        /// The ports.
        ports: Vec<Hop>,
        /// The flow groups whose segments are counted, as indices.
        groups: Vec<usize>,
    },
    /// What bursts asked of fibres, per interval.
    Fibres {
        /// The fibres.
        fibres: Vec<Hop>,
        /// When the first interval begins.
        after: Duration,
        /// The length of an interval.
        interval: Duration,
    },
    /// Segments that were overtaken or sent again, recoveries and timeouts.
    Reordering {
        /// The flow groups, as indices.
        groups: Vec<usize>,
    },
}

impl Observation {
    /// Of what has a value for each row in each interval: how many rows, and how long an interval is.
    #[must_use]
    pub fn by_interval(&self) -> Option<(usize, Duration)> {
        match self {
            Observation::Goodput { groups, interval }
            | Observation::Datagrams { groups, interval } => Some((groups.len(), *interval)),
            Observation::Load { ports, interval }
            | Observation::Queue { ports, interval }
            | Observation::Ports { ports, interval, .. } => Some((ports.len(), *interval)),
            Observation::Fibres { fibres, interval, .. } => Some((fibres.len(), *interval)),
            Observation::Drops { .. }
            | Observation::Senders { .. }
            | Observation::Packets { .. }
            | Observation::Completions { .. }
            | Observation::Bursts { .. }
            | Observation::SegmentsPerBurst { .. }
            | Observation::Reordering { .. } => None,
        }
    }
}
