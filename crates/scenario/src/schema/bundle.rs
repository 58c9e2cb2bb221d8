//! `[[bundles]]`.

use optcp_optical::bundle::Selection;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Span;

/// Parallel links that are one link to whoever routes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleEntry {
    /// The name of the bundle; in a path it stands between the two nodes.
    pub name: String,
    /// The names of the links; one of `[[links]]` with `count` stands for all of its links.
    pub links: Vec<String>,
    /// How the node in front chooses a link for a packet.
    pub selection: Selection,
    /// From the failure or repair of a link until the nodes beside it choose without or with it; 0 s if
    /// left out.
    pub detection: Option<Span>,
}
