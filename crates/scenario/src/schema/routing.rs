//! `[forwarding]` and `[routing]`: static forwarding, IP routing and fast reroute.

use optcp_net::Hashing;
use optcp_routing::{Converge, Mechanism, Protect, TunnelTtl};
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{Count, Delay, Span};

/// Static forwarding entries by destination. No routing protocol runs, and failures do not change the
/// entries.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForwardingTable {
    /// Entries. An entry is valid until the next one of the same node and destination.
    #[serde(default)]
    pub entries: Vec<ForwardingEntry>,
    /// Instead of `entries`: CSV file, relative to the scenario. Its first line names the keys, each further
    /// line is an entry.
    pub file: Option<String>,
}

/// Forwarding entry of a node for a destination. It applies to packets that arrive after it takes effect.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForwardingEntry {
    /// Time at which the entry takes effect. Default: `0 s`.
    pub at: Option<Span>,
    /// Node.
    pub node: String,
    /// Destination.
    pub to: String,
    /// Next node, or `A > B` for a fixed sequence of nodes that ignores their own entries. A link name may
    /// stand between two nodes. `none`: packets are dropped (no route).
    pub next: String,
}

/// IP routing: shortest paths, convergence and fast reroute.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoutingTable {
    /// Fast-reroute mechanism. Default: `none`.
    pub repair: Option<Mechanism>,
    /// Element that repair paths avoid. Default: `link`.
    pub protect: Option<Protect>,
    /// Time from a failure until the adjacent routers detect it. Default: `0 s`.
    pub detection: Option<Span>,
    /// Time from a repair until the adjacent routers detect it. Default: `detection`.
    pub detection_up: Option<Span>,
    /// Minimum duration of a detected failure before it is flooded. Default: `0 s`.
    pub hold_down: Option<Span>,
    /// Order in which routers update their FIBs. Default: `own`.
    pub converge: Option<Converge>,
    /// Processing time of a failure report in each router, before it acts and floods the report. Default: `0
    /// s`.
    pub flooding: Option<Span>,
    /// Duration of the route computation (SPF). Default: `0 s`.
    pub spf: Option<Span>,
    /// Duration of the FIB update, drawn per router. Default: `0 s`.
    pub update: Option<Delay>,
    /// Additional time after a failure for which routers keep the old FIB and repair paths. With `own`:
    /// adjacent routers only; with `synchronized`: all routers. Default: `0 s`.
    pub hold: Option<Span>,
    /// Hash that distributes flows over next hops of equal cost. Default: one next hop for all flows.
    pub ecmp: Option<Hashing>,
    /// Seed of the routers' hash functions, equal in all runs. Default: a different seed per run.
    pub ecmp_seed: Option<Count>,
    /// Handling of the time to live by tunnels. Default: `uniform`.
    pub ttl: Option<TunnelTtl>,
}
