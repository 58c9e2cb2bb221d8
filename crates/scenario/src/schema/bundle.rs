//! `[[bundles]]`: parallel links that routing treats as one link.

use optcp_optical::bundle::Selection;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Span;

/// Bundle of parallel links that routing treats as one link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BundleEntry {
    /// Name of the bundle. In a path it stands between the two nodes.
    pub name: String,
    /// Names of the links. The name of a `[[links]]` entry with `count` stands for all its links.
    pub links: Vec<String>,
    /// Method by which the upstream node selects a link for each packet.
    pub selection: Selection,
    /// Time from a failure or repair of a link until the adjacent nodes exclude or include it. Default: `0
    /// s`.
    pub detection: Option<Span>,
}
