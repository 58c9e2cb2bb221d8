//! `[[flows]]`: TCP flows, their end points and paths.

use optcp_tcp::multipath::SchedulerKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{Count, Delay, Span, Volume};
use super::{FlowPace, ListOr, Real, SizesTable};

optcp_units::registry! {
    /// Method that computes the path between two nodes.
    pub enum Chosen ("paths") {
        "routed" => Routed: "path that routers forward along, with `[routing]` or `[forwarding]`; the default if `path` is omitted", "OpTCP";
        "shortest" => Shortest: "path of minimum cost; ties: fewest hops, then the neighbour that is first in the file", "Dijkstra 1959";
        "shortest-pair" => ShortestPair: "shorter path of the pair of link-disjoint paths with minimum total length, so that a disjoint backup exists", "Suurballe 1974";
        "ecmp" => Ecmp: "at each node, one of the next hops of minimum cost, selected by a hash of the names of node and flow", "RFC 2992; the hash is XXH3";
        "valiant" => Valiant: "shortest path via a node of `via`, selected by a hash of the flow's name; nodes that would repeat a node are skipped; if all do, the shortest path", "L. G. Valiant and G. J. Brebner, STOC 1981; the hash is XXH3";
    }
}

optcp_units::registry! {
    /// Metric of the path length.
    pub enum Metric ("path-metrics") {
        "cost" => Cost: "sum of link costs, which are 1 by default", "RFC 2328 section 16.1";
        "hops" => Hops: "number of links", "OpTCP";
        "delay" => Delay: "sum of propagation delays, rounded to microseconds", "OpTCP";
    }
}

optcp_units::registry! {
    /// Probability of each pair of nodes.
    pub enum Weights ("pair-weights") {
        "uniform" => Uniform: "equal for all pairs", "OpTCP";
        "gravity" => Gravity: "proportional to the product of both nodes' capacities (sum of the rates of their links); a host has the capacity of its node in the topology", "gravity model, as in Zhang et al., SIGMETRICS 2003";
        "demands" => Demands: "proportional to the demands included in the topology; a host has the demands of its node", "SNDlib, TopoHub";
    }
}

/// Pairs of nodes. Each pair has flows from the first node to the second.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairsTable {
    /// Group of nodes: all ordered pairs of its members.
    pub among: Option<String>,
    /// Instead of `among`, with `to`: node or group of sources.
    pub from: Option<String>,
    /// With `from`: node or group of destinations. Each source is paired with each destination.
    pub to: Option<String>,
    /// Number of pairs to draw, with replacement. Default: every pair once.
    pub count: Option<Count>,
    /// With `count`: seed of the draw, equal in all runs. Default: a different draw per run.
    pub seed: Option<Count>,
    /// Probability of each pair. Default: `uniform`.
    pub weights: Option<Weights>,
    /// Instead of `weights`: CSV file, relative to the scenario, with one line `from,to,weight` per pair.
    /// Pairs without a line are excluded.
    pub matrix: Option<String>,
}

/// TCP flows on one path, or one flow per member of the groups on it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowsEntry {
    /// Name of the group of flows.
    pub group: String,
    /// Nodes from source to destination; a link name between two nodes selects one of several links. With
    /// `from` and `to` or `pairs`: method that computes paths independently of the routing.
    pub path: Option<ListOr<Chosen>>,
    /// With a computed `path`: metric of its length. Default: `cost`.
    pub metric: Option<Metric>,
    /// With path `shortest`: number of shortest paths per pair that carry flows. Default: 1.
    pub paths: Option<Count>,
    /// With path `valiant`: group of intermediate nodes.
    pub via: Option<String>,
    /// Instead of `path`: nodes and groups. Each pair has a flow in each direction, over the link between the
    /// two nodes.
    pub between: Option<Vec<String>>,
    /// Source node or group of sources. Without `path`, flows follow the routing.
    pub from: Option<String>,
    /// With `from`: destination node or group of destinations.
    pub to: Option<String>,
    /// Instead of `from` and `to`: pairs of nodes.
    pub pairs: Option<PairsTable>,
    /// Instead of `from`, `to` and `size`: CSV or Parquet file, relative to the scenario, with one flow per row. Its
    /// columns are `time`, `from`, `to` and `bytes`.
    pub list: Option<String>,
    /// Instead of `path`, or with `from` and `to`: subflows of each flow (Multipath TCP).
    pub multipath: Option<MultipathTable>,
    /// Number of flows per source. Default: 1.
    pub per_source: Option<Count>,
    /// Table of `[tcp]` or profile. Default: `rfc`.
    pub tcp: Option<String>,
    /// Traffic class, from 0 to 7, for the queues `priority` and `drr`, and for bursts with `classes`. Default: 0.
    pub class: Option<Count>,
    /// Start time, drawn per flow. Default: `0 s`.
    pub start: Option<Delay>,
    /// Amount of data per flow. Default: `greedy` (unlimited).
    pub size: Option<Volume>,
    /// Instead of `size`: writes of the application, in order.
    pub writes: Option<Vec<WriteEntry>>,
    /// Instead of `size`, with `arrivals`: distribution of flow sizes.
    pub sizes: Option<SizesTable>,
    /// Mean arrival rate (Poisson) of flows, over all sources. Each flow has a random source and ends when
    /// its data are delivered.
    pub arrivals: Option<FlowPace>,
    /// Instead of `arrivals`: mean load of the most loaded link without failures.
    pub load: Option<Real>,
    /// With `arrivals`: end of arrivals. Default: the end of the run.
    pub until: Option<Span>,
}

/// Subflows of a connection (Multipath TCP, RFC 8684).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MultipathTable {
    /// Path of each subflow: nodes from source to destination, as in `path`. Default: with `from` and `to`, the two
    /// link-disjoint paths of minimum total cost.
    pub paths: Option<Vec<Vec<String>>>,
    /// Choice of the subflow that sends new data. Default: `min-rtt`.
    pub scheduler: Option<SchedulerKind>,
    /// `true`: a subflow that the receive window blocks sends the oldest outstanding data of others, whose windows are
    /// halved. Default: `false`.
    pub opportunistic_retransmission: Option<bool>,
}

/// Write of an application.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteEntry {
    /// Time after the start of the flow.
    pub after: Span,
    /// Amount of data, except `greedy`.
    pub size: Volume,
}
