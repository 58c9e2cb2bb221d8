//! Who sends what over which route.

use std::collections::BTreeMap;

use optcp_des::Spread;
use optcp_routing::DirectedLink;
use optcp_traffic::{PacketRate, PacketSize, RenewalShape, Volume};
use optcp_units::{Codepoint, Duration, Time};

/// Flows that come at random.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalsPlan {
    /// The group, as an index.
    pub group: usize,
    /// How many come on average, over all routes.
    pub rate: PacketRate,
    /// From when on.
    pub from: Time,
    /// Until when.
    pub until: Time,
    /// How much each sends.
    pub volume: Volume,
    /// How likely each route is; none where all are alike.
    pub weights: Vec<u64>,
}

/// Flows whose pairs of nodes each run draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnPlan {
    /// The group, as an index.
    pub group: usize,
    /// How many routes are drawn, each independently of the others.
    pub count: u32,
    /// How many flows each has.
    pub per_source: u32,
    /// How likely each route is; none where all are alike.
    pub weights: Vec<u64>,
}

/// Sources of datagrams that are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficPlan {
    /// The group, as an index.
    pub group: usize,
    /// When packets come.
    pub process: ProcessPlan,
    /// The mean rate of each source.
    pub rate: PacketRate,
    /// How large packets are.
    pub sizes: PacketSize,
    /// From when on nothing is sent.
    pub until: Time,
    /// What packets say of congestion.
    pub codepoint: Codepoint,
}

/// An arrival process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProcessPlan {
    /// Even distances.
    Constant,
    /// Independent arrivals.
    Poisson,
    /// Superposed sources that are on and off.
    OnOff {
        /// How many.
        superposed: u32,
        /// Mean on and off times.
        times: [Duration; 2],
        /// The Hurst parameter.
        hurst: f64,
    },
    /// Superposed fractal renewal processes.
    FractalRenewal {
        /// How many, or the onset time scale.
        shape: RenewalShape,
        /// The Hurst parameter.
        hurst: f64,
    },
    /// Fractional Gaussian noise.
    FractionalNoise {
        /// The length of a slot.
        slot: Duration,
        /// Variance over mean of the packets in a slot.
        dispersion: f64,
        /// The Hurst parameter.
        hurst: f64,
    },
}

/// What goes over a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// One TCP connection.
    Flow,
    /// TCP connections that come at random: an index into [`Plan::arrivals`].
    Arrivals(usize),
    /// One or more TCP connections in some runs, none in others: an index into [`Plan::drawn`].
    Drawn(usize),
    /// Datagrams: an index into [`Plan::traffic`].
    Datagrams(usize),
}

/// One TCP connection, or what else goes over a route.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPlan {
    /// Unique: "switched/S3/0" is the first flow of group `switched` from source S3.
    pub name: String,
    /// The group, as an index.
    pub group: usize,
    /// Which entry of the file's `[[flows]]` or `[[traffic]]` it is of.
    pub entry: usize,
    /// A number of its own for a flow that is switched apart from others of its group; those without share what they have
    /// in common.
    pub lsp: Option<usize>,
    /// The nodes from source to destination, as indices.
    pub path: Vec<usize>,
    /// The ports that data packets pass; ACKs take the other direction of each, last first.
    pub hops: Vec<DirectedLink>,
    /// Which of `hops`, by place, stand for a whole bundle, of which they are the first port.
    pub bundles: BTreeMap<usize, usize>,
    /// Whether packets follow the routing; path and ports are then those before anything fails.
    pub routed: bool,
    /// When the sender has something to send.
    pub start: Spread,
    /// How many segments are sent; `None` never ends.
    pub size: Option<u32>,
    /// What of it is written later than at the start: how much later, and how many segments.
    pub writes: Vec<(Duration, u32)>,
    /// The TCP table, as an index; `None` for datagrams.
    pub tcp: Option<usize>,
    /// What it is.
    pub carries: Carries,
}
