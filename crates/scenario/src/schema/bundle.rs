//! `[[bundles]]`.

use optcp_optical::bundle::Selection;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Span;

optcp_tcp::registry! {
    /// How the node in front of a bundle chooses a link for a packet.
    pub enum SelectionKind ("selection") {
        "destination" => Destination: "by the number of the node behind the bundle, modulo the links: static", "lbas paper, section 2";
        "anycast" => Anycast: "the link with the least unfinished work, of idle ones the one that has been idle longest", "lbas paper, section 1";
        "fewest-packets" => FewestPackets: "the link whose queue has the fewest packets, whatever their sizes", "OpTCP";
        "flow-hash" => FlowHash: "by a hash of flow and direction", "RFC 2991; IEEE 802.1AX-2020";
        "round-robin" => RoundRobin: "one link after the other, packet by packet", "OpTCP";
    }
}

impl SelectionKind {
    /// The selection of that name.
    pub(crate) fn selection(self) -> Selection {
        match self {
            SelectionKind::Destination => Selection::Destination,
            SelectionKind::Anycast => Selection::Anycast,
            SelectionKind::FewestPackets => Selection::FewestPackets,
            SelectionKind::FlowHash => Selection::FlowHash,
            SelectionKind::RoundRobin => Selection::RoundRobin,
        }
    }
}

/// Parallel links that are one link to whoever routes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleEntry {
    /// The name of the bundle; in a path it stands between the two nodes.
    pub name: String,
    /// The names of the links; one of `[[links]]` with `count` stands for all of its links.
    pub links: Vec<String>,
    /// How the node in front chooses a link for a packet.
    pub selection: SelectionKind,
    /// From the failure or repair of a link until the nodes beside it choose without or with it; 0 s if
    /// left out.
    pub detection: Option<Span>,
}
