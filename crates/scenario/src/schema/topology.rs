//! `[topology]`: a published network, or one from a file.

use schemars::JsonSchema;
use serde::Deserialize;

use super::QueueEntry;
use super::values::{Cost, Count, Delay, Span, Speed};

/// Nodes and links of a published network or of a file, in addition to `[[nodes]]` and `[[links]]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TopologyTable {
    /// Name in TopoHub, such as `sndlib/abilene`.
    pub name: Option<String>,
    /// Instead of `name`: GML or GraphML file, relative to the scenario.
    pub file: Option<String>,
    /// Name of a group of all its nodes. Default: no group.
    pub group: Option<String>,
    /// Rate of each link direction.
    pub rate: Speed,
    /// Queue of each link direction.
    pub queue: QueueEntry,
    /// Propagation delay per kilometre. Default: `5 us`.
    pub delay_per_km: Option<Span>,
    /// Propagation delay of every link, instead of lengths. A distribution is drawn once per link.
    pub delay: Option<Delay>,
    /// Number of wavelengths per direction. Every link becomes a fibre of a burst-switched core.
    pub wavelengths: Option<Count>,
    /// With `[routing]`: cost of every link. Default: 1.
    pub cost: Option<Cost>,
    /// Capacity per link direction that backups may reserve, in addition to `rate`. Default: unlimited.
    pub spare: Option<Speed>,
}
