//! IP routing and fast reroute.

use optcp_routing::{Converge, Mechanism, Protect};
use schemars::JsonSchema;
use serde::Deserialize;

use super::values::{Delay, Span};

optcp_tcp::registry! {
    /// How routers find backups.
    pub enum RepairKind ("fast-reroute") {
        "none" => None: "no backups: packets are lost until routers have converged", "RFC 2328";
        "lfa" => Lfa: "a neighbour that does not send the packets back", "RFC 5286";
        "remote-lfa" => RemoteLfa: "such a neighbour, or else a tunnel to a router further away that does not", "RFC 7490";
        "ti-lfa" => TiLfa: "a tunnel along the path that packets will take after convergence", "RFC 9855";
    }
}

optcp_tcp::registry! {
    /// What backups avoid.
    pub enum ProtectKind ("fast-reroute-protection") {
        "link" => Link: "the link to the next router", "RFC 5286, section 3.2";
        "node" => Node: "the next router where that is possible, else the link to it", "RFC 5286, section 3.2";
    }
}

optcp_tcp::registry! {
    /// When routers act on an announcement.
    pub enum ConvergeKind ("convergence") {
        "synchronized" => Synchronized: "all at once when the last is ready, so that packets never loop", "Mao, Wen and Yeung, ICC 2012, Fig. 1; RFC 5715, section 6";
        "own" => Own: "each when it is ready, so that packets may loop between routers that disagree", "RFC 5715, section 1";
    }
}

optcp_tcp::registry! {
    /// What tunnels do to the time to live.
    pub enum TunnelTtl ("tunnel-ttl") {
        "uniform" => Uniform: "every router on the way takes one", "RFC 3443, section 3.1";
        "pipe" => Pipe: "only the routers at the ends take one: the tunnel is one hop", "RFC 3443, section 3.2";
    }
}

/// Routers find shortest paths, and ways around what fails.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoutingTable {
    /// How routers find backups; `none` if left out.
    pub repair: Option<RepairKind>,
    /// What backups avoid; `link` if left out.
    pub protect: Option<ProtectKind>,
    /// From a failure until the routers beside it know; 0 s if left out.
    pub detection: Option<Span>,
    /// From a repair until the routers beside it know; as `detection` if left out.
    pub detection_up: Option<Span>,
    /// How long a known failure must last before it is announced; 0 s if left out.
    pub hold_down: Option<Span>,
    /// When routers act on an announcement; `own` if left out.
    pub converge: Option<ConvergeKind>,
    /// How long a router works on an announcement before it acts on it and passes it on; 0 s if left
    /// out.
    pub flooding: Option<Span>,
    /// How long a router computes its routes; 0 s if left out.
    pub spf: Option<Span>,
    /// How long a router takes to rewrite its forwarding table, drawn for each; 0 s if left out.
    pub update: Option<Delay>,
    /// What tunnels do to the time to live; `uniform` if left out.
    pub ttl: Option<TunnelTtl>,
}

impl RepairKind {
    /// What it stands for.
    pub(crate) const fn mechanism(self) -> Option<Mechanism> {
        match self {
            RepairKind::None => None,
            RepairKind::Lfa => Some(Mechanism::Lfa),
            RepairKind::RemoteLfa => Some(Mechanism::RemoteLfa),
            RepairKind::TiLfa => Some(Mechanism::TiLfa),
        }
    }
}

impl ProtectKind {
    /// What it stands for.
    pub(crate) const fn protect(self) -> Protect {
        match self {
            ProtectKind::Link => Protect::Link,
            ProtectKind::Node => Protect::Node,
        }
    }
}

impl ConvergeKind {
    /// What it stands for.
    pub(crate) const fn converge(self) -> Converge {
        match self {
            ConvergeKind::Synchronized => Converge::Synchronized,
            ConvergeKind::Own => Converge::Own,
        }
    }
}

/// The name of a way to find backups in files.
pub(crate) fn repair_name(mechanism: Option<Mechanism>) -> &'static str {
    let kind = RepairKind::ALL.iter().find(|kind| kind.mechanism() == mechanism);
    kind.expect("every mechanism has a name").name()
}

/// The name of what backups avoid in files.
pub(crate) fn protect_name(protect: Protect) -> &'static str {
    let kind = ProtectKind::ALL.iter().find(|kind| kind.protect() == protect);
    kind.expect("every protection has a name").name()
}

/// The name of a convergence in files.
pub(crate) fn converge_name(converge: Converge) -> &'static str {
    let kind = ConvergeKind::ALL.iter().find(|kind| kind.converge() == converge);
    kind.expect("every convergence has a name").name()
}
