//! `[optical]`: fibres under IP links, and the recovery of lightpaths.

use optcp_optical::lightpath::Recovery;
use schemars::JsonSchema;
use serde::Deserialize;

use super::traffic::Real;
use super::values::{Count, Span};

/// Optical layer: fibres that carry links with `over`, and recovery after a failure of a fibre.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpticalTable {
    /// Fibres. Each is also a shared risk of the links over it.
    #[serde(default)]
    pub fibres: Vec<FibreEntry>,
    /// Propagation delay per kilometre of fibre. Default: `5 us`.
    pub delay_per_km: Option<Span>,
    /// Recovery of lightpaths after a failure of a fibre. Default: `none`.
    pub recovery: Option<Recovery>,
    /// Time from a failure until the optical layer chooses another path. Default: `0 s`.
    pub detection: Option<Span>,
    /// Duration of the path computation. Default: `0 s`.
    pub computation: Option<Span>,
    /// Duration of the set-up of a path. Default: `0 s`.
    pub set_up: Option<Span>,
    /// Processing time of a set-up message in each node. Messages reserve wavelengths node by node. Default: a
    /// chosen path has its wavelengths at once.
    pub signal_processing: Option<Span>,
    /// Minimum time that a working path must be repaired before its lightpath returns. Default: it does not
    /// return.
    pub wait_to_restore: Option<Span>,
}

/// Fibre between two optical nodes, for both directions.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FibreEntry {
    /// The two optical nodes. Their names are independent of the names of `[[nodes]]`.
    pub ends: [String; 2],
    /// Name. Default: both nodes with `-` between them.
    pub name: Option<String>,
    /// Length in km.
    pub km: Option<Real>,
    /// Instead of `km`: propagation delay.
    pub delay: Option<Span>,
    /// Duct of the fibre, a shared risk of all links over its fibres.
    pub duct: Option<String>,
    /// Maximum number of lightpaths. Default: unlimited.
    pub wavelengths: Option<Count>,
}

/// Keyword for a path that is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FoundLightpath {
    /// Path of minimum delay between the optical nodes with the names of the link's ends.
    Shortest,
}
