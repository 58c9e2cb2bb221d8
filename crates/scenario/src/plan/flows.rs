//! Flows, sources and their routes in the plan.

use std::collections::BTreeMap;
use std::ops::Range;

use optcp_des::Spread;
use optcp_routing::DirectedLink;
use optcp_tcp::multipath::MultipathConfig;
use optcp_traffic::{Application, PacketRate, PacketSize, RenewalShape, Volume};
use optcp_units::{Codepoint, Duration, Time};

/// Flows with random arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalsPlan {
    /// Group, as an index.
    pub group: usize,
    /// Mean arrival rate over all routes.
    pub rate: PacketRate,
    /// Start of arrivals.
    pub from: Time,
    /// End of arrivals.
    pub until: Time,
    /// Amount of data per flow.
    pub volume: Volume,
    /// Relative probability of each route; empty if all are equal.
    pub weights: Vec<u64>,
}

/// Application of a group of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplicationPlan {
    /// Group of the data, as an index.
    pub group: usize,
    /// Start time.
    pub start: Spread,
    /// Application between nodes, which it has as indices.
    pub application: Application,
}

/// Flows whose pairs of nodes are drawn per run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnPlan {
    /// Group, as an index.
    pub group: usize,
    /// Number of routes to draw, with replacement.
    pub count: u32,
    /// Number of flows per route.
    pub per_source: u32,
    /// Relative probability of each route; empty if all are equal.
    pub weights: Vec<u64>,
}

/// Sources of datagrams with equal properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficPlan {
    /// Group, as an index.
    pub group: usize,
    /// Arrival process of packets.
    pub process: ProcessPlan,
    /// Mean rate per source.
    pub rate: PacketRate,
    /// Packet size.
    pub sizes: PacketSize,
    /// End of sending.
    pub until: Time,
    /// ECN codepoint.
    pub codepoint: Codepoint,
}

/// Arrival process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProcessPlan {
    /// Constant intervals.
    Constant,
    /// Independent arrivals.
    Poisson,
    /// Superposed on-off sources.
    OnOff {
        /// Number of sources.
        superposed: u32,
        /// Mean on and off times.
        times: [Duration; 2],
        /// Hurst parameter.
        hurst: f64,
    },
    /// Superposed fractal renewal processes.
    FractalRenewal {
        /// Number of processes, or onset time.
        shape: RenewalShape,
        /// Hurst parameter.
        hurst: f64,
    },
    /// Fractional Gaussian noise.
    FractionalNoise {
        /// Slot length.
        slot: Duration,
        /// Variance-to-mean ratio of the packets per slot.
        dispersion: f64,
        /// Hurst parameter.
        hurst: f64,
    },
}

/// Connection over several subflows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionPlan {
    /// Unique name, like names of flows.
    pub name: String,
    /// Group, as an index. Each subflow has a separate group.
    pub group: usize,
    /// Subflows: consecutive flows with equal parameters.
    pub subflows: Range<usize>,
    /// Parameters.
    pub config: MultipathConfig,
    /// Number of segments; `None` for unlimited.
    pub size: Option<u32>,
    /// Later writes, included in `size`: delay after the start, and number of segments.
    pub writes: Vec<(Duration, u32)>,
}

/// Type of traffic on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// One TCP connection.
    Flow,
    /// Randomly arriving TCP connections: an index into [`Plan::arrivals`].
    Arrivals(usize),
    /// TCP connections in some runs only: an index into [`Plan::drawn`].
    Drawn(usize),
    /// Datagrams: an index into [`Plan::traffic`].
    Datagrams(usize),
}

/// TCP connection or other traffic on a route.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowPlan {
    /// Unique name: "switched/S3/0" is the first flow of group `switched` from source S3.
    pub name: String,
    /// Group, as an index.
    pub group: usize,
    /// Entry of `[[flows]]`, `[[applications]]` or `[[traffic]]`.
    pub entry: usize,
    /// Identifier of a flow that is switched separately. Flows of a group without one share their label
    /// entries.
    pub lsp: Option<usize>,
    /// Nodes from source to destination, as indices.
    pub path: Vec<usize>,
    /// Ports of data packets. ACKs take the reverse direction of each, in reverse order.
    pub hops: Vec<DirectedLink>,
    /// Bundles by position in `hops`. The port at that position is the first one of the bundle.
    pub bundles: BTreeMap<usize, usize>,
    /// `true`: packets follow the routing. Path and ports are then those before any failure.
    pub routed: bool,
    /// Time at which the sender has data.
    pub start: Spread,
    /// Number of segments; `None` for unlimited.
    pub size: Option<u32>,
    /// Data of a source of datagrams, without headers; `None` for unlimited.
    pub datagram_bytes: Option<u64>,
    /// Later writes, included in `size`: delay after the start, and number of segments.
    pub writes: Vec<(Duration, u32)>,
    /// TCP table, as an index; `None` for datagrams.
    pub tcp: Option<usize>,
    /// Type of traffic.
    pub carries: Carries,
    /// Application whose data it carries, as an index into [`Plan::applications`], and number of its connection.
    pub application: Option<(usize, u32)>,
}

impl FlowPlan {
    /// Returns whether it carries TCP flows of finite size, without applications and subflows of connections.
    pub(crate) fn is_finite(&self) -> bool {
        let is_tcp = !matches!(self.carries, Carries::Datagrams(_));
        let arrives = matches!(self.carries, Carries::Arrivals(_));
        is_tcp && self.application.is_none() && (self.size.is_some() || arrives)
    }

    /// Returns the section of the file that contains its entry.
    pub(crate) const fn section(&self) -> &'static str {
        match (self.application, self.carries) {
            (Some(_), _) => "applications",
            (None, Carries::Datagrams(_)) => "traffic",
            (None, _) => "flows",
        }
    }
}
