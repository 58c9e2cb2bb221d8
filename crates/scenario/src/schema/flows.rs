//! `[[flows]]`: who sends to whom over which paths.

use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{Count, Delay, Span, Volume};
use super::{FlowPace, ListOr, Real, SizesTable};

optcp_units::registry! {
    /// How the path between two nodes is found.
    pub enum Chosen ("paths") {
        "routed" => Routed: "where routers forward packets, with a table `[routing]` or `[forwarding]`; what is meant if `path` is left out", "OpTCP";
        "shortest" => Shortest: "the path of least cost; of equal ones that of the fewest hops, then that over the neighbour that comes first in the file", "Dijkstra 1959";
        "shortest-pair" => ShortestPair: "the shorter of the two link-disjoint paths that are shortest together, so that there is a disjoint backup", "Suurballe 1974";
        "ecmp" => Ecmp: "at each node one of the next hops of least cost, by a hash of the node's and the flow's name", "RFC 2992; the hash is XXH3";
        "valiant" => Valiant: "the shortest path to a node of `via`, and the shortest from there: that node by a hash of the flow's name, or the next one in the group over which no node is passed twice, or the shortest path where there is none", "L. G. Valiant and G. J. Brebner, STOC 1981; the hash is XXH3";
    }
}

optcp_units::registry! {
    /// What makes a path short.
    pub enum Metric ("path-metrics") {
        "cost" => Cost: "the sum of the links' costs, which are 1 if left out", "RFC 2328 section 16.1";
        "hops" => Hops: "the number of links", "OpTCP";
        "delay" => Delay: "the sum of the propagation delays, to the microsecond", "OpTCP";
    }
}

optcp_units::registry! {
    /// How likely each pair of nodes is.
    pub enum Weights ("pair-weights") {
        "uniform" => Uniform: "all pairs alike", "OpTCP";
        "gravity" => Gravity: "in proportion to the product of both nodes' capacities, each the sum of the rates of its links; hosts have that of their node of the topology", "gravity model, as in Zhang et al., SIGMETRICS 2003";
        "demands" => Demands: "in proportion to the demands that the topology comes with; hosts have those of their node", "SNDlib, TopoHub";
    }
}

/// Pairs of nodes with flows from the first to the second.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairsTable {
    /// A group of nodes: from each of it to each other.
    pub among: Option<String>,
    /// In place of `among`: a node or group of sources,
    pub from: Option<String>,
    /// and a node or group of destinations: from each to each.
    pub to: Option<String>,
    /// How many pairs are drawn, each independently of the others; all, each once, if left out.
    pub count: Option<Count>,
    /// With `count`: draws the pairs once, for all runs alike; each run draws its own if left out.
    pub seed: Option<Count>,
    /// How likely each pair is; `uniform` if left out.
    pub weights: Option<Weights>,
    /// In place of `weights`: a CSV file, beside the scenario, with a line `from,to,weight` for each pair; other pairs are not
    /// there.
    pub matrix: Option<String>,
}

/// TCP flows on one path, or one for each member of the groups on it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowsEntry {
    /// The name of this group of flows.
    pub group: String,
    /// The nodes from source to destination; a link's name between two nodes chooses one of several. With `from` and `to` or
    /// `pairs`: how paths are found that do not follow the routing.
    pub path: Option<ListOr<Chosen>>,
    /// With `path` found: what makes it short; `cost` if left out.
    pub metric: Option<Metric>,
    /// With path `shortest`: how many of the shortest paths of each pair have flows; 1 if left out.
    pub paths: Option<Count>,
    /// With path `valiant`: a group of nodes.
    pub via: Option<String>,
    /// In place of `path`: nodes and groups; one from each of these nodes to each other, over the link
    /// between the two.
    pub between: Option<Vec<String>>,
    /// The source, or a group of them; flows follow the routing if there is no `path`.
    pub from: Option<String>,
    /// With `from`: the destination, or a group of them.
    pub to: Option<String>,
    /// In place of `from` and `to`: pairs of nodes.
    pub pairs: Option<PairsTable>,
    /// How many flows each source has; 1 if left out.
    pub per_source: Option<Count>,
    /// A table of `[tcp]` or a profile; `rfc` if left out.
    pub tcp: Option<String>,
    /// Its class, from 0 to 7, for queues that tell classes apart: `priority` and `drr`; 0 if left out.
    pub class: Option<Count>,
    /// When the flows start, drawn for each; 0 s if left out.
    pub start: Option<Delay>,
    /// How much each flow sends; `greedy` if left out.
    pub size: Option<Volume>,
    /// In place of `size`: what the application writes when, one after the other.
    pub writes: Option<Vec<WriteEntry>>,
    /// In place of `size`, with `arrivals`: the distribution of sizes.
    pub sizes: Option<SizesTable>,
    /// Flows come at random (a Poisson process), so many a second in all, each from any of the sources,
    /// and go when they have sent what they have.
    pub arrivals: Option<FlowPace>,
    /// In place of `arrivals`: the load of the link with the highest one, on average, as long as nothing fails.
    pub load: Option<Real>,
    /// With `arrivals`: from when on no more come; the stop of the run if left out.
    pub until: Option<Span>,
}

/// Something that an application writes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteEntry {
    /// How much later than the flow's start.
    pub after: Span,
    /// How much; not `greedy`.
    pub size: Volume,
}
