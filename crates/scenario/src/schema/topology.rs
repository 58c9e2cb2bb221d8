//! A network that is known by name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::QueueEntry;
use super::values::{Cost, Count, Delay, Span, Speed};

/// Nodes and links of a published network, or of a file, beside those of the scenario.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TopologyTable {
    /// Its name in TopoHub: `sndlib/abilene`.
    pub name: Option<String>,
    /// In place of `name`: a GML or GraphML file, beside the scenario.
    pub file: Option<String>,
    /// The name of a group of all its nodes; none if left out.
    pub group: Option<String>,
    /// Rate of every link, in both directions.
    pub rate: Speed,
    /// Queue in front of every link, in both directions.
    pub queue: QueueEntry,
    /// Propagation delay of a kilometre; 5 us if left out.
    pub delay_per_km: Option<Span>,
    /// In place of lengths: the propagation delay of every link, drawn once a link.
    pub delay: Option<Delay>,
    /// Every link is a fibre of a core of burst switches, with so many wavelengths in each direction.
    pub wavelengths: Option<Count>,
    /// With `[routing]`: what every link costs; 1 if left out.
    pub cost: Option<Cost>,
    /// Capacity that backups may reserve in each direction of every link, beside `rate`; not limited if left out.
    pub spare: Option<Speed>,
}
