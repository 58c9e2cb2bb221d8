//! IP routing and fast reroute.

use optcp_net::Hashing;
use optcp_routing::{Converge, Mechanism, Protect, TunnelTtl};
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{Count, Delay, Span};

/// Where nodes send packets, by destination, as it is written: nobody finds paths, or sees what fails.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForwardingTable {
    /// What nodes come to do when. An entry holds until another one of the same node and destination.
    #[serde(default)]
    pub entries: Vec<ForwardingEntry>,
    /// In place of `entries`: a CSV file, beside the scenario, with an entry a line; its first line names the keys of an entry.
    pub file: Option<String>,
}

/// What a node does with packets for a destination that come from now on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForwardingEntry {
    /// From when on; 0 s if left out.
    pub at: Option<Span>,
    /// The node.
    pub node: String,
    /// The destination.
    pub to: String,
    /// The next node. Several nodes in a row, `A > B`: packets are handled there as is decided here, whatever these nodes come to
    /// do meanwhile. A name of a link may stand between two of them. With `none` there is no route: packets are lost here.
    pub next: String,
}

/// Routers find shortest paths, and ways around what fails.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoutingTable {
    /// How routers find backups; `none` if left out.
    pub repair: Option<Mechanism>,
    /// What backups avoid; `link` if left out.
    pub protect: Option<Protect>,
    /// From a failure until the routers beside it know; 0 s if left out.
    pub detection: Option<Span>,
    /// From a repair until the routers beside it know; as `detection` if left out.
    pub detection_up: Option<Span>,
    /// How long a known failure must last before it is announced; 0 s if left out.
    pub hold_down: Option<Span>,
    /// When routers act on an announcement; `own` if left out.
    pub converge: Option<Converge>,
    /// How long a router works on an announcement before it acts on it and passes it on; 0 s if left
    /// out.
    pub flooding: Option<Span>,
    /// How long a router computes its routes; 0 s if left out.
    pub spf: Option<Span>,
    /// How long a router takes to rewrite its forwarding table, drawn for each; 0 s if left out.
    pub update: Option<Delay>,
    /// How much longer after a failure routers keep their old table and the backups once they are ready for the new one: those
    /// beside the failure with `converge` `own`, all together with `synchronized`; 0 s if left out.
    pub hold: Option<Span>,
    /// How routers spread flows over next hops of equal cost; one next hop for all if left out.
    pub ecmp: Option<Hashing>,
    /// The seed from which the routers' hashes have theirs, the same in all runs; each run has its own if left out.
    pub ecmp_seed: Option<Count>,
    /// What tunnels do to the time to live; `uniform` if left out.
    pub ttl: Option<TunnelTtl>,
}
